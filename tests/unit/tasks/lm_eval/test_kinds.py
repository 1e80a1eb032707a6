"""Which tasks of lm-evaluation-harness can be asked, and what is left out of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.models.mock import MockModel
from pytest_maxrandom.record import Remark
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.sweeps.prompts.formats import Format
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.load import load_task
from tests.suites import load_suite

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.tasks.task import Task

TASK = """
task: kind
dataset_path: json
dataset_kwargs: {data_files: {train: train.jsonl, test: test.jsonl}}
training_split: train
test_split: test
doc_to_text: "{{q}} is"
doc_to_target: answer
"""
CHOICES = 'output_type: multiple_choice\ndoc_to_choice: ["even", "odd"]\n'


def load(
    folder: Path, text: str, rows: list[dict[str, object]] | None = None, **keys: object
) -> Task:
    rows = rows or [{"q": str(n), "answer": n % 2, "word": "eo"[n % 2]} for n in range(4)]
    for name, part in (("test", rows), ("train", rows[:2])):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, part)))
    (folder / "kind.yaml").write_text(TASK + text)
    keys = {"name": "t", "format": "lm_eval", "path": "kind.yaml"} | keys
    return load_task(LmEvalSpec.model_validate(keys), folder)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        load(folder, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("output_type: loglikelihood\n", "it is `output_type: loglikelihood`, but only"),
        ("output_type: loglikelihood_rolling\n", "it is `output_type: loglikelihood_rolling`"),
        ("", "`metric_list` names no `exact_match`, by which alone generated answers"),
        ("metric_list: [{metric: bleu}]\n", "judged by bleu, so no answer is simply right"),
        ("output_type: multiple_choice\n", "the key `doc_to_choice` is missing"),
        (CHOICES + "doc_to_image: q\n", "it has `doc_to_image`, but only text is supported"),
        (CHOICES + "use_prompt: 'promptsource:*'\n", "`use_prompt` names a promptsource template"),
        (CHOICES + "process_results: !function u.f\n", "`process_results: u.f` judges answers"),
        (CHOICES + "test_split:\n", "there is no `test_split` and no `validation_split`"),
        (CHOICES + "test_split: dev\n", "`dataset_kwargs: data_files` has no split 'dev', found"),
        (CHOICES + "description: '{{q}}'\n", "`description` differs between documents"),
        (CHOICES + "doc_to_target: 7\n", "none of its 4 documents has a right and a wrong choice"),
        (CHOICES + "doc_to_target: wrod\n", "`doc_to_target` of document 1 gives 'wrod', exp"),
        (CHOICES + "doc_to_choices: c\n", "kind.yaml:11: t: unknown key `doc_to_choices`; did you"),
        (CHOICES + "class: !function u.C\n", "kind.yaml:11: t: it is a Python `class`"),
        (CHOICES + "target_delimiter:\n", "kind.yaml:11: t: `target_delimiter`: found null"),
        (CHOICES + "fewshot_config: 3\n", "kind.yaml:11: t: `fewshot_config`: found the number 3"),
        (CHOICES + "dataset_kwargs: 3\n", "kind.yaml:11: t: `dataset_kwargs`: found the number 3"),
        (CHOICES + "task: [a]\n", "kind.yaml:11: `task`: found a list, expected a name"),
        (CHOICES.replace('"even", "odd"', "yes, no"), "found true as a choice, expected a text"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_reason(
    tmp_path: Path, text: str, message: str
) -> None:
    assert message in refusal(tmp_path, text)


def test_answers_that_are_generated_need_choices_that_the_suite_gives(tmp_path: Path) -> None:
    text = "doc_to_target: word\nmetric_list: [{metric: exact_match}]\n"
    task = load(tmp_path, text, doc_to_choice=["e", "o"])
    assert [example.choices for example in task.examples] == [("e", "o")] * 4
    assert [example.right for example in task.examples] == [(0,), (1,), (0,), (1,)]
    assert Format(task.layout).stops == ("\n\n",)
    assert task.pool is not None
    assert Format(task.layout).demonstration(task.pool[1]) == "1 is o"
    (note,) = map(worded, (each for each in task.notes if isinstance(each, Remark)))
    assert "and `scoring: generate` reads the answers" in note.text


def test_a_generated_number_is_an_answer_and_no_place(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"q": "1 + 0", "answer": "1"}, {"q": "2 - 0", "answer": "2"}]
    task = load(tmp_path, "doc_to_target: '{{answer}}'\n", rows, doc_to_choice=["2", "1"])
    assert [example.right for example in task.examples] == [(1,), (0,)]


def test_the_suite_may_say_what_is_right_where_code_judges(tmp_path: Path) -> None:
    text = CHOICES + "process_results: !function u.f\n"
    task = load(tmp_path, text, doc_to_target="{{'eo'.index(word)}}")
    assert [example.right for example in task.examples] == [(0,), (1,), (0,), (1,)]


def test_documents_without_a_guess_that_is_right_or_wrong_are_left_out_and_told(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, object]] = [
        {"q": "1", "c": ["a", "b"], "answer": 1},
        {"q": "2", "c": ["a", "b"], "answer": -1},
        {"q": "3", "c": ["a", "a", "b"], "answer": 1},
        {"q": "4", "c": ["a"], "answer": 0},
        {"q": "5", "c": ["a", " "], "answer": 0},
        {"q": "6", "c": ["a", "b"], "answer": [0, 1]},
        {"q": "7", "c": ["a", "b", "c"], "answer": [0, 2]},
    ]
    task = load(tmp_path, "output_type: multiple_choice\ndoc_to_choice: c\n", rows)
    assert [(each.id, each.right) for each in task.examples] == [("#1", (1,)), ("#7", (0, 2))]
    told = next(note for note in task.notes if isinstance(note, Remark) and note.kind != "lm_eval")
    assert told.values["documents"] == 5
    assert worded(told).text == (
        "Documents left out because no guess at them can be both right and wrong: 5 (1 without a "
        "right choice, 1 with two choices of one text, 1 with fewer than two choices, 1 with an "
        "empty choice, 1 with right choices alone)."
    )


def test_the_suite_may_name_other_data_and_another_split(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps([{"q": "8", "answer": 0}]))
    files = {"data_files": {"test": "other.json", "train": "other.json"}}
    task = load(tmp_path, CHOICES, dataset_kwargs=files)
    assert [example.input for example in task.examples] == ["8 is"]
    task = load(tmp_path, CHOICES, split="train")
    assert [example.input for example in task.examples] == ["0 is", "1 is"]
    assert task.pool is None


def test_demonstrations_come_from_the_split_that_the_task_says(tmp_path: Path) -> None:
    task = load(tmp_path, CHOICES)
    assert task.pool_source == "split train"
    assert [example.input for example in task.pool or ()] == ["0 is", "1 is"]
    own = load(tmp_path, CHOICES + "fewshot_split: test\n")
    assert own.pool is None


BEGINNINGS = """output_type: multiple_choice
doc_to_text: answer
doc_to_choice: "{{[q ~ ' is even', q ~ ' is odd']}}"
doc_to_target: so it is.
"""


def test_beginnings_with_one_end_are_questions_without_an_input(tmp_path: Path) -> None:
    task = load(tmp_path, BEGINNINGS)
    example = task.examples[1]
    assert (example.input, example.choices) == ("", ("1 is even", "1 is odd"))
    assert (example.right, example.continuation) == ((1,), "so it is.")
    kinds = [note.kind for note in task.notes if isinstance(note, Remark)]
    assert kinds == ["lm_eval"]


def beginnings(folder: Path, scoring: str, formats: str) -> PlannedClaim:
    rows: list[dict[str, object]] = [{"q": str(n), "answer": n % 2} for n in range(40)]
    load(folder, BEGINNINGS, rows)
    (folder / "s.yaml").write_text(
        "models: [{name: m, backend: mock, knows: 1}]\n"
        "tasks: [{name: t, format: lm_eval, path: kind.yaml}]\n"
        f"prompts: {{count: 3, shots: 1, demonstrations: leave_out, formats: {formats}}}\n"
        f"scoring: {scoring}\n"
    )
    (claim,) = plan(load_suite(folder / "s.yaml"))
    return claim


@pytest.mark.parametrize(
    ("scoring", "formats"),
    [
        ("sum_logprob", "[{separator: '|'}]"),
        ("counterfactual", "[{separator: '|'}]"),
        ("sum_logprob", "[{labels: letter}]"),
        ("generate", "[{labels: letter}]"),
    ],
)
def test_a_model_that_knows_is_right_about_them_however_it_is_asked(
    tmp_path: Path, scoring: str, formats: str
) -> None:
    claim = beginnings(tmp_path, scoring, formats)
    assert isinstance(claim.model, MockSpec)
    model = MockModel(claim.model)
    scorer = SCORERS[scoring]
    for prompt, examples in claim.condition.prompt_set.pairs:
        assert prompt.text.count("so it is.") == (2 if "letter" in formats else 1)
        for example in examples:
            answers = model.ask(scorer.questions(prompt, example)).answers
            assert scorer.answer(prompt, example, answers).chosen == example.right[0]


def test_a_model_that_writes_must_be_shown_the_beginnings(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        beginnings(tmp_path, "generate", "[{separator: '|'}]")
    assert "s.yaml:3: t asks how a text begins, but does not list the choices" in str(caught.value)
