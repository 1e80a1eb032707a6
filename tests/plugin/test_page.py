"""`--maxrandom-html` writes the answers of a run, and its texts only where they may be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.reports.results import load
from tests.plugin.conftest import INPUTS, N
from tests.unit.reports.opened import blocks, claims

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no variable of the CI that runs these tests decide what is in a page."""
    monkeypatch.delenv("CI", raising=False)


def opened(path: Path) -> dict[str, Any]:
    return {shown["task"]: shown for shown in claims(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_the_page_has_each_answer_of_the_predictions_file(
    pytester: pytest.Pytester, suites: Path, workers: tuple[str, ...]
) -> None:
    options = ["--maxrandom-html=p.html", "--maxrandom-predictions=p.jsonl", *workers]
    result = pytester.runpytest("eval_suites", *options)
    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["page: *p.html"])
    shown = opened(pytester.path / "p.html")
    for text in (pytester.path / "p.jsonl").read_text().splitlines():
        line = json.loads(text)
        cells = shown[line["task"]]["cells"]
        (row,) = cells["rows"]  # 0 shots: there is one prompt
        for column, each in enumerate(line["examples"]):
            answer = cells["answers"][column]
            assert cells["examples"][answer["column"]] == each["id"]
            assert row[answer["column"]] == "01"[each["chosen"] in each["right"]]
            assert (answer["chosen"], answer["right"]) == (each["chosen"], each["right"])
            per_token = [
                value / tokens
                for value, tokens in zip(each["log_likelihoods"], each["tokens"], strict=True)
            ]
            assert answer["scores"] == pytest.approx(per_token, abs=1e-4)
    text = (pytester.path / "p.html").read_text(encoding="utf-8")
    asked = blocks(text)[f"texts-{shown['known']['questions']}"]["texts"]
    assert [each["input"] for each in asked] == INPUTS
    assert shown["known"]["prompt"]["question"]
    assert len(shown["known"]["cells"]["examples"]) == N


def whole(path: Path) -> str:
    """Return all that a page holds, what is deflated included."""
    text = path.read_text(encoding="utf-8")
    return text + json.dumps(blocks(text))


def test_what_claims_share_stands_in_the_page_once(pytester: pytest.Pytester, suites: Path) -> None:
    pytester.runpytest("eval_suites", "--maxrandom-html=p.html")
    names = blocks((pytester.path / "p.html").read_text(encoding="utf-8"))
    # Both tasks ask the same questions with the same choices.
    assert len([name for name in names if name.startswith("texts-")]) == 1
    assert whole(pytester.path / "p.html").count(f'"{INPUTS[0]}"') == 1


@pytest.mark.parametrize(
    ("environ", "option", "share", "has"),
    [
        ({}, "auto", False, True),
        ({"CI": "true"}, "auto", False, False),
        ({"CI": "true"}, "auto", True, True),
        ({"CI": "false"}, "auto", False, True),
        ({"CI": "true"}, "all", False, True),
        ({}, "shared", False, False),
        ({}, "shared", True, True),
    ],
)
def test_texts_are_in_the_page_where_they_may_be_read(
    pytester: pytest.Pytester,
    suites: Path,
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    option: str,
    share: bool,
    has: bool,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    suite = suites / "suite.yaml"
    if share:
        suite.write_text("share: texts\n" + suite.read_text())
    options = ["--maxrandom-html=p.html", f"--maxrandom-texts={option}", "--maxrandom-json=r.json"]
    result = pytester.runpytest("eval_suites", *options, "--maxrandom-report=r.md")
    result.assert_outcomes(passed=1, xfailed=1)
    text = whole(pytester.path / "p.html")
    assert [text.count(each) > 0 for each in INPUTS] == [has] * N
    assert ("no texts of questions" in text.partition("<script")[0]) == (not has)
    assert [bool(each["cells"]) for each in opened(pytester.path / "p.html").values()] == [True] * 2
    record = json.loads((pytester.path / "r.json").read_text())
    assert {each["share"] for each in record["claims"]} == {"texts" if share else "nothing"}
    # Each report shows the first question with its best prompt, or says that it does not.
    for name in ("r.json", "r.md"):
        report = (pytester.path / name).read_text(encoding="utf-8")
        assert any(each in report for each in INPUTS) == has
    left_out = "Its text is left out: the suite does not say `share: texts`."
    assert (left_out in (pytester.path / "r.md").read_text(encoding="utf-8")) == (not has)
    assert {each["best_prompt"]["question"] is None for each in record["claims"]} == {not has}
    assert load(pytester.path / "r.json").claims[0].best_prompt is not None


def test_recorded_results_have_their_answers_in_the_page(
    pytester: pytest.Pytester, suites: Path
) -> None:
    pytester.runpytest("eval_suites", "--maxrandom-predictions=p.jsonl")
    folder = pytester.mkdir("eval_suites_of_others")
    (folder / "r.maxrandom.yaml").write_text(
        "models:\n  - name: tiny\n    backend: recorded\n    results:\n"
        "      format: predictions\n      path: ../p.jsonl\n"
        "tasks:\n  - name: known\nassert: report\n"
    )
    result = pytester.runpytest(str(folder), "--maxrandom-html=p.html")
    result.assert_outcomes(passed=1)
    (shown,) = opened(pytester.path / "p.html").values()
    line = json.loads((pytester.path / "p.jsonl").read_text().splitlines()[0])
    rights = [each["chosen"] in each["right"] for each in line["examples"]]
    assert shown["cells"]["rows"] == ["".join("01"[right] for right in rights)]


def test_the_page_of_a_killed_run_has_what_was_done(
    pytester: pytest.Pytester, suites: Path
) -> None:
    result = pytester.runpytest("eval_suites", "--maxrandom-html=p.html", "-k", "unknown")
    result.assert_outcomes(xfailed=1, deselected=1)
    assert list(opened(pytester.path / "p.html")) == ["unknown"]
