"""Sweeps as recorded results or as a run, judged by the claim that a suite makes by default."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.assessment import assess
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.stated import evidence
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.claims.views import result_of_recorded, views_of_recorded
from pytest_maxrandom.suite.recorded import NpzResults, RecordedModelSpec, RecordedTaskSpec
from tests.proof.sessions import shares
from tests.unit.claims.test_assessment import assessed, example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.suite.claims import Metric
    from tests.proof.guessers import Sweep

_MODEL = RecordedModelSpec(
    name="m", backend="recorded", results=NpzResults(path="m.npz", format="npz")
)


class Verdict(NamedTuple):
    """What a claim comes to; None where it cannot be told."""

    p_max: float | None
    permutation_p: float | None
    passed: bool | None


def verdict_on(sweep: Sweep, *, right_and_wrong: bool = False) -> Verdict:
    """Judge a sweep by the claim that a suite makes by default.

    Red flags can only fail what passes without them, so they are looked for only there.

    Parameters
    ----------
    right_and_wrong : bool
        Whether the results do not tell what was answered.
    """
    claim = _claim(sweep, right_and_wrong=right_and_wrong)
    assert claim.evidence is not None
    null = claim.evidence.null
    assert null is not None
    result = assess(claim.claim, null, null.best, views_of_recorded(claim), thrifty=True)
    if result.passed:
        result = result_of_recorded(claim)
    return Verdict(result.p_max, result.permutation_p, result.passed)


def as_run(sweep: Sweep, metric: Metric = "accuracy") -> ClaimRecord:
    """Judge the same answers as those of a model that was run, where one choice each is right."""
    examples = tuple(
        replace(
            example(place, texts, texts[int(right)]),
            cluster=None if sweep.clusters is None else f"passage {sweep.clusters[place]}",
        )
        for place, (texts, right) in enumerate(zip(sweep.texts, sweep.gold, strict=True))
    )
    number = {each.id: place for place, each in enumerate(examples)}
    return assessed(
        examples,
        lambda each, prompt: int(sweep.answers[prompt, number[each.id]]),
        t=len(sweep.answers),
        metric=metric,
    )


def shares_of(verdicts: Sequence[Verdict]) -> tuple[float, float, float]:
    """Return which share has p_max, permutation_p within the level, and which passed."""
    return shares([each._asdict() for each in verdicts])


def _claim(sweep: Sweep, *, right_and_wrong: bool) -> RecordedClaim:
    judged = evidence(
        answers_of(sweep, right_and_wrong=right_and_wrong),
        RecordedTaskSpec(name="run"),
        by_publication=False,
    )
    return RecordedClaim(
        name="run[m-0shot]",
        line=1,
        xfail=None,
        marks=(),
        model=_MODEL,
        task="run",
        shots=0,
        claim=Claim.of(None, *judged.usual),
        evidence=judged,
    )


def answers_of(sweep: Sweep, *, right_and_wrong: bool = False) -> Answers:
    """Return a sweep as the reader of NumPy archives does."""
    (t, n), right = sweep.answers.shape, sweep.right
    prompts = tuple(map(str, range(t)))
    gold = tuple(frozenset(np.flatnonzero(row).tolist()) for row in right)
    sizes = sweep.sizes.tolist()
    known: dict[str, Any] = {}
    if not right_and_wrong:
        known = {"answers": sweep.answers, "gold": gold, "offered": tuple(sweep.texts)}
    return Answers(
        model="m",
        task="run",
        shots=0,
        prompts=prompts,
        identities=prompts,
        examples=tuple(map(str, range(n))),
        demonstration_ids=((),) * t,
        correct=right[np.arange(n), sweep.answers],
        evaluated=np.ones((t, n), dtype=np.bool_),
        chances=tuple(map(Fraction, map(len, gold), sizes)),
        clusters=None if sweep.clusters is None else tuple(map(str, sweep.clusters.tolist())),
        **known,
    )
