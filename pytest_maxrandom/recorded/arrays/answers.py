"""What the answers of a sweep in an archive are, and whether its arrays agree on it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.arrays.arrays import Arrays

_MOST_CHOICES = 1_000_000
"""Numbers from here on are no choices, but were never filled in."""


def read_answers(
    arrays: Arrays, prompts: tuple[str, ...], examples: tuple[str, ...], **whose: Any
) -> Answers:
    """Read the answers of prompts to examples, given their ids.

    Parameters
    ----------
    **whose
        What else is known of them: the other fields of `Answers`.

    Raises
    ------
    RecordedError
        If an array is missing, is not as expected, or contradicts another.
    """
    reader = _Reader(arrays, prompts, examples)
    answers, gold, scores = reader.answers(), reader.gold(), reader.scores()
    evaluated = reader.flags("evaluated", None if answers is None else answers >= 0)
    right = None
    if answers is not None and gold is not None:
        right = hits(answers, gold, np.arange(len(gold)))
    correct = reader.flags("correct", right)
    choices = reader.choices(scores, evaluated)
    if choices is not None:
        reader.check_choices(choices, answers, gold, scores, evaluated)
    return Answers(
        prompts=prompts,
        examples=examples,
        correct=correct,
        evaluated=evaluated,
        chances=None if choices is None else _chances(choices, gold),
        answers=answers,
        gold=gold,
        labels=_labels(answers, gold, choices),
        log_likelihoods=scores,
        choices_counted=choices is not None and scores is None,
        **whose,
    )


class _Reader:
    """Reads arrays, and names prompts and examples in messages."""

    def __init__(self, arrays: Arrays, prompts: Sequence[str], examples: Sequence[str]) -> None:
        self._arrays = arrays
        self._prompts = prompts
        self._examples = examples
        self._shape = (len(prompts), len(examples))

    def _cell(self, place: Sequence[int] | NDArray[np.intp]) -> str:
        """Name an example, or a prompt and an example."""
        example = f"example {self._examples[place[-1]]!r}"
        return example if len(place) == 1 else f"prompt {self._prompts[place[0]]!r} and {example}"

    def _numbers(self, name: str, shape: tuple[int, ...], least: int) -> NDArray[np.int64]:
        numbers = self._arrays.integers(name, shape)
        wrong = np.argwhere((numbers < least) | (numbers >= _MOST_CHOICES))
        if len(wrong):
            raise self._arrays.error(
                name,
                f"found {numbers[tuple(wrong[0])]} for {self._cell(wrong[0])}, expected a number "
                f"from {least} on (below {_MOST_CHOICES})",
            )
        return numbers

    def answers(self) -> NDArray[np.int64] | None:
        """Return the answers, shape (t, n)."""
        if "answers" not in self._arrays:
            return None
        return self._numbers("answers", self._shape, NOT_EVALUATED)

    def gold(self) -> tuple[frozenset[int], ...] | None:
        """Return the right choices of each example."""
        if "gold" not in self._arrays:
            return None
        n = self._shape[1:]
        if self._arrays.dimensions("gold") == 1:
            return tuple(frozenset([right]) for right in self._numbers("gold", n, 0).tolist())
        marked = self._arrays.of_kind("gold", 2, "b", "booleans").astype(np.bool_)
        self._arrays.require("gold", marked.shape[:1], n)
        gold = tuple(frozenset(np.flatnonzero(row).tolist()) for row in marked)
        if frozenset() in gold:
            raise self._arrays.error(
                "gold",
                f"{self._cell([gold.index(frozenset())])} has no right choice; give it one, or "
                "leave it out",
            )
        return gold

    def scores(self) -> NDArray[np.float64] | None:
        """Return the log-likelihoods, shape (t, n, most choices)."""
        name = "log_likelihoods"
        if name not in self._arrays:
            return None
        scores = self._arrays.of_kind(name, 3, "f", "floats").astype(np.float64)
        self._arrays.require(name, scores.shape[:2], self._shape)
        infinite = np.argwhere((scores == np.inf).any(axis=2))
        if len(infinite):
            raise self._arrays.error(
                name,
                f"found infinity for {self._cell(infinite[0])}, expected numbers of nats (NaN "
                "where there is no such choice)",
            )
        return scores

    def flags(self, name: str, computed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return truth values as they are given, as they follow from the answers, or as both."""
        if computed is None:
            return self._arrays.flags(name)
        if name not in self._arrays:
            return computed
        given = self._arrays.flags(name)
        self._arrays.require(name, given.shape, self._shape)
        different = np.argwhere(given != computed)
        if len(different):
            raise self._arrays.error(
                name,
                f"found {given[tuple(different[0])]} for {self._cell(different[0])}, where the "
                f"answer says {computed[tuple(different[0])]}; write all arrays from the same run",
            )
        return given

    def choices(
        self, scores: NDArray[np.float64] | None, evaluated: NDArray[np.bool_]
    ) -> NDArray[np.int64] | None:
        """Return each example's number of choices, as it is given or as the scores tell it."""
        if "choices" in self._arrays:
            return self._numbers("choices", self._shape[1:], 2)
        if scores is None or not evaluated.any(axis=0).all():
            return None
        known = (~np.isnan(scores)).sum(axis=2)
        choices: NDArray[np.int64] = known[evaluated.argmax(axis=0), np.arange(self._shape[1])]
        few = np.flatnonzero(choices < 2)
        if len(few):
            raise self._arrays.error(
                "log_likelihoods",
                f"found {choices[few[0]]} numbers for {self._cell(few[:1])}, expected at least 2 "
                "choices",
            )
        return choices

    def check_choices(
        self,
        choices: NDArray[np.int64],
        answers: NDArray[np.int64] | None,
        gold: tuple[frozenset[int], ...] | None,
        scores: NDArray[np.float64] | None,
        evaluated: NDArray[np.bool_],
    ) -> None:
        """Refuse answers, gold or scores of choices that an example has not."""
        if answers is not None:
            above = np.argwhere(answers >= choices)
            if len(above):
                raise self._arrays.error(
                    "answers",
                    f"found {answers[tuple(above[0])]} for {self._cell(above[0])}, which has the "
                    f"choices 0 to {choices[above[0][1]] - 1}",
                )
        for example, right in enumerate(gold or ()):
            if max(right) >= choices[example] or len(right) == choices[example]:
                raise self._arrays.error(
                    "gold",
                    f"found {', '.join(map(str, sorted(right)))} for {self._cell([example])}, "
                    f"which has the choices 0 to {choices[example] - 1}, of which not all may be "
                    "right",
                )
        if scores is not None:
            slots = np.arange(max(scores.shape[2], int(choices.max())))
            known = np.zeros((*self._shape, len(slots)), dtype=np.bool_)
            known[:, :, : scores.shape[2]] = ~np.isnan(scores)
            expected = slots < choices[:, np.newaxis]
            wrong = np.argwhere(evaluated & (known != expected).any(axis=2))
            if len(wrong):
                raise self._arrays.error(
                    "log_likelihoods",
                    f"found numbers at {np.flatnonzero(known[tuple(wrong[0])]).tolist()} for "
                    f"{self._cell(wrong[0])}, which has the choices 0 to "
                    f"{choices[wrong[0][1]] - 1}; give a number for each, and NaN behind them",
                )


def _chances(
    choices: NDArray[np.int64], gold: Sequence[frozenset[int]] | None
) -> tuple[Fraction, ...]:
    right = [1] * len(choices) if gold is None else [*map(len, gold)]
    return tuple(map(Fraction, right, choices.tolist()))


def _labels(
    answers: NDArray[np.int64] | None,
    gold: Sequence[frozenset[int]] | None,
    choices: NDArray[np.int64] | None,
) -> tuple[str, ...]:
    """Call labels by their numbers."""
    if answers is None and gold is None:
        return ()
    most = 0 if choices is None else int(choices.max())
    if answers is not None:
        most = max(most, int(answers.max()) + 1)
    if gold is not None:
        most = max(most, 1 + max(map(max, gold)))
    return tuple(map(str, range(most)))
