"""What was counted stays counted: processes at once, kills, full disks and read-only folders."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.notes import sentences
from tests.unit.ledger.common import (
    OTHER,
    OWN,
    ROOT,
    TESTED,
    examples,
    fill,
    ledger,
    rows,
    run,
    tries,
)

WRITER = """
from tests.unit.ledger.common import *
folder, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
made = ledger(folder)
print("ready", flush=True)
input()
for number in range(first, last):
    made.evaluated(OWN, f"p{number}", 10, number % 10)
    made.look(OWN, [f"p{number // 50}"], t=1, n=10, best_correct=1)
assert made.problems == []
assert "torch" not in sys.modules
"""


def test_processes_that_write_at_once_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(first), str(first + 200)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for first in (0, 100)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    (path,) = folder.glob("*.jsonl")
    found = [row["prompt"] for row in rows(path, "prompt")]
    assert sorted(found) == sorted(f"p{number}" for number in range(300))
    assert len(rows(path, "look")) == 6
    assert len(rows(path, "set")) == 1
    assert ledger(folder).tries() == tries(range(300))


def _count_for_ever(folder: Path, first: int, told: int) -> None:
    made = ledger(folder)
    for number in range(first, first + 10_000):
        made.evaluated(OWN, f"p{number}", 10, 0)
        os.write(told, b"x")


def test_a_process_that_is_killed_at_any_moment_loses_nothing_it_has_counted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ledger"
    context = multiprocessing.get_context("fork")
    chance = random.Random(5)
    done = 0
    for _ in range(30):
        here, there = os.pipe()
        child = context.Process(target=_count_for_ever, args=(folder, done, there))
        child.start()
        os.close(there)
        told = sum(len(os.read(here, 1)) for _ in range(chance.randrange(4)))
        time.sleep(chance.random() * 0.004)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        with os.fdopen(here, "rb") as pipe:
            told += len(pipe.read())
        for path in folder.glob("*.jsonl"):
            for line in path.read_bytes().split(b"\n")[:-1]:
                json.loads(line)
        known = ledger(folder).tries()
        assert known == tries(range(len(known)))
        assert done + told <= len(known) <= done + told + 1
        done = len(known)
    path = fill(folder, range(done, done + 1))
    assert [row["prompt"] for row in rows(path, "prompt")] == [f"p{i}" for i in range(done + 1)]
    assert done > 30


def test_lines_that_do_not_fit_on_a_full_disk_are_taken_back_and_written_later(
    tmp_path: Path,
) -> None:
    path = fill(tmp_path)
    program = """
from tests.notes import sentences
import resource
folder = Path(sys.argv[1])
made = ledger(folder)
content = made.path.read_bytes()
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 20, limits[1]))
for number in range(4, 8):
    made.evaluated(OWN, f"p{number}", 10, 1)
    assert made.path.read_bytes() == content
assert made.look(OWN, ["p7"], t=1, n=10, best_correct=1) == 1
assert made.opened(OWN, "p7", TESTED) is None
assert made.opened(OWN, "p7", TESTED) is None
assert made.path.read_bytes() == content
assert made.tries() == tries(range(8))
assert ledger(folder).tries() == tries(range(5))
print(*sentences(made.problems), sep="|")
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
if sys.argv[2] == "opening":
    assert made.opened(OWN, "p7", TESTED) == 1
else:
    made.evaluated(OWN, "p8", 10, 1)
"""
    for last in ("opening", "prompt"):
        content = path.read_bytes()
        said = run(program, tmp_path, last)
        assert said.startswith(f"the ledger {path} cannot be written to (")
        assert "|" not in said
        added = [row["kind"] for row in rows(path)][6:]
        new = ["test", "opening"] if last == "opening" else [last]
        assert sorted(added) == sorted(["prompt"] * 3 + ["look", *new])
        path.write_bytes(content)


def test_a_disk_that_is_full_from_the_start_leaves_an_empty_file_that_the_next_run_uses(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ledger"
    program = """
import resource
made = ledger(Path(sys.argv[1]))
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
made.evaluated(OWN, "p1", 10, 1)
assert made.tries() == tries({1})
assert made.opened(OWN, "p1", TESTED) is None
print(len(made.problems), made.path.read_bytes())
"""
    assert run(program, folder) == "1 b''\n"
    path = fill(folder, range(2))
    assert ledger(folder).tries() == tries({0, 1})
    assert [row["kind"] for row in rows(path)] == ["set", "prompt", "prompt"]


def test_lines_that_cannot_be_made_durable_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(tmp_path)
    content = path.read_bytes()
    here = ledger(tmp_path)

    def fails(file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        here.evaluated(OWN, "p5", 10, 1)
        assert here.opened(OWN, "p5", TESTED) is None
    assert path.read_bytes() == content
    assert here.tries() == tries(range(6))
    (problem,) = sentences(here.problems)
    assert problem.startswith(f"the ledger {path} cannot be written to (Input/output error)")


READ_ONLY = """
from tests.notes import sentences
import filelock  # which only root may be able to read
if os.getuid() == 0:
    os.setuid(65534)
for name in sys.argv[1:]:
    made = ledger(Path(name))
    before = len(made.tries(OWN))
    for number in range(3, 8):
        made.evaluated(OWN, f"p{number}", 10, 1)
    assert made.tries(OWN) >= tries(range(3, 8))
    assert made.look(OWN, ["p7"], t=1, n=10, best_correct=1) == 1
    assert made.look(OWN, ["p7"], t=1, n=10, best_correct=1) == 1
    print(before, len(made.tries(OWN)), made.opened(OTHER, "p7", TESTED),
          made.opened(OWN, "p4", TESTED), len(made.problems), sentences(made.problems)[0])
"""


def test_a_folder_that_cannot_be_written_to_is_read_and_counting_goes_on_in_memory() -> None:
    with tempfile.TemporaryDirectory() as parent:
        there, absent = Path(parent, "there"), Path(parent, "absent")
        path = fill(there)
        assert ledger(there).opened(OWN, "p4", TESTED) == 1
        content = path.read_bytes()
        path.chmod(0o444)
        there.chmod(0o555)
        Path(parent).chmod(0o555)
        try:
            first, second = run(f"import os\n{READ_ONLY}", there, absent).splitlines()
        finally:
            Path(parent).chmod(0o755)
            there.chmod(0o755)
        assert first.startswith(f"5 8 None 1 1 the ledger {path} cannot be written to (Permission")
        assert second.startswith(f"0 5 None None 1 the ledger {absent}{os.sep}emoji-")
        assert path.read_bytes() == content
        assert not absent.exists()


def test_without_a_place_for_locks_nothing_is_written_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(tmp_path)
    content = path.read_bytes()
    monkeypatch.setattr(tempfile, "tempdir", str(path))  # no folder
    here = ledger(tmp_path)
    here.evaluated(OWN, "p5", 10, 1)
    assert here.tries() == tries(range(6))
    assert here.opened(OTHER, "p5", TESTED) is None
    (problem,) = sentences(here.problems)
    assert "no lock can be made" in problem
    assert path.read_bytes() == content


@pytest.mark.parametrize("made_by_user", [True, False])
def test_git_is_told_how_to_merge_the_folder_and_what_the_user_says_is_left(
    tmp_path: Path, made_by_user: bool
) -> None:
    folder = tmp_path / "ledger"
    if made_by_user:
        folder.mkdir()
    fill(folder)
    attributes = folder / ".gitattributes"
    assert attributes.read_text() == "*.jsonl merge=union\n"
    attributes.write_text("*.jsonl merge=union text eol=lf\n")
    fill(folder, range(9), examples(50, 60))
    assert attributes.read_text() == "*.jsonl merge=union text eol=lf\n"
