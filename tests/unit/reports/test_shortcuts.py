"""What needs no knowledge, as reports say it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import Shortcuts
from pytest_maxrandom.reports.csv import columns, csv
from pytest_maxrandom.reports.phrases import shortcuts
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump, load, load_untrusted
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path


def found(**changed: Any) -> Shortcuts:
    usual: dict[str, Any] = {
        "measure": "accuracy",
        "best": 0.7,
        "heuristic": "shortest",
        "heuristic_score": 0.392,
        "heuristic_p": 0.0001,
        "heuristics": {"longest": 0.09, "shortest": 0.392},
    }
    return Shortcuts(**(usual | changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {},
            "the shortest choice, the best of 2 heuristics, has an accuracy of .392 (sign-flip p "
            "of the best prompt's .700 = 1.0e-04)",
        ),
        (
            {"measure": "balanced_accuracy", "choices_only": 0.5, "choices_only_p": 0.25},
            "the shortest choice, the best of 2 heuristics, has a balanced accuracy of .392 "
            "(sign-flip p of the best prompt's .700 = 1.0e-04); with blank inputs the best prompt "
            "has .500 (p = .250)",
        ),
    ],
)
def test_in_words(changed: dict[str, Any], said: str) -> None:
    record = claim(shortcuts=found(**changed))
    assert shortcuts(record) == said
    assert f"- **Without the question:** {said}\n" in markdown(run(record)).replace("&#8288;", "")


def test_where_no_texts_are_at_hand_nothing_is_said() -> None:
    assert shortcuts(claim()) == ""
    assert "Without the question" not in markdown(run(claim()))


def test_every_number_is_in_the_files(tmp_path: Path) -> None:
    whole = run(claim(shortcuts=found(choices_only=0.5, choices_only_p=0.25)), claim(id="b"))
    path = tmp_path / "r.json"
    path.write_text(dump(whole))
    assert load(path) == whole
    assert {"shortcuts_heuristic", "shortcuts_choices_only"} <= set(columns())
    row = csv(whole).splitlines()[1]
    assert json.dumps({"longest": 0.09, "shortest": 0.392}).replace('"', '""') in row
    # A fork's report is not believed.
    assert [each.shortcuts for each in load_untrusted(path).claims] == [None, None]
