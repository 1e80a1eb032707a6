"""The results store: what models said of prompts, kept so that nothing is computed twice.

It is a cache. Whatever happens to its file, only time is lost: what cannot be trusted is not used,
and what cannot be written is computed again by the next run.
"""

from pytest_maxrandom.sweeps.store.rows import Key, Stored
from pytest_maxrandom.sweeps.store.store import Store, open_store

__all__ = ["Key", "Store", "Stored", "open_store"]
