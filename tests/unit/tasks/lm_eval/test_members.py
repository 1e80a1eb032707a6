"""Groups, tags and folders: which tasks a name stands for, and what a group says of its tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.found import FoundTask, find_tasks
from pytest_maxrandom.tasks.lm_eval.index import index, installed
from pytest_maxrandom.tasks.load import load_task, members
from tests.needs import needs

if TYPE_CHECKING:
    from pathlib import Path

TASK = """task: {name}
tag: [{tag}]
dataset_path: json
dataset_kwargs: {{data_files: {{test: data.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{q}}}} is"
doc_to_choice: ["even", "odd"]
doc_to_target: answer
"""
GROUP = """group: numbers
description: "Of the group."
task:
- small
- task: large
  description: "Of the part."
- group: within
  task: [other]
- tagged
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"q": n, "answer": n % 2} for n in range(40)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, tag in (("small", "a"), ("large", "a"), ("other", "b"), ("more", "tagged")):
        (tmp_path / f"{name}.yaml").write_text(TASK.format(name=name, tag=tag))
    (tmp_path / "group.yaml").write_text(GROUP)
    return tmp_path


def named(folder: Path, path: str, **keys: object) -> dict[str, LmEvalSpec]:
    spec = LmEvalSpec.model_validate({"name": "t", "format": "lm_eval", "path": path, **keys})
    found = members(spec, folder, lambda *_: (folder / "s.yaml", 1))
    return {one.name: one for one in found if isinstance(one, LmEvalSpec)}


def test_a_file_of_one_task_is_that_task_by_its_name_in_the_suite(folder: Path) -> None:
    assert list(named(folder, "small.yaml")) == ["t"]


def test_a_folder_stands_for_its_tasks_and_a_group_for_its_parts(folder: Path) -> None:
    assert list(named(folder, ".")) == ["t/large", "t/more", "t/other", "t/small"]
    parts = named(folder, "group.yaml")
    assert list(parts) == ["t/small", "t/large", "t/other", "t/more"]
    says = {name: load_task(one, folder).layout.task_prefix for name, one in parts.items()}
    assert says == {
        "t/small": "Of the group.",
        "t/large": "Of the part.",
        "t/other": "Of the group.",
        "t/more": "Of the group.",
    }


def test_the_suite_may_name_some_of_them(folder: Path) -> None:
    assert list(named(folder, ".", task=["other", "small"])) == ["t/other", "t/small"]
    with pytest.raises(SuiteError, match=r"there is no task 'smal' in '\.'; did you mean 'small'"):
        named(folder, ".", task="smal")
    with pytest.raises(
        SuiteError, match=r"there are 4 tasks in '\.'; name one with the key `task`"
    ):
        load_task(LmEvalSpec(name="t", format="lm_eval", path="."), folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("group: g\ntask: [nowhere]", "group.yaml:2: the group 'g' names 'nowhere', which is no"),
        ("group: g\ntask: [smal]", "did you mean 'small'"),
        ("group: g\ntask:\n- task: g", "group.yaml:2: the group 'g' contains itself"),
        ("group: g\ntask: [[a]]", "found a list, expected names of tasks"),
        ("group: g", "found null, expected names of tasks"),
    ],
)
def test_a_group_that_names_nothing_is_told(folder: Path, text: str, message: str) -> None:
    (folder / "group.yaml").write_text(text)
    with pytest.raises(SuiteError) as caught:
        named(folder, "group.yaml")
    assert message in str(caught.value)


def test_a_suite_plans_a_claim_for_each_task_of_a_group(folder: Path) -> None:
    (folder / "s.yaml").write_text(
        "models: [{name: m, backend: mock}]\n"
        "label_bias: {tasks: [t]}\n"
        "tasks:\n"
        "- {name: first, format: lm_eval, path: small.yaml}\n"
        "- name: t\n  format: lm_eval\n  path: group.yaml\n  task: [small, more]\n"
        "prompts: {count: 5, shots: 1}\nassert: report\n"
    )
    planned = plan_file(folder / "s.yaml")
    claims = [each for each in planned if isinstance(each, PlannedClaim)]
    checks = [each for each in planned if isinstance(each, PlannedLabelBias)]
    assert [each.name for each in checks] == [
        "t/small[m-1shot]::label_bias",
        "t/more[m-1shot]::label_bias",
    ]
    assert [(each.name, each.line) for each in claims] == [
        ("first[m-1shot]", 4),
        ("t/small[m-1shot]", 5),
        ("t/more[m-1shot]", 5),
    ]


def test_an_audit_finds_the_tasks_of_a_group(folder: Path) -> None:
    found = list(find_tasks([folder / "group.yaml", folder / "small.yaml"]))
    assert [each.name for each in found if isinstance(each, FoundTask)] == [
        "group/small",
        "group/large",
        "group/other",
        "group/more",
        "small",
    ]


def test_two_tasks_of_one_name_are_told(folder: Path) -> None:
    (folder / "s.yaml").write_text(
        "models: [{name: m, backend: mock}]\n"
        "tasks:\n"
        "- {name: t/small, format: lm_eval, path: small.yaml}\n"
        "- {name: t, format: lm_eval, path: .}\n"
    )
    with pytest.raises(SuiteError) as caught:
        plan_file(folder / "s.yaml")
    assert "s.yaml:4: tasks[1]: one of its tasks is t/small, which is the name of tasks[0]" in str(
        caught.value
    )


@needs("lm_eval")
def test_names_of_the_installed_package_are_found_as_it_finds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = installed()
    assert folder is not None
    from lm_eval.tasks._index import Kind, TaskIndex

    theirs = TaskIndex.build([folder / "arc", folder / "mmlu", folder / "blimp_nl"])
    for part in ("arc", "mmlu", "blimp_nl"):
        ours = index(folder / part)
        for name, path in [*ours.tasks.items(), *ours.groups.items()]:
            assert theirs[name].yaml_path == path
    kinds = {Kind.TASK: "tasks", Kind.PY_TASK: "tasks", Kind.GROUP: "groups", Kind.TAG: "tags"}
    found: dict[str, set[str]] = {"tasks": set(), "groups": set(), "tags": set()}
    for part in ("arc", "mmlu", "blimp_nl"):
        for kind, names in found.items():
            names.update(getattr(index(folder / part), kind))
    expected: dict[str, set[str]] = {"tasks": set(), "groups": set(), "tags": set()}
    for name, entry in theirs.items():
        expected[kinds[entry.kind]].add(name)
    assert found == expected


def test_a_wrong_group_is_told_with_all_else_that_is_wrong(folder: Path) -> None:
    (folder / "group.yaml").write_text("group: g\ntask: [nowhere]\n")
    (folder / "s.yaml").write_text(
        "models: [{name: ./none}]\n"
        "tasks:\n"
        "- {name: g, format: lm_eval, path: group.yaml}\n"
        "- {name: t, format: csv, path: none.csv}\n"
    )
    with pytest.raises(SuiteError) as caught:
        plan_file(folder / "s.yaml")
    told = sorted((each.path.name, each.line) for each in caught.value.problems)
    assert told == [("group.yaml", 2), ("s.yaml", 1), ("s.yaml", 4)]
