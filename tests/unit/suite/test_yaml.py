"""How YAML is read: safely, with every key's line, and as its author meant it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.claims import AssertSpec
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.tasks import CsvSpec
from tests.suites import load_suite
from tests.unit.suite.examples import MINIMAL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.suite.conftest import SuiteText


def test_what_is_not_said_has_the_documented_default(suite: SuiteText) -> None:
    spec = suite.load(MINIMAL).spec
    model, task, prompts = spec.models[0], spec.tasks[0], spec.prompts
    assert isinstance(model, TransformersSpec)
    assert (model.backend, model.quantization, model.dtype) == ("transformers", "nf4", "auto")
    assert (model.revision, model.trust_remote_code, model.short_name) == (None, False, "m")
    assert (task.validation.max_examples, task.validation.seed) == (200, 0)
    assert (prompts.shots, prompts.count, prompts.seed) == ([4], 200, 0)
    assert (prompts.combine, prompts.demonstrations) == ("sample", "auto")
    assert (spec.scoring, spec.assertion, spec.xfail) == ("mean_logprob", None, None)


def test_shots_may_be_one_number(suite: SuiteText) -> None:
    assert suite.load(MINIMAL + "prompts: {shots: 2}\n").spec.prompts.shots == [2]


@pytest.mark.parametrize("written", ["1e-3", "1E-3", "1.e-3", "1.0e-3", "+1e-03", "0.001", ".001"])
def test_a_number_may_have_an_exponent(suite: SuiteText, written: str) -> None:
    assertion = suite.load(f"{MINIMAL}assert: {{p_max: {written}}}\n").spec.assertion
    assert isinstance(assertion, AssertSpec)
    assert assertion.p_max == 0.001


def test_the_line_of_a_key_is_where_the_key_stands(suite: SuiteText) -> None:
    found = suite.load(
        "# one\nmodels:\n  - name: m\n\ntasks:\n- format: csv\n  name: t\n  path: x\n- &u\n"
        "  name: u\n  format: csv\n  path: y\n"
    )
    assert found.line("models") == 2
    assert found.line("models", 0) == found.line("models", 0, "name") == 3
    assert found.line("tasks", 0) == 6
    assert found.line("tasks", 0, "path") == 8
    assert found.line("tasks", 1, "name") == 10


def test_the_line_of_what_is_not_given_is_that_of_the_part_around_it(suite: SuiteText) -> None:
    found = suite.load("\n" + MINIMAL)
    assert found.line("prompts", "shots") == found.line() == 2
    assert found.line("tasks", 0, "columns", "id") == 3


def test_anchors_and_merge_keys_work_and_the_own_key_wins(suite: SuiteText) -> None:
    spec = suite.load("""\
models: [{name: m}]
tasks:
- &first {name: a, format: csv, path: x, columns: &columns {input: q, answer: r}}
- <<: *first
  name: b
- {<<: [{path: z}, *first], name: c, columns: {<<: *columns, input: p}}
""").spec
    tasks = [task for task in spec.tasks if isinstance(task, CsvSpec)]
    assert [(task.name, task.path) for task in tasks] == [("a", "x"), ("b", "x"), ("c", "z")]
    assert [task.columns.input for task in tasks] == ["q", "q", "p"]
    assert [task.columns.answer for task in tasks] == ["r", "r", "r"]


def test_a_merged_mapping_that_merges_another_repeats_no_key(suite: SuiteText) -> None:
    found = suite.load("""\
models: [{name: m}]
tasks:
- {name: a, format: csv, path: x, columns: &old {input: q, answer: r}}
- {name: b, format: csv, path: x, columns: {<<: &new {<<: *old, input: p}, answer: s}}
- {<<: {columns: {<<: *new}}, name: c, format: csv, path: x}
""")
    tasks = [task for task in found.spec.tasks if isinstance(task, CsvSpec)]
    assert [task.columns.input for task in tasks] == ["q", "p", "p"]


def test_a_mistake_in_a_merged_key_is_told_where_the_key_stands(suite: SuiteText) -> None:
    assert suite.mistakes("""\
models: [{name: m}]
tasks:
- &first
  name: a
  format: csv
  path: 3
- <<: *first
  name: b
""") == [
        "6: `tasks[0].path`: found 3, expected text; put it in quotes",
        "6: `tasks[1].path`: found 3, expected text; put it in quotes",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [\n", "2: this is not valid YAML: the file ends inside a bracket, a list or a value; "
                   "close it"),
        ("a: b\n c: d\n", "2: this is not valid YAML: this line is indented deeper than the one "
                          "above it, which has a value already; start keys that belong together "
                          "in the same column"),
        ("a: b: c\n", "1: this is not valid YAML: a colon is not allowed here; put the text in "
                      "quotes, or start the key on a new line"),
        ("a:\n  - b: c\n   d: e\n", "3: this is not valid YAML: this line is indented like none of "
                                    "the lines above it; start keys and entries that belong "
                                    "together in the same column"),
        ("models:\n\t- a\n", "2: this is not valid YAML: a tab is here, where YAML accepts spaces "
                             "only; indent with spaces"),
        ("a: [b\nc: d\n", "2: this is not valid YAML: a comma is missing here, or an earlier "
                          "bracket is not closed"),
        ('a: "b\nc: d\n', "3: this is not valid YAML: an earlier quote is not closed; close it"),
        ("a: *b\n", "1: this is not valid YAML: `*b` refers to an anchor that is not above it; "
                    "write `&b` before the value that it refers to"),
        ("a: @b\n", "1: this is not valid YAML: a text cannot begin with this character; put it in "
         "quotes"),
        ("---\na: b\n---\nc: d\n", "3: this is not valid YAML: a second document begins here "
                                   "(`---`); a suite is one document, so write two files"),
        ("a: b\n\nc: \a\n", "3: YAML does not allow the character U+0007"),
        ('a: b\nc: "\\UFFFFFFFF"\n', "2: this is not valid YAML: a number is out of range"),
        (f"%YAML {'9' * 5000}.1\n---\na: b\n",
         "1: this is not valid YAML: a number is out of range"),
        ("a: b\nc: !!int x\n", "2: this is not valid YAML: tag:yaml.org,2002:int cannot be read "
         "(invalid literal for int() with base 10: 'x')"),
        ("<<: 5\n", "1: this is not valid YAML: while constructing a mapping expected a mapping or "
         "list of mappings for merging, but found scalar"),
    ],
)  # fmt: skip
def test_what_is_not_yaml_is_told_with_its_line(suite: SuiteText, text: str, told: str) -> None:
    assert suite.mistakes(text) == [told]


def test_values_nested_too_deeply_are_told(suite: SuiteText) -> None:
    told = "2: the values are nested too deeply for a suite"
    assert suite.mistakes("x:\n" + "- " * 5000) == [told]


def test_a_tag_of_python_runs_nothing(suite: SuiteText, tmp_path: Path) -> None:
    made = tmp_path / "made"
    suite.mistakes(f'models: !!python/object/apply:pathlib.Path.touch ["{made}"]\n')
    assert not made.exists()


def test_a_file_that_is_not_utf_8_is_told_with_the_line_of_the_first_wrong_byte(
    suite: SuiteText,
) -> None:
    told = "this is not UTF-8 text; save the suite in UTF-8"
    assert suite.mistakes("# ok\nname: café\n".encode("latin-1")) == [f"2: {told}"]
    assert suite.mistakes(MINIMAL.encode("utf-16")) == [f"1: {told}"]


def test_a_byte_order_mark_and_the_line_ends_of_windows_are_no_mistake(suite: SuiteText) -> None:
    text = MINIMAL.replace("\n", "\r\n")
    assert suite.load(b"\xef\xbb\xbf" + text.encode()).line("tasks") == 2


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read: Is a directory"
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "none.yaml")
    assert (
        str(caught.value) == f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory"
    )


def test_an_anchor_within_itself_is_told(suite: SuiteText) -> None:
    assert suite.mistakes("models: &m [*m]\ntasks: &t {t: *t}\n") == [
        "1: `models[0]`: found a list, expected keys with values (keys here: name, label, backend, "
        "if_missing, revision, adapter, quantization, unverified, dtype, device, device_map, "
        "trust_remote_code, chat)",
        "2: `tasks`: found keys with values, expected a list",
    ]


def test_a_billion_laughs_are_told_and_not_laughed(suite: SuiteText) -> None:
    """Each line holds ten of the line before: 10**40 values or keys in all, if they were copied."""
    lists = ["- &l0 [a]", *(f"- &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 40))]
    found = suite.mistakes("models: [{name: m}]\ntasks:\n" + "\n".join(lists))
    assert len(found) == 40
    assert found[-1].startswith("42: `tasks[39]`: found a list, expected keys with values (keys ")

    keys = ", ".join(f"k{i}: {i}" for i in range(10))
    merged = [f"- &m0 {{{keys}}}"]
    merged += [f"- &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 10)}]}}" for i in range(1, 40)]
    found = suite.mistakes("models: [{name: m}]\ntasks:\n" + "\n".join(merged))
    shown, hidden = 100, 40 * (10 + len(["name", "format", "path"])) - 100
    assert len(found[:-1]) == shown
    assert found[-1].endswith(f"problems not shown: {hidden}")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            "!local b",
            "found the tag '!local' before a value, but a suite has plain values; remove the tag",
        ),
        (
            "!!python/object/apply:os.system [true]",
            "found the tag 'tag:yaml.org,2002:python/object/apply:os.system' before a value, but a "
            "suite has plain values; remove the tag",
        ),
        ("!function utils.f", "`!function` names a Python function, which only lm-eval tasks may "
                              "have; remove it"),
    ],
)  # fmt: skip
def test_a_tag_runs_nothing_and_is_told_with_all_else(
    suite: SuiteText, value: str, told: str
) -> None:
    with pytest.raises(SuiteError) as error:
        suite.load(f"{MINIMAL}xfail: {value}\nscoring: best\n")
    messages = [problem.message for problem in error.value.problems]
    assert told in messages
    assert any(message.startswith("`scoring`: found 'best'") for message in messages)


def test_keys_that_begin_with_x_are_the_suites_own(suite: SuiteText) -> None:
    spec = suite.load("""\
x-defaults: &all {format: csv, columns: {input: q}}
x-note: [whatever, 1]
models: [{name: m}]
tasks: [{<<: *all, name: a, path: x}]
""").spec
    (task,) = spec.tasks
    assert isinstance(task, CsvSpec)
    assert (task.path, task.columns.input) == ("x", "q")
    with pytest.raises(SuiteError, match=r"unknown key `tasks\[0\].x-own`"):
        suite.load("models: [{name: m}]\ntasks: [{name: a, format: csv, path: x, x-own: 1}]\n")


def test_one_instruction_and_one_format_need_no_list(suite: SuiteText) -> None:
    more = "prompts: {instructions: 'Say yes.', formats: {labels: letter}}\n"
    prompts = suite.load(MINIMAL + more).spec.prompts
    assert prompts.instructions == ["Say yes."]
    assert prompts.formats is not None
    assert [form.labels for form in prompts.formats] == ["letter"]


@pytest.mark.parametrize("text", ["a: *NAME\n", "a: &NAME 1\nb: &NAME 2\nc: *x\n"])
def test_a_sentence_is_no_longer_than_anyone_reads(suite: SuiteText, text: str) -> None:
    (told,) = suite.mistakes(text.replace("NAME", "x" * 200_000))
    assert "this is not valid YAML" in told
    assert " ... " in told
    assert len(told) < 2_100
