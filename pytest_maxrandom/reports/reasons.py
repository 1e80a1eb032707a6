"""Why a record is not what it was: what is different in two runs, one reason each.

A reason is a kind, for programs, and a clause, for people: ``t from 50 to 200``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, count, p_value, signed
from pytest_maxrandom.record import (
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
)
from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.reports import comparisons, replicates
from pytest_maxrandom.reports.details import claimed_of
from pytest_maxrandom.reports.label_bias import bias_numbers
from pytest_maxrandom.reports.phrases import best_value, decisive, metric_name, needed_score
from pytest_maxrandom.reports.wording import shown_p

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import Record, RedFlagKind, Severity, SweepCost

ReasonKind = Literal[
    "claim", "examples", "model", "settings", "arithmetic", "tries", "prompt", "number", "red flag"
]
"""claim: another assertion; examples: others, or another number of them; model: another revision,
or other weights; settings: of the suite; arithmetic: what computed; tries: another t; prompt:
another best prompt; number: a result; red flag: a new one, a gone one, or one that does something
else."""
QUIET: frozenset[ReasonKind] = frozenset({"arithmetic", "prompt"})
"""What alone, with the same results, is no change."""
_CLAIMS, _EXAMPLES, _TASK = "claims", "validation examples", "task"
_REVISION, _MODEL = "revision", "model"
_BEST_PROMPT, _PATTERN, _SERVER = "best prompt", "pattern of answers", "server"
_TEXTS = "training texts"
_SAID = {
    _EXAMPLES: "the validation examples are not the same",
    _TASK: "the task's examples are not the same",
    _REVISION: "the model has another revision",
    _MODEL: "the model is not the same",
    _BEST_PROMPT: "another prompt is the best",
    _TEXTS: "the model is trained on other texts",
    _PATTERN: "another pattern reads the answers",
    _SERVER: "the server reports another model",
}
"""How a difference is said where it is not ``t from 50 to 200``, by what is compared."""
_MEASURED = ("tokenized", "repeated", "local", "same_texts")
"""Keys of a server's handshake that are measured anew each time."""
_SEVERITIES: tuple[Severity, ...] = ("ignore", "warn", "fail")
"""From what asserts least to what asserts most."""
_MOST_FLAGS = 2
"""Kinds of red flags that are named."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is different, as a clause."""

    kind: ReasonKind
    text: str
    new_flag: bool = False
    """Whether it is a red flag that was not there, which some reports show in full."""


def reasons(now: Record, before: Record) -> tuple[Reason, ...]:
    """Say in what the conditions and the numbers of a record are not what they were."""
    earlier = {name: shown for _, name, shown in _conditions(before, now)}
    told = [
        Reason(kind, _said(name, shown, was))
        for kind, name, shown in _conditions(now, now)
        if (was := earlier.get(name, NONE)) != shown and NONE not in (shown, was)
    ]
    if isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord):
        told += _flag_differences(now, before)
    return tuple(told)


def _said(name: str, now: str, before: str) -> str:
    if name == _CLAIMS:
        return f"claims: {now}, before: {before}"
    return _SAID.get(name) or f"{name} from {before} to {now}"


def main_reason(now: Record, before: Record) -> str:
    """Say what alone decides between a claim that passes and one that fails; empty if unknown.

    The earlier best is compared with what is needed now, and the other way round, as shares of
    their examples.
    """
    if not (isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord)):
        return ""
    if now.holds and before.holds and bool(now.failing_flags) != bool(before.failing_flags):
        kinds = dict.fromkeys(flag.kind for flag in now.failing_flags or before.failing_flags)
        named = f"red flag{'s' * (len(kinds) > 1)} {' and '.join(kinds)}"
        fails = "fails" if len(kinds) == 1 else "fail"
        return f"{named} {fails} it{'' if now.failing_flags else ' no longer'}"
    best, was = best_value(now), best_value(before)
    bar, earlier = needed_score(now), needed_score(before)
    if best is None or was is None or now.metric != before.metric:
        return ""
    moved = f"best {metric_name(now)} {accuracy(was)} to {accuracy(best)}"
    if bar is None or earlier is None or now.holds is before.holds:
        return moved if round(best - was, 3) else ""
    if (best >= bar) is not now.holds or (was >= earlier) is not before.holds:
        # What is needed does not tell: the best may be above it, and fail by another test.
        return _p_moved(now if before.holds else before, now, before)
    needed = f"needed {metric_name(now)} {accuracy(earlier)} to {accuracy(bar)}"
    if (best >= earlier) is not before.holds:
        return moved
    # With the bar of the other run it would have ended as before: so the bar decides, unless the
    # best of the other run would have ended as before too.
    return f"{moved} and {needed}" if (was >= bar) is before.holds else needed


def _p_moved(failing: ClaimRecord, now: ClaimRecord, before: ClaimRecord) -> str:
    """Say how the p-value moved that fails one of two runs."""
    key = decisive(failing)
    if getattr(now, key) is None or getattr(before, key) is None:
        return ""
    return f"{P_VALUES[key]} {shown_p(before, key)} to {shown_p(now, key)}"


def _conditions(record: Record, now: Record) -> Iterator[tuple[ReasonKind, str, str]]:
    """Yield what is compared of a record with the later `now`, as it is written.

    A dash is unknown. What has another name in another record (the best value of another metric)
    is not compared.
    """
    yield "claim", _CLAIMS, claimed_of(record) or "nothing"
    match record:
        case ClaimRecord():
            assert isinstance(now, ClaimRecord)
            yield from _of_claim(record, now)
        case ReplicatesRecord():
            yield "number", "passes in", replicates.holding(record)
            yield "number", "contradicting the majority", replicates.contradictions(record)
            yield "number", "median best accuracy", replicates.median(record, "best_accuracy")
            yield "number", "median p_max", replicates.median(record, "p_max")
        case LabelBiasRecord():
            yield from (("number", name, told) for name, told in bias_numbers(record).items())
        case ComparisonRecord():
            yield "examples", "n", comparisons.shown_n(record)
            yield "tries", "t", count(record.t)
            yield "settings", "replicates", count(record.replicates)
            yield "number", "difference", signed(record.difference)
            yield "number", "p", p_value(record.p_value)
            yield "number", "best of t", signed(record.best_difference)
        case ContaminationRecord():
            yield "number", "boost", signed(record.boost)
            yield "number", "bias", signed(record.bias)
            yield "number", "finding", record.finding or NONE


def _of_claim(record: ClaimRecord, now: ClaimRecord) -> Iterator[tuple[ReasonKind, str, str]]:
    key, metric = decisive(now), metric_name(record)
    same_rule = record.asserted == now.asserted and record.n == now.n
    yield "claim", "clusters", "none" if record.clusters is None else count(record.clusters)
    yield "claim", "metric", metric
    yield from _of_examples(record, now)
    yield "model", _REVISION, record.revision or NONE
    # Another revision, or another training, is another model; that is one reason, and not two.
    same_revision = record.revision == now.revision or None in (record.revision, now.revision)
    is_one_reason = same_revision and _trained_alike(record, now)
    yield "model", _MODEL, (record.model_digest if is_one_reason else None) or NONE
    yield from _settings(record)
    if record.engine is not None:
        yield from _computing(record.engine)
    yield "examples", "n", count(record.n)
    yield "tries", "t", count(record.t)
    yield "prompt", _BEST_PROMPT, record.best_prompt.digest if record.best_prompt else NONE
    yield "number", f"best {metric}", accuracy(best_value(record))
    needed = count(record.critical_count) if same_rule else NONE
    yield "number", "right answers needed", needed
    yield "number", P_VALUES[key], NONE if getattr(record, key) is None else shown_p(record, key)


def _of_examples(record: ClaimRecord, now: ClaimRecord) -> Iterator[tuple[ReasonKind, str, str]]:
    """Yield what tells the examples from others; where n differs, that says it."""
    drawn, later = record.validation, now.validation
    known, wanted = (each.digest if each else None for each in (drawn, later))
    as_many = drawn is None or later is None or drawn.examples == later.examples
    yield "examples", _EXAMPLES, (known if as_many else None) or NONE
    # Of older reports only the digest of the whole task is known.
    same = known == wanted or None in (known, wanted)
    yield "examples", _TASK, (record.task_digest if same else None) or NONE


def _trained_alike(record: ClaimRecord, now: ClaimRecord) -> bool:
    """Tell whether two records' models were trained on the same texts in the same way."""
    both = [
        one and (one.text_digest, one.settings, one.classify, one.seed)
        for one in (record.training, now.training)
    ]
    return both[0] == both[1]


def _settings(record: ClaimRecord) -> Iterator[tuple[ReasonKind, str, str]]:
    """Yield what a suite says of how prompts are made and answers are read."""
    yield "settings", "backend", record.backend or NONE
    yield "settings", "scoring", record.scoring or NONE
    if (drawn := record.prompts) is not None:
        yield "settings", "demonstrations from", drawn.source or drawn.regime
        yield "settings", "pool of demonstrations", count(drawn.pool)
        yield "settings", "instructions", count(drawn.instructions)
        yield "settings", "formats", count(drawn.formats)
        yield "settings", "seed of prompts", count(drawn.seed)
    if record.validation is not None:
        yield "settings", "seed of examples", count(record.validation.seed)
    if (trained := record.training) is not None:
        yield "settings", _TEXTS, trained.text_digest
        for of, said in (("training", trained.settings), ("the head", trained.classify)):
            for key, value in said.items():
                yield "settings", f"{key} of {of}", "none" if value is None else str(value)
    if (answered := record.generated) is not None:
        yield "settings", "tokens of an answer", count(answered.max_tokens)
        yield "settings", "temperature", f"{answered.temperature:g}"
        yield "settings", _PATTERN, answered.pattern or "none"


def _computing(cost: SweepCost) -> Iterator[tuple[ReasonKind, str, str]]:
    """Yield what computed the numbers."""
    yield "model", "files quantized by", cost.quantized or "nothing"
    if cost.handshake is not None:
        said = {name: told for name, told in cost.handshake.items() if name not in _MEASURED}
        yield "model", _SERVER, str(sorted(said.items()))
    yield "arithmetic", "dtype", cost.dtype or NONE
    yield "arithmetic", "engine", cost.engine or NONE
    if (found := cost.arithmetic) is not None:
        yield "arithmetic", "processor", found.processor or NONE
        yield "arithmetic", "kernels", found.kernels or NONE
        for library, version in found.versions.items():
            yield "arithmetic", library, version or NONE


def _flag_differences(now: ClaimRecord, before: ClaimRecord) -> Iterator[Reason]:
    """Say which red flags do something else, and which are new or gone, one clause each."""
    changed: dict[tuple[Severity, Severity], list[RedFlagKind]] = {}
    for kind, severity, was in _changed_severities(now, before):
        changed.setdefault((severity, was), []).append(kind)
    for (severity, was), kinds in changed.items():
        named = f"red flag{'s' * (len(kinds) > 1)} {' and '.join(kinds)}"
        if len(kinds) > _MOST_FLAGS:
            named = f"{len(kinds)} red flags"
        yield Reason("red flag", f"{named}: {severity}, before: {was}")
    if now.best_correct is None or before.best_correct is None:
        return
    raised, earlier = ({flag.kind for flag in each.red_flags} for each in (now, before))
    for said, found in (("new", raised - earlier), ("gone", earlier - raised)):
        for kind in DEFAULTS:
            if kind in found:
                yield Reason("red flag", f"red flag {kind} is {said}", new_flag=said == "new")


def do_less(now: Record, before: Record) -> bool:
    """Tell whether any red flag does less than it did."""
    return any(
        _SEVERITIES.index(severity) < _SEVERITIES.index(was)
        for _, severity, was in _changed_severities(now, before)
    )


def _changed_severities(
    now: Record, before: Record
) -> Iterator[tuple[RedFlagKind, Severity, Severity]]:
    """Yield the kinds whose severity is another one; none of what asserts nothing."""
    if not (isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord)):
        return
    if not (now.asserted and before.asserted):
        return
    for kind, default in DEFAULTS.items():
        severity, was = (each.severities.get(kind, default) for each in (now, before))
        if severity != was:
            yield kind, severity, was
