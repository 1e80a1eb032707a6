"""What all tests share: the data folder, and small models made on the spot."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import tests.tiny as tiny
from tests.needs import require

pytest_plugins = ["pytester", "tests.expected_skips", "tests.inner_runs", "tests.targets"]

# Workers share the cores: where each has as many threads as there are cores, threads wait for
# others that do not run, and torch takes many times as long. Before it is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell lets what it runs in the background ignore interrupts, and so would the runs that tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nobody cuts the power while tests run, so what they write need not be on a disk before they go on.
pytest.MonkeyPatch().setattr(os, "fsync", lambda _: None)

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_MANY = 50
_modules_at_freeze = 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Let collections of garbage pass over what large libraries have made, which stays.

    Each model that is dropped has garbage collected, and looking through the objects of torch and
    transformers, and through thousands of collected tests, takes longer than what most tests test.
    """
    global _modules_at_freeze
    if len(sys.modules) > _modules_at_freeze + _MANY:
        _modules_at_freeze = len(sys.modules)
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _private(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let searches, also those of other processes, keep scores in no folder of the user's."""
    os.environ["MAXRANDOM_PRIVATE"] = str(tmp_path_factory.mktemp("private"))


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
    require("hf")
    return tiny.save_llama(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture(params=["native", "generic"])
def kernels(
    request: pytest.FixtureRequest, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Both ways in which bitsandbytes computes 4-bit layers, as far as this processor has them.

    Each layer asks when it is made whether the processor has avx512_bf16. Where it has, one that
    says no is the only way to test what most other processors do.
    """
    from bitsandbytes.nn import modules

    path: str = request.param
    if path == "generic":
        monkeypatch.setattr(modules, "has_avx512bf16", lambda: False)
    elif not modules.has_avx512bf16():
        pytest.skip("this processor has no avx512_bf16: its own path is the generic one")
    return path
