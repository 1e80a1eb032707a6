"""Predictions made of given scores, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Scores = Callable[[int, Example], Sequence[float]]
    """Of a prompt's number and an example: one log-likelihood for each choice, in file order."""


def examples(n: int, choices: int | Sequence[int] = 4, seed: int = 0) -> list[Example]:
    """Examples with different texts, and right answers anywhere in the file's order."""
    generator = np.random.default_rng(seed)
    sizes = [choices] * n if isinstance(choices, int) else choices
    return [
        Example(f"e{i}", f"{i}", tuple(f"{i} {k}" for k in range(m)), (int(generator.integers(m)),))
        for i, m in enumerate(sizes)
    ]


def prompts(t: int) -> list[Prompt]:
    """Prompts without demonstrations, in letter format."""
    return [Prompt((), Format(Layout(task_prefix=f"{j}"), "letter")) for j in range(t)]


def predicted(
    asked: Sequence[Prompt], shown: Sequence[Example], scores: Scores
) -> list[PromptPredictions]:
    """The answers that follow from scores."""
    return [
        predict(
            prompt,
            shown,
            [[Answer((value,), (1,)) for value in scores(number, example)] for example in shown],
            "mean_logprob",
        )
        for number, prompt in enumerate(asked)
    ]


def at_places(example: Example, by_place: Sequence[float]) -> list[float]:
    """Values of the places in which choices are shown, in the order of the file."""
    order = shown_order(example)
    return [by_place[order.index(index)] for index in range(len(order))]


def made_answers(
    given: NDArray[np.int64], gold: Sequence[int], names: Sequence[str]
) -> tuple[Answers, NDArray[np.int64] | None]:
    """Answers to examples with all labels, and those of shape (t, n, m) to moved right answers."""
    n = len(gold)
    natural = given if given.ndim == 2 else given[:, np.arange(n), list(gold)]
    prompts = tuple(f"p{j}" for j in range(len(given)))
    answers = Answers(
        model="m",
        shots=0,
        prompts=prompts,
        identities=prompts,
        examples=tuple(map(str, range(n))),
        correct=natural == np.array(gold),
        evaluated=natural != NOT_EVALUATED,
        answers=natural,
        gold=tuple(frozenset([right]) for right in gold),
        labels=tuple(names),
        choices=(len(names),) * n,
    )
    return answers, None if given.ndim == 2 else given
