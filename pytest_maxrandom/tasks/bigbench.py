"""Tasks in the JSON of BIG-bench (Srivastava et al. 2023, arXiv:2206.04615; its `docs/doc.md`)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, described, did_you_mean, listed, quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.tasks import BigBenchSpec
from pytest_maxrandom.tasks.reading import (
    HALF_A_PAIR,
    UNPAIRED,
    Findings,
    JsonObject,
    Mistake,
    as_cluster,
    as_id,
    as_object,
    as_reference,
    as_text,
    file_findings,
    parse_json,
    read_file,
)
from pytest_maxrandom.tasks.references import Open, kind_of
from pytest_maxrandom.tasks.task import Example, Layout, Task, Where
from pytest_maxrandom.tasks.whole import finished_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_LAYOUT_KEYS = {
    "task_prefix": "task_prefix",
    "example_input_prefix": "input_prefix",
    "example_output_prefix": "output_prefix",
    "choice_prefix": "choice_prefix",
    "few_shot_example_separator": "separator",
    "append_choices_to_input": "append_choices",
}
_BETWEEN = re.compile(r"[\s:,]*")
_ID_KEYS = ("_id", "id", "idx")


class BigBench:
    """Reads the JSON of BIG-bench; the choices with the highest score are the right ones.

    Examples with a "target" alone (free-form generation) have no choices.
    """

    spec = BigBenchSpec

    def read(self, spec: BigBenchSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.task.Source`."""
        file, text = read_file(spec.path, base, where)
        document = file_findings(file).require(_document, text)
        examples = document["examples"]
        findings = _example_findings(file, text)
        layout = _layout(document, findings)
        drafts = _drafts(examples, findings, spec.columns.cluster)
        task = finished_task(spec.name, drafts, findings, layout)
        if task.is_open:
            return task
        graded = sum(not {0, 1}.issuperset(each["target_scores"].values()) for each in examples)
        if not graded:
            return task
        values = {"graded": graded, "examples": len(examples)}
        return replace(task, notes=(Remark("graded_scores", values),))


def _example_findings(file: Path, text: str) -> Findings:
    """Return findings whose places are the examples' numbers from 1, as a file may be one line."""
    starts = _starts(text)

    def line(number: int) -> int:
        return text.count("\n", 0, starts[number - 1]) + 1

    def locate(number: int | None, message: str) -> Problem:
        if number is None:
            return Problem(file, None, message)
        return Problem(file, line(number), f"example {number}: {message}")

    return Findings(locate, lambda number: f"example {number} (line {line(number)})")


def _starts(text: str) -> list[int]:
    """Return where the examples begin in the text of an object with the key "examples"."""
    decode = json.JSONDecoder().raw_decode

    def skip(position: int) -> int:
        between = _BETWEEN.match(text, position)
        return between.end() if between else position

    name, position = decode(text, skip(text.index("{") + 1))
    while name != "examples":
        _, position = decode(text, skip(position))
        name, position = decode(text, skip(position))
    starts = []
    position = skip(skip(position) + 1)
    while text[position] != "]":
        starts.append(position)
        position = skip(decode(text, position)[1])
    return starts


def _document(text: str) -> JsonObject:
    document = as_object(parse_json(text), "a BIG-bench file", line=1)
    examples = document.get("examples")
    if isinstance(examples, list) and examples:
        return document
    subtasks = document.get("subtasks")
    if isinstance(subtasks, list) and subtasks:
        names = listed([name if isinstance(name, str) else described(name) for name in subtasks])
        raise Mistake(
            f"the file only lists subtasks ({names}); give each subtask's own task.json as a task"
        )
    what = "an empty list" if _value(document, "examples") == [] else described(examples)
    raise Mistake(f'"examples" must be a list with at least one example, found {what}')


def _layout(document: JsonObject, findings: Findings) -> Layout:
    default = Layout()
    given = {
        field: findings.attempt(None, _layout_value, key, document[key], getattr(default, field))
        for key, field in _LAYOUT_KEYS.items()
        if key in document
    }
    return replace(default, **{field: text for field, text in given.items() if text is not None})


def _layout_value(key: str, value: Any, default: str | bool) -> Any:
    if type(value) is not type(default):
        expected = "true or false" if isinstance(default, bool) else "a text"
        raise Mistake(f'"{key}" must be {expected}, found {described(value)}')
    if isinstance(value, str) and UNPAIRED.search(value):
        raise Mistake(
            f'no tokenizer can read the "{key}" {quoted(value)}, because {HALF_A_PAIR}; repair the '
            "text"
        )
    return value


def _drafts(
    examples: list[object], findings: Findings, cluster_key: str | None
) -> Iterator[tuple[int, Example]]:
    for number, example in enumerate(examples, 1):
        fields = findings.attempt(number, as_object, example, "an example")
        if fields is None:
            continue
        id_ = findings.attempt(number, _id, fields, number)
        text = findings.attempt(number, _input, fields)
        cluster = None
        if cluster_key is not None:
            cluster = findings.attempt(number, as_cluster, fields.get(cluster_key), cluster_key)
        if "target" in fields and "target_scores" not in fields:
            references = findings.attempt(number, _references, fields)
            if id_ is not None and text is not None and references is not None:
                how = Open(kind_of(references[0]))
                whole = Example.without_choices(id_, text, references, how)
                yield number, replace(whole, cluster=cluster)
            continue
        scores = findings.attempt(number, _scores, fields)
        if id_ is None or text is None or scores is None:
            continue
        best = max(scores.values(), default=0)
        right = tuple(i for i, score in enumerate(scores.values()) if score == best > 0)
        yield number, Example(id_, text, tuple(scores), right, cluster=cluster)


def _id(fields: JsonObject, number: int) -> str:
    given = (fields[key] for key in _ID_KEYS if fields.get(key) is not None)
    return next(map(as_id, given), f"#{number}")


def _value(fields: JsonObject, key: str) -> Any:
    if key not in fields:
        raise Mistake(f'there is no key "{key}"{did_you_mean(key, fields)}')
    return fields[key]


def _input(fields: JsonObject) -> str:
    return as_text(_value(fields, "input"), '"input"')


def _references(fields: JsonObject) -> list[str]:
    """Return what free-form generation is compared with: one text, or several."""
    target = fields["target"]
    several = target if isinstance(target, list) else [target]
    if not several:
        raise Mistake('"target" is an empty list; give at least one reference')
    return [*dict.fromkeys(as_reference(each) for each in several)]


def _scores(fields: JsonObject) -> dict[str, float]:
    scores = _value(fields, "target_scores")
    if not isinstance(scores, JsonObject):
        raise Mistake(f'"target_scores" must map choices to scores, found {described(scores)}')
    if scores.repeated:
        raise Mistake(
            f"choices must differ, but these appear more than once: {listed(scores.repeated)}"
        )
    for choice, score in scores.items():
        if not isinstance(score, int | float) or not abs(score) < math.inf:
            raise Mistake(
                f"the score of {quoted(choice)} must be a finite number, found {described(score)}"
            )
    return scores
