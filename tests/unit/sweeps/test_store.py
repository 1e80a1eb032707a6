"""The results store gives back exactly what was put there, or nothing, whatever its file meets."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.errors import StoreError
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.executor import Cost, Scored
from pytest_maxrandom.sweeps.rows import Key
from pytest_maxrandom.sweeps.store import Store
from tests.notes import sentences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COST = Cost(
    *("cpu", "float32", "packed", None, "abc", 120, 100, 1.5),
    Arithmetic("a processor", "torch", {"torch": "2"}),
)
ROWS = st.lists(st.lists(st.floats(allow_nan=False), min_size=2, max_size=4), max_size=5)


KEY = Key("m", "t", "p", "s", "auto", "a")


def key(number: int) -> Key:
    return KEY._replace(prompt=f"p{number}")


def result(number: int) -> Scored:
    rows = ((-0.1 * number - i, math.pi * i, 1 / 3) for i in range(40))
    return Scored(tuple((Answer(row, (1, 2, 3)),) for row in rows), COST)


def filled(path: Path, count: int = 60) -> None:
    with closing(Store(path)) as store:
        for number in range(count):
            store.put(key(number), result(number))
        assert store.messages == []


def held(path: Path, count: int = 60) -> tuple[dict[Key, Scored], tuple[str, ...]]:
    with closing(Store(path)) as store:
        found = store.get(key(number) for number in range(count))
        assert all(found[key] == result(int(key.prompt[1:])) for key in found)
        return found, sentences(store.messages)


def works(path: Path) -> None:
    """Assert that what is stored now is found by the next to open the file, with no message."""
    with closing(Store(path)) as store:
        store.put(key(7), result(7))
    found, messages = held(path)
    assert found[key(7)] == result(7)
    assert messages == ()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "results.db"


@settings(deadline=None, max_examples=50)
@given(ROWS, st.randoms(use_true_random=False))
def test_what_is_read_is_what_was_put_to_the_last_bit(
    rows: list[list[float]], chance: random.Random
) -> None:
    import tempfile
    from pathlib import Path

    tokens = [tuple(chance.randrange(2**32) for _ in row) for row in rows]
    pairs = zip(rows, tokens, strict=True)
    stored = Scored(tuple((Answer(tuple(row), counts),) for row, counts in pairs), COST)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with closing(Store(Path(folder, "results.db"))) as store:
                store.put(key(0), stored)
        with closing(Store(Path(folder, "results.db"))) as store:
            found = store.get([key(0)])[key(0)]
    assert found == stored
    bits = [[struct.pack("<d", value) for value in row] for row in rows]
    read = [one.log_likelihoods for (one,) in found.answers]
    assert [[struct.pack("<d", value) for value in row] for row in read] == bits


def test_answers_to_several_questions_are_joined(path: Path) -> None:
    with closing(Store(path)) as store:
        store.put(key(0), Scored(((Answer((-1.0,), (2,)), Answer((-3.0,), (4,))),), COST))
        (found,) = store.get([key(0)]).values()
    assert found.answers == ((Answer((-1.0, -3.0), (2, 4)),),)


WRITTEN = Scored(
    (
        (Answer((), (), text="naïve\n", finish="stop"),),
        (Answer((), (), text="", finish="refused"),),
        (Answer((), (), text="so", finish="length"),),
    ),
    replace(COST, chat=["<s>", "</s>"]),
)


def test_generated_answers_are_kept_with_their_ends(path: Path) -> None:
    with closing(Store(path)) as store:
        store.put(KEY, WRITTEN)
        assert store.get([KEY]) == {KEY: WRITTEN}


def test_each_part_of_the_key_keeps_results_apart(path: Path) -> None:
    with closing(Store(path)) as store:
        store.put(key(1), result(1))
        for part in Key._fields:
            assert store.get([key(1)._replace(**{part: "other"})]) == {}
        assert set(store.get(key(number) for number in range(2000))) == {key(1)}


def test_each_prompt_is_there_for_other_processes_as_soon_as_it_is_put(path: Path) -> None:
    with closing(Store(path)) as one, closing(Store(path)) as other:
        one.put(key(1), result(1))
        assert other.get([key(1)]) == {key(1): result(1)}


def test_the_folder_that_is_made_is_not_committed_and_one_that_was_there_is_left(
    path: Path, tmp_path: Path
) -> None:
    filled(path, 1)
    assert (path.parent / ".gitignore").read_text().splitlines()[-1] == "*"
    filled(tmp_path / "mine.db", 1)
    assert not (tmp_path / ".gitignore").exists()


def test_an_empty_file_is_used(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    works(path)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _other_columns(path: Path) -> None:
    """As it was before results told their arithmetic."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("ALTER TABLE results RENAME TO former")
        file.execute("CREATE TABLE results AS SELECT model, task, prompt FROM former")
        file.execute("DROP TABLE former")


@pytest.mark.parametrize("damage", [_cut, _other_columns])
def test_a_damaged_file_is_moved_aside_and_said_to_be(
    path: Path, damage: Callable[[Path], None]
) -> None:
    filled(path)
    damage(path)
    content = path.read_bytes()
    (path.parent / "results.db.damaged-1").write_text("an older one")
    found, messages = held(path)
    assert found == {}
    assert len(messages) == 1
    assert "results.db is damaged (" in messages[0]
    assert messages[0].endswith("it was moved to results.db.damaged-2, and a new one was created")
    assert (path.parent / "results.db.damaged-2").read_bytes() == content
    assert (path.parent / "results.db.damaged-1").read_text() == "an older one"
    works(path)


def test_no_flipped_byte_is_ever_read_as_a_number(path: Path) -> None:
    filled(path, 20)
    content = path.read_bytes()
    chance = random.Random(0)
    lost = 0
    for trial in range(60):
        broken = bytearray(content)
        for place in chance.sample(range(len(broken)), 30):
            broken[place] ^= 1 << chance.randrange(8)
        other = path.with_name(f"{trial}.db")
        other.write_bytes(broken)
        try:
            found, messages = held(other, 20)  # asserts that what is found is right
        except StoreError:  # what tells a store from other files is gone
            assert other.read_bytes() == broken
        else:
            assert len(found) == 20 or messages
            lost += bool(messages)
    assert lost > 30


def _text(path: Path) -> None:
    path.write_text("this is no database\n" * 99)


def _others(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE theirs (word TEXT)")
        other.execute("INSERT INTO theirs VALUES ('kept')")
        other.commit()


@pytest.mark.parametrize("write", [_text, _others])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(
    path: Path, write: Callable[[Path], None]
) -> None:
    path.parent.mkdir()
    write(path)
    content = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert str(caught.value) == (
        f"{path} is not a results store of pytest-maxrandom, and was not changed; remove it, or "
        "name another file with --maxrandom-store"
    )
    assert path.read_bytes() == content
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_put_in_the_place_of_a_store_in_use_is_left_as_it_is(path: Path) -> None:
    with closing(Store(path)) as store:
        store.put(key(1), result(1))
        for file in path.parent.glob("results.db*"):
            file.unlink()
        _text(path)
        content = path.read_bytes()
        store.put(key(2), result(2))
        assert store.get([key(1), key(2)]) == {}
        assert "was not changed" in sentences(store.messages)[0]
    assert path.read_bytes() == content


def _run(code: str, *arguments: object) -> str:
    program = f"from tests.unit.sweeps.test_store import *\nimport sys\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FULL = """
import resource
from pathlib import Path
store = Store(Path(sys.argv[1]))
store.put(key(0), result(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
for number in range(1, 200):
    store.put(key(number), result(number))
found = store.get(key(number) for number in range(200))
assert all(found[key(number)] == result(number) for number in range(len(found)))
assert 0 < len(found) < 200
print(len(store.messages), sentences(store.messages)[0])
"""


def test_a_full_disk_ends_storing_and_nothing_else(path: Path) -> None:
    said = _run(FULL, path)
    assert said.startswith(f"1 the results store {path} cannot be written to (")
    assert said.endswith("results are not stored from now on\n")
    assert held(path)[1] == ()


READ_ONLY = """
import filelock  # which only root may be able to read
import os
import urllib.parse  # as this, which pathlib imports late
from pathlib import Path
if os.getuid() == 0:
    os.setuid(65534)
for name in sys.argv[1:]:
    store = Store(Path(name))
    store.put(key(99), result(99))
    found = store.get(key(number) for number in range(100))
    assert all(found[one] == result(int(one.prompt[1:])) for one in found)
    assert not store.writable
    print(len(found), len(store.messages), sentences(store.messages)[0])
"""


def test_a_folder_that_cannot_be_written_to_is_read(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        there, absent = Path(folder, "there", "results.db"), Path(folder, "absent", "results.db")
        filled(there, 5)
        there.parent.chmod(0o555)
        try:
            first, second = _run(READ_ONLY, there, absent).splitlines()
        finally:
            there.parent.chmod(0o755)
        assert first.startswith(f"5 1 the results store {there} cannot be written to (")
        assert second.startswith(f"0 1 the results store {absent} cannot be used (")
        assert held(there)[1] == ()


@pytest.mark.parametrize("what", ["folder", "parent is a file"])
def test_a_path_that_can_be_no_file_is_said_to_be_unusable(path: Path, what: str) -> None:
    if what == "folder":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("")
    with closing(Store(path)) as store:
        store.put(key(1), result(1))
        assert store.get([key(1)]) == {}
        assert len(store.messages) == 1


@pytest.mark.parametrize("what", ["file", "all files", "folder"])
def test_deleting_the_file_while_it_is_in_use_loses_what_was_in_it_only(
    path: Path, what: str
) -> None:
    import shutil

    with closing(Store(path)) as store:
        store.put(key(1), result(1))
        if what == "folder":
            shutil.rmtree(path.parent)
        else:
            for file in path.parent.glob("results.db" + ("*" if what == "all files" else "")):
                file.unlink()
        store.put(key(2), result(2))
        assert set(store.get([key(1), key(2)])) == {key(2)}
        assert store.messages == []
    assert set(held(path)[0]) == {key(2)}


def test_a_file_that_is_damaged_while_it_is_in_use_is_replaced(path: Path) -> None:
    filled(path)
    with closing(Store(path)) as store:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 8192))
        assert store.get([key(number) for number in range(60)]) == {}
        assert len(store.messages) == 1
        store.put(key(3), result(3))
        assert store.get([key(3)]) == {key(3): result(3)}
    works(path)


def _put(path: Path, first: int) -> None:
    with closing(Store(path)) as store:
        for number in range(first, first + 100):
            store.put(key(number), result(number))
        assert store.messages == []


def test_four_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_put, args=(path, 100 * i)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    found, messages = held(path, 400)
    assert len(found) == 400
    assert messages == ()


def test_processes_that_meet_a_damaged_file_move_it_aside_once(path: Path) -> None:
    filled(path)
    _cut(path)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=Store, args=(path,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(list(path.parent.glob("results.db.damaged-?"))) == 1


def test_a_store_can_be_used_after_it_was_closed_as_an_empty_one(path: Path) -> None:
    store = Store(path)
    store.close()
    store.put(key(1), result(1))
    assert store.get([key(1)]) == {}


@pytest.fixture
def _shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "yes")


def _mode(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.mark.usefixtures("_shared")
def test_where_hosts_share_files_there_is_no_log_and_the_lock_is_beside(path: Path) -> None:
    filled(path)
    with closing(Store(path)) as store:
        store.put(key(7), result(7))
        others = {each.name for each in path.parent.iterdir()} - {path.name, ".gitignore"}
        assert store.locks == path.parent
    assert [name.partition("-")[0] for name in others] == ["store"]
    assert all(name.endswith(".lock") for name in others)
    assert _mode(path) == "delete"
    assert len(held(path)[0]) == 60


def test_a_store_with_a_log_loses_it_and_nothing_else_once_hosts_share_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    assert _mode(path) == "wal"
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "yes")
    assert len(held(path)[0]) == 60
    assert _mode(path) == "delete"
    works(path)
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "no")
    assert len(held(path)[0]) == 60
    works(path)


@pytest.mark.usefixtures("_shared")
def test_two_hosts_write_one_store_and_lose_nothing(path: Path, tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from tests.unit.sweeps.test_store import *
store = Store(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 60, 2):
    store.put(key(number), result(number))
    assert store.get([key(number)]) == {key(number): result(number)}
assert store.messages == []
"""
    hosts = []
    for first in (0, 1):
        temporary = tmp_path / f"host {first}"
        temporary.mkdir()
        hosts.append(
            subprocess.Popen(
                [sys.executable, "-c", program, str(path), str(first)],
                env={**os.environ, "TMPDIR": str(temporary)},
            )
        )
    assert [host.wait() for host in hosts] == [0, 0]
    found, messages = held(path)
    assert len(found) == 60
    assert messages == ()


@pytest.mark.usefixtures("_shared")
def test_a_shared_store_in_a_folder_that_cannot_be_written_to_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    for lock in path.parent.glob("*.lock"):
        lock.unlink()
        lock.mkdir()  # so that no lock can be made there
    found, (message,) = held(path)
    assert len(found) == 60
    assert "it is only read" in message
