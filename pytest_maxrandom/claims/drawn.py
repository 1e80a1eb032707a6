"""Which examples of a task are set apart for training.

Scored, labelled and extra examples, the closed test set, and demonstrations from outside the
validation set have no text in common: copies that differ in case, spaces or the form of their
characters are one text.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.condition import Apart
from pytest_maxrandom.errors import listed, quoted
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.tasks.texts import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
    from pytest_maxrandom.tasks.task import Example, Task


class NoTexts(ValueError):
    """A task, or a file, cannot give the texts that an arm is to be trained on.

    Each message is one sentence; `told` has by it where the suite asks for what there is not.
    """

    def __init__(self, message: str, place: Location) -> None:
        super().__init__(message)
        self.told = {message: place}

    @classmethod
    def all(cls, found: Sequence[NoTexts]) -> NoTexts:
        """Return one error that has the sentences of several."""
        whole = found[0]
        for each in found[1:]:
            whole.told |= each.told
        return whole


def trains(suite: SuiteSpec) -> bool:
    """Whether a suite trains arms, or classification heads."""
    arms = (arm for arm in (suite.arms or {}).values() if arm)
    return suite.classify is not None or any(arm.train or arm.classify for arm in arms)


def without_copies(task: Task, test: Sequence[Example]) -> Task:
    """Return the task without what has the text of an example of the closed test set.

    :func:`~pytest_maxrandom.tasks.load.set_aside` leaves out whole copies alone. What is trained on
    must not have the text either: not in capitals, and not with other choices.
    """
    closed = {normal(each.text) for each in test}

    def kept(examples: Sequence[Example]) -> tuple[Example, ...]:
        return tuple(each for each in examples if normal(each.text) not in closed)

    examples, pool = kept(task.examples), None if task.pool is None else kept(task.pool)
    if not (less := len(task.examples) - len(examples)):
        return replace(task, pool=pool)
    note = Remark("left_out_for_training", {"examples": less})
    return replace(task, examples=examples, pool=pool, notes=(*task.notes, note))


def set_apart(
    task: Task, validation: Sequence[Example], suite: SuiteSpec, test: Sequence[Example]
) -> Apart | None:
    """Draw the examples that the arms of a suite are trained on; None where none are needed.

    What is drawn depends on the seeds of the task's validation set and of `classify` alone, so that
    all arms of a replicate share it. Of the closed test set nothing is ever trained on.

    Raises
    ------
    NoTexts
        Where the task has too few, or no classes.
    """
    if not trains(suite):
        return None
    arms = suite.arms or {}
    trained = {name: arm.train for name, arm in arms.items() if arm.train}
    heads: dict[Location, ClassifySpec] = {("classify",): suite.classify} if suite.classify else {}
    heads |= {
        ("arms", name, "classify"): arm.classify for name, arm in arms.items() if arm.classify
    }
    seed = next(one.validation.seed for one in suite.tasks if one.name == task.name)
    missing = list(_unscored(task, validation, trained))
    sides, labelled = _Sides(task, validation, test), {}
    for place, spec in heads.items():
        try:
            labelled[spec] = _labelled(task, sides, spec, seed, place)
        except NoTexts as error:
            missing.append(error)
    for examples in labelled.values():
        sides.taken |= {normal(each.text) for each in examples}
    asked = {
        name: train.examples or len(validation)
        for name, train in trained.items()
        if train.text == "extra"
    }
    ranked = sorted(sides.rest, key=lambda each: digest("extra", seed, each.id))
    extra = tuple(itertools.islice(sides.free(ranked), max(asked.values(), default=0)))
    for name, many in asked.items():
        if many > len(extra):
            told = (
                f"{task.name}: {count(many)} extra texts are asked for, and {count(len(extra))} "
                "examples are neither scored nor labelled (copies aside); use a smaller "
                "`validation: max_examples`, or fewer `examples` in all trained arms"
            )
            missing.append(NoTexts(told, ("arms", name, "train")))
    if missing:
        raise NoTexts.all(missing)
    return Apart(extra, labelled, sides.copies)


class _Sides:
    """The texts that are taken, and the examples that are left."""

    def __init__(self, task: Task, validation: Sequence[Example], test: Sequence[Example]) -> None:
        self.taken = {normal(each.text) for each in (*validation, *test)}
        self.copies = 0
        own = {each.id for each in validation}
        clusters = {each.cluster for each in validation} - {None}
        self.rest = [
            each for each in task.examples if each.id not in own and each.cluster not in clusters
        ]
        # Where demonstrations have a pool of their own, labelled examples come from there, too.
        self.labelled = (
            self.rest
            if task.pool is None
            else [each for each in task.pool if each.cluster not in clusters]
        )

    def free(self, ranked: Sequence[Example]) -> Iterator[Example]:
        """Yield examples whose text is not taken, each text once."""
        seen = set(self.taken)
        for each in ranked:
            text = normal(each.text)
            if text in seen:
                self.copies += 1
            else:
                seen.add(text)
                yield each


def _unscored(
    task: Task, validation: Sequence[Example], trained: Mapping[str, TrainSpec]
) -> Iterator[NoTexts]:
    """Yield the arms that ask for more of the scored texts than there are."""
    for name, train in trained.items():
        if train.text == "scored" and (train.examples or 0) > len(validation):
            told = (
                f"{task.name}: found {count(train.examples)}, expected at most "
                f"{count(len(validation))}, which are scored"
            )
            yield NoTexts(told, ("arms", name, "train", "examples"))


def without(task: Task, validation: Sequence[Example], apart: Apart | None) -> Task:
    """Return the task without what no demonstration may show: what is set apart, and the scored."""
    if apart is None:
        return task
    drawn = [*apart.extra, *itertools.chain(*apart.labelled.values()), *validation]
    texts, scored = {normal(each.text) for each in drawn}, {each.id for each in validation}
    kept = tuple(
        each for each in task.examples if each.id in scored or normal(each.text) not in texts
    )
    pool = task.pool and tuple(each for each in task.pool if normal(each.text) not in texts)
    return replace(task, examples=kept, pool=pool)


def _labelled(
    task: Task, sides: _Sides, spec: ClassifySpec, seed: int, place: Location
) -> tuple[Example, ...]:
    """Draw the labelled examples of a head."""
    _check_classes(task, place)
    ranked = sorted(sides.labelled, key=lambda each: digest("labelled", spec.seed, seed, each.id))
    free = list(sides.free(ranked))
    if spec.examples > len(free):
        raise NoTexts(
            f"{task.name}: {count(spec.examples)} labelled examples are asked for, and "
            f"{count(len(free))} are not scored (copies aside); use a smaller `validation: "
            "max_examples`, or fewer `examples` here",
            place,
        )
    classes, sizes = task.examples[0].choices, Counter(map(right_choice, free))
    if spec.examples < len(classes):
        raise NoTexts(
            f"{task.name}: found {count(spec.examples)} labelled examples, expected at least one "
            f"for each of the {count(len(classes))} classes; ask for more `examples`",
            place,
        )
    if gone := sorted(set(classes) - sizes.keys()):
        raise NoTexts(
            f"{task.name}: a head is trained on examples of each class, and no example that is "
            f"not scored has the right answer {listed(gone)}; give the task more examples of it, "
            "use a smaller `validation: max_examples`, or remove the class from `choices`",
            place,
        )
    if not spec.stratified:
        if gone := sorted(set(classes) - set(map(right_choice, free[: spec.examples]))):
            raise NoTexts(
                f"{task.name}: none of the {count(spec.examples)} labelled examples that were "
                f"drawn has the right answer {listed(gone)}, and a head is trained on examples of "
                "each class; ask for more `examples`, or remove `stratified: false`",
                place,
            )
        return tuple(free[: spec.examples])
    quotas, drawn = shares(sizes, spec.examples), []
    for each in free:
        if quotas[right_choice(each)]:
            quotas[right_choice(each)] -= 1
            drawn.append(each)
    return tuple(drawn)


def _check_classes(task: Task, place: Location) -> None:
    """Refuse a task whose examples have no classes in common."""
    examples = (*task.examples, *(task.pool or ()))
    first = examples[0]
    other = next((one for one in examples if {*one.choices} != {*first.choices}), None)
    several = next((one for one in examples if len(one.right) > 1), None)
    if other is not None:
        reason = (
            f"its examples do not share their choices (found {listed(sorted(first.choices))} in "
            f"{quoted(first.id)}, and {listed(sorted(other.choices))} in {quoted(other.id)}), and "
            "a classification head has one class for each; give all examples the same"
        )
    elif several is not None:
        reason = (
            f"{quoted(several.id)} has several right choices, and a classification head is trained "
            "on one; give each example one"
        )
    else:
        return
    raise NoTexts(f"{task.name}: {reason}, or ask it in prompts, without `classify`", place)


def shares(sizes: Mapping[str, int], examples: int) -> dict[str, int]:
    """Share out examples to classes in proportion to their sizes, at least one to each.

    `sizes` has how many examples each class has; together at least `examples`, which are at least
    as many as classes.
    """
    found = dict.fromkeys(sizes, 1)
    while sum(found.values()) < examples:
        # What is furthest below its share is next; of equals the first by name.
        found[min(sizes, key=lambda name: (found[name] / sizes[name], name))] += 1
    return found


def right_choice(example: Example) -> str:
    """Return the text of the right choice, which is the example's class."""
    return example.choices[example.right[0]]
