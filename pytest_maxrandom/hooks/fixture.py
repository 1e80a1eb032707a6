"""Claims in hand-written tests, about sweeps that were run elsewhere."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Never, TypeAlias

from pytest_maxrandom.claims.verdict import Claim, judge as verdict
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.hooks import arguments
from pytest_maxrandom.hooks.failures import raise_said
from pytest_maxrandom.hooks.run import RECORDS, run_name
from pytest_maxrandom.record import BY_HAND, SCORE, ClaimRecord, Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import pytest

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.hooks.arguments import RowOfScores, Scores
    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.incumbents import IncumbentTest

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
        incumbent: RowOfScores | None = None,
        incumbent_p: float = DEFAULT_LEVEL,
        by: float = 0.0,
        test: IncumbentTest | None = None,
        matters: float = 0.05,
        clusters: Sequence[Hashable] | Mapping[str, Hashable] | None = None,
        aggregate: str | Mapping[str, int] | None = None,
        judge: str = "",
        task: str = "",
        model: str = "",
        shots: int = 0,
        **unknown: Never,
    ) -> Result:
        """Assert that the best of t prompts is above the best of t guessers, or above others.

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
            or by the names of prompts a row each, or scores by the ids of examples. A third axis
            has several samples of each answer.
        beats : str or float, optional
            "max_random" or "standard": the best accuracy is above that baseline. Of scores a number
            such as 0.62: the best mean score is above it, tested as the best of t.
        control : array or mapping, optional
            Of scores: those of a blank or constant answer to the same examples, from the same
            judge; the best prompt is better.
        incumbent : array or mapping, optional
            Of scores: those of what runs today on the same examples; the best prompt is better. The
            ledger beside the test counts looks at other scores, and each has a share of the level.
        by : float
            By how much more than this it is better than the incumbent.
        baseline_p, control_p, incumbent_p : float
            The largest allowed p-value of each.
        test, matters
            As below `incumbent` in a suite.
        clusters : sequence or mapping, optional
            Of scores: per example what it has in common with others, such as its passage.
        aggregate : str or mapping, optional
            Of scores with several samples: what they come to, "mean" (by default), "pass" (the
            best), "all" (the worst) or ``{"pass": j}``. Those of a control or an incumbent come to
            the same.
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
            scores if none of `beats`, `control` and `incumbent` is.
        ValueError, TypeError
            In one line, if an argument is outside its domain; the reports say that the claim could
            not be tested, and why.
        """
        __tracebackhide__ = True

        def found(heading: ClaimRecord) -> Found:
            _describe(heading, task, model, shots)
            arguments.refuse_unknown(unknown, signature(self.check).parameters)
            if scores is None:
                arguments.refuse(
                    _OF_SCORES,
                    control=control,
                    incumbent=incumbent,
                    test=test,
                    by=by or None,
                    clusters=clusters,
                    aggregate=aggregate,
                    judge=judge or None,
                )
                claim = arguments.claim_of_counts(p_max, beats)
                heading.asserted = claim.asserted()
                null = arguments.guessers(n, chance, t)
                result = verdict(
                    claim, null, arguments.right_answers("best_correct", best_correct, null.n)
                )
                return result.noted(Remark("counts_only")), heading
            arguments.refuse(_OF_COUNTS, best_correct=best_correct, n=n, chance=chance, p_max=p_max)
            others = arguments.Others(control, control_p, incumbent, incumbent_p, by, test, matters)
            claim = arguments.claim_of_scores(beats, baseline_p, others)
            heading.asserted = claim.asserted()
            heading.judge = arguments.text("judge", judge) or None

            def look(answers: Answers, beside: IncumbentAnswers) -> Claim:
                from pytest_maxrandom.claims.kept import of_answers
                from pytest_maxrandom.claims.recorded_looks import beside_incumbent

                kept, folder = of_answers(answers), self._item.path.parent
                assert kept is not None
                run = run_name(self._item.config)
                return beside_incumbent(claim, heading, kept, beside, folder, run)

            result = arguments.scored(claim, scores, t, others, clusters, aggregate, look)
            heading.metric = "accuracy" if result.correct_counts else SCORE
            return result, heading

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
            arguments.refuse_unknown({*said} & {"compare"}, ())
            claim = only(claims_in_memory(results, Said.of(said)))
            known = replace(claim.record(heading.id, heading.suite), line=heading.line)
            claim = claim.looked_at(known, self._item.path.parent, run_name(self._item.config))
            return result_of_recorded(claim), known

        return self._asserted(found)[1]

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
        if record.passes_on is not None:
            self._item.user_properties.append(("passes_on", record.passes_on))
        raise_said(record)
        return result, record

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
    heading.task, heading.model = (
        arguments.text("task", task) or heading.task,
        arguments.text("model", model),
    )
    heading.shots = whole_number("shots", shots, 0)
