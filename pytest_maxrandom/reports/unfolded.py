"""What is seen of Markdown before anything is unfolded, kept within a number of words.

Templates fold what is rarely looked at. How long the rest is follows from data: from names, from
sentences, from how much there is to say. What has no room is folded here, whatever it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.record import FAILING, OUTCOMES
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.text import number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"(`{3,})[^`]*")
_TAG = re.compile(r"<!--.*?-->|\]\(<.*?>\)|\]\([^\s)]*\)|</?[a-z]+(?: [^<>]*)?>", re.DOTALL)
_ESCAPED = re.compile(r"\\[!-/:-@[-`{-~]")
_PARTS_WORDS = re.compile(r"&nbsp;|&#32;|[*|\[\]~]")
_RULE = re.compile(r"\|[ :|-]+\|")
_FAILS = tuple(f"- {OUTCOMES[outcome].sign} " for outcome in FAILING)
_FOLD = "What has no room above ({})"
_MORE_FAIL = "{} more {}, and what has no room above ({})"
_TABLE = "The table, and how to read it"
_NAME = 23
"""Words of which an item's name has fewer where all of it has no room, its sign among them."""
_KEPT = re.compile(r"<sub>|.*\]\(<", re.DOTALL)
"""Where numbers are from, and where there is more: kept as long as it takes no half of the room."""


@dataclass(slots=True)
class _Part:
    """A paragraph, a table with its legend, one item of a list, or something folded."""

    text: str
    shown: str = ""

    @property
    def size(self) -> int:
        """Count the words that are seen of it, of what it folds those of the summary."""
        above, _, below = self.text.partition("<details>\n<summary>")
        return words(above) + words(below.partition("</summary>")[0])

    @property
    def item(self) -> bool:
        return self.text.startswith("- ")

    @property
    def head(self) -> str:
        """What an item is about: all before its first colon."""
        marked = [found.span() for found in re.finditer(rf"{_CODE.pattern}|\*\*.*?\*\*", self.text)]
        for found in re.finditer(":(?= )", self.text):
            if not any(start < found.start() < end for start, end in marked):
                return self.text[: found.start()]
        return self.text


def words(markdown: str) -> int:
    """Count the words that a reader sees of a text of `MARKDOWN`, nothing of it folded.

    Whatever marks a text up parts words, and may overcount.
    """
    number, place = 0, 0
    for code in [*_CODE.finditer(markdown), None]:
        prose = markdown[place : code.start() if code else len(markdown)]
        lines = _TAG.sub(" ", _ESCAPED.sub("x", prose)).split("\n")
        seen = (_PARTS_WORDS.sub(" ", line) for line in lines if not _RULE.fullmatch(line))
        number += sum(len(line.split()) for line in seen)
        if code:
            number, place = number + len(code[2].split()), code.end()
    return number


def within(markdown: str, most: int) -> str:
    """Fold what has no room, where more than `most` words are seen, summaries of folds among them.

    What fails is named first, then what else there is to look at; then as much of these is said
    in full, and shown besides, as there is room for. The fold says how many more fail. A title
    beyond two thirds of it is cut, and so is a name that has no room.

    The text is one of our templates, its title first; `most` is 30 or more. All of the text
    is kept: what is not seen is folded.
    """
    parts = _parts(markdown)
    if sum(part.size for part in parts) <= most:
        return markdown
    title, *others = parts
    room = most - words(_MORE_FAIL) - 1
    title.shown = _first(title.text, min(2 * most // 3, room))
    room -= words(title.shown)
    for part in others:
        if _KEPT.match(part.text) and part.size <= room // 2:
            part.shown, room = part.text, room - part.size
    ranked = sorted(others, key=lambda part: not part.text.startswith(_FAILS))
    of_names, named = room // 2, set[str]()
    for part in ranked:
        if not part.item or part.shown or part.head in named:
            continue
        for name in (part.head, _first(part.head, _NAME)):
            if (size := words(name)) <= of_names:
                part.shown, of_names, room = name, of_names - size, room - size
                named.add(part.head)
                break
    for part in ranked:
        more = part.size - words(part.shown)
        if part.shown != part.text and more <= room:
            part.shown, room = part.text, room - more
    lacking = [part for part in parts if part.shown != part.text]
    folded = MARKDOWN.fold(_joined(part.text for part in lacking), _summary(lacking, named))
    folded = folded.strip("\n")
    told = [part for part in parts if part.shown]
    place = 1 + max(at for at, part in enumerate(told) if not part.text.startswith(("<", "|")))
    told.insert(place, _Part(folded, folded))
    return _joined(part.shown for part in told)


def _summary(lacking: Sequence[_Part], named: Collection[str]) -> str:
    """Say what a fold holds, and how many that fail are not named above."""
    if len(lacking) == 1 and re.match(r"\|.*<details>", lacking[0].text, re.DOTALL):
        return _TABLE
    number = number_of(len(lacking), "part")
    unseen = {part.head for part in lacking if part.text.startswith(_FAILS) and not part.shown}
    if not (fail := len(unseen.difference(named))):
        return _FOLD.format(number)
    return _MORE_FAIL.format(count(fail), "fails" if fail == 1 else "fail", number)


def _parts(markdown: str) -> list[_Part]:
    """Split Markdown where a paragraph, a table, an item or a fold ends."""
    parts: list[_Part] = []
    for text in _split(markdown):
        legend = parts and re.match(r"\|(?!.*\n<details>)", parts[-1].text, re.DOTALL)
        if legend and text.startswith("<details>"):
            parts[-1].text += f"\n\n{text}"
        else:
            parts.append(_Part(text))
    return parts


def _split(markdown: str) -> Iterator[str]:
    depth, fence, part = 0, "", list[str]()
    for line in markdown.split("\n"):
        outside = not depth and not fence
        if outside and part and (not line or line.startswith(("- ", "<details>"))):
            yield "\n".join(part)
            part = []
        if fence:
            fence = "" if line == fence else fence
        elif found := _FENCE.fullmatch(line):
            fence = found[1]
        else:
            depth += (line == "<details>") - (line == "</details>")
        if line or part:
            part.append(line)
    if part:
        yield "\n".join(part)


def _joined(parts: Iterable[str]) -> str:
    """Join parts; items that follow each other are one list."""
    text, listed = "", False
    for part in parts:
        item = part.startswith("- ")
        text += f"{'' if not text else chr(10) if item and listed else chr(10) * 2}{part}"
        listed = item
    return f"{text}\n"


def _first(text: str, most: int) -> str:
    """Leave out the end of a text that has too many words, and close what it opens."""
    if words(text) < most:
        return text
    codes = [*_CODE.finditer(text)]
    shown = ""
    for end in (found.start() for found in re.finditer(" ", text)):
        cut = text[:end].rstrip()
        for code in codes:
            if code.start() < end < code.end():
                begun = text[code.end(1) : end].rstrip("` ")
                cut = text[: code.end(1)] + begun + code[1] if begun else text[: code.start()]
        if _CODE.sub("", cut).count("**") % 2:
            cut = cut.removesuffix("**") if cut.endswith("**") else f"{cut}**"
        if words(cut) >= most:
            break
        shown = cut.rstrip()
    return f"{shown} …"
