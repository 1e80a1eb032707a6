"""Claims whose results can neither show nor refute them, and those that pass on p_max only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.results import load
from tests.unit.recorded.suites import rows, save

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models:
- {name: m, backend: recorded, results: {path: m.npz, format: npz}}
tasks:
- {name: knows, chance: 1/2}
- {name: named, chance: 1/2, assert: {p_max: 0.05}}
prompts: {shots: 0}
"""
WHY = "only right and wrong are known, so knowledge cannot be distinguished from a preferred label"


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    """Folder of a suite of results that only say right and wrong."""
    folder = pytester.mkdir("eval_suites")
    (folder / "s.yaml").write_text(SUITE)
    right = {"correct": rows(35, n=40)}
    save(folder / "m.npz", knows__0=right, named__0=right)
    return folder


def records(path: Path) -> dict[str, dict[str, Any]]:
    return {claim["task"]: claim for claim in json.loads(path.read_text())["claims"]}


def test_right_and_wrong_alone_are_no_verdict_and_p_max_by_name_is_one_on_p_max_only(
    pytester: pytest.Pytester, folder: Path
) -> None:
    result = pytester.runpytest(
        "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--junit-xml=j.xml"
    )
    result.assert_outcomes(passed=1, failed=1)
    found = records(pytester.path / "r.json")
    told, named = found["knows"], found["named"]
    assert (told["passed"], told["holds"], told["outcome"]) == (None, None, "cannot tell")
    assert told["cannot_tell"]["kind"] == "only_right_and_wrong"
    assert told["message"].startswith(f"cannot tell: {WHY}: record the predictions, or claim ")
    assert (named["passed"], named["outcome"]) == (True, "passed")
    assert (named["passes_on"], told["passes_on"]) == ("p_max only", None)
    assert named["p_max"] == told["p_max"]
    result.stdout.fnmatch_lines([f"cannot tell: {WHY}:*", "cannot tell *knows?m-0shot?",
                                 "passes (p_max only) *named?m-0shot?"])  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")
    report = (pytester.path / "r.md").read_text()
    assert "cannot tell" in report.splitlines()[0]
    assert "passes (p_max only)" in report
    (failure,) = ET.parse(pytester.path / "j.xml").iter("failure")
    assert failure.get("type") == "cannot tell"
    assert WHY in (failure.get("message") or "")
    values = [each.get("value") for each in ET.parse(pytester.path / "j.xml").iter("property")]
    assert values
    assert "None" not in values


@pytest.mark.parametrize(
    ("asserted", "on"),
    [
        ("beats: max_random", "baseline only"),
        ("beats: standard", "baseline only"),
        ("union_p: 0.05", "union p only"),
        ("union_p: 0.05, p_max: 0.05", "union p only"),
        ("p_max: 0.05, beats: max_random", "p_max only"),
    ],
)
def test_what_passes_on_right_and_wrong_alone_names_what_it_claims_and_nothing_else(
    pytester: pytest.Pytester, folder: Path, asserted: str, on: str
) -> None:
    (folder / "s.yaml").write_text(SUITE.replace("p_max: 0.05", asserted))
    result = pytester.runpytest(
        "-k", "named", "--maxrandom-json=r.json", "--maxrandom-report=r.md",
        "--maxrandom-html=r.html", "--junit-xml=j.xml",
    )  # fmt: skip
    result.assert_outcomes(passed=1, deselected=1)
    assert records(pytester.path / "r.json")["named"]["passes_on"] == on
    result.stdout.fnmatch_lines([f"*: 1 of 1 claim passes on *{on}*", f"passes ({on}) *"])
    assert main(["report", "r.json", "--format=latex", "--out=r.tex"]) == 0
    (pytester.path / "c.md").write_text(comment(load(pytester.path / "r.json")))
    for name in ("r.md", "c.md", "r.html", "r.tex"):
        text = (pytester.path / name).read_text().replace(r"$p_{\max}$", "p_max")
        assert f"passes ({on})" in text or on in text.splitlines()[0], name
        assert on == "p_max only" or "p_max only" not in text, name
    properties = {each.get("name"): each.get("value") for each in ET.parse(
        pytester.path / "j.xml").iter("property")}  # fmt: skip
    assert properties["passes_on"] == on


def test_a_claim_that_fails_has_no_type_of_its_own_in_junit(
    pytester: pytest.Pytester, folder: Path
) -> None:
    save(folder / "m.npz", knows__0={"correct": rows(20, n=40)},
         named__0={"correct": rows(20, n=40)})  # fmt: skip
    pytester.runpytest("--junit-xml=j.xml").assert_outcomes(failed=2)
    failures = [*ET.parse(pytester.path / "j.xml").iter("failure")]
    assert [each.get("type") for each in failures] == ["cannot tell", None]


@pytest.mark.parametrize("correct", [20, 35])
def test_it_is_never_what_was_expected_of_a_claim_and_is_tested_again_as_a_failure(
    pytester: pytest.Pytester, folder: Path, correct: int
) -> None:
    expected = SUITE.replace("knows, chance: 1/2", "knows, chance: 1/2, xfail: it guesses")
    (folder / "s.yaml").write_text(expected)
    right = {"correct": rows(35, n=40)}
    save(folder / "m.npz", knows__0={"correct": rows(correct, n=40)}, named__0=right)
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1, failed=1)
    assert records(pytester.path / "r.json")["knows"]["outcome"] == "cannot tell"
    again = pytester.runpytest("--lf", "-v")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*knows?m-0shot? FAILED*"])


def test_a_hand_written_claim_of_counts_is_told_by_the_argument_that_it_needs(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_it(maxrandom):
            maxrandom.check(best_correct=90, n=100, t=9, chance=0.5)

        @pytest.mark.xfail(reason="too hard")
        def test_expected(maxrandom):
            maxrandom.check(best_correct=50, n=100, t=9, chance=0.5)

        def test_named(maxrandom):
            maxrandom.check(best_correct=90, n=100, t=9, chance=0.5, p_max=0.05)
        """
    )
    result = pytester.runpytest("--maxrandom-json=r.json", "--junit-xml=j.xml")
    result.assert_outcomes(passed=1, failed=2)
    found = records(pytester.path / "r.json")
    assert {name: (each["outcome"], each["passed"]) for name, each in found.items()} == {
        "test_it": ("cannot tell", None),
        "test_expected": ("cannot tell", None),
        "test_named": ("passed", True),
    }
    assert "or claim p_max by name (`p_max=0.05`)" in found["test_it"]["message"]
    assert found["test_named"]["passes_on"] == "p_max only"
    failures = [*ET.parse(pytester.path / "j.xml").iter("failure")]
    assert [each.get("type") for each in failures] == ["cannot tell", "cannot tell"]
    (told,) = ET.parse(pytester.path / "j.xml").iter("property")
    assert (told.get("name"), told.get("value")) == ("passes_on", "p_max only")
    pytester.runpytest("--lf").assert_outcomes(failed=2)


def test_a_report_with_passes_and_one_that_cannot_tell_differ(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = SUITE.replace("prompts:", "assert: {p_max: 0.05}\nprompts:")
    (folder / "s.yaml").write_text(named)
    pytester.runpytest("--maxrandom-json=before.json").assert_outcomes(passed=2)
    (folder / "s.yaml").write_text(SUITE)
    pytester.runpytest("--maxrandom-json=now.json").assert_outcomes(passed=1, failed=1)
    capsys.readouterr()
    assert main(["diff", "before.json", "now.json"]) == 1
    fell = capsys.readouterr().out
    assert "1 claim fell" in fell
    assert "no longer passes, because its results cannot tell" in fell
    assert "p_max only" in fell
    assert main(["diff", "now.json", "before.json"]) == 0  # nothing fell
    assert "passes, but asserts less" in capsys.readouterr().out


LETTERS = """\
models: [{name: rule, backend: mock, knows: 0.9}]
tasks:
- {name: untold, path: untold.jsonl, format: jsonl, append_choices: false}
- {name: told, path: told.jsonl, format: jsonl, append_choices: false}
- {name: named, path: untold.jsonl, format: jsonl, append_choices: false,
   assert: {permutation_p: 0.05, beats: max_random}}
prompts: {shots: 0, count: 1}
"""


def test_letters_of_texts_that_no_question_lists_are_no_verdict_in_a_sweep_either(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = pytester.mkdir("eval_suites")
    (folder / "s.yaml").write_text(LETTERS)
    texts = ["red", "blue", "green", "none of these"]
    for name, mark in (("untold", "{} = {}"), ("told", "{}. {}")):
        lines = [mark.format(*pair) for pair in zip("ABCD", texts, strict=True)]
        rows = [
            {"input": "\n".join([f"Which {number}?", *lines]), "choices": [*"ABCD"],
             "answer": number % 4}
            for number in range(60)
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    # It is known before a model is asked.
    assert main(["check", "eval_suites"]) == 0
    known, *others = [line for line in capsys.readouterr().out.splitlines() if "can tell" in line]
    assert known.startswith("eval_suites/s.yaml:3: remark: untold[rule-0shot]: no run can tell: ")
    assert not others
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=2, failed=1)
    found = records(pytester.path / "r.json")
    kinds = {task: [note["kind"] for note in claim["notes"]] for task, claim in found.items()}
    assert [found[task]["passed"] for task in ("untold", "told", "named")] == [None, True, True]
    assert found["untold"]["cannot_tell"]["kind"] == "only_letters"
    unseen = {task for task, notes in kinds.items() if "places_exchanged" in notes}
    assert unseen == {"untold", "named"}
