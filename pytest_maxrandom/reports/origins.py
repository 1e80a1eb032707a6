"""How n, t and the answers of a claim came about, in words.

Each function returns one phrase of plain text, or an empty one where nothing was recorded.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.notation import accuracy, count, equals, p_value
from pytest_maxrandom.record import arithmetics
from pytest_maxrandom.reports.summary import by_suite, model_name
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.record import ClaimRecord, HeldOut, LabelBiasRecord, RunRecord, SweepCost

_Number = TypeVar("_Number", int, float)

_KNOWN = ("n", "t", "chance")
_FEW = 5
"""Below this many prompts their counts are listed, not summarized."""


def counted_n(claim: ClaimRecord) -> str:
    """Say how n came about."""
    v = claim.validation
    if claim.recorded is not None:
        return _known(claim, "n")
    if v is None:
        return ""
    parts = [f"{count(v.examples)} of the task's {count(v.available)} examples"]
    if v.examples < v.available:
        parts[0] += f", drawn with seed {v.seed}"
    if claim.n is not None and claim.n < v.examples:
        parts.append(f"each prompt is scored without its own {v.examples - claim.n}")
    if v.test:
        parts.append(f"{count(v.test)} more are set aside as the test set")
    if v.duplicates:
        verb = "repeats another" if v.duplicates == 1 else "repeat others"
        parts.append(f"{count(v.duplicates)} of the task's examples {verb} exactly")
    return "; ".join(parts)


def clusters(claim: ClaimRecord) -> str:
    """Say what n is worth, where examples belong together."""
    if claim.clusters is None:
        return ""
    return f"n = {count(claim.n)} examples {in_clusters(claim)}"


def in_clusters(of: ClaimRecord | HeldOut) -> str:
    """Name clusters and the effective n: ``in 25 clusters, effective n 25.0``; empty without."""
    if of.clusters is None or of.effective_n is None:
        return ""
    noun = "cluster" if of.clusters == 1 else "clusters"
    return f"in {count(of.clusters)} {noun}, effective n {of.effective_n:,.1f}"


def chance(claim: ClaimRecord) -> str:
    """Say how probable a right guess is, by groups of examples where it differs."""
    groups = chances(claim)
    phrases = []
    if len(groups) == 1:
        phrases.append(f"{next(iter(groups))} on every example")
    elif groups:
        ordered = sorted(groups.items(), key=lambda group: Fraction(group[0]), reverse=True)
        parts = ", ".join(f"{one} on {count(examples)}" for one, examples in ordered)
        phrases.append(f"{parts} (mean {accuracy(claim.standard_baseline)})")
    if claim.recorded is not None:
        phrases.append(_known(claim, "chance"))
    return "; ".join(phrases)


def chances(claim: ClaimRecord) -> dict[str, int]:
    """Return the number of examples by the chance of one guess, as fractions: {"1/2": 50}."""
    if claim.recorded is not None:
        return claim.recorded.chances
    return claim.validation.chances if claim.validation else {}


def tried(claim: ClaimRecord) -> int | None:
    """Return how many prompts this run tried; t may count more."""
    return len(claim.correct_counts) or claim.t


def counted_t(claim: ClaimRecord) -> str:
    """Say how t came about."""
    p = claim.prompts
    if claim.recorded is not None:
        found = len(claim.correct_counts)
        fewer = f"; the results hold {count(found)}" if found and found != claim.t else ""
        return f"{_known(claim, 't')}{fewer}"
    if p is None:
        return ""
    made = f"{count(p.asked)} asked for, {count(p.possible)} possible; {sampled(claim)}"
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
    number = f"look {count(tries.look)} at this claim"
    if tries.look == 1:
        number = "the first look at this claim"
    if tries.counted == "doubling":
        return f"{number}; levels are spent per doubling of t, so that any number of looks is valid"
    verdict = "holds" if tries.holds else "does not hold"
    return (
        f"{number}; with `looks: spend`, which makes any number of looks valid, the claim "
        f"{verdict} at the level {p_value(tries.level)}"
    )


def held_out(claim: ClaimRecord) -> str:
    """Say what the best prompt does on the test set, or why it was not opened."""
    test, validation = claim.test, claim.validation
    if test is None:
        aside = validation.test if validation else 0
        if not aside or claim.best_correct is None:
            return ""
        why = "opening it was switched off"
        if claim.passed is False and claim.holds is not None:
            why = "a red flag fails the claim" if claim.holds else "the claim does not hold"
        untested = "; so test_p was not tested" if "test_p" in claim.asserted else ""
        return f"{count(aside)} examples are still closed, because {why}{untested}"
    seen = f"; {count(test.seen)} of them were validation examples before" if test.seen else ""
    times = "opening" if test.openings == 1 else "openings"
    constant = shuffled = adjusted = worth = ""
    if test.clusters is not None:
        worth = f" by the effective n ({in_clusters(test)})"
    if test.majority_rate is not None:
        constant = f" and {accuracy(test.majority_rate)} for always the same answer"
    if test.permutation_p is not None:
        whole = " by whole clusters" if test.clusters is not None else ""
        shuffled = (
            f" of one guesser, {p_value(test.permutation_p)} with right answers shuffled{whole}"
        )
    if test.p is not None and test.tests is not None and test.tests > 1:
        shown = p_value(test.p, level=claim.asserted.get("test_p"))
        adjusted = f"; adjusted for {count(test.tests)}, p {equals(shown)}"
    return (
        f"{count(test.correct)} of {count(test.n)} correct ({accuracy(test.accuracy)}, 95 % "
        f"interval {accuracy(test.low)} to {accuracy(test.high)}{worth}), beside a standard "
        f"baseline of {accuracy(test.standard_baseline)}{constant}: p "
        f"{equals(p_value(test.p_standard))}{shuffled}; {count(test.openings)} {times} of this "
        f"test set so far{adjusted}{seen}"
    )


def sampled(claim: ClaimRecord) -> str:
    """Say what the prompts are made of."""
    p = claim.prompts
    if p is None:
        return ""
    if p.regime == "none":
        parts = ["no demonstrations"]
    else:
        noun = "demonstration" if claim.shots == 1 else "demonstrations"
        source = {
            "pool": "of the task's own pool",
            "outside": "outside the validation set",
            "leave_out": "of the validation set",
        }[p.regime]
        parts = [f"{claim.shots} {noun} each, from the {count(p.pool)} examples {source}"]
    if p.instructions > 1:
        parts.append(f"{p.instructions} instructions")
    if p.formats > 1:
        parts.append(f"{p.formats} formats")
    if len(parts) > 1:
        parts.append("every draw in all of them" if p.combine == "cross" else "sampled jointly")
    return ", ".join([*parts, f"seed {p.seed}"])


def sampling(claims: Iterable[ClaimRecord]) -> list[tuple[str, list[ClaimRecord]]]:
    """Group claims by how their prompts and examples came about, said in words."""
    groups: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        if claim.recorded is not None:
            groups.setdefault(recorded(claim), []).append(claim)
        elif claim.prompts is not None and claim.validation is not None:
            how = (
                f"{_of_possible(claim)} possible prompts "
                f"({sampled(claim)}); n = {count(claim.n)} ({counted_n(claim)})"
            )
            groups.setdefault(how, []).append(claim)
    return list(groups.items())


def all_of_models(
    group: Sequence[ClaimRecord], claims: Iterable[ClaimRecord]
) -> list[tuple[str, str]]:
    """Name the models of a group of claims if it holds all the claims of them, and more than one.

    Returns
    -------
    list of tuple of str
        Each model and its suite, which is empty where no other one makes claims of the same
        things; no model at all where the claims have to be named one by one.
    """
    models = {
        id(claim): (model_name(claim), suite)
        for suite, part in by_suite(claims).items()
        for claim in part
    }
    found = list(dict.fromkeys(models[id(claim)] for claim in group))
    of_them = sum(model in found for model in models.values())
    return found if of_them == len(group) > len(found) and all(model for model, _ in found) else []


def recorded(claim: ClaimRecord) -> str:
    """Say where recorded results come from, and what was counted in them."""
    if claim.recorded is None:
        return ""
    stated = [name for name in _KNOWN if name in claim.recorded.stated]
    counted = [name for name in _KNOWN if name not in claim.recorded.stated]
    # A paper's reader has other folders than those who ran it.
    file = PurePosixPath(claim.recorded.path).name or claim.recorded.path
    parts = [f"the results were read from {file} ({claim.recorded.format})"]
    for known, how in ((counted, "counted in them"), (stated, "stated, not counted")):
        if known:
            parts.append(f"{listed(known)} {'was' if len(known) == 1 else 'were'} {how}")
    return "; ".join(parts)


def _known(claim: ClaimRecord, name: str) -> str:
    if claim.recorded is None or name not in claim.recorded.stated:
        return "counted in the recorded results"
    # A summary has a row for each result, and neither prompts nor examples to count.
    where = "results or the suite" if claim.recorded.format == "summary" else "suite"
    return f"stated in the {where}, not counted"


def _of_possible(claim: ClaimRecord) -> str:
    assert claim.prompts is not None
    shown, possible = count(tried(claim)), count(claim.prompts.possible)
    if tried(claim) == claim.t:
        return f"t = {shown} of {possible}"
    return f"t = {count(claim.t)}, of which this run tried {shown} of {possible}"


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


def cost(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what scoring took, and how near that is to the least that it could take."""
    e = record.engine
    if e is None or record.simulated:
        return ""
    parts = []
    if e.requests:
        parts.append(
            f"{count(e.requests)} choices scored with {count(e.tokens_forwarded)} tokens "
            f"in {e.seconds:,.1f} s ({_where(e)})"
        )
        if e.trie_nodes:
            ratio = e.tokens_forwarded / e.trie_nodes
            parts.append(f"{ratio:.2f} times the {count(e.trie_nodes)} nodes of the prefix trie")
        if e.seconds:
            parts.append(f"{count(round(e.tokens_forwarded / e.seconds))} tokens per second")
    if e.reused:
        prompts = "prompt" if e.reused == 1 else "prompts"
        where = "" if parts else f", {_where(e)}"
        parts.append(
            f"{count(e.reused)} {prompts} read from the results store "
            f"({e.reused_seconds:,.1f} s when computed{where})"
        )
    if e.peak_memory:
        parts.append(f"at most {e.peak_memory / 2**30:,.1f} GiB of memory")
    if e.engine_reason:
        parts.append(e.engine_reason)
    return "; ".join(parts)


def precision(claim: ClaimRecord) -> str:
    """Say how firmly the answers stand where the arithmetic has few digits."""
    e = claim.engine
    exact = claim.quantization == "none" and e is not None and e.dtype in ("float32", "float64")
    if e is None or e.closest is None or exact or claim.simulated:
        return ""
    asked = f" (the suite asks for {e.asked_dtype})" if e.asked_dtype else ""
    return (
        f"{e.dtype}{asked}: answers can change when texts are put together in other batches; the "
        f"closest of all was decided by {e.closest:.2g} in score"
    )


def computed(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what computed the numbers: processor, kernels and versions."""
    if record.simulated:
        return "by a rule: the answers are simulated"
    found = record.engine.arithmetic if record.engine else None
    if found is None:
        return ""
    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    return f"on {found.processor}, by {found.kernels} ({versions})"


def processors(run: RunRecord) -> str:
    """Say on which processors the models of a run were computed."""
    names = list(dict.fromkeys(each.processor for each in arithmetics(run) if each.processor))
    if len(names) > 1:
        return f"{listed(names)}; the details of each claim say on which"
    return "".join(names)


def _where(engine: SweepCost) -> str:
    return ", ".join(filter(None, (engine.device, engine.dtype, engine.engine)))


def answered(claim: ClaimRecord) -> str:
    """Say which choice counts as the model's answer."""
    scorer = SCORERS.get(claim.scoring)
    return scorer.criterion if scorer else claim.scoring


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def five_numbers(ordered: Sequence[_Number]) -> list[_Number]:
    """Return minimum, quartiles and maximum of an ascending sequence, by nearest rank."""
    return [ordered[max(1, ceil(len(ordered) * quarter / 4)) - 1] for quarter in range(5)]
