"""Where hosts share a file system each process has a file of its own, and nothing else changes."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import LedgerError, LockError
from pytest_maxrandom.ledger import FOLDER, SetLedger, set_files
from pytest_maxrandom.ledger.files import LedgerFile
from pytest_maxrandom.ledger.folder import common_name, has_one_writer, part_of
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.ledger.summary import mistakes, summary
from pytest_maxrandom.ledger.union import by_set, unite
from tests.notes import sentences
from tests.unit.ledger.common import (
    OTHER,
    OWN,
    REVISED,
    TESTED,
    examples,
    fill,
    ledger,
    rows,
    run,
    tries,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture
def _hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ledger that is opened is one of another process, on files that hosts share."""
    numbers = itertools.count()
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "yes")
    monkeypatch.setattr(set_files, "_writer", lambda process: f"{next(numbers):012x}")


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


@pytest.mark.usefixtures("_hosts")
def test_each_process_adds_to_its_own_file_and_leaves_all_others_as_they_are(
    tmp_path: Path,
) -> None:
    one, other = ledger(tmp_path), ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    (first,) = files(tmp_path)
    cut = first.read_bytes() + b'{"kind":"prompt","when":"20'
    first.write_bytes(cut)  # one is still writing
    for number in (1, 2):
        other.evaluated(OWN, f"p{number}", 10, 3)
    assert first.read_bytes() == cut
    assert [one.path, other.path] == files(tmp_path)
    assert [row["kind"] for row in rows(other.path)] == ["set", "prompt", "prompt"]
    assert other.tries() == ledger(tmp_path).tries() == tries({1, 2})
    first.write_bytes(cut.removesuffix(b'{"kind":"prompt","when":"20'))
    one.evaluated(OWN, "p3", 10, 3)
    for each in (one, other):
        each.refresh()
        assert each.tries() == tries({1, 2, 3})
        assert each.problems == []
        assert sentences(each.notes(OWN)) == ()


@pytest.mark.usefixtures("_hosts")
def test_a_line_that_stays_cut_is_told_one_that_is_being_written_is_not(tmp_path: Path) -> None:
    path = fill(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    here, there = ledger(tmp_path), ledger(tmp_path)
    assert here.problems == []
    here.refresh()
    (said,) = sentences(here.problems)
    assert said.startswith(f"{path}:6: the last line was cut off while another process wrote it")
    path.write_bytes(content)
    there.refresh()
    assert there.problems == []
    assert there.tries() == tries(range(5))


@pytest.mark.usefixtures("_hosts")
def test_of_two_hosts_that_write_at_once_one_sees_the_line_of_the_other(tmp_path: Path) -> None:
    one, other = ledger(tmp_path), ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    other.evaluated(OWN, "p2", 10, 3)
    assert other.tries() == tries({1, 2})  # so a budget of one prompt ends it
    assert other.opened(OWN, "p1", TESTED) == 1
    assert one.opened(OTHER, "p1", TESTED) == 2
    assert one.look(OWN, ["p1"], t=2, n=10, best_correct=3) == 1
    assert other.look(OWN, ["p1"], t=2, n=10, best_correct=3) == 1
    assert other.look(OWN, ["p1", "p2"], t=2, n=10, best_correct=3) == 2


def _said(made: SetLedger) -> object:
    made.refresh()
    return (
        [made.tries(subject) for subject in (OWN, OTHER, REVISED, None)],
        [made.looked_at(subject) for subject in (OWN, OTHER)],
        sentences(made.notes(OWN)),
        made.known_examples(examples(5, 40)),
        made.problems,
    )


def _work(folder: Path, seed: int) -> Iterator[SetLedger]:
    """Count at random what three processes count, on a set, one like it and another."""
    chance = random.Random(seed)
    firsts = (0, 4, 50)
    made = {
        (p, first): ledger(folder, examples(first, first + 10)) for p in "abc" for first in firsts
    }
    for _ in range(60):
        one = made[chance.choice("abc"), chance.choice(firsts)]
        subject = chance.choice([OWN, OTHER, REVISED, replace(OWN, quantization="nf4")])
        prompt = f"p{chance.randrange(12)}"
        match chance.randrange(6):
            case 0:
                looked = [f"p{number}" for number in range(chance.randrange(1, 4))]
                one.look(subject, looked, t=5, n=10, best_correct=4)
            case 1:
                assert one.opened(subject, prompt, TESTED)
            case _:
                one.evaluated(subject, prompt, 10, chance.randrange(11))
    for first in firsts:
        yield ledger(folder, examples(first, first + 10))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_counted_does_not_depend_on_who_has_a_file(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "no")
    expected = [_said(one) for one in _work(tmp_path / "one", seed)]
    assert len(files(tmp_path / "one")) == 3
    request.getfixturevalue("_hosts")
    shared = list(_work(tmp_path / "many", seed))
    assert [_said(one) for one in shared] == expected
    assert len(files(tmp_path / "many")) > 3
    for group in by_set(files(tmp_path / "many"), LedgerFiles()):
        assert unite(group)[0] == common_name(group[0])
    assert [_said(one) for one in shared] == expected  # who has read the files reads on
    names = [path.name for path in files(tmp_path / "many")]
    assert names == [path.name for path in files(tmp_path / "one")]
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "no")
    for first, said in zip((0, 4, 50), expected, strict=True):
        known = ledger(tmp_path / "many", examples(first, first + 10))
        assert known.path.name in names
        assert _said(known) == said


@pytest.mark.usefixtures("_hosts")
def test_who_writes_while_files_are_united_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = ledger(tmp_path), ledger(tmp_path)
    one.evaluated(OWN, "p1", 10, 3)
    other.evaluated(OWN, "p2", 10, 3)
    lacking = SetLedger._lacking
    united: list[Path] = []

    def late(made: SetLedger, added: Sequence[dict[str, Any]]) -> list[bytes]:
        lines = lacking(made, added)
        if not united:  # the file is open, and nothing is written yet
            united.append(unite(files(tmp_path))[0])
        return lines

    monkeypatch.setattr(SetLedger, "_lacking", late)
    one.evaluated(OWN, "p3", 10, 3)
    one.evaluated(OWN, "p4", 10, 3)
    assert united == [common_name(one.path)]
    assert len(rows(united[0], "prompt")) == 2
    assert [row.get("prompt") for row in rows(one.path)] == [None, "p3", "p4"]
    assert ledger(tmp_path).tries() == one.tries() == tries(range(1, 5))
    assert one.problems == []


@pytest.mark.usefixtures("_hosts")
def test_files_that_are_united_while_they_are_read_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(3))
    unite(files(tmp_path))
    fill(tmp_path, range(3, 6))
    here = ledger(tmp_path)
    fill(tmp_path, range(6, 9))
    read = LedgerFile.read

    def late(file: LedgerFile) -> None:
        read(file)
        if not has_one_writer(file.path) and len(files(tmp_path)) > 1:
            unite(files(tmp_path))

    monkeypatch.setattr(LedgerFile, "read", late)
    here.refresh()
    assert here.tries() == tries(range(9))
    assert len(files(tmp_path)) == 1


@pytest.mark.usefixtures("_hosts")
def test_a_wrong_line_stops_uniting_before_anything_is_done(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    path = fill(tmp_path, range(3, 6))
    path.write_bytes(path.read_bytes() + b"<<<<<<< HEAD\n")
    before = {each: each.read_bytes() for each in files(tmp_path)}
    with pytest.raises(LedgerError) as caught:
        unite(files(tmp_path))
    assert str(caught.value).startswith(f"{path}:5: ")
    assert {each: each.read_bytes() for each in files(tmp_path)} == before


@pytest.mark.usefixtures("_hosts")
def test_two_that_unite_at_once_leave_every_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    fill(tmp_path, range(3))
    fill(tmp_path, range(3, 6))
    link, other = os.link, []

    def late(one: Path, name: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        other.append(unite(files(tmp_path)))
        link(one, name)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(LedgerError, match="another process united these files"):
        unite(files(tmp_path))
    assert ledger(tmp_path).tries() == tries(range(6))
    unite(files(tmp_path))
    assert files(tmp_path) == [other[0][0]]
    assert len(rows(other[0][0])) == 7


@pytest.mark.usefixtures("_hosts")
def test_a_file_system_without_links_gets_one_file_with_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    fill(tmp_path, range(3))
    fill(tmp_path, range(3, 6))

    def refused(one: Path, name: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    path, lines = unite(files(tmp_path))
    assert files(tmp_path) == [path]
    assert (lines, len(rows(path))) == (7, 7)
    assert ledger(tmp_path).tries() == tries(range(6))


@pytest.mark.usefixtures("_hosts")
def test_the_command_tells_the_same_of_many_files_and_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "maxrandom-ledger"
    path = common_name(fill(folder, range(3)))
    fill(folder, range(20, 22), examples(50, 60))
    ledger(folder).look(OWN, ["p1"], t=3, n=10, best_correct=2)
    cut = fill(folder, range(2, 6))
    assert ledger(folder).opened(OWN, "p1", TESTED) == 1
    assert len(files(folder)) == 5

    def said(*arguments: str, status: int = 0) -> str:
        assert main(["ledger", *arguments, str(tmp_path)]) == status
        return capsys.readouterr().out

    many = said("show").replace(".writer-000000000000", "").replace(".writer-000000000001", "")
    exported = said("export")
    whole = cut.read_bytes()
    cut.write_bytes(whole + b'{"kind":')
    (wrong,) = said("verify", status=1).splitlines()
    assert "`maxrandom ledger unite` leaves it out" in wrong
    text = said("unite")
    assert f"of 4 files in {path}" in text
    assert len(files(folder)) == 2
    assert said("unite").startswith("each validation set has one file")
    assert said("verify").startswith("2 files, every line is valid")
    assert said("show") == many
    assert sorted(said("export").splitlines()) == sorted(exported.splitlines())


def test_a_process_that_forks_writes_no_common_file(tmp_path: Path) -> None:
    program = """
import os
os.environ["MAXRANDOM_SHARED_FILES"] = "yes"
ledger(Path(sys.argv[1])).evaluated(OWN, "p0", 10, 1)
child = os.fork()
ledger(Path(sys.argv[1])).evaluated(OWN, "p1" if child else "p2", 10, 1)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    run(program, tmp_path)
    assert len(files(tmp_path)) == 2
    assert ledger(tmp_path).tries() == tries(range(3))


def test_another_word_than_yes_or_no_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "perhaps")
    with pytest.raises(LockError, match="found 'perhaps', expected yes if several hosts"):
        ledger(tmp_path)


def test_a_file_that_is_large_gets_parts_of_which_all_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_maxrandom.ledger.folder.LARGEST", 3000)
    folder = tmp_path / FOLDER
    first = ledger(folder)
    for number in range(40):
        if not number % 5:
            now = ledger(folder)
        now.evaluated(OWN, f"p{number}", 10, 3)
    parts = sorted(folder.glob("*.jsonl"), key=part_of)
    assert [part_of(path) for path in parts] == [*range(1, len(parts) + 1)]
    assert len(parts) > 2
    assert all(path.stat().st_size < 6000 for path in parts)
    first.refresh()  # began before there were parts
    assert first.tries(OWN) == ledger(folder).tries(OWN) == tries(range(40))
    assert [told for path in parts for told in mistakes(path)] == []
    assert main(["ledger", "unite", str(folder)]) == 0
    assert sorted(folder.glob("*.jsonl"), key=part_of) == parts
    opened = LedgerFiles()
    (group,) = by_set(parts, opened)
    assert summary(group, opened).t == 40
