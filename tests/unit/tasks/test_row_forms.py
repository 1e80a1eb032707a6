"""Forms that the data of lm-evaluation-harness have, read alike from JSONL, CSV and the hub.

What an example must be is told by Jinja2: the templates are those of the harness's own task files.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import jinja2
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from pytest_maxrandom.tasks import Task
    from tests.unit.tasks.conftest import Folder

    Load = Callable[..., Task]

Row = dict[str, Any]


def as_csv(rows: Sequence[Row], cell: Callable[[Any], str] = json.dumps) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([cell(v) if isinstance(v, list | dict) else v for v in row.values()])
    return text.getvalue()


def as_jsonl(rows: Sequence[Row]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture(params=["jsonl", "csv", "hub"])
def format_(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def keys_of(
    folder: Folder,
    format_: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Sequence[Row]], tuple[str | None, dict[str, Any]]]:
    """Write rows in the format; return the content of a file, or the keys of a dataset."""
    if format_ == "hub":
        datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("c")))
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def write(rows: Sequence[Row]) -> tuple[str | None, dict[str, Any]]:
        if format_ != "hub":
            return (as_csv(rows) if format_ == "csv" else as_jsonl(rows)), {}
        (folder.path / "data").mkdir(exist_ok=True)
        datasets.Dataset.from_list(list(rows)).to_parquet(folder.path / "data" / "test.parquet")
        return None, {"path": "data", "split": "test"}

    return write


@pytest.fixture
def load(folder: Folder, format_: str, keys_of: Callable[..., Any]) -> Load:
    def loaded(rows: Sequence[Row], **keys: Any) -> Task:
        content, more = keys_of(rows)
        return folder.load(format_, content, **keys, **more)

    return loaded


@pytest.fixture
def told(folder: Folder, format_: str, keys_of: Callable[..., Any]) -> Callable[..., str]:
    """What a user is told of a single row, without its place."""

    def mistake(row: Row, **keys: Any) -> str:
        content, more = keys_of([row])
        (message,) = folder.mistakes(format_, content, **keys, **more)
        place = {"jsonl": "task.jsonl:1: ", "csv": "task.csv:2: ",
                 "hub": "suite.yaml:7: 'data', row 1: "}[format_]  # fmt: skip
        assert message.startswith(place)
        return message.removeprefix(place)

    return mistake


# Of each task: doc_to_text, doc_to_choice, doc_to_target; the keys; documents.
FORMS: dict[str, tuple[tuple[str, Any, str], Row, list[Row]]] = {
    "arc_easy": (
        (
            "Question: {{question}}\nAnswer:",
            "{{choices.text}}",
            "{{choices.label.index(answerKey)}}",
        ),
        {
            "input": "Question: {question}\nAnswer:",
            "columns": {
                "choices": "choices.text",
                "labels": "choices.label",
                "answer": "answerKey",
                "id": "id",
            },
        },
        [
            {"id": "M1", "question": "What melts?", "answerKey": "C",
             "choices": {"text": ["rock", "air", "ice", "fire"], "label": ["A", "B", "C", "D"]}},
            {"id": "M2", "question": "What {burns}?", "answerKey": "2",
             "choices": {"text": ["rock", "wood", "ice"], "label": ["1", "2", "3"]}},
        ],
    ),
    "boolq": (
        ("{{passage}}\nQuestion: {{question}}?\nAnswer:", ["no", "yes"], "{{label}}"),
        {
            "input": "{passage}\nQuestion: {question}?\nAnswer:",
            "choices": ["no", "yes"],
            "columns": {"answer": "label", "cluster": "passage"},
            "answer_is": "index",
        },
        [
            {"passage": "Ice is cold.", "question": "is ice cold", "label": 1},
            {"passage": "Fire is \"hot\",\nI hear.", "question": "is fire cold", "label": 0},
        ],
    ),
    "piqa": (
        ("Question: {{goal}}\nAnswer:", "{{[sol1, sol2]}}", "{{label}}"),
        {
            "input": "Question: {goal}\nAnswer:",
            "columns": {"choices": ["sol1", "sol2"], "answer": "label"},
            "answer_is": "index",
        },
        [{"goal": "to boil", "sol1": "heat", "sol2": "cool", "label": 0}],
    ),
    "siqa": (
        (
            "Q: {{context}} {{question}}\nA:",
            "{{[answerA, answerB, answerC]}}",
            "{{ (label|int) - 1 }}",
        ),
        {
            "input": "Q: {context} {question}\nA:",
            "columns": {"choices": ["answerA", "answerB", "answerC"], "answer": "label"},
            "answer_is": "number",
        },
        [
            {"context": "Jo ran.", "question": "Why?", "answerA": "late", "answerB": "lazy",
             "answerC": "ill", "label": "1"},
            {"context": "Jo ate.", "question": "Why?", "answerA": "late", "answerB": "lazy",
             "answerC": "hungry", "label": "3"},
        ],
    ),
    "sciq": (
        (
            "{{support.lstrip()}}\nQuestion: {{question}}\nAnswer:",
            "{{[distractor1, distractor2, distractor3, correct_answer]}}",
            "3",
        ),
        {
            "input": "{support}\nQuestion: {question}\nAnswer:",
            "columns": {
                "choices": ["distractor1", "distractor2", "distractor3", "correct_answer"],
                "answer": "correct_answer",
            },
        },
        [{"support": "s", "question": "q", "distractor1": "1", "distractor2": "2",
          "distractor3": "3", "correct_answer": "four"}],
    ),
    "blimp": (
        ("", "{{[sentence_good, sentence_bad]}}", "0"),
        {
            "input": "",
            "columns": {"choices": ["sentence_good", "sentence_bad"], "answer": "sentence_good"},
        },
        [{"sentence_good": "He runs.", "sentence_bad": "He run."}],
    ),
    "truthfulqa_mc1": (
        ("Q: {{question}}", "{{mc1_targets.choices}}", "0"),
        {
            "input": "Q: {question}",
            "columns": {"choices": "mc1_targets.choices", "answer": "mc1_targets.labels"},
            "answer_is": "multi_hot",
        },
        [
            {"question": "q", "mc1_targets": {"choices": ["t", "f", "g"], "labels": [1, 0, 0]}},
            {"question": "r", "mc1_targets": {"choices": ["u", "h"], "labels": [1, 0]}},
        ],
    ),
    "mutual": (
        ("{{article}}", "{{options}}", "{{['A', 'B', 'C', 'D'].index(answers)}}"),
        {
            "columns": {"input": "article", "choices": "options", "answer": "answers"},
            "answer_is": "letter",
        },
        [{"article": "m: hi", "options": ["a", "b", "c", "d"], "answers": "D"}],
    ),
    "qa4mre_2011": (
        (
            "{{document_str.strip()}}\nQuestion: {{question_str}}\nAnswer:",
            "{{answer_options.answer_str}}",
            "{{correct_answer_id|int - 1}}",
        ),
        {
            "input": "{document_str}\nQuestion: {question_str}\nAnswer:",
            "columns": {"choices": "answer_options.answer_str", "answer": "correct_answer_id",
                        "labels": "answer_options.answer_id"},
        },
        [{"document_str": "d", "question_str": "q", "correct_answer_id": "2",
          "answer_options": {"answer_id": ["1", "2", "3"], "answer_str": ["x", "y", "z"]}}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("task", FORMS)
def test_examples_are_what_the_harness_makes_of_the_same_documents(load: Load, task: str) -> None:
    (to_text, to_choice, to_target), keys, documents = FORMS[task]
    environment = jinja2.Environment(keep_trailing_newline=True)

    def rendered(template: str, row: Row) -> str:
        return environment.from_string(template).render(row)

    found = load(documents, **keys)
    assert [(e.input, list(e.choices), e.right) for e in found.examples] == [
        (
            rendered(to_text, row),
            to_choice
            if isinstance(to_choice, list)
            else environment.compile_expression(to_choice.strip("{}"))(row),
            (int(rendered(to_target, row)),),
        )
        for row in documents
    ]
    columns = keys.get("columns", {})
    if "id" in columns:
        assert [example.id for example in found.examples] == [row["id"] for row in documents]
    if "cluster" in columns:
        clusters = [example.cluster for example in found.examples]
        assert clusters == [row["passage"] for row in documents]


def test_several_right_answers_in_each_way_of_writing_them(load: Load) -> None:
    base: Row = {"input": "?", "choices": ["w", "x", "y", "z"], "names": ["1", "2", "3", "4"]}
    for answer, keys in (
        (["x", "z"], {}),
        (["x", "z"], {"answer_is": "text"}),
        ([1, 3], {"answer_is": "index"}),
        ([2, 4], {"answer_is": "number"}),
        (["B", "D"], {"answer_is": "letter"}),
        (["(b)", "D."], {"answer_is": "letter"}),
        ([0, 1, 0, 1], {"answer_is": "multi_hot"}),
        (["2", "4"], {"columns": {"labels": "names"}}),
    ):
        (example,) = load([{**base, "answer": answer}], **keys).examples
        assert (example.choices, example.right) == (("w", "x", "y", "z"), (1, 3)), answer


@pytest.mark.parametrize("spelled", [json.dumps, str])
def test_lists_may_be_spelled_in_a_text_as_json_or_as_python_writes_them(
    load: Load, spelled: Callable[[Any], str]
) -> None:
    row = {
        "input": "?",
        "choices": spelled(["it's", 'a "b"', "caf\u00e9 \\d"]),
        "answer": spelled(["it's", "caf\u00e9 \\d"]),
    }
    (example,) = load([row]).examples
    assert (example.choices, example.right) == (("it's", 'a "b"', "caf\u00e9 \\d"), (0, 2))


def test_a_list_of_objects_is_a_list_of_their_parts(load: Load) -> None:
    options = [{"name": "A", "text": "x"}, {"name": "B", "text": "y"}]
    (example,) = load(
        [{"input": "?", "options": options, "gold": "B"}],
        columns={"choices": "options.text", "labels": "options.name", "answer": "gold"},
    ).examples
    assert (example.choices, example.right) == (("x", "y"), (1,))


def test_an_object_of_choices_by_letter_is_columns(load: Load) -> None:
    rows = [
        {"input": "1", "options": {"A": "x", "B": "y", "C": "z"}, "answer": "C"},
        {"input": "2", "options": {"A": "x", "B": "y", "C": None}, "answer": "B"},
    ]
    found = load(rows, columns={"choices": [f"options.{key}" for key in "ABC"]}, answer_is="letter")
    assert [(e.choices, e.right) for e in found.examples] == [
        (("x", "y", "z"), (2,)),
        (("x", "y"), (1,)),
    ]


def test_a_column_whose_name_has_a_dot_is_that_column(load: Load) -> None:
    row = {"input": "?", "choices.text": ["x", "y"], "answer": "y"}
    (example,) = load([row], columns={"choices": "choices.text"}).examples
    assert (example.choices, example.right) == (("x", "y"), (1,))


def test_an_instruction_of_the_rows_own_is_a_part_of_the_input(load: Load) -> None:
    rows = [
        {"do": f"Say {word}.", "input": "q", "choices": ["a", "b"], "answer": word} for word in "ab"
    ]
    found = load(rows, input="{do} {{really}} {input}")
    assert [e.input for e in found.examples] == ["Say a. {really} q", "Say b. {really} q"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
WORDS = TEXTS.filter(str.strip) | st.sampled_from(["[1]", '["a"]', "1", "{a}", "A", "x, y"])
ANSWERS: dict[str, Callable[[list[str], list[int]], list[Any]]] = {
    "text": lambda choices, right: [choices[place] for place in right],
    "index": lambda _, right: right,
    "number": lambda _, right: [place + 1 for place in right],
    "letter": lambda _, right: ["ABCDEF"[place] for place in right],
    "labels": lambda _, right: [f"<{place}>" for place in right],
    "multi_hot": lambda choices, right: [int(place in right) for place in range(len(choices))],
}


@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.lists(WORDS, min_size=2, max_size=5, unique=True),
                       st.randoms(use_true_random=False)), min_size=1, max_size=4),
    st.sampled_from(sorted(ANSWERS)),
    st.sampled_from(["list", "nested", "columns"]),
    st.booleans(),
    st.sampled_from([json.dumps, str]),
)  # fmt: skip
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_form_the_examples_are_the_same(
    folder: Folder,
    examples: list[tuple[str, str, list[str], Random]],
    answer: str,
    form: str,
    bare: bool,
    spelled: Callable[[Any], str],
) -> None:
    """Any texts, in any form of choices and answers, are the same examples in JSONL and CSV."""
    rows, expected = [], []
    columns: Row = {"answer": "gold", "cluster": "of"}
    columns["choices"] = {"list": "c", "nested": "o.c", "columns": [*"vwxyz"]}[form]
    if answer == "labels":
        columns["labels"] = "o.l"
    for number, (one, other, choices, chance) in enumerate(examples):
        right = sorted(chance.sample(range(len(choices)), chance.randrange(1, len(choices))))
        gold = ANSWERS[answer](choices, right)
        slots = [f"<{place}>" for place in range(5 if form == "columns" else len(choices))]
        if answer == "multi_hot" and form == "columns":
            gold += [0] * (5 - len(choices))
        one_only = bare and answer != "multi_hot" and len(gold) == 1
        rows.append({
            "one": one, "other": other, "of": f"p{number // 2}", "c": choices,
            "o": {"c": choices, "l": slots}, "gold": gold[0] if one_only else gold,
            **dict(zip("vwxyz", [*choices, *[None] * 5], strict=False)),
        })  # fmt: skip
        expected.append((f"{one} {{of}} {other}", tuple(choices), tuple(right), f"p{number // 2}"))
    keys: Row = {"input": "{one} {{of}} {other}", "columns": columns}
    if answer != "labels":
        keys["answer_is"] = answer
    for format_, content in (("jsonl", as_jsonl(rows)), ("csv", as_csv(rows, spelled))):
        found = folder.load(format_, content, **keys).examples
        assert [(e.input, e.choices, e.right, e.cluster) for e in found] == expected, format_


CHOICES: Row = {"input": "?", "choices": ["x", "y", "z"]}
MISTAKES: list[tuple[Row, Row, str]] = [
    (
        {**CHOICES, "answer": 3},
        {"answer_is": "index"},
        "an index must be a whole number from 0 to 2, found 3; if answers count from 1, add "
        "`answer_is: number`",
    ),
    (
        {**CHOICES, "answer": 0},
        {"answer_is": "number"},
        "a number must be a whole number from 1 to 3, found 0",
    ),
    (
        {**CHOICES, "answer": "x, z"},
        {},
        "the answer 'x, z' is none of the choices 'x', 'y', 'z'; write several right answers as a "
        'list: ["x", "z"]',
    ),
    (
        {**CHOICES, "answer": "(B)"},
        {},
        "the answer '(B)' is none of the choices 'x', 'y', 'z'; if it is a letter, add `answer_is: "
        "letter`",
    ),
    (
        {**CHOICES, "answer": [0, 1]},
        {"answer_is": "multi_hot"},
        "an answer that is `multi_hot` must be a list of 3 numbers 0 or 1, one for each choice, "
        "found 2",
    ),
    (
        {**CHOICES, "answer": "x"},
        {"answer_is": "multi_hot"},
        "an answer that is `multi_hot` must be a list of 3 numbers 0 or 1, one for each choice, "
        "found 'x'",
    ),
    (
        {**CHOICES, "answer": [0, 2, 1]},
        {"answer_is": "multi_hot"},
        "an answer that is `multi_hot` must hold 0 and 1 only, found the number 2",
    ),
    (
        {**CHOICES, "answer": [0, 0, 0]},
        {"answer_is": "multi_hot"},
        "no choice is right; a task needs a right choice in each example",
    ),
    (
        {**CHOICES, "answer": "E", "names": ["A", "B", "C"]},
        {"columns": {"labels": "names"}},
        "the answer 'E' is none of the labels 'A', 'B', 'C'",
    ),
    (
        {**CHOICES, "answer": "A", "names": ["A", "B"]},
        {"columns": {"labels": "names"}},
        "the column 'names' must hold a list of 3 labels, one for each choice, found 2",
    ),
    (
        {**CHOICES, "answer": "A", "names": "ABC"},
        {"columns": {"labels": "names"}},
        "the column 'names' must hold a list of 3 labels, one for each choice, found 'ABC'",
    ),
    (
        {**CHOICES, "answer": "A", "names": ["A", "B", "A"]},
        {"columns": {"labels": "names"}},
        "labels must differ, but these appear more than once: 'A'",
    ),
    (
        {"input": "?", "answer": [["a"], ["b"]]},
        {"answer_is": "open"},
        "a reference must be a text or a number, found a list",
    ),
    (
        {"input": "?", "answer": [3.5, float("nan")]},
        {"answer_is": "open"},
        "a reference is empty; give the right answer, or leave the row out",
    ),
]


@pytest.mark.parametrize(("row", "keys", "message"), MISTAKES)
def test_a_mistake_in_a_row_is_told_with_its_place(
    told: Callable[..., str], row: Row, keys: Row, message: str
) -> None:
    assert told(row, **keys) == message


def test_a_column_that_is_missing_is_told_once_with_the_key_that_names_it(
    folder: Folder, format_: str, keys_of: Callable[..., Any]
) -> None:
    rows = [{"q": "?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answer": "A"}] * 3
    content, more = keys_of(rows)
    columns = {"choices": "choices.txt", "labels": "choices.label"}

    def missing(text: str) -> set[str]:
        found = folder.mistakes(format_, content, input=text, columns=columns, **more)
        return {message.rpartition(": the ")[2].rpartition(": this ")[2] for message in found}

    if format_ == "csv":  # there a cell is a text until a row is read
        have = "found 'q', 'choices', 'answer'"
        assert missing("{q}") == {
            f"row has no column 'choices.txt', {have}; did you mean 'choices'?"
        }
    else:
        have = "found 'q', 'choices.text', 'choices.label', 'answer'"
        line = " (named in suite.yaml:5)" if format_ == "jsonl" else ""  # the hub's has it in front
        assert missing("{q}") == {
            f"column 'choices.txt' for `columns: choices:` is missing; {have}{line}; did you "
            "mean 'choices.text'?"
        }
    (question,) = (told for told in missing("{question}") if "question" in told)
    assert question.startswith(f"column 'question' for `input:` is missing; {have}")


def test_what_is_no_text_in_an_input_is_told_with_its_column(folder: Folder) -> None:
    row = {**CHOICES, "answer": "x", "question": 0.5}
    assert folder.mistakes("jsonl", as_jsonl([row]), input="Q: {question}") == [
        "task.jsonl:1: the column 'question' in the input must be a text or a whole number, found "
        "the number 0.5; store it as text"
    ]


def test_keys_of_a_nested_object_must_differ(folder: Folder) -> None:
    line = '{"input": "?", "o": {"t": ["x", "y"], "t": ["x", "z"]}, "answer": "x"}\n'
    assert folder.mistakes("jsonl", line, columns={"choices": "o.t"}) == [
        "task.jsonl:1: keys must differ, but these appear more than once: 't'"
    ]


@pytest.mark.parametrize("end", ["]" * 30_000, "", "'a' 'b']", ").__class__", "'a'] * 10**9"])
def test_a_text_that_only_looks_like_a_list_is_none(folder: Folder, end: str) -> None:
    row = {"input": "?", "choices": "[" * 30_000 + end if end[:1] == "]" else f"[{end}"}
    (message,) = folder.mistakes("jsonl", as_jsonl([{**row, "answer": "a"}]))
    assert "must hold a list of choices" in message or "two or more choices, found 1" in message
