"""How n, t and the answers of a claim came about, in words."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, count, equals, p_value
from pytest_maxrandom.record import SCORE, ClaimRecord, HeldOut
from pytest_maxrandom.reports.summary import by_suite, model_name
from pytest_maxrandom.reports.text import clauses, listed, number_of
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_KNOWN = ("n", "t", "chance")
_FEW = 5
"""Below this many prompts their counts are listed, not summarized."""
_BEYOND = {
    "claim": "all prompts ever evaluated for this claim",
    "task": "all prompts ever evaluated on these examples",
    "budget": "the budget that the suite declares",
    "doubling": "the end of its doubling",
}
_POOLS = {
    "pool": "of the task's own pool",
    "outside": "outside the validation set",
    "leave_out": "of the validation set",
}


def counted_n(claim: ClaimRecord) -> str:
    """Say how n came about."""
    v = claim.validation
    if claim.recorded is not None:
        return _known(claim, "n")
    if v is None:
        return ""
    drawn = f", drawn with seed {v.seed}" if v.examples < v.available else ""
    own = 0 if claim.n is None else max(0, v.examples - claim.n)
    repeat = "repeats another" if v.duplicates == 1 else "repeat others"
    return clauses(
        f"{count(v.examples)} of the task's {count(v.available)} examples{drawn}",
        own and f"each prompt is scored without its own {own}",
        v.test and f"{count(v.test)} more are set aside as the test set",
        v.duplicates and f"{count(v.duplicates)} of the task's examples {repeat} exactly",
    )


def clusters(claim: ClaimRecord) -> str:
    """Say what n is worth, where examples belong together."""
    known = claim.clusters is not None
    return f"n = {count(claim.n)} examples {in_clusters(claim)}" if known else ""


def in_clusters(of: ClaimRecord | HeldOut) -> str:
    """Name clusters and the effective n: ``in 25 clusters, effective n 25.0``; empty without."""
    if of.clusters is None or of.effective_n is None:
        return ""
    return f"in {number_of(of.clusters, 'cluster')}, effective n {of.effective_n:,.1f}"


def chance(claim: ClaimRecord) -> str:
    """Say how probable a right guess is, by groups of examples where it differs."""
    if claim.roles:
        alike = listed([f"{count(many)} {name}" for name, many in claim.roles.items()])
        return (
            f"learnt, as there are no choices: what the same answers reach with the references of "
            f"other examples ({alike}; each takes the place of its own kind only)"
        )
    if claim.recorded and claim.standard_baseline is None:
        return ""
    groups = sorted(claim.chances.items(), key=lambda group: Fraction(group[0]), reverse=True)
    said = ", ".join(f"{one} on {count(examples)}" for one, examples in groups)
    if len(groups) == 1:
        said = f"{groups[0][0]} on every example"
    elif groups:
        said += f" (mean {accuracy(claim.standard_baseline)})"
    return clauses(said, claim.recorded and _known(claim, "chance"))


def tried(claim: ClaimRecord) -> int | None:
    """Return how many prompts this run tried; t may count more."""
    return len(claim.correct_counts or claim.mean_scores) or claim.t


def beyond_run(claim: ClaimRecord) -> str:
    """Say what t is where it is no number of prompts that this run tried; empty where it is."""
    if tried(claim) == claim.t:
        return ""
    why = _BEYOND.get(claim.tries.counted, "") if claim.tries else ""
    return clauses(f"t = {count(claim.t)}", why, sep=": ")


def counted_t(claim: ClaimRecord) -> str:
    """Say how t came about."""
    p, found = claim.prompts, len(claim.correct_counts)
    if claim.recorded is not None:
        fewer = found != claim.t and found and f"the results hold {count(found)}"
        return clauses(_known(claim, "t"), fewer)
    if p is None:
        return ""
    made = f"{count(p.asked)} asked for, {count(p.possible)} possible; {sampled(claim)}"
    if p.proposed_by is not None:
        made = f"{count(p.asked)} proposed; {sampled(claim)}"
    tries = claim.tries
    if tries is None:
        return made
    ever = (
        f"{count(tries.run)} in this run; ever evaluated on these examples: "
        f"{count(tries.claim)} for this claim, {count(tries.task)} for any claim"
    )
    how = {
        "claim": "t counts those of this claim",
        "task": "t counts all of them (count: task)",
        "budget": "t is the budget that the suite declares",
        "doubling": "t is that at the end of its doubling (1, 3, 7, ...): looks spend the level",
    }
    return f"{ever}; {how[tries.counted]}; {made}"


def looks(claim: ClaimRecord) -> str:
    """Say how often the claim was looked at, and whether that leaves its verdict as it is."""
    tries = claim.tries
    if tries is None:
        return ""
    which = "the first look" if tries.look == 1 else f"look {count(tries.look)}"
    number = f"{which} at this claim"
    if tries.counted == "doubling":
        return f"{number}; levels are spent per doubling of t, so that any number of looks is valid"
    # Of a first look the level is another one only if the suite is written otherwise.
    if tries.look == 1 or tries.holds == claim.holds:
        return number
    return (
        f"{number}; its p-values do not count earlier looks, and with `looks: spend`, which makes "
        f"any number of looks valid, the claim would {'pass' if tries.holds else 'fail'} (at the "
        f"level {p_value(tries.level)})"
    )


def held_out(claim: ClaimRecord) -> str:
    """Say what the best prompt does on the test set, or why it was not opened."""
    test = claim.test
    if test is None:
        aside = claim.validation.test if claim.validation else 0
        if not aside or claim.best_accuracy is None:
            return ""
        why = "opening it was switched off"
        if claim.passed is False and claim.holds is not None:
            why = "a red flag fails the claim" if claim.holds else "the claim fails"
        untested = "; so test_p was not tested" if "test_p" in claim.asserted else ""
        return f"{count(aside)} examples are still closed, because {why}{untested}"
    constant = shuffled = adjusted = worth = whole = ""
    if test.clusters is not None:
        worth, whole = f" by the effective n ({in_clusters(test)})", " by whole clusters"
    if test.majority_rate is not None:
        constant = f" and {accuracy(test.majority_rate)} for always the same answer"
    if test.permutation_p is not None:
        shuffled = (
            f" of one guesser, {p_value(test.permutation_p)} with right answers shuffled{whole}"
        )
    if test.p is not None and test.tests is not None and test.tests > 1:
        shown = p_value(test.p, level=claim.asserted.get("test_p"))
        adjusted = f"adjusted for {count(test.tests)}, p {equals(shown)}"
    return clauses(
        f"{count(test.correct)} of {count(test.n)} correct ({accuracy(test.accuracy)}, 95 % "
        f"interval {accuracy(test.low)} to {accuracy(test.high)}{worth}), compared with a standard "
        f"baseline of {accuracy(test.standard_baseline)}{constant}: p "
        f"{equals(p_value(test.p_standard))}{shuffled}",
        f"{number_of(test.openings, 'opening')} of this test set so far",
        adjusted,
        test.seen and f"{count(test.seen)} of them were validation examples before",
    )


def sampled(claim: ClaimRecord) -> str:
    """Say what the prompts are made of."""
    p = claim.prompts
    if p is None:
        return ""
    shown = "no demonstrations"
    if p.regime != "none":
        shown = (
            f"{number_of(claim.shots, 'demonstration')} each, from the {count(p.pool)} "
            f"examples {_POOLS[p.regime]}{f' ({p.source})' if p.source else ''}"
        )
    if p.proposed_by is not None:
        return f"{shown}, proposed by {p.proposed_by}"
    several = p.instructions > 1 or p.formats > 1
    return clauses(
        shown,
        p.instructions > 1 and f"{p.instructions} instructions",
        p.formats > 1 and f"{p.formats} formats",
        several and ("every draw in all of them" if p.combine == "cross" else "sampled jointly"),
        f"seed {p.seed}",
        sep=", ",
    )


def sampling(claims: Iterable[ClaimRecord]) -> list[tuple[str, list[ClaimRecord]]]:
    """Group claims by how their prompts and examples came about, said in words."""
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        if claim.recorded is not None:
            groups.setdefault(recorded(claim), []).append(claim)
        elif claim.prompts is not None and claim.validation is not None:
            counted = beyond_run(claim)
            run = f"{counted}; this run tried" if counted else "t ="
            how = (
                f"{run} {count(tried(claim))} of {count(claim.prompts.possible)} possible prompts "
                f"({sampled(claim)}); n = {count(claim.n)} ({counted_n(claim)})"
            )
            groups.setdefault(how, []).append(claim)
    return list(groups.items())


def all_of_models(
    group: Sequence[ClaimRecord], claims: Iterable[ClaimRecord]
) -> list[tuple[str, str]]:
    """Name the models of a group of claims if it holds all the claims of them, and more than one.

    Each has its suite beside it, which is empty where no other one makes claims of the same things.
    No model is named where the claims have to be named one by one.
    """
    models = {
        claim.id: (model_name(claim), suite)
        for suite, part in by_suite(claims).items()
        for claim in part
    }
    found = list(dict.fromkeys(models[claim.id] for claim in group))
    of_them = sum(model in found for model in models.values())
    return found if of_them == len(group) > len(found) and all(model for model, _ in found) else []


def recorded(claim: ClaimRecord) -> str:
    """Say where recorded results come from, and what was counted in them."""
    if claim.recorded is None:
        return ""
    names = _KNOWN[:2] if claim.metric == SCORE else _KNOWN  # of a score no guess has a chance
    stated = [name for name in names if name in claim.recorded.stated]
    counted = [name for name in names if name not in claim.recorded.stated]
    # A paper's reader has other folders than those who ran it.
    file = PurePosixPath(claim.recorded.path).name or claim.recorded.path
    were = ((counted, "counted in them"), (stated, "stated, not counted"))
    return clauses(
        f"the results were read from {file} ({claim.recorded.format})",
        *(
            f"{listed(known)} {'was' if len(known) == 1 else 'were'} {how}"
            for known, how in were
            if known
        ),
    )


def _known(claim: ClaimRecord, name: str) -> str:
    if claim.recorded is None or name not in claim.recorded.stated:
        return "counted in the recorded results"
    # A summary has a row for each result, and neither prompts nor examples to count.
    where = "results or the suite" if claim.recorded.format == "summary" else "suite"
    return f"stated in the {where}, not counted"


def spread(claim: ClaimRecord) -> str:
    """Summarize the correct answers of all t prompts; quartiles by nearest rank, so observed."""
    counts = claim.correct_counts
    if not counts or not claim.n:
        return ""
    if len(counts) < _FEW:
        shown = f"{listed(list(map(count, counts)))} correct"
    else:
        lowest, lower, median, upper, highest = five_numbers(sorted(counts))
        shown = (
            f"lowest {lowest}, quartiles {lower}, {median} and {upper}, highest {highest} correct"
        )
    # Recorded prompts may have been scored on other numbers of examples than n.
    if claim.metric != "accuracy" or claim.max_random_baseline is None or claim.recorded:
        return shown
    above = sum(correct / claim.n > claim.max_random_baseline for correct in counts)
    return f"{shown}; {count(above)} above the maximum random baseline"


def ties(claim: ClaimRecord) -> str:
    """Say how many answers a lot decided."""
    if not claim.ties or claim.n is None:
        return ""
    of_best = f", {claim.best_ties} of them in the best prompt" if claim.best_ties else ""
    return (
        f"{count(claim.ties)} of {count(claim.n * len(claim.correct_counts))} answers were decided "
        f"by lot between equal scores{of_best}"
    )


def answered(claim: ClaimRecord) -> str:
    """Say which choice counts as the model's answer."""
    scorer = SCORERS.get(claim.scoring)
    return scorer.criterion if scorer else claim.scoring


def five_numbers(ordered: Sequence[float]) -> list[float]:
    """Return minimum, quartiles and maximum of an ascending sequence, by nearest rank."""
    return [ordered[max(1, ceil(len(ordered) * quarter / 4)) - 1] for quarter in range(5)]
