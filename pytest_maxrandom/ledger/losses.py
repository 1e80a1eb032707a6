"""What of the ledger is missing since a commit, or was left beside another suite."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.history import COUNTED, ClaimedSet, Commit, File, WorkTree, from_root
from pytest_maxrandom.ledger.lines import Subject, example_digest, fact
from pytest_maxrandom.ledger.questions import question_digest
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path, PurePosixPath

    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.tasks.task import Example

_NUMBERS = {"n": "n", "correct": "right", "t": "t", "best_correct": "right at best"}
_WHAT = {
    "set": "the line of the set {set:.12}, without which nothing in the file counts,",
    "test": "the line of the test set {test:.12}",
    "reworded": "that the set {set:.12} asks what {before:.12} asked, in other words,",
    "closed": "that the results of the search {search:.12} may be read",
    "apart": "that the set {set:.12} asks other questions than {before:.12} ({why})",
    "served": "by what {server}, counted as {model_digest:.12}, is known again",
    "look": "the look {look:.12} at {model} {shots}-shot",
    "opening": "the opening of the test set {test:.12} by {model} {shots}-shot",
    "feedback": "what {by} learned about the prompt {prompt:.12} with {model} {shots}-shot",
    "prompt": "the prompt {prompt:.12}, which counts for {model} {shots}-shot,",
}
"""What each kind of line is, for a person."""


def lost(
    base: Commit, now: WorkTree, claimed: Iterable[ClaimedSet], below: Sequence[str] = (".",)
) -> list[str]:
    """Say what stood in the ledger at the base, and does not count any more.

    Each lost line has one sentence, or each file that is missing as a whole.

    Parameters
    ----------
    claimed : iterable of ClaimedSet
        What claims are tested on now. Of these what counted must stand beside the suite, wherever
        the suite, or the ledger, has been moved.
    below : sequence of str
        Paths from the root on that the base's files are looked for at.

    Raises
    ------
    GitError
        If something is missing that the base may have got after HEAD left it.
    """
    sentences: list[str] = []
    named: set[tuple[PurePosixPath, int]] = set()
    for file in base.files:
        if not any(file.path.is_relative_to(each) for each in below):
            continue
        if now.lacks(file, file.folder) and (gone := now.lacks(file)):
            named |= {(file.path, number) for number, _ in gone}
            sentences += _gone(base, file, gone, now)
    for one in claimed:
        for file in base.about(one.examples, one.questions, one.folder):
            moved = {
                number: row
                for number, row in now.lacks(file, one.folder)
                if row["kind"] in COUNTED and one.counts(row) and (file.path, number) not in named
            }
            if moved:
                named |= {(file.path, number) for number in moved}
                sentences.append(
                    f"{one.who}: tested on examples that {file.path} counts at {base.ref}, with "
                    f"{counted(moved.values())} that are missing in {one.folder}; copy that file "
                    f"there: `git show {base.commit[:12]}:{file.path} >> "
                    f"{one.folder}/{file.path.name}`"
                )
    if sentences:
        base.tree.check_fork_known(base.ref)
    return sentences


def counted(rows: Iterable[Row]) -> str:
    """Count lines by what they count for: ``200 prompts and 3 looks of mine 4-shot``."""
    # A prompt may have a line where it was begun, and one with its right answers.
    facts = {(_claim(row), *_without_numbers(row)): row for row in rows if row["kind"] in COUNTED}
    claims: dict[str, Counter[str]] = {}
    for row in facts.values():
        claims.setdefault(_claim(row), Counter())[row["kind"]] += 1
    told = (
        " and ".join(f"{count(n)} {kind}{'s' * (n != 1)}" for kind, n in kinds.items())
        + f" of {claim}"
        for claim, kinds in sorted(claims.items())
    )
    return "; ".join(told) or "no prompt"


def _claim(row: Row) -> str:
    return f"{row['model']} {row['shots']}-shot"


def _gone(base: Commit, file: File, gone: list[tuple[int, Row]], now: WorkTree) -> Iterator[str]:
    if len(gone) == len(file.rows):
        yield (
            f"{file.path}: gone since {base.ref}, with {counted(row for _, row in gone)}; restore "
            f"it with `git checkout {base.commit[:12]} -- {file.path}`"
        )
        return
    same = {_without_numbers(row): row for one in now.files for row in one.facts.values()}
    for number, row in gone:
        what = _WHAT[row["kind"]].format(**row)
        became = _became(row, same.get(_without_numbers(row)))
        yield f"{file.path}:{number}: {what}{became} ({base.ref})"


def _without_numbers(row: Row) -> tuple[object, ...]:
    """Return what a row is about."""
    if row["kind"] in ("set", "test"):
        return row["kind"], row[row["kind"]]
    return fact({**row, **dict.fromkeys(_NUMBERS, 0)})


def _became(row: Row, other: Row | None) -> str:
    if other is None:
        return " is gone"
    if "examples" in row:
        return " has changed"
    return f" had {_numbers(row)}, and has {_numbers(other)} now"


def _numbers(row: Row) -> str:
    found = {name: row.get(key) for key, name in _NUMBERS.items()}
    return ", ".join(f"{name} = {value}" for name, value in found.items() if value is not None)


def left_behind(
    folder: Path, examples: Sequence[Example], subject: Subject, run: str
) -> list[Remark]:
    """Tell which ledger of HEAD counts prompts of a claim, though it stands beside another suite.

    Where there is no git, or no commit yet, nothing is known. `run` names the session, in which git
    is asked once for all claims beside this ledger.
    """
    if not is_checkout(folder):
        return []
    head = _head(folder, run)
    if head is None:
        return []

    def counts(row: Row) -> bool:
        same = subject.model == row.get("model") or subject.model_digest == row.get("model_digest")
        return row["kind"] == "prompt" and same and row["shots"] == subject.shots

    try:
        here = from_root(head.tree, folder)
        if head.folders <= {here}:
            return []
        questions = {example_digest(each): question_digest(each) for each in examples}
        about = head.about(list(map(example_digest, examples)), questions, here)
        files = [file for file in about if file.folder != here]
        now = WorkTree(head.tree) if files else None
    except (GitError, OSError, ValueError):
        return []
    return [
        Remark("left_behind", {"file": str(file.path), "prompts": tries, "folder": str(here)})
        for file in files
        if now
        and (tries := dict(Counter(_claim(row) for _, row in now.lacks(file, here) if counts(row))))
    ]


@functools.lru_cache(maxsize=16)
def _head(folder: Path, run: str) -> Commit | None:
    """Return the ledgers of HEAD as a session knows it; None where git cannot tell."""
    try:
        return Commit(repository(folder), "HEAD")
    except (GitError, OSError):
        return None
