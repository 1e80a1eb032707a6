"""Outside folds stand at most so many words, whatever a report tells; the rest is folded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.record import RESERVED, ClaimRecord, Reservation, RunRecord
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.unfolded import within, words
from tests.unit.reports.hostile import hidden_in
from tests.unit.reports.page import any_text, folded, read, words_unfolded
from tests.unit.reports.samples import claim, flag, run
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pathlib import Path


URL = "https://ci.test/runs/1"
NO_LIMIT = 10**9
FOLD = "What has no room above ({} parts)"
CODE = re.compile(r"(`+)[^`].*?[^`]\1(?!`)")


def failing(number: int, **changed: Any) -> list[ClaimRecord]:
    flags = [
        flag(f"{kind} is told of it, with its numbers.", kind=kind)
        for kind in ("majority", "tied_scores")
    ]
    made: dict[str, Any] = {"best": 31, "red_flags": flags, **changed}
    return [
        claim(**{"task": f"task {index}", "id": f"s.yaml::{index}", **made})
        for index in range(number)
    ]


def held(record: RunRecord) -> RunRecord:
    """Hold as much against a run as a gate can."""
    against = [Reservation(kind, one.id) for kind in RESERVED for one in record.claims[:3]]
    return replace(record, reservations=against, broken=["a.yaml:3: " + "no task " * 60] * 6)


EXTREMES = {
    "12 claims with two red flags each": run(*failing(12)),
    "15 rows, the most that are not folded by their number": run(*failing(15)),
    "all that a gate can hold against it": held(run(*failing(3))),
    "long names": run(*failing(5, task="a b " * 30, model="c d " * 30)),
    "reasons to fail that are long": run(*failing(3, xfail="for a reason " * 100)),
    "an end before its time": replace(held(run(*failing(2))), not_run=7, interrupted=True),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_at_most_150_words_of_a_comment_and_300_of_a_report_are_unfolded(name: str) -> None:
    told = EXTREMES[name]
    bases: list[RunRecord | str | None] = [None, run(*failing(12, best=45)), "no such file " * 60]
    texts = [
        comment(
            told, base, key="gate", report=URL, page=URL, branch="main", commit="c0ffee",
            outcome=why, untrusted=True,
        )
        for base in bases
        for why in ("", "pytest failed for a reason " * 40)
    ]  # fmt: skip
    assert max(len(words_unfolded(text)) for text in texts) <= 150
    assert len(words_unfolded(markdown(told))) <= 300
    for text in texts:  # it is a table, a list and so on as before
        read(text)


def test_what_fails_is_named_first_and_all_is_in_the_fold() -> None:
    told = held(run(*failing(3)))
    whole, text = (comment(told, key="gate", report=URL, words=most) for most in (NO_LIMIT, 150))
    assert len(words_unfolded(whole)) > 300
    above = text.partition("<details>")[0]
    assert [f"`task {index}`" in above for index in range(3)] == [True] * 3
    number = text.partition("What has no room above (")[2].split()[0]
    inside = folded(text, FOLD.format(number))
    points = [line for line in whole.splitlines() if line.startswith("- ")]
    assert [point for point in points if point not in above and point not in inside] == []


def test_the_fold_says_how_many_more_fail_than_are_named() -> None:
    lines = [f"- ❌ `task {at}`: **.5** of .6" for at in range(100)]
    cut = within("\n".join(["### The title", "", *lines]), 150)
    above, _, below = cut.partition("<details>")
    told = int(below.partition("<summary>")[2].split()[0])
    assert told == 100 - above.count("- ❌")
    assert f"<summary>{told} more fail, and what has no room above (" in below
    one = within(f"### The title\n\n{lines[0]}\n- ❌ {'`a` ' * 90}\n", 80)
    assert "more fail" not in one  # each is named, be it in part


@pytest.mark.parametrize("name", ["`{}`", "`` `{} ``", "of **{}**", "`a b` **`{}`**", "{}"])
def test_of_a_name_that_has_no_room_its_begin_is_seen_and_closed(name: str) -> None:
    long = name.format("word " * 90 + "end")
    cut = within(f"### The title\n\n- ❌ {long}: fails\n- ❌ `short`: fails\n", 60)
    above = cut.partition("<details>")[0]
    assert "word word word" in above
    assert "- ❌ `short`" in above
    [line] = (line for line in above.splitlines() if "word" in line)
    assert line.endswith(" …")
    assert line.count("**") % 2 == 0
    assert "`" not in CODE.sub("", line)
    title = within(f"### {long}\n\n- ❌ `short`: fails {'again ' * 60}\n", 60).splitlines()[0]
    assert title.removeprefix("### ").removesuffix(" …").startswith(name.partition("{")[0])
    assert "`" not in CODE.sub("", title)


def test_a_fold_with_one_table_is_called_so() -> None:
    legend = f"<details>\n<summary>How to read it</summary>\n\n{'word ' * 40}\n</details>"
    table = "\n".join(["| a |", "| --- |", *("| one two |" for _ in range(60))])
    cut = within(f"### The title\n\n- ❌ `a`: fails\n\n{table}\n\n{legend}\n", 60)
    assert "<summary>The table, and how to read it</summary>" in cut


@given(text=any_text)
@settings(max_examples=25, deadline=None)
def test_no_text_of_data_has_more_words_than_are_counted(text: str) -> None:
    told = hidden_in(text, outcome="failed")
    whole, cut = (markdown(told, words=most) for most in (NO_LIMIT, 60))
    above = whole.partition("<details>")[0]
    assert len(words_unfolded(above)) <= words(above)
    page = read(cut)  # what it opens, it closes
    assert {*page.links} == {*read(whole).links}
    assert len(page.tables) == len(read(whole).tables)
    assert not [node for node in page.prose if ACTIVE.search(node)]


@given(
    parts=st.lists(st.tuples(st.sampled_from(["- ❌ ", "- ", ""]), st.integers(1, 60))),
    title=st.integers(0, 40),
    most=st.integers(30, 200),
)
def test_a_number_of_words_is_kept_by_construction(
    parts: list[tuple[str, int]], title: int, most: int
) -> None:
    lines = [f"{start}`part {at}`: {'word ' * size}" for at, (start, size) in enumerate(parts)]
    text = f"### The title{' again' * title}\n\n" + "".join(f"{line.strip()}\n\n" for line in lines)
    cut = within(text, most)
    assert len(words_unfolded(cut)) <= most
    assert (cut == text) == (words(text) <= most)
    for line in lines:
        assert line.strip() in cut


def test_templates_of_a_user_s_own_are_left_as_they_are(tmp_path: Path) -> None:
    template = (
        '{% extends "maxrandom/report.md.j2" %}{% block footer %}{{ "word " * 400 }}{% endblock %}'
    )
    (tmp_path / "report.md.j2").write_text(template)
    assert FOLD.partition("(")[0] not in markdown(run(claim()), tmp_path)
