"""The tables of published verdicts that changed, and of where the two baselines agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, p_value
from pytest_maxrandom.record import STANDINGS
from pytest_maxrandom.reports.agreement import changed
from pytest_maxrandom.reports.columns import MAXIMUM
from pytest_maxrandom.reports.summary import names
from pytest_maxrandom.reports.tables import Column, Mark, Name, tabulate
from pytest_maxrandom.reports.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import ClaimRecord, Published, RunRecord, Standing
    from pytest_maxrandom.reports.agreement import Agreement, Counts
    from pytest_maxrandom.reports.tables import Cell, Table

_WHY = 300
"""Characters that say why a verdict changes."""
_TO = "\N{NO-BREAK SPACE}→"


def changed_table(run: RunRecord) -> Table:
    """Show the claims with another verdict than the published one, with both."""
    known = names(run)

    def both(write: Callable[[Any], str]) -> Callable[[tuple[ClaimRecord, Published]], str]:
        def moved(row: tuple[ClaimRecord, Published]) -> str:
            now, before = map(write, row)
            return now if before == now else f"{before}{_TO}\N{NO-BREAK SPACE}{now}"

        return moved

    columns: list[Column[tuple[ClaimRecord, Published]]] = [
        Column("claim", lambda row: Name(known[row[0].id], 80), header=True),
        Column("verdict", lambda row: (f"{row[1].verdict}{_TO}", row[0].verdict or NONE)),
        Column("*n*", both(lambda each: count(each.n)), "right"),
        Column("*t*", both(lambda each: count(each.t)), "right"),
        Column(MAXIMUM.heading, both(lambda each: accuracy(each.max_random_baseline)), "right"),
        Column(
            "*p_max*",
            lambda row: (f"{p_value(row[1].p_max)}{_TO}", p_value(row[0].p_max, row[0].log_p_max)),
            "right",
        ),
        Column(
            "why",
            lambda row: shorten("; ".join(each.text for each in row[1].changes), _WHY) or NONE,
            "prose",
        ),
    ]
    rows = [(claim, claim.published) for claim in changed(run) if claim.published]
    caption = "What was published → what the results tell."
    return tabulate("Changed verdicts", columns, rows, key="changed", caption=caption)


def counts_table(found: Agreement) -> Table:
    """Count verdicts as Table 1 of the paper does."""

    def counted(row: Counts) -> Cell | str:
        if row.kind == "model":
            return (Name(row.of or NONE, 40),)
        return _in_shots(row.of or "unknown") if row.kind == "shots" else "all"

    columns: list[Column[Counts]] = [
        Column("claims", counted, header=True),
        Column("above standard", "above_standard", "count"),
        Column("above maximum", "above_maximum", "count"),
        Column("between", "between", "count"),
        Column("between /\nabove standard", "flipped", "right"),
        Column("below standard", "below", "count"),
        Column("total", "total", "count"),
    ]
    return tabulate(
        "Agreement of the two baselines",
        columns,
        found.counts,
        key=f"agreement{_slug(found)}",
        about=found.suite,
        caption="Agreement of the standard and the maximum random baseline.",
        legend="*Above standard*: the best prompt reaches at least what one guesser reaches on "
        "average, as in Table 1 of arXiv:2404.13020; one that is exactly at the standard "
        "baseline counts as between.",
    )


def grid_tables(found: Agreement) -> list[Table]:
    """Show the verdicts of each task, by models and shots."""

    def column(about: tuple[str, str]) -> Column[Any]:
        model, number = about
        shown = (_in_shots(number),) if number else ()
        return Column(
            (Name(model or NONE, 30), *shown),
            lambda row: tuple(map(_standing, row[1].get(about, ()))),
        )

    task: Column[Any] = Column("task", lambda row: Name(row[0], 40), header=True)
    return [
        tabulate(
            "Verdicts of each task",
            [task, *map(column, columns)],
            list(found.rows.items()),
            key=f"verdicts{_slug(found)}-{number}",
            about=found.suite,
            caption="Verdicts of each task; one at the standard baseline counts as between.",
        )
        for number, columns in enumerate(found.grids, 1)
    ]


def _standing(verdict: Standing) -> Mark:
    shown = STANDINGS[verdict]
    return Mark(shown.sign, shown.brief, latex=shown.latex)


def _slug(found: Agreement) -> str:
    return "".join(f"-{part}" for part in re.findall(r"[A-Za-z0-9]+", found.suite))


def _in_shots(number: str) -> str:
    return f"{number} {'shot' if number == '1' else 'shots'}"
