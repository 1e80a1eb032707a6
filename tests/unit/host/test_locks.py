"""A lock keeps other processes out, and ends with its process, however that ends."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import LockError
from pytest_maxrandom.host import machine
from pytest_maxrandom.host.machine import held, on_shared_files

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    assert "it is not a folder" in _refusal()


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


MOUNTS = """\
sysfs /sys sysfs rw,nosuid 0 0
/dev/sda1 / ext4 rw,relatime 0 0
server:/home /home nfs4 rw,vers=4.2,addr=10.0.0.1 0 0
/dev/sdb1 /home/me/local xfs rw 0 0
cluster /scratch lustre rw,flock 0 0
me@host: /mnt/my\\040files fuse.sshfs rw,user_id=0 0 0
//nas/data /data cifs rw 0 0
tmpfs /data tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/suites", "nfs4"),
        ("/home/me/local/suites", "xfs"),
        ("/homes/me", "ext4"),
        ("/scratch", "lustre"),
        ("/mnt/my files/suites", "fuse.sshfs"),
        ("/data/suites", "tmpfs"),  # mounted over the other
    ],
)
def test_the_file_system_that_holds_a_path_is_known_by_its_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert machine.type_of_files(Path(path), mounts) == kind
    monkeypatch.delenv("MAXRANDOM_SHARED_FILES", raising=False)
    monkeypatch.setattr(machine, "type_of_files", lambda path: kind)
    assert on_shared_files(Path(path)) == (kind in ("nfs4", "lustre", "fuse.sshfs"))
    for said in ("yes", "no"):
        monkeypatch.setenv("MAXRANDOM_SHARED_FILES", said)
        assert on_shared_files(Path(path)) == (said == "yes")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_kernels_own_list_of_file_systems_is_read(tmp_path: Path) -> None:
    said = subprocess.run(
        ["stat", "--file-system", "--format=%T", "/proc"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert machine.type_of_files(Path("/proc/self")) == said.stdout.strip() == "proc"
    assert machine.type_of_files(tmp_path / "absent" / "too")
    assert machine.type_of_files(tmp_path, tmp_path / "absent") == ""


def test_a_lock_beside_the_data_reaches_whoever_has_another_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    program = COUNT.replace('"a file"', '"a file", beside=number.parent')
    others = []
    for host in ("one", "another"):
        (tmp_path / host).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / host))
        command = [sys.executable, "-c", program, str(number)]
        others += [subprocess.Popen(command) for _ in range(2)]
    assert [other.wait() for other in others] == [0, 0, 0, 0]
    assert number.read_text() == "200"
    assert not any(each for host in ("one", "another") for each in (tmp_path / host).iterdir())


def test_a_lock_that_cannot_be_made_beside_the_data_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "number").touch()  # no folder
    with (
        pytest.raises(LockError, match="expected a file system whose locks hold between hosts"),
        held("store", "one", beside=tmp_path / "number"),
    ):
        pass


def test_who_waits_is_told_once_for_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PATIENCE", 0.01)
    told: list[str] = []
    is_told, is_held = threading.Event(), threading.Event()

    def wait(who: str) -> None:
        told.append(who)
        is_told.set()

    def take() -> None:
        with held("sweep", "one", waits=wait):
            is_held.set()

    with held("sweep", "one", waits=told.append):
        other = threading.Thread(target=take)
        other.start()
        assert is_told.wait(60)
        assert not is_held.is_set()
    other.join()
    assert is_held.is_set()
    assert told == [f"process {os.getpid()} on {platform.node()}"]


def test_who_does_not_wait_is_told_nothing_and_a_holder_that_said_nothing_is_another_process(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "PATIENCE", 0.01)
    told: list[str] = []
    with held("sweep", "another", waits=told.append):
        assert told == []
    with pytest.raises(TimeoutError), held("sweep", "one", timeout=0.1, waits=told.append):
        pass
    assert told == ["another process"]
