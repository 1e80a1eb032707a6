"""A lock keeps other processes out, and ends with its process, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import LockError
from pytest_maxrandom.host.machine import held

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys, time
from pytest_maxrandom.host.machine import held
with held("sweep", "one"):
    print("held", flush=True)
    time.sleep(600)
"""

COUNT = """
import pathlib, sys
from pytest_maxrandom.host.machine import held
number = pathlib.Path(sys.argv[1])
for _ in range(50):
    with held("ledger", "a file"):
        number.write_text(str(int(number.read_text()) + 1))
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own, for this process and those it starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of the sweep "one"."""
    with subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other
        other.kill()


def _is_free(name: str, kind: str = "sweep") -> bool:
    try:
        with held(kind, name, timeout=0):  # type: ignore[arg-type]
            return True
    except TimeoutError:
        return False


@pytest.mark.usefixtures("holder")
def test_what_another_process_holds_is_not_had_within_the_time_given() -> None:
    assert not _is_free("one")
    with pytest.raises(TimeoutError), held("sweep", "one", timeout=0.2):
        pass


@pytest.mark.usefixtures("holder")
def test_locks_of_other_names_and_kinds_are_free() -> None:
    assert _is_free("two")
    assert _is_free("One")
    assert _is_free("one", "gpu")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_a_lock_is_free_again_when_its_process_is_killed(holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert _is_free("one")


def test_a_lock_is_free_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), held("sweep", "one"):
        raise ZeroDivisionError
    assert _is_free("one")


def test_no_two_processes_are_in_at_once(tmp_path: Path) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    others = [subprocess.Popen([sys.executable, "-c", COUNT, str(number)]) for _ in range(4)]
    assert [other.wait() for other in others] == [0, 0, 0, 0]
    assert number.read_text() == "200"


@pytest.mark.parametrize("name", ["", "a/b/../c", "x" * 5000, "naïve\0\n", "\udcff", "C:\\x"])
def test_any_text_is_a_name(name: str) -> None:
    with held("ledger", name):
        assert _is_free(name + " ", "ledger")


def test_nothing_is_written_but_into_a_folder_of_the_user(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    with held("sweep", "one"):
        assert not list(checkout.iterdir())
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o077 == 0 or sys.platform == "win32"


def _refusal() -> str:
    with pytest.raises(LockError) as caught, held("sweep", "one"):
        pass
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_without_a_temporary_folder_it_says_so(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "none"))
    assert "No such file or directory" in _refusal()
    assert "set TMPDIR" in _refusal()


def _folder(temporary: Path) -> Path:
    with held("sweep", "one"):
        (folder,) = temporary.iterdir()
    return folder


def test_a_link_in_the_folders_place_is_not_followed(temporary: Path, tmp_path: Path) -> None:
    folder = _folder(temporary)
    target = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(target)
    assert "it is no folder" in _refusal()


def test_a_file_in_the_folders_place(temporary: Path) -> None:
    folder = _folder(temporary)
    folder.rename(temporary / "aside")
    folder.touch()
    assert str(folder) in _refusal()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no such modes")
def test_a_folder_that_others_can_write_to_is_not_used(temporary: Path) -> None:
    _folder(temporary).chmod(0o777)
    assert "others can write to it" in _refusal()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives away")
def test_a_folder_of_another_user_is_not_used(temporary: Path) -> None:
    os.chown(_folder(temporary), 12345, -1)
    assert "it belongs to another user" in _refusal()
