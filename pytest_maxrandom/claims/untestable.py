"""Claims that no run can test: what is wrong with them is told before a model is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.drawn import NoTexts
from pytest_maxrandom.claims.opening import out_of_reach
from pytest_maxrandom.errors import ModelError, Problem, SuiteError, dotted
from pytest_maxrandom.suite.claims import AssertSpec, claimed
from pytest_maxrandom.sweeps.labels import shuffled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.notation import Unmet
    from pytest_maxrandom.suite.loader import Suite


def contradicting(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield claims that contradict themselves, or the suite's metric or budget."""
    for claim in claims:
        if idle := claim.claim.idle():
            yield Problem(suite.path, claim.line, f"{claim.condition.task.name}: {idle}")
        if claim.claim.spend and claim.suite.prompts.budget:
            yield Problem(
                suite.path,
                suite.line("prompts", "budget"),
                "prompts.budget: `looks: spend` is also given, and either of them makes any number "
                "of looks valid; remove one of them",
            )
        parts = [f"`{key}`" for key in claim.claim.bounds() if key != "permutation_p"]
        if parts and claim.null.only_permuted:
            yield Problem(
                suite.path,
                suite.line("metric"),
                f"{' and '.join(parts)} with `metric: {claim.suite.metric}`: a constant answer "
                "scores higher than random guesses, so guessers are no measure; claim "
                "`permutation_p`, or use `metric: balanced_accuracy`",
            )


def no_texts(suite: Suite, error: NoTexts) -> list[Problem]:
    """Return what a task cannot give to train on, each where the suite asks for it."""
    return [
        Problem(suite.path, suite.line(*place), f"{dotted(place)}: {message}")
        for message, place in error.told.items()
    ]


def untrainable(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield what arms are to be trained on that is not there, and models that cannot be trained."""
    for claim in claims:
        try:
            if claim.training is not None:
                claim.backends.locate(*claim.loads)
        except SuiteError as error:
            yield from error.problems
        except NoTexts as error:
            yield from no_texts(suite, error)
        except ModelError as error:
            own = claim.arm.train is not None
            place = ("arms", claim.arm.name, "train") if own else ("classify",)
            yield Problem(suite.path, suite.line(*place), f"{dotted(place)}: {error}")


def untestable(suite: Suite) -> Iterator[Problem]:
    """Yield the tasks of whose test set something is claimed, and that have none."""
    for index, task in enumerate(suite.spec.tasks):
        assertion = claimed(task.assertion, suite.spec.assertion)
        if task.test is None and isinstance(assertion, AssertSpec) and assertion.test_p is not None:
            own = isinstance(task.assertion, AssertSpec) and task.assertion.test_p is not None
            place = ("tasks", index, "assert", "test_p") if own else ("assert", "test_p")
            yield Problem(
                suite.path,
                suite.line(*place),
                f"tasks[{suite.entry(index)}]: `test_p` is about a test set, but {task.name} has "
                "none; add `test: {fraction: 0.25}` to the task, or remove `test_p`",
            )


def _way_out(unmet: Sequence[Unmet]) -> str:
    if any(part.arrangements is not None for part in unmet):
        return "give the task more examples with other right answers"
    return "use more examples or fewer prompts (`maxrandom plan` computes how many)"


def unpassable(suite: Suite, claims: Iterable[PlannedClaim]) -> Iterator[Problem]:
    """Yield the claims that no result can pass; they would cost a sweep and tell nothing."""
    for claim in () if suite.spec.allow_unpassable else claims:
        null, ways = claim.null, None
        if claim.claim.spend:
            null = claim.with_t(claim.claim.tried(null.t)).null
        if claim.claim.permutation_p is not None:
            ways = min(each.arrangements for each in shuffled(claim.condition.prompt_set))
        if unmet := claim.claim.impossible(null, ways):
            yield Problem(
                suite.path,
                claim.line,
                f"{claim.name} can never pass: with t = {null.t}, even if all of n = {null.n} "
                f"answers are right, {' and '.join(map(str, unmet))}; {_way_out(unmet)}, or write "
                "`allow_unpassable: true`",
            )
        test_p = claim.claim.test_p
        if test_p is not None and (why := out_of_reach(claim.condition.test, test_p)):
            yield Problem(
                suite.path,
                claim.line,
                f"{claim.name} can never pass: {why}, or write `allow_unpassable: true`",
            )
