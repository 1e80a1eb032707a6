"""What made-up sweeps show."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.flags import Flag, JudgedAnswers
from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.record.result import Result
from pytest_maxrandom.reports.red_flags import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def seen(correct: ArrayLike, **given: Any) -> JudgedAnswers:
    """Return what is seen where only right and wrong are known, and what is given besides."""
    right = np.asarray(correct, dtype=np.bool_)
    t, n = right.shape
    usual: dict[str, Any] = {
        "model": "m",
        "shots": 0,
        "t": t,
        "prompts": tuple(map(str, range(t))),
        "identities": tuple(f"id {place}" for place in range(t)),
        "examples": tuple(f"e{place}" for place in range(n)),
        "evaluated": np.ones((t, n), dtype=np.bool_),
        "chance": Fraction(1, 4),
    }
    usual |= {"correct": right} | given
    usual["others"] = tuple(other.read for other in usual.get("others", ()))
    of_answers = {each.name for each in fields(Answers)}
    read = Answers(**{name: usual.pop(name) for name in {*usual} & of_answers})
    return JudgedAnswers(read=read, **usual)


def answered(answers: NDArray[np.int64], gold: Sequence[int], **given: Any) -> JudgedAnswers:
    """Return what is seen of answers (-1: not evaluated) with the labels A, B, ..."""
    right = np.asarray(gold)
    m = given.pop("m", 4)
    usual: dict[str, Any] = {
        "evaluated": answers >= 0,
        "answers": answers,
        "gold": tuple(frozenset([label]) for label in right.tolist()),
        "labels": tuple("ABCDEFGH"[:m]),
        "comparable": True,
        "chance": Fraction(1, m),
    }
    return seen(answers == right, **(usual | given))


def result(correct: int, n: int, **given: Any) -> Result:
    """Return the result of a claim that passes."""
    usual: dict[str, Any] = {
        "t": 1,
        "levels": {},
        "holds": True,
        "passed": True,
        "standard_baseline": 0.25,
        "max_random_baseline": 0.25,
        "p_max": 1e-4,
        "permutation_p": 1e-4,
    }
    return Result(**(usual | {"best_correct": correct, "n": n} | given))


def worded(flag: Flag) -> str:
    """Return the sentence of a flag."""
    return sentence(RedFlag(flag.kind, "warn", parameters=dict(flag.parameters)))
