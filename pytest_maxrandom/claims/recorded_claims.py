"""Claims about results that exist already: from their suite to what is known before judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from pytest_maxrandom.claims.classes import in_metric
from pytest_maxrandom.claims.incumbents import NoIncumbent
from pytest_maxrandom.claims.kept import of_answers
from pytest_maxrandom.claims.nulls import LearntGuessers, NoMetric, Null
from pytest_maxrandom.claims.plan import settled
from pytest_maxrandom.claims.planned import ClaimOfSuite
from pytest_maxrandom.claims.recorded_incumbents import (
    recorded_control,
    recorded_incumbent,
    without_control,
)
from pytest_maxrandom.claims.recorded_looks import beside_incumbent
from pytest_maxrandom.claims.samples import NoSamples, as_stated, scored_by_samples
from pytest_maxrandom.claims.shuffles import NoPermutations
from pytest_maxrandom.claims.stated import Contradiction, evidence
from pytest_maxrandom.claims.unpassable import unpassable_recorded
from pytest_maxrandom.claims.verdict import CLAIMABLE, CONTROLLED, OF_GUESSERS, Claim
from pytest_maxrandom.errors import Problem, RecordedError, SuiteError, did_you_mean, listed
from pytest_maxrandom.flags.kinds.identical_models import candidates as alike
from pytest_maxrandom.record import SCORE, ClaimRecord, Recorded, note
from pytest_maxrandom.recorded.sources import ModelResults
from pytest_maxrandom.suite.claims import BoundsSpec, claimed
from pytest_maxrandom.sweeps.open_answers import counted
from pytest_maxrandom.sweeps.samples import aggregated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.claims.evidence import Evidence
    from pytest_maxrandom.stats.exchanges import Exchange
    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.suite.loader import RecordedSuite
    from pytest_maxrandom.suite.recorded import (
        RecordedModelSpec,
        RecordedPromptSpec,
        RecordedTaskSpec,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedClaim(ClaimOfSuite):
    """A claim about results that exist already, ready to be judged."""

    model: RecordedModelSpec
    evidence: Evidence | None
    """None where the results are missing."""
    metric: Metric = "accuracy"
    """What its best prompt is best in."""
    incumbent: IncumbentAnswers | None = None
    control: IncumbentAnswers | None = None
    """What runs today, and a blank or constant answer, which the best prompt is compared with; None
    where the suite names none."""

    @property
    def exchanges(self) -> tuple[int, Iterable[Exchange]]:
        """As the best of how many it is tested, and all ways to exchange right answers, if any."""
        if self.evidence is None or isinstance(self.evidence.shuffles, NoPermutations):
            return 0, ()
        return self.evidence.t, (each.exchange for each in self.evidence.shuffles)

    @property
    def null(self) -> Null | None:
        """The guessers, in the metric of the suite; None where no guess has a chance."""
        return None if self.evidence is None else self.evidence.score_null or self.evidence.null

    @property
    def name_of_model(self) -> str:
        """What reports call its model; one name may stand for several, which labels tell apart."""
        label = self.model.label
        return self.model.name if label is None else f"{self.model.name} ({label})"

    def other_models(self, claims: Iterable[RecordedClaim]) -> list[Answers]:
        """Return the answers of other models, asked the same, that may be this one.

        One name with several quantizations is one model; with several labels it is not.
        """
        assert self.evidence is not None
        other_claims = [
            claim
            for claim in claims
            if (claim.task, claim.shots) == (self.task, self.shots)
            and (
                claim.model.name != self.model.name
                or (
                    claim.model.label != self.model.label
                    and claim.model.quantization == self.model.quantization
                )
            )
        ]
        named = [
            replace(claim.evidence.read, model=claim.name_of_model)
            for claim in other_claims
            if claim.evidence is not None and claim.evidence.read.prompts
        ]
        return alike(self.evidence.read, named)

    @property
    def simulated(self) -> bool:
        """Whether a rule made the answers up."""
        return self.evidence is not None and self.evidence.read.simulated

    def looked_at(self, heading: ClaimRecord, beside: Path, run: str) -> RecordedClaim:
        """Count a look beside the incumbent; nothing where there is none.

        What is told of the ledger is added to the heading; else arguments are as of `look_at`.

        Raises
        ------
        LedgerError
            If the ledger cannot be read.
        """
        if self.incumbent is None or self.evidence is None:
            return self
        kept = of_answers(self.evidence.results)
        assert kept is not None
        claim = beside_incumbent(self.claim, heading, kept, self.incumbent, beside, run)
        return replace(self, claim=claim)

    def record(self, node_id: str, suite: str) -> ClaimRecord:
        """Return what can be said of the claim before it is judged."""
        model, evidence = self.model, self.evidence
        recorded = Recorded(model.results.path, model.results.format)
        if evidence is None:
            record = self.begun(node_id, suite, scoring="", recorded=recorded, metric=self.metric)
            return note(record, *self.claim.notes)
        null, (clusters, effective_n) = self.null, evidence.clusters
        recorded.stated, recorded.chances = list(evidence.stated), evidence.mix
        metric = SCORE if evidence.results.without_guessers else self.metric
        record = self.begun(
            node_id,
            suite,
            scoring="",
            recorded=recorded,
            levels=self.claim.levels(evidence.t),
            n=evidence.n,
            t=evidence.t,
            metric=metric,
            judge=evidence.results.judge,
            rule=evidence.results.rule,
            roles={} if (own := evidence.results.open) is None else counted(own.roles),
            clusters=clusters,
            effective_n=effective_n,
            standard_baseline=None if null is None else null.standard_baseline,
            max_random_baseline=None if null is None else null.max_random_baseline,
            published=evidence.published,
            validation_ids=list(evidence.results.examples),
        )
        return note(record, *self.claim.notes, *evidence.notes, *evidence.of_best)


_Found = dict[int, "Answers"]
"""Results of one model on one task by number of shots."""


class Results(Protocol):
    """Where the results of models are."""

    def of(self, model: RecordedModelSpec, /) -> list[Answers] | None:
        """Return all results of a model; None where they are missing, and need not be there.

        Raises
        ------
        RecordedError
            If they cannot be read, or are of other models.
        """


def plan_recorded(suite: RecordedSuite, results: Results | None = None) -> list[RecordedClaim]:
    """Return the suite's claims, in the order model, task, shots.

    Results are read from the files that it names if not given.

    Raises
    ------
    SuiteError
        With all the mistakes in the results that the suite names, and all that it states otherwise
        or leaves out.
    """
    planner = _Planner(suite, ModelResults(suite) if results is None else results)
    models = range(len(suite.spec.models))
    with suite.spec.limits.in_force():
        claims = [claim for index in models for claim in planner.claims_of_model(index)]
    for claim in (shared := settled(claims)):
        if claim.evidence is not None:
            planner.problems += unpassable_recorded(
                suite,
                claim.name,
                claim.line,
                claim.claim,
                claim.evidence.t,
                claim.evidence.results,
            )
        if idle := claim.claim.idle():
            planner.problems.append(Problem(suite.path, claim.line, f"{claim.task}: {idle}"))
        if claim.null is not None and (
            unmeasured := claim.claim.unmeasured(claim.null, claim.metric)
        ):
            learnt = isinstance(claim.null, LearntGuessers)
            planner.problems.append(
                Problem(suite.path, claim.line, f"{claim.task}: {unmeasured}")
                if learnt
                else suite.problem(("metric",), unmeasured, named=False)
            )
    if planner.problems:
        raise SuiteError(dict.fromkeys(planner.problems))
    return shared


class _Planner:
    """Judges all results, and gathers the problems."""

    def __init__(self, suite: RecordedSuite, results: Results) -> None:
        self.problems: list[Problem] = []
        self._suite = suite
        self._results = results

    def claims_of_model(self, index: int) -> Iterator[RecordedClaim]:
        """Yield the claims about a model."""
        model = self._suite.spec.models[index]
        try:
            results = self._results.of(model)
        except RecordedError as error:
            self._problem(("models", index, "results"), str(error))
            return
        for place in range(len(self._suite.spec.tasks)):
            if results is None or (model.if_missing and not self._asked(place, results)):
                for shots in self._suite.spec.prompts.shots or (None,):
                    yield self._claim(model, place, shots, None)
                continue
            for shots, read in self._conditions(model, place, results).items():
                if (found := self._of_samples(read)) is None:
                    continue
                incumbent = self._beside("incumbent", self._suite.spec.incumbent, model, found)
                control = self._beside("control", self._suite.spec.control, model, found)
                candidates = without_control(self._suite.spec.control, found)
                judged = self._evidence(place, candidates, controlled=control is not None)
                if judged is not None:
                    yield self._claim(model, place, shots, judged, incumbent, control)

    def _beside(
        self,
        key: Literal["incumbent", "control"],
        spec: RecordedPromptSpec | None,
        model: RecordedModelSpec,
        read: Answers,
    ) -> IncumbentAnswers | None:
        """Return what the incumbent, or the control, scored, or add to the problems."""
        elsewhere = None
        if spec is None:
            return None
        try:
            if spec.results is not None:
                own = model.model_copy(update={"results": spec.results, "if_missing": None})
                found = self._results.of(own) or []
                elsewhere = [
                    self._made_one(each) if each.sampled else each
                    for each in found
                    if each.task == read.task
                ]
            of = recorded_incumbent if key == "incumbent" else recorded_control
            return of(spec, read, elsewhere)
        except NoIncumbent as error:
            self._problem((key, *error.place[1:]), str(error))
        except RecordedError as error:
            self._problem((key, "results"), str(error))
        return None

    def _of_samples(self, read: Answers) -> Answers | None:
        """Return results by what the suite says of their samples, or add to the problems."""
        said = self._suite.spec.aggregate
        if read.sampled is None and said is not None:
            self._problem(
                ("aggregate",),
                f"{read.path} holds one answer of each prompt to each example of "
                f"{read.task!r}; give results with several samples, or remove it",
            )
            return None
        try:
            return self._made_one(read)
        except RecordedError as error:
            self._problem(("aggregate",), str(error))
        return None

    def _made_one(self, read: Answers) -> Answers:
        spec = self._suite.spec.aggregate
        if spec is None or read.sampled is None or read.aggregate is None:
            return read
        stated = as_stated(spec, read.aggregate.samples)
        return aggregated(read, stated.how, stated.asked)

    def _asked(self, place: int, results: list[Answers]) -> bool:
        """Tell whether results hold anything of a task."""
        task = self._suite.spec.tasks[place]
        return any(each.task == (task.in_results or task.name) for each in results)

    def _problem(self, place: Location, message: str, *, named: bool = True) -> None:
        self.problems.append(self._suite.problem(place, message, named=named))

    def _conditions(self, model: RecordedModelSpec, place: int, results: list[Answers]) -> _Found:
        """Return the task's results by shots, or add to the problems."""
        task = self._suite.spec.tasks[place]
        name = task.in_results or task.name
        by_shots: _Found = {}
        for answers in results:
            if answers.task == name and by_shots.setdefault(answers.shots, answers) is not answers:
                self._problem(
                    ("tasks", place),
                    f"{answers.path} holds {answers.shots}-shot results of "
                    f"{answers.model!r} for {name!r} more than once; keep one of them",
                )
        wanted = self._suite.spec.prompts.shots or sorted(by_shots)
        missing = [shots for shots in wanted if shots not in by_shots]
        if not by_shots:
            names = dict.fromkeys(each.task for each in results)
            hint = did_you_mean(name, names, "`in_results: {}`".format) or (
                "; correct `in_results`, or give the model `if_missing` with the reason, so that "
                "this claim is skipped"
            )
            message = f"no results of {model.name!r} for {name!r}, found {listed(names, 8)}{hint}"
            self._problem(("tasks", place), message)
        elif missing:
            self._problem(
                ("prompts", "shots"),
                f"no {missing[0]}-shot results of {model.name!r} for {name!r}, "
                f"found those with {', '.join(map(str, sorted(by_shots)))}; list only those",
            )
        return {shots: by_shots[shots] for shots in wanted if shots in by_shots}

    def _evidence(self, place: int, results: Answers, *, controlled: bool) -> Evidence | None:
        task, spec = self._suite.spec.tasks[place], self._suite.spec
        asserted = claimed(task.assertion, spec.assertion)
        bounds = asserted.bounds() if isinstance(asserted, BoundsSpec) else {}
        guessed = [key for key in bounds if key in OF_GUESSERS]
        try:
            judged = evidence(
                results,
                task,
                by_publication=spec.judge == "published",
                guessed=bool(guessed) or not (bounds or controlled),
            )
            if task.published is not None and spec.metric != "accuracy":
                raise Contradiction(
                    ("published",),
                    f"what is published is an accuracy, but the suite has `metric: {spec.metric}`; "
                    "remove one of the two",
                )
            if task.published is not None and scored_by_samples(results):
                raise Contradiction(
                    ("published",),
                    "what is published is of one answer to each example, but the results are "
                    "scored by several samples of each; remove it, or use `aggregate: vote`",
                )
            judged = in_metric(judged, spec.metric).by_samples()
        except NoMetric as error:
            self._problem(("metric",), f"tasks[{place}]: {error}", named=False)
            return None
        except (NoSamples, Contradiction) as mistake:
            keys = mistake.keys if isinstance(mistake, Contradiction) else ()
            self._problem(("tasks", place, *keys), str(mistake))
            return None
        if judged.null is None and guessed:
            own = task.assertion or not spec.assertion
            self._problem(
                ("tasks", place, "assert", guessed[0]) if own else ("assert", guessed[0]),
                f"tasks[{place}]: `{guessed[0]}` compares with random guessers, but the scores in "
                f"{results.path} are between 0 and 1, and no guess has a chance; claim {CLAIMABLE}",
                named=False,
            )
            return None
        reason = judged.untestable or judged.unchanged
        stated = isinstance(asserted, BoundsSpec) and asserted.permutation_p is not None
        if reason is not None and stated:
            own = task.assertion or not spec.assertion
            self._problem(
                ("tasks", place) if own else ("assert", "permutation_p"),
                f"tasks[{place}]: `permutation_p` cannot be computed, because in {results.path} "
                f"{reason}; use `p_max` instead",
                named=False,
            )
        return judged

    def _asserted(
        self, task: RecordedTaskSpec, judged: Evidence | None, *, controlled: bool
    ) -> tuple[Claim, Evidence | None]:
        """Return what is claimed, and what it is judged by."""
        assertion = claimed(task.assertion, self._suite.spec.assertion)
        if judged is None:
            return Claim.of(assertion), None
        states = isinstance(assertion, BoundsSpec) and bool(assertion.bounds())
        if judged.constants is not None and assertion != "report" and not states:
            judged = judged.by_constants()
        if judged.null is None and controlled:
            return Claim.of(assertion, CONTROLLED), judged
        return Claim.of(assertion, *judged.usual), judged

    def _claim(
        self,
        model: RecordedModelSpec,
        place: int,
        shots: int | None,
        judged: Evidence | None,
        incumbent: IncumbentAnswers | None = None,
        control: IncumbentAnswers | None = None,
    ) -> RecordedClaim:
        spec, task = self._suite.spec, self._suite.spec.tasks[place]
        claim, judged = self._asserted(task, judged, controlled=control is not None)
        return RecordedClaim(
            **RecordedClaim.stated(spec, task, model.test_id, shots),
            line=self._suite.line("tasks", place),
            model=model,
            claim=claim,
            metric=spec.metric,
            evidence=judged,
            incumbent=incumbent,
            control=control,
            missing=model.if_missing if judged is None else None,
        )
