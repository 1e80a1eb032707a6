"""Decided sweeps beside whole ones: the same verdict each time, and what it costs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import EXACT, Claim
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.decided import DecidedSweep, run_decided
from pytest_maxrandom.sweeps.executor import Cost, Job, Scored, jobs_of
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout
from tests.goals import Goal
from tests.proof.scale import LEVEL, affordable, scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

N, T, CHOICES = 100, 200, ("Yes", "No")
RUNS = scaled(200, 3)
KINDS: dict[str, list[float]] = {
    "guessers": [0.5] * T,
    "weak": [0.55] * T,
    "one prompt knows": [0.5] * (T // 2) + [0.75] + [0.5] * (T - T // 2 - 1),
    "half are at .6": [0.5, 0.6] * (T // 2),
    "all right in .85": [0.85] * T,
}
"""How often each prompt is right."""
ANSWERS = (Answer((-1.0, -2.0), (1, 1)), Answer((-2.0, -1.0), (1, 1)))
COST = Cost("", "", "", None, None, 0, 0, 0.0, Arithmetic("", "", {}))

_FORM = Format(Layout(append_choices=False))
_EXAMPLES = [Example(f"e{i}", f"question {i}", CHOICES, (i * 7919 % 5 % 2,)) for i in range(N)]
_PROMPTS = [Prompt((Example(f"d{i}", f"shown {i}", CHOICES, (0,)),), _FORM) for i in range(T)]
JOBS = jobs_of([(prompt, _EXAMPLES) for prompt in _PROMPTS], "sum_logprob")
PLACES = {example.id: place for place, example in enumerate(_EXAMPLES)}


class Drawn:
    """Answers what was drawn before."""

    arithmetic = COST.arithmetic
    at_once = 1

    def __init__(self, right: NDArray[np.bool_]) -> None:
        self.right = right

    def check(self, jobs: Iterable[Job]) -> None:
        """Refuse nothing."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Scored]]:
        """Answer rightly where that was drawn."""
        for job in jobs:
            row = self.right[job.number]
            chosen = (
                example.right[0] if row[PLACES[example.id]] else 1 - example.right[0]
                for example in job.examples
            )
            yield job, Scored(tuple((ANSWERS[each],) for each in chosen), COST)


CLAIMS: dict[str, tuple[Claim, bool]] = {
    "the default": (Claim(**EXACT), False),
    "p_max and permutation_p": (Claim(p_max=LEVEL, permutation_p=LEVEL), False),
    "p_max alone": (Claim(p_max=LEVEL), True),
}
"""Claims, and whether a pass is known as soon as one prompt has enough right answers."""


def critical(claim: Claim, t: int) -> int:
    """Return the right answers that a claim needs, after comparing them with SciPy's binomials."""
    least = claim.critical(Guessers.alike(N, Fraction(1, 2), t))
    tail = [1 - stats.binom.cdf(count - 1, N, 0.5) ** t for count in range(N + 1)]
    if claim.p_max is None:
        assert least == int(sum(tail[1:])) + 1  # above what the best of t is expected to reach
    else:
        assert least == next(count for count, p in enumerate(tail) if p <= LEVEL)
    return int(least)


@pytest.mark.parametrize("name", affordable(CLAIMS, lambda name: " and " in name))
@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_is_that_of_the_whole_sweep(kind: str, name: str, measured: Measured) -> None:
    claim, passes = CLAIMS[name]
    generator, least = np.random.default_rng(1), critical(claim, T)
    scored = 0
    for _ in range(RUNS):
        right = generator.random((T, N)) < np.array(KINDS[kind])[:, None]
        holds = right.sum(1).max() >= least
        found = run_decided(JOBS, Goal(least, passes), Drawn(right))
        if isinstance(found, DecidedSweep):
            assert found.passes == holds
            assert found.at_least <= right.sum(1).max() <= found.at_most
            # A pass that needs a permutation p is never early.
            assert passes or not holds
            scored += found.scored
            for prompt, row in zip(found.sweep.predictions, right, strict=False):
                places = [PLACES[example.id] for example in prompt.examples]
                assert prompt.correct == row[places].sum()
        else:
            assert holds
            assert not passes
            assert [each.correct for each in found.predictions] == right.sum(1).tolist()
            scored += N * T
    share = scored / (RUNS * N * T)
    columns = "answers | claim | share"
    measured("Share of the answers that a verdict takes", columns, f"{kind} | {name}", share)
    if kind == "guessers" and claim.p_max is not None:
        assert share <= 0.7
    if kind == "all right in .85" and passes:
        assert share <= 0.01
