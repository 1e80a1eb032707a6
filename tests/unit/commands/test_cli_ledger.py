"""The command `maxrandom ledger`: shown, checked, merged and exported."""

from __future__ import annotations

import csv
import io
import itertools
import json
import resource
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import binom

from pytest_maxrandom.cli import main
from pytest_maxrandom.ledger import FOLDER, Named, SetLedger, Subject
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from pathlib import Path

MINE = Subject("mine", "d1", "nf4", 4, "mean_logprob")
NEWER = Subject("mine", "d2", "nf4", 4, "mean_logprob")
OTHER = Subject("other", "d3", "none", 0, "mean_logprob")
EXAMPLES = tuple(Example(f"e{i}", f"question {i}", ("a", "b"), (i % 2,)) for i in range(20))


def begin(folder: Path, subjects: dict[Subject, list[int]]) -> Path:
    """Write a ledger in which a subject's prompts have these numbers of right answers."""
    ledger = SetLedger(folder / FOLDER, "run", "quiz", EXAMPLES)
    for subject, counts in subjects.items():
        for place, correct in enumerate(counts):
            ledger.evaluated(subject, f"p{place}", 20, correct)
        prompts = [f"p{place}" for place in range(len(counts))]
        ledger.look(subject, prompts, t=len(counts), n=20, best_correct=max(counts))
    return ledger.path


def out(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    assert main(["ledger", *map(str, arguments)]) == status
    found = capsys.readouterr()
    return found.out if status < 2 else found.err


def expected_best(t: int) -> float:
    """E[best of t guessers] on 20 two-choice questions, by summation."""
    one = binom(20, 0.5)
    return float(sum(1 - one.cdf(k) ** t for k in range(20)) / 20)


def test_show_tells_t_looks_best_and_the_baseline_after_more_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = begin(tmp_path, {MINE: [11, 14, 9], NEWER: [12], OTHER: [10, 10]})
    SetLedger(tmp_path / FOLDER, "run", "quiz", EXAMPLES).opened(MINE, "p1", EXAMPLES[:5])
    text = out(capsys, "show", tmp_path)
    assert text.startswith(
        f"quiz: 20 examples, standard baseline .500, 6 prompts of any claim\n  {path}\n"
    )
    (mine,) = [line for line in text.splitlines() if "mine 4-shot" in line]
    assert mine.split()[2:] == [
        "4", "2", "14/20", "=", ".700",
        *(f"{expected_best(4 + more):.3f}".removeprefix("0") for more in (0, 10, 100, 1000)),
    ]  # fmt: skip
    assert sum("test set" in line and "opened once" in line for line in text.splitlines()) == 1
    (numbers,) = json.loads(out(capsys, "show", "--json", path))
    assert [claim["t"] for claim in numbers["claims"]] == [4, 2]
    baselines = numbers["claims"][0]["max_random_baseline"]
    assert baselines == pytest.approx({str(m): expected_best(4 + m) for m in (0, 10, 100, 1000)})


def test_show_tells_which_incumbent_followed_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = SetLedger(tmp_path / FOLDER, "run", "quiz", EXAMPLES)
    incumbents = [Named("a" * 64), Named("b" * 64), Named("b" * 64, "c" * 64)]
    for place, incumbent in enumerate(incumbents):
        made.evaluated(MINE, f"p{place}", 20, 11)
        prompts = [f"p{each}" for each in range(place + 1)]
        made.look(MINE, prompts, t=place + 1, n=20, best_correct=11, incumbent=incumbent)
    one, other, model = ("a" * 12, "b" * 12, "c" * 12)
    assert (
        f"mine 4-shot: compared with the incumbent {one} (t up to 1), then {other} (t up to 2), "
        f"then {other} of model {model} (t up to 3)\n"
    ) in out(capsys, "show", tmp_path)
    (numbers,) = json.loads(out(capsys, "show", "--json", tmp_path))
    assert numbers["claims"][0]["incumbents"] == [
        {"prompt": each.prompt, "model": each.model, "t": place + 1}
        for place, each in enumerate(incumbents)
    ]


def test_show_counts_what_was_tried_on_sets_that_overlap_as_a_run_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = begin(tmp_path, {MINE: [11, 14]})
    part = SetLedger(tmp_path / FOLDER, "run", "part", EXAMPLES[:12])
    for prompt in ("p1", "p7"):
        part.evaluated(MINE, prompt, 12, 6)
    part.look(MINE, ["p1", "p7"], t=50, n=12, best_correct=6)
    unlike = SetLedger(tmp_path / FOLDER, "run", "unlike", EXAMPLES[:1])
    unlike.evaluated(OTHER, "p9", 1, 1)
    text = out(capsys, "show", path)
    assert f"t also counts {part.path.name}, which shares 12 of 20 examples" in text
    assert "mine 4-shot: 2 of its 3 prompts are in this file" in text
    assert "mine 4-shot: a look counted t = 50 (a budget, the end of a doubling, or" in text
    shown = {each["task"]: each for each in json.loads(out(capsys, "show", "--json", tmp_path))}
    for task, own in (("quiz", EXAMPLES), ("part", EXAMPLES[:12])):
        run = SetLedger(tmp_path / FOLDER, "run", task, own)
        assert shown[task]["claims"][0]["t"] == len(run.tries(MINE)) == 3
        assert shown[task]["t"] == len(run.tries())
        assert shown[task]["claims"][0]["looks"] == len(run.looked_at(MINE)) == 2


def test_one_prompt_is_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ", 1 prompt of any claim\n" in out(capsys, "show", begin(tmp_path, {MINE: [11]}))


def test_a_place_without_ledger_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no ledger below" in out(capsys, "show", tmp_path)
    assert "there is no such file or folder" in out(capsys, "show", tmp_path / "x", status=2)


def test_a_file_that_was_begun_only_is_shown_and_one_without_its_examples_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = begin(tmp_path, {MINE: [11]})
    content = path.read_text()
    path.write_text("")
    assert " 0 prompts of any claim\n" in out(capsys, "show", path)
    path.write_text(content.partition("\n")[2])
    assert f"{path}: found no line of kind set" in out(capsys, "show", path, status=2)


def test_verify_lists_every_mistake_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = begin(tmp_path, {MINE: [11, 14]})
    assert out(capsys, "verify", path).startswith("1 file, every line is valid; --base REF")
    lines = path.read_text().splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows[0]["examples"][0] = "0" * 16
    rows[1]["task_digest"] = "f" * 64
    rows[2]["n"] = 21
    wrong = [json.dumps(row) for row in rows]
    path.write_text("\n".join([*wrong[:3], "<<<<<<< HEAD", *wrong[3:], '{"kind":"pro']))
    found = out(capsys, "verify", path, status=1).splitlines()
    assert [line.removeprefix(f"{path}:").partition(":")[0] for line in found] == list("12346")
    assert "merge conflict" in found[3]
    assert "cut off" in found[4]
    assert all("\n" not in line for line in found)


def test_verify_tells_a_suite_whose_examples_were_edited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, data = tmp_path / "s.maxrandom.yaml", tmp_path / "quiz.jsonl"

    def write(first: str) -> None:
        rows = [
            {"input": f"question {i}" if i else first, "choices": ["a", "b"], "answer": "ab"[i % 2]}
            for i in range(20)
        ]
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    write("question 0")
    suite.write_text(
        "models: [{name: some/model}]\n"
        "tasks: [{name: quiz, format: jsonl, path: quiz.jsonl}]\nprompts: {shots: 0, count: 1}\n"
    )
    begin(tmp_path, {MINE: [11]})
    out(capsys, "verify", suite)
    write("another question")
    (line,) = out(capsys, "verify", suite, status=1).splitlines()
    assert "the ledger has no set with the 20 validation examples of quiz" in line
    assert "the nearest set shares 19" in line


def test_merging_keeps_both_where_machines_counted_differently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [begin(tmp_path / name, {MINE: [correct]}) for name, correct in (("a", 11), ("b", 12))]
    rows = [json.loads(line) for line in out(capsys, "merge", *paths).splitlines()]
    assert sorted(row["correct"] for row in rows if row["kind"] == "prompt") == [11, 12]
    assert sum(row["kind"] == "set" for row in rows) == 1


def test_merging_is_the_union_whatever_the_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, subjects in (("a", {MINE: [11, 14]}), ("b", {MINE: [11], OTHER: [9]})):
        paths.append(begin(tmp_path / name, subjects))
    paths.append(begin(tmp_path / "c", {NEWER: [3, 4, 5]}))
    united = {out(capsys, "merge", *pair) for pair in itertools.permutations(paths[:2])}
    assert len(united) == 1
    a, b, c = paths
    whole = set()
    for one, other, third in itertools.permutations((a, b, c)):
        part = tmp_path / "part.jsonl"
        out(capsys, "merge", one, other, "-o", part)
        whole.add(out(capsys, "merge", part, third))
    (text,) = whole
    merged = tmp_path / "merged.jsonl"
    merged.write_text(text)
    assert out(capsys, "merge", merged, merged) == text
    rows = [json.loads(line) for line in text.splitlines()]
    assert sum(row["kind"] == "set" for row in rows) == 1
    tries = {(r["model_digest"], r["prompt"]) for r in rows if r["kind"] == "prompt"}
    assert sum(row["kind"] == "prompt" for row in rows) == len(tries) == 2 + 1 + 3


def test_files_of_different_sets_are_not_merged_and_not_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = begin(tmp_path / "a", {MINE: [11]})
    two = SetLedger(tmp_path / "b" / FOLDER, "run", "quiz", EXAMPLES[:9])
    two.evaluated(MINE, "p0", 9, 3)
    assert "2 different validation sets" in out(capsys, "merge", one, two.path, status=2)
    one.write_text(one.read_text() + two.path.read_text())
    assert "found lines of 2 validation sets" in out(capsys, "verify", one, status=1)


def test_a_merge_may_be_written_over_one_of_the_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = begin(tmp_path / "a", {MINE: [11]}), begin(tmp_path / "b", {OTHER: [9, 8]})
    out(capsys, "merge", one, two, "-o", one)
    assert len(SetLedger(one.parent, "run", "quiz", EXAMPLES).tries()) == 3


def test_a_merge_for_which_the_disk_has_no_place_is_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = begin(tmp_path / "a", {MINE: [11]}), begin(tmp_path / "b", {OTHER: [9, 8]})
    when = "2030-01-01T00:00:00+00:00"
    large: dict[str, object] = {"kind": "served", "when": when, "run": "r", "model_digest": "d1"}
    large |= {"server": "s", "values": [0.5], "texts": [], "content": "c" * 4_000_000}
    with one.open("a") as file:  # so much that it does not stay in memory
        file.write(json.dumps(large) + "\n")
    before, there = one.read_bytes(), [*one.parent.iterdir()]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        said = out(capsys, "merge", one, two, "-o", one, status=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be put together in the folder for temporary files" in said
    assert said.count("\n") == 1
    assert one.read_bytes() == before
    assert [*one.parent.iterdir()] == there


def test_export_gives_all_lines_as_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = begin(tmp_path, {MINE: [11, 14], OTHER: [9]})
    table = list(csv.DictReader(io.StringIO(out(capsys, "export", path))))
    rows = json.loads(out(capsys, "export", path, "--format", "json"))
    told = [row for row in rows if row["kind"] != "set"]
    assert [row["kind"] for row in table] == [row["kind"] for row in told]
    prompts = [row for row in table if row["kind"] == "prompt"]
    assert [(row["model"], row["prompt"], row["correct"]) for row in prompts] == [
        ("mine", "p0", "11"), ("mine", "p1", "14"), ("other", "p0", "9"),
    ]  # fmt: skip
