"""From a suite and its claims to the comparisons of its arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.claims.arms import arms_by_name, differences, differences_of_models
from pytest_maxrandom.claims.planned import Planned, PlannedClaim
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.samples import scored_by_samples
from pytest_maxrandom.claims.training import unfair
from pytest_maxrandom.claims.untestable import MissingClaim
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.notation import level as level_text, p_value
from pytest_maxrandom.studies.arms.all_models import PlannedBestModels, check_arms, side_of
from pytest_maxrandom.studies.arms.answers import Sides, Unpaired
from pytest_maxrandom.studies.arms.compared import (
    Compared,
    PlannedComparison,
    PlannedContamination,
)
from pytest_maxrandom.studies.arms.reduction import FEWEST, smallest_p
from pytest_maxrandom.studies.replicates import replicated
from pytest_maxrandom.suite.arms import ContaminationSpec, model_names, split_comparison
from pytest_maxrandom.suite.loader import RecordedSuite, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.studies.arms.all_models import Claimed
    from pytest_maxrandom.suite.arms import CompareSpec
    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.recorded import RecordedTaskSpec
    from pytest_maxrandom.suite.tasks import TaskSpec


def plan_comparisons(suite: Suite | RecordedSuite, planned: Iterable[Planned]) -> list[Compared]:
    """Return what a suite compares, task by task; its claims are among what is `planned`.

    Raises
    ------
    SuiteError
        With all arms that cannot be paired, and all comparisons that can never pass.
    """
    return _Planner(suite, planned).planned()


class _Condition(NamedTuple):
    """One task with one number of shots."""

    task: str
    shots: int | None
    suffix: str
    """What names end with, where there are several numbers of shots."""
    marks: tuple[str, ...]


class _Planner:
    """Gathers what is compared, and the problems."""

    def __init__(self, suite: Suite | RecordedSuite, planned: Iterable[Planned]) -> None:
        self._suite = suite
        self._claims = _by_arm(suite, planned)
        self._problems: dict[Problem, None] = {}

    def planned(self) -> list[Compared]:
        """Return the comparisons."""
        suite = self._suite
        tasks: list[TaskSpec | RecordedTaskSpec] = [*suite.spec.tasks]
        if isinstance(suite, Suite):
            tasks += [each.spec for each in suite.skipped]
        comparisons = [each for task in tasks for each in self._of_task(task)]
        if not suite.spec.allow_unpassable:
            for each in comparisons:
                self._check_passable(each)
        if self._problems:
            raise SuiteError(self._problems)
        return comparisons

    def _of_task(self, task: TaskSpec | RecordedTaskSpec) -> Iterator[Compared]:
        spec = self._suite.spec
        known = dict.fromkeys(
            claim.shots
            for claims in self._claims.values()
            for claim in claims
            if claim.task == task.name and claim.shots is not None
        )
        marks = tuple(dict.fromkeys((*spec.marks, *task.marks)))
        conditions = [
            _Condition(task.name, shots, f"{shots}shot" if len(known) > 1 else "", marks)
            for shots in known or (None,)
        ]
        for place, each in enumerate(spec.compare):
            planned = self._all_models if each.of_all else self._comparison
            for on in conditions:
                yield from planned(each, ("compare", place), on)
        for on in conditions:
            yield from self._contamination(on)

    def _planned(
        self,
        spec: CompareSpec | ContaminationSpec,
        place: Location,
        on: _Condition,
        compared: tuple[Sides, ...],
    ) -> dict[str, Any]:
        """Return what all that is planned has in common."""
        asserted = spec if isinstance(spec, ContaminationSpec) else spec.assertion
        return {
            "line": self._suite.line(*place),
            "task": on.task,
            "shots": on.shots,
            "level": asserted.level if asserted else None,
            "xfail": spec.xfail,
            "marks": on.marks,
            "missing": next((sides.missing for sides in compared if sides.missing), None),
            "compared": compared,
        }

    def _comparison(
        self, spec: CompareSpec, place: Location, on: _Condition
    ) -> Iterator[PlannedComparison]:
        first, second = split_comparison(spec.arms, list(self._claims))
        if (found := self._sides(place, first, second, on)) is None:
            return
        sides, changed = found
        yield PlannedComparison(
            name=f"compare[{'-'.join(filter(None, (first, second, on.suffix)))}]",
            first=first,
            second=second,
            changed=changed,
            claim=spec.assertion,
            **self._planned(spec, place, on, (sides,)),
        )

    def _all_models(
        self, spec: CompareSpec, place: Location, on: _Condition
    ) -> Iterator[PlannedBestModels]:
        try:
            arms = tuple((name, self._claim(name, on)) for name in self._distinct)
            compared = tuple(side_of(claim) for _, claim in arms)
            by = "" if spec.prompt is None else f"prompt{spec.prompt}"
            planned = PlannedBestModels(
                name=f"compare[{'-'.join(filter(None, ('all', by, on.suffix)))}]",
                arms=arms,
                spec=spec,
                **self._planned(spec, place, on, compared),
            )
            check_arms(planned, passable=self._suite.spec.allow_unpassable)
        except Unpaired as error:
            told = f"all models cannot be compared on {on.task}: {error}"
            self._problems[self._suite.problem(place, told)] = None
            return
        yield planned

    @property
    def _distinct(self) -> list[str]:
        """The name of each arm; of a model that has two of them, the one of its test ids."""
        if isinstance(self._suite, RecordedSuite) or self._suite.spec.arms is None:
            return [model.test_id for model in self._suite.spec.models]
        return list(self._claims)

    def _contamination(self, on: _Condition) -> Iterator[PlannedContamination]:
        if (spec := self._suite.spec.contamination) is None:
            return
        place, compared = ("contamination",), []
        for first, second in ((spec.extra, spec.base), (spec.test, spec.extra)):
            if (found := self._sides(place, first, second, on)) is None:
                return
            compared.append(found[0])
        if wrong := self._unfair(spec, on):
            self._problems |= {self._suite.problem(place, sentence): None for sentence in wrong}
            return
        yield PlannedContamination(
            name="contamination" + (f"[{on.suffix}]" if on.suffix else ""),
            spec=spec,
            **self._planned(spec, place, on, tuple(compared)),
        )

    def _unfair(self, spec: ContaminationSpec, on: _Condition) -> list[str]:
        """Say why the texts of the arms extra and test cannot be compared; nothing if they can."""
        extra, test = (self._claim(arm, on) for arm in (spec.extra, spec.test))
        if not isinstance(extra, PlannedClaim) or not isinstance(test, PlannedClaim):
            return []
        both = zip(replicated(extra), replicated(test), strict=True)
        reasons = (list(unfair(one.training, other.training, one.condition)) for one, other in both)
        return next(filter(None, reasons), [])

    def _claim(self, arm: str, on: _Condition) -> Claimed:
        """Return an arm's claim, else raise `Unpaired`; one of missing results has any shots."""
        for claim in self._claims[arm]:
            if claim.task == on.task and claim.shots in (on.shots, None):
                return claim
        raise Unpaired(f"there are no {on.shots}-shot results of {arm!r}")

    def _sides(
        self, place: Location, first: str, second: str, on: _Condition
    ) -> tuple[Sides, tuple[str, ...]] | None:
        """Return two arms, and what differs between them; None, and a problem, if not paired."""
        try:
            one, other = self._claim(first, on), self._claim(second, on)
            if isinstance(one, PlannedClaim) and isinstance(other, PlannedClaim):
                sides = Sides.run(replicated(one), replicated(other))
                return sides, differences(one.arm, other.arm)
            answers, others = _results(first, one), _results(second, other)
            if answers is None or others is None:
                return Sides(missing=one.missing or other.missing), _changed(one, other)
            return Sides.of_results(answers, others), _changed(one, other)
        except Unpaired as error:
            told = (
                f"{first!r} and {second!r} cannot be paired on {on.task}: {error}; arms must use "
                "the same prompts on the same examples"
            )
            self._problems[self._suite.problem(place, told)] = None
            return None

    def _check_passable(self, planned: Compared) -> None:
        sides, level = planned.compared[0], planned.level
        if sides.missing or level is None or isinstance(planned, PlannedBestModels):
            return
        least = smallest_p(sides.examples, sides.prompts, sides.replicates)
        if least > level:
            others = [(sides.prompts, "prompts"), (sides.replicates, "replicates")]
            units = [f"{sides.examples} examples"]
            units += [f"{many} {kind}" for many, kind in others if many >= FEWEST]
            told = (
                f"{planned.task}::{planned.name} can never pass: with {' and '.join(units)} no "
                f"p-value is below {p_value(least)}, but the level is {level_text(level)}; use "
                "more of them, or a higher level"
            )
            self._problems[Problem(self._suite.path, planned.line, told)] = None


def _by_arm(
    suite: Suite | RecordedSuite, planned: Iterable[Planned]
) -> Mapping[str, Sequence[Claimed]]:
    """Return the claims of each arm, by what comparisons call it."""
    claims = list(planned)
    if isinstance(suite, RecordedSuite):
        recorded = [each for each in claims if isinstance(each, RecordedClaim)]
        models = suite.spec.models
        return {
            name: [claim for claim in recorded if claim.model is models[place]]
            for name, place in model_names(models).items()
        }
    run = [each for each in claims if isinstance(each, PlannedClaim | MissingClaim)]
    return {
        name: [claim for claim in run if claim.arm.name == arm.name]
        for name, arm in arms_by_name(suite.spec).items()
    }


def _changed(one: Claimed, other: Claimed) -> tuple[str, ...]:
    """Say what differs between two arms, of which one may be missing."""
    if isinstance(one, RecordedClaim) or isinstance(other, RecordedClaim):
        return differences_of_models(one.model, other.model)
    return differences(one.arm, other.arm)


def _results(arm: str, claim: Claimed) -> Answers | None:
    """Return recorded answers, None where missing; raise `Unpaired` if not given one by one."""
    if not isinstance(claim, RecordedClaim) or claim.evidence is None:
        return None
    if not claim.evidence.results.prompts:
        raise Unpaired(f"the results of {arm!r} have the best prompt only, but a comparison of "
                       "arms needs every prompt's answer to every example")  # fmt: skip
    if scored_by_samples(claim.evidence.results):
        raise Unpaired(f"the results of {arm!r} hold several samples of each answer, and a "
                       "comparison needs one; use `aggregate: vote`")  # fmt: skip
    return claim.evidence.results
