"""The tables of claims, and what pages tell of a claim: stated once for all languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, count, p_value, share
from pytest_maxrandom.reports import phrases
from pytest_maxrandom.reports.agreement import STANDINGS, changed
from pytest_maxrandom.reports.phrases import best_value
from pytest_maxrandom.reports.red_flags import DOES
from pytest_maxrandom.reports.summary import (
    SYMBOLS,
    WORDS,
    asserts,
    became,
    files,
    model_name,
    names,
    only_model,
    shots,
    variants,
)
from pytest_maxrandom.reports.tables import Column, Drawing, Mark, Name, Table, tabulate
from pytest_maxrandom.reports.text import shorten
from pytest_maxrandom.reports.wording import examples, shown_p

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, Published, Record, RunRecord
    from pytest_maxrandom.reports.agreement import Agreement, Counts
    from pytest_maxrandom.reports.tables import Cell, Medium

_WHY = 300
"""Characters that say why a verdict changes."""
HTML_ONLY: frozenset[Medium] = frozenset(("html",))
_TO = "\N{NO-BREAK SPACE}→"


def mark(record: Record) -> Mark:
    """Write what became of a record; pytest has shorter words for some of it."""
    ended = became(record)
    brief = str(ended) if ended in ("xfailed", "xpassed") else ""
    return Mark(SYMBOLS[ended], WORDS[ended], brief)


def was(write: Callable[[Any], str]) -> Callable[[Any, Any], str]:
    """Make what says of a row and the same one of an earlier run how it was written there."""

    def change(now: Any, before: Any) -> str:
        return "" if write(now) == write(before) else f"was\N{NO-BREAK SPACE}{write(before)}"

    return change


def difference(now: float | None, before: float | None, write: Callable[[Any], str] = count) -> str:
    """Write how a number changed: ``+50``; empty where no digit that is shown did.

    Examples
    --------
    >>> difference(200, 50), difference(50, 1200), difference(50, 50), difference(5, None)
    ('+150', '-1,150', '', '')
    >>> difference(0.65, 0.6167, accuracy), difference(0.6, 0.6001, accuracy)
    ('+.033', '')
    """
    if now is None or before is None or write(now) == write(before):
        return ""
    return f"{'+' if now > before else '-'}{write(abs(now - before))}"


def _correct(claim: ClaimRecord) -> str:
    if claim.decided is not None:
        at_least = f"at least {share(claim.decided.at_least, claim.n)}"
        return at_least if claim.passed else f"at most {share(claim.decided.at_most, claim.n)}"
    if claim.best_correct is None:
        return ""
    return _metric(claim) or share(claim.best_correct, examples(claim))


def _metric(claim: ClaimRecord) -> str:
    return "" if claim.metric == "accuracy" else phrases.metric_name(claim)


def _best_change(now: ClaimRecord, then: ClaimRecord) -> str:
    return (
        difference(best_value(now), best_value(then), accuracy) if now.metric == then.metric else ""
    )


def _p_change(now: ClaimRecord, then: ClaimRecord) -> str:
    key = phrases.decisive(now)
    return was(lambda claim: shown_p(claim, key))(now, then)


def _best(claim: ClaimRecord) -> str:
    if claim.decided is not None:
        return phrases.best_shown(claim)
    return accuracy(best_value(claim))


def _drawn(claim: ClaimRecord) -> Drawing | str:
    if not claim.verdict:
        return NONE
    best, highest = best_value(claim), claim.max_random_baseline
    return Drawing(best, standard=claim.standard_baseline, highest=highest)


def _flags(claim: ClaimRecord) -> str:
    return ", ".join(dict.fromkeys(DOES[flag.severity] for flag in claim.red_flags))


RESULT: Column[Any] = Column("result", mark, brief="result", change=was(lambda r: mark(r).word))
MAXIMUM: Column[Any] = Column(
    "max. random\nbaseline", "max_random_baseline", "score", brief="max\nrandom"
)
NOTES = {
    "needed": "*Needed*: what passes, as far as that does not depend on the answers.",
    "new": "*New*: what the best prompt reaches on new questions, at 95 %.",
    "p": "Where the claim is decided by another p-value, that one is shown with its name.",
    "bar": "Bar: the best prompt, from 0 to 1; solid line: maximum random baseline; dashed line: "
    "standard baseline.",
    "bars": "The bars count replicates from the lowest to the highest best accuracy.",
    "draws": "Thin lines: the best prompt of each replicate, from 0 to 1; thick line: maximum "
    "random baseline of the first.",
}
_N: Column[ClaimRecord] = Column(
    "*n*", "n", "count", brief="n", change=lambda now, then: difference(now.n, then.n)
)
_T: Column[ClaimRecord] = Column(
    "*t*", "t", "count", brief="t", change=lambda now, then: difference(now.t, then.t)
)
_NUMBERS: list[Column[ClaimRecord]] = [
    Column("shots", lambda claim: shots(claim) or NONE, "count"),
    _N,
    _T,
    Column("best", lambda c: accuracy(best_value(c)), "score", brief="best", change=_best_change),
    Column("metric", _metric, brief="metric", optional=True, media=frozenset()),
    Column("correct", _correct, "right", below=""),
    Column("new", phrases.new_at_least, "right", below="", lead="new: ", optional=True,
           note=NOTES["new"]),
    Column("standard\nbaseline", "standard_baseline", "score", wide="standard"),
    MAXIMUM,
    Column("*p_max*", phrases.decisive_p, "right", brief="p", change=_p_change),
    Column("decided by", phrases.decisive_name, below="", optional=True, note=NOTES["p"]),
    Column("best and baselines", _drawn, media=HTML_ONLY, note=NOTES["bar"]),
    Column("red flags", _flags, optional=True, media=frozenset(("latex",))),
]  # fmt: skip


def claims_table(
    run: RunRecord,
    claims: Sequence[ClaimRecord] | None = None,
    before: Sequence[Record | None] = (),
    named: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
) -> Table:
    """Show claims with n, t, both baselines and the p-value that decides.

    Parameters
    ----------
    run : RunRecord
        All claims.
    claims, before : sequence of ClaimRecord, optional
        Those that are shown, and the same in an earlier run.
    named : tuple of mapping, optional
        Their `files` and `variants`, where these are not those of the run.
    """
    shown = run.claims if claims is None else claims
    where, arms = named or (files(run), variants(run))

    def model(claim: ClaimRecord) -> Cell:
        arm = arms[claim.id]
        name = model_name(claim)
        return (Name(name, 40) if name else NONE, *([Name(arm, 40)] if arm else []))

    no_verdict = was(lambda claim: claim.verdict or "no verdict")
    columns: list[Column[Any]] = [
        RESULT,
        Column("verdict", lambda claim: claim.verdict or NONE, change=no_verdict),
        task_column(where),
        Column("model", model),
        *_NUMBERS,
        name_column("claim", run),
    ]
    caption = "The best of *t* prompts on *n* examples."
    return tabulate("Claims", columns, shown, before, caption=caption, legend=_legend(shown))


def brief_table(
    run: RunRecord,
    claims: Sequence[ClaimRecord] | None = None,
    before: Sequence[Record | None] = (),
    named: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
) -> Table:
    """Show the same in few columns, what decides first, where a page is narrow."""
    shown = run.claims if claims is None else claims
    where, arms = named or (files(run), variants(run))
    of_one = only_model(run)

    def name(claim: ClaimRecord) -> Cell:
        told = ["" if of_one else model_name(claim), arms[claim.id], where[claim.id]]
        of_shots = (f"{claim.shots}-shot",) if shots(claim) else ()
        return (Name(claim.task, 40), *of_shots, *(Name(each, 40) for each in told if each))

    def verdict(claim: ClaimRecord) -> str:
        return NONE if asserts(claim) else claim.verdict or NONE

    columns: list[Column[Any]] = [
        RESULT,
        Column("claim", name, header=True),
        # What is claimed has one verdict: it passes or fails.
        Column("verdict", verdict, optional=True),
        Column("best", _best, "right", change=_best_change),
        Column("metric", _metric, optional=True),
        Column("needed", lambda claim: phrases.needed_value(claim) or NONE, "right",
               optional=True, note=NOTES["needed"]),
        Column("*p*", phrases.decisive_p, "right", change=_p_change),
        Column("which", _which_p, below=""),
        _N,
        _T,
        Column("standard\nbaseline", "standard_baseline", "score"),
        MAXIMUM,
    ]  # fmt: skip
    return tabulate("Claims", columns, shown, before, legend=_legend(shown))


def _which_p(claim: ClaimRecord) -> str:
    return P_VALUES[phrases.decisive(claim)].removesuffix(" p")


def _legend(shown: Sequence[ClaimRecord]) -> str:
    test = "*p_max*, the probability that it does as well as the best prompt"
    if any(claim.permutation_p is not None for claim in shown):
        test = (
            f"the larger of {test}, and the *permutation p*, the probability that these prompts "
            "do so on shuffled right answers"
        )
    legend = (
        "*n*: examples; *t*: prompts, the best of which is reported. The "
        "standard baseline is the expected accuracy of one random guesser, the maximum random "
        "baseline the expected best accuracy of *t* of them. *Between baselines* is above the "
        "first only. *Above maximum* is above both, which proves little, since the best of *t* "
        f"guessers is there about half of the time; the test is {test}."
    )
    if any(claim.verdict and examples(claim) != claim.n for claim in shown):
        legend += (
            " Where the best is no share of *n*, *n* is the published one, and the best prompt "
            "was scored on other examples."
        )
    return legend


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
        "average, as in Table 1 of arXiv:2404.13020; one that is exactly at chance counts as "
        "between.",
    )


def grid_tables(found: Agreement) -> list[Table]:
    """Show the verdicts of each task, by models and shots."""

    def column(about: tuple[str, str]) -> Column[Any]:
        model, number = about
        shown = (_in_shots(number),) if number else ()
        return Column(
            (Name(model or NONE, 30), *shown),
            lambda row: tuple(Mark(*STANDINGS[verdict]) for verdict in row[1].get(about, ())),
        )

    task: Column[Any] = Column("task", lambda row: Name(row[0], 40), header=True)
    return [
        tabulate(
            "Verdicts of each task",
            [task, *map(column, columns)],
            list(found.rows.items()),
            key=f"verdicts{_slug(found)}-{number}",
            about=found.suite,
            caption="Verdicts of each task; one at chance is counted as between.",
        )
        for number, columns in enumerate(found.grids, 1)
    ]


def _slug(found: Agreement) -> str:
    return "".join(f"-{part}" for part in re.findall(r"[A-Za-z0-9]+", found.suite))


def _in_shots(number: str) -> str:
    return f"{number} {'shot' if number == '1' else 'shots'}"


def task_column(where: Mapping[str, str]) -> Column[Any]:
    """Name a task with as much of its record's file as tells it from others."""

    def name(record: Any) -> Cell:
        file = where[record.id]
        return (Name(record.task, 40), *([Name(file, 40)] if file else []))

    return Column("task", name, header=True)


def name_column(heading: str, run: RunRecord) -> Column[Any]:
    """Name a record in a terminal, last, where a name can be as long as it is.

    The heading says already what an id ends with.
    """
    known = names(run)
    ending = f"::{heading.replace(' ', '_')}"
    return Column(
        heading,
        lambda row: Name(known[row.id].removesuffix(ending)),
        brief=heading,
        header=True,
        media=frozenset(),
    )


def claim_column(run: RunRecord) -> Column[Any]:
    """Name the claim that a record is about."""
    known = names(run)
    return Column(
        "claim",
        lambda record: Name(known.get(record.claim, known[record.id]), 80),
        header=True,
    )
