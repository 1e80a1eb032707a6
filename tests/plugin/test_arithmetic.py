"""What computed a result decides whether it is read again, and is told; it is never a try."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_maxrandom.errors import SweepError
from pytest_maxrandom.hooks.items.studies import ArmsItem
from pytest_maxrandom.models.hf.arithmetic import processor
from pytest_maxrandom.record import Arithmetic, SweepCost
from pytest_maxrandom.sweeps.sweep import Sweep
from tests.unit.reports.samples import comparison

if TYPE_CHECKING:
    from pathlib import Path


def _claims(pytester: pytest.Pytester, *arguments: str) -> list[dict[str, Any]]:
    pytester.runpytest(
        "--maxrandom-json=r.json", "--maxrandom-report=r.md", "-k", "known and not unknown",
        *arguments,
    )  # fmt: skip
    claims: list[dict[str, Any]] = json.loads((pytester.path / "r.json").read_text())["claims"]
    return claims


def test_results_of_another_processor_are_computed_again_and_are_no_further_tries(
    pytester: pytest.Pytester, real_suites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = real_suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("label: tiny", "label: tiny\n    device: cpu"))
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)  # where the whole run has it
    (first,) = _claims(pytester)
    assert first["engine"]["arithmetic"]["processor"] == processor()
    told = (pytester.path / "r.md").read_text()
    assert "models on " in told
    # The libraries' own switch: kernels of a processor that has less.
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    (second,) = _claims(pytester)
    assert (first["engine"]["reused"], second["engine"]["reused"]) == (0, 0)
    assert (
        second["engine"]["arithmetic"]["processor"]
        == processor()
        != first["engine"]["arithmetic"]["processor"]
    )
    assert (second["t"], second["tries"]) == (first["t"], first["tries"])
    monkeypatch.delenv("ATEN_CPU_CAPABILITY")
    (third,) = _claims(pytester)
    assert third["engine"]["reused"] == third["tries"]["run"]
    assert third["engine"]["arithmetic"] == first["engine"]["arithmetic"]
    assert third["t"] == first["t"]


def test_arms_on_different_processors_are_not_compared() -> None:
    item = SimpleNamespace(record=comparison())

    def add(processor: str, kernels: str = "torch") -> None:
        engine = SweepCost("cpu", "float32", 0, 0, 0.0)
        engine.arithmetic = Arithmetic(processor, kernels, {})
        ArmsItem._add_arithmetic(cast("ArmsItem", item), Sweep((), engine))

    add("a processor")
    add("a processor", "bitsandbytes")  # other kernels are what quantization: none, not nf4 changes
    with pytest.raises(SweepError) as caught:
        add("a GPU")
    assert str(caught.value) == (
        "its numbers come from another device (a GPU and a processor), so that a difference may "
        "come from rounding; run all arms on one device (the key `device` of models)"
    )
