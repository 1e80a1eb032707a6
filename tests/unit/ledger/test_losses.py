"""A ledger only grows: what stood at a base and does not now is named, whatever was done to it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.ledger import FOLDER
from pytest_maxrandom.ledger.losses import left_behind
from pytest_maxrandom.record import Remark
from tests.notes import sentences
from tests.repositories import begin_repository, commit, git
from tests.unit.ledger.common import OTHER, OWN, examples, ledger, rows

SUITE = """\
models: [{{name: {model}}}]
tasks: [{{name: emoji, format: jsonl, path: emoji.jsonl}}]
prompts: {{shots: {shots}, count: 1, demonstrations: leave_out}}
allow_unpassable: true
"""
N = 10


def write_suite(folder: Path, model: str = OWN.model, shots: int = OWN.shots) -> None:
    """A suite on the examples that the ledger of the tests is about."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"id": one.id, "input": one.input, "choices": list(one.choices), "answer": one.right[0]}
        for one in examples()
    ]
    (folder / "emoji.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "emoji.maxrandom.yaml").write_text(SUITE.format(model=model, shots=shots))


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a suite with a committed ledger of two claims, in the current repository."""
    root = tmp_path / "repository"
    write_suite(root / "models")
    made = ledger(root / "models" / FOLDER)
    for subject, prompts in ((OWN, 5), (OTHER, 2)):
        for number in range(prompts):
            made.evaluated(subject, f"p{number}", N, number)
        made.look(subject, [f"p{n}" for n in range(prompts)], t=prompts, n=N, best_correct=4)
    begin_repository(root)
    git(root, "switch", "--quiet", "--create", "work")
    monkeypatch.chdir(root)
    return root / "models"


def the_file(suite: Path) -> Path:
    (path,) = (suite / FOLDER).glob("*.jsonl")
    return path


def verify(
    capsys: pytest.CaptureFixture[str], *paths: str, base: str = "main", status: int = 1
) -> list[str]:
    """What the command says, in lines."""
    assert main(["ledger", "verify", "--base", base, *paths]) == status
    said = capsys.readouterr()
    return (said.out if status < 2 else said.err).splitlines()


def test_a_ledger_that_grew_is_whole(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger(suite / FOLDER).evaluated(OWN, "p9", N, 3)
    (line,) = verify(capsys, status=0)
    assert line.endswith("and none is missing since main")
    commit(suite)
    verify(capsys, status=0)


def test_the_union_of_a_merge_is_whole_whatever_its_order(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = the_file(suite)
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    verify(capsys, status=0)
    assert main(["ledger", "merge", str(path), str(path), "-o", str(path)]) == 0
    capsys.readouterr()
    verify(capsys, status=0)


def test_lines_that_main_got_meanwhile_are_not_missed(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(suite, "switch", "--quiet", "main")
    ledger(suite / FOLDER).evaluated(OWN, "later", N, 3)
    commit(suite)
    git(suite, "switch", "--quiet", "work")
    verify(capsys, status=0)


def test_each_deleted_line_is_named_with_the_claim_it_counted_for(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = the_file(suite)
    lines = path.read_text().splitlines(keepends=True)
    gone = [2, 4, 8, 9]  # of `OWN`: two prompts; of `OTHER`: both prompts
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    path.write_text("".join(kept))
    found = verify(capsys)
    name = f"models/{FOLDER}/{path.name}"
    assert [line.split(" ")[0] for line in found] == [f"{name}:{number}:" for number in gone]
    whose = [OWN, OWN, OTHER, OTHER]
    for line, number, subject in zip(found, gone, whose, strict=True):
        assert f"{subject.model} {subject.shots}-shot, is gone (main)" in line
        assert json.loads(lines[number - 1])["prompt"] in line
    commit(suite)
    assert verify(capsys) == found


def test_a_changed_count_is_told_with_both_numbers(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = the_file(suite)
    path.write_text(path.read_text().replace('"n":10,"correct":4', '"n":10,"correct":9'))
    (line,) = verify(capsys)
    assert "n = 10, right = 4" in line
    assert "n = 10, right = 9 now" in line


def test_a_set_line_without_which_nothing_counts_is_missed(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = the_file(suite)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    assert any("the line of the set" in line for line in verify(capsys))


def test_a_ledger_whose_lines_git_does_not_hold_is_refused(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, root = the_file(suite), suite.parent
    path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    commit(suite)
    (line,) = verify(capsys, base="HEAD", status=2)
    assert "kept by git LFS at HEAD" in line
    entry = f"160000,{'1' * 40},other/{FOLDER}"
    git(root, "rm", "--quiet", "-r", f"models/{FOLDER}")
    git(root, "update-index", "--add", "--cacheinfo", entry)
    git(root, "commit", "--quiet", "--message", "a submodule")
    (line,) = verify(capsys, base="HEAD", status=2)
    assert f"other/{FOLDER} is a submodule at HEAD" in line


@pytest.mark.parametrize("how", ["file", "folder", "ignored"])
def test_a_ledger_that_is_gone_is_one_sentence_with_what_it_counted(
    suite: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    path = the_file(suite)
    if how == "file":
        path.unlink()
    elif how == "folder":
        shutil.rmtree(path.parent)
    else:
        (suite / ".gitignore").write_text(f"{FOLDER}\n")
        git(suite, "rm", "--quiet", "--cached", "-r", FOLDER)
    (line,) = [line for line in verify(capsys) if "gone since main" in line]
    assert "5 prompts and 1 look of tiny 4-shot" in line
    assert "2 prompts and 1 look of large 4-shot" in line
    (restore,) = [part for part in line.split("`") if part.startswith("git checkout ")]
    (suite / ".gitignore").unlink(missing_ok=True)
    git(suite.parent, *restore.split()[1:])
    verify(capsys, status=0)


def test_a_suite_that_moves_with_its_ledger_is_whole(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.rename(suite.parent / "elsewhere")
    verify(capsys, status=0)
    commit(suite.parent)
    verify(capsys, status=0)


@pytest.mark.parametrize("left", [True, False], ids=["left behind", "deleted"])
@pytest.mark.parametrize("moved", [True, False], ids=["moved", "copied"])
def test_a_suite_that_leaves_its_ledger_is_told_where_that_is(
    suite: Path, capsys: pytest.CaptureFixture[str], left: bool, moved: bool
) -> None:
    name = f"models/{FOLDER}/{the_file(suite).name}"
    write_suite(suite.parent / "new")
    if moved:
        for path in suite.glob("emoji.*"):
            path.unlink()
    if not left:
        shutil.rmtree(suite / FOLDER)
    found = verify(capsys)
    # What is gone everywhere is told as gone; what stands elsewhere only, of the suite.
    assert any(name in line for line in found)
    told = [line for line in found if line.startswith("new/emoji.maxrandom.yaml::emoji[tiny")]
    if not left:
        assert not told
        return
    (line,) = told
    assert "5 prompts and 1 look of tiny 4-shot" in line
    assert "large" not in line
    copy = next(part for part in line.split("`") if part.startswith("git show "))
    (suite.parent / "new" / FOLDER).mkdir()
    (suite.parent / copy.split(" >> ")[1]).write_text(git(suite, *copy.split()[1:3]) + "\n")
    verify(capsys, status=0)


def test_a_ledger_that_is_taken_away_from_its_suite_is_missed_there(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite.parent / "archive").mkdir()
    (suite / FOLDER).rename(suite.parent / "archive" / FOLDER)
    (line,) = verify(capsys)
    assert line.startswith("models/emoji.maxrandom.yaml::emoji[tiny")


@pytest.mark.parametrize(("model", "shots"), [("another", OWN.shots), (OWN.model, 0)])
def test_another_claim_on_the_same_examples_may_begin_a_ledger(
    suite: Path, capsys: pytest.CaptureFixture[str], model: str, shots: int
) -> None:
    write_suite(suite.parent / "new", model, shots)
    verify(capsys, status=0)
    made = ledger(suite.parent / "new" / FOLDER)
    made.evaluated(OWN.__class__(model, "d9", "none", shots, "sum"), "p", N, 3)
    verify(capsys, status=0)


def test_a_new_ledger_of_the_same_claim_is_told_without_its_suite(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ledger(suite.parent / "new" / FOLDER, examples(1, 11))  # nine of ten are the same
    made.evaluated(OWN, "p77", N, 3)
    (line,) = verify(capsys)
    assert line.startswith(f"new/{FOLDER}/")
    assert the_file(suite).name in line


def test_only_what_is_asked_for_is_compared(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ledger(suite.parent / "other" / FOLDER, examples(50, 60))
    other.evaluated(OWN, "p", N, 1)
    commit(suite.parent)
    other.path.write_text("")
    verify(capsys, "models", base="HEAD", status=0)
    assert verify(capsys, "other", base="HEAD") == verify(capsys, base="HEAD")


def test_a_suite_that_cannot_be_read_is_no_pass(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite / "emoji.jsonl").unlink()
    (line,) = verify(capsys)
    assert "cannot be compared with the base" in line


def follow(clone: Path, line: str) -> None:
    """Do what an error says, as it is written."""
    (fetch,) = [part for part in line.split("`") if part.startswith("git fetch ")]
    git(clone, *fetch.split()[1:])


def test_a_base_that_a_shallow_clone_lacks_is_an_error_with_the_way_out(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(suite)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=work", suite.parent.as_uri(), clone)
    monkeypatch.chdir(clone)
    (line,) = verify(capsys, base="origin/main", status=2)
    assert "shallow clone" in line
    assert "fetch-depth: 0" in line
    follow(clone, line)
    verify(capsys, base="origin/main", status=0)
    shutil.rmtree(clone / "models" / FOLDER)
    assert any("gone since origin/main" in line for line in verify(capsys, base="origin/main"))


def test_lines_that_the_base_got_later_accuse_nobody_in_a_shallow_clone(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(suite)
    root = suite.parent
    git(root, "switch", "--quiet", "main")
    ledger(suite / FOLDER).evaluated(OWN, "later", N, 3)
    commit(root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=work", root.as_uri(), clone)
    git(clone, "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    monkeypatch.chdir(clone)
    (line,) = verify(capsys, base="origin/main", status=2)
    assert "where HEAD left origin/main is not known" in line
    follow(clone, line)
    verify(capsys, base="origin/main", status=0)


def test_the_tip_of_a_base_is_enough_where_nothing_is_missing(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(suite)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=work", suite.parent.as_uri(), clone)
    git(clone, "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    monkeypatch.chdir(clone)
    verify(capsys, base="origin/main", status=0)


@pytest.mark.parametrize("ref", ["nowhere", "-x", "", "a\nb", "0" * 40])
def test_a_base_that_is_none_is_an_error(
    suite: Path, capsys: pytest.CaptureFixture[str], ref: str
) -> None:
    (line,) = verify(capsys, f"--base={ref}", status=2)
    assert line.startswith("maxrandom ledger: ")


def test_without_checkout_or_git_there_is_no_pass(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = verify(capsys, str(tmp_path), status=2)
    assert "is not in a git checkout" in line
    monkeypatch.setenv("PATH", str(tmp_path))
    (line,) = verify(capsys, status=2)
    assert "git cannot be run" in line
    assert "install it" in line


def test_a_hook_of_another_repository_changes_nothing(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(begin_repository(tmp_path / "other") / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    verify(capsys, status=0)
    the_file(suite).unlink()
    verify(capsys)


def test_a_run_is_told_of_a_ledger_beside_another_suite(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = suite.parent / "new" / FOLDER
    (told,) = left_behind(new, examples(1, 11), OWN, "1")
    (line,) = sentences([Remark(**json.loads(json.dumps(asdict(told))))])
    assert str(Path("models", FOLDER, the_file(suite).name)) in line
    assert "5 prompts of tiny 4-shot" in line
    assert left_behind(new, examples(60, 70), OWN, "2") == []
    assert left_behind(new, examples(), ledger_of_nobody, "3") == []
    assert left_behind(suite / FOLDER, examples(), OWN, "4") == []
    ledger(new).evaluated(OWN, "p77", N, 3)  # which is not the others
    assert left_behind(new, examples(), OWN, "5") == [told]
    shutil.copy(the_file(suite), new / the_file(suite).name)
    assert left_behind(new, examples(), OWN, "6") == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert left_behind(suite.parent / "newer" / FOLDER, examples(), OWN, "7") == []


def a_git(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program before the real git."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_a_session_asks_git_once_for_all_claims_beside_a_ledger(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, new = tmp_path / "asked", suite.parent / "new" / FOLDER
    a_git(tmp_path / "bin", f'echo x >> {asked}\nexec {shutil.which("git")} "$@"', monkeypatch)
    told = left_behind(suite / FOLDER, examples(), OWN, "session")
    once = asked.read_text()
    assert left_behind(suite / FOLDER, examples(60, 70), OTHER, "session") == told == []
    assert asked.read_text() == once
    assert left_behind(new, examples(), OWN, "session")
    shutil.rmtree(suite / FOLDER)
    commit(suite.parent)
    assert left_behind(new, examples(), OWN, "later") == []


def test_a_git_that_hangs_holds_up_no_run(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_maxrandom.host.git._PATIENCE", 0.2)
    a_git(tmp_path / "bin", "exec sleep 5", monkeypatch)
    (line,) = verify(capsys, status=2)
    assert "git rev-parse did not answer in " in line
    assert left_behind(suite.parent / "new" / FOLDER, examples(), OWN, "hung") == []


ledger_of_nobody = OWN.__class__("nobody", "d0", "none", OWN.shots, "sum")


def test_the_lines_of_the_tests_are_those_of_a_ledger(suite: Path) -> None:
    assert [len(rows(the_file(suite), kind)) for kind in ("set", "prompt", "look")] == [1, 7, 2]
