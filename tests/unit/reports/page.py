"""Markdown as GitHub reads it, and text that tries to break out of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options
from hypothesis import strategies as st


@dataclass
class Page:
    """What GitHub would show of some Markdown."""

    tags: list[str] = field(default_factory=list)
    """Start tags in their order, without the bare ``span`` that escapes a dollar sign."""
    links: list[str] = field(default_factory=list)
    text: str = ""
    prose: list[str] = field(default_factory=list)
    """Text nodes outside code, in which GitHub looks for mentions, issues and emoji."""
    tables: list[list[list[str]]] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    """Contents of code blocks."""

    @property
    def body(self) -> list[list[str]]:
        """Rows of the first table, without its header."""
        return self.tables[0][1:]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "span" or attrs:
            self.page.tags.append(tag)
        self.page.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("br", "hr", "img", "input"):
            self.open.append(tag)
        match tag:
            case "table":
                self.page.tables.append([])
            case "tr":
                self.page.tables[-1].append([])
            case "td" | "th":
                self.page.tables[-1][-1].append("")
            case "pre":
                self.page.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        # What keeps a number on one line is not seen.
        data = data.replace("\u2060", "")
        self.page.text += data
        if "pre" in self.open:
            self.page.blocks[-1] += data
        elif "code" not in self.open:
            self.page.prose.append(data)
        if self.page.tables and {"td", "th"} & set(self.open):
            self.page.tables[-1][-1][-1] += data


def read(markdown: str) -> Page:
    """Read Markdown as GitHub does: cmark-gfm with its extensions, raw HTML passed on."""
    reader = _Reader()
    # What keeps a bound on one line is undone here: later, it looks like a space of the data's own.
    markdown = re.sub("(&[lg]t;)&nbsp;", r"\1 ", markdown)
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader.page


def folded(markdown: str, title: str) -> str:
    """Return what Markdown folds under a title; nothing where there is no such title."""
    depth, inside = 1, ""
    _, _, after = markdown.partition(f"<summary>{title}</summary>\n")
    for part in re.split(r"(</?details>\n)", after):
        depth += {"<details>\n": 1, "</details>\n": -1}.get(part, 0)
        if not depth:
            break
        inside += part
    return inside


def words_unfolded(markdown: str) -> list[str]:
    """Return the words that a reader of GitHub sees before unfolding anything, summaries too."""
    depth, seen = 0, ""
    for part in re.split(r"(</?details>\n|<summary>.*</summary>)", markdown):
        if part.startswith("<summary>"):
            seen += f"\n\n{part}\n\n" * (depth == 1)
        elif part.endswith("details>\n"):
            depth += -1 if part.startswith("</") else 1
        elif not depth:
            seen += part
    html = cmarkgfm.github_flavored_markdown_to_html(seen, Options.CMARK_OPT_UNSAFE)
    return re.sub(r"<!--.*?-->|<[^>]+>", " ", html, flags=re.DOTALL).split()


FRAGMENTS = (
    *"`|\\*_[]()<>&~#@$:!-+=.'\"\n\r\t\v\f\0\x1b\x7f\x85 ",
    "``",
    "```\n",
    "~~~",
    "](x)",
    "![a](b)",
    "[^1]",
    "<img src=x>",
    "<!--",
    "-->",
    "</details>",
    "</code>",
    "</summary>",
    "<script>",
    "&lt;",
    "&#64;",
    "@someone",
    "#12",
    "GH-12",
    "a/b#3",
    "https://example.com",
    "www.example.com",
    "me@example.com",
    ":smile:",
    ":+1:",
    ":100:",
    "$math$",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "\u202e",
    "\u200f",
    "\u200b",
    "\u200d",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\u3164",
    "👩\u200d🚀",
    "\x1b[31m",
    "    ",
    "\n\n",
    "1. ",
    "- [ ] ",
    "| - |",
    "动物",
    "word",
)

any_text = (
    st.lists(
        st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=()), max_size=5),
        min_size=1,
        max_size=12,
    )
    .map("".join)
    .filter(bool)
)
"""Any text at all, with what means something in Markdown, HTML or on GitHub more often."""
