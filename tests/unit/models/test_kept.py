"""Models that tests train are made once, whole, and again when what makes them has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.kept import kept

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a model is made of; nothing is kept yet."""
    monkeypatch.setenv("MAXRANDOM_TEST_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "source.py"
    path.write_text("seed = 0\n")
    return path


class Maker:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self, folder: Path) -> None:
        assert not list(folder.iterdir())
        self.times += 1
        (folder / "weights").write_text(str(self.times))


def test_many_at_once_make_it_once(source: Path) -> None:
    make = Maker()
    with ThreadPoolExecutor(4) as threads:
        folders = set(threads.map(lambda _: kept("model", make, [source]), range(8)))
    (folder,) = folders
    assert (folder / "weights").read_text() == "1"
    assert make.times == 1


def test_another_source_or_name_makes_another(source: Path) -> None:
    make = Maker()
    first = kept("model", make, [source])
    assert kept("other", make, [source]) != first
    source.write_text("seed = 1\n")
    second = kept("model", make, [source])
    assert second != first
    assert make.times == 3
    assert (first / "weights").read_text() == "1"


def test_what_was_begun_and_failed_is_not_taken(source: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "weights").write_text("half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        kept("model", fails, [source])
    make = Maker()
    assert (kept("model", make, [source]) / "weights").read_text() == "1"
