"""The best prompt beside the incumbent: what is compared, and what is found of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.record import BesideIncumbent, Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.incumbents import best_over_incumbent
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.suite.incumbent import IncumbentSettings

    Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class IncumbentAnswers:
    """What the incumbent answered to the examples of a claim."""

    settings: IncumbentSettings
    name: str
    """What it is, in a few words."""
    digest: str
    """Digest of its prompt, or what its results call it."""
    model: str
    model_digest: str | None = None
    """By which the ledger would know its model; None where that is not known."""
    scores: Mapping[str, float]
    """By the ids of the examples on which it was scored, from 0 to 1."""
    chosen_here: int | None = None
    """Number of prompts that were tried on these examples, where it is one of them."""
    stored: bool = False
    """Whether nobody was asked: a file that was changed would be another incumbent by its name."""

    @property
    def answers_digest(self) -> str | None:
        """What tells stored answers from others; None where it was asked."""
        if not self.stored:
            return None
        return digest(*(f"{name} {score!r}" for name, score in sorted(self.scores.items())))


def result_beside(
    claim: Claim,
    values: Scores,
    incumbent: IncumbentAnswers,
    examples: Sequence[str],
    t: int,
    clusters: Sequence[Hashable] | None = None,
) -> Result:
    """Return the result of a claim that is about the incumbent alone, such as of graded scores.

    Parameters
    ----------
    values : array
        Scores of the candidates, shape (k, n), NaN where there is none.
    examples : sequence of str
        What `incumbent` calls the n examples.
    t : int
        Number of candidates that were ever tried, of which the k may be a part.
    """
    means = np.nanmean(values, axis=1)
    best = int(means.argmax())
    known = ~np.isnan(values[best])
    beaten = _compared(claim, values, clusters, examples, incumbent, t, best, tree=False)
    holds = not above(beaten.p, claim.levels(t)["incumbent_p"])
    right = bool(np.isin(values[best][known], (0.0, 1.0)).all())
    return Result(
        n=int(known.sum()),
        t=t,
        levels=claim.levels(t),
        holds=holds,
        passed=holds,
        best=best,
        best_accuracy=float(means[best]),
        best_correct=int(values[best][known].sum()) if right else None,
        incumbent_p=beaten.p,
        incumbent=beaten.record,
        notes=tuple(beaten.notes),
    )


class Beaten(NamedTuple):
    """What is found of the best prompt beside the incumbent."""

    p: float
    record: BesideIncumbent
    notes: list[Remark]
    """What a reader must know."""


def beside_incumbent(
    claim: Claim,
    answers: Answers,
    incumbent: IncumbentAnswers,
    t: int,
    best: int,
    *,
    tree: bool = False,
) -> Beaten:
    """Compare the best of t prompts with the incumbent, on the examples that both answered.

    Parameters
    ----------
    answers : Answers
        Of the distinct prompts at hand.
    t : int
        As the best of how many it is tested.
    best : int
        Row of the best prompt.
    tree : bool
        Whether t is of all prompts that a search could have tried: those at hand were chosen by
        their answers, so they cannot be drawn anew in place of the others.
    """
    values, examples = answers.values, answers.examples
    return _compared(claim, values, answers.groups, examples, incumbent, t, best, tree=tree)


def _compared(
    claim: Claim,
    values: Scores,
    clusters: Sequence[Hashable] | None,
    examples: Sequence[str],
    incumbent: IncumbentAnswers,
    t: int,
    best: int,
    *,
    tree: bool,
) -> Beaten:
    settings = incumbent.settings
    level = claim.levels(t).get("incumbent_p", DEFAULT_LEVEL)
    found = best_over_incumbent(
        values,
        [incumbent.scores.get(name, np.nan) for name in examples],
        t=max(t, len(values)),
        by=claim.by,
        level=level,
        clusters=clusters,
        test="exact" if tree else settings.test,
        matters=settings.matters,
        best=best,
    )
    record = BesideIncumbent(
        name=incumbent.name,
        digest=incumbent.digest,
        model=incumbent.model,
        model_digest=incumbent.model_digest,
        answers_digest=incumbent.answers_digest,
        accuracy=found.incumbent,
        difference=found.difference,
        low=found.low,
        high=found.high,
        level=level,
        by=claim.by,
        test=found.test,
        of=float(found.t),
        n=found.n,
        units=found.units,
        candidates=len(values),
        alike=len(found.alike),
        needed=found.needed,
        matters=settings.matters,
        chosen_here=incumbent.chosen_here,
    )
    notes = []
    if incumbent.chosen_here is not None:
        notes.append(Remark("incumbent_chosen_here", {"prompts": incumbent.chosen_here}))
    return Beaten(found.p, record, notes)
