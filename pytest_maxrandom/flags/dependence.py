"""What red flags of examples that depend on each other look at: who passes, and by which labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.gold import NOT_EVALUATED, membership
from pytest_maxrandom.stats.permutation import max_t_test, permutations_for

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.kind import JudgedAnswers

_SEVERAL = 10
"""Best prompts that are looked at together: what they share is seen in no single one."""
_MOST_LABELS = 20
"""Labels that are told apart, the commonest; more would be texts that are right once."""


class Dependent(NamedTuple):
    """Labels of answers in a claim that passes."""

    answers: NDArray[np.int64]
    """Shape (t, n)."""
    gold: tuple[frozenset[int], ...]
    """Of each example."""
    best: tuple[int, ...]
    """Rows of the best prompts, the best one first."""
    level: float
    """Of the claim's permutation p."""
    strata: NDArray[np.int64]
    """Per example its number of choices; 1 where that is not known."""

    @classmethod
    def of(cls, judged: JudgedAnswers) -> Dependent | None:
        """Return what a passing claim's answers are.

        None where the labels are not known, or the claim is not about accuracy.
        """
        tried, result = judged.answers, judged.passing
        if (
            result is None
            or judged.metric != "accuracy"
            or tried.answers is None
            or tried.gold is None
        ):
            return None
        accuracies = tried.accuracies.copy()
        accuracies[result.best] = 2  # which is the best prompt, whatever it is best in
        best = np.argsort(-accuracies, kind="stable")[:_SEVERAL]
        level = result.levels.get("permutation_p", result.level)
        strata = np.array(tried.choices or (1,) * len(tried.examples))
        return cls(tried.answers, tried.gold, tuple(best.tolist()), level, strata)

    @property
    def classes(self) -> list[Hashable]:
        """Of each example its right answers: what is alike beyond these is no knowledge."""
        return [*zip(self.strata.tolist(), self.gold, strict=True)]

    def right(self) -> NDArray[np.float64]:
        """Mark the right answers, a row for each common label."""
        common = self._common(label for labels in self.gold for label in labels)
        return np.array([[label in labels for labels in self.gold] for label in common], float)

    def answer_marks(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Mark the answers of prompts, a row for each common right label and each of them.

        Where a prompt was not scored, its mark is the mean of the examples of the same class, so
        that which examples were left out is no order of answers.
        """
        part = self.answers[[*rows]]
        common = self._common(label for labels in self.gold for label in labels)
        marks = np.concatenate([part == label for label in common]).astype(float)
        missing = np.tile(part == NOT_EVALUATED, (len(common), 1))
        numbers = {each: number for number, each in enumerate(dict.fromkeys(self.classes))}
        classes = np.array([numbers[each] for each in self.classes])
        for number in range(len(numbers)) if missing.any() else ():
            own, there = classes == number, ~missing & (classes == number)
            means = (marks * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
            marks = np.where(missing & own, means[:, np.newaxis], marks)
        return marks

    @staticmethod
    def _common(labels: Iterable[int]) -> list[int]:
        common = [label for label, _ in Counter(labels).most_common(_MOST_LABELS)]
        # Of two labels, one is where the other is not: it is in the same order.
        return common[:1] if len(common) == 2 else common

    def marked(self) -> NDArray[np.bool_]:
        """Return which labels are right, shape (n, m)."""
        return membership(self.gold, 1 + max(int(self.answers.max()), *map(max, self.gold)))

    def p_value(
        self, *, strata: NDArray[np.int64] | None = None, groups: Sequence[Hashable] | None = None
    ) -> float:
        """Return the max-T p-value where right answers are shuffled otherwise."""
        permutations = permutations_for(self.level)
        return max_t_test(
            self.answers,
            self.gold,
            strata=self.strata if strata is None else strata,
            groups=groups,
            permutations=permutations,
            # With so many exceedances p is above the level, however many more were drawn.
            stop_after=int(self.level * (permutations + 1)),
        ).p_value
