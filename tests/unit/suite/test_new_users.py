"""What new users stumbled over: all of it is told at once, in words of their own files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_maxrandom.recorded.sources as sources
from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import KEYS, SuiteError
from pytest_maxrandom.ledger import FOLDER, SIMULATED, SetLedger, Subject
from pytest_maxrandom.reports.terminal import summary
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.suite.schema import schema
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.task import Example
from tests.notes import sentences
from tests.unit.reports.samples import run

SUBJECT = Subject("m", "d", "", 4, "mean_logprob")


def rows(count: int, *more: dict[str, object]) -> str:
    """Return lines of JSON."""
    made = [{"input": f"q{i}", "choices": ["a", "b"], "answer": i % 2} for i in range(count)]
    return "".join(json.dumps(row) + "\n" for row in [*made, *more])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").write_text(rows(40))
    return tmp_path


def suite(tasks: str, models: str = "{name: m, backend: mock}", more: str = "") -> Path:
    path = Path("s.yaml")
    path.write_text(f"models:\n- {models}\ntasks:\n{tasks}\n{more}\nprompts: {{count: 9}}\n")
    return path


def told(path: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        plan_file(path)
    return [str(problem) for problem in caught.value.problems]


def notes(path: Path) -> list[str]:
    (claim,) = sweeps_of(plan_file(path))
    return [*sentences(claim.record("id", "s.yaml").notes)]


def test_mistakes_in_keys_files_columns_and_models_are_told_together(folder: Path) -> None:
    path = suite(
        "- {name: a, format: jsonl, path: nothere.jsonl}\n"
        "- {name: b, format: jsonl, path: d.jsonl, columns: {input: question}}\n"
        "- {name: c, format: jsonl, path: d.jsonl, clumns: {}}",
        models="{name: ./our-modle}",
        more="metric: best",
    )
    found = told(path)
    assert [line.split(": ")[0] for line in found] == [
        "s.yaml:2", "s.yaml:4", "s.yaml:6", "s.yaml:7", "d.jsonl",
    ]  # fmt: skip
    beginnings = (
        "models[0].name: there is no folder ./our-modle",
        "there is no file 'nothere.jsonl'",
        "unknown key `tasks[2].clumns`",
        "`metric`: found 'best'",
        "the column 'question' for `columns: input:` is missing",
    )
    for line, beginning in zip(found, beginnings, strict=True):
        assert line.partition(": ")[2].startswith(beginning)


def test_a_part_with_a_wrong_key_tells_which_file_is_missing_too(folder: Path) -> None:
    """And nothing that only the wrong key could have told, such as columns."""
    path = suite(
        "- {name: a, format: jsonl, path: nothere.jsonl, bogus: 1}\n"
        "- {name: b, format: jsonl, path: d.jsonl, columns: {inptu: question}}\n"
        "- {name: c, format: jsonl, path: e.json}",
        models="{name: ./our-modle, quantization: nf5}",
    )
    found = told(path)
    assert [line.split(": ")[0] for line in found] == [
        "s.yaml:2", "s.yaml:2", "s.yaml:4", "s.yaml:4", "s.yaml:5", "s.yaml:6",
    ]  # fmt: skip
    assert [line for line in found if "there is no" in line] == [
        "s.yaml:2: models[0].name: there is no folder ./our-modle (relative to the suite file), "
        "and it is not a hub id such as allenai/OLMo-7B-hf",
        "s.yaml:4: there is no file 'nothere.jsonl' (paths are relative to the suite file)",
        "s.yaml:6: there is no file 'e.json' (paths are relative to the suite file)",
    ]


def test_a_task_without_a_format_is_looked_into_as_its_suffix_tells(folder: Path) -> None:
    """And a block of which nothing is left without its mistakes hides nothing."""
    (folder / "r.csv").write_text("text,label\na,yes\n")
    found = told(
        suite(
            "- {name: a, path: nothere.jsonl, test: {fraction: 2}}\n"
            "- {name: b, format: cvs, path: r.csv, columns: {input: txt}, choices: [a, b]}\n"
            "- {path: nothere.csv}"
        )
    )
    assert [line for line in found if "fraction" in line or "format" in line] == [
        "s.yaml:4: `tasks[0].test.fraction`: found 2, expected a number above 0 and below 1",
        "s.yaml:4: the key `tasks[0].format` is missing; add `format: jsonl`",
        "s.yaml:5: `tasks[1].format`: found 'cvs', expected 'bigbench' or 'jsonl' or 'csv' or "
        "'hub' or 'lm_eval'; did you mean `csv`?",
        "s.yaml:6: the key `tasks[2].format` is missing; add `format: csv`",
    ]
    assert [line for line in found if "there is no file" in line] == [
        "s.yaml:4: there is no file 'nothere.jsonl' (paths are relative to the suite file)",
        "s.yaml:6: there is no file 'nothere.csv' (paths are relative to the suite file)",
    ]
    assert any("did you mean 'text'?" in line for line in found)


@pytest.mark.parametrize("backend", ["mokc", "transformer"])
def test_a_backend_that_is_a_mistake_is_told_once(folder: Path, backend: str) -> None:
    path = suite("- {name: b, format: jsonl, path: d.jsonl}", f"{{name: m, backend: {backend}}}")
    (found,) = told(path)
    assert found.startswith(f"s.yaml:2: `models[0].backend`: found '{backend}', expected ")


def test_the_nearest_file_is_the_one_whose_name_is_like_it_whatever_it_ends_in(
    folder: Path,
) -> None:
    (folder / "arithmetic.jsonl").write_text(rows(40))
    for wrong, hint in (
        ("arithmetics.jsonl", "; did you mean 'arithmetic.jsonl'?"),
        ("arithmetic.json", "; did you mean 'arithmetic.jsonl'?"),
        ("history.jsonl", ""),
    ):
        (found,) = told(suite(f"- {{name: a, format: jsonl, path: {wrong}}}"))
        assert found.partition(" (paths are relative to the suite file)")[2] == hint


def test_of_two_files_of_one_name_the_nearest_has_the_same_ending(folder: Path) -> None:
    for ending in ("txt", "csv", "yaml"):
        (folder / f"arithmetic.{ending}").write_text("input,choices,answer\n")
    (found,) = told(suite("- {name: a, format: csv, path: arithmetics.csv}"))
    assert found.endswith("; did you mean 'arithmetic.csv'?")


def test_a_column_that_nobody_named_is_told_with_the_ways_out(folder: Path) -> None:
    (folder / "r.csv").write_text("text,label\na,yes\n")
    assert told(suite("- {name: a, format: csv, path: r.csv, columns: {answer: lable}}")) == [
        "r.csv:1: the column 'choices' for `columns: choices:` is missing; found 'text', 'label'; "
        "name yours by `columns: choices: NAME`; or write the choices of all rows as `choices: "
        "[TEXT, TEXT]`, or `answer_is: open` if there are none",
        "r.csv:1: the column 'input' for `columns: input:` is missing; found 'text', 'label'; name "
        "yours by `columns: input: NAME`",
        "r.csv:1: the column 'lable' for `columns: answer:` is missing; found 'text', 'label' "
        "(named in s.yaml:4); did you mean 'label'?",
    ]


def test_a_test_set_that_takes_nearly_all_is_told_where_examples_are_too_few(folder: Path) -> None:
    (found,) = told(suite("- {name: a, format: jsonl, path: d.jsonl, test: {fraction: 0.95}}"))
    assert found.endswith(
        "4 shots need 4 different examples for demonstrations, found 2 in the validation set of a "
        "(its test set takes 38); use fewer shots, give `test` a smaller fraction, or give the "
        "task more examples"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"input": "a", }', "this comma has nothing after it; remove it (column 14)"),
        ('{"input": ["a", ]}', "this comma has nothing after it; remove it (column 15)"),
        ('{, "input": "a"}', "a key in double quotes is missing here"),
        ('{"input": "a" "answer": 1}', "a comma, or a closing bracket, is missing here"),
        ('{"input" "a"}', "a colon is missing here, after the key"),
        ('{"input": "a', "the quote that opens here is not closed"),
        ('{"input": "a\\d"}', "a backslash before this character means nothing in JSON; write it "),
        ('{"input": "a\tb"}', "a tab or a line break is in a text; write it as \\t or \\n"),
        ('{"input": yes}', "a value is missing here: a text in double quotes, a number, a list"),
        ('{"input": "a"', "the text ends too early; a bracket, a quote or a value is missing"),
        ('{"input": "a"} {}', "the value has ended, but more text follows"),
    ],
)
def test_what_is_no_json_is_told_in_plain_words(folder: Path, line: str, said: str) -> None:
    (folder / "d.jsonl").write_text(f"{rows(40)}{line}\n")
    (found,) = told(suite("- {name: a, format: jsonl, path: d.jsonl}"))
    assert found.startswith(f"d.jsonl:41: not valid JSON: {said}")


def test_a_trailing_comma_is_told_with_its_own_line(folder: Path) -> None:
    (folder / "d.json").write_text('{"examples": [\n  {"input": "a"},\n\n]}')
    (found,) = told(suite("- {name: a, format: bigbench, path: d.json}"))
    assert found.startswith("d.json:2: not valid JSON: this comma has nothing after it; remove it ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("m.Q4_K_M.gguf", "m.Q4_K_M.gguf is a GGUF file; write `backend: gguf`, and no "),
        ("http://localhost:8000/v1", "http://localhost:8000/v1 is an address, but `backend: "),
    ],
)
def test_a_model_of_another_backend_is_told_which(folder: Path, name: str, said: str) -> None:
    (found,) = told(suite("- {name: b, format: jsonl, path: d.jsonl}", f"{{name: '{name}'}}"))
    assert found.startswith(f"s.yaml:2: models[0].name: {said}")


def test_where_all_keys_stand_is_told_where_one_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = "- {name: a, format: jsonl, path: d.jsonl}"
    for more, times in (("metrics: f1", 1), ("metric: f1", 0), ("allow_unpassable: 3", 0)):
        path = suite(task, more=more).rename("s.maxrandom.yaml")
        assert main(["check", str(path)]) == 1
        assert capsys.readouterr().out.splitlines().count(f"all keys: {KEYS}") == times
        lines = [line.text for line in summary(run(broken=told(path)))]
        assert lines.count(f"all keys: {KEYS}") == times


@pytest.mark.parametrize(("name", "form"), [("r.csv", "jsonl"), ("d.jsonl", "csv")])
def test_a_file_that_is_read_in_another_format_than_its_ending_tells_is_told_once(
    folder: Path, name: str, form: str
) -> None:
    (folder / "r.csv").write_text("input,choices,answer\n" + "a,b,c\n" * 9)
    (found,) = told(suite(f"- {{name: b, format: {form}, path: {name}}}"))
    assert found.startswith(f"{name}:1: ")
    assert found.endswith(
        f"; `format: {form}` reads this file, and its ending is that of `format: "
        f"{name.partition('.')[2]}`"
    )


def test_a_test_file_with_the_same_examples_is_told_so(folder: Path) -> None:
    (found,) = told(suite("- {name: a, format: jsonl, path: d.jsonl, test: {path: d.jsonl}}"))
    assert found.endswith("both need at least one, so name a test file with other examples")


def test_the_nearest_file_is_written_as_the_suite_must_have_it(folder: Path) -> None:
    (folder / "arithmetic.jsonl").write_text(rows(40))
    wrong = f"../{folder.name}/arithmetics.jsonl"
    (found,) = told(suite(f"- {{name: a, format: jsonl, path: {wrong}}}"))
    assert found.endswith(f"; did you mean '../{folder.name}/arithmetic.jsonl'?")


@pytest.mark.parametrize(("written", "meant"), [("4bit", "nf4"), ("8bit", "int8")])
def test_a_quantization_in_other_words_is_understood(
    folder: Path, written: str, meant: str
) -> None:
    (folder / "s.yaml").write_text(
        f"models: [{{name: a/b, quantization: {written}}}]\n"
        "tasks: [{name: t, format: bigbench, path: t.json}]\nprompts: {shots: 0, count: 1}\n"
    )
    assert any(line.endswith(f"did you mean `{meant}`?") for line in told(folder / "s.yaml"))


RECORDED = """\
models:
- {name: m, backend: recorded,
   results: {path: r.csv, format: table, shots: 1, columns: {prompt: P}}}
- {name: o, backend: recorded, results: {path: s.csv, format: table, shots: 1}}
- {name: x, backend: recorded, results: {path: r.csv, format: tabel}}
tasks:
- {name: a, chance: 1/2, bogus: 1}
assert: {p_mx: 0.05}
prompts: {shot: 1}
"""


def test_a_recorded_suite_with_wrong_keys_tells_missing_files_and_columns_too(
    folder: Path,
) -> None:
    """Results of a model whose own keys are wrong are not looked at."""
    lines = [f"m,a,{p},{e},{int(p < e)}\n" for p in range(4) for e in range(9)]
    (folder / "r.csv").write_text("model,task,prompt,example,correct\n" + "".join(lines))
    path = folder / "s.yaml"
    path.write_text(RECORDED)
    found = told(Path("s.yaml"))
    assert [line.split(": ")[0] for line in found] == [f"s.yaml:{n}" for n in (3, 4, 5, 7, 8, 9)]
    column, missing, *keys = (line.partition(": ")[2] for line in found)
    assert column.startswith("models[0].results: r.csv:1: there is no column 'P' for `columns: pr")
    assert missing.startswith("models[1].results: s.csv: no such file or folder")
    assert all("tabel" in key or key.startswith("unknown key") for key in keys)
    path.write_text(RECORDED.replace("columns: {prompt: P}", "columns: {prompt: prompt}"))
    assert [line for line in told(Path("s.yaml")) if "models[0]" in line] == []


def test_a_folder_spelled_wrongly_is_no_model_of_the_hub(folder: Path) -> None:
    (folder / "our-model").mkdir()
    (folder / "our-model" / "config.json").write_text("{}")
    task = "- {name: a, format: jsonl, path: d.jsonl}"
    (found,) = told(suite(task, models="{name: our-modle}"))
    assert (
        "there is no folder our-modle (relative to the suite file); did you mean `our-model`?"
        in (found)
    )
    for name in ("gpt2", "someone/our-modle"):
        plan_file(suite(task, models=f"{{name: {name}}}"))


def test_more_examples_than_there_are_and_a_test_set_that_takes_most_are_said(
    folder: Path,
) -> None:
    (folder / "d.jsonl").write_text(rows(200))
    task = "- {{name: a, format: jsonl, path: d.jsonl, {}}}"
    asked = notes(suite(task.format("validation: {max_examples: 5000}")))
    assert any("asks for 5,000 examples, but the task has 200" in note for note in asked)
    taken = notes(suite(task.format("test: {fraction: 0.8}")))
    assert "The test set takes 160 examples and leaves 40: claims are about these." in (taken)
    for quiet in ("validation: {max_examples: 50}", "test: {fraction: 0.25}"):
        assert not any(
            "5,000" in note or "leaves" in note for note in notes(suite(task.format(quiet)))
        )
    assert not any("the task has" in note for note in notes(suite(task.format("xfail: no reason"))))


def test_one_question_with_two_right_answers_is_said(folder: Path) -> None:
    same = {"input": "q0", "choices": ["b", "a"], "answer": 0}
    (folder / "d.jsonl").write_text(
        rows(40, same, {"input": "q1", "choices": ["a", "b"], "answer": 1})
    )
    task = "- {name: a, format: jsonl, path: d.jsonl}"
    said = notes(suite(task))
    # q0 is asked twice, and the second time the other choice is right; q1 is a copy.
    assert any(note.startswith("2 examples have the question") for note in said)


def test_nul_is_no_text(folder: Path) -> None:
    (folder / "d.jsonl").write_text(rows(40, {"input": "a\0b", "choices": ["a", "b"], "answer": 0}))
    (found,) = told(suite("- {name: a, format: jsonl, path: d.jsonl}"))
    assert found.endswith("holds a NUL character; remove it")
    assert found.startswith("d.jsonl:41: ")


@pytest.mark.parametrize(
    ("form", "ending"), [("bigbench", ".jsonl"), ("bigbench", ".csv"), ("lm_eval", ".jsonl")]
)
def test_a_pool_of_another_format_is_told_as_that(folder: Path, form: str, ending: str) -> None:
    examples = [{"input": f"x{i}", "target_scores": {"a": 1, "b": 0}} for i in range(9)]
    (folder / "t.json").write_text(json.dumps({"examples": examples}))
    (folder / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: d.jsonl}\n"
        "output_type: multiple_choice\ntest_split: train\ndoc_to_text: '{{input}}'\n"
        "doc_to_choice: choices\ndoc_to_target: answer\n"
    )
    (folder / f"pool{ending}").write_text(rows(9))
    path = "t.json" if form == "bigbench" else "t.yaml"
    found = told(
        suite(f"- {{name: a, format: {form}, path: {path}, pool: {{path: pool{ending}}}}}")
    )
    assert len(found) == 1
    assert f"this file ends in '{ending}'" in found[0]


def test_what_a_reader_of_results_lets_out_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[object]:
        raise KeyError("column")

    monkeypatch.setitem(sources.READERS.built_in, "table", broken)  # type: ignore[arg-type]
    (folder / "t.csv").write_text("x\n")
    path = suite(
        "- {name: a}", "{name: m, backend: recorded, results: {format: table, path: t.csv}}"
    )
    path.write_text(path.read_text().replace("prompts: {count: 9}\n", ""))
    (found,) = told(path)
    assert "t.csv cannot be read as `format: table` (KeyError: 'column')" in found


@pytest.mark.parametrize("way", ["check", pytest.param("pytest", marks=pytest.mark.slow)])
def test_texts_that_a_model_cannot_hold_are_counted_before_it_is_loaded(
    folder: Path, tiny_llama: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    from transformers import AutoTokenizer

    long = [{"input": "word " * length, "choices": ["a", "b"], "answer": 0} for length in (900, 30)]
    (folder / "d.jsonl").write_text(rows(40, *long))
    task = "- {name: a, format: jsonl, path: d.jsonl, validation: {max_examples: 42}}"
    more = "assert: report\nallow_unpassable: true"
    path = suite(task, f"{{name: {tiny_llama}, quantization: none}}", more)
    path.write_text(path.read_text().replace("{count: 9}", "{count: 9, shots: 0, seed: 3}"))
    (claim,) = sweeps_of(plan_file(path))
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    pairs = [
        max(
            len(tokenizer(question.context + answer).input_ids) - 1  # which ends a text
            for question in SCORERS["mean_logprob"].questions(prompt, example)
            for answer in question.answers
        )
        for prompt, examples in claim.condition.prompt_set.pairs
        for example in examples
    ]
    beyond = sum(length > 512 for length in pairs)
    assert 0 < beyond < len(pairs)
    told = (
        f"{beyond} of {len(pairs)} (prompt, example) pairs are longer than the model's context, "
        f"which has 512 tokens (the longest has {max(pairs):,}: prompt 1 with example #41)"
    )
    if way == "pytest":
        path = path.rename("s.maxrandom.yaml")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(path)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert told.partition(",")[0] in " ".join(run.stdout.split())
        return
    assert main(["check", str(path)]) == 1
    assert told in capsys.readouterr().out
    (folder / "d.jsonl").write_text(rows(40))
    assert main(["check", str(path)]) == 0


def ledger(place: Path, name: str, examples: list[Example]) -> Path:
    found = SetLedger(place, "run", name, examples)
    found.evaluated(SUBJECT, "p", len(examples), 3)
    return found.path


def made(name: str) -> list[Example]:
    return [Example(f"e{i}", f"{name} {i}", ("a", "b"), (i % 2,)) for i in range(20)]


def test_simulated_and_real_ledgers_are_not_merged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = ledger(folder / FOLDER, "quiz", made("q"))
    simulated = ledger(folder / SIMULATED, "quiz", made("q"))
    for pair in ((real, simulated), (simulated, real)):
        assert main(["ledger", "merge", *map(str, pair)]) == 2
        assert f"{simulated} counts tries on simulated models" in capsys.readouterr().err
    assert main(["ledger", "merge", str(simulated), str(simulated)]) == 0


def test_show_of_a_suite_is_about_its_own_examples(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = suite("- {name: mine, format: jsonl, path: d.jsonl}", models="{name: some/model}")
    (claim,) = sweeps_of(plan_file(path))
    ledger(folder / FOLDER, "mine", list(claim.condition.prompt_set.validation))
    ledger(folder / FOLDER, "another", made("other"))
    assert main(["ledger", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "mine: " in shown
    assert "another: " not in shown
    assert main(["ledger", "show", "."]) == 0
    assert "another: " in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_told_in_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tasks", "d.jsonl", "--output", "missing/x.txt"]) == 2
    assert capsys.readouterr().err == (
        "maxrandom tasks: there is no folder missing for the file x.txt\n"
    )


def test_a_mistake_of_the_program_is_not_told_as_one_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> str:
        raise TypeError("of the program")

    monkeypatch.setattr("pytest_maxrandom.commands.tasks.find_tasks", broken)
    with pytest.raises(TypeError, match="of the program"):
        main(["tasks", "x"])


def test_every_key_of_a_suite_says_what_it_is() -> None:
    silent = [
        (name, key)
        for name, kind in schema()["$defs"].items()
        for key, node in kind.get("properties", {}).items()
        if not node.get("description")
    ]
    assert not silent
