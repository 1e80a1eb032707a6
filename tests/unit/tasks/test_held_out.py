"""The held-out test set: set aside first, and never shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.claims import AssertSpec
from tests.notes import sentences
from tests.suites import load_suite

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.condition import Condition


def rows(ids: range, *, prefix: str = "q") -> list[dict[str, Any]]:
    return [
        {"input": f"{prefix}{number}", "choices": ["a", "b"], "answer": "ab"[number % 2]}
        for number in ids
    ]


def condition(folder: Path, examples: list[dict[str, Any]], test: str, shots: int = 2) -> Condition:
    (folder / "task.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in examples))
    (folder / "s.yaml").write_text(f"""\
models: [{{name: some/model}}]
tasks:
- name: t
  format: jsonl
  path: task.jsonl
  validation: {{max_examples: 12}}
  test: {test}
prompts: {{shots: {shots}, count: 30}}
allow_unpassable: true
""")
    return plan(load_suite(folder / "s.yaml"))[0].condition


def shown(condition: Condition) -> set[str]:
    """All inputs that a prompt shows or is scored on."""
    prompts = condition.prompt_set.prompts
    demonstrations = {example.input for prompt in prompts for example in prompt.demonstrations}
    return demonstrations | {example.input for example in condition.prompt_set.validation}


def problems(folder: Path, examples: list[dict[str, Any]], test: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        condition(folder, examples, test)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


@pytest.mark.parametrize(("fraction", "size"), [(0.25, 10), (0.5, 20), (0.1, 4)])
def test_a_fraction_is_set_aside_and_never_shown(
    tmp_path: Path, fraction: float, size: int
) -> None:
    found = condition(tmp_path, rows(range(40)), f"{{fraction: {fraction}}}")
    tested = {example.input for example in found.test}
    assert len(tested) == size
    assert tested.isdisjoint(shown(found))
    assert len(found.task.examples) == 40 - size


def test_the_seed_and_nothing_else_draws_the_test_set(tmp_path: Path) -> None:
    examples = rows(range(40))
    first = {e.input for e in condition(tmp_path, examples, "{fraction: 0.25}").test}
    turned = {e.input for e in condition(tmp_path, examples[::-1], "{fraction: 0.25}").test}
    other = {e.input for e in condition(tmp_path, examples, "{fraction: 0.25, seed: 1}").test}
    assert first == turned != other
    grown = condition(tmp_path, [*examples, *rows(range(40, 44))], "{fraction: 0.25}")
    assert len({e.input for e in grown.test} & first) >= 6


def test_examples_that_repeat_each_other_go_to_the_same_side(tmp_path: Path) -> None:
    turned = [{**row, "choices": ["b", "a"]} for row in rows(range(40))]
    found = condition(tmp_path, [*rows(range(40)), *turned], "{fraction: 0.25}")
    assert len(found.test) == 20
    assert {example.input for example in found.test}.isdisjoint(shown(found))


def test_a_test_file_takes_its_examples_out_of_the_task(tmp_path: Path) -> None:
    held_out = [*rows(range(3)), *rows(range(5), prefix="z")]
    (tmp_path / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in held_out))
    found = condition(tmp_path, rows(range(40)), "{path: test.jsonl}")
    assert len(found.test) == 8
    assert {example.input for example in found.test}.isdisjoint(shown(found))
    assert len(found.task.examples) == 37
    assert any("are also in the test set: 3" in note for note in sentences(found.task.notes))


def test_a_wrong_test_set_is_a_mistake_in_the_suite(tmp_path: Path) -> None:
    examples = rows(range(40))
    assert problems(tmp_path, examples, "{}") == [
        "s.yaml:7: tasks[0].test: found neither of `fraction` and `path`, expected exactly one"
    ]
    assert problems(tmp_path, examples, "{path: x, fraction: 0.5}") == [
        "s.yaml:7: tasks[0].test: found both of `fraction` and `path`, expected exactly one"
    ]
    (missing,) = problems(tmp_path, examples, "{path: tsk.jsonl}")
    assert missing.startswith("s.yaml:7: ")
    assert "did you mean 'task.jsonl'" in missing
    (empty,) = problems(tmp_path, examples, "{fraction: 0.001}")
    assert empty.startswith(
        "s.yaml:7: t has 40 examples, of which the test set takes 0 and leaves 40"
    )
    (all_of_it,) = problems(tmp_path, examples, "{path: task.jsonl}")
    assert all_of_it.startswith(
        "s.yaml:7: t has 40 examples, of which the test set takes 40 and leaves 0"
    )


SUITE = """\
models: [{{name: some/model}}]
tasks:
- name: t
  format: jsonl
  path: task.jsonl
{task}prompts: {{shots: 0}}
{assertion}"""


def mistakes(folder: Path, n: int, task: str, assertion: str) -> list[str]:
    """Return what is wrong with a suite of one task of n examples."""
    (folder / "task.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(range(n))))
    path = folder / "s.yaml"
    path.write_text(SUITE.format(task=task, assertion=assertion))
    try:
        plan(load_suite(path))
    except SuiteError as error:
        return [str(problem).removeprefix(f"{folder}/") for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("task", "assertion", "line"),
    [("", "assert: {test_p: 0.05}\n", 7), ("  assert: {test_p: 0.05}\n", "", 6)],
)
def test_a_claim_of_a_test_set_needs_one(
    tmp_path: Path, task: str, assertion: str, line: int
) -> None:
    assert mistakes(tmp_path, 40, task, assertion) == [
        f"s.yaml:{line}: tasks[0]: `test_p` is about a test set, but t has none; add `test: "
        "{fraction: 0.25}` to the task, or remove `test_p`"
    ]
    assert mistakes(tmp_path, 40, f"  test: {{fraction: 0.5}}\n{task}", assertion) == []


def test_a_test_set_that_can_never_confirm_is_told(tmp_path: Path) -> None:
    task, assertion = "  test: {fraction: 0.1}\n", "assert: {test_p: 0.05}\n"
    (small,) = mistakes(tmp_path, 40, task, assertion)
    assert small.startswith(
        "s.yaml:3: t[model-nf4-0shot] can never pass: even if all 4 answers on the test set are "
        "right, p is at least "
    )
    assert mistakes(tmp_path, 40, task, f"{assertion}allow_unpassable: true\n") == []
    assert mistakes(tmp_path, 400, task, assertion) == []


def test_alone_it_stands_beside_the_default_claim() -> None:
    alone, with_others = AssertSpec(test_p=0.01), AssertSpec(test_p=0.01, beats="standard")
    assert Claim.of(alone).asserted() == {**Claim.of(None).asserted(), "test_p": 0.01}
    assert Claim.of(with_others).asserted() == {"beats": "standard", "test_p": 0.01}
