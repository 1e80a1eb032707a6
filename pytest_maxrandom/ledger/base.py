"""The ledger as it stood at a commit, and what of it is gone: a ledger only grows."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.digests import example_digest
from pytest_maxrandom.ledger.files import lines_of_sets
from pytest_maxrandom.ledger.lines import fact, read_line
from pytest_maxrandom.ledger.overlap import related
from pytest_maxrandom.ledger.sets import FOLDER
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.lines import Row, Subject
    from pytest_maxrandom.tasks.task import Example

_PRESENT = f":(glob)**/{FOLDER}/*.jsonl"
COUNTED = ("prompt", "look", "opening")
"""Kinds of lines that count for a claim."""
_NUMBERS = ("n", "correct", "t", "best_correct")


@dataclass(frozen=True)
class BaseFile:
    """A file of the ledger at a commit.

    Attributes
    ----------
    path : PurePosixPath
        From the root of the work tree.
    data : bytes
        What it held.
    """

    path: PurePosixPath
    data: bytes

    @property
    def folder(self) -> PurePosixPath:
        """The ledger that it belongs to."""
        return self.path.parent

    @cached_property
    def rows(self) -> list[tuple[int, Row]]:
        """Its lines with their numbers; what was no line of a ledger there need not stand now."""
        return list(_readable(enumerate(self.data.split(b"\n"), 1)))

    @cached_property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """The digests of the examples of each validation set, by the set's."""
        return {
            row["set"]: tuple(row["examples"])
            for _, row in _readable(lines_of_sets(self.data))
            if row["kind"] == "set"
        }

    def is_about(self, examples: Sequence[str]) -> bool:
        """Tell whether these examples are a set of it, changed a little or not at all."""
        return bool(related(self.sets, examples))


@dataclass(frozen=True)
class Use:
    """Examples on which claims are tested that a ledger counts for.

    Attributes
    ----------
    folder : PurePosixPath
        The ledger beside the suite, from the root of the work tree.
    who : str
        Names the suite, or the file, for a person.
    examples : tuple of str
        Digests of the examples.
    counts : callable
        Tells whether a row counts for one of the claims.
    """

    folder: PurePosixPath
    who: str
    examples: tuple[str, ...]
    counts: Callable[[Row], bool]


class Base:
    """All files of the ledger at a commit.

    Parameters
    ----------
    tree : Repository
        The work tree.
    ref : str
        Names the commit for a person.
    commit : str
        The commit.

    Attributes
    ----------
    folders : set of PurePosixPath
        Where ledgers stood.

    Raises
    ------
    GitError
        If the commit's files cannot be listed.
    """

    def __init__(self, tree: Repository, ref: str, commit: str) -> None:
        self.tree, self.ref, self.commit = tree, ref, commit
        names = {
            PurePosixPath(path): name
            for path, name in tree.files_at(commit).items()
            if path.endswith(".jsonl") and PurePosixPath(path).parent.name == FOLDER
        }
        self._names = dict(sorted(names.items()))
        self.folders = {path.parent for path in names}

    @cached_property
    def files(self) -> list[BaseFile]:
        """The files, in the order of their paths.

        Raises
        ------
        GitError
            If git lacks their contents.
        """
        contents = self.tree.contents(self._names.values())
        return [BaseFile(path, contents[name]) for path, name in self._names.items()]

    def related(self, use: Use) -> list[BaseFile]:
        """Return the files that counted for examples: those beside them, else any."""
        found = [file for file in self.files if file.is_about(use.examples)]
        return [file for file in found if file.folder == use.folder] or found


class Present:
    """The files of the ledger in the work tree, by their folders.

    Raises
    ------
    GitError
        If git cannot list them.
    """

    def __init__(self, tree: Repository) -> None:
        self._tree = tree
        self._data: dict[PurePosixPath, dict[Path, bytes]] = {}
        self._facts: dict[PurePosixPath, dict[tuple[object, ...], Row]] = {}
        for path in tree.present(_PRESENT):
            if path.is_file():
                folder = from_root(tree, path.parent)
                self._data.setdefault(folder, {})[path] = path.read_bytes()

    @property
    def folders(self) -> list[PurePosixPath]:
        """All ledgers."""
        return list(self._data)

    def facts(self, folder: PurePosixPath) -> dict[tuple[object, ...], Row]:
        """Return what the lines of a ledger say."""
        if folder not in self._facts:
            data = self._data.get(folder, {}).values()
            rows = (row for each in data for _, row in _readable(enumerate(each.split(b"\n"))))
            self._facts[folder] = {fact(row): row for row in rows}
        return self._facts[folder]

    def lacks(self, folder: PurePosixPath, file: BaseFile) -> list[tuple[int, Row]]:
        """Return the lines of a file that do not stand in a ledger, with their numbers."""
        own = self._data.get(folder, {}).values()
        if any(data.startswith(file.data) for data in own):  # only added to, as mostly
            return []
        facts = self.facts(folder)
        return [(number, row) for number, row in file.rows if fact(row) not in facts]

    def uses(self) -> Iterator[Use]:
        """Yield the sets that the files are about, each with the claims that they hold."""
        for folder, files in self._data.items():
            for path, data in files.items():
                who = from_root(self._tree, path).as_posix()
                for _, row in _readable(lines_of_sets(data)):
                    if row["kind"] == "set":
                        yield Use(folder, who, tuple(row["examples"]), _counts_like(data))


def _counts_like(data: bytes) -> Callable[[Row], bool]:
    """Return what tells whether a row counts for one of the claims of a file, read when asked."""

    @functools.cache
    def claims() -> set[tuple[str, int]]:
        rows = (row for _, row in _readable(enumerate(data.split(b"\n"))))
        return {
            (row[name], row["shots"])  # no name of a model is a digest of one
            for row in rows
            if row["kind"] == "prompt"
            for name in ("model", "model_digest")
        }

    def counts(row: Row) -> bool:
        if row["kind"] not in COUNTED:
            return False
        names = {(row["model"], row["shots"]), (row["model_digest"], row["shots"])}
        return not names.isdisjoint(claims())

    return counts


def lost(base: Base, now: Present, uses: Iterable[Use], below: Sequence[str] = (".",)) -> list[str]:
    """Say what stood in the ledger at the base, and does not count any more.

    Parameters
    ----------
    uses : iterable of Use
        What claims are tested on now. Of these what counted must stand beside the suite, wherever
        the suite, or the ledger, has been moved.
    below : sequence of str
        Paths from the root on that the base's files are looked for at.

    Returns
    -------
    list of str
        One sentence for each line, or for each file that is gone as a whole.

    Raises
    ------
    GitError
        If something is missing that the base may have got after HEAD left it.
    """
    found: list[str] = []
    told: set[tuple[PurePosixPath, int]] = set()
    everywhere = _Everywhere(now)
    for file in base.files:
        if not any(file.path.is_relative_to(each) for each in below):
            continue
        if now.lacks(file.folder, file) and (gone := everywhere.lacks(file)):
            told |= {(file.path, number) for number, _ in gone}
            found += _gone(base, file, gone, everywhere)
    for use in uses:
        for file in base.related(use):
            moved = [
                (number, row)
                for number, row in now.lacks(use.folder, file)
                if use.counts(row) and (file.path, number) not in told
            ]
            if moved:
                told |= {(file.path, number) for number, _ in moved}
                found.append(_elsewhere(base, file, moved, use))
    if found:
        base.tree.check_fork_known(base.ref)
    return found


def left_behind(
    folder: Path, examples: Sequence[Example], subject: Subject, run: str = ""
) -> list[str]:
    """Say which ledger of HEAD counts prompts of a claim, though it stands beside another suite.

    Where there is no git, or no commit yet, nothing is known.

    Parameters
    ----------
    run : str
        Names the session, in which git is asked once for all claims beside this ledger; where it
        is empty, each time.
    """
    if not is_checkout(folder):
        return []
    base = _of_session(folder, run) if run else _head(folder)
    if base is None:
        return []
    try:
        tree = base.tree
        here = from_root(tree, folder)
        if base.folders <= {here}:
            return []

        def counts(row: Row) -> bool:
            named = subject.model == row.get("model")
            same = named or subject.model_digest == row.get("model_digest")
            return row["kind"] == "prompt" and same and row["shots"] == subject.shots

        use = Use(here, "", tuple(map(example_digest, examples)), counts)
        files = [file for file in base.related(use) if file.folder != here]
        now = Present(tree) if files else None
    except (GitError, OSError, ValueError):
        return []
    return [
        f"{file.path}, committed beside another suite, counts {_claims(prompts)} on these "
        f"examples, which this t leaves out; copy that file into {here}"
        for file in files
        if now and (prompts := [row for _, row in now.lacks(here, file) if counts(row)])
    ]


def _head(folder: Path) -> Base | None:
    """Return the ledgers of HEAD; None where git cannot tell."""
    try:
        tree = repository(folder)
        return _at_head(tree, tree.commit("HEAD"))
    except (GitError, OSError):
        return None


@functools.lru_cache(maxsize=16)
def _of_session(folder: Path, run: str) -> Base | None:
    assert run
    return _head(folder)


@functools.lru_cache(maxsize=4)
def _at_head(tree: Repository, commit: str) -> Base:
    return Base(tree, "HEAD", commit)


def from_root(tree: Repository, path: Path) -> PurePosixPath:
    """Return a path from the root of the work tree on.

    Raises
    ------
    ValueError
        If it is not below it.
    """
    return PurePosixPath(path.resolve().relative_to(tree.root.resolve()).as_posix())


class _Everywhere:
    """All ledgers of the work tree as one."""

    def __init__(self, now: Present) -> None:
        self._now = now

    @cached_property
    def _facts(self) -> dict[tuple[object, ...], Row]:
        every = (self._now.facts(folder) for folder in self._now.folders)
        return {name: row for facts in every for name, row in facts.items()}

    @cached_property
    def _tried(self) -> dict[tuple[object, ...], Row]:
        return {_name(row): row for row in self._facts.values()}

    def lacks(self, file: BaseFile) -> list[tuple[int, Row]]:
        return [(number, row) for number, row in file.rows if fact(row) not in self._facts]

    def otherwise(self, row: Row) -> Row | None:
        """Return the line that says the same with other numbers."""
        return self._tried.get(_name(row))


def _name(row: Row) -> tuple[object, ...]:
    """Return what a row is about, without its numbers."""
    if row["kind"] in ("set", "test"):
        return row["kind"], row[row["kind"]]
    return fact({**row, **dict.fromkeys(_NUMBERS, 0)})


def _gone(
    base: Base, file: BaseFile, gone: list[tuple[int, Row]], everywhere: _Everywhere
) -> Iterator[str]:
    if len(gone) == len(file.rows):
        yield (
            f"{file.path}: gone since {base.ref}, with {_claims(row for _, row in gone)}; restore "
            f"it with `git checkout {base.commit[:12]} -- {file.path}`"
        )
        return
    for number, row in gone:
        yield f"{file.path}:{number}: {_what(row)}{_became(row, everywhere)} ({base.ref})"


def _became(row: Row, everywhere: _Everywhere) -> str:
    other = everywhere.otherwise(row)
    if other is None:
        return " is gone"
    if row["kind"] == "set":
        return " has other examples or chances now"
    if row["kind"] == "test":
        return " has other examples now"
    return f" had {_numbers(row)}, and has {_numbers(other)} now"


def _elsewhere(base: Base, file: BaseFile, moved: list[tuple[int, Row]], use: Use) -> str:
    return (
        f"{use.who}: tested on examples that {file.path} counts at {base.ref}, with "
        f"{_claims(row for _, row in moved)} that do not stand in {use.folder}; bring that file "
        f"there: `git show {base.commit[:12]}:{file.path} >> {use.folder}/{file.path.name}`"
    )


def _what(row: Row) -> str:
    kind = row["kind"]
    if kind == "set":
        return f"the line of the set {row['set'][:12]}, without which nothing of the file counts,"
    if kind == "test":
        return f"the line of the test set {row['test'][:12]}"
    if kind == "look":
        return f"the look {row['look'][:12]} at {_claim(row)}"
    if kind == "opening":
        return f"the opening of the test set {row['test'][:12]} by {_claim(row)}"
    return f"the prompt {row['prompt'][:12]}, which counts for {_claim(row)},"


def _numbers(row: Row) -> str:
    names = {"correct": "right", "best_correct": "right at best"}
    return ", ".join(f"{names.get(name, name)} = {row[name]}" for name in _NUMBERS if name in row)


def _claims(rows: Iterable[Row]) -> str:
    """Count lines by what they count for: ``200 prompts and 3 looks of mine 4-shot``."""
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        if row["kind"] in COUNTED:
            kinds.setdefault(_claim(row), Counter())[row["kind"]] += 1
    return (
        "; ".join(
            " and ".join(
                f"{count(number)} {kind}{'' if number == 1 else 's'}"
                for kind, number in found.items()
            )
            + f" of {claim}"
            for claim, found in sorted(kinds.items())
        )
        or "no prompt"
    )


def _claim(row: Row) -> str:
    return f"{row['model']} {row['shots']}-shot"


def _readable(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Row]]:
    for number, raw in lines:
        if raw.strip():
            try:
                yield number, read_line(raw)
            except ValueError:  # `verify` names it where it stands now
                continue
