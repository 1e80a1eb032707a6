"""Whether anything got worse, as a table: for a terminal, as Markdown, and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, p_value, signed
from pytest_maxrandom.reports import losses
from pytest_maxrandom.reports.layout import Line, Markup, wrapped
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.tables import Column, Mark, Name, tabulate
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.record import Regression, Regressions

_NAME = 80
_GAP = "  "


def lines(regressions: Regressions, called: Mapping[str, str], width: int = 80) -> Iterator[Line]:
    """Yield the lines for a terminal; names of claims are by their ids."""
    markup: tuple[Markup, ...] = () if regressions.met and not regressions.nothing else ("yellow",)
    markup = ("red",) if regressions.worse else markup
    yield from wrapped(losses.whether_worse(regressions), width, indent="  ", markup=markup)
    rows = [
        each for each in losses.worst_first(regressions) if each.p_worse is not None or each.why
    ]
    names = {each.id: visible(called.get(each.id, each.id)) for each in rows}
    room = width - len(_row("", ("",) * 6)) - len(_GAP)
    below = any(len(name) > room for name in names.values())
    if rows:
        heads = ("base", "now", "change", "n", "p worse", "p not")
        yield from _named(Line(_row("result", heads)), "claim", width, below=below)
    for loss in rows:
        numbers = (
            accuracy(loss.base_score),
            accuracy(loss.score),
            signed(loss.difference),
            count(loss.examples or None),
            p_value(loss.p_worse),
            p_value(loss.p_not_worse),
        )
        row = Line(_row(loss.loss, numbers), (losses.SIGNS[loss.loss][1],))
        yield from _named(row, names[loss.id], width, below=below)
        if said := losses.loss_told(loss, regressions):
            yield from wrapped(f"    {said}", width, indent="    ")
    if said := losses.about_looks(regressions):
        yield from wrapped(said, width, indent="  ")


def markdown(regressions: Regressions, called: Mapping[str, str]) -> str:
    """Write it for GitHub: the headline, and a table."""
    columns: list[Column[Regression]] = [
        Column("result", lambda each: Mark(losses.SIGNS[each.loss][0], each.loss)),
        Column("claim", lambda each: Name(called.get(each.id, each.id), _NAME), header=True),
        Column("base", "base_score", "score"),
        Column("now", "score", "score"),
        Column("change", "difference", "signed"),
        Column("n", "examples", "count"),
        Column("*p* worse", "p_worse", "p"),
        Column("*p* not worse", "p_not_worse", "p"),
        Column("why", lambda each: losses.loss_told(each, regressions) or NONE, "prose"),
    ]
    text = f"{MARKDOWN.bold(MARKDOWN.plain(losses.whether_worse(regressions)))}\n"
    if rows := losses.worst_first(regressions):
        text += "\n" + MARKDOWN.table(tabulate("Worse?", columns, rows))
    return f"{text.rstrip()}\n"


def content(found: Regressions) -> dict[str, Any]:
    """Return it for programs; numbers are unrounded."""
    return {**asdict(found), "met": found.met, "headline": losses.whether_worse(found)}


def _row(result: str, numbers: tuple[str, ...]) -> str:
    base, now, change, n, worse, other = numbers
    return f"{result:<11}{base:>6}{now:>6}{change:>8}{n:>7}{worse:>9}{other:>9}"


def _named(row: Line, name: str, width: int, *, below: bool) -> Iterator[Line]:
    """Yield a row with its name behind it, or on a line of its own."""
    if not below:
        yield Line(f"{row.text}{_GAP}{name}", row.markup)
        return
    yield row
    yield from wrapped(f"{_GAP}{name}", width, indent=_GAP * 2)
