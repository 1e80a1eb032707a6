"""Sentences of a record, made of its kinds and numbers: when it was judged, and when it is read.

Of what has no kind and numbers, such as an error or an older note, the sentence that it has stays.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import (
    BASELINES,
    METRIC_NAMES,
    P_VALUES,
    Unmet,
    accuracy,
    count,
    equals,
    level,
    p_value,
    share,
    signed,
)
from pytest_maxrandom.record import (
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
    Standing,
)
from pytest_maxrandom.reports import flag_sentences, label_bias
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.text import clauses, listed
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from pytest_maxrandom.record import DecidedEarly, Record

_BOUNDS = ("p_max", "union_p", "permutation_p", "beats")
_NOT_ABOVE: dict[str, tuple[Standing, ...]] = {
    "max_random": ("between baselines", "at chance", "below standard"),
    "standard": ("at chance", "below standard"),
}


def word(record: Record) -> None:
    """Word a record anew."""
    word_remarks(record)
    if isinstance(record, LabelBiasRecord):
        record.sentence = label_bias.bias_sentence(record)
    record.message = failure(record)


def word_remarks(record: Record) -> None:
    """Word its notes, warnings and red flags; not why it fails, which may be an error."""
    record.notes = list(map(worded, record.notes))
    record.warnings = list(map(worded, record.warnings))
    if isinstance(record, ClaimRecord):
        if record.published:
            record.published.changes = list(map(worded, record.published.changes))
        for flag in record.red_flags:
            flag.text = flag_sentences.sentence(flag)


def failure(record: Record) -> str | None:
    """Say why a record fails; the message that it has where no numbers tell."""
    if record.passed is not False:
        return record.message
    try:
        match record:
            case ClaimRecord():
                return _of_claim(record)
            case ReplicatesRecord():
                return _of_replicates(record)
            case ComparisonRecord():
                return _of_comparison(record)
            case ContaminationRecord():
                return _of_contamination(record)
            case LabelBiasRecord():
                return label_bias.bias_failure(record)
    except (TypeError, ValueError, LookupError, ArithmeticError):
        if record.message is None:
            raise
        return record.message


def levels_of(claim: ClaimRecord) -> dict[str, float]:
    """Return the level of each p-value that the claim bounds."""
    return {
        key: value
        for key, value in (claim.levels or claim.asserted).items()
        if key in P_VALUES and isinstance(value, float) and value > 0
    }


def shown_p(claim: ClaimRecord, key: str) -> str:
    """Write a p-value with the digits that it takes to see on which side of its level it is."""
    log_p = claim.log_p_max if key == "p_max" else None
    return p_value(getattr(claim, key), log_p, levels_of(claim).get(key))


def p_is(claim: ClaimRecord, key: str) -> str:
    """Say what a p-value is: ``p_max = .031``, or ``p_max > .999``."""
    return f"{P_VALUES[key]} {equals(shown_p(claim, key))}"


def unmet(claim: ClaimRecord) -> list[Unmet]:
    """List the parts of a claim that are not met, the test set aside."""
    found = []
    for key, bound in levels_of(claim).items():
        p: float | None = getattr(claim, key)
        if p is not None and above(p, bound):
            found.append(Unmet(key, p=p, level=bound))
        elif p is None and key == "permutation_p":
            found.append(Unmet(key))
    baseline = claim.asserted.get("beats")
    if baseline in BASELINES and claim.verdict in _NOT_ABOVE[baseline]:
        found.append(Unmet("beats", baseline=baseline))
    return found


def examples(claim: ClaimRecord) -> int | None:
    """Return how many examples the best prompt was scored on; n may be that of a publication."""
    if not claim.n or not claim.best_correct or not claim.best_accuracy:
        return claim.n
    found = claim.best_correct / claim.best_accuracy
    return round(found) if math.isfinite(found) else claim.n


def _of_claim(claim: ClaimRecord) -> str | None:
    if claim.decided is not None:
        return _cannot(claim, claim.decided)
    if claim.best_correct is None or not claim.n:
        return claim.message
    parts = unmet(claim)
    said = _shortfall(claim, parts) if parts else _missed(claim)
    kinds = list(dict.fromkeys(flag.kind for flag in claim.failing_flags))
    if not kinds:
        return said or claim.message
    if not said:  # the claim passes, but for its red flags
        bounded = (p_is(claim, key) for key in levels_of(claim))
        said = ", ".join([_reached(claim), f"t = {claim.t}", *bounded])
    return f"{said}; red flag{'s' if len(kinds) > 1 else ''}: {', '.join(kinds)}"


def _cannot(claim: ClaimRecord, decided: DecidedEarly) -> str:
    return clauses(
        f"best accuracy at most {_of_n(decided.at_most, claim.n)}{_needs(claim)}",
        f"t = {count(claim.t)}, n = {count(claim.n)}",
        _baselines(claim),
        f"decided by {count(decided.answers)} of {count(decided.of_answers)} answers",
    )


def _shortfall(claim: ClaimRecord, parts: list[Unmet]) -> str:
    said = listed(list(map(str, parts)))
    if claim.p_max is not None and all(part.part != "p_max" for part in parts):
        said = f"{p_is(claim, 'p_max')}, but {said}"
    return clauses(
        f"{_reached(claim)}{_needs(claim)}",
        f"t = {count(claim.t)}, n = {count(examples(claim))}",
        said,
        _baselines(claim),
    )


def _baselines(claim: ClaimRecord) -> str:
    return (
        f"standard baseline {accuracy(claim.standard_baseline)}, maximum random baseline "
        f"{accuracy(claim.max_random_baseline)}"
    )


def _reached(claim: ClaimRecord) -> str:
    if claim.metric == "accuracy":
        return f"best accuracy {_of_n(claim.best_correct, examples(claim))}"
    right = share(claim.best_correct, examples(claim))
    name = METRIC_NAMES.get(claim.metric, claim.metric)
    return f"best {name} {accuracy(claim.best_score)} ({right} correct)"


def _of_n(correct: int | None, n: int | None) -> str:
    """Write a number of right answers as an accuracy: ``.550 (33/60)``."""
    return f"{accuracy(None if correct is None or not n else correct / n)} ({share(correct, n)})"


def _needs(claim: ClaimRecord) -> str:
    """Say what would have passed; nothing where that depends on the answers alone."""
    bounds = [key for key in _BOUNDS if key in claim.asserted]
    if bounds == ["permutation_p"]:
        return ""
    if claim.critical_count is not None:
        least = f", needs {_of_n(claim.critical_count, examples(claim))}"
    elif claim.critical_score is not None:
        least = f", needs {accuracy(claim.critical_score, 4)}"
    else:
        return f", and no {METRIC_NAMES.get(claim.metric, claim.metric)} can pass"
    if "permutation_p" not in bounds:
        return least
    names = [
        BASELINES.get(str(claim.asserted[key]), key) if key == "beats" else P_VALUES[key]
        for key in bounds
        if key != "permutation_p"
    ]
    return f"{least} for {listed(names)}"


def _missed(claim: ClaimRecord) -> str:
    """Say that the test set does not confirm a claim; empty where it does, or was not asked."""
    test, bound = claim.test, claim.asserted.get("test_p")
    if not isinstance(bound, float):
        return ""
    if test is None and claim.holds is None:
        why = "--maxrandom-no-test keeps the test set closed"
        if any(note.kind == "test_not_opened" for note in claim.notes):
            why = "the opening of the test set could not be written into the ledger"
        elif claim.message is not None:  # of an older report, whose notes have no kinds
            return claim.message
        return f"test_p {level(bound)} could not be tested, because {why}"
    if test is None or test.p is None or not above(test.p, bound):
        return ""
    constant = ""
    if test.majority_rate is not None:
        constant = f" (always the same answer: {count(round(test.majority_rate * test.n))})"
    opened = f", times {count(test.tests)} openings," if (test.tests or 1) > 1 else ""
    return (
        f"{count(test.correct)} of {count(test.n)} correct on the test set{constant}: "
        f"p {equals(p_value(test.p, level=bound))}{opened} is above {level(bound)}"
    )


def _of_replicates(record: ReplicatesRecord) -> str | None:
    least = record.asserted.get("in_replicates")
    if not record.runs or least is None:
        return record.message
    held, total = sum(run.passed for run in record.runs), len(record.runs)
    needed = math.ceil(Fraction(str(least)) * total)
    return (
        f"the claim passes in {held} of {total} replicates ({accuracy(held / total)}), and "
        f"in_replicates asks for {float(least):g}, which is {needed}; a single draw contradicts "
        f"the majority in {min(held, total - held)} of {total}"
    )


def _of_comparison(record: ComparisonRecord) -> str | None:
    asked = "not_worse_than" if record.asserted.get("better") is None else "better"
    margin = record.asserted.get(asked)
    if record.assertion_p is None or record.difference is None or margin is None:
        return record.message
    prompts = f"t = {record.t} prompt{'s' if record.t != 1 else ''}"
    many = f", {record.replicates} replicates" if record.replicates > 1 else ""
    bound = float(record.asserted.get("level", 0.05))
    if record.difference <= margin:
        out = "the difference itself is not above that"
    else:
        out = "the difference is above that, but could be by chance; use more examples"
    return (
        f"{record.first} - {record.second} = {signed(record.difference)}, "
        f"{record.confidence * 100:.4g} % interval {signed(record.low)} to {signed(record.high)}, "
        f"n = {record.n}, {prompts}{many} ({accuracy(record.first_accuracy)} and "
        f"{accuracy(record.second_accuracy)}): {asked} {margin:g} has p "
        f"{p_value(record.assertion_p, level=bound)}, which is above {level(bound)}; {out}"
    )


def _of_contamination(record: ContaminationRecord) -> str | None:
    at = f"at level {level(record.level)}"
    of_boost, of_bias = p_value(record.boost_p), p_value(record.bias_p)
    known = f"{record.extra} is {signed(record.boost)} above {record.base} (p {of_boost})"
    beyond = f"{record.test} is {signed(record.bias)} above {record.extra} (p {of_bias})"
    if record.finding == "inconclusive":
        return (
            f"inconclusive: {known}, so tuning on text of this kind shows no effect {at}, and "
            f"nothing can be said of {record.test!r}; use more examples or replicates, or write "
            "`allow_inconclusive: true`"
        )
    if record.finding == "tuned on the text":
        return f"tuned on the text: {known}, and {beyond}, {at}"
    return record.message
