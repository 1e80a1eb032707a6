"""Why a record is not what it was: what is different in two runs, one reason each.

A reason is a kind, for programs, and a clause, for people: ``t from 50 to 200``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, count, p_value, signed
from pytest_maxrandom.record import (
    BestModelsRecord,
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    Record,
    ReplicatesRecord,
    Severity,
)
from pytest_maxrandom.reports import designs, kept_answers, quantities
from pytest_maxrandom.reports.details import claimed_of
from pytest_maxrandom.reports.label_bias import bias_numbers
from pytest_maxrandom.reports.phrases import decisive
from pytest_maxrandom.reports.severities import changed_severities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class KindOfReason:
    """What reasons of a kind are."""

    means: str
    """What is different."""
    example: str
    quiet: bool = False
    """Whether it alone, with the same results, is no change."""
    in_columns: bool = False
    """Whether the columns of a claim show it."""


REASONS: dict[str, KindOfReason] = {
    "claim": KindOfReason("what is claimed", "metric from accuracy to macro-F1"),
    "examples": KindOfReason("the examples, or their number", "n from 100 to 60"),
    "model": KindOfReason(
        "its revision, weights, how it is run, or its recorded answers",
        "the model is not the same",
    ),
    "settings": KindOfReason("the suite's settings", "scoring from mean_logprob to sum_logprob"),
    "arithmetic": KindOfReason("what computed", "torch from 2.12.0 to 2.13.0", quiet=True),
    "tries": KindOfReason("the prompts tried", "t from 20 to 40"),
    "prompt": KindOfReason("the best prompt", "another prompt is the best", quiet=True),
    "number": KindOfReason("a result", "best accuracy from .770 to .608", in_columns=True),
    "red flag": KindOfReason("what red flags say or do", "red flag tied_scores is new"),
}
"""All kinds of reasons."""
_MEASURED = ("tested", "tokenized", "repeated", "local", "same_texts")
"""Keys of a server's handshake that are measured anew each time, or that this package adds."""
_MOST_FLAGS = 2
"""Kinds of red flags that are named."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is different, as a clause."""

    kind: str
    """One of `REASONS`."""
    text: str
    new_flag: bool = False
    """Whether it is a red flag that was not there, which some reports show in full."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing, or several of a kind, that two records are compared in."""

    kind: str
    """One of `REASONS`."""
    name: str
    value: str | Callable[[Any], Any]
    """An attribute, with dots, or what returns it of a record: a text, a number, a list of texts,
    None where it is unknown, or these by names of their own."""
    said: str = ""
    """How a difference is said, with `now` and `before`."""
    only: Callable[[Any, Any], bool] | None = None
    """Whether two records are compared in this."""

    def of(self, record: Record) -> dict[str, str]:
        """Return what is known of a record, as it is written, by its names."""
        value: Any = record
        if callable(self.value):
            value = self.value(record)
        else:
            for name in self.value.split("."):
                value = value and getattr(value, name)
        values = value if isinstance(value, dict) else {self.name: value}
        shown = {name: count(one) if isinstance(one, int) else one for name, one in values.items()}
        return {name: one for name, one in shown.items() if one and one != NONE}

    def differences(self, now: Record, before: Record) -> Iterator[Reason]:
        """Yield what is different; what one of them lacks is unknown."""
        if self.only is None or self.only(now, before):
            was = self.of(before)
            for name, shown in self.of(now).items():
                if was.get(name, shown) != shown:
                    said = self.said.format(now=shown, before=was[name])
                    yield Reason(self.kind, said or f"{name} from {was[name]} to {shown}")


def reasons(now: Record, before: Record) -> tuple[Reason, ...]:
    """Say in what the conditions and the numbers of a record are not what they were."""
    told = [
        each for one in (_CLAIMED, *COMPARED[type(now)]) for each in one.differences(now, before)
    ]
    if isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord):
        told += _flag_differences(now, before)
    return tuple(told)


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
    best, was = quantities.best_value(now), quantities.best_value(before)
    bar, earlier = quantities.needed_score(now), quantities.needed_score(before)
    if best is None or was is None or now.metric != before.metric:
        return ""
    moved = f"best {quantities.metric_name(now)} {accuracy(was)} to {accuracy(best)}"
    if bar is None or earlier is None or now.holds is before.holds:
        return moved if round(best - was, 3) else ""
    if (best >= bar) is not now.holds or (was >= earlier) is not before.holds:
        # What is needed does not tell: the best may be above it, and fail by another test.
        return _p_moved(now if before.holds else before, now, before)
    needed = f"needed {quantities.metric_name(now)} {accuracy(earlier)} to {accuracy(bar)}"
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
    return f"{P_VALUES[key]} {quantities.shown_p(before, key)} to {quantities.shown_p(now, key)}"


def _same_model(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Tell whether neither revision nor training says already that the model is another one."""
    both = [
        one and (one.text_digest, one.settings, one.classify, one.seed)
        for one in (now.training, before.training)
    ]
    revisions = (now.revision, before.revision)
    return both[0] == both[1] and (None in revisions or revisions[0] == revisions[1])


def _same_questions(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Tell whether both are of the same prompts and examples, so that answers can be others."""
    parts = (kept_answers.examples, kept_answers.prompts)
    return all(part(now) == part(before) for part in parts)


def _same(name: str, known: bool = False) -> Callable[[ClaimRecord, ClaimRecord], bool]:
    """Make what tells whether something of two validation sets is the same, or unknown."""

    def same(now: ClaimRecord, before: ClaimRecord) -> bool:
        values = [getattr(each.validation, name, None) for each in (now, before)]
        return values[0] == values[1] or (None in values and not known)

    return same


def _trained(record: ClaimRecord) -> dict[str, str]:
    found = record.training
    parts = {"training": found.settings, "the head": found.classify} if found else {}
    return {
        f"{key} of {of}": "none" if value is None else str(value)
        for of, said in parts.items()
        for key, value in said.items()
    }


def _server(record: ClaimRecord) -> str | None:
    if record.engine is None or record.engine.handshake is None:
        return None
    said = record.engine.handshake.items()
    return str(sorted((name, told) for name, told in said if name not in _MEASURED))


def _best(record: ClaimRecord) -> dict[str, str]:
    name = f"best {quantities.metric_name(record)}"
    return {name: accuracy(quantities.best_value(record))}


def _p_value(key: str) -> Compared:
    """Compare a p-value where it is the one that decides now."""

    def known(record: ClaimRecord) -> str | None:
        return None if getattr(record, key) is None else quantities.shown_p(record, key)

    return Compared("number", P_VALUES[key], known, only=lambda now, _: decisive(now) == key)


_CLAIMED = Compared(
    "claim", "claims", lambda r: claimed_of(r) or "nothing", "claims: {now}, before: {before}"
)
COMPARED: dict[type[Any], tuple[Compared, ...]] = {
    ClaimRecord: (
        Compared("claim", "clusters", lambda r: "none" if r.clusters is None else r.clusters),
        Compared("claim", "metric", quantities.metric_name),
        Compared("examples", "validation examples", "validation.digest",
                 "the validation examples are not the same", _same("examples")),
        Compared("examples", "task", "task_digest", "the task's examples are not the same",
                 _same("digest", known=True)),
        Compared("model", "revision", "revision", "the model has another revision"),
        Compared("model", "model", "model_digest", "the model is not the same", _same_model),
        Compared("settings", "results", "recorded.path",
                 only=lambda now, was: kept_answers.answers(now) != kept_answers.answers(was)),
        Compared("examples", "recorded examples", kept_answers.examples,
                 "the examples of the results are not the same"),
        Compared("tries", "recorded prompts", kept_answers.prompts,
                 "the prompts of the results are not the same"),
        Compared("model", "recorded answers", kept_answers.answers,
                 "the recorded answers are not the same", _same_questions),
        Compared("settings", "backend", "backend"),
        Compared("settings", "scoring", "scoring"),
        Compared("settings", "demonstrations from",
                 lambda r: r.prompts and (r.prompts.source or r.prompts.regime)),
        Compared("settings", "pool of demonstrations", "prompts.pool"),
        Compared("settings", "instructions", "prompts.instructions"),
        Compared("settings", "formats", "prompts.formats"),
        Compared("settings", "seed of prompts", "prompts.seed"),
        Compared("settings", "seed of examples", "validation.seed"),
        Compared("settings", "incumbent", lambda r: r.incumbent and r.incumbent.digest[:12]),
        Compared("settings", "incumbent's stored answers",
                 lambda r: r.incumbent and r.incumbent.answers_digest,
                 "the incumbent's stored answers are not the same"),
        Compared("model", "incumbent's model", lambda r: r.incumbent and r.incumbent.model_digest,
                 "the incumbent's model is not the same"),
        Compared("number", "difference to the incumbent",
                 lambda r: r.incumbent and signed(r.incumbent.difference)),
        Compared("settings", "judge", "judge", "the scores are another judge's"),
        Compared("settings", "rule", "rule", "another rule tells which answers are right"),
        Compared("settings", "control", lambda r: r.control and r.control.digest,
                 "the control has other scores"),
        Compared("number", "difference to the control",
                 lambda r: r.control and signed(r.control.difference)),
        Compared("settings", "training texts", "training.text_digest",
                 "the model is trained on other texts"),
        Compared("settings", "training", _trained),
        Compared("settings", "tokens of an answer", "generated.max_tokens"),
        Compared("settings", "temperature",
                 lambda r: r.generated and f"{r.generated.temperature:g}"),
        Compared("settings", "samples of each answer", "sampled.samples"),
        Compared("settings", "what samples come to",
                 lambda r: r.sampled and quantities.of_samples(r.sampled, r.metric)),
        Compared("settings", "pattern of answers",
                 lambda r: r.generated and (r.generated.pattern or "none"),
                 "another pattern reads the answers"),
        Compared("model", "files quantized by",
                 lambda r: r.engine and (r.engine.quantized or "nothing")),
        Compared("model", "server", _server, "the server reports another model"),
        Compared("arithmetic", "dtype", "engine.dtype"),
        Compared("arithmetic", "engine", "engine.engine"),
        Compared("arithmetic", "processor", "engine.arithmetic.processor"),
        Compared("arithmetic", "kernels", "engine.arithmetic.kernels"),
        Compared("arithmetic", "libraries", "engine.arithmetic.versions"),
        Compared("examples", "n", "n"),
        Compared("tries", "t", "t"),
        Compared("prompt", "best prompt", "best_prompt.digest", "another prompt is the best"),
        Compared("number", "best", _best),
        Compared("number", "right answers needed", "critical_count",
                 only=lambda now, was: now.asserted == was.asserted and now.n == was.n),
        *map(_p_value, P_VALUES),
    ),
    ReplicatesRecord: (
        Compared("number", "passes in", designs.holding),
        Compared("number", "contradicting the majority", designs.contradictions),
        Compared("number", "median best accuracy", lambda r: designs.median(r, "best_accuracy")),
        Compared("number", "median p_max", lambda r: designs.median(r, "p_max")),
    ),
    LabelBiasRecord: (Compared("number", "numbers", bias_numbers),),
    ComparisonRecord: (
        Compared("examples", "n", designs.shown_n),
        Compared("tries", "t", "t"),
        Compared("settings", "replicates", "replicates"),
        Compared("number", "difference", lambda r: signed(r.difference)),
        Compared("number", "p", lambda r: p_value(r.p_value)),
        Compared("number", "best of t", lambda r: signed(r.best_difference)),
    ),
    BestModelsRecord: (
        Compared("examples", "n", "n"),
        Compared("settings", "models compared",
                 lambda r: ", ".join(each.name for each in r.models)),
        Compared("settings", "prompt compared", "prompt"),
        Compared("tries", "t", lambda r: ", ".join(count(each.tried) for each in r.models)),
        Compared("number", "among the best",
                 lambda r: ", ".join(each.name for each in r.models if each.among_best)),
    ),
    ContaminationRecord: (
        Compared("number", "boost", lambda r: signed(r.boost)),
        Compared("number", "bias", lambda r: signed(r.bias)),
        Compared("number", "finding", "finding"),
    ),
}  # fmt: skip
"""What records are compared in, in the order in which differences are told."""


def _flag_differences(now: ClaimRecord, before: ClaimRecord) -> Iterator[Reason]:
    """Say which red flags do something else, and which are new or gone, one clause each."""
    changed: dict[tuple[Severity, Severity], list[str]] = {}
    for kind, severity, was in changed_severities(now, before):
        changed.setdefault((severity, was), []).append(kind)
    for (severity, was), kinds in changed.items():
        named = f"red flag{'s' * (len(kinds) > 1)} {' and '.join(kinds)}"
        if len(kinds) > _MOST_FLAGS:
            named = f"{len(kinds)} red flags"
        yield Reason("red flag", f"{named}: {severity}, before: {was}")
    if now.best_accuracy is None or before.best_accuracy is None:
        return
    raised, earlier = ({flag.kind for flag in each.red_flags} for each in (now, before))
    for said, found in (("new", raised - earlier), ("gone", earlier - raised)):
        for kind in KINDS:
            if kind in found:
                yield Reason("red flag", f"red flag {kind} is {said}", new_flag=said == "new")
