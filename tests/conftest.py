"""What all tests share: the data folder, and small models made on the spot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

import tests.tiny as tiny

pytest_plugins = ["pytester", "tests.expected_skips"]

# Workers share the cores: where each has as many threads as there are cores, threads wait for
# others that do not run, and torch takes many times as long. Before it is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Real tasks and published results, which are not part of the project."""
    folder = Path(os.environ.get("MAXRANDOM_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(
            f"no data in {folder}: set MAXRANDOM_DATA to a folder with bigbench/*.json (from "
            "google/BIG-bench) and the reference values"
        )
    return folder


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a random Llama with a byte-level tokenizer."""
    # A run within the test process forgets what it imported, and these cannot be imported twice.
    import bitsandbytes
    import transformers

    del bitsandbytes, transformers
    return tiny.save_llama(tmp_path_factory.mktemp("models") / "tiny-llama")
