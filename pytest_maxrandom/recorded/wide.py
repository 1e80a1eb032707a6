"""Tables with a row for each example, and a column for each prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.recorded.tables.cells import can_be

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_maxrandom.recorded.tables.columns import Values

_MOST_ALIKE = 0.5
"""The part of a column's cells from which on they seem to be answers: those which are the right
answer of some example."""
_NUMBER = re.compile(r"\d+")


class PromptColumns(NamedTuple):
    """Columns that seem to hold the answers of one prompt each."""

    role: str
    columns: tuple[str, ...]
    why: str
    gold: str | None = None
    """The column of right answers that they have in common."""


def prompt_columns(
    columns: Mapping[str, Values[str]], free: Iterable[str], gold: Iterable[str]
) -> PromptColumns | None:
    """Find the columns of prompts: those with texts of right answers, else with 0 and 1.

    What is called like one of them but for a number is one too, however seldom it is right: who
    leaves out the prompts that fail makes t too small.

    Parameters
    ----------
    free : iterable of str
        Columns that may be some.
    gold : iterable of str
        Columns that may hold right answers, the likeliest first.
    """
    free = list(free)
    numbered = {name for group in _alike(free) if len(group) > 1 for name in group}
    for column in gold:
        if column in numbered:
            continue
        texts = folded(columns[column].distinct)
        sure = {
            name for name in free if name != column and _share(columns[name], texts) >= _MOST_ALIKE
        }
        groups = [group for group in _alike(free) if not sure.isdisjoint(group)]
        likewise = sure.union(*groups)
        if len(likewise) > 1:
            found = tuple(name for name in free if name in likewise)
            why = f"they have texts of {quoted(column)}"
            why += ", or are called like these" if likewise > sure else ""
            return PromptColumns("prediction", found, why, column)
    for role, why in (("correct", "all cells are 0 or 1"), ("score", "all cells are from 0 to 1")):
        groups = [*_alike(name for name in free if can_be(role, columns[name].distinct))]
        if groups and len(found := max(groups, key=len)) > 1:
            return PromptColumns(role, found, f"{why}, and their names differ by a number")
    return None


def folded(texts: Iterable[str]) -> set[str]:
    """Return texts whose case, and spaces around them, mean nothing."""
    return {text.strip().casefold() for text in texts}


def _share(column: Values[str], texts: set[str]) -> float:
    """Return which part of the cells of a column are among some texts."""
    among = np.array([text.strip().casefold() in texts for text in column.distinct])
    return float(among[column.codes[:]].mean())


def _alike(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield groups of names that differ by a number."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if _NUMBER.search(name):
            groups.setdefault(_NUMBER.sub("", name), []).append(name)
    yield from map(tuple, groups.values())
