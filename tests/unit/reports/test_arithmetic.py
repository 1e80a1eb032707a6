"""Reports tell what computed each number, not what the reporting process happens to have."""

from __future__ import annotations

import dataclasses
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from pytest_maxrandom.hooks.run import Run
from pytest_maxrandom.record import Arithmetic, ClaimRecord, RunRecord, arithmetics
from pytest_maxrandom.record.run import LISTS
from pytest_maxrandom.reports import computing
from pytest_maxrandom.reports.details import facts
from pytest_maxrandom.reports.rendering import markdown
from tests.unit.reports.samples import claim, comparison, recorded, run

if TYPE_CHECKING:
    import pytest


OLD = Arithmetic("GenuineIntel x86_64 with avx2", "bitsandbytes", {"torch": "1.0"})
NEW = Arithmetic("NVIDIA H100 (compute capability 9.0)", "torch", {"torch": "2.0", "peft": "0.1"})


def _computed(arithmetic: Arithmetic | None, **said: Any) -> ClaimRecord:
    record = claim(**said)
    assert record.engine is not None
    return dataclasses.replace(
        record, engine=dataclasses.replace(record.engine, arithmetic=arithmetic)
    )


def _gathered(*claims: ClaimRecord, kind: str = "claims") -> RunRecord:
    gathered = Run()
    gathered.add(
        cast(
            "pytest.TestReport",
            SimpleNamespace(
                maxrandom=[(kind, dataclasses.asdict(each)) for each in claims],
                skipped=False,
                passed=True,
                when="call",
            ),
        )
    )
    return gathered.record()


def test_the_versions_of_a_run_are_those_that_computed_its_numbers() -> None:
    told = _gathered(_computed(OLD, id="a"), _computed(NEW, id="b")).versions
    assert told["torch"] == "1.0 and 2.0"
    assert told["peft"] == "0.1"
    assert told["pytest-maxrandom"] == version("pytest-maxrandom")
    assert "torch" not in _gathered(recorded()).versions


def test_what_was_computed_survives_the_way_to_the_controller() -> None:
    found = _gathered(_computed(OLD))
    assert arithmetics(found) == [OLD]
    assert arithmetics(run(comparisons=[comparison(arithmetics=[NEW])])) == [NEW]
    # In the order of the lists of a record, which no hash seed changes.
    kinds = [kind for kind in LISTS if kind != "claims"]
    several = {kind: dataclasses.replace(NEW, processor=kind) for kind in kinds}
    parts = {kind: [comparison(arithmetics=[each])] for kind, each in several.items()}
    assert arithmetics(run(**parts)) == [*several.values()]


def test_the_report_says_where_each_claim_was_computed() -> None:
    both = run(_computed(OLD, id="a"), _computed(NEW, id="b"))
    text = markdown(both)
    assert computing.processors(both) == (
        f"{OLD.processor} and {NEW.processor}; the details of each claim say on which"
    )
    assert computing.processors(run(_computed(OLD))) == OLD.processor
    assert computing.processors(run(claim())) == ""
    for record, said in zip(
        both.claims,
        ("by bitsandbytes (torch 1.0)", "by torch (torch 2.0, peft 0.1)"),
        strict=True,
    ):
        assert said in dict(facts(record, both))["Computed"]
        assert said in text.replace("\\", "")


def test_a_type_that_was_asked_for_and_not_computed_in_is_told() -> None:
    record = _computed(OLD)
    assert record.engine is not None
    engine = dataclasses.replace(record.engine, asked_dtype="float32", closest=0.1)
    told = computing.precision(dataclasses.replace(record, engine=engine))
    assert told.startswith("bfloat16 (the suite asks for float32): ")
