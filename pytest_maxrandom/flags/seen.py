"""What a sweep shows, whatever its origin: all that red flags are found in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.suite.recorded import Chance


@dataclass(frozen=True, slots=True)
class ScoreOutcome:
    """What prompts and constant answers reach in another score than accuracy.

    Attributes
    ----------
    name : str
        What the score is called: "balanced accuracy".
    best : float
        Score of the best prompt.
    constants : tuple of float
        Per label the score of giving it to all examples.
    """

    name: str
    best: float
    constants: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the verdict says, before red flags are looked at.

    Attributes
    ----------
    best : int
        Row of the best prompt.
    correct, n : int
        Its right answers, and the number of examples that it was scored on.
    passed : bool
        Whether all that is claimed holds.
    p_max, permutation_p : float or None
        None where they were not computed.
    level : float
        What the claim compares p_max with; .05 where it does not.
    impossible : tuple of str
        Why no result could pass; empty where one could.
    score : ScoreOutcome or None
        The same in the score that the claim is about; None where that is accuracy.
    """

    best: int
    correct: int
    n: int
    passed: bool
    p_max: float | None
    permutation_p: float | None
    level: float
    impossible: tuple[str, ...] = ()
    score: ScoreOutcome | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Seen:
    """The answers of prompts to n examples, and what is declared of them.

    Attributes
    ----------
    model : str
        Name of the model.
    shots, t : int
        Demonstrations per prompt; number of prompts that the claim counts.
    prompts, identities : tuple of str
        Per prompt (row) its name, and what makes it the prompt that it is: rows may repeat one.
    examples : tuple of str
        Ids, length n.
    correct, evaluated : ndarray of bool
        Shape (rows, n): whether the answer is right; whether there is one.
    chance : Fraction
        Mean chance of one guess that the claim counts with.
    choices : tuple of int or None
        Per example how many choices it has by the data itself; None where that does not tell.
    choices_shown : bool
        Whether the data has those choices themselves, not their number only.
    declared_chance : Fraction or dict or None
        Chance that is stated, or {number of choices: number of examples}.
    declared_n : int or None
        Number of examples that is stated.
    answers : ndarray of int or None
        Shape (rows, n): the label of each answer, NOT_EVALUATED (-1) where there is none.
    gold : tuple of frozenset of int or None
        Per example the labels of its right choices.
    labels : tuple of str
        What labels are called where they are texts; empty where they are places of choices.
    comparable : bool
        Whether a model could give one label to all examples: it is a text, or a place in a list
        that the model is shown.
    log_likelihoods : ndarray of float or None
        Shape (rows, n, most choices), in nats; NaN where an example has fewer choices or one that
        repeats the text of another.
    labelled : ndarray of bool or None
        Per prompt whether its log-likelihoods are those of whole labels: letters, numbers, or
        short texts that all examples share. None where that is not known.
    inputs : tuple of str or None
        The texts of the examples.
    copies : tuple of int or None
        Per example the place of the first one with the same text and choices.
    alphabetical : tuple of frozenset of int or None
        Per example the places of its right choices among all its choices in alphabetical order:
        the same for the same answer wherever choices are the same, and by chance elsewhere.
    offered : tuple of tuple of str or None
        Per example its choices in alphabetical order.
    clusters : tuple of str or None
        Per example the stated cluster; None where none is stated of any.
    full_texts : int
        (prompt, example) pairs of which a text is exactly as long as the model's context.
    asked : int or None
        Number of prompts that were asked for; None where fewer were to be expected.
    outcome : Outcome or None
        None where nothing was judged.
    compared : Compared or None
        The best prompt beside heuristics; None where no texts are at hand.
    others : tuple of Seen
        What other models showed, asked the same.
    """

    model: str
    shots: int
    t: int
    prompts: tuple[str, ...]
    identities: tuple[str, ...]
    examples: tuple[str, ...]
    correct: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    chance: Fraction
    choices: tuple[int, ...] | None = None
    choices_shown: bool = True
    declared_chance: Chance | None = None
    declared_n: int | None = None
    answers: NDArray[np.int64] | None = None
    gold: tuple[frozenset[int], ...] | None = None
    labels: tuple[str, ...] = ()
    comparable: bool = False
    log_likelihoods: NDArray[np.float64] | None = None
    labelled: NDArray[np.bool_] | None = None
    inputs: tuple[str, ...] | None = None
    copies: tuple[int, ...] | None = None
    alphabetical: tuple[frozenset[int], ...] | None = None
    offered: tuple[tuple[str, ...], ...] | None = None
    clusters: tuple[str | None, ...] | None = None
    full_texts: int = 0
    asked: int | None = None
    outcome: Outcome | None = None
    compared: Compared | None = None
    others: tuple[Seen, ...] = ()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of examples that each prompt was scored on, shape (rows,)."""
        sizes: NDArray[np.int64] = self.evaluated.sum(axis=1)
        return sizes

    def distinct(self) -> Seen:
        """Return what is seen without prompts that repeat an earlier one."""
        first: dict[str, int] = {}
        for place, identity in enumerate(self.identities):
            first.setdefault(identity, place)
        kept = [*first.values()]
        if len(kept) == len(self.identities):
            return self
        return replace(
            self,
            prompts=tuple(self.prompts[place] for place in kept),
            identities=tuple(first),
            correct=self.correct[kept],
            evaluated=self.evaluated[kept],
            answers=None if self.answers is None else self.answers[kept],
            log_likelihoods=(None if self.log_likelihoods is None else self.log_likelihoods[kept]),
            labelled=None if self.labelled is None else self.labelled[kept],
            outcome=(
                None
                if self.outcome is None
                else replace(self.outcome, best=kept.index(self.outcome.best))
            ),
        )
