"""`maxrandom check`: every mistake with its place, and nothing but mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_maxrandom.cli import main
from tests.integration.action_runner import commands
from tests.unit.recorded.suites import judged, planned, rows, save, suite_text, write_csv

SUITE = """\
models:
  - name: some/model
tasks:
  - name: sums
    format: csv
    path: {path}
    columns: {{input: question, choices: [A, B], answer: answer}}
prompts: {{shots: 0}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one suite, which is right."""
    monkeypatch.chdir(tmp_path)
    suites = Path("eval_suites")
    suites.mkdir()
    lines = "".join(f"is {i} even?,yes,no,{'no' if i % 2 else 'yes'}\n" for i in range(20))
    (suites / "sums.csv").write_text(f"question,A,B,answer\n{lines}")
    (suites / "good.yaml").write_text(SUITE.format(path="sums.csv"))
    return suites


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["eval_suites", "eval_suites/good.yaml", "."])
def test_a_suite_that_is_right_is_said_to_be(capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert main(["check", path]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in said] == [
        "1 suite, no mistake",
        "eval_suites/good.yaml:4",
        "eval_suites/good.yaml:2",
    ]
    assert said[1].endswith("without variants can give only 1: all of them are used.")
    # The model is on no disk, so nothing tells how long its texts may be.
    assert said[2].endswith(
        "only a run can tell whether texts are too long for some/model (`backend: transformers`)"
    )


def test_what_a_run_would_remark_is_said_once_for_each_task_and_is_no_mistake(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SUITE.format(path="sums.csv").replace("some/model", "some/model\n    backend: mock")
    text = text.replace("shots: 0", "shots: [0, 1]")
    (folder / "good.yaml").write_text(
        text.replace("prompts:", "    validation: {max_examples: 5000}\nprompts:")
    )
    lines = [f"is {i} even?,yes,no,{'no' if i % 2 else 'yes'}\n" for i in range(10)]
    (folder / "sums.csv").write_text("question,A,B,answer\n" + "".join(lines[:5] * 8 + lines[5:]))
    assert main(["check", "eval_suites"]) == 0
    first, *said = capsys.readouterr().out.splitlines()
    assert first == "1 suite, no mistake"
    asked, copies = (line for line in said if "5,000" in line or "repeated_examples" in line)
    assert "asks for 5,000 examples, but the task has 45: all of them are used" in asked
    assert "There are 45 examples, but only 10 different ones" in copies
    with (folder / "good.yaml").open("a") as file:
        file.write("assert: {red_flags: {repeated_examples: ignore}}\n")
    assert main(["check", "eval_suites"]) == 0
    assert "repeated_examples" not in capsys.readouterr().out


@pytest.mark.parametrize(("rest", "is_told"), [("", True), ("assert: {beats: 0.5}\n", False)])
def test_a_claim_that_no_answer_can_show_is_remarked_before_any_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str], rest: str, is_told: bool
) -> None:
    text = SUITE.format(path="sums.csv").replace("some/model", "m\n    backend: mock")
    text = text.replace("choices: [A, B], answer: answer}", "answer: answer}\n    answer_is: open")
    (folder / "good.yaml").write_text(f"{text}scoring: f1\n{rest}")
    assert main(["check", "eval_suites"]) == 0
    told = "no run can tell: no guesser is compared with scores"
    assert (told in capsys.readouterr().out) is is_told


def cells(number: int, **more: object) -> list[dict[str, object]]:
    """Rows of a table of two prompts on examples with right answers in turn."""
    gold = [("yes", "no")[place % 2] for place in range(number)]
    return [
        {"prompt": prompt, "example": place, "prediction": right, "gold": right, **more}
        for prompt in range(2)
        for place, right in enumerate(gold)
    ]


LISTED = cells(40, choices=["yes", "no"])
GRADED = [{**row, "score": 0.5} for row in cells(40)]
FEW = [{**row, "source": f"s{int(str(row['example'])) // 12}"} for row in LISTED]


@pytest.mark.parametrize(
    ("table", "names", "kept", "kind"),
    [
        (LISTED, {}, ["prediction", "gold", "choices"], None),
        (LISTED, {}, ["correct"], "only_right_and_wrong"),
        (LISTED, {}, ["correct", "gold"], "choices_unlisted"),
        (FEW, {"cluster": "source"}, ["prediction", "gold", "choices", "source"], "few_clusters"),
        (
            FEW, {"cluster": "source"}, ["correct", "gold", "choices", "source"],
            "answers_not_given_of_clusters",
        ),
        (GRADED, {}, ["score"], "no_guessers"),
    ],
)  # fmt: skip
def test_a_recorded_claim_that_no_run_can_tell_is_named_as_any_other(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    table: list[dict[str, object]],
    names: dict[str, str],
    kept: list[str],
    kind: str | None,
) -> None:
    """By the rule by which a run judges it; not where something is claimed by name, or nothing."""
    written = [{"prompt": row["prompt"], "example": row["example"],
                **{key: row.get(key, 1) for key in kept}} for row in table]  # fmt: skip
    write_csv(folder / "r.csv", written)
    columns = "".join(f", columns: {{{key}: {name}}}" for key, name in names.items())
    task = "{name: t}" if "score" in kept else "{name: t, chance: 1/2}"
    text = suite_text(task, "", f"r.csv, format: table, shots: 0{columns}")
    (folder / "good.yaml").write_text(text)
    [claim] = planned(folder, text)
    assert (claim.claim.cannot_tell and claim.claim.cannot_tell.kind) == kind
    record = judged(claim)
    assert (record.cannot_tell and record.cannot_tell.kind) == kind
    assert main(["check", str(folder / "s.yaml")]) == 0
    first, *said = capsys.readouterr().out.splitlines()
    assert first == "1 suite, no mistake"
    why = [] if record.cannot_tell is None else [record.cannot_tell.text]
    assert said == [f"eval_suites/s.yaml:4: remark: t[m-0shot]: no run can tell: {each}"
                    for each in why]  # fmt: skip
    # Above .5 no answers to four clusters can be shown to be.
    for named in ("assert: report\n", "assert: {beats: 0.1}\n"):
        (folder / "s.yaml").write_text(text + named)
        assert main(["check", str(folder / "s.yaml")]) == 0
        assert capsys.readouterr().out == "1 suite, no mistake\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("allenai/OLMo-7B-hf", "hub id"),
        ("some/label", "hub id"),
        ("./nowhere", "path"),
        ("~/models/llama", "path"),
        ("llama.Q4_K_M.gguf", "path"),
        ("here", "path"),
        ("mock", None),
        ("OLMo-7B", None),
    ],
)
def test_a_simulated_model_with_the_name_of_a_real_one_is_remarked(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str | None
) -> None:
    (folder / "here").mkdir()
    text = SUITE.format(path="sums.csv")
    named = f"{name}\n    backend: mock"
    if name == "some/label":
        named = f"mock\n    label: {name}\n    backend: mock"
    (folder / "good.yaml").write_text(text.replace("some/model", named))
    assert main(["check", "eval_suites"]) == 0
    first, *said = capsys.readouterr().out.splitlines()
    assert first == "1 suite, no mistake"
    told = [line for line in said if "simulated" in line]
    assert len(told) == (kind is not None)
    if kind:
        assert told[0].startswith(f"eval_suites/good.yaml:2: remark: {name} is the name of a ")
        assert f"looks like a {kind}: no file of it is read" in told[0]
    (folder / "good.yaml").write_text(text.replace("some/model", name))
    main(["check", "eval_suites"])
    assert "simulated" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("folders", "told"),
    [
        (["models/llama"], "for the one that is here, write `name: ../models/llama`"),
        (["models"], "is taken for a hub id, because there is no such folder in models/"),
        (["eval_suites/models"], "is taken for a hub id, because there is no such folder in"),
        ([], None),
        (["eval_suites/models/llama"], None),
    ],
)
def test_a_model_folder_that_is_not_there_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], folders: list[str], told: str | None
) -> None:
    for each in folders:
        Path(each).mkdir(parents=True)
    text = SUITE.format(path="sums.csv")
    (folder / "good.yaml").write_text(text.replace("some/model", "models/llama"))
    main(["check", "eval_suites"])
    out = capsys.readouterr().out
    assert (told is None) == ("hub id" not in out)
    assert (told or "") in out


def test_each_mistake_is_told_once_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "one.yaml").write_text(SUITE.format(path="sums.csv") + "promts: {}\nscorin: x\n")
    (folder / "two.yaml").write_text(SUITE.format(path="missing.csv"))
    assert main(["check", "eval_suites", "eval_suites/two.yaml"]) == 1
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if ": remark: " not in line]
    assert [line.partition(": ")[0] for line in lines] == [
        "eval_suites/one.yaml:9",
        "eval_suites/one.yaml:10",
        "eval_suites/two.yaml:6",
        "all keys",
    ]
    assert "did you mean `prompts`?" in lines[0]
    assert "missing.csv" in lines[2]


def test_a_mistake_in_the_data_is_told_where_the_data_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "sums.csv").open("a") as file:
        file.write("is it?,yes,no,maybe\n")
    assert main(["check", str(folder / "good.yaml")]) == 1
    assert capsys.readouterr().out.startswith("eval_suites/sums.csv:22: ")


def test_a_suite_of_recorded_results_is_checked_with_its_results(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(folder / "m.npz", sums__0={"correct": rows(20, 30, n=40)})
    path = folder / "recorded.yaml"
    path.write_text(suite_text("{name: sums, chance: 1/2}"))
    assert main(["check", str(path)]) == 0
    (folder / "m.npz").write_bytes(b"no archive")
    capsys.readouterr()
    assert main(["check", str(path)]) == 1
    assert capsys.readouterr().out.startswith("eval_suites/")


@pytest.mark.usefixtures("folder")
def test_what_pytest_does_not_collect_is_not_checked(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("other.yaml", ".venv/eval_suites/bad.yaml", "eval_suites/.hidden/bad.yaml"):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("no: suite\n")
    assert main(["check", "."]) == 0
    assert main(["check", "other.yaml"]) == 1
    assert "other.yaml:1: " in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere", "maxrandom check: there is no file or folder nowhere\n"),
        ("/dev/null", "maxrandom check: /dev/null is neither a plain file nor a folder\n"),
        ("empty", "maxrandom check: the folder empty holds no suite; suites are YAML files "),
    ],
)
def test_a_check_of_nothing_is_no_success(
    path: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert main(["check", path]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_the_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "1 if there is one, and 2 if there is nothing to check or an argument" in said


def test_mistakes_are_annotated_where_that_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd().parent))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (folder / "bad.yaml").write_text("models: 3\ntasks: []\n")
    assert main(["check", "eval_suites", "--annotations", "github"]) == 1
    found = commands(capsys.readouterr().out)
    assert [(where["file"], where["line"]) for _, where, _ in found] == [
        (f"{Path.cwd().name}/eval_suites/bad.yaml", "1"),
        (f"{Path.cwd().name}/eval_suites/bad.yaml", "2"),
    ]


@pytest.mark.usefixtures("folder")
def test_no_model_library_is_needed() -> None:
    code = (
        "import sys; from pytest_maxrandom.cli import main; code = main(['check', 'eval_suites']); "
        "assert not {'torch', 'transformers'} & sys.modules.keys(); sys.exit(code)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
