"""The best prompt beside an incumbent, a control or a baseline: what is compared, and found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.claims.needed import least_p
from pytest_maxrandom.claims.verdict import BESIDE
from pytest_maxrandom.notation import P_VALUES
from pytest_maxrandom.record import BesideIncumbent, Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.stats.incumbents import best_over_incumbent, least_resampled
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.incumbent import IncumbentSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.stats.incumbents import IncumbentTest

_TIE = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class IncumbentAnswers:
    """What the incumbent, or a control, answered to the examples of a claim."""

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
    rank: int = 1
    """One more than the number of those that scored higher when it became the incumbent: as the
    worst of as many it may have been chosen."""
    place: int = 1
    """Which one it is of those, each a prompt to a model, that nobody had tried here when they were
    named as the incumbent on these examples."""
    stored: bool = False
    """Whether nobody was asked: a file that was changed would be another incumbent by its name."""

    @property
    def factor(self) -> int:
        """By which p is multiplied, as the incumbent may have been chosen from several."""
        return self.rank * (1 if self.place == 1 else self.place * (self.place + 1))

    @property
    def answers_digest(self) -> str | None:
        """What tells stored answers from others; None where it was asked."""
        if not self.stored:
            return None
        return digest(*(f"{name} {score!r}" for name, score in sorted(self.scores.items())))


def rank_among(scores: Mapping[str, float], answers: Answers) -> tuple[int | None, int]:
    """Return from how many prompts some scores may have been chosen, and their rank among them.

    The rank is one more than the prompts with a higher mean. None, and 1, where there is but one
    prompt, or none that scored the same on each example. Scores are by the ids of examples.
    """
    given = [scores.get(name, np.nan) for name in answers.examples]
    same = [np.array_equal(given, row, equal_nan=True) for row in answers.values]
    if len(same) == 1 or not any(same):
        return None, 1
    means = answers.accuracies
    return len(same), 1 + int((means > means[same.index(True)] + _TIE).sum())


class Beside(NamedTuple):
    """What is found of the best prompt beside what it is compared with."""

    p: dict[str, float]
    """P-values, by the keys of a claim."""
    records: dict[str, BesideIncumbent]
    """By the fields of a record."""
    notes: list[Remark]
    """What a reader must know."""

    @property
    def fields(self) -> dict[str, Any]:
        """All but the notes, by the fields of a result."""
        return {**self.p, **self.records}


def beside(
    claim: Claim,
    answers: Answers,
    t: int,
    best: int,
    incumbent: IncumbentAnswers | None = None,
    control: IncumbentAnswers | None = None,
    *,
    tree: bool = False,
) -> Beside:
    """Compare the best of t prompts with the incumbent, the control and the stated baseline.

    Parameters
    ----------
    answers : Answers
        Of the distinct prompts at hand, at least one.
    t : int
        As the best of how many it is tested.
    best : int
        Row of the best prompt.
    incumbent, control : IncumbentAnswers, optional
        Those that there are; they are compared on the examples that both answered.
    tree : bool
        Whether t is of all prompts that a search could have tried: those at hand were chosen by
        their answers, so they cannot be drawn anew in place of the others.
    """
    comparisons = Beside({}, {}, [])
    stated = None if claim.baseline is None else _baseline(answers, claim.baseline)
    for key, other in (("baseline_p", stated), ("control_p", control), ("incumbent_p", incumbent)):
        if other is None:
            continue
        test = "exact" if tree else other.settings.test
        p, record = _compared(claim, key, answers, other, t, best, test)
        comparisons.p[key], comparisons.records[BESIDE[key]] = p, record
        least = _least(claim, key, answers, record, t) if key in claim.levels(t) else 0.0
        if least > record.level:
            values = {"n": record.n, "t": t, "p": least, "level": record.level}
            comparisons.notes.append(Remark("too_few_beside", {"part": P_VALUES[key], **values}))
        if other.chosen_here is not None:
            values = {"prompts": other.chosen_here}
            if other.rank == 1:
                comparisons.notes.append(Remark("incumbent_best_here", values))
            else:
                values["rank"] = other.rank
                comparisons.notes.append(Remark("incumbent_chosen_here", values))
        if other.place > 1:
            values = {"place": other.place, "factor": other.factor}
            comparisons.notes.append(Remark("incumbent_named_in_turn", values))
    return comparisons


def _least(claim: Claim, key: str, answers: Answers, record: BesideIncumbent, t: int) -> float:
    """Return the least p-value that any answers to these examples could have."""
    if record.test == "resampled":
        return least_resampled(int(record.of), record.candidates, record.units)
    units = answers.groups or answers.examples
    return least_p(claim, key, t, units, is_graded=answers.is_graded)


def _baseline(answers: Answers, score: float) -> IncumbentAnswers:
    """Return a stated baseline as something that scores the same on each example."""
    return IncumbentAnswers(
        settings=IncumbentSettings(test="exact"),
        name="the stated baseline",
        digest="",
        model="",
        scores=dict.fromkeys(answers.examples, score),
    )


def _compared(
    claim: Claim,
    key: str,
    answers: Answers,
    other: IncumbentAnswers,
    t: int,
    best: int,
    test: IncumbentTest | None,
) -> tuple[float, BesideIncumbent]:
    settings, level = other.settings, claim.levels(t).get(key, DEFAULT_LEVEL)
    by = claim.by if key == "incumbent_p" else 0.0
    of = max(t, len(answers.prompts))
    comparison = best_over_incumbent(
        answers.values,
        [other.scores.get(name, np.nan) for name in answers.examples],
        # Of all pairs of a candidate and an incumbent that scored no lower than this one. The
        # k-th that is named in turn pays k (k + 1), whose inverses sum to .5 from the second on.
        t=of * other.factor,
        by=by,
        level=level,
        clusters=answers.groups,
        test=test,
        matters=settings.matters,
        best=best,
        stated=key == "baseline_p",
    )
    return comparison.p, BesideIncumbent(
        name=other.name,
        digest=other.digest,
        model=other.model,
        model_digest=other.model_digest,
        answers_digest=other.answers_digest,
        accuracy=comparison.incumbent,
        difference=comparison.difference,
        low=comparison.low,
        high=comparison.high,
        level=level,
        by=by,
        test=comparison.test,
        of=float(of),
        n=comparison.n,
        units=comparison.units,
        candidates=len(answers.prompts),
        alike=[answers.prompts[row] for row in comparison.alike],
        needed=comparison.needed,
        matters=settings.matters,
        chosen_here=other.chosen_here,
        rank=other.rank,
        place=other.place,
        look=claim.look if key == "incumbent_p" else None,
    )
