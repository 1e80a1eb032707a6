"""Trained weights are kept whole or not at all, used by many, and trained by one."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.training.kept import Kept
from pytest_maxrandom.models.training import Trained

if TYPE_CHECKING:
    from pathlib import Path

FOUND = Trained((3.0, 1.5), 10, 2, 0.1, None, "t", pretraining_steps=2)


class Trainer:
    """Writes so many bytes, and counts how often."""

    def __init__(self, size: int = 100) -> None:
        self.size = size
        self.count = 0

    def __call__(self, folder: Path) -> tuple[Trained, dict[str, Any]]:
        self.count += 1
        (folder / "model.safetensors").write_bytes(b"x" * self.size)
        return FOUND, {"base": "b"}


def _take(kept: Kept, key: str, trainer: Trainer) -> tuple[Path, Trained]:
    """Take an entry and let go of it."""
    with ExitStack() as held:
        return kept.take(key, "m", trainer, held)


def test_what_is_kept_is_not_trained_again(tmp_path: Path) -> None:
    kept, trainer = Kept(tmp_path, 10**6), Trainer()
    assert kept.read("a") is None
    folder, first = _take(kept, "a", trainer)
    again, second = _take(kept, "a", trainer)
    assert trainer.count == 1
    assert folder == again
    assert (first.from_cache, second.from_cache) == (False, True)
    assert kept.read("a") == second
    assert second.losses == FOUND.losses
    _take(kept, "b", trainer)
    assert trainer.count == 2
    assert json.loads((folder / "trained.json").read_text())["base"] == "b"


def test_the_entry_that_was_used_least_lately_goes_first_and_none_in_use(tmp_path: Path) -> None:
    kept, trainer = Kept(tmp_path, 3000), Trainer(1000)
    for number, key in enumerate("abc"):
        folder, _ = _take(kept, key, trainer)
        os.utime(folder / "trained.json", (number, number))
        assert kept.read(key)
    # a was trained first, and is in use; the record of each takes some bytes, too.
    with ExitStack() as held:
        kept.take("a", "m", trainer, held)
        os.utime(tmp_path / "a" / "trained.json", (0, 0))
        _take(kept, "d", trainer)
        assert {key for key in "abcd" if kept.read(key)} == {"a", "d"}
    _take(kept, "e", trainer)
    assert kept.read("a") is None
    assert kept.read("e")


def test_a_process_that_uses_an_entry_keeps_it_from_others(tmp_path: Path) -> None:
    kept, trainer = Kept(tmp_path, 10), Trainer(1000)
    _take(kept, "a", trainer)
    code = f"""
import sys, pathlib
from contextlib import ExitStack
from pytest_maxrandom.models.hf.training.kept import Kept
with ExitStack() as held:
    Kept(pathlib.Path({str(tmp_path)!r}), 10).take("a", "m", None, held)
    print("held", flush=True)
    sys.stdin.readline()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        _take(kept, "b", trainer)
        assert kept.read("a")
        other.kill()  # whose locks the operating system gives back
        other.wait()
        _take(kept, "c", trainer)
        assert kept.read("a") is None


def test_two_processes_train_an_entry_once(tmp_path: Path) -> None:
    code = f"""
import pathlib, time
from contextlib import ExitStack
from pytest_maxrandom.models.hf.training.kept import Kept
from pytest_maxrandom.models.training import Trained
def train(folder):
    (folder / "w.safetensors").write_text("x")
    time.sleep(0.5)
    return Trained((1.0,), 1, 1, 1.0, None, ""), {{}}
with ExitStack() as held:
    print(Kept(pathlib.Path({str(tmp_path)!r}), 10**6).take("a", "m", train, held)[1].from_cache)
"""
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(each.communicate()[0] for each in both) == ["False\n", "True\n"]


def test_who_is_killed_leaves_no_half_of_an_entry(tmp_path: Path) -> None:
    code = f"""
import pathlib, time
from contextlib import ExitStack
from pytest_maxrandom.models.hf.training.kept import Kept
def train(folder):
    (folder / "model.safetensors").write_text("half")
    print("at it", flush=True)
    time.sleep(600)
with ExitStack() as held:
    Kept(pathlib.Path({str(tmp_path)!r}), 10**6).take("a", "m", train, held)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "at it\n"
        other.kill()
    kept, trainer = Kept(tmp_path, 10**6), Trainer()
    assert kept.read("a") is None
    _take(kept, "b", trainer)  # which also clears away what was left
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["b"]
    folder, _ = _take(kept, "a", trainer)
    assert (folder / "model.safetensors").stat().st_size == trainer.size


def test_damaged_weights_are_told_and_trained_again(tmp_path: Path) -> None:
    said: list[str] = []
    kept, trainer = Kept(tmp_path, 10**6, said.append), Trainer()
    folder, _ = _take(kept, "a", trainer)
    (folder / "model.safetensors").write_bytes(b"y" * 100)
    assert _take(kept, "a", trainer)[1] == FOUND
    assert trainer.count == 2
    assert said == ["the kept weights of m are damaged, so they are trained again"]
    (folder / "trained.json").unlink()
    assert kept.read("a") is None
    _take(kept, "a", trainer)
    assert trainer.count == 3


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path, error: Exception) -> None:
    def train(folder: Path) -> tuple[Trained, dict[str, Any]]:
        (folder / "model.safetensors").write_text("half")
        raise error

    kept = Kept(tmp_path, 10**6)
    with ExitStack() as held, pytest.raises(ModelError) as told:
        kept.take("a", "m", train, held)
    assert str(told.value) == (
        f"the trained weights of m cannot be kept in {tmp_path}: the disk is full; free space "
        "there, or remove what is in that folder (all of it can be trained again)"
    )
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
    trainer = Trainer()
    _take(kept, "a", trainer)  # nothing of the failure is left
    assert trainer.count == 1


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ExitStack() as held, pytest.raises(ModelError, match=r"cannot be kept in .*file"):
        Kept(tmp_path / "file" / "trained", 1).take("a", "m", Trainer(), held)
