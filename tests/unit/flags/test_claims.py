"""A claim that no result can pass, and why."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pytest_maxrandom.answers import Maximum
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.flags import Flag, JudgedAnswers, find
from pytest_maxrandom.notation import Unmet
from tests.unit.flags.made import result, seen


@pytest.mark.parametrize(("n", "possible"), [(4, False), (8, True)])
def test_a_claim_is_impossible_if_even_all_right_answers_do_not_pass(
    n: int, possible: bool
) -> None:
    """Of ten guessers at a half, one has all of n right with about 10 / 2**n."""
    null = Guessers.alike(n, Fraction(1, 2), 10)
    reasons = Claim(p_max=0.05).impossible(null, None)
    assert (1 - (1 - 0.5**n) ** 10 <= 0.05) == possible == (reasons == [])


def test_a_permutation_p_cannot_be_below_one_in_all_arrangements() -> None:
    null = Guessers.alike(8, Fraction(1, 2), 1)
    claim = Claim(permutation_p=0.05)
    assert claim.impossible(null, 20) == []
    assert claim.impossible(null, None) == []
    assert claim.impossible(null, 10**400) == []  # more than a floating-point number can tell
    assert claim.impossible(null, 19) == [Unmet("permutation_p", arrangements=19)]


def test_it_is_told_with_its_reasons() -> None:
    judged = result(4, 4, passed=False)
    unmet = (Unmet("p_max", p=0.476, level=0.05),)
    (flag,) = find(seen(np.ones((10, 4)), result=judged, impossible=unmet))
    assert flag == Flag(
        "unpassable", {"reasons": [{"part": "p_max", "p": 0.476, "level": 0.05}], "t": 10}
    )


def test_of_a_published_maximum_nothing_else_is_seen() -> None:
    nothing: JudgedAnswers = seen(np.zeros((0, 0)), maximum=Maximum(4, 1, 4), result=result(4, 4))
    assert find(nothing) == []
    never = replace(
        nothing,
        result=result(4, 4, passed=False),
        impossible=(Unmet("beats", baseline="standard"),),
    )
    assert [flag.kind for flag in find(never)] == ["unpassable"]
