"""The incumbent of a suite whose models are run, as far as it is known before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.samples import aggregate_of, unlike
from pytest_maxrandom.errors import ModelError, ModelNotFound, RecordedError, did_you_mean
from pytest_maxrandom.host.data import NOT_QUOTED, reading
from pytest_maxrandom.ledger.lines import named_digest
from pytest_maxrandom.recorded.prediction_lines import PromptLine, read_lines
from pytest_maxrandom.sweeps.open_answers import generation_of, matching_of
from pytest_maxrandom.sweeps.prompts.formats import Prompt
from pytest_maxrandom.sweeps.prompts.sampling import written
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.errors import Problem
    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.suite.incumbent import IncumbentSpec
    from pytest_maxrandom.suite.loader import Suite
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.tasks.task import Example

SHOWN = 12
"""Digits of a digest that messages show."""


class NoIncumbent(ValueError):
    """What a suite says of its incumbent fits no claim.

    `place` is where in the suite it is said.
    """

    def __init__(self, message: str, *keys: str | int) -> None:
        super().__init__(message)
        self.place = ("incumbent", *keys)


@dataclass(frozen=True, eq=False)
class Incumbent:
    """What runs today, as far as it is known before a model is loaded."""

    spec: IncumbentSpec
    prompt: Prompt | None
    """None where its answers are recorded."""
    line: PromptLine | None = None
    """These answers."""
    source: str = ""
    """The file that they are from, as the suite names it."""

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.prompt is None:
            return f"the answers of {self.source}"
        spec = self.spec
        parts = (
            [f"instruction {spec.instruction.strip()!r}"] if spec.instruction is not None else []
        )
        parts += [f"{len(spec.demonstrations)} demonstrations"] * bool(spec.demonstrations)
        parts += ["a format of its own"] * (spec.format is not None)
        return f"the prompt with {' and '.join(parts)}" if parts else "the plain prompt"


def incumbent_of(suite: SuiteSpec, condition: Condition, base: Path) -> Incumbent | None:
    """Return the incumbent of a suite for one task; None where it names none.

    Raises
    ------
    NoIncumbent
        In one sentence, where it shows examples that the task does not have, or its answers are of
        other examples.
    """
    spec = suite.incumbent
    if spec is None:
        return None
    if spec.answers is not None:
        line = _stored(spec, condition, base)
        if why := unlike(aggregate_of(suite), 1):
            raise NoIncumbent(
                f"{spec.answers}: {why}; name the incumbent's prompt and model, so that it is "
                "asked as often",
                "answers",
            )
        is_graded = SCORERS[suite.scoring].is_graded
        if (is_graded or line.examples[0].score is not None) and line.scoring != suite.scoring:
            raise NoIncumbent(
                f"{spec.answers} holds what `scoring: {line.scoring}` read, and those of the "
                f"prompts are read by `scoring: {suite.scoring}`; name the incumbent's prompt and "
                "model, so that it is asked again",
                "answers",
            )
        matching = matching_of(suite, condition.task)
        if matching is not None and line.matching != matching.digest:
            raise NoIncumbent(
                f"{spec.answers} holds answers that were compared with their references in another "
                "way than those of the prompts are (`exact_match`), or does not say how; name the "
                "incumbent's prompt and model, so that it is asked again",
                "answers",
            )
        for model in suite.models if spec.model is None else [spec.model]:
            if (model.name, model.variant) != (line.model, line.quantization):
                whose = "of the suite" if spec.model is None else "beside them"
                raise NoIncumbent(
                    f"{spec.answers} holds answers of {line.model}, and nothing tells whether they "
                    f"are still its own: the model {whose} is {model.test_id}; give its `model` "
                    "beside `answers`, or name its prompt and model without them, so that it is "
                    "asked again",
                    "answers",
                )
        return Incumbent(spec, None, line, spec.answers)
    task = condition.task
    known = {each.id: each for each in (*task.examples, *(task.pool or ()))}
    for place, name in enumerate(spec.demonstrations):
        if name not in known:
            hint = did_you_mean(name, known) or "; give the ids of examples of the task or its pool"
            raise NoIncumbent(f"{task.name} has no example {name!r}{hint}", "demonstrations", place)
    shown = tuple(known[name] for name in spec.demonstrations)
    if {each.id for each in condition.prompt_set.validation} <= {*spec.demonstrations}:
        raise NoIncumbent(f"it shows all validation examples of {task.name}", "demonstrations")
    prompt = Prompt(shown, written(task, spec.instruction, spec.format))
    scorer = SCORERS[suite.scoring]
    if scorer.states_choices:
        prompt = prompt.asked(suite.counterfactual)
    elif scorer.generates:
        prompt = prompt.asked(None, generation_of(suite, task), matching_of(suite, task))
    return Incumbent(spec, prompt)


def without_model(suite: Suite, backends: Backends) -> Iterator[Problem]:
    """Yield what is wrong with the model of the incumbent, where it has one of its own."""
    spec = suite.spec.incumbent
    if spec is None or spec.model is None:
        return
    try:
        backends.locate(spec.model, suite.path.parent)
    except ModelError as error:
        wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
        for key, message in wrong.items():
            yield suite.problem(("incumbent", "model", key), message)


def _stored(spec: IncumbentSpec, condition: Condition, base: Path) -> PromptLine:
    """Return the recorded answers of the incumbent to the examples of a claim."""
    assert spec.answers is not None
    path = base / spec.answers
    task = condition.task
    try:
        with reading(base) as found:
            lines = [*read_lines(path)]
    except RecordedError as error:
        unread = f"{spec.answers}: cannot be read; {NOT_QUOTED}"
        told = str(error) if found.quotable else unread
        raise NoIncumbent(told, "answers") from None
    except OSError as error:
        raise NoIncumbent(f"{path}: cannot be read: {error.strerror}", "answers") from None
    known = {each.id: each for each in task.examples}
    asked = {each.id for each in condition.prompt_set.validation}
    own = [each for each in lines if _is_of(each, known)]
    whole = [each for each in own if not (asked - {*each.demonstration_ids} - _ids(each))]
    if not whole:
        raise NoIncumbent(
            f"{path} holds no answers to the {len(asked)} validation examples of {task.name} as "
            "they are now; name the incumbent's prompt and model, so that it is asked again",
            "answers",
        )
    wanted = [each for each in whole if each.prompt.startswith(spec.prompt or "")]
    digests = sorted({each.prompt for each in wanted})
    if len(digests) != 1:
        what = f"{len(digests)} prompts" if digests else "no prompt"
        begin = f" whose digest begins with {spec.prompt!r}" if spec.prompt else ""
        raise NoIncumbent(
            f"{path} holds {what}{begin} on {task.name}, expected one; give the first letters of "
            "its digest as `prompt`",
            "prompt" if spec.prompt else "answers",
        )
    if any(each.sample is not None for each in wanted):
        raise NoIncumbent(
            f"{path} holds several samples of each answer of the incumbent, and one is needed; "
            "name its prompt and model, so that it is asked as the others are",
            "answers",
        )
    return wanted[0]


def _is_of(line: PromptLine, known: Mapping[str, Example]) -> bool:
    """Tell whether answers are to examples that are what they were."""
    ids = _ids(line)
    return ids <= known.keys() and line.examples_digest == named_digest(known[i] for i in ids)


def _ids(line: PromptLine) -> set[str]:
    return {each.id for each in line.examples}
