"""Which t prompts a sweep tries on which n examples."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.record import Remark
from pytest_maxrandom.stats.seeding import Stream, digest
from pytest_maxrandom.sweeps.prompts.formats import MOST_LETTERS, Format, Labels, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.base import FormatSpec
    from pytest_maxrandom.suite.prompts import CounterfactualSpec, GenerationSpec, PromptsSpec
    from pytest_maxrandom.suite.tasks import ValidationSpec
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example, Layout, Task

Regime = Literal["pool", "outside", "leave_out", "none"]


class NoPrompts(ValueError):
    """The suite asks for prompts that the task cannot give.

    Attributes
    ----------
    key : str
        Which of the keys of `prompts` asks for them; "validation" is the task's.
    """

    def __init__(self, message: str, key: str = "shots") -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class PromptSet:
    """The prompts of one sweep."""

    prompts: tuple[Prompt, ...]
    """t prompts with distinct texts."""
    validation: tuple[Example, ...]
    """The validation set. In the regime "leave_out" each prompt is scored without its own
    demonstrations: n is smaller by the number of shots."""
    regime: Regime
    """Where demonstrations come from: "pool" is the task's own, outside the validation set, so that
    n is all of it; "none" at 0 shots."""
    pool: int
    """Number of examples that demonstrations are drawn from."""
    possible: int
    """Number of distinct prompts that the pool and the variants offer."""
    notes: tuple[Remark, ...]
    """What a reader of the report must know."""

    @property
    def n(self) -> int:
        """Number of examples that each prompt is scored on."""
        return len(self.scored(self.prompts[0]))

    @property
    def digests(self) -> list[str]:
        """What the ledger and the store know the t prompts by."""
        return [prompt.digest for prompt in self.prompts]

    def asked(
        self,
        counterfactual: CounterfactualSpec | None,
        generation: GenerationSpec | None = None,
        matching: Matching | None = None,
    ) -> PromptSet:
        """Return the same prompts with answers that are asked for so; see :meth:`Prompt.asked`."""
        prompts = tuple(each.asked(counterfactual, generation, matching) for each in self.prompts)
        return dataclasses.replace(self, prompts=prompts)

    def scored(self, prompt: Prompt) -> list[Example]:
        """Return the n validation examples that this prompt is scored on."""
        if self.regime != "leave_out":
            return list(self.validation)
        own = {example.id for example in prompt.demonstrations}
        return [example for example in self.validation if example.id not in own]

    @property
    def leaves_out(self) -> bool:
        """Whether any prompt is scored without its own demonstrations."""
        return self.regime == "leave_out" and any(each.demonstrations for each in self.prompts)

    @property
    def pairs(self) -> list[tuple[Prompt, list[Example]]]:
        """The t prompts, each with its n examples."""
        return [(prompt, self.scored(prompt)) for prompt in self.prompts]


def validation_set(task: Task, spec: ValidationSpec) -> tuple[Example, ...]:
    """Return the seeded subsample of at most ``spec.max_examples``, in the task's order.

    Examples are ranked by a hash of seed and id, so that neither their order nor a few added
    examples draw another subsample. Clusters stay whole: they are ranked by a hash of seed and
    name, and each is taken that still fits.

    Raises
    ------
    NoPrompts
        If no cluster fits.
    """
    names = [each.id if each.cluster is None else each.cluster for each in task.examples]
    sizes = Counter(names)
    taken, room = set(), spec.max_examples
    for name in sorted(sizes, key=lambda name: digest(spec.seed, name)):
        if sizes[name] <= room:
            taken.add(name)
            room -= sizes[name]
    if not taken:
        raise NoPrompts(
            f"the smallest cluster of {task.name} has {min(sizes.values())} examples, and "
            f"`validation: max_examples` takes {spec.max_examples}; raise it, because clusters are "
            "never split",
            key="validation",
        )
    return tuple(itertools.compress(task.examples, (name in taken for name in names)))


def draw_prompts(
    task: Task, validation: Sequence[Example], spec: PromptsSpec, shots: int
) -> PromptSet:
    """Draw `spec.count` distinct prompts with `shots` demonstrations, or all that there are.

    A task with a pool of its own has its demonstrations from there, unless the suite says
    `demonstrations: leave_out`. The other two regimes are those of arXiv 2404.13020, section 4:
    from outside the validation set; or, for a small task, from the validation set less the
    demonstrations.

    Raises
    ------
    NoPrompts
        In one sentence, where the task has too few examples or too many choices.
    """
    formats = _formats(task, spec, shots)
    regime, pool, notes = _pool(task, validation, spec, formats, shots)
    _check(task, validation, spec, regime, len(pool), shots)

    draws = math.perm(len(pool), shots)
    possible = draws * len(formats)
    stream, limit = Stream(spec.seed, "prompts", shots), spec.count
    if spec.combine == "cross":
        pairs = ((draw, form) for draw in stream.distinct(draws) for form in formats)
        limit -= spec.count % len(formats)
    else:
        codes = stream.distinct(possible)
        pairs = ((code // len(formats), formats[code % len(formats)]) for code in codes)
    prompts: dict[str, Prompt] = {}
    for draw, form in pairs:
        prompt = Prompt(_arrangement(pool, shots, draw), form)
        prompts.setdefault(prompt.digest, prompt)
        if len(prompts) == limit:
            break

    used = {"asked": spec.count, "prompts": len(prompts)}
    if len(prompts) < limit:
        offer = {"shots": shots, "pool": len(pool), "variants": len(formats)}
        kind = "too_few_prompts_of_pool" if regime == "pool" else "too_few_prompts"
        notes.append(Remark(kind, {**used, "offer": offer}))
    elif limit < spec.count:
        notes.append(Remark("whole_draws", {**used, "variants": len(formats)}))
    return PromptSet(
        tuple(prompts.values()), tuple(validation), regime, len(pool), possible, tuple(notes)
    )


def demonstration_pool(
    task: Task, validation: Sequence[Example], spec: PromptsSpec, shots: int
) -> list[Example]:
    """Return the examples that `draw_prompts` draws demonstrations from; none at 0 shots."""
    _, pool, _ = _pool(task, validation, spec, _formats(task, spec, shots), shots)
    return pool


def written(task: Task, instruction: str | None = None, form: FormatSpec | None = None) -> Format:
    """Return the task's way of writing examples with another instruction, or another format."""
    varied = Format(_listing(task)) if form is None else _varied(_listing(task), form)
    if instruction is None:
        return varied
    layout = dataclasses.replace(varied.layout, task_prefix=instruction)
    return dataclasses.replace(varied, layout=layout)


def _pool(
    task: Task,
    validation: Sequence[Example],
    spec: PromptsSpec,
    formats: Sequence[Format],
    shots: int,
) -> tuple[Regime, list[Example], list[Remark]]:
    """Return where demonstrations come from, which they are, and how many are not used.

    Not used is what would show a validation example's answer or cluster, or repeats another
    demonstration.
    """
    if shots == 0:
        return "none", [], []
    ids = {example.id for example in validation}
    times = Counter(_shown(example, formats) for example in validation)
    clusters = Counter(each.cluster for each in validation if each.cluster is not None)
    own = None if spec.demonstrations == "leave_out" else task.pool
    others = [example for example in task.examples if example.id not in ids]
    others = others if own is None else [*own]
    usable: dict[tuple[str, ...], Example] = {}
    repeating = of_clusters = 0
    for example in others:
        if (key := _shown(example, formats)) in times:
            repeating += 1
        elif example.cluster in clusters:
            of_clusters += 1
        else:
            usable.setdefault(key, example)
    pool = [*usable.values()]
    copies = len(others) - repeating - of_clusters - len(pool)
    notes: list[Remark] = []
    enough = spec.demonstrations == "outside" or len(pool) >= max(spec.shots)
    if own is None and (spec.demonstrations == "leave_out" or not enough):
        pool = [example for example in validation if times[_shown(example, formats)] == 1]
        if unused := len(validation) - len(pool):
            notes.append(Remark("repeats_not_shown", {"examples": unused}))
        if sharing := sum(size for size in clusters.values() if size > 1):
            values = {"sharing": sharing, "examples": len(validation)}
            notes.append(Remark("clusters_shown", values))
        return "leave_out", pool, notes
    counts = {"repeats_not_shown": repeating + copies}
    if own is not None:
        counts = {"validation_not_shown": repeating, "copies_not_shown": copies}
    counts["clusters_not_shown"] = of_clusters
    notes = [Remark(kind, {"examples": size}) for kind, size in counts.items() if size]
    return ("outside" if own is None else "pool"), pool, notes


def _shown(example: Example, formats: Sequence[Format]) -> tuple[str, ...]:
    """Return what tells examples apart in a prompt: where choices are listed, these too."""
    right = sorted(example.choices[index] for index in example.right)
    after = () if example.continuation is None else (example.continuation,)
    if any(form.layout.append_choices for form in formats):
        return (example.input, *sorted(example.choices), *right, *after)
    return (example.input, *right, *after)


def _check(
    task: Task,
    validation: Sequence[Example],
    spec: PromptsSpec,
    regime: Regime,
    pool: int,
    shots: int,
) -> None:
    taken = next((n.values["test"] for n in task.notes if n.kind == "small_validation_set"), 0)
    where_taken = f" (its test set takes {taken:,})" if taken else ""
    fraction = "give `test` a smaller fraction, " if taken else ""
    if pool < shots:
        where, way_out = {
            "pool": ("in the pool", "or give a larger `pool`"),
            "outside": (
                "outside the validation set",
                "a smaller validation.max_examples or `demonstrations: leave_out`",
            ),
        }.get(regime, ("in the validation set", f"{fraction}or give the task more examples"))
        if regime == "pool" and (unused := len(task.pool or ()) - pool):
            way_out += (
                f" ({unused} of its examples repeat a validation example or its text, or belong to "
                "the cluster of one)"
            )
        raise NoPrompts(
            f"{shots} shots need {shots} different examples for demonstrations, found {pool} "
            f"{where} of {task.name}{where_taken}; use fewer shots, {way_out}"
        )
    if regime == "leave_out" and len(validation) <= shots:
        raise NoPrompts(
            f"{task.name} has {len(validation)} validation example{'s' * (len(validation) != 1)}"
            f"{where_taken}, of which {shots} shot{'s leave' if shots != 1 else ' leaves'} none to "
            f"score; use fewer shots, {fraction}or give the task more examples"
        )
    letters = [f for f in spec.formats or () if f.labels in ("letter", "parenthesized")]
    most = max(len(example.choices) for example in task.examples)
    if letters and most > MOST_LETTERS:
        raise NoPrompts(
            f"{task.name} has an example with {most} choices, and there are {MOST_LETTERS} "
            "letters; use `labels: number`",
            key="formats",
        )


def _arrangement(pool: Sequence[Example], shots: int, code: int) -> tuple[Example, ...]:
    """Return the arrangement of `shots` examples that has the number `code`."""
    moved: dict[int, int] = {}
    chosen = []
    for i in range(shots):
        code, offset = divmod(code, len(pool) - i)
        j = i + offset
        chosen.append(pool[moved.get(j, j)])
        moved[j] = moved.get(i, i)
    return tuple(chosen)


def _formats(task: Task, spec: PromptsSpec, shots: int) -> list[Format]:
    """Return the crossed instruction and format variants that write different prompts."""
    instructions = spec.instructions or [task.layout.task_prefix]
    own = _listing(task)
    variants = [_varied(own, form) for form in spec.formats or ()] or [Format(own)]
    crossed = [
        dataclasses.replace(form, layout=dataclasses.replace(form.layout, task_prefix=instruction))
        for instruction, form in itertools.product(instructions, variants)
    ]
    return list({_written(form.layout, form.labels, shots): form for form in crossed}.values())


def _listing(task: Task) -> Layout:
    """Return the task's layout, which lists no choices where there are none."""
    return dataclasses.replace(task.layout, append_choices=False) if task.is_open else task.layout


def _written(layout: Layout, labels: Labels, shots: int) -> tuple[Labels, Layout]:
    """Return the format without what it never writes."""
    return labels, dataclasses.replace(
        layout,
        choice_prefix=layout.choice_prefix if layout.append_choices else "",
        separator=layout.separator if shots else "",
    )


def _varied(layout: Layout, spec: FormatSpec) -> Format:
    given = spec.model_dump(exclude={"labels"}, exclude_none=True)
    if spec.labels != "text":
        given = {"choice_prefix": "\n", "append_choices": True, **given}
    return Format(dataclasses.replace(layout, **given), spec.labels)
