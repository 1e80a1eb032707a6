"""The suites of the study of pretraining on unlabeled test text have its design."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_maxrandom.studies.plan import plan_file

FOLDER = Path(__file__).parents[3] / "eval_suites" / "pretraining" / "study"
TABLE = {50: 100, 100: 100, 200: 50, 500: 20}
CELLS = {
    f"{model}-m{m}-n{n}": (m, n) for model in ("bert", "gpt2") for m in (50, 100) for n in TABLE
}


def read(name: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    return found


def test_there_is_one_suite_for_each_cell() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {*CELLS, "mistral-n100"}


@pytest.mark.parametrize("name", [*CELLS, "mistral-n100"])
def test_a_cell_has_25_tasks_and_the_replicates_of_the_studys_table(name: str) -> None:
    suite = read(name)
    m, n = CELLS.get(name, (None, 100))
    tasks, arms = suite["tasks"], suite["arms"]
    assert isinstance(tasks, list)
    assert isinstance(arms, dict)
    assert len({task["name"] for task in tasks}) == 25
    assert {task["validation"]["max_examples"] for task in tasks} == {n}
    assert suite["replicates"] == (TABLE[n] if m else 20)
    assert [arms[arm].get("train", {}).get("text") for arm in ("base", "extra", "test")] == [
        None, "extra", "scored",
    ]  # fmt: skip
    head = suite.get("classify")
    assert m is None if head is None else (isinstance(head, dict) and head["examples"] == m)


@pytest.mark.parametrize("name", ["bert-m50-n500", "gpt2-m100-n50", "mistral-n100"])
def test_without_data_and_model_every_claim_is_skipped_with_the_way_to_get_them(name: str) -> None:
    planned = plan_file(FOLDER / f"{name}.yaml")
    assert len(planned) == 25 * (3 + 1)
    for each in planned:
        assert re.search(r"README\.md.*\(there is no", each.missing or "", re.DOTALL)
