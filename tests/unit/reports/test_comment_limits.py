"""A comment keeps to its limit and all data in its cell, whatever is in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given, settings, strategies as st

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.notation import NONE
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.text import shorten, visible
from tests.unit.reports.hostile import HOSTILE, designs_hiding
from tests.unit.reports.page import Page, any_text, read
from tests.unit.reports.samples import claim, flag, run
from tests.unit.reports.test_comment import URL, many, named, points, rows
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize(
    ("limit", "number"),
    [
        (9_000, 200),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in ((65_536, 800), (9_000, 1500), (65_536, 1500))
        ),
    ],
)
def test_a_comment_is_cut_at_a_row_and_says_so(number: int, limit: int, compared: bool) -> None:
    base = many(number) if compared else None
    text = comment(many(number, best=38), base, report=URL, limit=limit)
    assert limit * 0.9 < len(text.encode()) <= limit
    page = read(text)
    shown = len(page.body)
    assert 0 < shown < number
    assert {len(row) for row in page.body} == {len(page.tables[0][0])}
    assert f"{number - shown:,} of {number:,} claims are not in this table" in page.text
    assert page.links.count(URL) >= 2
    assert 0 < len(points(text)) - 1 < number
    more = [point for point in points(text) if point.endswith(f"more: [Full report](<{URL}>)")]
    assert len(more) == 1


def test_all_that_fails_is_said_before_the_table_is_whole() -> None:
    text = comment(many(80, best=38), report=URL, limit=9_000)
    assert len(text.encode()) <= 9_000
    assert len([point for point in points(text) if point.startswith("❌")]) == 80
    assert len(rows(text)) < 80


def test_the_most_important_rows_are_kept() -> None:
    now = [named(f"task {index}") for index in range(120)]
    now[110] = named("task 110", best=38)
    now[111] = named("task 111", t=30)
    text = comment(run(*now), many(120), limit=9_000)
    assert len(rows(text)) < 110
    names = [row[1].removesuffix("4-shot") for row in rows(text)]
    assert names[:3] == ["task 110", "task 111", "task 0"]


@given(st.integers(2000, 12_000), st.integers(0, 40))
@settings(max_examples=25, deadline=None)
def test_no_comment_is_longer_than_its_limit(limit: int, number: int) -> None:
    text = comment(many(number, best=38, red_flags=[flag("x" * 1000)]), report=URL, limit=limit)
    assert len(text.encode()) <= limit
    page = read(text)
    hidden = number - (len(page.body) if page.tables else 0)
    said = "claim is not" if number == 1 else f"{hidden} of {number} claims"
    assert ("not in this table" in page.text) == (hidden > 0)
    assert hidden == 0 or said in page.text


def hiding(text: str) -> RunRecord:
    """Make a run in which every text that a comment could show is `text`."""
    first = claim(
        best=38,
        id=f"suite.yaml::{text}",
        task=text,
        model=text,
        metric=text,
        message=text,
        xfail=text,
        critical_count=None,
        outcome="xpassed",
        red_flags=[flag(text, severity="fail"), flag(text)],
        asserted={text: text},
        revision=text,
        task_digest=text,
    )
    return run(first, claim(), broken=[text], **designs_hiding(text, "failed"), created=text)


@cache
def harmless() -> Page:
    return read(comment(hiding("word"), hiding("other"), report=URL, commit="c", words=10**9))


@pytest.mark.slow
@given(text=any_text)
@example(text=HOSTILE)
@example(text="x" * 100_000)
@example(text="\u202e|`<img>" * 20_000)
@example(text="{{ 7 * 7 }}{{ 7 * 7 }}👩\u200d🚀``#12\u202e")
@settings(max_examples=40, deadline=None)
def test_no_text_changes_anything_outside_its_cell(text: str) -> None:
    assume(text != NONE)  # which stands for what is not known, and an empty column is left out
    written = comment(hiding(text), hiding("other"), report=URL, commit="c", words=10**9)
    page = read(written)
    assert page.tags == harmless().tags
    assert page.links == harmless().links
    columns = len(harmless().tables[0][0])
    assert [len(row) for row in page.tables[0]] == [columns] * 3
    name = page.body[0][1]
    # An emoji that is cut in two shows what joined its parts.
    assert name.startswith(visible(shorten(visible(text), 40)) or "(empty)")
    assert visible(shorten(visible(shorten(visible(text), 300) + " (nf4)"), 40)) in name
    assert page.body[1] == harmless().body[1]
    assert not [node for node in page.prose if ACTIVE.search(node)]
    assert len(written.encode()) < 65_536
    assert not set("\u202e\u200f\x1b") & set(written)


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://ci.test/a b", "https://ci.test/a%20b"),
        ("https://ci.test/)>[x](y)", "https://ci.test/)%3E%5Bx%5D(y)"),
        ("https://ci.test/<b>`|\\\n", "https://ci.test/%3Cb%3E%60%7C%5C"),
        ("https://ci.test/?a=1&b=%20#c", "https://ci.test/?a=1&b=%20#c"),
    ],
)
def test_an_address_stays_within_its_link(url: str, link: str) -> None:
    page = read(comment(run(claim()), report=url))
    (found,) = page.links
    assert found.replace("%0A", "") == link
    assert page.text.count("Full report\n") == 1


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ci.test", "https://", "http://[", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ReportError, match="the address of the report is"):
        comment(run(claim()), report=url)
