"""The course of each claim over runs: its best accuracy, what was needed, and t.

Runs are earlier JSON reports, of commits or kept files, and the looks of the ledger, which counts
every run that computed anything. Pure: files are read elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.reports import quantities
from pytest_maxrandom.reports.phrases import best_interval
from pytest_maxrandom.reports.summary import became
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.stats.winner import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.ledger.summary import Look
    from pytest_maxrandom.record import ClaimRecord, RunRecord

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Point:
    """What a claim was in one run."""

    label: str
    """Of the run: a commit, a file; ``look`` for a line of the ledger."""
    when: str
    """UTC, ISO 8601; as the report has it where that is no time."""
    n: int
    t: int
    """Examples of the best prompt, and prompts tried."""
    best: float
    """Its value of the metric."""
    low: float | None
    high: float | None
    """`pytest_maxrandom.stats.winner.interval` of it: each end at 95 %, selection of the best of t
    included. None where the metric is no accuracy."""
    needed: float | None
    """The least value that would have passed; None where none could, or another test decides."""
    standard: float | None
    maximum: float | None
    """The standard and the maximum random baseline."""
    passed: bool | None
    """None of a look, which has no verdict, where nothing was asserted, and where results cannot
    tell."""
    ended: str
    """What became of the claim, a key of `pytest_maxrandom.record.OUTCOMES`; empty of a look."""
    incumbent: str
    """First digits of the digest of the prompt that it was compared with; empty without one."""
    examples: str
    """What tells the validation set from others; points with others cannot be compared."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The points of one claim, the oldest first."""

    claim: str
    """Its id; of looks without a report ``task[model-quantization-kshot]``, as ids end."""
    metric: str
    """What the values are values of."""
    points: tuple[Point, ...]


def trends(runs: Iterable[tuple[str, RunRecord]], looks: Iterable[Look] = ()) -> list[Trend]:
    """Follow each claim through runs, with a label each, in any order; their times count.

    A look of the ledger with the numbers of a run is that run's, and is left out. Claims stand in
    the order of the runs; then those that only the ledger knows.
    """
    claims: dict[str, list[tuple[ClaimRecord, Point]]] = {}
    ordered = sorted(runs, key=lambda each: moment(each[1].created))
    for label, run in ordered:
        for claim in run.claims:
            if (point := _of_claim(claim, label, run.created)) is not None:
                claims.setdefault(claim.id, []).append((claim, point))
    added: dict[str, list[Point]] = {}
    latest = {name: known[-1][0] for name, known in claims.items()}
    for look in looks:
        name = _owner(look, latest.values()) or _name(look)
        levels = quantities.levels_of(latest[name]) if name in latest else {}
        added.setdefault(name, []).append(_of_look(look, levels.get("p_max", DEFAULT_LEVEL)))
    lines = []
    for name in dict.fromkeys([*claims, *added]):
        points = [point for _, point in claims.get(name, ())]
        seen = {(point.n, point.t, point.best) for point in points}
        points += [one for one in added.get(name, ()) if (one.n, one.t, one.best) not in seen]
        points.sort(key=lambda point: moment(point.when))
        metric = quantities.metric_name(latest[name]) if name in latest else "accuracy"
        lines.append(Trend(name, metric, tuple(points)))
    return lines


def moment(when: str) -> datetime:
    """Return a time that was written down; what is none is before all others."""
    try:
        return datetime.fromisoformat(when).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC)


def written_moment(when: str) -> str:
    """Write a time to the minute; what is none as it is.

    Examples
    --------
    >>> written_moment("2026-01-31T13:00:59+01:00"), written_moment("yesterday")
    ('2026-01-31 12:00 UTC', 'yesterday')
    """
    found = moment(when)
    return f"{found:%Y-%m-%d %H:%M} UTC" if found.year > 1 else visible(when)


def _of_claim(claim: ClaimRecord, label: str, created: str) -> Point | None:
    best, n = quantities.best_value(claim), quantities.examples(claim)
    if best is None or not n or claim.t is None:
        return None
    low, high = best_interval(claim) or (None, None)
    # As the ledger tells a validation set from others, or by what results tell of it.
    known = None if claim.validation is None else claim.validation.digest
    return Point(
        label=label,
        when=created,
        n=n,
        t=claim.t,
        best=best,
        low=low,
        high=high,
        needed=quantities.needed_score(claim),
        standard=claim.standard_baseline,
        maximum=claim.max_random_baseline,
        passed=claim.passed if claim.asserted else None,
        ended=became(claim) or "",
        incumbent="" if claim.incumbent is None else claim.incumbent.digest[:_SHOWN],
        examples=known or digest(claim.task_digest or "", *claim.validation_ids),
    )


def _of_look(look: Look, level: float) -> Point:
    sizes = {Fraction(chance): size for chance, size in look.chances.items()}
    whole = [chance for chance, size in sizes.items() for _ in range(size)]
    # Prompts that leave out their own demonstrations have fewer examples than the set; which ones
    # is not known here, so each is given the mean chance.
    mean = sum(whole, Fraction()) / len(whole)
    guessers = MaxRandomBaseline(look.n, whole if look.n == len(whole) else mean, look.t)
    # Of recorded answers, and where chance is learnt, no ledger knows the guessers.
    needed = guessers.critical_count(level) if mean else None
    low, high = interval(look.best_correct, look.n, look.t)
    return Point(
        label="look",
        when=look.when,
        n=look.n,
        t=look.t,
        best=look.best_correct / look.n,
        low=low,
        high=high,
        needed=None if needed is None else needed / look.n,
        standard=guessers.standard_baseline if mean else None,
        maximum=guessers.expected_accuracy if mean else None,
        passed=None,
        ended="",
        incumbent=look.incumbent[:_SHOWN],
        examples=look.examples,
    )


def _owner(look: Look, claims: Iterable[ClaimRecord]) -> str:
    """Return the id of the one claim that a look is of; empty where none is, or several may be."""
    about = (look.task, look.model, look.quantization, look.shots, look.scoring)
    alike = [
        one
        for one in claims
        if (one.task, one.counted_as or one.model, one.quantization, one.shots, one.scoring)
        == about
    ]
    near = [claim for claim in alike if _stands_in(look.beside, claim.suite)]
    owners = Counter(claim.id for claim in (near or alike))
    return next(iter(owners)) if len(owners) == 1 else ""


def _stands_in(folder: str, suite: str) -> bool:
    """Return whether a suite's path says that it stands in a folder; one without a folder does not.

    Examples
    --------
    >>> _stands_in("/team/models", "models/words.maxrandom.yaml")
    True
    >>> _stands_in("/team/models", "words.maxrandom.yaml")
    False
    """
    said = PurePosixPath(suite).parent.parts
    return bool(said) and PurePosixPath(folder).parts[-len(said) :] == said


def _name(look: Look) -> str:
    parts = (look.model, look.quantization, f"{look.shots}shot")
    return f"{look.task}[{'-'.join(part for part in parts if part not in ('', 'none'))}]"
