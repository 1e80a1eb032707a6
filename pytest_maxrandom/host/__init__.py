"""What the machine gives: locks between processes, and git."""

STORE = ".maxrandom/results.db"
"""Where results are kept by default: from pytest's rootdir on, or from the current folder."""
