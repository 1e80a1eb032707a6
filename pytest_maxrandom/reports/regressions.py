"""Two runs compared by their answers: which claims are worse, and of which that cannot be told.

Both reports keep which prompt was right on which example (`pytest_maxrandom.record.packed`).
Luck of having been chosen on these examples is paid for on either side: that of the base where it
makes "worse" too easy, that of the later run where it makes "not worse" so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.record.regressions import Regressions
from pytest_maxrandom.reports.matched import matches
from pytest_maxrandom.reports.paired_answers import Compared, compare, of_tasks, untold
from pytest_maxrandom.stats.judged_losses import chosen, judged, look_share
from pytest_maxrandom.stats.regressions import needed_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.matched import Match
    from pytest_maxrandom.reports.paired_answers import Choice


@dataclass(frozen=True, slots=True)
class Asserted:
    """What is asserted of a run and an earlier one: no claim is worse by more than a margin."""

    not_worse_than: float
    """From -1 to 0: by how much a mean score may differ."""
    alpha: float = 0.05
    """How often any claim may be called worse, at any look, though none is."""
    cannot_tell: Literal["fail", "pass"] = "fail"
    """What becomes of it where that cannot be told of a claim."""
    prompts: Literal["fixed", "sample"] = "fixed"
    """Whether it is said of these prompts, or of others such as these, too."""

    @classmethod
    def read(cls, text: str) -> Asserted:
        """Read what a person asserts: ``not_worse_than=-0.02``, further words behind commas.

        Raises
        ------
        ValueError
            In one sentence, if it is something else.
        """
        document: dict[str, Any] = {}
        for word in text.split(","):
            name, _, value = word.strip().partition("=")
            if name in document or name not in _WORDS:
                raise ValueError(
                    f"found {word.strip()!r}, expected not_worse_than=MARGIN, with a margin from "
                    "-1 to 0 such as -0.02, and behind commas alpha=LEVEL, cannot_tell=pass or "
                    "prompts=sample, each once"
                )
            document[name] = _read(name, value)
        if "not_worse_than" not in document:
            raise ValueError(f"found {text!r}, expected not_worse_than=MARGIN, such as -0.02")
        return cls(**document)


_WORDS: dict[str, tuple[str, ...]] = {
    "not_worse_than": (),
    "alpha": (),
    "cannot_tell": ("fail", "pass"),
    "prompts": ("fixed", "sample"),
}
"""What may be said, and its values where they are words."""


def _read(name: str, value: str) -> str | float:
    if words := _WORDS[name]:
        if value not in words:
            raise ValueError(f"{name}: found {value!r}, expected {' or '.join(words)}")
        return value
    low, high = (-1.0, 0.0) if name == "not_worse_than" else (0.0, 0.5)
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not low <= number <= high or (name == "alpha" and not number):
        if name == "alpha":
            raise ValueError(f"alpha: found {value!r}, expected a number above 0, of at most 0.5")
        hint = f"; a loss of up to {number:g} is {-number:g}" if 0 < number <= 1 else ""
        raise ValueError(f"{name}: found {value!r}, expected a number from -1 to 0{hint}")
    return number


def regressions(
    base: RunRecord, head: RunRecord, since: str, asserted: Asserted, *, gone: bool = True
) -> Regressions:
    """Compare the answers of two runs.

    Parameters
    ----------
    base, head
        The earlier and the later run.
    since
        How a person calls the earlier one.
    gone
        Whether claims that only the earlier run has are to be told.
    """
    sampled, margin = asserted.prompts == "sample", asserted.not_worse_than
    losses = Regressions(
        since=since,
        margin=margin,
        alpha=asserted.alpha,
        allowed=asserted.cannot_tell == "pass",
        sampled=sampled,
    )
    pairs = [*matches(base, head)]
    if not any(each.before.answers for each in pairs):
        losses.problem = _nothing(base, pairs)
    compared, claims = list[Compared](), dict[str, Compared]()
    for pair in pairs:
        now = pair.now
        if now is None:
            if pair.candidates:
                losses.claims.append(untold(pair.before, "several"))
                losses.claims[-1].candidates = [*pair.candidates]
            elif gone:
                losses.claims.append(untold(pair.before, "not tested"))
            continue
        one = compare(pair.before, now, sampled=sampled)
        if pair.is_moved:
            one.record.moved_from = pair.before.suite
        losses.claims.append(one.record)
        if one.change is not None:
            compared.append(one)
            claims[now.id] = one
    tasks = [*of_tasks(pairs, claims, sampled=sampled)]
    losses.tasks = [each.record for each in tasks]
    _judge([*compared, *tasks], margin, asserted.alpha)
    return losses


def _nothing(base: RunRecord, pairs: Sequence[Match]) -> str:
    """Say why nothing can be compared, and what to do."""
    if not base.claims:
        return "its report has no claim; give the report of a run with results"
    if not pairs:
        return "it has no claim of this run; give the report of the same suites"
    return (
        "its report keeps no answers; run its commit again with --maxrandom-json (and with "
        "--maxrandom-until all where sweeps stop early), and keep that report"
    )


def _judge(compared: Sequence[Compared], margin: float, alpha: float) -> None:
    """Judge claims and tasks together, and write down what is shown of each."""
    plain, worse, not_worse = list[float](), list[float](), list[float]()
    for loss in compared:
        assert loss.change is not None
        plain.append(loss.change.p_worse())
        worse.append(_corrected(plain[-1], loss.ways[0], searched=loss.searched[0]))
        other = loss.change.p_not_worse(margin)
        not_worse.append(_corrected(other, loss.ways[1], searched=loss.searched[1]))
    looks = [each.record.look for each in compared]
    uncorrected = judged(plain, not_worse, looks, alpha)
    for place, found in enumerate(judged(worse, not_worse, looks, alpha)):
        loss, record = compared[place], compared[place].record
        record.p_worse, record.p_not_worse = worse[place], not_worse[place]
        record.adjusted_worse, record.adjusted_not_worse = found.holm, found.not_worse
        record.base_of, record.head_of = map(_number, loss.ways)
        record.searched = any(loss.searched)
        record.loss = "the same" if loss.same else found.shown
        if record.loss != "cannot tell":
            continue
        lucky = uncorrected[place].shown == "worse" or loss.searched[1]
        record.why = "chosen" if lucky else "too few"
        record.needed = None if loss.searched[1] else _needed(loss, margin, alpha)


def _corrected(p: float, choices: Sequence[Choice], *, searched: bool) -> float:
    if searched:
        return 1.0
    for choice in choices:
        p = chosen(p, *choice)
    return p


def _number(choices: Sequence[Choice]) -> int | None:
    """Return of how many something was chosen; None where nothing was."""
    if all(each.compared >= each.tried and each.variants == 1 for each in choices):
        return None
    return max(each.tried * each.variants for each in choices)


def _needed(each: Compared, margin: float, alpha: float) -> int | None:
    """Return about how many examples such as these would show "not worse" of what is as good."""
    assert each.change is not None
    level = alpha * look_share(each.record.look)
    cost = _corrected(1e-12, each.ways[1], searched=False) / 1e-12
    tests = each.change.by_unit
    units = needed_units(tests.deviation, margin, level / cost)
    return None if units is None else round(units * each.change.examples / tests.units)
