"""Annotations: each at its line, the most important first, and nothing but text from data."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.errors import Problem
from pytest_maxrandom.reports.annotations import (
    Annotation,
    annotate,
    of_problem,
    workflow_commands,
)
from tests.integration.action_runner import commands
from tests.unit.reports.samples import claim, hand_written, run, untested

ROOT = Path("/repository/models")
SPACE = Path("/repository")


def test_a_claim_that_fails_stands_at_its_line_with_its_numbers() -> None:
    (line,) = workflow_commands(annotate(run(claim(), claim(best=31)), ROOT, ROOT), SPACE)
    ((kind, where, message),) = commands(line)
    assert kind == "error"
    assert where == {
        "file": "models/eval_suites/demo/demo.yaml",
        "line": "12",
        "title": "weather[demo-nf4-4shot] fails",
    }
    assert message == claim(best=31).message


def test_what_could_not_be_read_comes_first_then_what_fails_then_what_was_not_tested() -> None:
    record = run(
        untested(id="s.yaml::untested", message="no such model"),
        claim(id="s.yaml::lucky", outcome="xpassed", xfail="too hard"),
        claim(id="s.yaml::weak", best=31),
        claim(id="s.yaml::known", best=31, outcome="xfailed"),
        claim(id="s.yaml::good"),
        claim(id="s.yaml::left", outcome="skipped"),
        broken=["sub/s.yaml:3: `n`: found 'x: 4: y', expected a number"],
    )
    found = annotate(record, ROOT, SPACE)
    assert [one.title for one in found] == [
        "A suite cannot be read",
        "weak fails",
        "lucky passes unexpectedly",
        "untested could not be tested",
    ]
    assert (found[0].path, found[0].line) == (SPACE / "sub/s.yaml", 3)
    assert found[0].message == "`n`: found 'x: 4: y', expected a number"
    assert "too hard" in found[2].message
    assert found[3].message == "no such model"


def test_what_stands_at_no_line_is_told_once() -> None:
    broken = ["Traceback (most recent call last):", "  boom", "s.yaml:1: is empty"]
    found = annotate(run(broken=broken), ROOT, ROOT)
    assert [(one.path, one.line, one.message) for one in found] == [
        (ROOT / "s.yaml", 1, "is empty"),
        (None, None, "\n".join(broken[:2])),
    ]


@pytest.mark.parametrize(("number", "notice"), [(10, None), (11, "1 more is"), (25, "15 more are")])
def test_more_than_github_shows_end_with_a_notice(number: int, notice: str | None) -> None:
    record = run(*(claim(id=f"s.yaml::c{index}", best=31) for index in range(number)))
    found = commands("\n".join(workflow_commands(annotate(record, ROOT, ROOT), SPACE)))
    assert [where["title"] for _, where, _ in found[:10]] == [f"c{i} fails" for i in range(10)]
    told = [message for kind, _, message in found[10:] if kind == "notice"]
    assert told == ([] if notice is None else [f"{notice} not shown here"])


def test_a_file_outside_of_the_repository_is_not_named() -> None:
    problem = Problem(Path("/elsewhere/s.yaml"), 3, "no")
    assert workflow_commands([of_problem(problem)], SPACE) == [
        "::error title=A suite cannot be read::no"
    ]


def test_a_repository_behind_a_link_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    problem = Problem(tmp_path / "real" / "..a" / "s.yaml", None, "no")
    (line,) = workflow_commands([of_problem(problem)], tmp_path / "link")
    assert commands(line)[0][1]["file"] == "..a/s.yaml"


def test_a_hand_written_claim_stands_at_its_test() -> None:
    (found,) = annotate(run(hand_written(best=31)), ROOT, ROOT)
    assert (found.path, found.line) == (ROOT / "tests/test_mine.py", 8)


HOSTILE = st.text(alphabet="a:,%=\n\r\t#[]\u2028\u202e\x1b\x850AD ", max_size=60) | st.sampled_from(
    ["\n::set-output name=code::0", "%0A::error::x", "##[add-path]/x", "\r::stop-commands::x"]
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_is_more_than_the_text_of_one_annotation(
    title: str, message: str, name: str
) -> None:
    path = SPACE / f"x{name}.yaml"
    (line,) = workflow_commands([Annotation(title, message, path, 7)], SPACE)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    ((kind, where, told),) = commands(line)
    assert kind == "error"
    if str(path).isprintable():
        assert (where.pop("file"), where.pop("line")) == (str(path.relative_to(SPACE)), "7")
    assert where.keys() == {"title"}
    if message.isprintable():
        assert told == message


def test_a_long_text_is_shortened() -> None:
    found = [Annotation("t" * 10_000, "m" * 100_000)]
    ((_, where, message),) = commands(workflow_commands(found, SPACE)[0])
    assert len(where["title"]) <= 120
    assert len(message) <= 4000
