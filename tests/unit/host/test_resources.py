"""What a process has of the machine: its cores, threads that make room, the memory of a model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pytest_maxrandom import judge
from pytest_maxrandom.claims.assessment import assess
from pytest_maxrandom.host import machine
from pytest_maxrandom.host.machine import (
    available_memory,
    cores,
    forget_peak,
    one_thread,
    peak_memory,
)

if TYPE_CHECKING:
    from pytest_maxrandom.record.result import Result

LOADED = """
import os
from pytest_maxrandom.host.machine import resting_threads
with resting_threads({workers}, "{library}"):
    print(os.environ.get("OMP_WAIT_POLICY"))
print(os.environ.get("OMP_WAIT_POLICY"))
"""
ANY = {key: value for key, value in os.environ.items() if key not in ("CI", "OMP_WAIT_POLICY")}


def _said(workers: int, library: str = "torch", **environment: str) -> list[str]:
    program = [sys.executable, "-c", LOADED.format(workers=workers, library=library)]
    return subprocess.run(
        program, env=ANY | environment, text=True, capture_output=True, check=True
    ).stdout.split()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_cores_are_those_that_the_process_may_use() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert cores() == len(before)


def test_threads_rest_where_others_need_the_cores_and_nowhere_else_is_anything_changed() -> None:
    assert _said(2) == ["PASSIVE", "None"]
    assert _said(1, CI="true") == ["PASSIVE", "None"]


def test_what_is_loaded_already_has_read_its_variable() -> None:
    assert _said(2, "llama_cpp") == ["PASSIVE", "None"]
    assert _said(2, "os") == ["None", "None"]


def test_who_has_said_how_threads_wait_is_heeded() -> None:
    assert _said(2, OMP_WAIT_POLICY="ACTIVE") == ["ACTIVE", "ACTIVE"]
    assert _said(2, GOMP_SPINCOUNT="1000") == ["None", "None"]


def _threads() -> list[int]:
    """The threads of each library that multiplies matrices."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_products_take_one_thread_while_a_claim_is_judged_and_as_many_as_before_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[int]] = []

    def watched(*arguments: Any, **named: Any) -> Result:
        seen.append(_threads())
        return assess(*arguments, **named)

    monkeypatch.setattr("pytest_maxrandom.claims.views.assess", watched)
    rows = [
        {"prompt": prompt, "example": place, "answer": said, "right": right}
        for prompt in "xy"
        for place, (said, right) in enumerate(zip("abba", "abab", strict=True))
    ]
    with threadpool_limits(2, user_api="blas"):  # two where a machine has one core, as well
        judge(rows, prediction="answer", gold="right", choices=2)
        assert set(_threads()) <= {2}
        with pytest.raises(KeyError), one_thread():
            raise KeyError
        assert set(_threads()) <= {2}
    assert [set(each) <= {1} for each in seen] == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux begins the peak anew")
def test_a_peak_of_memory_is_that_of_the_model_that_is_there() -> None:
    large = bytearray(os.urandom(1)) * (300 << 20)
    before = peak_memory()
    del large
    forget_peak()
    after = peak_memory()
    assert before is not None
    assert after is not None
    assert before - after > 200 << 20


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="Linux tells it")
def test_a_container_has_less_memory_than_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_GROUP", tmp_path)
    whole = available_memory()
    assert whole is not None
    assert whole > 10**6
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 300\nactive_file 100\n")
    (tmp_path / "memory.max").write_text("1000\n")
    assert available_memory() == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() == pytest.approx(whole, rel=0.5)
