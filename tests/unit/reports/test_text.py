"""Text from data means nothing to a terminal, to Markdown, to HTML or to GitHub."""

from __future__ import annotations

import re
import unicodedata

import hypothesis
import pytest
from hypothesis import example, given

from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.text import shorten, visible
from tests.unit.reports.page import FRAGMENTS, any_text, read

plain, code, cell = MARKDOWN.plain, MARKDOWN.code, MARKDOWN.cell
block, html = MARKDOWN.block, MARKDOWN.html

# What GitHub acts on in rendered text: mentions, issues, emoji and formulas.
ACTIVE = re.compile(r"@\w|#\d|\bGH-\d|:[\w+-]*[a-z][\w+-]*:|:100:|\$\S[^$]*\$", re.IGNORECASE)


@given(any_text)
def test_visible_text_is_one_line_without_hidden_characters(text: str) -> None:
    shown = visible(text)
    categories = {unicodedata.category(character) for character in shown.replace("\u200d", "")}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1
    assert shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\u202eabc", r"\u202eabc"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
        ("\U000e0041", r"\U000e0041"),
        ("\u3164", r"\u3164"),
        ("x\u200dy", r"x\u200dy"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("é 动 ❤\ufe0f", "é 动 ❤\ufe0f"),
    ],
)
def test_hidden_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(any_text)
def test_a_code_span_shows_exactly_its_text(text: str) -> None:
    page = read(f"before {code(text)} after")
    assert page.tags == ["p", "code"]
    assert page.text == f"before {visible(text)} after\n"


@given(any_text, any_text)
def test_a_cell_shows_exactly_its_text_and_leaves_the_table_whole(one: str, two: str) -> None:
    page = read(f"| a | b | c |\n|-|-|-|\n| {cell(one, 999)} | {cell(two, 999)} | end |\n")
    assert page.body == [[visible(one), visible(two), "end"]]


@given(any_text)
@example("<\xa0")
def test_plain_text_reads_as_it_stands(text: str) -> None:
    page = read(plain(text))
    assert page.tags == ["p"]
    assert page.text.replace("\u200b", "") == f"{visible(text)}\n"


@given(any_text, any_text)
@hypothesis.example("\\", "`a``b`")
def test_a_setting_in_a_sentence_is_code_and_all_else_reads_as_it_stands(
    one: str, two: str
) -> None:
    page = read(MARKDOWN.sentence(f"with {one} `looks: spend` {two}"))
    assert {*page.tags} <= {"p", "code"}
    shown = f"with {visible(one)} `looks: spend` {visible(two)}\n"
    assert page.text.replace("\u200b", "").replace("`", "") == shown.replace("`", "")
    assert read(MARKDOWN.sentence("with `looks: spend`")).text == "with looks: spend\n"


@given(any_text)
@example("-")
@example("1.")
def test_plain_text_stands_after_a_bullet_and_in_a_cell_too(text: str) -> None:
    item = read(f"- {plain(text)}")
    assert [tag for tag in item.tags if tag != "p"] == ["ul", "li"]
    page = read(f"| a | b |\n|-|-|\n| x{plain(text)}x | end |\n")
    assert [[row.replace("\u200b", "") for row in rows] for rows in page.body] == [
        [f"x{visible(text)}x", "end"]
    ]


@given(any_text, any_text)
@hypothesis.example(":A", ":")
@hypothesis.example(":", "a:")
@hypothesis.example(":10", "0:")
@hypothesis.example("GH", "-1")
@hypothesis.example("G", "H-1")
def test_plain_text_is_inert_to_github_even_beside_other_plain_text(one: str, two: str) -> None:
    page = read(plain(one) + plain(two))
    assert page.links == []
    assert not [text for text in page.prose if ACTIVE.search(text)]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_each_hostile_fragment_is_inert_alone_and_between_words(fragment: str) -> None:
    for text in (fragment, f"a{fragment}b", f"{fragment} {fragment}", fragment * 3):
        page = read(plain(text))
        assert page.tags == ["p"]
        assert not [node for node in page.prose if ACTIVE.search(node)]


@given(any_text)
def test_a_block_keeps_its_lines_and_ends_where_it_should(text: str) -> None:
    page = read(f"before\n\n{block(text)}\n\nafter")
    assert page.tags == ["p", "pre", "code", "p"]
    lines = [visible(line) for line in text.split("\n")]
    assert page.blocks == ["".join(f"{line}\n" for line in lines)]


@given(any_text)
def test_html_code_shows_exactly_its_text_within_a_summary(text: str) -> None:
    page = read(f"<details>\n<summary>x {html(text)} y</summary>\n\n**z**\n\n</details>")
    assert page.tags == ["details", "summary", "code", "p", "strong"]
    assert f"x {visible(text)} y" in page.text


def test_a_long_block_says_how_much_it_leaves_out() -> None:
    page = read(block("a" * 3000 + "b" * 3000, 4000))
    head, middle, tail, _ = page.blocks[0].split("\n")
    assert (head, tail) == ("a" * 2000, "b" * 2000)
    assert "2,000 characters" in middle


@given(any_text)
def test_shortened_text_keeps_its_ends_and_its_limit(text: str) -> None:
    shown = shorten(text, 5)
    assert len(shown) <= 5
    if shown != text:
        assert len(text) > 5
        assert shown == f"{text[:2]}…{text[-2:]}"


def test_an_empty_name_is_said_to_be_empty() -> None:
    assert read(code("")).text == "(empty)\n"
    assert read(plain("")).text == ""
