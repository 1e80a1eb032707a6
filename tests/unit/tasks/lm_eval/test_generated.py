"""Tasks judged by exact match: the same answers are right as for lm-evaluation-harness itself."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.sweeps.written import filtered
from pytest_maxrandom.tasks.load import load_task
from tests.needs import needs
from tests.unit.tasks.lm_eval.harness import Harness

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Task

MATHS = r"""
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "Question: {{question}}\nAnswer:"
doc_to_target: "{{answer}}"
metric_list:
- metric: exact_match
  aggregation: mean
  higher_is_better: true
  ignore_case: true
  ignore_punctuation: false
  regexes_to_ignore: [",", "\\$", "(?s).*#### ", "\\.$"]
generation_kwargs: {until: ["Question:", "</s>"], do_sample: false, temperature: 0.0}
filter_list:
- name: strict-match
  filter:
  - {function: regex, regex_pattern: "#### (\\-?[0-9\\.\\,]+)"}
  - {function: take_first}
- name: flexible-extract
  filter:
  - {function: regex, group_select: -1, regex_pattern: "(-?[$0-9.,]{2,})|(-?[0-9]+)"}
  - {function: take_first}
"""
TRIVIA = """
task: trivia
dataset_path: json
dataset_kwargs: {data_files: {test: trivia.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "Question: {{question}}?\\nAnswer:"
doc_to_target: "{{aliases}}"
generation_kwargs: {until: ["\\n", ".", ","]}
filter_list:
- name: remove_whitespace
  filter: [{function: remove_whitespace}, {function: take_first}]
metric_list:
- {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true,
   ignore_punctuation: true, ignore_numbers: false}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # where lm-evaluation-harness looks for data
    sums = [
        {"question": f"What is {i} and 1{i}?", "answer": f"{i} + 1{i} is {a}.\n#### {a}"}
        for i, a in enumerate(["10", "1,012", "-14", "3.5", "$18", "007"])
    ]
    trivia = [
        {"question": "Capital", "aliases": ["Paris", "City of Light", "paris"]},
        {"question": "Who", "aliases": ["O'Neill", "A. Smith"]},
        {"question": "What", "aliases": ["the 5 \u00e9toiles"]},
    ]
    for name, rows, text in (("sums", sums, MATHS), ("trivia", trivia, TRIVIA)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def load(folder: Path, name: str, **keys: object) -> Task:
    spec = LmEvalSpec.model_validate(
        {"name": name, "format": "lm_eval", "path": f"{name}.yaml"} | keys
    )
    return load_task(spec, folder)


def answers(name: str) -> list[str]:
    """Draw what a model may have written."""
    draw = random.Random(name)
    parts = [
        "#### ", "10", "1,012", "1012", "-14", "3.5", "$18", "18.", ".", "007", "7", "\n", " so ",
        "Paris", "PARIS!", "city of light", "ONeill", "O'Neill ", " a smith", "The 5 \u00c9toiles",
        "the 5 \u00e9toiles", "", "#### 10.", "$", ",",
    ]  # fmt: skip
    return ["".join(draw.choices(parts, k=draw.randint(1, 4))) for _ in range(150)]


@needs("lm_eval")
@pytest.mark.parametrize(
    ("name", "of_filter"),
    [("sums", "strict-match"), ("sums", "flexible-extract"), ("trivia", None)],
)
def test_the_same_answers_are_right(folder: Path, name: str, of_filter: str | None) -> None:
    own = load(folder, name, **({"filter": of_filter} if of_filter else {}))
    harness = Harness(folder, name)
    filters = {each.name: each for each in harness.task._filters}
    steps = filters[of_filter or "remove_whitespace"].filters
    assert own.matching is not None
    seen = set()
    for said in answers(name):
        for example, document in zip(own.examples, harness.documents, strict=True):
            responses = [[said]]
            for step in steps:
                responses = list(step().apply(responses, [document]))
            judged = harness.task.process_results(document, responses)["exact_match"]
            text = filtered(said, own.matching.filters)
            assert example.open is not None
            right = (
                text is not None
                and own.matching.matched(text, example.choices, example.open) is not None
            )
            assert right == bool(judged), (said, example.choices)
            seen.add(right)
    assert seen == {True, False}


@needs("lm_eval")
def test_prompts_are_those_of_the_harness_and_kinds_those_of_what_counts(folder: Path) -> None:
    task, harness = load(folder, "sums"), Harness(folder, "sums")
    assert [each.input for each in task.examples] == [
        harness.task.doc_to_text(document) for document in harness.documents
    ]
    assert {each.open and each.open.kind for each in task.examples} == {"number"}
    assert task.matching is not None
    assert (task.matching.stop, task.matching.max_tokens) == (("Question:", "</s>"), 256)
    assert load(folder, "trivia").examples[0].choices == ("Paris", "City of Light", "paris")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("metric: exact_match", "metric: f1", "judged by f1, so no answer is simply right or"),
        ("ignore_case: true", "hf_evaluate: true", "`hf_evaluate` of exact_match is not supported"),
        ("function: take_first", "function: majority_vote", "`majority_vote` is not supported"),
        ("group_select: -1", "group: -1", None),
        ("test_split: test", "test_split: test\nrepeats: 4", "asks each question several times"),
        (
            'doc_to_target: "{{answer}}"',
            "",
            "the key `doc_to_target` is missing, which a task with",
        ),
    ],
)
def test_what_is_judged_otherwise_is_refused_with_the_reason(
    folder: Path, old: str, new: str, message: str | None
) -> None:
    assert old in MATHS
    (folder / "sums.yaml").write_text(MATHS.replace(old, new))
    if message is None:  # of a filter that is not used
        assert load(folder, "sums").is_open
        return
    with pytest.raises(SuiteError) as error:
        load(folder, "sums")
    assert message in str(error.value)


def test_a_filter_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(SuiteError, match="no filter 'strict'; did you mean 'strict-match'"):
        load(folder, "sums", filter="strict")
