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
from pytest_maxrandom.notation import count
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.tasks.task import Task, share_choices
from pytest_maxrandom.tasks.texts import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.base import Location
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
    from pytest_maxrandom.tasks.task import Example


class NoTexts(ValueError):
    """A task, or a file, cannot give the texts that an arm is to be trained on.

    Attributes
    ----------
    place : tuple
        Where the suite asks for them.
    """

    def __init__(self, message: str, place: Location) -> None:
        super().__init__(message)
        self.place = place


def set_apart(
    task: Task, validation: Sequence[Example], suite: SuiteSpec, test: Sequence[Example]
) -> Apart | None:
    """Draw the examples that the arms of a suite are trained on; None where none are needed.

    What is drawn depends on the seeds of the task's validation set and of `classify` alone, so that
    all arms of a replicate share it.

    Parameters
    ----------
    test
        The closed test set, of which nothing is ever trained on.

    Raises
    ------
    NoTexts
        Where the task has too few, or no classes.
    """
    arms = suite.arms or {}
    trained = {name: arm.train for name, arm in arms.items() if arm.train}
    heads: dict[Location, ClassifySpec] = {("classify",): suite.classify} if suite.classify else {}
    heads |= {
        ("arms", name, "classify"): arm.classify for name, arm in arms.items() if arm.classify
    }
    if not trained and not heads:
        return None
    seed = next(one.validation.seed for one in suite.tasks if one.name == task.name)
    _check_scored(task, validation, test, trained)
    sides = _Sides(task, validation, test)
    labelled = {spec: _labelled(task, sides, spec, seed, place) for place, spec in heads.items()}
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
            raise NoTexts(
                f"{task.name}: {count(many)} extra texts are asked for, and {count(len(extra))} "
                "examples are neither scored nor labelled (copies aside); use a smaller "
                "`validation: max_examples`, or fewer `examples` in all trained arms",
                ("arms", name, "train"),
            )
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
        self.labelled = self.rest if task.pool is None else list(task.pool)

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


def _check_scored(
    task: Task,
    validation: Sequence[Example],
    test: Sequence[Example],
    trained: Mapping[str, TrainSpec],
) -> None:
    """Refuse to train on what is scored where that is too little, or stands in the test set."""
    closed = {normal(each.text) for each in test}
    same = sum(normal(each.text) in closed for each in validation)
    for name, train in trained.items():
        if train.text != "scored":
            continue
        if (train.examples or 0) > len(validation):
            raise NoTexts(
                f"{task.name}: found {count(train.examples)}, expected at most "
                f"{count(len(validation))}, which are scored",
                ("arms", name, "train", "examples"),
            )
        if same:
            raise NoTexts(
                f"{task.name}: {count(same)} of the texts that are scored stand in the test set "
                "as well, which is never trained on; remove these copies from the task, or its "
                "`test`",
                ("arms", name, "train"),
            )


def without(task: Task, apart: Apart | None) -> Task:
    """Return the task without what is set apart, so that no demonstration shows it."""
    if apart is None:
        return task
    drawn = [*apart.extra, *itertools.chain(*apart.labelled.values())]
    texts = {normal(each.text) for each in drawn}

    def kept(examples: Sequence[Example]) -> tuple[Example, ...]:
        return tuple(each for each in examples if normal(each.text) not in texts)

    pool = None if task.pool is None else kept(task.pool)
    return replace(task, examples=kept(task.examples), pool=pool)


def _labelled(
    task: Task, sides: _Sides, spec: ClassifySpec, seed: int, place: Location
) -> tuple[Example, ...]:
    """Draw the labelled examples of a head."""
    if not share_choices(task.examples) or len({len(each.choices) for each in task.examples}) > 1:
        raise NoTexts(
            f"{task.name}: its examples do not share their choices, and a classification head has "
            "one class for each; ask it in prompts, without `classify`",
            place,
        )
    if any(len(each.right) > 1 for each in task.examples):
        raise NoTexts(
            f"{task.name}: some of its examples have several right choices, and a classification "
            "head is trained on one; ask it in prompts, without `classify`",
            place,
        )
    ranked = sorted(sides.labelled, key=lambda each: digest("labelled", spec.seed, seed, each.id))
    free = list(sides.free(ranked))
    if spec.examples > len(free):
        raise NoTexts(
            f"{task.name}: {count(spec.examples)} labelled examples are asked for, and "
            f"{count(len(free))} are not scored (copies aside); use a smaller `validation: "
            "max_examples`, or fewer `examples` here",
            place,
        )
    if not spec.stratified:
        return tuple(free[: spec.examples])
    sizes = Counter(map(right_choice, free))
    if spec.examples < len(sizes):
        raise NoTexts(
            f"{task.name}: found {count(spec.examples)} labelled examples, expected at least one "
            f"for each of the {count(len(sizes))} classes; ask for more `examples`, or write "
            "`stratified: false`",
            place,
        )
    quotas, drawn = shares(sizes, spec.examples), []
    for each in free:
        if quotas[right_choice(each)]:
            quotas[right_choice(each)] -= 1
            drawn.append(each)
    return tuple(drawn)


def shares(sizes: Mapping[str, int], examples: int) -> dict[str, int]:
    """Share out examples to classes in proportion to their sizes, at least one to each.

    Parameters
    ----------
    sizes : mapping of str to int
        How many each class has; together at least `examples`, which are at least as many as
        classes.
    """
    found = dict.fromkeys(sizes, 1)
    while sum(found.values()) < examples:
        # What is furthest below its share is next; of equals the first by name.
        found[min(sizes, key=lambda name: (found[name] / sizes[name], name))] += 1
    return found


def right_choice(example: Example) -> str:
    """Return the text of the right choice, which is the example's class."""
    return example.choices[example.right[0]]
