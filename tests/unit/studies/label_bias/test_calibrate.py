"""Scores without the labels' prior: what was added to every label is found and taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom

from pytest_maxrandom.stats.labels.priors import NoPrior
from pytest_maxrandom.studies.label_bias.evaluate import contextual, pride
from pytest_maxrandom.studies.label_bias.interactions import further, rotations
from pytest_maxrandom.sweeps.labels import label
from tests.unit.studies.label_bias.made import at_places, examples, predicted, prompts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

NAMES = list("ABCD")
PRIOR = np.log([0.7, 0.15, 0.1, 0.05])


def evidence(example: Example, share: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What a model knows of the choices, in file order: of a share of examples the right one."""
    generator = np.random.default_rng(int(example.id[1:]))
    known = generator.random() < share
    best = example.right[0] if known else int(generator.integers(len(example.choices)))
    return np.where(np.arange(len(example.choices)) == best, 0.5, 0.0)


def biased(example: Example, share: float = 0.8) -> Sequence[float]:
    """The same with a preference for places, which outweighs it."""
    m = len(example.choices)
    return list(evidence(example, share) + at_places(example, list(PRIOR[:m])))


def unbiased_correct(shown: Sequence[Example]) -> int:
    return sum(int(np.argmax(evidence(e, 0.8))) == e.right[0] for e in shown)


def free(t: int, sizes: Sequence[int] = (4,)) -> list[PromptPredictions]:
    """What prompts say of inputs that say nothing: the prior, in the order of the labels."""
    shown = [e for m in sizes for e in examples(3, m)]
    return predicted(prompts(t), shown, lambda _, e: list(PRIOR[: len(e.choices)]))


def test_content_free_inputs_give_the_preference_which_is_then_gone() -> None:
    shown = examples(80)
    natural = predicted(prompts(3), shown, lambda _, e: biased(e))
    found = contextual(label(shown, by_place=True), NAMES, natural, free(3), t=7)
    assert found.prior == pytest.approx(dict(zip(NAMES, np.exp(PRIOR), strict=True)))
    assert (found.n, found.best_correct) == (80, unbiased_correct(shown))
    assert found.plain_accuracy == natural[0].correct / 80 < found.best_accuracy
    tail = binom.sf(found.best_correct - 1, 80, 0.25)
    assert found.p_max == pytest.approx(-np.expm1(7 * np.log1p(-tail)), rel=1e-9)
    counts = np.arange(81)
    reached = 1 - binom.cdf(counts - 1, 80, 0.25)[1:] ** 7
    assert found.max_random_baseline == pytest.approx(reached.sum() / 80)


def test_rotated_choices_of_held_back_examples_give_it_too() -> None:
    shown = examples(80)
    held = frozenset(e.id for e in shown[:4])
    asked = prompts(2)
    natural = predicted(asked, shown, lambda _, e: biased(e))
    turned = further(one for e in shown[:4] for one in rotations(e))
    rotated = predicted(asked, turned, lambda _, e: biased(e))
    found = pride(label(shown, by_place=True), NAMES, natural, rotated, held, t=2)
    # In its rotations every content stands at every place once, so that contents cancel out.
    assert found.prior == pytest.approx(dict(zip(NAMES, np.exp(PRIOR), strict=True)))
    assert (found.n, found.best_correct) == (76, unbiased_correct(shown[4:]))


def test_each_number_of_choices_has_its_own_prior() -> None:
    shown = examples(60, [2 + i % 3 for i in range(60)])
    natural = predicted(prompts(1), shown, lambda _, e: biased(e))
    found = contextual(label(shown, by_place=True), NAMES, natural, free(1, (2, 3, 4)), t=1)
    assert found.best_correct == unbiased_correct(shown)
    guesses = np.random.default_rng(0).random((200_000, 60)) < 1 / np.array(
        [len(e.choices) for e in shown]
    )
    by_chance = (guesses.sum(axis=1) >= found.best_correct).mean()
    assert found.p_max == pytest.approx(by_chance, abs=0.001)


def test_a_prompt_may_show_all_held_back_examples_with_the_most_choices() -> None:
    shown = examples(61, [4] + [2] * 60)
    four, two = shown[0], shown[1]
    held = frozenset([four.id, two.id])
    (asked,) = prompts(1)
    natural = predicted([asked], shown[1:], lambda _, e: biased(e))
    rotated = predicted([asked], further(rotations(two)), lambda _, e: biased(e))
    found = pride(label(shown, by_place=True), NAMES, natural, rotated, held, t=1)
    likely = np.exp(PRIOR[:2])
    assert found.prior == pytest.approx(dict(zip("AB", likely / likely.sum(), strict=True)))
    assert (found.n, found.best_correct) == (59, unbiased_correct(shown[2:]))


def test_what_is_left_without_a_difference_is_decided_by_lot() -> None:
    shown = examples(400)
    natural = predicted(prompts(1), shown, lambda _, e: at_places(e, list(PRIOR)))
    found = contextual(label(shown, by_place=True), NAMES, natural, free(1), t=1)
    assert 60 < found.best_correct < 140  # 100 are expected


def test_a_prompt_that_shows_all_held_back_examples_cannot_be_calibrated() -> None:
    shown = examples(10)
    held = frozenset([shown[0].id])
    (asked,) = prompts(1)
    natural = predicted([asked], shown[1:], lambda _, e: biased(e))
    rotated = predicted([asked], [], lambda _, e: biased(e))
    with pytest.raises(NoPrior, match="no prompt was scored on held-back examples and on oth"):
        pride(label(shown, by_place=True), NAMES, natural, rotated, held, t=1)
