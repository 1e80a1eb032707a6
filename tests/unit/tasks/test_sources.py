"""A source of tasks that an installed package adds: its keys, its tasks, and what it does wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import create_model

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host.packages import SOURCES, load
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.suite.schema import schema
from pytest_maxrandom.suite.tasks import TASKS, TaskSpec
from pytest_maxrandom.tasks.load import BUILT_IN, load_task
from pytest_maxrandom.tasks.tables import Csv
from pytest_maxrandom.tasks.task import Example, Task, Where
from tests.installed import install
from tests.suites import having, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable

    Claims = Callable[[str], list[PlannedClaim]]

SUMS = """
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.suite.tasks import TASKS, TaskSpec
from pytest_maxrandom.tasks import Example, Task


class SumsSpec(TaskSpec):
    highest: int
    "The highest number that is added."
    own: int | None = None
    "How many examples the pool has."
    parts: int | None = None
    "How many tasks it stands for."
    broken: str | None = None
    "What goes wrong."


class Sums:
    spec = SumsSpec

    def members(self, spec, base, where):
        if spec.parts is None:
            return [spec]
        if spec.parts > 9:
            raise ZeroDivisionError("no part")
        names = [f"{spec.name}/{part}" for part in range(spec.parts)]
        return [spec.model_copy(update={"name": name, "parts": None}) for name in names]

    def read(self, spec, base, where):
        if spec.highest > 9:
            raise SuiteError([Problem(*where("highest"), "sums end at 9; take less")])
        if spec.broken == "raises":
            raise KeyError("no such sum")
        if spec.broken == "nothing":
            return None

        def example(name, a, b):
            right = (a + b > 9) + (a + b > 10)
            return Example(name, f"{a} + {b}", ("less", "ten", "more"), (right,))

        numbers = range(1, spec.highest + 1)
        examples = tuple(example(f"{a}+{b}", a, b) for a in numbers for b in numbers)
        if spec.broken == "outside":
            examples = (Example("e", "1 + 1", ("less", "more"), (2,)), *examples)
        if spec.broken == "repeats":
            examples += examples[:1]
        pool = None
        if spec.own is not None:
            pool = (examples[0], *(example(f"p{n}", 10 + n, n) for n in range(1, spec.own)))
        return Task(spec.name, examples, pool=pool)
"""


@pytest.fixture
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Claims:
    """Plan a suite with one task of the installed format `sums`."""
    place = install(tmp_path, "sums_package", SOURCES, "sums", SUMS, "sums_package:Sums")
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.chdir(tmp_path)
    load.cache_clear()

    def planned(
        keys: str, rest: str = "prompts: {shots: 2}\nallow_unpassable: true"
    ) -> list[PlannedClaim]:
        Path("s.yaml").write_text(
            f"models: [{{name: some/model}}]\ntasks:\n- name: t\n  format: sums\n{keys}\n{rest}\n"
        )
        return plan(load_suite(Path("s.yaml")))

    return planned


@pytest.mark.usefixtures("claims")
def test_one_entry_may_stand_for_several_tasks() -> None:
    def planned(parts: int) -> list[tuple[str, int]]:
        Path("s.yaml").write_text(
            "models: [{name: m, backend: mock}]\ntasks:\n"
            f"- {{name: t, format: sums, highest: 9, parts: {parts}}}\n"
            "- {name: u, format: sums, highest: 9}\nprompts: {count: 9, shots: 2}\n"
        )
        found = plan_file(Path("s.yaml"))
        return [(each.name, each.line) for each in found if isinstance(each, PlannedClaim)]

    assert planned(2) == [("t/0[m-2shot]", 3), ("t/1[m-2shot]", 3), ("u[m-2shot]", 4)]
    with pytest.raises(
        SuiteError, match=r"s.yaml:3: t: the source 'sums' of sums_package 1.0 failed .*: no part"
    ):
        planned(10)


def told(claims: Claims, keys: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        claims(keys)
    return [str(problem) for problem in caught.value.problems]


def test_a_suite_takes_tasks_of_an_installed_format_with_keys_of_its_own(claims: Claims) -> None:
    (claim,) = claims('  highest: 9\n  input_prefix: "Sum: "')
    assert len(claim.condition.task.examples) == 81
    assert "Sum: " in claim.condition.prompt_set.prompts[0].text


def test_mistakes_in_its_keys_are_told_like_any(claims: Claims) -> None:
    assert told(claims, "  highest: 3\n  hihgest: 3") == [
        "s.yaml:6: unknown key `tasks[0].hihgest`; did you mean `highest`? (keys here: assert, "
        "xfail, marks, name, format, validation, test, pool, if_missing, task_prefix, "
        "input_prefix, output_prefix, choice_prefix, separator, append_choices, highest, own, "
        "parts, broken)"
    ]
    assert told(claims, "  highest: three\n  path: x") == [
        "s.yaml:5: `tasks[0].highest`: found 'three', expected a whole number",
        f"s.yaml:6: `tasks[0].path` goes with `format: {having(TASKS, 'path')}`, but this has "
        "`format: sums`; remove one of the two",
    ]
    assert told(claims, "  own: 3") == ["s.yaml:3: the key `tasks[0].highest` is missing; add it"]


def test_what_it_says_of_its_data_is_told_where_it_says(claims: Claims) -> None:
    assert told(claims, "  own: 2\n  highest: 12") == ["s.yaml:6: sums end at 9; take less"]


def test_what_it_does_wrong_is_a_sentence_at_the_format(claims: Claims) -> None:
    assert told(claims, "  highest: 3\n  broken: raises") == [
        "s.yaml:4: t: the source 'sums' of sums_package 1.0 failed (KeyError: 'no such sum'); "
        "report this to its authors"
    ]
    assert told(claims, "  highest: 3\n  broken: nothing") == [
        "s.yaml:4: t: the source 'sums' of sums_package 1.0 returned NoneType, expected Task; "
        "report this to its authors"
    ]
    assert told(claims, "  highest: 3\n  broken: repeats") == [
        "s.yaml:4: t, example 10: example 1 already has the id '1+1'; ids must differ"
    ]
    assert told(claims, "  highest: 3\n  broken: outside") == [
        "s.yaml:4: t, example 1: `right` holds different numbers of choices, from 0 to 1, found 2"
    ]


def test_a_source_of_this_package_is_held_to_the_same(
    claims: Claims, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_choice = Task("t", (Example("e", "1 + 1", ("less",), (0,)),))
    monkeypatch.setattr(Csv, "read", lambda *_: one_choice)
    Path("s.yaml").write_text("models: [{name: m}]\ntasks: [{name: t, format: csv, path: x}]\n")
    with pytest.raises(SuiteError) as caught:
        plan(load_suite(Path("s.yaml")))
    assert "s.yaml:2: t, example 1: an example needs two or more choices, found 1" in [
        str(problem) for problem in caught.value.problems
    ]


def test_a_test_file_needs_a_format_of_files(claims: Claims) -> None:
    assert told(claims, "  highest: 3\n  test: {path: x}") == [
        "s.yaml:6: t: `format: sums` cannot read another path; give `fraction`"
    ]


@pytest.mark.parametrize(("pool", "key"), [("{path: x}", "path"), ("{split: x}", "split"),
                                           ("{path: x, split: y}", "path or split")])  # fmt: skip
def test_a_pool_needs_a_format_of_files_or_splits(claims: Claims, pool: str, key: str) -> None:
    assert told(claims, f"  highest: 3\n  pool: {pool}") == [
        f"s.yaml:6: t: `format: sums` cannot read another {key}; remove `pool`"
    ]


def test_a_format_may_have_a_key_of_its_own_with_that_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Packages may have called theirs so before all formats had one."""

    class Numbers:
        spec = create_model("NumbersSpec", __base__=TaskSpec, pool=(int, 3))

        def read(self, spec: Any, base: Path, where: Where) -> Task:
            pool = (Example(f"p{n}", f"{n}", ("odd", "even"), (0,)) for n in range(spec.pool))
            return Task(spec.name, (Example("e", "9", ("odd", "even"), (0,)),), pool=tuple(pool))

    monkeypatch.setitem(BUILT_IN, "numbers", Numbers())
    spec = Numbers.spec.model_validate({"name": "t", "format": "numbers", "pool": 2})
    assert len(load_task(spec, tmp_path).pool or ()) == 2


def test_a_pool_of_its_own_is_told_and_leaves_all_examples_for_validation(claims: Claims) -> None:
    (claim,) = claims("  highest: 9\n  own: 6")
    record = claim.record("id", "s.yaml")
    assert record.prompts is not None
    drawn = claim.condition.prompt_set
    assert (record.prompts.regime, record.prompts.pool) == ("pool", 5)  # "1 + 1" is no answer
    assert (drawn.n, len(drawn.prompts)) == (81, 20)
    shown = {e.id for p in drawn.prompts for e in p.demonstrations}
    assert shown == {"p1", "p2", "p3", "p4", "p5"}


def test_what_is_held_out_is_in_no_pool(claims: Claims) -> None:
    pools = []
    for seed in range(6):
        cell = claims(f"  highest: 3\n  own: 4\n  test: {{fraction: 0.5, seed: {seed}}}")[
            0
        ].condition
        assert cell.task.pool is not None
        pools.append(len(cell.task.pool))
        assert not {e.input for e in cell.task.pool} & {e.input for e in cell.test}
    assert set(pools) == {3, 4}


def test_the_schema_for_editors_allows_other_formats(claims: Claims) -> None:
    editor = Draft202012Validator(schema())
    task = {"name": "t", "format": "sums", "highest": 3}
    assert editor.is_valid({"models": [{"name": "m"}], "tasks": [task]})
    assert not editor.is_valid({"models": [{"name": "m"}], "tasks": [{**task, "format": "csv"}]})
