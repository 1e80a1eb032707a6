"""The tables of claims, stated once for all languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, share
from pytest_maxrandom.reports import phrases
from pytest_maxrandom.reports.columns import (
    HTML_ONLY,
    MAXIMUM,
    NOTES,
    RESULT,
    difference,
    name_column,
    standing_of,
    task_column,
    was,
)
from pytest_maxrandom.reports.phrases import best_value
from pytest_maxrandom.reports.red_flags import DOES
from pytest_maxrandom.reports.summary import (
    asserts,
    files,
    model_name,
    only_model,
    shots,
    variants,
)
from pytest_maxrandom.reports.tables import Column, Drawing, Name, Table, tabulate
from pytest_maxrandom.reports.wording import examples, shown_p

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, Record, RunRecord
    from pytest_maxrandom.reports.tables import Cell


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


def _needed(claim: ClaimRecord) -> str:
    return phrases.needed_value(claim) or NONE


def _drawn(claim: ClaimRecord) -> Drawing | str:
    if not claim.verdict:
        return NONE
    return Drawing(
        best_value(claim),
        standard=claim.standard_baseline,
        highest=claim.max_random_baseline,
        needed=phrases.needed_score(claim) if claim.asserted else None,
    )


def _flags(claim: ClaimRecord) -> str:
    return ", ".join(dict.fromkeys(DOES[flag.severity] for flag in claim.red_flags))


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
    Column("new", phrases.interval_shown, "right", below="", lead="new: ", optional=True,
           note=NOTES["new"]),
    Column("needed", _needed, "right", wide="needed", optional=True,
           media=frozenset()),
    Column("standard\nbaseline", "standard_baseline", "score", wide="standard"),
    MAXIMUM,
    Column("*p_max*", phrases.decisive_p, "right", brief="p", change=_p_change),
    Column("decided by", phrases.decisive_name, below="", optional=True, note=NOTES["p"]),
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

    no_verdict = was(lambda claim: standing_of(claim).replace(NONE, "no verdict"))
    columns: list[Column[Any]] = [
        RESULT,
        Column("verdict", standing_of, change=no_verdict),
        task_column(where),
        Column("model", model),
        *_NUMBERS,
        name_column("claim", run),
    ]
    caption = "The best of *t* prompts on *n* examples."
    legend = _legend(shown, verdicts=True)
    return tabulate("Claims", columns, shown, before, caption=caption, legend=legend)


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
        return NONE if asserts(claim) else standing_of(claim)

    columns: list[Column[Any]] = [
        RESULT,
        Column("claim", name, header=True),
        # What is claimed has one verdict: it passes or fails.
        Column("verdict", verdict, optional=True),
        Column("best", _best, "right", change=_best_change),
        Column("new", phrases.interval_shown, "right", below="", optional=True,
               note=NOTES["new"].replace("*New*", "Below the best")),
        Column("metric", _metric, optional=True),
        Column("needed", _needed, "right",
               optional=True, note=NOTES["needed"]),
        Column("*p*", phrases.decisive_p, "right", change=_p_change),
        Column("which", _which_p, below=""),
        _N,
        _T,
        Column("standard\nbaseline", "standard_baseline", "score"),
        MAXIMUM,
        Column("best and baselines", _drawn, media=HTML_ONLY, note=NOTES["bar"]),
    ]  # fmt: skip
    legend = _legend(shown, verdicts=any(verdict(claim) != NONE for claim in shown))
    return tabulate("Claims", columns, shown, before, legend=legend)


def _which_p(claim: ClaimRecord) -> str:
    if claim.decided_on_test is not None:
        return "test set"
    if phrases.decisive_p(claim) == NONE:
        return ""
    return P_VALUES[phrases.decisive(claim)].removesuffix(" p")


def _legend(shown: Sequence[ClaimRecord], *, verdicts: bool) -> str:
    test = "*p_max*, the probability that it does as well as the best prompt"
    if any(claim.permutation_p is not None for claim in shown):
        test = (
            f"the larger of {test}, and the *permutation p*, the probability that these prompts "
            "do so on shuffled right answers"
        )
    above = "*Between baselines* is above the first only. *Above maximum* is above both, which"
    above = above if verdicts else "A best accuracy above the latter"
    legend = (
        "*n*: examples; *t*: prompts, the best of which is reported. The "
        "standard baseline is the expected accuracy of one random guesser, the maximum random "
        f"baseline the expected best accuracy of *t* of them. {above} proves little, since the "
        f"best of *t* guessers is there about half of the time; the test is {test}."
    )
    if any(claim.verdict and examples(claim) != claim.n for claim in shown):
        legend += (
            " Where the best is no share of *n*, *n* is the published one, and the best prompt "
            "was scored on other examples."
        )
    return legend
