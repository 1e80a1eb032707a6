"""The ledger: every prompt that was ever evaluated on a validation set.

JSON lines, one file for each set, in a folder next to the suites that is meant to be committed.
Lines are only ever added, their order never matters, and one that stands there twice counts once;
so the union of two files is their merge.
"""

from pytest_maxrandom.ledger.folder import FOLDER, SIMULATED
from pytest_maxrandom.ledger.lines import Named, Subject, Try, examples_digest
from pytest_maxrandom.ledger.set_ledger import SetLedger

__all__ = ["FOLDER", "SIMULATED", "Named", "SetLedger", "Subject", "Try", "examples_digest"]
