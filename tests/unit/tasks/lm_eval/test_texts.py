"""Texts, choices and right answers are those that lm-evaluation-harness itself builds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.load import load_task
from tests.needs import needs
from tests.unit.tasks.lm_eval.harness import Asked, Harness

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Example, Task

pytestmark = needs("lm_eval")

ROWS = [
    {
        "id": f"q{n}",
        "question": f"What is {n} + {n}? ",
        "options": [str(2 * n + (i - n % 3)) for i in range(3)],
        "label": n % 3,
        "letter": "ABC"[n % 3],
        "answer": str(2 * n),
        "right": [n % 3, (n + 1) % 3],
        "before": f"{n} is",
        "words": "odd;even",
        "parity": ["even", "odd"][n % 2],
    }
    for n in range(6)
]
KINDS = {
    "columns": "doc_to_text: question\ndoc_to_choice: options\ndoc_to_target: label",
    "templates": (
        'doc_to_text: "Q: {{question.strip()}}\\nA:"\n'
        'doc_to_choice: "{{options}}"\ndoc_to_target: "{{label}}"'
    ),
    "text target": (
        'doc_to_text: "{{question}}\\n"\ndoc_to_choice: ["even", "odd"]\ndoc_to_target: parity'
    ),
    "computed": (
        "doc_to_text: \"{{question|regex_replace('[0-9]+', 'N')}}\"\n"
        "doc_to_choice: \"{{words.split(';')}}\"\n"
        "doc_to_target: \"{{words.split(';').index(parity)}}\""
    ),
    "mapping": (
        'doc_to_text: "{{question}}"\ndoc_to_choice: {a: "A", b: "B", c: "C"}\n'
        "doc_to_target: \"{{'ABC'.index(letter)}}\""
    ),
    "constant": "doc_to_text: question\ndoc_to_choice: options\ndoc_to_target: 1",
    "beginnings": (
        "doc_to_text: label\ndoc_to_choice: \"{{[before ~ ' a', before ~ ' b', 'none']}}\"\n"
        'doc_to_target: "{{words}}."\ntarget_delimiter: ""'
    ),
    "line ends": (
        'doc_to_text: "{{question}}\\n\\n"\ndoc_to_choice: options\ndoc_to_target: label\n'
        'target_delimiter: "\\n"\nfewshot_delimiter: "\\n###\\n"\ndescription: "Add.\\n\\n"'
    ),
    "no delimiter": (
        'doc_to_text: "{{question}}="\ndoc_to_choice: options\ndoc_to_target: label\n'
        'target_delimiter: ""\ndescription: "Sums about {{words}}."'
    ),
    "answer prefix": (
        'doc_to_text: "{{question.strip()}}"\ndoc_to_choice: options\ndoc_to_target: label\n'
        'gen_prefix: "Answer:"'
    ),
    "other demonstrations": (
        'doc_to_text: "{{question}}"\ndoc_to_choice: options\ndoc_to_target: label\n'
        'fewshot_config: {doc_to_text: "Solved: {{question}}", doc_to_target: answer, '
        'target_delimiter: " -> ", fewshot_delimiter: "\\n--\\n", sampler: first_n}'
    ),
    "samples": (
        "doc_to_text: question\ndoc_to_choice: options\ndoc_to_target: label\n"
        "fewshot_config:\n  samples:\n"
        '    - {question: "1 + 0?", options: ["0", "1"], label: 1}\n'
        '    - {question: "1 + 1?", options: ["2", "1"], label: 0}\n'
    ),
}


@pytest.fixture(params=list(KINDS))
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Harness, Task]:
    """The same task, loaded by lm-evaluation-harness and by us."""
    for split, rows in (("train", ROWS[:3]), ("test", ROWS[3:])):
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "test")}
    own = "samples" in KINDS[request.param]
    (tmp_path / "kind.yaml").write_text(
        f"task: kind\ndataset_path: json\ndataset_kwargs: {json.dumps({'data_files': files})}\n"
        "output_type: multiple_choice\ntest_split: test\n"
        f"{'' if own else 'fewshot_split: train'}\n{KINDS[request.param]}\n"
    )
    spec = LmEvalSpec(name="kind", format="lm_eval", path="kind.yaml")
    return Harness(tmp_path, "kind"), load_task(spec, tmp_path)


def asked(prompt: Prompt, example: Example) -> Asked:
    questions = SCORERS["sum_logprob"].questions(prompt, example)
    # Where a question ends with white space, it is scored with the answer by both; here that is
    # moved when the question is written, there when it is put into tokens.
    texts = tuple((one.context, answer) for one in questions for answer in one.answers)
    return Asked(texts, example.choices, frozenset(example.right))


def stripped(one: Asked) -> Asked:
    pairs = []
    for context, answer in one.requests:
        bare = context.rstrip()
        pairs.append((bare, context[len(bare) :] + answer))
    return Asked(tuple(pairs), one.choices, one.gold)


@pytest.mark.parametrize("shots", [0, 1, 2])
def test_a_prompt_asks_what_the_harness_asks(both: tuple[Harness, Task], shots: int) -> None:
    harness, task = both
    assert task.pool is not None
    assert len(task.pool) == len(harness.pool)
    prompt = Prompt(tuple(task.pool[:shots]), Format(task.layout))
    expected = [stripped(one) for one in harness.asked(harness.pool[:shots])]
    assert [asked(prompt, example) for example in task.examples] == expected


def test_demonstrations_come_from_the_examples_where_there_is_no_other_split(
    both: tuple[Harness, Task], tmp_path: Path
) -> None:
    path = tmp_path / "kind.yaml"
    path.write_text(path.read_text().replace("fewshot_split: train", ""))
    task = load_task(LmEvalSpec(name="kind", format="lm_eval", path="kind.yaml"), tmp_path)
    harness = Harness(tmp_path, "kind")
    if task.pool is not None:  # samples
        return
    prompt = Prompt(task.examples[:2], Format(task.layout))
    expected = [stripped(one) for one in harness.asked(harness.documents[:2])]
    assert [asked(prompt, example) for example in task.examples] == expected
