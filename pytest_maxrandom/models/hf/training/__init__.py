"""Trained arms: what trains them, and where their weights are kept."""
