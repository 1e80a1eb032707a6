"""Knowledge, label preference, or cannot tell: what answers by label amount to.

The rule, at one level (.05 unless told otherwise):

knowledge
    The best Nvr-X score is above that of the best of t random guessers (p <= level): of those who
    guess every presentation anew and, where examples are shown in several orders, of those who keep
    to one choice of each example. Where they are shown as they are, it is also above that of the
    same answers with shuffled right answers. And the claim whose labels these are holds; and where
    a label preference is established, as below, the p of shuffled right answers (of guessers, where
    examples are shown in several orders) is at most level / 10.
label preference
    The score is not above these, and the answers of the most accurate prompt are spread over the
    labels more unevenly than guessing, and knowing as much as its accuracy shows, explain
    (p <= level).
cannot tell
    Neither.

A model without knowledge or preference is thus called one of the first two in at most about
2 x level of all cases, and a model that is too weak for its n is called neither. A model without
knowledge that prefers a label, as nearly all with random weights do, is said to know in at most
level / 10 of them: with so much against it, one score in twenty that luck lifts proves little. It
is the shuffled right answers that must tell, because a preference pulls the score below that of
guessers, whatever else is known (Mistral-7B on MMLU: .256 against .247, p .02; shuffled 1e-4).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels
from pytest_maxrandom.stats.labels import LabelFinding, needed
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

_NEAR = 1e-12


def preference_p_value(
    answers: NDArray[np.integer],
    gold: Gold,
    choices: Sequence[int],
    *,
    draws: int = 20_000,
    seed: int = 0,
) -> float:
    """P(a model without label preference spreads its answers over the labels as unevenly).

    Such a model knows a share of the answers, estimated from the accuracy, and guesses the others:
    on unbalanced questions it answers unevenly by right. The statistic is Pearson's chi-square of
    the shares of the labels against what that makes expect, its distribution simulated (parametric
    bootstrap, with the share estimated anew from each simulated model: Davison and Hinkley,
    "Bootstrap Methods and their Application", 1997, section 4.2).

    Parameters
    ----------
    answers
        Of one prompt, shape (n,), or (n, m) where every example is shown with its right answer at
        every label; the mean over the presentations of an example then counts as one answer, as
        if they were all answered alike: this can only make the p-value too large. Numbers beyond
        an example's labels are answers that are none of them, and count for nothing.
    gold
        The right label of each example, or several; not looked at where each example is shown
        with its right answer at every label, which makes all labels right equally often.
    choices
        Number of labels of each example.
    draws
        Number of simulated models.
    seed
        Seed of the simulation.

    Returns
    -------
    1 where no answer is a label.

    Raises
    ------
    ValueError
        If no example was evaluated, or the lengths differ.
    """
    shown = np.asarray(answers)
    rights = right_labels(gold)
    if not len(shown) == len(rights) == len(choices):
        raise ValueError(
            f"found answers to {len(shown)} examples, gold of {len(rights)} and choices of "
            f"{len(choices)}"
        )
    once = shown.ndim == 1
    shown = shown.reshape(len(shown), -1)
    if (shown == NOT_EVALUATED).all():
        raise ValueError("no example was evaluated")
    labelled = (shown != NOT_EVALUATED) & (shown < np.array(choices)[:, None])
    kept = np.flatnonzero(labelled.any(axis=1)).tolist()
    if not kept:
        return 1.0
    most = max(choices[i] for i in kept)
    said = np.stack([((shown == label) & labelled).sum(axis=1) for label in range(most)], axis=1)
    shares = (said / np.maximum(labelled.sum(axis=1), 1)[:, None])[kept].mean(axis=0)
    examples = [(tuple(sorted(rights[i])) if once else (), choices[i]) for i in kept]
    right = sum(int(shown[i, 0]) in rights[i] for i in kept) if once else 0
    model = _Model(Counter(examples), most)
    counts, hits = model.simulated(model.known(np.array([right]))[0], draws, seed)
    drawn = model.distance(counts / len(kept), hits)
    as_far = np.sum(drawn >= model.distance(shares[None], np.array([right])) - _NEAR)
    return float(1 + as_far) / (draws + 1)


class _Model:
    """A model without label preference, which knows a share of the answers and guesses the others.

    Parameters
    ----------
    cells
        Right labels (none: all are right equally often) and number of labels of examples, and how
        many examples have them.
    labels
        Most labels of an example.
    """

    def __init__(self, cells: Counter[tuple[tuple[int, ...], int]], labels: int) -> None:
        self._n = cells.total()
        self._chance = sum(size * len(right) / k for (right, k), size in cells.items()) / self._n
        places = np.arange(labels)
        # Of each cell: its size, right labels, and the shares of the labels in guesses and in
        # answers that are known.
        self._cells = [
            (size, [*right], guess, np.isin(places, right) / len(right) if right else guess)
            for (right, k), size in cells.items()
            for guess in [(places < k) / k]
        ]

    def known(self, right: NDArray[np.integer]) -> NDArray[np.float64]:
        """Share of the answers that a model knows which has so many right."""
        above = right / self._n - self._chance
        return np.clip(above / max(1 - self._chance, _NEAR), 0.0, 1.0)

    def simulated(
        self, known: float, draws: int, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Answers by label, shape (draws, labels), and right ones of models that know a share."""
        generator = np.random.default_rng(seed)
        counts = np.zeros((draws, len(self._cells[0][2])), dtype=np.int64)
        hits = np.zeros(draws, dtype=np.int64)
        for size, right, guess, know in self._cells:
            said = generator.multinomial(size, (1 - known) * guess + known * know, draws)
            counts += said
            hits += said[:, right].sum(axis=1)
        return counts, hits

    def distance(
        self, shares: NDArray[np.float64], right: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Chi-square, per example, of each row of shares, given the number of right answers."""
        guess = sum(size * guess for size, _, guess, _ in self._cells) / self._n
        know = sum(size * know for size, _, _, know in self._cells) / self._n
        expected = guess + np.multiply.outer(self.known(right), know - guess)
        distance: NDArray[np.float64] = np.sum((shares - expected) ** 2 / guess, axis=1)
        return distance


def finding(
    p_values: Sequence[float], preference_p: float, level: float, *, claim_holds: bool = True
) -> LabelFinding:
    """Decide by the rule above.

    Parameters
    ----------
    p_values
        Of the best Nvr-X score, by each test that it must pass; the one that is valid whatever
        label is preferred is the last.
    preference_p
        From `preference_p_value`, of the most accurate prompt.
    level
        What they are compared with.
    claim_holds
        Whether the claim whose labels these are holds.
    """
    if above(max(p_values), level):
        return "cannot tell" if above(preference_p, level) else "label preference"
    knows = claim_holds and not above(p_values[-1], needed(preference_p, level))
    return "knowledge" if knows else "cannot tell"
