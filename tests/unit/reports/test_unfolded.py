"""Outside folds stand at most so many words, whatever a report tells; the rest is folded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.record import RESERVED, Reservation
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.unfolded import within, words
from tests.unit.reports.page import any_text, folded, read, words_unfolded
from tests.unit.reports.samples import claim, flag, run
from tests.unit.reports.test_markdown import hidden_in
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord, RunRecord

URL = "https://ci.test/runs/1"
NO_LIMIT = 10**9
FOLD = "What has no room above ({} parts)"


def failing(number: int, **changed: object) -> list[ClaimRecord]:
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
    texts = [
        comment(
            told, base, key="gate", report=URL, page=URL, branch="main", commit="c0ffee",
            outcome=why, untrusted=True,
        )
        for base in (None, run(*failing(12, best=45)), "it cannot be read " * 60)
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
    parts=st.lists(st.tuples(st.sampled_from(["- ❌ ", "- ", "", "| "]), st.integers(1, 60))),
    most=st.integers(30, 200),
)
def test_a_number_of_words_is_kept_by_construction(parts: list[tuple[str, int]], most: int) -> None:
    lines = [f"{start}`part {at}`: {'word ' * size}" for at, (start, size) in enumerate(parts)]
    text = "### The title\n\n" + "".join(f"{line.strip()}\n\n" for line in lines)
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
