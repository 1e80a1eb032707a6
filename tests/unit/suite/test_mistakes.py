"""Every mistake that a suite's author can make is told in one sentence with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.suite.base import SCORINGS
from tests.suites import either
from tests.unit.suite.examples import MINIMAL

if TYPE_CHECKING:
    from tests.unit.suite.conftest import SuiteText

COUNT = "a whole number above 0 and at most 1000000"
BOOLEANS = "; YAML reads yes, no, on and off as true and false"
QUOTES = BOOLEANS + ": put it in quotes"
MODEL_KEYS = (
    "name, label, backend, if_missing, revision, adapter, quantization, unverified, dtype, device, "
    "device_map, trust_remote_code, chat"
)
ASSERT_KEYS = (
    "p_max, union_p, permutation_p, beats, baseline_p, control_p, better_than, by, incumbent_p, "
    "family, red_flags, count, looks, test_p, in_replicates"
)
TASK_KEYS = (
    "assert, xfail, marks, name, format, validation, test, pool, if_missing, task_prefix, "
    "input_prefix, output_prefix, choice_prefix, separator, append_choices, path, columns, input, "
    "choices, answer_is, tolerance"
)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "promts: {}",
            "unknown key `promts`; did you mean `prompts`? "
            "(keys here: assert, xfail, marks, metric, limits, share, allow_unpassable, "
            "label_bias, compare, contamination, models, arms, tasks, incumbent, control, "
            "replicates, prompts, scoring, counterfactual, generation, exact_match, classify, "
            "shortcuts, until)",
        ),
        (
            "assert: {p_mx: 0.05}",
            f"unknown key `assert.p_mx`; did you mean `p_max`? (keys here: {ASSERT_KEYS})",
        ),
        ("assert: {zzz: 1}", f"unknown key `assert.zzz` (keys here: {ASSERT_KEYS})"),
        (
            "prompts: {formats: [{label: letter}]}",
            "unknown key `prompts.formats[0].label`; did you mean `labels`? (keys here: "
            "input_prefix, output_prefix, choice_prefix, separator, append_choices, labels)",
        ),
        ("assert: {p_max: 0}", "`assert.p_max`: found 0, expected a number above 0 and below 1"),
        (
            "assert: {permutation_p: 1.0e-7}",
            "`assert.permutation_p`: found 1e-07, expected a number of at least 0.000001 and "
            "below 1",
        ),
        (
            "assert: {test_p: 0.00001}",
            "`assert.test_p`: found 1e-05, expected a number of at least 0.0001 and below 1",
        ),
        (
            "assert: {looks: spent}",
            "`assert.looks`: found 'spent', expected 'spend'; did you mean `spend`?",
        ),
        ("assert: {p_max: 1}", "`assert.p_max`: found 1, expected a number above 0 and below 1"),
        (
            "assert: {p_max: small}",
            "`assert.p_max`: found 'small', expected a number above 0 and below 1",
        ),
        (
            "assert: {p_max: .nan}",
            "`assert.p_max`: found nan, expected a number above 0 and below 1",
        ),
        (
            "assert: {beats: max-random}",
            "`assert.beats`: found 'max-random', expected 'max_random' or 'standard' or a "
            "number above 0 and below 1; "
            "did you mean `max_random`?",
        ),
        (
            "assert: {red_flags: {majorty: fail}}",
            "unknown key `assert.red_flags.majorty`; did you mean `majority`? (keys here: "
            f"{', '.join(KINDS)})",
        ),
        (
            "assert: {red_flags: {majority: off}}",
            "`assert.red_flags.majority`: found false, expected 'fail' or 'warn' or 'ignore'"
            + BOOLEANS,
        ),
        (
            "assert: {red_flags: [majority]}",
            "`assert.red_flags`: found a list, expected 'fail' or 'warn' or 'ignore' or keys with "
            "values",
        ),
        (
            "assert: 0.05",
            "`assert`: found 0.05, expected keys with values or 'report' (keys here: "
            f"{ASSERT_KEYS})",
        ),
        (
            "prompts:",
            "`prompts`: found nothing, expected keys with values (keys here: shots, count, budget, "
            "seed, demonstrations, instructions, formats, combine)",
        ),
        (
            "replicates:",
            "`replicates`: found nothing, expected keys with values (keys here: count, seed)",
        ),
        (
            "label_bias:  # {check: move}",
            "`label_bias`: found nothing, expected keys with values (keys here: check, "
            "interactions, base_rate, calibration, tasks, seed, level, assert)",
        ),
        ("prompts: {count: 0}", f"`prompts.count`: found 0, expected {COUNT}"),
        ("prompts: {count: 2000000}", f"`prompts.count`: found 2000000, expected {COUNT}"),
        ("prompts: {count: 1.5}", f"`prompts.count`: found 1.5, expected {COUNT}"),
        (
            "prompts: {count: '5'}",
            f"`prompts.count`: found '5', expected {COUNT}; remove the quotes",
        ),
        ("prompts: {count: yes}", f"`prompts.count`: found true, expected {COUNT}"),
        ("prompts: {count: }", f"`prompts.count`: found nothing, expected {COUNT}"),
        (
            f"prompts: {{count: 0x{'f' * 6000}}}",
            f"`prompts.count`: found a number of more than 64 bits, expected {COUNT}",
        ),
        (
            "prompts: {shots: [1, -1]}",
            "`prompts.shots[1]`: found -1, expected a whole number from 0 to 1000",
        ),
        (
            "prompts: {shots: four}",
            "`prompts.shots`: found 'four', expected a whole number from 0 to 1000",
        ),
        (
            "prompts: {shots: []}",
            "`prompts.shots`: found an empty list, expected at least one entry",
        ),
        (
            "prompts: {seed: -1}",
            "`prompts.seed`: found -1, expected a whole number of at least 0 and below "
            "9223372036854775808",
        ),
        (
            "prompts: {instructions: yes}",
            "`prompts.instructions`: found true, expected text" + QUOTES,
        ),
        (
            "prompts: {instructions: [7]}",
            "`prompts.instructions[0]`: found 7, expected text; put it in quotes",
        ),
        (
            'prompts: {instructions: ["\\ud800"]}',
            "`prompts.instructions[0]`: found '\\ud800', expected text without lone surrogates",
        ),
        (
            'prompts: {instructions: ["\\0"]}',
            "`prompts.instructions[0]`: found '\\x00', expected text without NUL characters",
        ),
        ("marks: [no]", "`marks[0]`: found false, expected text" + QUOTES),
        (
            "marks: [not a name]",
            "`marks[0]`: found 'not a name', expected the name of a pytest mark, such as slow",
        ),
        ("xfail: ''", "`xfail`: found '', expected some text"),
        (
            "xfail: on",
            "`xfail`: found true, expected text; say why, such as `xfail: too few examples`",
        ),
        ("xfail: no", "`xfail`: found false, expected text; remove it"),
        ("xfail: 2020-01-31", "`xfail`: found the date 2020-01-31, expected text; put it in "
         "quotes"),
        ("xfail: [a]", "`xfail`: found a list, expected text"),
        ("xfail: {a: b}", "`xfail`: found keys with values, expected text"),
        ("xfail: !!set {a}", "`xfail`: found a value of the YAML type set, expected text"),
        (
            "scoring: mean",
            f"`scoring`: found 'mean', expected {either(SCORINGS)} or a scorer of an "
            "installed package; did you mean `mean_logprob`?",
        ),
        (
            "share: text",
            "`share`: found 'text', expected 'nothing' or 'texts'; did you mean `texts`?",
        ),
        ("1: 1", "found '1' as a key, expected a word"),
        ("no: 1", "found 'no' as a key, expected a word"),
        ("? [a]\n: 1", "found a list as a key, expected a word"),
        ("? {a: 1}\n: 1", "found keys with values as a key, expected a word"),
        ('"a\\nb": 1', "found 'a\\nb' as a key, expected a word"),
        ('"\\ud800": 1', "found '\\ud800' as a key, expected a word"),
        ("xfail: a\nxfail: b", "4: the key `xfail` is already in line 3; keep one of the two"),
        ("assert: {p_max: 1.0e-2, p_max: 0.2}", "the key `p_max` is already in line 3; keep one of "
                                                "the two"),
    ],
)  # fmt: skip
def test_a_mistake_in_one_line_is_told_with_its_line(
    suite: SuiteText, line: str, told: str
) -> None:
    where, _, _ = told.partition(": ")
    expected = told if where.isdigit() else f"3: {told}"
    assert suite.mistakes(f"{MINIMAL}{line}\n") == [expected]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("red_flags: warn", "unknown key `red_flags`; it belongs below `assert` (keys here: "),
        (
            "test: {fraction: 0.2}",
            "unknown key `test`; it belongs below `contamination` or `tasks`",
        ),
        ("quantization: nf4", "unknown key `quantization`; it belongs below `models` ("),
    ],
)
def test_a_key_that_belongs_into_a_block_is_told_where(
    suite: SuiteText, line: str, told: str
) -> None:
    (mistake,) = suite.mistakes(f"{MINIMAL}{line}\n")
    assert mistake.startswith(f"3: {told}")


def test_a_number_where_another_one_may_stand_needs_no_quotes(suite: SuiteText) -> None:
    (mistake,) = suite.mistakes(f"{MINIMAL}assert: {{beats: 1.2}}\n")
    assert mistake.endswith("or 'standard' or a number above 0 and below 1")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("{}", "the key `models[0].name` is missing; add it"),
        (
            "gpt2",
            f"`models[0]`: found 'gpt2', expected keys with values (keys here: {MODEL_KEYS}); "
            "write `{name: gpt2}`",
        ),
        ("{name: 3}", "`models[0].name`: found 3, expected text; put it in quotes"),
        (
            "{name: ' m'}",
            "`models[0].name`: found ' m', expected printable characters on one line, with no "
            "space at either end",
        ),
        (
            f"{{name: {'m' * 201}}}",
            f"`models[0].name`: found '{'m' * 57}...', expected at most 200 characters",
        ),
        (
            "{name: m, quantization: nf5}",
            "`models[0].quantization`: found 'nf5', expected 'none' or 'nf4' or 'fp4' or 'int8' or "
            "'stored'; did you mean `nf4`?",
        ),
        (
            "{name: m, quantization: off}",
            "`models[0].quantization`: found false, expected 'none' or 'nf4' or 'fp4' or 'int8' or "
            "'stored'" + BOOLEANS,
        ),
        (
            "{name: m, trust_remote_code: 1}",
            "`models[0].trust_remote_code`: found 1, expected true or false",
        ),
        (
            "{name: m, quantisation: nf4}",
            "unknown key `models[0].quantisation`; did you mean `quantization`? (keys here: "
            f"{MODEL_KEYS})",
        ),
        (
            "{name: m, quantization: nf4, unverified: true}",
            "models[0].unverified: this is about files that are already quantized, but the suite "
            "says `quantization: nf4`; remove it, or write `quantization: stored`",
        ),
        (
            "{name: m, backend: mock, knows: 1.5}",
            "`models[0].knows`: found 1.5, expected a number from 0 to 1",
        ),
        (
            "{name: m, backend: mock, quantization: nf4}",
            "`models[0].quantization` goes with `backend: transformers`, but this has `backend: "
            "mock`; remove one of the two",
        ),
        (
            "{name: m, backend: mock, know: 0.5}",
            "unknown key `models[0].know`; did you mean `knows`? (keys here: name, label, "
            "backend, if_missing, knows, prefers, copies, seed, seconds)",
        ),
        (
            "{name: m, backend: vllm, url: 'http://h', refresh: true}",
            "unknown key `models[0].refresh`; did you mean `revision`? (keys here: "
            "name, label, backend, if_missing, url, served_model, api_key_env, tokenizer, "
            "concurrency, timeout, chat, revision)",
        ),
        (
            "{name: m, quantization: Q4_K_M}",
            "`models[0].quantization`: found 'Q4_K_M', expected 'none' or 'nf4' or 'fp4' or 'int8' "
            "or 'stored'; GGUF files have this type: write `backend: gguf`, and no `quantization`",
        ),
    ],
)
def test_a_mistake_in_a_model_names_the_model(suite: SuiteText, model: str, told: str) -> None:
    text = f"tasks: [{{name: t, format: csv, path: x}}]\n\nmodels:\n- {model}\n"
    assert suite.mistakes(text) == [f"4: {told}"]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (
            "formt: csv",
            f"unknown key `tasks[0].formt`; did you mean `format`? (keys here: {TASK_KEYS})",
        ),
        (
            "choices: [a]",
            "`tasks[0].choices`: found a list, expected at least 2 entries",
        ),
        (
            "columns: {choices: [a, 2]}",
            "`tasks[0].columns.choices[1]`: found 2, expected text; put it in quotes",
        ),
        (
            "columns: {choices: {a: b}}",
            "`tasks[0].columns.choices`: found keys with values, expected text or a list",
        ),
        (
            "columns: {choices: [a]}",
            "`tasks[0].columns.choices`: found a list, expected text or at least 2 entries",
        ),
        (
            "validation: {max_examples: 0}",
            "`tasks[0].validation.max_examples`: found 0, expected a whole number above 0",
        ),
    ],
)
def test_a_mistake_in_a_task_names_the_task(suite: SuiteText, key: str, told: str) -> None:
    text = f"models: [{{name: m}}]\ntasks:\n- name: t\n  format: csv\n  path: x\n  {key}\n"
    assert suite.mistakes(text) == [f"6: {told}"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1: the file is empty; a suite needs `models` and `tasks`"),
        ("# nothing\n", "1: the file is empty; a suite needs `models` and `tasks`"),
        ("---\n...\n", "2: the file is empty; a suite needs `models` and `tasks`"),
        ("- a\n", "1: a suite: found a list, expected keys with values"),
        ("\n\nhello\n", "3: a suite: found 'hello', expected keys with values"),
        ("models: []\ntasks: [{name: t, format: csv, path: x}]\n",
         "1: `models`: found an empty list, expected at least one entry"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_told(suite: SuiteText, text: str, told: str) -> None:
    assert suite.mistakes(text) == [told]


@pytest.mark.parametrize(
    "text",
    [
        "task: own\ndataset_path: json\noutput_type: multiple_choice\ndoc_to_text: '{{q}}'\n",
        "include: own.yaml\ntask: other\n",
        "group: both\ntask: [own, other]\n",
    ],
)
def test_a_task_of_lm_eval_among_the_suites_is_told_in_one_sentence(
    suite: SuiteText, text: str
) -> None:
    (told,) = suite.mistakes(text)
    assert told.startswith("1: found a task of lm-evaluation-harness, but YAML below")
    assert "`format: lm_eval`" in told


def test_a_missing_key_is_told_at_the_part_that_lacks_it(suite: SuiteText) -> None:
    assert suite.mistakes("models:\n- name: m\ntasks:\n- path: x.jsonl\n") == [
        "4: the key `tasks[0].format` is missing; add `format: jsonl`",
        "4: the key `tasks[0].name` is missing; add it",
    ]
    assert suite.mistakes("\nxfail: a\n") == [
        "2: the key `models` is missing; add it",
        "2: the key `tasks` is missing; add it",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "models:\n- {name: a/m}\n- {name: b/m}\n- {name: b/m, quantization: none}\n"
            "tasks: [{name: t, format: csv, path: x}]\n",
            "3: models[1]: this has the same test ids as models[0]; give one of them a `label`",
        ),
        (
            "models: [{name: m}]\ntasks:\n- {name: t, format: csv, path: x}\n"
            "- {format: csv, path: y,\n   name: t}\n",
            "5: tasks[1].name: tasks[0] has this name already; give each task a name of its own",
        ),
        (
            MINIMAL + "prompts:\n  shots:\n  - 1\n  - 2\n  - 1\n",
            "7: prompts.shots[2] repeats prompts.shots[0]; remove one of the two",
        ),
        (
            MINIMAL + "shortcuts: [choices_only, choices_only]\n",
            "3: shortcuts[1] repeats shortcuts[0]; remove one of the two",
        ),
        (
            MINIMAL + "shortcuts: choices\n",
            "3: `shortcuts`: found 'choices', expected 'choices_only'; did you mean "
            "`choices_only`?",
        ),
        (
            MINIMAL + "prompts: {instructions: [a, a]}\n",
            "3: prompts.instructions[1] repeats prompts.instructions[0]; remove one of the two",
        ),
        (
            MINIMAL + 'prompts:\n  formats:\n  - {separator: "\\n", labels: text}\n'
            '  - {separator: "\\n"}\n',
            "6: prompts.formats[1] repeats prompts.formats[0]; remove one of the two",
        ),
        (
            MINIMAL + "prompts:\n  combine: cross\n  instructions: [a, b, c]\n"
            "  formats: [{}, {labels: letter}]\n  count: 5\n",
            "7: prompts.count: found 5, expected at least 6, because `combine: cross` writes each "
            "draw in 6 ways; raise it or use `combine: sample`",
        ),
        (
            MINIMAL + "prompts:\n  formats:\n  - labels: number\n    append_choices: false\n",
            "6: prompts.formats[0].append_choices: labels such as A need listed choices; remove "
            "`append_choices: false` or use `labels: text`",
        ),
    ],
)
def test_parts_that_contradict_each_other_are_told(suite: SuiteText, text: str, told: str) -> None:
    assert suite.mistakes(text) == [told]


def test_a_label_or_another_quantization_tells_models_apart(suite: SuiteText) -> None:
    text = (
        "models: [{name: a/m}, {name: b/m, label: b}, {name: a/m, quantization: none}]\n"
        "tasks: [{name: t, format: csv, path: x}]\n"
    )
    assert [model.short_name for model in suite.load(text).spec.models] == ["m", "b", "m"]


def test_neither_name_nor_label_of_a_mock_is_shown_where_it_looks_like_a_real_one(
    suite: SuiteText,
) -> None:
    text = (
        "models:\n"
        "  - {name: mock, label: a/m, backend: mock}\n"
        "  - {name: a/o, label: guesser, backend: mock}\n"
        "tasks: [{name: t, format: csv, path: x}]\n"
    )
    models = suite.load(text).spec.models
    assert [model.short_name for model in models] == ["simulated", "guesser"]


@pytest.mark.parametrize(
    ("line", "key", "ending"),
    [
        ("models: a/m", "models", "expected a list; write `[{name: a/m}]`"),
        ("models: 'a: m'", "models", "expected a list; write `[{name: 'a: m'}]`"),
        ('models: "\\uffef"', "models", "expected a list"),
        ("tasks: [d/q.CSV]", "tasks[0]", "; write `{name: q, format: csv, path: d/q.CSV}`"),
        ("tasks: q.json", "tasks", "; write `[{name: q, format: bigbench, path: q.json}]`"),
        ("assert: {p_max: 5%}", "assert.p_max", "; write 0.05"),
        ("scoring: acc_norm", "scoring", "; did you mean `char_logprob`?"),
        ("metric: f1", "metric", "; did you mean `macro_f1`?"),
    ],
)
def test_what_people_write_for_something_else_is_told_as_it_is_written(
    suite: SuiteText, line: str, key: str, ending: str
) -> None:
    others = {"models": "[{name: m}]", "tasks": "[{name: t, format: csv, path: x}]"}
    others.pop(line.split(":")[0], None)
    text = "".join(f"{name}: {value}\n" for name, value in others.items()) + line + "\n"
    (told,) = suite.mistakes(text)
    assert told.startswith(f"{len(others) + 1}: `{key}`: found ")
    assert told.endswith(ending)


@pytest.mark.parametrize(
    ("slip", "right", "rest"),
    [
        ("scorring: exact_match", "scoring", "generation: {max_tokens: 16}\nexact_match: {}"),
        ("scorings: generate", "scoring", "generation: {max_tokens: 16}"),
        ("incumbnt: {instruction: A}", "incumbent", "assert: {better_than: incumbent}"),
        ("contrl: {answer: A}", "control", "assert: {control_p: 0.05}"),
        ("genration: {samples: 3}", "generation", "scoring: generate"),
        ("scorin: counterfactual", "scoring", "counterfactual: {statement: A, continuation: B}"),
    ],
)
def test_what_contradicts_the_absence_of_a_misspelt_key_is_not_told_besides(
    suite: SuiteText, slip: str, right: str, rest: str
) -> None:
    (told,) = suite.mistakes(f"{MINIMAL}{slip}\n{rest}\n")
    key = slip.partition(":")[0]
    assert told.startswith(f"3: unknown key `{key}`; did you mean `{right}`?")


@pytest.mark.parametrize(
    "value", ["-1", ".nan", ".inf", "[1]", "true", "abc", '"-1%"', '"1"', "''"]
)
def test_a_tolerance_is_a_number_or_a_share(suite: SuiteText, value: str) -> None:
    task = f"{{name: t, format: csv, path: x, answer_is: open, tolerance: {value}}}"
    (told,) = suite.mistakes(f"models: [{{name: m}}]\ntasks: [{task}]\nscoring: exact_match\n")
    assert told.startswith("2: `tasks[0].tolerance`: found ")
    assert 'expected a number of at least 0 or a share such as "1%"' in told


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("shots: 2", "below `prompts` at the top of the suite"),
        ("scoring: paper", "at the top of the suite, not below a task or a model"),
        ("max_examples: 2", "below `validation`"),
    ],
)
def test_a_key_that_stands_too_deep_is_told_where_it_belongs(
    suite: SuiteText, key: str, place: str
) -> None:
    text = f"models: [{{name: m}}]\ntasks: [{{name: t, format: csv, path: x, {key}}}]\n"
    (told,) = suite.mistakes(text)
    assert f"; it belongs {place} (keys here: " in told


def test_a_key_that_holds_anchors_is_told_how_it_must_begin(suite: SuiteText) -> None:
    (told,) = suite.mistakes(f"{MINIMAL}defaults: &d {{format: csv, path: x}}\n")
    assert told.startswith("3: unknown key `defaults`; a key of your own that holds anchors is ")
    assert "called `x-defaults` (keys here: " in told
