"""Tasks of files: what is read, and what is told of files that are missing or wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.tasks import CsvSpec
from pytest_maxrandom.tasks import Example, Task
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from tests.unit.tasks.conftest import Folder


def test_a_missing_file_is_told_in_the_suite_with_the_nearest_name(folder: Folder) -> None:
    (folder.path / "data").mkdir()
    (folder.path / "data" / "snarks.json").touch()
    assert folder.mistakes("bigbench", None, path="data/snraks.json") == [
        "suite.yaml:7: there is no file 'data/snraks.json' (paths are relative to the suite file); "
        "did you mean 'data/snarks.json'?"
    ]
    assert folder.mistakes("csv", None, path="dta/snarks.csv") == [
        "suite.yaml:7: there is no folder 'dta' for the file 'snarks.csv' "
        "(paths are relative to the suite file)"
    ]
    assert folder.mistakes("jsonl", None, path="data") == [
        "suite.yaml:7: 'data' is not a file; give the file that holds the examples"
    ]
    (too_long,) = folder.mistakes("jsonl", None, path="x" * 5000)
    assert too_long == f"suite.yaml:7: cannot access '{'x' * 57}...': File name too long"


def test_paths_are_relative_to_the_suite_and_shown_relative_to_the_current_folder(
    folder: Folder,
) -> None:
    (folder.path / "suites").mkdir()
    (folder.path / "suites" / "x.csv").write_text("input,answer\n")
    spec = CsvSpec(name="t", format="csv", path="x.csv", choices=["a", "b"])
    with pytest.raises(SuiteError, match=r"^suites/x\.csv: there are no examples"):
        load_task(spec, folder.path / "suites")


def test_an_absolute_path_outside_the_current_folder_is_shown_as_it_is(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    spec = CsvSpec(name="t", format="csv", path=str(folder.path / "none.csv"))
    with pytest.raises(SuiteError) as caught:
        load_task(spec, Path("elsewhere"))
    assert str(caught.value).startswith("elsewhere: there is no file '")


def test_a_pipe_is_no_file(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe.csv")
    assert folder.mistakes("csv", None, path="pipe.csv") == [
        "suite.yaml:7: 'pipe.csv' is not a regular file; give a file that can be read again"
    ]


def test_importing_tasks_loads_no_heavy_package() -> None:
    code = (
        "import sys, pytest_maxrandom.tasks; "
        "print({'datasets', 'numpy', 'pydantic', 'torch', 'yaml'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


LETTERS = st.text("ab[", max_size=2)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | LETTERS | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
    max_leaves=5,
)
CHOICES = st.permutations(["a", "b", "c", "d"]).map(lambda letters: letters[:3])
ANSWERS = st.integers(0, 2) | st.sampled_from(["a", "b"]) | CHOICES.map(lambda c: c[:1])
SCORES = CHOICES.map(lambda choices: dict(zip(choices, [1, 0, 0.5], strict=True)))


def mostly(likely: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 9).flatmap(lambda number: JSON if number == 9 else likely)


ROWS = st.lists(
    mostly(
        st.fixed_dictionaries(
            {"input": mostly(LETTERS), "choices": mostly(CHOICES), "answer": mostly(ANSWERS)}
        )
    ),
    max_size=3,
)
EXAMPLES = st.lists(
    mostly(
        st.fixed_dictionaries(
            {"input": mostly(LETTERS), "target_scores": mostly(SCORES)},
            optional={"_id": JSON, "id": JSON, "target": JSON},
        )
    ),
    max_size=3,
)


def as_cell(answer: object) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


CELLS = st.lists(
    st.tuples(LETTERS, mostly(CHOICES).map(json.dumps), ANSWERS.map(as_cell)), max_size=3
)


def csv_text(rows: list[tuple[str, str, str]]) -> str:
    cells = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    return "\n".join(["input,choices,answer", *cells])


FILES = {
    "bigbench": EXAMPLES.map(lambda examples: json.dumps({"examples": examples})),
    "jsonl": ROWS.map(lambda rows: "\n".join(map(json.dumps, rows))),
    "csv": CELLS.map(csv_text),
}


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A task file that is mostly right, with some bytes put in at some place."""
    format_ = draw(st.sampled_from(sorted(FILES)))
    content = draw(FILES[format_]).encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(content)))
    return format_, content[:at] + draw(st.just(b"") | st.binary(max_size=3)) + content[at:]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(file=files())
def test_any_file_is_a_task_or_a_list_of_problems(folder: Folder, file: tuple[str, bytes]) -> None:
    try:
        task = folder.load(*file)
    except SuiteError as error:
        told = [str(problem) for problem in error.problems]
        task = None
    if task is None:
        assert told
        assert all("\n" not in problem for problem in told)
        return
    assert task.examples
    for example in task.examples:
        assert 0 < example.chance < 1
        assert len(set(example.choices)) == len(example.choices)
    assert len({example.id for example in task.examples}) == len(task.examples)


A = Example("a", "?", ("x", "y", "z"), (1,))
B = Example("b", "!", ("x", "y", "z"), (0, 2))
C = Example("c", "?", ("x", "y"), (0,))


def digest(*examples: Example) -> str:
    return Task("t", examples).digest


def test_the_digest_is_of_the_content_and_neither_of_ids_nor_of_order() -> None:
    renamed = Task("another", (replace(B, id="1"), replace(A, id="2")), notes=(Remark("renamed"),))
    assert digest(A, B) == renamed.digest


def test_the_digest_changes_with_any_part_of_an_example() -> None:
    variants = [
        (A, B),
        (A,),
        (A, B, B),
        (replace(A, input="??"), B),
        (replace(A, choices=("y", "x", "z")), B),
        (replace(A, right=(2,)), B),
    ]
    assert len({digest(*variant) for variant in variants}) == len(variants)


def test_only_repetitions_of_all_parts_are_duplicates() -> None:
    task = Task("t", (A, replace(A, id="2"), replace(A, id="3", right=(0,)), C))
    assert task.duplicates == 1
