"""Searches that incumbents, passages or a test set decide: guessers do not pass, the better do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.opening import held_out
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Shuffle, permuted
from pytest_maxrandom.stats.score_pairs import ScorePair
from pytest_maxrandom.sweeps.predictions import PromptPredictions
from pytest_maxrandom.tasks.task import Example
from tests.proof.scale import LEVEL, least, most, scaled
from tests.proof.test_searches import (
    CLAIM,
    FEEDBACK,
    FEW_RUNS,
    NONE_CAN,
    PROMPT,
    RUNS,
    STEPS,
    N,
    Rule,
    climb,
    guessers,
    labels,
    vote,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.stats.search import Feedback
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof


def beats(
    tried: NDArray[np.bool_],
    incumbent: NDArray[np.bool_],
    by: Rule | int,
    groups: NDArray[np.int64] | None = None,
) -> bool:
    """Judge the best of some prompts beside an incumbent; both are right or wrong on each."""
    correct = tried.sum(axis=1)
    prompts = by if isinstance(by, int) else by.prompts(by.found(correct))
    if prompts is None:
        return False
    best = tried[int(correct.argmax())].astype(float)
    pair = ScorePair(best - incumbent, np.arange(N) if groups is None else groups)
    return bool(prompts * pair.p_greater(0, LEVEL / prompts) <= LEVEL)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[1:3])
def test_climbs_that_are_no_better_than_the_incumbent_do_not_beat_it(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """All are right on .7; the incumbent is as lucky as anybody. By t alone climbs do beat it."""
    rule, generator = Rule.of(feedback, steps), np.random.default_rng(steps)
    found = by_t = 0
    right, said = np.zeros(N, dtype=np.int64), 0.7  # an answer of 0 is right
    for run in range(RUNS):
        incumbent = generator.random(N) < said
        tried = climb(generator, right, feedback, steps, said) == 0
        found += beats(tried, incumbent, rule)
        by_t += run < FEW_RUNS and beats(tried, incumbent, steps)
    columns, shares = f"{STEPS} | pass | by t", (found / RUNS, by_t / FEW_RUNS)
    measured("Climbs beside an incumbent", columns, f"{feedback} | {steps}", *shares)
    assert found <= most(RUNS)
    if steps == 200:
        assert by_t > most(FEW_RUNS)


PASSAGES = np.arange(N) // 4
"""Four questions share a passage; their answers follow it in .7 of cases."""


def climb_of_passages(
    generator: np.random.Generator,
    gold: NDArray[np.int64],
    feedback: Feedback,
    steps: int,
    said: float,
) -> NDArray[np.int64]:
    """Return the answers of a climb that answers whole passages anew."""
    tried: list[NDArray[np.int64]] = []
    best = said_of_passages(generator, said)
    while len(tried) < steps:
        anew = generator.choice(N // 4, int(generator.integers(2, 7)), replace=False)
        changed = said_of_passages(generator, said)
        changed = np.where(np.isin(PASSAGES, anew), changed, best) if tried else best
        tried.append(changed)
        if feedback == "none" or (changed == gold).sum() > (best == gold).sum():
            best = changed
    return np.array(tried)


def said_of_passages(generator: np.random.Generator, said: float) -> NDArray[np.int64]:
    """Return answers, 0 to a share of questions, most as the others of their passage."""
    shared, own = generator.random(N // 4)[PASSAGES], generator.random(N)
    return (np.where(generator.random(N) < 0.7, shared, own) >= said).astype(np.int64)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_climbs_of_guessers_that_answer_passages_do_not_pass(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """Right answers follow passages, and so do answers.

    A search that was told something passes by no result, unless it is beside an incumbent, whose
    test knows passages. One that was told nothing is judged by shuffling whole passages.
    """
    shares: list[float | str] = []
    for said in (0.5, 0.7):
        generator, found = np.random.default_rng([steps, round(10 * said)]), 0
        runs = scaled(1000, 10) if feedback == "none" else 1
        for _ in range(runs):
            gold = said_of_passages(generator, said)
            tried = climb_of_passages(generator, gold, feedback, steps, said)
            groups = [f"{each}" for each in PASSAGES]
            shuffle = Shuffle(tried, gold.tolist(), (2,) * N, (1,) * N, groups)
            if feedback == "none":
                correct = int((tried == gold).sum(axis=1).max())
                unmet = CLAIM.unmet(guessers(steps), correct)
                found += not unmet and permuted(shuffle, steps).p <= LEVEL
            else:
                assert permuted_p_of_tree(shuffle, 0, steps) == 1
        shares.append(found / runs if feedback == "none" else NONE_CAN)
        assert found <= most(runs)
    rule, generator, beside = Rule.of(feedback, steps), np.random.default_rng(steps), 0
    right = np.zeros(N, dtype=np.int64)
    can = rule.can_pass and feedback != "none"
    runs = scaled(1000, 20)
    for _ in range(runs if can else 0):
        incumbent = said_of_passages(generator, 0.7) == 0
        tried = climb_of_passages(generator, right, feedback, steps, 0.7)
        beside += beats(tried == 0, incumbent, rule, PASSAGES)
    measured(
        "Climbs on passages",
        f"{STEPS} | labels 50/50 | labels 70/30 | beside an incumbent",
        f"{feedback} | {steps}",
        *shares,
        beside / runs if can else "as any claim" if feedback == "none" else NONE_CAN,
    )
    assert beside <= most(runs)


@pytest.mark.parametrize(
    ("feedback", "steps", "knows", "power"),
    [("none", 200, 0.85, 0.6), ("accept", 20, 0.9, 0.9), ("accept", 200, 0.9, 0.4)],
)
def test_who_is_better_than_the_incumbent_beats_it(
    feedback: Feedback, steps: int, knows: float, power: float, measured: Measured
) -> None:
    rule, generator, found = Rule.of(feedback, steps), np.random.default_rng(steps), 0
    for _ in range(FEW_RUNS):
        tried = generator.random((steps, N)) < knows
        found += beats(tried, generator.random(N) < 0.7, rule)
    named = f"{feedback} | {steps} | {knows}"
    columns = f"{STEPS} | right on | pass"
    measured("Searches that are better than an incumbent", columns, named, found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)


@pytest.mark.parametrize(("knows", "power"), [(0.5, None), (0.75, 0.99)])
def test_the_test_set_judges_what_was_told_of_answers(
    knows: float, power: float | None, measured: Measured
) -> None:
    """The best prompt of a climb on answers, on as many questions that nobody saw."""
    generator, found = np.random.default_rng(7), 0
    runs = RUNS if power is None else FEW_RUNS
    for _ in range(runs):
        gold = labels(generator)
        found += on_test_set(np.where(generator.random(N) < knows, gold, 1 - gold), gold) <= LEVEL
    columns = "feedback | right on | pass"
    measured("The test set after a search", columns, f"answers | {knows}", found / runs)
    assert found <= most(runs) if power is None else found >= least(runs, power)


@pytest.mark.parametrize("openings", [10, 20])
def test_a_test_set_that_is_opened_again_decides_nothing(openings: int, measured: Measured) -> None:
    """A vote over what openings told: only the first one decides; p times openings is fooled."""
    generator, first, voted = np.random.default_rng(openings), 0, 0
    for run in range(RUNS):
        gold = labels(generator)
        tried = vote(generator, gold, "score", openings)
        first += on_test_set(tried[0], gold) <= LEVEL
        voted += run < FEW_RUNS and on_test_set(tried[-1], gold, openings=openings) <= LEVEL
    shares = first / RUNS, voted / FEW_RUNS
    columns = "openings | the first alone | p times openings"
    measured("Test sets opened again", columns, f"{openings}", *shares)
    assert first <= most(RUNS)
    assert voted > most(FEW_RUNS)


def on_test_set(answers: NDArray[np.int64], gold: NDArray[np.int64], openings: int = 1) -> float:
    """Return the p of a prompt on as many questions that nobody has seen."""
    examples = tuple(
        Example(f"e{i}", f"question {i}", ("Yes", "No"), (one,))
        for i, one in enumerate(gold.tolist())
    )
    chosen = tuple(answers.tolist())
    answered = PromptPredictions(PROMPT, examples, (), (), chosen, 0, ())
    p = held_out(answered, openings=openings).p
    assert p is not None
    return p
