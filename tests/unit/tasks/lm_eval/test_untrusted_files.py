"""Task files that are wrong or hostile: one clear sentence each, and nothing is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host import limits
from pytest_maxrandom.host.workers import Worker, started
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.lm_eval import documents
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.tasks.task import Task

SCRIPT = Path(documents.__file__).with_name("worker.py")
PLAIN = """
task: plain
dataset_path: json
dataset_kwargs: {data_files: {test: data.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}?"
doc_to_choice: ["yes", "no"]
doc_to_target: answer
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"q": f"Is {n} even", "answer": n % 2} for n in range(4)]
    below = tmp_path / "tasks"
    below.mkdir()
    (below / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return below


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process for templates that waits a second only; the others' goes on afterwards."""
    monkeypatch.setattr(documents, "SECONDS", 1.0)
    own = Worker(SCRIPT, "1", str(documents.MEMORY))
    monkeypatch.setattr(documents, "_WORKER", own)
    yield
    own.end()


def load(folder: Path, text: str = PLAIN, **keys: object) -> Task:
    (folder / "plain.yaml").write_text(text)
    spec = LmEvalSpec.model_validate(
        {"name": "t", "format": "lm_eval", "path": "plain.yaml", **keys}
    )
    return load_task(spec, folder)


def refusal(folder: Path, text: str, **keys: object) -> str:
    with pytest.raises(SuiteError) as caught:
        load(folder, text, **keys)
    return str(caught.value)


def with_text(template: str) -> str:
    return PLAIN.replace('"{{q}}?"', json.dumps(template))


def test_the_file_that_the_others_break_is_read(folder: Path) -> None:
    task = load(folder)
    assert [example.input for example in task.examples] == [f"Is {n} even?" for n in range(4)]
    assert [example.right for example in task.examples] == [(0,), (1,), (0,), (1,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task: [", "plain.yaml:2: not valid YAML: while parsing a flow node, did not find"),
        ("task: a\ntask_alias: 'b\n", "plain.yaml:3: not valid YAML: while scanning a quoted"),
        ("- task", "found a list, expected the keys of a task"),
        ("", "found null, expected the keys of a task"),
        ("a: !include b.yaml", "plain.yaml:1: not valid YAML: the tag '!include' is unknown"),
        ("a: !!python/object/apply:os.system [ls]", "plain.yaml:1: not valid YAML: the tag"),
        ("[" * 5000, "nested too deeply"),
        ("- " * 200_000, "nested too deeply"),
        ("day: 2026-13-45", "not valid YAML"),
        ("a: \x00", "not valid YAML"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(folder: Path, text: str, message: str) -> None:
    assert message in refusal(folder, text)


def test_included_keys_stand_below_those_of_the_file_itself(folder: Path) -> None:
    (folder / "_base").write_text(PLAIN.replace("task: plain", "task: base\nnum_fewshot: 3"))
    (folder / "_more").write_text('doc_to_choice: ["right", "wrong"]\ndescription: "Say."')
    task = load(folder, "include: [_base, _more]\ntask: own\ndescription: Answer.\n")
    assert {example.choices for example in task.examples} == {("right", "wrong")}
    assert task.layout.task_prefix == "Answer."


@pytest.mark.parametrize("away", ["../outside.yaml", "{above}/outside.yaml", "below/../../outside"])
def test_an_include_that_leaves_the_folder_is_refused_unread(folder: Path, away: str) -> None:
    (folder / "below").mkdir()
    for name in ("outside.yaml", "outside"):
        (folder.parent / name).write_text("secret: [")
    away = away.format(above=folder.parent)
    said = refusal(folder, f"task: plain\ninclude: {away}\n")
    assert "plain.yaml:2: `include`: " in said
    assert "is outside the tasks' folder" in said
    assert "YAML" not in said


def test_a_link_does_not_lead_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "outside").write_text("secret: [")
    (folder / "link").symlink_to(folder.parent / "outside")
    assert "is outside the tasks' folder" in refusal(folder, "include: link\n")


def test_an_include_of_itself_is_told_with_the_way_it_takes(folder: Path) -> None:
    assert "'plain.yaml' includes itself" in refusal(folder, "include: plain.yaml\n")
    (folder / "a").write_text("include: b\n")
    (folder / "b").write_text("x: 1\ninclude: plain.yaml\n")
    said = refusal(folder, "include: a\n")
    assert "b:2: `include`: 'plain.yaml' includes itself, through a, b" in said


def test_two_ways_to_one_included_file_are_no_circle(folder: Path) -> None:
    (folder / "base").write_text(PLAIN)
    (folder / "a").write_text("include: base\n")
    (folder / "b").write_text("include: base\n")
    assert len(load(folder, "include: [a, b]\n").examples) == 4


def test_a_missing_include_is_told_with_the_nearest_name(folder: Path) -> None:
    (folder / "_base_yaml").write_text(PLAIN)
    said = refusal(folder, "task: x\ninclude: _bsae_yaml\n")
    assert "plain.yaml:2: `include`: there is no file" in said
    assert "did you mean '_base_yaml'" in said


@pytest.mark.parametrize(
    "key", ["doc_to_text", "doc_to_target", "doc_to_choice", "process_docs", "description"]
)
def test_functions_are_named_and_not_imported(folder: Path, key: str) -> None:
    (folder / "utils.py").write_text("open('ran', 'w')\ndef function(doc): return doc\n")
    lines = [line for line in PLAIN.splitlines() if not line.startswith(f"{key}:")]
    said = refusal(folder, "\n".join([*lines, f"{key}: !function utils.function"]))
    assert f"`{key}: utils.function`" in said
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ q.__init__.__globals__ }}",
        "{{ (1).__class__.__base__ }}",
        "{{ cycler.__init__.__globals__.os.system('touch ran') }}",
        "{{ self.__init__ }}",
        "{{ lipsum.__globals__['os'].popen('ls').read() }}",
        "{{ q|attr('__class__') }}",
        "{{ '{0.__class__}'.format(q) }}",
        "{% include 'data.jsonl' %}",
        "{% import 'os' as os %}",
    ],
)
def test_templates_reach_nothing_but_plain_data(folder: Path, template: str) -> None:
    said = refusal(folder, with_text(template))
    assert "document 1: `doc_to_text`" in said
    assert "Traceback" not in said
    assert not any(path.name == "ran" for path in folder.rglob("*"))


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{{ ('a' * 40) | regex_replace('(a+)+b', 'c') }}",
        *(
            pytest.param(template, marks=pytest.mark.slow)
            for template in (
                "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}"
                "{{ f(90) }}",
                "{{ 9 ** 99999999999 }}",
            )
        ),
    ],
)
def test_what_does_not_end_is_ended_and_the_next_task_is_read(folder: Path, template: str) -> None:
    assert "check its templates for an endless loop" in refusal(folder, with_text(template))
    assert len(load(folder).examples) == 4


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ 'a' * 5000000 }}", "longer than 1,000,000 characters"),
        ("{% for i in range(99999) %}{{ q * 9 }}{% endfor %}", "longer than 1,000,000 characters"),
        ("{% for i in range(10 ** 9) %}{% endfor %}", "Range too big"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deeply"),
        ("{{ ['a' * 99999999] * 9999 }}", "memory"),
    ],
)
def test_what_is_too_large_is_told(folder: Path, template: str, message: str) -> None:
    assert message in refusal(folder, with_text(template))


def test_what_is_too_large_together_is_told(folder: Path) -> None:
    template = with_text("{{ 'a' * 400000 }}")
    with limits.in_force({"data_mb": 1}):
        assert "its 4 documents take more than 1 MB together" in refusal(folder, template)
    assert len(load(folder).examples) == 4


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ q ", "`doc_to_text`, line 1: unexpected end of template"),
        ("{{ question }}", "'question' is undefined; the columns are 'q', "),
        ("{{ q | unknown }}", "No filter named 'unknown'"),
        ("{{ q[0] + 1 }}", "TypeError"),
    ],
)
def test_a_template_that_fails_is_told_with_its_document(
    folder: Path, template: str, message: str
) -> None:
    said = refusal(folder, with_text(template))
    assert message in said
    assert "document 1" in said


def test_keys_of_the_environment_do_not_reach_templates(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    process = started(SCRIPT, "1", str(documents.MEMORY))
    try:
        status = (f"/proc/{process.pid}/environ",)
        for path in status:
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    assert b"SECRET_KEY" not in file.read()
            except FileNotFoundError:  # another system than Linux
                pass
    finally:
        process.kill()
        process.communicate()
