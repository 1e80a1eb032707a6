"""What the arguments of hand-written claims mean, or which of them is wrong."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.chances import chance_groups, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.incumbents import IncumbentTest

    RowOfScores: TypeAlias = ArrayLike | Mapping[str, float | Sequence[float]]
    Scores: TypeAlias = ArrayLike | Mapping[str, RowOfScores]


NO_COMPARISON = (
    "a test claims one thing of one model; `judge_each(results, compare='all')` tells which of "
    "several models may be the best, and so does `compare: all` in a suite"
)
"""Why the fixture has no table of models."""


def refuse(why: str, **given: object) -> None:
    """Refuse arguments of the other kind of check."""
    for name, value in given.items():
        if value is not None:
            raise TypeError(f"{name} {why}")


class Others(NamedTuple):
    """What scores are compared with, a stated baseline aside, as a test names it."""

    control: RowOfScores | None
    control_p: object
    incumbent: RowOfScores | None
    incumbent_p: object
    by: object
    test: IncumbentTest | None
    matters: object


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse arguments that there are not, and name the one that may be meant."""
    names = [name for name in known if name != "unknown"]
    for name in given:
        if name == "compare":
            raise TypeError(f"compare: {NO_COMPARISON}")
        whole = (f"; did you mean {each!r}?" for each in names if each.startswith(name))
        near = next(whole, did_you_mean(name, names))
        raise TypeError(f"there is no argument {name!r}{near} (arguments: {', '.join(names)})")


def claim_of_scores(beats: object, baseline_p: object, others: Others) -> Claim:
    """Return what is claimed of scores."""
    above = None if beats is None else open_share("beats", beats)
    by = _difference("by", others.by)
    if others.incumbent is None:
        why = "is about the incumbent, which is not given; give `incumbent`, or leave it out"
        refuse(why, by=by or None, test=others.test)
    if above is None and others.control is None and others.incumbent is None:
        return Claim.of(None, untold=Remark("only_scores"))

    def level_of(key: str, level: object, other: object) -> float | None:
        return None if other is None else open_share(key, level)

    return Claim(
        baseline=above,
        by=by,
        baseline_p=level_of("baseline_p", baseline_p, above),
        control_p=level_of("control_p", others.control_p, others.control),
        incumbent_p=level_of("incumbent_p", others.incumbent_p, others.incumbent),
    )


def scored(
    claim: Claim,
    scores: Scores,
    t: int | None,
    others: Others,
    clusters: Sequence[Hashable] | Mapping[str, Hashable] | None,
    aggregate: str | Mapping[str, int] | None,
    look: Callable[[Answers, IncumbentAnswers], Claim],
) -> Result:
    """Judge scores beside a stated baseline, a control, an incumbent, or several of them.

    Parameters
    ----------
    look : callable
        Counts a look beside the incumbent, and returns the claim at the level of that look.
    """
    from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
    from pytest_maxrandom.claims.scored import assess_scores

    if others.test not in (None, "exact", "resampled"):
        raise ValueError(f"test must be 'exact' or 'resampled', found {others.test!r}")
    answers = answers_of("scores", scores, clusters, aggregate)
    settings = others.test, open_share("matters", others.matters)
    incumbent, control = (
        None if row is None else scores_beside(name, row, answers, *how)
        for name, row, how in (
            ("incumbent", others.incumbent, settings),
            ("control", others.control, ()),
        )
    )
    tried = _tried(t, answers)
    if incumbent is not None:
        claim = look(answers, incumbent)
    return assess_scores(claim, answers, tried, incumbent, control)


def _tried(t: object, answers: Answers) -> int:
    least = len(answers.prompts)
    return least if t is None else whole_number("t", t, least)


def _difference(name: str, value: object) -> float:
    """Return a difference of scores, from 0 to below 1."""
    bound = float(value) if isinstance(value, float | Real) else math.nan
    if not 0 <= bound < 1:
        raise ValueError(
            f"{name} must be a difference of scores, from 0 to below 1, found {value!r}"
        )
    return bound


def open_share(name: str, value: object) -> float:
    """Return a number above 0 and below 1."""
    bound = float(value) if isinstance(value, float | Real) else math.nan
    if not 0 < bound < 1:
        raise ValueError(f"{name} must be a number above 0 and below 1, found {value!r}")
    return bound


def claim_of_counts(p_max: object, beats: object) -> Claim:
    """Return what is claimed of counts of right answers."""
    if isinstance(beats, float):
        raise ValueError(
            "beats with a number is about scores, which are not given; give `scores`, or "
            "'max_random' or 'standard'"
        )
    if beats is not None and not (isinstance(beats, str) and beats in ("max_random", "standard")):
        raise ValueError(f"beats must be 'max_random' or 'standard', found {beats!r}")
    if p_max is None:
        if beats is None:
            return Claim.of(None, untold=Remark("only_counts"))
        return Claim(beats=beats)
    return Claim(open_share("p_max", p_max), beats)


def guessers(n: object, chance: Chance | None, t: object) -> Guessers:
    """Return the guessers that counts are compared with."""
    if chance is None:
        raise TypeError("give best_correct, n, t and chance, or the scores of each prompt")
    examples, prompts = whole_number("n", n, 1), whole_number("t", t, 1)
    for value, _ in chance_groups(chance, examples):
        if not 0 < value < 1:
            raise ValueError(
                f"chance must be above 0 and below 1, found {value}: with a single choice there is "
                "nothing to guess, and with several a guess may be right"
            )
    return Guessers.alike(examples, chance, prompts)


def right_answers(name: str, value: object, n: int) -> int:
    """Return a number of right answers, which is no accuracy."""
    if isinstance(value, float) and 0 < value < 1:
        raise TypeError(
            f"{name} must be a number of right answers, found {value!r}: of n = {n} examples, an "
            f"accuracy of {value!r} is {name}={round(value * n)}"
        )
    return whole_number(name, value, 0, n)


def text(name: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, found {value!r} ({type(value).__name__})")
    return value
