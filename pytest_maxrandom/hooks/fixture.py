"""Claims in hand-written tests, about sweeps that were run elsewhere."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.errors import CannotTell, ClaimFailed
from pytest_maxrandom.hooks.run import RECORDS
from pytest_maxrandom.record import BY_HAND, ClaimRecord, Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.chances import chance_groups, whole_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import pytest
    from numpy.typing import ArrayLike

    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.chances import Chance


class HandWrittenClaims:
    """What the fixture `maxrandom` gives a test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._records: list[ClaimRecord] = []
        item.stash[RECORDS] = self._records

    def check(
        self,
        *,
        best_correct: int,
        n: int,
        t: int,
        chance: Chance,
        p_max: float | None = None,
        beats: str | None = None,
        task: str = "",
        model: str = "",
        shots: int = 0,
    ) -> Result:
        """Assert that the best of t prompts is beyond the best of t random guessers.

        Parameters
        ----------
        best_correct : int
            Right answers of the best prompt, of `n`; a number of them, not an accuracy.
        chance : float, Fraction, mapping or sequence
            As :class:`pytest_maxrandom.MaxRandomBaseline` takes it, but 0 and 1 are no chances of a
            guess between choices.
        p_max : float, optional
            p_max is at most this.
        beats : str, optional
            "max_random" or "standard": the best accuracy is above that baseline.
        task, model : str, optional
            For the reports.
        shots : int, optional
            For the reports.

        Raises
        ------
        ClaimFailed
            In one line, if the claim does not hold.
        CannotTell
            If neither `p_max` nor `beats` is given: counts alone cannot show the default claim.
        ValueError, TypeError
            In one line, if an argument is outside its domain; the reports say that the claim could
            not be tested, and why.
        """
        __tracebackhide__ = True
        heading = self._heading()
        self._records.append(heading)
        try:
            heading.task, heading.model = _text("task", task) or heading.task, _text("model", model)
            heading.shots = whole_number("shots", shots, 0)
            claim = _claim(p_max, beats)
            heading.asserted = claim.asserted()
            null = _guessers(n, chance, t)
            result = judge(claim, null, _right("best_correct", best_correct, null.n))
        except (TypeError, ValueError) as error:
            heading.message = str(error)
            raise error.with_traceback(None)  # noqa: B904  (from where the user called)
        record = self._records[-1] = result.noted(Remark("counts_only")).record(heading)
        if record.passes_on is not None:
            self._item.user_properties.append(("passes_on", record.passes_on))
        word(record)
        if record.message:
            kind = ClaimFailed if record.cannot_tell is None else CannotTell
            raise kind(record.message)
        return result

    def better(
        self,
        *,
        candidates: ArrayLike,
        incumbent: ArrayLike,
        t: int | None = None,
        by: float = 0.0,
        incumbent_p: float = DEFAULT_LEVEL,
        clusters: Sequence[Hashable] | None = None,
        test: Literal["exact", "resampled"] | None = None,
        matters: float = 0.05,
        task: str = "",
        model: str = "",
        shots: int = 0,
    ) -> Result:
        """Assert that the best of t candidates is better than the incumbent, on the same examples.

        Parameters
        ----------
        candidates : array
            Scores from 0 to 1, shape (candidates, examples): 1 for right and 0 for wrong, or
            anything between; NaN where a candidate was not scored on an example.
        incumbent : array
            Scores of what runs today, shape (examples,).
        t : int, optional
            How many candidates were ever tried, if that is more than are given.
        by : float
            By how much more than this the best one is better.
        incumbent_p : float
            The largest allowed p-value of that.
        clusters : sequence, optional
            Per example what it has in common with others, such as its passage.
        test, matters
            As below `incumbent` in a suite.
        task, model, shots
            For the reports.

        Raises
        ------
        ClaimFailed
            In one line, if the claim does not hold.
        ValueError, TypeError
            In one line, if an argument is outside its domain.
        """
        __tracebackhide__ = True
        heading = self._heading()
        self._records.append(heading)
        try:
            heading.task, heading.model = _text("task", task) or heading.task, _text("model", model)
            heading.shots = whole_number("shots", shots, 0)
            claim = Claim(incumbent_p=_open("incumbent_p", incumbent_p), by=_difference("by", by))
            heading.asserted = claim.asserted()
            result = _beside(claim, candidates, incumbent, t, clusters, test, matters)
        except (TypeError, ValueError) as error:
            heading.message = str(error)
            raise error.with_traceback(None)  # noqa: B904  (from where the user called)
        record = self._records[-1] = result.record(heading)
        word(record)
        if record.message:
            raise ClaimFailed(record.message)
        return result

    def _heading(self) -> ClaimRecord:
        """Return what is known of a further claim."""
        place = len(self._records) + 1
        path, line, _ = self._item.location
        return ClaimRecord(
            id=self._item.nodeid if place == 1 else f"{self._item.nodeid}#{place}",
            suite=path,
            line=(line or 0) + 1,
            task=self._item.name,
            model="",
            quantization="",
            shots=0,
            asserted={},
            backend=BY_HAND,
            scoring="",
        )


def _beside(
    claim: Claim,
    candidates: ArrayLike,
    incumbent: ArrayLike,
    t: int | None,
    clusters: Sequence[Hashable] | None,
    test: Literal["exact", "resampled"] | None,
    matters: float,
) -> Result:
    import numpy as np

    from pytest_maxrandom.claims.beside import IncumbentAnswers, result_beside
    from pytest_maxrandom.suite.incumbent import IncumbentSettings

    values, own = np.asarray(candidates, np.float64), np.asarray(incumbent, np.float64)
    if values.ndim != 2 or 0 in values.shape or own.shape != values.shape[1:]:
        raise ValueError(
            "candidates must have the shape (candidates, examples) and incumbent (examples,), "
            f"found {values.shape} and {own.shape}"
        )
    if test not in (None, "exact", "resampled"):
        raise ValueError(f"test must be 'exact' or 'resampled', found {test!r}")
    if np.isnan(values).all(axis=1).any():
        raise ValueError("a candidate has no score on any example; leave it out")
    names = [str(place) for place in range(len(own))]
    scores = {name: float(one) for name, one in zip(names, own, strict=True) if one == one}
    settings = IncumbentSettings(test=test, matters=_open("matters", matters))
    beside = IncumbentAnswers(
        settings=settings, name="the incumbent", digest="", model="", scores=scores
    )
    tried = whole_number("t", len(values) if t is None else t, len(values))
    return result_beside(claim, values, beside, names, tried, clusters)


def _difference(name: str, value: object) -> float:
    bound = float(value) if isinstance(value, float | Real) else math.nan
    if not 0 <= bound < 1:
        raise ValueError(
            f"{name} must be a difference of scores, from 0 to below 1, found {value!r}"
        )
    return bound


def _open(name: str, value: object) -> float:
    bound = float(value) if isinstance(value, float | Real) else math.nan
    if not 0 < bound < 1:
        raise ValueError(f"{name} must be a number above 0 and below 1, found {value!r}")
    return bound


def _claim(p_max: object, beats: object) -> Claim:
    if beats is not None and not (isinstance(beats, str) and beats in ("max_random", "standard")):
        raise ValueError(f"beats must be 'max_random' or 'standard', found {beats!r}")
    if p_max is None:
        if beats is None:
            return Claim.of(None, untold=Remark("only_counts"))
        return Claim(beats=beats)
    return Claim(_open("p_max", p_max), beats)


def _guessers(n: object, chance: Chance, t: object) -> Guessers:
    examples, prompts = whole_number("n", n, 1), whole_number("t", t, 1)
    for value, _ in chance_groups(chance, examples):
        if not 0 < value < 1:
            raise ValueError(
                f"chance must be above 0 and below 1, found {value}: with a single choice there is "
                "nothing to guess, and with several a guess may be right"
            )
    return Guessers.alike(examples, chance, prompts)


def _right(name: str, value: object, n: int) -> int:
    if isinstance(value, float) and 0 < value < 1:
        raise TypeError(
            f"{name} must be a number of right answers, found {value!r}: of n = {n} examples, an "
            f"accuracy of {value!r} is {name}={round(value * n)}"
        )
    return whole_number(name, value, 0, n)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, found {value!r} ({type(value).__name__})")
    return value
