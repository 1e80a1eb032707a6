"""Sentences of a record, made of its kinds and numbers: when it was judged, and when it is read.

Of what has no kind and numbers, such as an error, the sentence that it has stays.
"""

from __future__ import annotations

import math
from fractions import Fraction

from pytest_maxrandom.notation import (
    BASELINES,
    Unmet,
    accuracy,
    apart,
    count,
    equals,
    level,
    p_value,
    signed,
)
from pytest_maxrandom.record import (
    OUTCOMES,
    BestModelsRecord,
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    DecidedEarly,
    LabelBiasRecord,
    Record,
    Remark,
    ReplicatesRecord,
    Searched,
)
from pytest_maxrandom.reports import designs, incumbent, label_bias, red_flags
from pytest_maxrandom.reports.best_models import missed_best
from pytest_maxrandom.reports.quantities import (
    OF_GUESSERS,
    best_value,
    examples,
    levels_of,
    metric_name,
    mix_of,
    needed_score,
    p_is,
    unmet,
)
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.searches import prompts_in_words, why_nothing_passes
from pytest_maxrandom.stats.multiplicity import above, decisive

_USUAL_LEVEL = 0.05


def word(record: Record) -> None:
    """Word a record anew."""
    word_remarks(record)
    if isinstance(record, LabelBiasRecord):
        record.sentence = label_bias.bias_sentence(record)
    record.message = failure(record)


def word_remarks(record: Record) -> None:
    """Word its notes, warnings and red flags; not why it fails, which may be an error."""
    record.cannot_tell = None if record.cannot_tell is None else worded(record.cannot_tell)
    record.notes = list(map(worded, record.notes))
    record.warnings = list(map(worded, record.warnings))
    if isinstance(record, ClaimRecord):
        if record.published:
            record.published.changes = list(map(worded, record.published.changes))
        for flag in record.red_flags:
            flag.text = red_flags.sentence(flag)
    if isinstance(record, ReplicatesRecord):
        for run in record.runs:
            run.cannot_tell = None if run.cannot_tell is None else worded(run.cannot_tell)


def failure(record: Record) -> str | None:
    """Say why a record fails; the message that it has where no numbers tell."""
    if record.cannot_tell is not None and isinstance(record, ClaimRecord):
        return _untold(record, record.cannot_tell)
    if record.passed is not False and record.cannot_tell is None:
        return record.message
    try:
        match record:
            case ClaimRecord():
                return _of_claim(record)
            case ReplicatesRecord():
                return _of_replicates(record)
            case ComparisonRecord():
                return _of_comparison(record)
            case BestModelsRecord():
                return missed_best(record) if record.models else record.message
            case ContaminationRecord():
                return _of_contamination(record)
            case LabelBiasRecord():
                return label_bias.bias_failure(record)
    except (TypeError, ValueError, LookupError, ArithmeticError):
        if record.message is None:
            raise
        return record.message


def _of_claim(claim: ClaimRecord) -> str | None:
    if claim.decided is not None:
        return _cannot(claim, claim.decided)
    if not claim.n or claim.best_accuracy is None:
        return claim.message
    if claim.searched is not None and claim.searched.why is not None:
        return _after_search(claim, claim.searched)
    parts, by_class = unmet(claim), _by_class(claim)
    if other := incumbent.beaten_by(claim, [part.part for part in parts]):
        reached, numbers = incumbent.shortfall(claim, other)
        sentence = f"{_reached_and_needed(claim)[0]} {reached} {_context(claim, numbers)}"
    else:
        sentence = _shortfall(claim, parts) if parts else _missed(claim)
    kinds = list(dict.fromkeys(flag.kind for flag in claim.failing_flags))
    if not kinds:
        return sentence + by_class if sentence else claim.message
    if not sentence:  # its numbers pass
        bounded = [p_is(claim, key) for key in levels_of(claim)]
        sentence = f"{_reached_and_needed(claim)[0]} {_context(claim, ', '.join(bounded))}"
    return f"{sentence}; red flag{'s' if len(kinds) > 1 else ''}: {', '.join(kinds)}{by_class}"


def _by_class(claim: ClaimRecord) -> str:
    """Say that balanced accuracy shows what a failing claim about accuracy cannot."""
    for note in claim.notes:
        if note.kind == "by_class":
            p, score = equals(p_value(note.values["p"])), accuracy(note.values["score"])
            return f"; `metric: balanced_accuracy` shows knowledge: {score}, permutation p {p}"
    return ""


def _untold(claim: ClaimRecord, why: Remark) -> str:
    """Say that neither passing nor failing can be told, and what is known."""
    known = [_reached_and_needed(claim)[0]]
    known += [] if claim.p_max is None else [p_is(claim, "p_max")]
    said = OUTCOMES["cannot tell"].one
    return f"{said}: {worded(why).text} {_context(claim, ', '.join(known))}"


def _after_search(claim: ClaimRecord, searched: Searched) -> str:
    """Say why a claim fails that no result on the validation set can pass after a search."""
    reached, why = (
        _reached_and_needed(claim)[0],
        why_nothing_passes(searched.why or "answers", claim.n),
    )
    if searched.decided_by == "nothing":
        return f"{reached}; {why}; no test set that nobody has seen decides {_context(claim)}"
    test = claim.test
    if test is None:
        return f"{reached}; {why}, and the test set stayed closed {_context(claim)}"
    p = p_value(test.p) if test.p is not None else "unknown"
    return (
        f"{count(test.correct)} of {count(test.n)} correct on the test set, which decides because "
        f"{why}: p {equals(p)} {_context(claim)}"
    )


def _cannot(claim: ClaimRecord, decided: DecidedEarly) -> str:
    n = examples(claim) or 0
    found, least = _apart(decided.at_most / n, (claim.critical_count or 0) / n)
    answers = f"decided by {count(decided.answers)} of {count(decided.of_answers)} answers"
    return f"best at most {found}, needs {least} {_context(claim, answers)}"


def _shortfall(claim: ClaimRecord, parts: list[Unmet]) -> str:
    """Say what the best prompt reaches and what it needs, with the reason that weighs most."""
    reached, least = _reached_and_needed(claim)
    bounds = levels_of(claim)
    decided: tuple[str, ...] = OF_GUESSERS
    if least is not None and "permutation_p" in claim.critical_parts:
        decided = (*OF_GUESSERS, "permutation_p")  # the other answers are taken as they are
    of_counts = {
        part.part: bounds[part.part]
        for part in parts
        if part.part in decided and part.p is not None
    }
    key = decisive({part.part: part.p for part in parts}, of_counts)
    if key is not None:
        bound = of_counts[key]
        reason = p_is(claim, key) + (f", level {level(bound)}" if bound != _USUAL_LEVEL else "")
    elif parts[-1].baseline is not None:
        key = parts[-1].baseline
        highest = key == "max_random"
        baseline = claim.max_random_baseline if highest else claim.standard_baseline
        reason = f"{BASELINES[key].removeprefix('the ')} {accuracy(baseline)}"
        p, allowed = claim.permutation_p, bounds.get("permutation_p")
        if highest and least and p is not None and allowed is not None and not above(p, allowed):
            return (
                f"{reached}, needs {least} {_context(claim, reason)}: its permutation p is "
                f"{p_value(p)}, so {_ways_above(claim)}"
            )
    else:
        enough = f" reaches the {least} that p_max needs" if least and "p_max" in bounds else ""
        return f"{reached}{enough}; {parts[0]} {_context(claim)}"
    if least is None:
        return f"{reached}; no {metric_name(claim)} can pass {_context(claim, reason)}"
    return f"{reached}, needs {least} {_context(claim, reason)}"


def _ways_above(claim: ClaimRecord) -> str:
    """Say how a best prompt that is no luck may be above the maximum random baseline."""
    ways = ["claim `assert: {permutation_p: 0.05}`, which allows for prompts that answer alike"]
    best, n, mix = claim.best_accuracy or 0.0, examples(claim), mix_of(claim)
    if claim.metric == "accuracy" and n and claim.t and best > (claim.standard_baseline or 0.0):
        from pytest_maxrandom.stats import sizes  # it needs NumPy, which a summary does not

        if fewer := sizes.largest_t_below(n, mix, best):
            ways.append(f"try at most {count(fewer)} prompts")
        if more := sizes.examples_for_expected_maximum(best, mix, claim.t):
            ways.append(f"use about {count(more)} examples")
    return f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 1 else ways[0]


def _context(claim: ClaimRecord, reason: str = "") -> str:
    tried = f"t = {count(claim.t)}, n = {count(examples(claim))}"
    if claim.guessers is not None and claim.guessers != claim.t:
        tried += f"; after a search the best of {prompts_in_words(claim.guessers)}"
    return f"({reason}; {tried})" if reason else f"({tried})"


def _reached_and_needed(claim: ClaimRecord) -> tuple[str, str | None]:
    """Write both with as many digits as tell them apart; what is needed may be unknown."""
    name, best, needed = metric_name(claim), best_value(claim), needed_score(claim)
    prefix = "" if name == "accuracy" else f"{name} "
    if best is None or needed is None:
        return f"best {prefix}{accuracy(best)}", None
    found, least = _apart(best, needed)
    return f"best {prefix}{found}", least


def _apart(found: float, least: float) -> tuple[str, str]:
    for decimals in range(3, 8):
        both = accuracy(found, decimals), accuracy(least, decimals)
        if both[0] != both[1] or found == least:
            break
    return both


def _missed(claim: ClaimRecord) -> str:
    """Say that the test set does not confirm a claim; empty where it does, or is not asked."""
    test, bound = claim.test, claim.asserted.get("test_p")
    if not isinstance(bound, float):
        return ""
    if test is None and claim.holds is None:
        why = "--maxrandom-no-test keeps the test set closed"
        if any(note.kind == "test_not_opened" for note in claim.notes):
            why = "the opening of the test set could not be written to the ledger"
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
    held, total = sum(bool(run.passed) for run in record.runs), len(record.runs)
    needed = math.ceil(Fraction(str(least)) * total)
    if record.cannot_tell is not None:
        untold = sum(run.passed is None for run in record.runs)
        said = f"{OUTCOMES['cannot tell'].one}: {worded(record.cannot_tell).text}"
        return (
            f"{said} (passes in {held} of {total} replicates, cannot tell in {untold}, needs "
            f"{needed})"
        )
    return (
        f"passes in {held} of {total} replicates, needs {needed} (in_replicates: "
        f"{float(least):g}); a single draw contradicts the majority in {min(held, total - held)} "
        f"of {total}"
    )


def _of_comparison(record: ComparisonRecord) -> str | None:
    asked = "not_worse_than" if record.asserted.get("better") is None else "better"
    margin = record.asserted.get(asked)
    if record.assertion_p is None or record.difference is None or margin is None:
        return record.message
    bound = float(record.asserted.get("level", _USUAL_LEVEL))
    p = f"p {equals(p_value(record.assertion_p, level=bound))}"
    if bound != _USUAL_LEVEL:
        p += f", level {level(bound)}"
    context = (
        f"({p}; {record.confidence * 100:.4g} % interval {signed(record.low)} to "
        f"{signed(record.high)}; t = {count(record.t)}, n = {count(record.n)}"
        f"{f', {record.replicates} replicates' if record.replicates > 1 else ''})"
    )
    found = f"{record.first} - {record.second} = {signed(record.difference)}"
    if record.difference <= margin:
        return f"{found}, needs above {signed(margin)} {context}"
    return f"{found} is above {signed(margin)}, but may be by chance {context}: use more examples"


def _of_contamination(record: ContaminationRecord) -> str | None:
    at = f"at level {level(record.level)}"
    of_boost, of_bias = p_value(record.boost_p), p_value(record.bias_p)
    known = f"{record.extra} is {apart(record.boost)} {record.base} (p {of_boost})"
    beyond = f"{record.test} is {apart(record.bias)} {record.extra} (p {of_bias})"
    if record.cannot_tell is not None:
        said = f"{OUTCOMES['cannot tell'].one}: {worded(record.cannot_tell).text}"
        return f"{said} ({known}, and {beyond}, {at})"
    if record.finding != "tuned on the text":
        return record.message
    if designs.has_boost(record):
        return f"{designs.indicated(record)}: {known}, and {beyond}, {at}"
    return f"{designs.indicated(record)}: {beyond}, while {known}, {at}"
