"""How many results stay above chance when t is counted: Table 1 of arXiv 2404.13020, for any run.

A result counts as above standard where its best prompt reaches at least the standard baseline; it
is flipped where it is above standard and not above the maximum random baseline. By this convention
of the paper, one that is exactly at the standard baseline counts as between the two.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, equals, p_value
from pytest_maxrandom.record import STANDINGS, ClaimRecord, Published, RunRecord, Standing
from pytest_maxrandom.reports.columns import MAXIMUM
from pytest_maxrandom.reports.summary import by_suite, model_name, names, shots
from pytest_maxrandom.reports.tables import Cell, Column, Mark, Name, Table, tabulate
from pytest_maxrandom.reports.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MOST_COLUMNS = 12
"""Of one grid; more make further grids."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The verdicts of some claims."""

    of: str
    """Name of the model, or number of demonstrations; empty for all claims."""
    kind: str
    """model, shots or all."""
    above_maximum: int
    between: int
    """Those exactly at the standard baseline among them, as in the paper."""
    below: int

    @property
    def above_standard(self) -> int:
        """At least at the standard baseline."""
        return self.above_maximum + self.between

    @property
    def total(self) -> int:
        """All of them."""
        return self.above_standard + self.below

    @property
    def flipped(self) -> str:
        """Share of those above standard that are not above maximum: ``22.0 %``."""
        if not self.above_standard:
            return NONE
        return f"{100 * self.between / self.above_standard:.1f} %"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The verdicts of a run, or of one of its suites."""

    suite: str
    """Its name, where another one makes claims of the same things; else empty."""
    counts: tuple[Counts, ...]
    """By model; by shots, where there are several; of all."""
    columns: tuple[tuple[str, str], ...]
    """Models and shots: models as they come, and each model's shots from few to many."""
    rows: Mapping[str, Mapping[tuple[str, str], Sequence[Standing]]]
    """By tasks and columns; several where several claims are made there."""

    @property
    def grids(self) -> list[tuple[tuple[str, str], ...]]:
        """The columns of each grid; every grid has all rows."""
        starts = range(0, len(self.columns), MOST_COLUMNS)
        return [self.columns[start : start + MOST_COLUMNS] for start in starts]


def agreement(run: RunRecord) -> list[Agreement]:
    """Count the verdicts of a run; those of suites about the same things each by themselves.

    Where no two claims share a task, or no two a model and number of shots, there is nothing to
    compare, and none is listed.
    """
    agreements = []
    for suite, claims in by_suite(each for each in run.claims if each.verdict is not None).items():
        rows: dict[str, dict[tuple[str, str], list[Standing]]] = {}
        for claim in claims:
            assert claim.verdict is not None
            row = rows.setdefault(claim.task, {})
            row.setdefault((model_name(claim), shots(claim)), []).append(claim.verdict)
        columns = list(dict.fromkeys((model_name(claim), shots(claim)) for claim in claims))
        models = list(dict.fromkeys(model for model, _ in columns))
        columns.sort(key=lambda column: (models.index(column[0]), _number(column[1])))
        fewer, more = sorted((len(rows), len(columns)))
        if fewer > 1 and sum(map(len, rows.values())) > more:
            agreements.append(Agreement(suite, tuple(_counts(claims)), tuple(columns), rows))
    return agreements


def _counts(claims: list[ClaimRecord]) -> Iterable[Counts]:
    found: dict[str, dict[str, Counter[Standing | None]]] = {"model": {}, "shots": {}, "all": {}}
    for claim in claims:
        for kind, of in (("model", model_name(claim)), ("shots", shots(claim)), ("all", "")):
            found[kind].setdefault(of, Counter())[claim.verdict] += 1
    by_shots = sorted(found["shots"].items(), key=lambda each: _number(each[0]))
    found["shots"] = dict(by_shots) if len(by_shots) > 1 else {}
    for kind, groups in found.items():
        for of, verdicts in groups.items():
            yield Counts(
                of,
                kind,
                above_maximum=verdicts["above maximum"],
                between=verdicts["between baselines"] + verdicts["at standard"],
                below=verdicts["below standard"],
            )


def _number(shown: str) -> int:
    return int(shown or -1)


def published(claim: ClaimRecord) -> str:
    """Say what was published of a claim, and in what the results differ."""
    p = claim.published
    if p is None:
        return ""
    shown = p_value(p.p_max)
    numbers = (
        f"n = {count(p.n)}, t = {count(p.t)}, standard baseline "
        f"{accuracy(p.standard_baseline)}, maximum random baseline "
        f"{accuracy(p.max_random_baseline)}, p_max {equals(shown)}, {p.verdict}"
    )
    return "; ".join([numbers, *(change.text for change in p.changes)])


def changed(run: RunRecord) -> list[ClaimRecord]:
    """List the claims with another verdict than the published one."""
    return [claim for claim, published in _compared(run) if claim.verdict != published.verdict]


def changes(run: RunRecord) -> str:
    """Count the published verdicts that change: ``3 of 144 published verdicts change``.

    The text is empty where nothing published is known.
    """
    compared = len(_compared(run))
    if not compared:
        return ""
    number = len(changed(run))
    verb = "changes" if 1 in (number, compared) else "change"
    return f"{number} of {compared} published {'verdict' if compared == 1 else 'verdicts'} {verb}"


def _compared(run: RunRecord) -> list[tuple[ClaimRecord, Published]]:
    return [(claim, claim.published) for claim in run.claims if claim.published and claim.verdict]


_WHY = 300
"""Characters that say why a verdict changes."""
_TO = "\N{NO-BREAK SPACE}→"
_MARKS = {name: Mark(one.sign, one.brief, latex=one.latex) for name, one in STANDINGS.items()}


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


def counts_table(agreed: Agreement) -> Table:
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
        agreed.counts,
        key=f"agreement{_slug(agreed)}",
        about=agreed.suite,
        caption="Agreement of the standard and the maximum random baseline.",
        legend="*Above standard*: the best prompt reaches at least what one guesser reaches on "
        "average, as in Table 1 of arXiv:2404.13020; one that is exactly at the standard "
        "baseline counts as between.",
    )


def grid_tables(agreed: Agreement) -> list[Table]:
    """Show the verdicts of each task, by models and shots."""

    def column(about: tuple[str, str]) -> Column[Any]:
        model, number = about
        shown = (_in_shots(number),) if number else ()
        return Column(
            (Name(model or NONE, 30), *shown),
            lambda row: tuple(_MARKS[verdict] for verdict in row[1].get(about, ())),
        )

    task: Column[Any] = Column("task", lambda row: Name(row[0], 40), header=True)
    return [
        tabulate(
            "Verdicts of each task",
            [task, *map(column, columns)],
            list(agreed.rows.items()),
            key=f"verdicts{_slug(agreed)}-{number}",
            about=agreed.suite,
            caption="Verdicts of each task; one at the standard baseline counts as between.",
        )
        for number, columns in enumerate(agreed.grids, 1)
    ]


def _slug(found: Agreement) -> str:
    return "".join(f"-{part}" for part in re.findall(r"[A-Za-z0-9]+", found.suite))


def _in_shots(number: str) -> str:
    return f"{number} {'shot' if number == '1' else 'shots'}"
