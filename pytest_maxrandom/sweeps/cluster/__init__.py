"""Sweeps on a Ray cluster: actors compute, and the one process that leads them keeps everything."""
