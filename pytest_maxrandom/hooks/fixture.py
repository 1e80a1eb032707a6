"""Claims in hand-written tests, about sweeps that were run elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge as verdict
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import CannotTell, ClaimFailed, RecordedError, RedFlagged
from pytest_maxrandom.hooks.run import RECORDS
from pytest_maxrandom.record import BY_HAND, SCORE, ClaimRecord, Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.chances import chance_groups, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeAlias

    import pytest
    from numpy.typing import ArrayLike

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.chances import Chance

    RowOfScores: TypeAlias = ArrayLike | Mapping[str, float]
    Scores: TypeAlias = ArrayLike | Mapping[str, RowOfScores]
    Found: TypeAlias = tuple[Result, ClaimRecord]
    """What is found of a claim, and what is known of it without that."""

_OF_SCORES = "belongs to `scores`, which are not given; give them, or leave it out"
_OF_COUNTS = "belongs to counts of right answers, but `scores` are given; leave one of the two out"


class HandWrittenClaims:
    """What the fixture `maxrandom` gives a test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._records: list[ClaimRecord] = []
        item.stash[RECORDS] = self._records

    def check(
        self,
        *,
        best_correct: int | None = None,
        n: int | None = None,
        t: int | None = None,
        chance: Chance | None = None,
        p_max: float | None = None,
        scores: Scores | None = None,
        beats: str | float | None = None,
        baseline_p: float = DEFAULT_LEVEL,
        control: RowOfScores | None = None,
        control_p: float = DEFAULT_LEVEL,
        clusters: Sequence[Hashable] | Mapping[str, Hashable] | None = None,
        judge: str = "",
        task: str = "",
        model: str = "",
        shots: int = 0,
    ) -> Result:
        """Assert that the best of t prompts is beyond the best of t random guessers, or a baseline.

        Give either counts (`best_correct`, `n`, `t` and `chance`), or the `scores` of each prompt.

        Parameters
        ----------
        best_correct : int
            Right answers of the best prompt, of `n`; a number of them, not an accuracy.
        t : int
            How many prompts were ever tried; of scores the number of prompts if not given.
        chance : float, Fraction, mapping or sequence
            As :class:`pytest_maxrandom.MaxRandomBaseline` takes it, but 0 and 1 are no chances of a
            guess between choices.
        p_max : float, optional
            p_max is at most this.
        scores : array or mapping
            Scores from 0 to 1 from any harness: shape (prompts, examples), NaN where there is none;
            or by the names of prompts a row each, or scores by the ids of examples.
        beats : str or float, optional
            "max_random" or "standard": the best accuracy is above that baseline. Of scores a number
            such as 0.62: the best mean score is above it, tested as the best of t.
        control : array or mapping, optional
            Of scores: those of a blank or constant answer to the same examples, from the same
            judge; the best prompt is better.
        baseline_p, control_p : float
            The largest allowed p-value of either.
        clusters : sequence or mapping, optional
            Of scores: per example what it has in common with others, such as its passage.
        judge : str, optional
            Of scores: who, or what, gave them, with its version.
        task, model : str, optional
            For the reports.
        shots : int, optional
            For the reports.

        Raises
        ------
        ClaimFailed
            In one line, if the claim does not hold.
        CannotTell
            If neither `p_max` nor `beats` is given: counts alone cannot show the default claim. Of
            scores if neither `beats` nor `control` is.
        ValueError, TypeError
            In one line, if an argument is outside its domain; the reports say that the claim could
            not be tested, and why.
        """
        __tracebackhide__ = True

        def found(heading: ClaimRecord) -> Found:
            _describe(heading, task, model, shots)
            if scores is None:
                _refuse(_OF_SCORES, control=control, clusters=clusters, judge=judge or None)
                claim = _claim(p_max, beats)
                heading.asserted = claim.asserted()
                null = _guessers(n, chance, t)
                result = verdict(claim, null, _right("best_correct", best_correct, null.n))
                return result.noted(Remark("counts_only")), heading
            _refuse(_OF_COUNTS, best_correct=best_correct, n=n, chance=chance, p_max=p_max)
            claim = _of_scores(beats, baseline_p, control, control_p)
            heading.asserted, heading.judge = claim.asserted(), _text("judge", judge) or None
            return _with_metric(_scored(claim, scores, t, control, clusters), heading)

        return self._asserted(found)[0]

    def judge(self, results: Any, **said: Any) -> ClaimRecord:
        """Assert what `pytest_maxrandom.judge` finds of results in memory, such as a data frame.

        Parameters
        ----------
        results, said
            As :func:`pytest_maxrandom.judge` takes them.

        Raises
        ------
        ClaimFailed, RedFlagged
            In one sentence, if the claim does not hold, and one for each red flag that fails it.
        CannotTell
            If the results can neither show nor refute it.
        ValueError, TypeError, RecordedError
            In one sentence, if the results or an argument are wrong; the reports say so, too.
        """
        __tracebackhide__ = True
        from pytest_maxrandom.claims.in_memory import Said, claims_in_memory, only

        def found(heading: ClaimRecord) -> Found:
            claim = only(claims_in_memory(results, Said.of(said)))
            known = replace(claim.record(heading.id, heading.suite), line=heading.line)
            return result_of_recorded(claim), known

        return self._asserted(found)[1]

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

        def found(heading: ClaimRecord) -> Found:
            _describe(heading, task, model, shots)
            claim = Claim(incumbent_p=_open("incumbent_p", incumbent_p), by=_difference("by", by))
            heading.asserted = claim.asserted()
            beside = _beside(claim, candidates, incumbent, t, clusters, test, matters)
            return _with_metric(beside, heading)

        return self._asserted(found)[0]

    def _asserted(self, find: Callable[[ClaimRecord], Found]) -> tuple[Result, ClaimRecord]:
        """Record what is found of a further claim, or why nothing is, and raise what it says."""
        __tracebackhide__ = True
        heading = self._heading()
        self._records.append(heading)
        try:
            result, known = find(heading)
            record = self._records[-1] = result.record(known)
        except (TypeError, ValueError, RecordedError) as error:
            heading.message = str(error)
            raise error.with_traceback(None)  # noqa: B904  (from where the user called)
        word(record)
        self._raise(record)
        return result, record

    def _raise(self, record: ClaimRecord) -> None:
        """Raise what a record says, or tell JUnit on what it passes."""
        __tracebackhide__ = True
        if record.passes_on is not None:
            self._item.user_properties.append(("passes_on", record.passes_on))
        if record.failing_flags and record.cannot_tell is None:
            from pytest_maxrandom.reports.red_flags import explained

            raise RedFlagged(explained(record))
        if record.message:
            kind = ClaimFailed if record.cannot_tell is None else CannotTell
            raise kind(record.message)

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


def _describe(heading: ClaimRecord, task: object, model: object, shots: object) -> None:
    heading.task, heading.model = _text("task", task) or heading.task, _text("model", model)
    heading.shots = whole_number("shots", shots, 0)


def _with_metric(result: Result, heading: ClaimRecord) -> Found:
    heading.metric = "accuracy" if result.correct_counts else SCORE
    return result, heading


def _refuse(why: str, **given: object) -> None:
    """Refuse arguments of the other kind of check."""
    for name, value in given.items():
        if value is not None:
            raise TypeError(f"{name} {why}")


def _of_scores(beats: object, baseline_p: object, control: object, control_p: object) -> Claim:
    above = None if beats is None else _open("beats", beats)
    if above is None and control is None:
        return Claim.of(None, untold=Remark("only_scores"))
    return Claim(
        baseline=above,
        baseline_p=None if above is None else _open("baseline_p", baseline_p),
        control_p=None if control is None else _open("control_p", control_p),
    )


def _scored(
    claim: Claim,
    scores: Scores,
    t: int | None,
    control: RowOfScores | None,
    clusters: Sequence[Hashable] | Mapping[str, Hashable] | None,
) -> Result:
    from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
    from pytest_maxrandom.claims.scored import assess_scores

    answers = answers_of("scores", scores, clusters)
    beside = None if control is None else scores_beside("control", control, answers)
    return assess_scores(claim, answers, _tried(t, answers), control=beside)


def _beside(
    claim: Claim,
    candidates: ArrayLike,
    incumbent: ArrayLike,
    t: int | None,
    clusters: Sequence[Hashable] | None,
    test: Literal["exact", "resampled"] | None,
    matters: float,
) -> Result:
    from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
    from pytest_maxrandom.claims.scored import assess_scores

    if test not in (None, "exact", "resampled"):
        raise ValueError(f"test must be 'exact' or 'resampled', found {test!r}")
    answers = answers_of("candidates", candidates, clusters)
    beside = scores_beside("incumbent", incumbent, answers, test, _open("matters", matters))
    return assess_scores(claim, answers, _tried(t, answers), beside)


def _tried(t: object, answers: Answers) -> int:
    least = len(answers.prompts)
    return least if t is None else whole_number("t", t, least)


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
    return Claim(_open("p_max", p_max), beats)


def _guessers(n: object, chance: Chance | None, t: object) -> Guessers:
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
