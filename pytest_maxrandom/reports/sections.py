"""The tables of claims, stated once for all languages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, P_VALUES, accuracies, accuracy, share
from pytest_maxrandom.reports import incumbent, phrases, quantities
from pytest_maxrandom.reports.columns import (
    HTML_ONLY,
    MAXIMUM,
    NOTES,
    RESULT,
    difference,
    name_column,
    task_column,
    was,
)
from pytest_maxrandom.reports.red_flags import does
from pytest_maxrandom.reports.summary import asserts, files, model_name, only_model, shots, variants
from pytest_maxrandom.reports.tables import (
    PAGES,
    STACKED,
    Cell,
    Column,
    Drawing,
    Name,
    Table,
    tabulate,
)
from pytest_maxrandom.reports.text import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, Record, RunRecord

_TESTS = {
    "permutation_p": "the *permutation p*, the probability that these prompts do as well on "
    "shuffled right answers",
    "p_max": "*p_max*, the probability that the best of *t* independent guessers does as well",
    "baseline_p": "the *baseline p*, the probability that the best of *t* prompts is so far above "
    "the stated baseline where none is above it",
    "control_p": "the *control p*, the probability that the best of *t* prompts is so much better "
    "than the control where none is",
    "incumbent_p": "the *incumbent p*, the probability that the best of *t* prompts is so much "
    "better than the incumbent where none is",
    "union_p": "the *union p*, at least the probability that the best of *t* guessers does so, "
    "however they depend on each other",
}
"""What decides, by the key of a claim."""


def _maximum(claim: ClaimRecord) -> str:
    if incumbent.alone(claim) or claim.max_random_baseline is None:
        return NONE
    return accuracy(claim.max_random_baseline)


def _correct(claim: ClaimRecord) -> str:
    if claim.decided is not None:
        at_least = f"at least {share(claim.decided.at_least, claim.n)}"
        return at_least if claim.passed else f"at most {share(claim.decided.at_most, claim.n)}"
    if claim.best_accuracy is None:
        return ""
    if claim.best_correct is None and claim.sampled is not None:
        return quantities.metric_name(claim)
    return _metric(claim) or share(claim.best_correct, quantities.examples(claim))


def _metric(claim: ClaimRecord) -> str:
    return "" if claim.metric == "accuracy" else quantities.metric_name(claim)


def _by_what(claim: ClaimRecord) -> str:
    """Name what the best is best in, in few words; empty where that is an accuracy."""
    found = claim.sampled
    if found is None or claim.metric != "accuracy" or found.aggregate in ("pass", "all"):
        return quantities.metric_name(claim) if found else _metric(claim)
    return f"{found.aggregate} of {found.samples}"


def _best_change(now: ClaimRecord, then: ClaimRecord) -> str:
    if now.metric != then.metric:
        return ""
    return difference(quantities.best_value(now), quantities.best_value(then), accuracy)


def _p_change(now: ClaimRecord, then: ClaimRecord) -> str:
    key = phrases.decisive(now)
    return was(lambda claim: quantities.shown_p(claim, key))(now, then)


def _best(claim: ClaimRecord) -> str:
    return phrases.best_shown(claim) if claim.decided else accuracy(quantities.best_value(claim))


def _drawn(claim: ClaimRecord) -> Drawing | str:
    if not claim.verdict:
        return NONE
    return Drawing(
        quantities.best_value(claim),
        standard=claim.standard_baseline,
        highest=claim.max_random_baseline,
        needed=quantities.needed_score(claim) if claim.asserted else None,
    )


def _which_p(claim: ClaimRecord) -> str:
    return _named_p(claim).removeprefix("p on the ").removesuffix(" p")


def _named_p(claim: ClaimRecord) -> str:
    """Name the p-value that is shown; empty where none is."""
    return "" if phrases.decisive_p(claim) == NONE else phrases.name_of_p(claim)


def _headed(name: str) -> str:
    """Write the name of a p-value as a heading: ``*p_max*``, ``permutation *p*``."""
    return f"{name.removesuffix(' p')} *p*" if name.endswith(" p") else f"*{name}*"


def _columns(
    run: RunRecord, where: Mapping[str, str], arms: Mapping[str, str]
) -> list[Column[Any]]:
    """List all that tables show of a claim; narrow pages name it in one cell, papers in several."""
    of_one, alone = only_model(run), quantities.unguessed(run.claims)
    new = NOTES["least" if alone else "new"]
    deciding = {*map(phrases.name_of_p, run.claims)} or {P_VALUES["p_max"]}
    only_one = len(deciding) == 1
    p = _headed(deciding.pop()) if only_one else "*p*"

    def claim_of(claim: ClaimRecord) -> Cell:
        told = ["" if of_one else model_name(claim), arms[claim.id], where[claim.id]]
        of_shots = (f"{claim.shots}-shot",) if shots(claim) else ()
        return (Name(claim.task, 40), *of_shots, *(Name(each, 40) for each in told if each))

    def model(claim: ClaimRecord) -> Cell:
        name, arm = model_name(claim), arms[claim.id]
        return (Name(name, 40) if name else NONE, *([Name(arm, 40)] if arm else []))

    paper: dict[str, Any] = {"media": frozenset(("latex", "upright"))}
    landscape: dict[str, Any] = {"media": frozenset(("latex",))}
    narrow: dict[str, Any] = {"media": STACKED}
    return [
        RESULT,
        Column("claim", claim_of, header=True, **narrow),
        # Of what claims nothing; else it passes or fails.
        Column("verdict", lambda c: NONE if asserts(c) else c.verdict or NONE, optional=True,
               note=NOTES["verdict"], **narrow),
        Column("verdict", "verdict", optional=alone, note=NOTES["verdict"], **landscape),
        replace(task_column(where), **paper),
        Column("model", model, **paper),
        Column("shots", lambda claim: shots(claim) or NONE, "count", **paper),
        Column("*n*", "n", "count", brief="n", late=True,
               change=lambda now, then: difference(now.n, then.n)),
        Column("*t*", "t", "count", brief="t", late=True,
               change=lambda now, then: difference(now.t, then.t)),
        Column("best", _best, "right", change=_best_change, **narrow),
        Column("best", lambda c: accuracy(quantities.best_value(c)), "score", brief="best",
               **paper),
        Column("new", phrases.interval_shown, "right", below="", optional=True,
               note=f"Below the best: {new}", **narrow),
        Column("metric", _by_what, brief="metric", optional=True, **narrow),
        Column("correct", _correct, "right", **landscape),
        Column("new", phrases.interval_shown, "right", optional=True, note=f"*New*: {new}",
               **landscape),
        Column("beside the\nincumbent", incumbent.difference, "right", optional=True,
               wide="beside", brief="beside the\nincumbent", note=NOTES["beside"]),
        Column("beside the\ncontrol", partial(incumbent.difference, other="control"), "right",
               optional=True, wide="control", note=NOTES["control"]),
        Column("beside the\nbaseline", partial(incumbent.difference, other="baseline"), "right",
               optional=True, wide="baseline", note=NOTES["baseline"]),
        Column("needed", lambda c: phrases.needed_value(c) or NONE, "right", wide="needed",
               optional=True, note=NOTES["needed"], **narrow),
        Column("needed", phrases.needed_value, "score", optional=True, note=NOTES["needed"],
               **paper),
        Column("standard\nbaseline", "standard_baseline", "score", wide="standard", late=True,
               optional=alone, media=PAGES - {"upright"}),
        replace(MAXIMUM, brief="", late=True, optional=alone),
        # Who is compared with the incumbent alone need not be above guessers.
        Column("maximum", _maximum, "right", brief=MAXIMUM.brief, optional=True, media=frozenset()),
        Column("*p*", phrases.decisive_p, "right", change=_p_change, **narrow),
        Column("which", _which_p, below="", **narrow),
        Column(p, phrases.decisive_p, "right", brief="p", **paper),
        Column("which *p*", lambda claim: "" if only_one else _named_p(claim), optional=True,
               note=NOTES["p"], **paper),
        Column("red flags", lambda c: ", ".join(dict.fromkeys(map(does, c.red_flags))),
               optional=True, **landscape),
        Column("best and baselines", _drawn, media=HTML_ONLY, late=True, optional=alone,
               note=NOTES["bar"]),
        name_column("claim", run),
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
    columns = _columns(run, *(named or (files(run), variants(run))))
    return tabulate("Claims", columns, shown, before, legend=_legend(shown))


def guessers_of_constants(shown: Sequence[ClaimRecord]) -> str:
    """Say of which claims the guessers are as good as constant answers; empty where of none."""
    found = [rates for claim in shown if (rates := quantities.rates_of_constants(claim))]
    if not found:
        return ""
    of = "" if len(found) == len(shown) else f" of {number_of(len(found), 'claim')}"
    right = accuracies([rate for each in found for rate in each])
    return (
        f"The guessers{of} are as good as constant answers, right with {right}, because right "
        "answers could not be shuffled."
    )


def _legend(shown: Sequence[ClaimRecord]) -> str:
    claimed = [key for key in _TESTS if any(key in quantities.levels_of(claim) for claim in shown)]
    tests = [_TESTS[key] for key in claimed or ("p_max",)]
    test = (
        tests[0]
        if len(tests) == 1
        else f"the largest of these that a claim bounds: {'; '.join(tests)}"
    )
    if quantities.unguessed(shown):
        return (
            "The best of *t* prompts on *n* examples, by its mean score. No guesser is compared "
            f"with it; the test is {test}."
        )
    legend = (
        "The best of *t* prompts on *n* examples. The standard baseline is the expected accuracy "
        "of one random guesser, the maximum random baseline the expected best accuracy of *t* of "
        "them. A best accuracy above the latter alone proves little, since the best of *t* "
        f"guessers is there about half of the time; the test is {test}."
    )
    if any(claim.roles for claim in shown):
        legend += (
            " Where a task has no choices, a guesser is the same answers with the references of "
            "other examples."
        )
    if any(claim.verdict and quantities.examples(claim) != claim.n for claim in shown):
        legend += (
            " Where the best is no share of *n*, *n* is the published one, and the best prompt "
            "was scored on other examples."
        )
    return " ".join(filter(None, [legend, guessers_of_constants(shown)]))
