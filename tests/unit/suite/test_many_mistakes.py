"""All mistakes of a file are told at once, and none twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.suite.tasks import TASKS
from tests.suites import either
from tests.unit.suite.examples import MINIMAL
from tests.unit.suite.test_mistakes import COUNT, TASK_KEYS

if TYPE_CHECKING:
    from tests.unit.suite.conftest import SuiteText


def test_all_mistakes_of_a_file_are_told_at_once_in_its_order(suite: SuiteText) -> None:
    text = """\
xfail: a
xfail: b
models:
- name: a/m
  dtype: float31
- name: b/m
tasks:
- {name: t, format: csv, path: x}
- {name: t, format: parquet}
- hello
prompts:
  count: none
  shots: [1, 1]
  combine: cross
3: x
"""
    assert suite.mistakes(text) == [
        "2: the key `xfail` is already in line 1; keep one of the two",
        "5: `models[0].dtype`: found 'float31', expected 'auto' or 'float32' or 'bfloat16' or "
        "'float16'; did you mean `float32`?",
        "6: models[1]: this has the same test ids as models[0]; give one of them a `label`",
        f"9: `tasks[1].format`: found 'parquet', expected {either(TASKS.specs)}",
        "9: tasks[1].name: tasks[0] has this name already; give each task a name of its own",
        "9: the key `tasks[1].path` is missing; add it",
        f"10: `tasks[2]`: found 'hello', expected keys with values (keys here: {TASK_KEYS}, split, "
        "subset, revision, task, dataset_path, dataset_name, dataset_kwargs, doc_to_choice, "
        "filter, doc_to_target, trust_remote_code)",
        f"12: `prompts.count`: found 'none', expected {COUNT}",
        "13: prompts.shots[1] repeats prompts.shots[0]; remove one of the two",
        "15: found '3' as a key, expected a word",
    ]


def test_a_value_that_is_a_mistake_makes_no_two_models_one(suite: SuiteText) -> None:
    text = "models: [{name: m, quantization: x}, {name: m, quantization: y}]\n"
    told = suite.mistakes(text + "tasks: [{name: t, format: csv, path: x}]\n")
    assert [one.split("expected")[0] for one in told] == [
        "1: `models[0].quantization`: found 'x', ",
        "1: `models[1].quantization`: found 'y', ",
    ]


def test_a_key_that_is_missing_because_of_a_slip_is_told_once(suite: SuiteText) -> None:
    told = suite.mistakes("model: [{name: m}]\ntask: [{nam: t, format: csv, path: x}]\n")
    assert [one.partition(" (keys")[0] for one in told] == [
        "1: unknown key `model`; did you mean `models`?",
        "2: unknown key `task`; did you mean `tasks`?",
    ]


def test_a_key_that_stands_where_another_is_all_that_may_is_told_once(suite: SuiteText) -> None:
    how = "generation: {samples: 3, temperature: 0.7, aggregate: {vote: 2}}\n"
    assert suite.mistakes(f"{MINIMAL}scoring: generate\n{how}") == [
        f"{MINIMAL.count(chr(10)) + 2}: unknown key `generation.aggregate.vote` (keys here: pass)"
    ]
    how = how.replace("vote: 2", "")
    (missing,) = suite.mistakes(f"{MINIMAL}scoring: generate\n{how}")
    assert missing.endswith("the key `generation.aggregate.pass` is missing; add it")


def test_what_needs_all_answers_is_told_with_the_other_mistakes(suite: SuiteText) -> None:
    lines = "prompts: {count: 20, budget: 5}\nuntil: decided\nreplicates: 3\nmetric: macro_f1\n"
    told = suite.mistakes(f"{MINIMAL}{lines}label_bias: {{}}\n")
    assert [one.split(";")[0] for one in told] == [
        "3: prompts.budget: found 5, expected at least prompts.count, which is 20",
        "4: until: `decided` counts right answers, but the metric is macro_f1",
        "4: until: `decided` skips answers, but `label_bias` needs them all",
        "4: until: `decided` skips answers, but `replicates` needs them all",
    ]


def test_what_open_answers_never_have_is_not_asked_to_be_mended(suite: SuiteText) -> None:
    (told,) = suite.mistakes(f"{MINIMAL}scoring: exact_match\nuntil: decided\n")
    assert told.startswith("4: until: `scoring: exact_match` is for tasks without choices")


def test_a_key_that_is_a_mistake_makes_no_contradiction(suite: SuiteText) -> None:
    variants = ", ".join(f"i{number}" for number in range(201))
    text = f"{MINIMAL}prompts: {{count: x, combine: cross, instructions: [{variants}]}}\n"
    assert suite.mistakes(text) == [f"3: `prompts.count`: found 'x', expected {COUNT}"]


def test_of_many_mistakes_the_first_are_told_and_how_many_others_there_are(
    suite: SuiteText,
) -> None:
    tasks = "".join(
        f"  - {{name: t{number}, format: csv, path: x, no: 1}}\n" for number in range(130)
    )
    *told, last = suite.mistakes(f"models: [{{name: m, no: 1}}]\ntasks:\n{tasks}")
    assert [int(one.partition(":")[0]) for one in told] == [1, *range(3, 102)]
    assert last == " problems not shown: 31"


def test_what_is_not_shown_twice_over_is_counted_once() -> None:
    def cut(number: int) -> SuiteError:
        lines = range(number)
        return SuiteError([Problem(Path("s.yaml"), line, "wrong") for line in lines])

    assert len(cut(100).problems) == 100
    joined = SuiteError([*cut(250).problems, *cut(120).problems, *cut(3).problems])
    assert str(joined).endswith("\ns.yaml: problems not shown: 273")
    assert len(joined.problems) == 101
