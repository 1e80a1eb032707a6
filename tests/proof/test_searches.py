"""Searches that climb: guessers do not pass whatever they are told, and who knows still does.

A climb keeps its best prompt and answers some questions anew, which is all that a proposer without
knowledge can do. What it keeps depends on what it is told. Climbs begin with answers of their own,
or with those that follow the frequencies of the labels.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.held_out import held_out
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.stats.search import Feedback, Searched, prompts_of
from pytest_maxrandom.sweeps.predictions import PromptPredictions
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout
from tests.proof.scale import LEVEL, least, most, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

N = 200
CLAIM = Claim(p_max=LEVEL, permutation_p=LEVEL)
RUNS = scaled(1000, 40)
FEW_RUNS = scaled(300, 30)
PROMPT = Prompt((), Format(Layout(append_choices=False)))
FEEDBACK: tuple[Feedback, ...] = ("none", "accept", "score", "answers")


def climb(
    generator: np.random.Generator,
    gold: NDArray[np.int64],
    feedback: Feedback,
    steps: int,
    said: float,
) -> NDArray[np.int64]:
    """Return the answers of all prompts of a climb by a proposer that knows nothing.

    Parameters
    ----------
    said : float
        Share of its answers that are 0.
    """
    tried = [(generator.random(N) >= said).astype(np.int64)]
    best, anew = tried[0], np.arange(N)
    for _ in range(steps - 1):
        if feedback == "answers":
            anew = np.flatnonzero(best != gold)
        changed = best.copy()
        places = generator.choice(
            anew, min(len(anew), int(generator.integers(5, 21))), replace=False
        )
        changed[places] = generator.random(len(places)) >= said
        tried.append(changed)
        if feedback == "none" or (changed == gold).sum() > (best == gold).sum():
            best = changed
    return np.unique(tried, axis=0)


def vote(
    generator: np.random.Generator, gold: NDArray[np.int64], feedback: Feedback, steps: int
) -> NDArray[np.int64]:
    """Return answers of their own, and a last prompt that answers as the majority of the good ones.

    The attack that fools whoever counts tries soonest (Blum and Hardt, "The Ladder", 2015).
    """
    tried = (generator.random((steps - 1, N)) >= 0.5).astype(np.int64)
    correct = (tried == gold).sum(axis=1)
    weights = correct - N / 2
    if feedback == "accept":
        weights = np.sign(np.diff(np.maximum.accumulate(correct), prepend=0)).astype(float)
    if feedback == "none":
        weights = np.ones(len(tried))
    last = (weights @ (2 * tried - 1) > 0).astype(np.int64)
    return np.unique(np.vstack([tried, last]), axis=0)


def passes(
    tried: NDArray[np.int64], gold: NDArray[np.int64], feedback: Feedback, steps: int
) -> bool:
    """Judge the best of the prompts by the rule of their search, as a claim of a suite is."""
    others = len(tried) if feedback == "none" else 0
    prompts = prompts_of(others, [Searched(feedback, len(tried), N, steps)])
    if prompts is None:
        return False
    null = Guessers.alike(N, Fraction(1, 2), prompts)
    correct = (tried == gold).sum(axis=1)
    best = int(correct.argmax())
    if CLAIM.unmet(null, int(correct[best])):
        return False
    shuffle = Shuffle(tried, gold, [2] * N, np.ones(N, dtype=np.int64), None)
    return permuted_p_of_tree(shuffle, best, prompts) <= LEVEL


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_guessers_that_climb_do_not_pass(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    shares = []
    for said in (0.5, 0.7):
        generator = np.random.default_rng([steps, round(10 * said)])
        found = 0
        for _ in range(RUNS):
            gold = generator.permutation(np.arange(N) >= round(said * N)).astype(np.int64)
            tried = climb(generator, gold, feedback, steps, said)
            found += passes(tried, gold, feedback, steps)
        assert found <= most(RUNS)
        shares.append(found / RUNS)
    measured("Climbs of guessers that pass", f"{feedback} | {steps}", *shares)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[:3])
def test_guessers_that_vote_do_not_pass(feedback: Feedback, steps: int, measured: Measured) -> None:
    generator, found, by_t = np.random.default_rng(steps), 0, 0
    for _ in range(FEW_RUNS):
        gold = generator.permutation(np.arange(N) >= N // 2).astype(np.int64)
        tried = vote(generator, gold, feedback, steps)
        found += passes(tried, gold, feedback, steps)
        by_t += passes(tried, gold, "none", steps)
    measured("Votes of guessers that pass", f"{feedback} | {steps}", found / FEW_RUNS)
    assert found <= most(FEW_RUNS)
    if feedback == "score":
        assert by_t > most(FEW_RUNS)


@pytest.mark.parametrize("steps", [50, 200])
def test_a_count_of_tries_alone_is_fooled_by_climbs(steps: int, measured: Measured) -> None:
    """What the rules are for: the same climbs, judged as the best of t guessers."""
    generator, found = np.random.default_rng(steps), 0
    for _ in range(FEW_RUNS):
        gold = generator.permutation(np.arange(N) >= N // 2).astype(np.int64)
        tried = climb(generator, gold, "accept", steps, 0.5)
        found += passes(tried, gold, "none", steps)
    measured("Climbs that would pass by t", f"accept | {steps}", found / FEW_RUNS)
    assert found > most(FEW_RUNS)


@pytest.mark.parametrize(
    ("feedback", "steps", "knows", "power"),
    [("none", 200, 0.75, 0.99), ("accept", 20, 0.75, 0.95), ("accept", 20, 0.7, 0.5)],
)
def test_who_knows_passes(
    feedback: Feedback, steps: int, knows: float, power: float, measured: Measured
) -> None:
    generator, found = np.random.default_rng(steps), 0
    for _ in range(FEW_RUNS):
        gold = generator.permutation(np.arange(N) >= N // 2).astype(np.int64)
        tried = np.where(generator.random((steps, N)) < knows, gold, 1 - gold)
        found += passes(tried, gold, feedback, steps)
    measured("Power of searches", f"{feedback} | {steps} | {knows}", found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)


@pytest.mark.parametrize(("knows", "power"), [(0.5, None), (0.75, 0.99)])
def test_the_test_set_judges_what_was_told_of_answers(
    knows: float, power: float | None, measured: Measured
) -> None:
    """The best prompt of a climb on answers, on as many questions that nobody saw."""
    generator, found = np.random.default_rng(7), 0
    runs = FEW_RUNS
    for _ in range(runs):
        gold = generator.permutation(np.arange(N) >= N // 2).astype(int).tolist()
        chosen = [
            one if hit else 1 - one
            for one, hit in zip(gold, generator.random(N) < knows, strict=True)
        ]
        examples = tuple(
            Example(f"e{i}", f"question {i}", ("Yes", "No"), (one,)) for i, one in enumerate(gold)
        )
        answered = PromptPredictions(PROMPT, examples, (), (), tuple(chosen), 0, ())
        p = held_out(answered, openings=1).p
        assert p is not None
        found += p <= LEVEL
    measured("The test set after a search", f"answers | {knows}", found / runs)
    assert found <= most(runs) if power is None else found >= least(runs, power)
