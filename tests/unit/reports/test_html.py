"""The HTML report is one file that asks nothing of others, and no name changes it."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import assume, example, given, settings

from pytest_maxrandom.record import SETTLED
from pytest_maxrandom.reports.page.render import html as page
from pytest_maxrandom.reports.text import visible
from tests.unit.reports.hostile import HOSTILE, hidden_in
from tests.unit.reports.opened import claims as opened, html
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import claim, hand_written, recorded, run, scored, several, untested


def allowed(text: str) -> str:
    """Return what a Content-Security-Policy allows an inline script or style by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


VOID = {"br", "wbr", "meta", "rect", "path"}


@dataclass
class Document(HTMLParser):
    """What a browser makes of a page, as far as the tests ask."""

    tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = field(default_factory=list)
    text: str = ""
    tables: list[list[list[str]]] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "summary":
            self.summaries.append("")
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if "summary" in self.open:
            self.summaries[-1] += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def read(text: str) -> Document:
    document = Document()
    document.feed(text)
    document.close()
    assert not document.open
    return document


@pytest.mark.parametrize("outcome", ["failed", "xpassed"])
@given(text=any_text)
@example(text=HOSTILE)
@example(text="</code></td></table><script>alert(1)</script>")
@example(text='" onload="alert(1)')
@settings(max_examples=15, deadline=None)
def test_no_text_changes_the_structure_of_a_report(outcome: str, text: str) -> None:
    def structure(text: str) -> list[object]:
        tags = read(html(hidden_in(text, outcome=outcome))).tags  # type: ignore[arg-type]
        return [tag for tag in tags if tag != ("wbr", ())]  # a name may break there

    assume(text != "-")  # what stands where there is nothing: a column of it is left out
    assert structure(text) == structure("word")


@given(any_text)
@settings(max_examples=20, deadline=None)
def test_a_name_reads_as_it_stands(text: str) -> None:
    assert visible(text) in read(html(run(claim(id=f"a::{text}")))).text


def test_a_report_asks_nothing_of_any_server() -> None:
    text = html(run(*several(), claim(), scored(), untested()))
    document = read(text)
    assert all(
        dict(attributes).get("type") == "text/plain"
        for tag, attributes in document.tags
        if tag == "script"
    )
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in document.tags}
    for tag, attributes in document.tags:
        for name, value in attributes:
            assert not name.startswith("on")
            assert name != "src"
            assert (name == "href") <= (tag == "a" and str(value).startswith(("https://", "#")))
    assert "url(" not in text
    assert "@import" not in text
    policy = next(dict(each) for _, each in document.tags if "http-equiv" in dict(each))
    assert policy["http-equiv"] == "Content-Security-Policy"
    script, style = page(run(claim())).rpartition("<script>")[2], text.partition("<style>")[2]
    assert policy["content"] == (
        f"default-src 'none'; script-src '{allowed(script.partition('</script>')[0])}'; "
        f"style-src '{allowed(style.partition('</style>')[0])}'; base-uri 'none'; "
        "form-action 'none'"
    )


@pytest.mark.parametrize("tasks", [3, 30])
def test_every_claim_stands_in_the_table_and_in_the_details_once(tasks: int) -> None:
    claims = [*several(tasks=tasks), untested(), scored(), hand_written(), claim(best=41)]
    text = html(run(*claims))
    document = read(text)
    (table,) = (table for table in document.tables if "best and baselines" in table[0])
    unsettled = [claim for claim in claims if claim.outcome not in SETTLED]
    claims = [*unsettled, *(claim for claim in claims if claim.outcome in SETTLED)]
    named = zip(table[1:], claims, strict=True)
    assert all(re.match(rf"{claim.task}(?!\d\d)", row[0]) for row, claim in named)
    # scipy.stats.beta(41, 20).ppf(.05 / 20) = .49539 and beta(42, 19).ppf(.95) = .78170.
    best = ".683.495\N{EN DASH}\N{WORD JOINER}.782"
    row = next(row for row in table if row[0].startswith("weather4-shot") and row[3] == best)
    assert row[5:11] == [".700", ".060pmax", "60", "20", ".500", ".620"]
    assert [shown["id"] for shown in opened(text)] == [claim.id for claim in claims]


def test_tables_have_captions_and_their_headers_say_what_they_are_headers_of() -> None:
    record = run(*several(), recorded(published="below standard"))
    tags = read(html(record)).tags
    names = [tag for tag, _ in tags]
    assert names.count("caption") == names.count("table") == 4
    assert all("scope" in dict(attributes) for tag, attributes in tags if tag == "th")
    for place, name in enumerate(names):
        if name == "table":
            assert names[place + 1] == "caption"
            region = dict(tags[place - 1][1])
            assert region["aria-label"]
            assert region["tabindex"] == "0"


def test_a_bar_ends_at_the_best_prompt_and_lines_stand_at_the_baselines() -> None:
    text = html(run(claim(best=45)))
    bar = text.split("<tbody>")[1]
    assert re.search(r'class="best" y="2" width="75\.0"', bar)
    assert re.search(r'class="standard" d="M50\.0 0v14"', bar)
    assert re.search(r'class="highest" d="M62\.0 0v14"', bar)
    # By hand: 42 of 60 is the least count that the best of 20 guessers reaches in 5 % at most.
    assert re.search(r'class="needed" d="M70\.0 6', bar)


def test_what_was_not_computed_is_a_dash() -> None:
    (table,) = read(html(run(untested(n=None, t=None)))).tables
    assert table[1][2:] == ["-"] * 7


def test_a_run_without_claims_says_so() -> None:
    assert "No claim was tested" in read(html(run())).text


def test_a_report_can_be_encoded_and_says_so() -> None:
    text = html(hidden_in("\ud800\udfff"))
    assert text.encode("utf-8")
    assert text.startswith("<!doctype html>\n")
    assert '<meta charset="utf-8">' in text
