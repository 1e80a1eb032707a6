"""A ledger file is read whatever harmless thing happened to it, and refused after any other."""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.files import LedgerFile, rows_of
from pytest_maxrandom.ledger.opened import LedgerFiles
from tests.notes import sentences
from tests.unit.ledger.common import OWN, TESTED, examples, fill, ledger, rows, tries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_every_cut_of_the_last_line_is_recognised_and_repaired(tmp_path: Path) -> None:
    path = fill(tmp_path)
    content = path.read_bytes()
    start = content.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(content) + 1):
        path.write_bytes(content[:end])
        complete = end >= len(content) - 1
        here = ledger(tmp_path)
        assert here.tries(OWN) == tries(range(5 if complete else 4))
        said = [f"{path}:6: the last line was cut off"] if start < end and not complete else []
        assert [problem.split(" while")[0] for problem in sentences(here.problems)] == said
        here.evaluated(OWN, "p4", 10, 4)
        here.evaluated(OWN, "p5", 10, 5)
        assert [row.get("prompt") for row in rows(path)] == [None, *(f"p{i}" for i in range(6))]
        assert ledger(tmp_path).problems == []


@pytest.mark.slow
def test_every_cut_of_the_first_line_leaves_a_file_that_can_be_used(tmp_path: Path) -> None:
    path = fill(tmp_path, range(1))
    content = path.read_bytes()
    for end in range(content.index(b"\n") + 2):
        path.write_bytes(content[:end])
        here = ledger(tmp_path)
        assert here.path == path
        assert here.tries() == set()
        here.evaluated(OWN, "p0", 10, 0)
        assert [row["kind"] for row in rows(path)] == ["set", "prompt"]
        assert ledger(tmp_path).tries() == tries({0})


@pytest.mark.parametrize("zeros", [1, 4096])
@pytest.mark.parametrize("end", [b"\n", b"", b'\n{"kind":"prompt","when":"20'])
def test_zeros_that_a_power_cut_leaves_behind_the_last_line_are_removed(
    tmp_path: Path, zeros: int, end: bytes
) -> None:
    path = fill(tmp_path)
    path.write_bytes(path.read_bytes().removesuffix(b"\n") + end + b"\0" * zeros)
    here = ledger(tmp_path)
    assert here.tries() == tries(range(5))
    here.evaluated(OWN, "p5", 10, 5)
    assert b"\0" not in path.read_bytes()
    assert [row.get("prompt") for row in rows(path)] == [None, *(f"p{i}" for i in range(6))]
    assert ledger(tmp_path).problems == []


def _crlf(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\r\n" for line in lines)


def _duplicated(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines + lines[::-1] + lines[:3])


def _blank(lines: list[bytes]) -> bytes:
    return b"\n \n" + b"".join(line + b"\n\r\n\n\t\n" for line in lines)


def _shuffled(lines: list[bytes]) -> bytes:
    mixed = list(lines)
    random.Random(1).shuffle(mixed)
    assert mixed[0] != lines[0]
    return b"".join(line + b"\n" for line in mixed)


def _without_last_end(lines: list[bytes]) -> bytes:
    return b"\n".join(lines)


def _without_last_end_crlf(lines: list[bytes]) -> bytes:
    return b"\r\n".join(lines) + b"\r"


def _spaced(lines: list[bytes]) -> bytes:
    return b"".join(json.dumps(json.loads(line)).encode() + b" \n" for line in lines)


def _fields_sorted(lines: list[bytes]) -> bytes:
    return b"".join(json.dumps(json.loads(line), sort_keys=True).encode() + b"\n" for line in lines)


def _byte_order_mark(lines: list[bytes]) -> bytes:
    return b"\xef\xbb\xbf" + b"".join(line + b"\n" for line in lines)


HARMLESS = [
    _crlf,
    _duplicated,
    _blank,
    _shuffled,
    _without_last_end,
    _without_last_end_crlf,
    _spaced,
    _fields_sorted,
    _byte_order_mark,
]


@pytest.mark.parametrize("change", HARMLESS)
def test_what_editors_and_merges_do_to_lines_changes_nothing(
    tmp_path: Path, change: Callable[[list[bytes]], bytes]
) -> None:
    path = fill(tmp_path)
    made = ledger(tmp_path)
    assert made.look(OWN, ["p1"], t=5, n=10, best_correct=4) == 1
    assert made.opened(OWN, "p4", TESTED) == 1
    path.write_bytes(change(path.read_bytes().splitlines()))
    here = ledger(tmp_path)
    assert here.path == path
    for number in (3, 5, 5):
        here.evaluated(OWN, f"p{number}", 10, number)
    assert here.look(OWN, ["p1"], t=5, n=10, best_correct=4) == 1
    assert here.opened(OWN, "p4", TESTED) == 1
    assert path.read_bytes().endswith(b"\n")
    assert path.read_bytes().count(b'"p5"') == 1
    for one in (here, ledger(tmp_path)):
        assert one.tries() == tries(range(6))
        assert one.problems == []


def _with(**changes: Any) -> Callable[[dict[str, Any]], bytes]:
    return lambda row: json.dumps({**row, **changes}).encode()


def _less(name: str) -> Callable[[dict[str, Any]], bytes]:
    return lambda row: json.dumps({key: row[key] for key in row if key != name}).encode()


def _is(text: bytes) -> Callable[[dict[str, Any]], bytes]:
    return lambda row: text


WRONG = [
    (_is(b"<<<<<<< HEAD"), "the merge conflict marker '<<<<<<< HEAD'"),
    (_is(b"<<<<<<< HEAD\r"), "the merge conflict marker '<<<<<<< HEAD'"),
    (_is(b"======="), "the merge conflict marker '======='"),
    (_is(b"||||||| 1234567"), "the merge conflict marker '||||||| 1234567'"),
    (_is(b">>>>>>> other"), "the merge conflict marker '>>>>>>> other'"),
    (_is(b"garbage"), "found 'garbage', expected a JSON object"),
    (_is(b"\xff\xfe\0\x80"), "expected a JSON object"),
    (_is(b"\0\0\0"), "expected a JSON object"),
    (_is(b'{"kind":"prompt","when":"20'), "expected a JSON object"),
    (_is(b"{}"), "found kind None, expected set, prompt, look, test, opening"),
    (_is(b"[1]"), "found '[1]', expected a JSON object"),
    (_is(b"null"), "found 'null', expected a JSON object"),
    (_is(b"[" * 100_000), "expected a JSON object"),
    (_is(b"1" * 5000), "expected a JSON object"),
    (_with(kind="poem"), "found kind 'poem'"),
    (_with(kind=["prompt"]), "found kind ['prompt']"),
    (_with(mood="good"), "the field 'mood' in a line of kind prompt"),
    (_with(n="10"), "n: found '10', expected a whole number"),
    (_with(n=10.0), "n: found 10.0, expected a whole number"),
    (_with(n=True), "n: found True, expected a whole number"),
    (_with(n=float("nan")), "n: found nan, expected a whole number"),
    (_with(n=0, correct=0), "n: found 0, expected at least 1"),
    (_with(correct=-1), "correct: found -1, expected at least 0"),
    (_with(correct=11), "correct: found 11, expected at most n, which is 10"),
    (_with(shots=-1), "shots: found -1, expected at least 0"),
    (_with(shots=10**300), "expected at most 1,000,000,000"),
    (_with(n=10**9 + 1), "n: found 1000000001, expected at most 1,000,000,000"),
    (_with(prompt=None), "prompt: found None, expected a text"),
    (_with(model_digest=["\n"]), "model_digest: found ['\\n'], expected a text"),
    (lambda row: json.dumps(row)[:-1].encode() + b', "correct": 0}', "'correct' appears twice"),
    (_less("scoring"), "found a line of kind prompt without scoring"),
    (lambda row: json.dumps(row).encode() * 2, "expected a JSON object"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=range(len(WRONG)))
@pytest.mark.parametrize("place", [2, 4, 6])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_that_is_none_is_refused_in_one_sentence_with_its_place(
    tmp_path: Path, change: Callable[[dict[str, Any]], bytes], said: str, place: int, end: bytes
) -> None:
    path = fill(tmp_path)
    lines = path.read_bytes().splitlines()
    lines[place - 1] = change(json.loads(lines[place - 1]))
    content = b"".join(line + end for line in lines)
    path.write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        ledger(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{place}: ")
    assert said in message
    assert "\n" not in message
    assert len(message) < 400 + len(str(path))
    assert path.read_bytes() == content


SETS = [
    ({"examples": []}, "examples: found [], expected texts"),
    ({"examples": [1] * 10}, "examples: found [1, 1, "),
    ({"examples": "abc"}, "examples: found 'abc', expected a list"),
    ({"chances": {"1/2": 9}}, "expected the numbers of examples, 10 in all"),
    ({"chances": {"1/2": "10"}}, "expected the numbers of examples, 10 in all"),
    ({"chances": {"1/2": True}}, "expected the numbers of examples, 10 in all"),
    ({"set": 3}, "set: found 3, expected a text"),
]


@pytest.mark.parametrize(("changes", "said"), SETS)
def test_a_wrong_first_line_is_refused_too(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = fill(tmp_path)
    top, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(top), **changes}).encode() + b"\n" + rest)
    with pytest.raises(LedgerError) as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}:1: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "tail", [b"garbage", b"<<<<<<< HEAD", b"{}", b"[1]", b'{"kind":"poem"}', b'{"other":']
)
def test_a_last_line_without_end_that_no_killed_run_leaves_is_not_removed(
    tmp_path: Path, tail: bytes
) -> None:
    path = fill(tmp_path)
    content = path.read_bytes() + tail
    path.write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}:7: ")
    assert path.read_bytes() == content


def test_two_lines_that_were_joined_at_the_end_are_refused_not_removed(tmp_path: Path) -> None:
    path = fill(tmp_path)
    head, last, _ = path.read_bytes().rsplit(b"\n", 2)
    content = head + last
    path.write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}:5: ")
    assert path.read_bytes() == content


def test_a_file_that_does_not_say_which_examples_it_is_about_is_refused(tmp_path: Path) -> None:
    path = fill(tmp_path)
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    with pytest.raises(LedgerError, match="found no line of kind set") as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_of_two_validation_sets_is_refused(tmp_path: Path) -> None:
    path, other = fill(tmp_path), fill(tmp_path, of=examples(50, 60))
    path.write_bytes(path.read_bytes() + other.read_bytes())
    with pytest.raises(LedgerError, match="found lines of 2 validation sets") as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_wrong_lines_about_other_examples_stop_nobody(tmp_path: Path) -> None:
    path = fill(tmp_path)
    path.write_bytes(path.read_bytes() + b"<<<<<<< HEAD\n")
    assert ledger(tmp_path, examples(50, 60)).tries() == set()
    with pytest.raises(LedgerError, match="merge conflict marker"):
        ledger(tmp_path, examples(1, 11))


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    path = fill(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(LedgerError) as caught:
        ledger(tmp_path)
    assert str(caught.value).startswith(f"{path}: cannot be read: Is a directory")


def test_a_line_that_becomes_wrong_during_a_run_stops_it(tmp_path: Path) -> None:
    path = fill(tmp_path)
    here = ledger(tmp_path)
    with path.open("ab") as file:
        file.write(b"<<<<<<< HEAD\n")
    content = path.read_bytes()
    with pytest.raises(LedgerError) as caught:
        here.evaluated(OWN, "p9", 10, 1)
    assert str(caught.value).startswith(f"{path}:7: ")
    assert path.read_bytes() == content


@pytest.mark.parametrize("what", ["file", "folder", "content", "all but the first line"])
def test_a_file_that_version_control_takes_away_during_a_run_is_begun_anew(
    tmp_path: Path, what: str
) -> None:
    import shutil

    path = fill(tmp_path / "ledger")
    here = ledger(tmp_path / "ledger")
    if what == "file":
        path.unlink()
    elif what == "folder":
        shutil.rmtree(path.parent)
    elif what == "content":
        path.write_bytes(b"")
    else:
        path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n")
    here.evaluated(OWN, "p7", 10, 7)
    assert here.problems == []
    assert [row["kind"] for row in rows(path)][:2] == ["set", "prompt"]
    assert ledger(path.parent).tries() >= tries({7})


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *identity, "-c", "init.defaultBranch=main", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_merging_two_branches_with_git_is_the_union(tmp_path: Path) -> None:
    folder = tmp_path / "maxrandom-ledger"
    _git(tmp_path, "init")
    fill(folder, range(3))
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "base")
    _git(tmp_path, "checkout", "-b", "other")
    fill(folder, range(3, 8))
    fill(folder, range(20, 22), examples(50, 60))
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "other")
    _git(tmp_path, "checkout", "main")
    assert ledger(folder).tries() == tries(range(3))
    path = fill(folder, range(6, 12))
    fill(folder, range(21, 24), examples(50, 60))
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "main")
    _git(tmp_path, "merge", "other")
    assert _git(tmp_path, "status", "--porcelain") == ""
    assert ledger(folder).tries() == tries(range(12))
    assert ledger(folder, examples(50, 60)).tries() == tries(range(20, 24))
    assert ledger(folder).path == path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has such files")
def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    endless, waiting = tmp_path / "endless.jsonl", tmp_path / "waiting.jsonl"
    endless.symlink_to("/dev/zero")
    os.mkfifo(waiting)
    for path in (endless, waiting):
        reads: list[Callable[[], object]] = [
            lambda path=path: LedgerFiles()(path),  # type: ignore[misc]
            lambda path=path: list(rows_of(path)),  # type: ignore[misc]
            lambda path=path: LedgerFile(path).append(list),  # type: ignore[misc]
        ]
        for read in reads:
            with pytest.raises(LedgerError, match=f"{path.name}: is no regular file"):
                read()
