"""The store tells what other models answered, also what other processes add and change."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.sweeps.rows import ModelAnswers
from pytest_maxrandom.sweeps.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def of_model(name: str, codes: bytes = b"01", questions: str = "q") -> ModelAnswers:
    return ModelAnswers(questions, name, f"digest of {name}", "cpu", codes)


def told(store: Store, questions: str = "q") -> dict[str, bytes]:
    found = store.answered(questions)
    assert all(each.is_sound for each in found)
    return {each.name: each.codes for each in found}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens one file again and again; what is open at the end is closed."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Store(tmp_path / "store.db")))


def test_what_other_processes_add_and_change_of_answers_is_known(
    opened: Callable[[], Store],
) -> None:
    one, other = opened(), opened()
    one.put_answers(of_model("a"))
    one.put_answers(of_model("a", questions="others"))
    assert told(other) == {"a": b"01"}
    other.put_answers(of_model("b"))
    one.put_answers(of_model("a", b"11"))  # the last row, and one before
    assert told(one) == told(other) == {"a": b"11", "b": b"01"}
    other.put_answers(of_model("b", b"10"))
    assert told(one) == told(other) == {"a": b"11", "b": b"10"}
    assert told(one, "others") == {"a": b"01"}


def test_answers_are_written_again_where_the_store_has_lost_or_changed_them(
    tmp_path: Path, opened: Callable[[], Store]
) -> None:
    store = opened()
    store.put_answers(of_model("a"))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE answers SET codes = ?", (b"00",))
    assert not opened().answered("q")[0].is_sound
    other = opened()
    other.put_answers(of_model("a", b"00"))
    assert told(opened()) == {"a": b"00"}
    for each in tmp_path.glob("store.db*"):
        each.unlink()
    store.put_answers(of_model("a"))
    assert told(store) == told(opened()) == {"a": b"01"}


def test_answers_to_many_questions_are_read_again_where_not_all_are_kept(
    opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_maxrandom.sweeps.store._MOST_KEPT", 5)
    store = opened()
    for questions in "pqr" * 2:
        for name in "ab":
            store.put_answers(of_model(name, name.encode() * 2, questions))
    assert all(told(store, each) == {"a": b"aa", "b": b"bb"} for each in "pqr")
