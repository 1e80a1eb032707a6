"""What the machine gives: locks between processes, and git."""

STORE = ".maxrandom/results.db"
"""Where results are kept by default: from pytest's rootdir on, or from the current folder."""
TRAINED = ".maxrandom/trained"
"""Where the weights of trained arms are kept by default."""
TRAINED_BYTES = 20 * 2**30
"""How large that folder may grow by default."""
