"""What the machine gives: locks between processes, git, and what installed packages add."""

STORE = ".maxrandom/results.db"
"""Where results are kept by default: from pytest's rootdir on, or from the current folder."""
TRAINED = ".maxrandom/trained"
"""Where the weights of trained arms are kept by default."""
TRAINED_GB = 20
"""How many GB that folder may take by default."""
