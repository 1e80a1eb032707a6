"""Claims that are made of several sweeps, and studies of many results."""
