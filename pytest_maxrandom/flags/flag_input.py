"""What a sweep shows, whatever its origin: all that red flags are found in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.answers import Answers

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Self

    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.notation import Unmet
    from pytest_maxrandom.suite.recorded import Chance


@dataclass(frozen=True, slots=True)
class JudgedScore:
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
class JudgedResult:
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
    impossible : tuple of Unmet
        Parts of the claim that no result could meet; empty where one could.
    score : JudgedScore or None
        The same in the score that the claim is about; None where that is accuracy.
    """

    best: int
    correct: int
    n: int
    passed: bool
    p_max: float | None
    permutation_p: float | None
    level: float
    impossible: tuple[Unmet, ...] = ()
    score: JudgedScore | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class FlagInput(Answers):
    """Answers, and what is declared of them.

    Attributes
    ----------
    t : int
        Number of prompts that the claim counts.
    chance : Fraction
        Mean chance of one guess that the claim counts with.
    declared_chance : Fraction or dict or None
        Chance that is stated, or {number of choices: number of examples}.
    declared_n : int or None
        Number of examples that is stated.
    comparable : bool
        Whether a model could give one label to all examples: it is a text, or a place in a list
        that the model is shown.
    full_texts : int
        (prompt, example) pairs of which a text is exactly as long as the model's context.
    asked : int or None
        Number of prompts that were asked for; None where fewer were to be expected.
    outcome : JudgedResult or None
        None where nothing was judged.
    compared : Compared or None
        The best prompt compared with heuristics; None without texts.
    others : tuple of Answers
        Those of other models, asked the same.
    """

    t: int
    chance: Fraction
    declared_chance: Chance | None = None
    declared_n: int | None = None
    comparable: bool = False
    full_texts: int = 0
    asked: int | None = None
    outcome: JudgedResult | None = None
    compared: Compared | None = None
    others: tuple[Answers, ...] = ()

    def of_prompts(self, rows: list[int]) -> Self:
        """Return what is seen of some prompts, which are named by their rows."""
        outcome = self.outcome
        if outcome is not None:
            outcome = replace(outcome, best=rows.index(outcome.best))
        return replace(super().of_prompts(rows), outcome=outcome)
