"""Badges, the hub's evaluation results and checklists: each read by who reads it elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import Reservation, RunRecord
from pytest_maxrandom.reports.badge import badge, badge_svg
from pytest_maxrandom.reports.checklist import UNKNOWN, checklist
from pytest_maxrandom.reports.hub import hub
from tests.unit.reports.samples import claim, comparison, recorded, run, untested

FAILED: dict[str, Any] = {"passed": False, "outcome": "failed", "message": "no"}


def colour(record: RunRecord) -> str:
    told = json.loads(badge(record))
    # What shields.io requires of an endpoint.
    assert told.keys() == {"schemaVersion", "label", "message", "color"}
    assert told["schemaVersion"] == 1
    return str(told["color"])


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (run(claim(best=50)), "brightgreen"),
        (run(claim(best=50), claim(best=20, id="b::b", **FAILED)), "red"),
        (run(claim(best=50), untested()), "red"),
        (run(claim(best=50), interrupted=True), "red"),
        (run(claim(best=50), broken=["a.yaml:1: a mistake"]), "red"),
        (run(claim(best=50), reservations=[Reservation("gone", "a::b", fails=True)]), "red"),
        (run(claim(best=50), reservations=[Reservation("gone", "a::b")]), "yellow"),
        (run(claim(best=50, passes_on="p_max only")), "yellow"),
        (run(claim(best=50, outcome="xfailed", passed=False, xfail="known")), "yellow"),
        (run(recorded()), "lightgrey"),
        (run(replace(claim(best=50), simulated=True)), "lightgrey"),
        (run(), "lightgrey"),
    ],
)
def test_a_badge_is_green_only_where_all_that_is_claimed_passes(
    record: RunRecord, expected: str
) -> None:
    assert colour(record) == expected


def test_a_badge_says_n_and_t_and_what_fails() -> None:
    record = run(claim(best=50), claim(best=20, id="b::b", t=200, **FAILED))
    message = json.loads(badge(record))["message"]
    assert message == "1 of 2 claims fails; t = 20 to 200, n = 60"
    compared = run(claim(best=50), comparisons=[comparison(-0.05)])
    assert json.loads(badge(compared))["message"].startswith("1 of 1 comparison fails; t")
    made_up = json.loads(badge(run(replace(claim(best=50), simulated=True))))["message"]
    assert "; simulated; " in made_up


def test_the_image_is_svg_that_says_the_same_within_its_width() -> None:
    record = run(claim(best=50), broken=["a.yaml:1: <a & b>"])
    message = json.loads(badge(record))["message"]
    root = ET.fromstring(badge_svg(record))
    name = "{http://www.w3.org/2000/svg}"
    texts = [*root.iter(f"{name}text")]
    assert [each.text for each in texts] == ["maxrandom", message]
    assert root.find(f"{name}title").text == f"maxrandom: {message}"  # type: ignore[union-attr]
    for each in texts:
        assert int(each.attrib["x"]) + int(each.attrib["textLength"]) < int(root.attrib["width"])


def test_the_hub_s_own_library_reads_a_result_with_n_t_and_p_in_its_notes() -> None:
    library = pytest.importorskip("huggingface_hub")
    [entry] = library.parse_eval_result_entries(
        yaml.safe_load(hub(run(claim(best=50)), "openai/gsm8k", "main"))
    )
    assert (entry.dataset_id, entry.task_id) == ("openai/gsm8k", "main")
    assert entry.value == round(50 / 60, 6)
    assert entry.date == "2026-01-31T12:00:00Z"
    for said in ("t = 20 ", "n = 60 ", "p_max = 1.6e-06", "random guessers .620", "passes", "nf4"):
        assert said in entry.notes
    # It writes what it reads as we do.
    [again] = library.eval_result_entries_to_yaml([entry])
    assert [again] == yaml.safe_load(hub(run(claim(best=50)), "openai/gsm8k", "main"))


def test_the_hub_is_told_of_a_claim_that_fails_that_it_does() -> None:
    [entry] = yaml.safe_load(hub(run(claim(best=20, **FAILED)), "a/b"))
    assert "the claim fails" in entry["notes"]
    assert entry["dataset"] == {"id": "a/b", "task_id": "default"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (run(replace(claim(), simulated=True)), "the answers are simulated"),
        (run(untested()), "there is no value for the hub: could not be tested"),
        (run(), "found 0 claims, expected one"),
    ],
)
def test_what_the_hub_must_not_be_told_is_refused(record: RunRecord, message: str) -> None:
    with pytest.raises(ReportError, match=message):
        hub(record, "a/b")


def test_a_checklist_has_the_number_of_runs_the_criterion_and_the_compute() -> None:
    text = checklist(run(claim(best=50)))
    for said in (
        "**Number of runs.** t = 20 prompts; 20 asked for, 91,390 possible",
        "**Selection criterion.** the prompt with the highest accuracy on the validation set",
        "**Seeds.** prompts 0, validation set 0",
        "151,200 tokens in 23.5 s",
        "**Compute of all claims.** scoring 23 s on cpu",
        "torch 2.13.0",
    ):
        assert said in text


def test_a_checklist_says_what_nobody_recorded_and_names_whose_answers_differ() -> None:
    text = checklist(run(claim(best=50), recorded(id="a.yaml::other"), untested()))
    assert f"- `other`: {UNKNOWN}\n" in text
    assert f"151,200 tokens in this run; of 1 {UNKNOWN}" in text
    assert "could not be tested" in text
    alone = checklist(run(recorded()))
    assert f"**Compute.** {UNKNOWN}\n" in alone
    assert f"**Compute of all claims.** {UNKNOWN}" in alone
    assert "No claim was tested." in checklist(run(untested()))
