"""From a suite and its claims to the comparisons of its arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from pytest_maxrandom.claims.arms import arms_by_name, differences, differences_of_models, joined
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.notation import level as level_text
from pytest_maxrandom.notation import p_value
from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord, Remark, note
from pytest_maxrandom.studies.arms.answers import Sides, Unpaired
from pytest_maxrandom.studies.arms.reduction import smallest_p
from pytest_maxrandom.studies.arms.units import FEWEST
from pytest_maxrandom.suite.arms import model_names, split_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim, RecordedClaim
    from pytest_maxrandom.suite.arms import ContaminationSpec, DifferenceSpec
    from pytest_maxrandom.suite.loader import RecordedSuite, Suite
    from pytest_maxrandom.sweeps.answers import Answers

    Planned: TypeAlias = "PlannedComparison | PlannedContamination"


class _Heading(TypedDict):
    """What the records of comparisons begin with."""

    id: str
    suite: str
    line: int
    task: str
    shots: int
    xfail: str | None
    simulated: bool


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What is compared on one task with one number of shots.

    Attributes
    ----------
    name : str
        In test ids: ``compare[first-second]`` or ``contamination``, with the number of shots where
        there are several.
    line : int
        Its line in the suite file, from 1.
    compared : tuple of Sides
        Each pair of arms that is compared.
    """

    name: str
    line: int
    task: str
    shots: int | None
    xfail: str | None
    marks: tuple[str, ...]
    compared: tuple[Sides, ...]

    def _heading(self, node_id: str, suite: str) -> _Heading:
        return {
            "id": node_id,
            "suite": suite,
            "line": self.line,
            "task": self.task,
            "shots": self.shots or 0,
            "xfail": self.xfail,
            "simulated": any(sides.simulated for sides in self.compared),
        }


@dataclass(frozen=True, kw_only=True)
class PlannedComparison(Compared):
    """Two arms on one task with one number of shots.

    Attributes
    ----------
    changed : tuple of str
        What differs between the arms.
    claim : DifferenceSpec or None
        What is claimed of the difference.
    """

    first: str
    second: str
    changed: tuple[str, ...]
    claim: DifferenceSpec | None

    @property
    def confidence(self) -> float:
        """That of the interval: what is claimed holds exactly where it lies above the margin."""
        return 0.95 if self.claim is None else 1 - 2 * self.claim.level

    def record(self, node_id: str, suite: str) -> ComparisonRecord:
        """Return what can be said before it is made."""
        (sides,) = self.compared
        record = ComparisonRecord(
            **self._heading(node_id, suite),
            first=self.first,
            second=self.second,
            changed=joined(self.changed),
            asserted=self.claim.model_dump(exclude_none=True) if self.claim else {},
            replicates=sides.replicates,
            t=sides.t,
            n=sides.n,
            confidence=self.confidence,
        )
        arms = {"first": self.first, "second": self.second}
        if len(self.changed) > 1:
            note(record, Remark("several_differences", arms))
        elif not self.changed:
            note(record, Remark("no_difference", arms))
        return record


@dataclass(frozen=True, kw_only=True)
class PlannedContamination(Compared):
    """Three arms of one task that tell whether a model was tuned on its text.

    What is compared are the arms extra and base, and then test and extra.
    """

    spec: ContaminationSpec

    def record(self, node_id: str, suite: str) -> ContaminationRecord:
        """Return what can be said before the arms are compared."""
        return ContaminationRecord(
            **self._heading(node_id, suite),
            base=self.spec.base,
            extra=self.spec.extra,
            test=self.spec.test,
            level=self.spec.level,
        )


def plan_comparisons(suite: Suite, claims: Iterable[Sequence[PlannedClaim]]) -> list[Planned]:
    """Return what a suite compares, task by task.

    Parameters
    ----------
    claims
        Of each of the suite's claims all replicates, itself first.

    Raises
    ------
    SuiteError
        With all arms that cannot be paired, and all comparisons that can never pass.
    """
    found = {(each[0].arm.name, each[0].condition.task.name, each[0].condition.shots): each
             for each in claims}  # fmt: skip
    arms = arms_by_name(suite.spec)

    def sides(first: str, second: str, task: str, shots: int | None) -> Sides:
        assert shots is not None
        one, other = arms[first].name, arms[second].name
        return Sides.run(found[one, task, shots], found[other, task, shots])

    def changed(first: str, second: str) -> tuple[str, ...]:
        one, other = arms[first], arms[second]
        return differences((one.model, one.prompts), (other.model, other.prompts))

    shots = {task.name: list(suite.spec.prompts.shots) for task in suite.spec.tasks}
    return _Planner(suite, list(arms), sides, changed).planned(
        shots, unpassable=suite.spec.allow_unpassable
    )


def plan_recorded_comparisons(
    suite: RecordedSuite, claims: Sequence[RecordedClaim]
) -> list[Planned]:
    """Return what a suite of recorded results compares, task by task.

    Raises
    ------
    SuiteError
        With all results that cannot be paired, and all comparisons that can never pass.
    """
    models = suite.spec.models
    names = model_names(models)
    places = {id(model): place for place, model in enumerate(models)}
    found = {(places[id(claim.model)], claim.task, claim.shots): claim for claim in claims}

    def sweep(name: str, task: str, shots: int | None) -> Answers | str:
        """Return the results, or why they are missing."""
        place = names[name]
        claim = found.get((place, task, shots)) or found.get((place, task, None))
        if claim is None:
            raise Unpaired(f"there are no {shots}-shot results of {name!r}")
        if claim.evidence is None:
            return claim.missing or "its results are missing"
        if not claim.evidence.results.prompts:
            raise Unpaired(f"the results of {name!r} are of the best prompt alone, and to compare "
                           "arms needs every prompt's answer to every example")  # fmt: skip
        return claim.evidence.results

    def sides(first: str, second: str, task: str, shots: int | None) -> Sides:
        one, other = sweep(first, task, shots), sweep(second, task, shots)
        if isinstance(one, str):
            return Sides(missing=one)
        return Sides(missing=other) if isinstance(other, str) else Sides.of_results(one, other)

    def changed(first: str, second: str) -> tuple[str, ...]:
        return differences_of_models(models[names[first]], models[names[second]])

    shots: dict[str, Sequence[int | None]] = {}
    for task in suite.spec.tasks:
        told = {k for _, name, k in found if name == task.name and k is not None}
        shots[task.name] = sorted(told) or [None]
    return _Planner(suite, list(names), sides, changed).planned(shots, unpassable=False)


class _Planner:
    """Gathers what is compared, and the problems.

    Parameters
    ----------
    names : list of str
        What may stand in comparisons.
    sides : callable
        Returns the results of two arms on a task with a number of shots, or raises `Unpaired`.
    changed : callable
        Says what differs between two arms.
    """

    def __init__(
        self,
        suite: Suite | RecordedSuite,
        names: list[str],
        sides: Callable[[str, str, str, int | None], Sides],
        changed: Callable[[str, str], tuple[str, ...]],
    ) -> None:
        self._suite, self._names = suite, names
        self._sides, self._changed = sides, changed
        self._problems: dict[Problem, None] = {}

    def planned(
        self, tasks: Mapping[str, Sequence[int | None]], *, unpassable: bool
    ) -> list[Planned]:
        """Return the comparisons on tasks with their numbers of shots."""
        found = [
            each
            for spec in self._suite.spec.tasks
            for each in self._of_task(spec.name, (*self._suite.spec.marks, *spec.marks), tasks)
        ]
        for each in () if unpassable else found:
            self._check_passable(each)
        if self._problems:
            raise SuiteError(self._problems)
        return found

    def _of_task(
        self, task: str, marks: Iterable[str], tasks: Mapping[str, Sequence[int | None]]
    ) -> Iterator[Planned]:
        shots, marks = tasks[task], tuple(dict.fromkeys(marks))
        several = len(shots) > 1
        for place in range(len(self._suite.spec.compare)):
            for k in shots:
                comparison = self._comparison(place, task, k, marks, several)
                if comparison:
                    yield comparison
        for k in shots:
            contamination = self._contamination(task, k, marks, several)
            if contamination:
                yield contamination

    def _comparison(
        self, place: int, task: str, shots: int | None, marks: tuple[str, ...], several: bool
    ) -> PlannedComparison | None:
        spec = self._suite.spec.compare[place]
        first, second = split_comparison(spec.arms, self._names)
        try:
            sides = self._sides(first, second, task, shots)
        except Unpaired as error:
            self._unpaired(("compare", place), first, second, task, error)
            return None
        what = f"{first}-{second}" + (f"-{shots}shot" if several else "")
        return PlannedComparison(
            name=f"compare[{what}]",
            line=self._suite.line("compare", place),
            task=task,
            shots=shots,
            first=first,
            second=second,
            changed=self._changed(first, second),
            claim=spec.assertion,
            xfail=spec.xfail,
            marks=marks,
            compared=(sides,),
        )

    def _contamination(
        self, task: str, shots: int | None, marks: tuple[str, ...], several: bool
    ) -> PlannedContamination | None:
        spec = self._suite.spec.contamination
        if spec is None:
            return None
        sides = []
        for first, second in ((spec.extra, spec.base), (spec.test, spec.extra)):
            try:
                sides.append(self._sides(first, second, task, shots))
            except Unpaired as error:
                self._unpaired(("contamination",), first, second, task, error)
                return None
        return PlannedContamination(
            name="contamination" + (f"[{shots}shot]" if several else ""),
            line=self._suite.line("contamination"),
            task=task,
            shots=shots,
            spec=spec,
            marks=marks,
            xfail=spec.xfail,
            compared=tuple(sides),
        )

    def _unpaired(
        self, where: tuple[str | int, ...], first: str, second: str, task: str, error: Unpaired
    ) -> None:
        name = "".join(f"[{part}]" if isinstance(part, int) else part for part in where)
        self._problem(
            where,
            f"{name}: {first!r} and {second!r} cannot be paired on {task}: {error}; arms must ask "
            "the same prompts of the same examples",
        )

    def _check_passable(self, planned: Planned) -> None:
        if isinstance(planned, PlannedContamination):
            level = planned.spec.level
        elif planned.claim:
            level = planned.claim.level
        else:
            return
        sides = planned.compared[0]
        if sides.missing:
            return
        least = smallest_p(sides.examples, sides.prompts, sides.replicates)
        if least > level:
            others = [(sides.prompts, "prompts"), (sides.replicates, "replicates")]
            units = [f"{sides.examples} examples"]
            units += [f"{many} {kind}" for many, kind in others if many >= FEWEST]
            problem = Problem(
                self._suite.path,
                planned.line,
                f"{planned.task}::{planned.name} can never pass: with "
                f"{' and '.join(units)} no p-value is below {p_value(least)}, and the "
                f"level is {level_text(level)}; use more of them, or a higher level",
            )
            self._problems[problem] = None

    def _problem(self, location: tuple[str | int, ...], message: str) -> None:
        line = self._suite.line(*location)
        self._problems[Problem(self._suite.path, line, message)] = None
