"""What a gate's run tested of what files state: its records, and what it left out or excused."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.stated import CHECKS, Stated
from pytest_maxrandom.record import ClaimRecord, Record, RunRecord
from pytest_maxrandom.reports.changes import is_partial
from pytest_maxrandom.reports.summary import records

if TYPE_CHECKING:
    from pytest_maxrandom.ci.process import Ran


class Tested:
    """The records of a run by their files, from the top folder of the work tree on."""

    def __init__(self, run: RunRecord | None, ran: Ran, root: Path) -> None:
        self._run, self._ran, self._root = run, ran, root.resolve()
        self._files: dict[str, PurePosixPath | None] = {}
        self._records: dict[PurePosixPath, list[Record]] = {}
        for record in records(run) if run else []:
            if (file := self._file(record.id)) is not None:
                self._records.setdefault(file, []).append(record)

    @property
    def is_whole(self) -> bool:
        """Whether pytest took no file for a mistake, and tested all that it selected."""
        return self._run is not None and not (is_partial(self._run) or self._run.broken)

    def _file(self, name: str) -> PurePosixPath | None:
        """Return the file of an id; None where it lies outside of the work tree."""
        path = name.partition("::")[0]
        if path not in self._files:
            # Not resolved: a suite behind a link is where its link is.
            found = Path(os.path.normpath(self._ran.root.resolve() / path))
            inside = found.is_relative_to(self._root)
            relative = found.relative_to(self._root).as_posix() if inside else ""
            self._files[path] = PurePosixPath(relative) if inside else None
        return self._files[path]

    def left_out(self, stated: Stated) -> list[str]:
        """Return the ids of the tests of a claim that were not selected."""
        return [name for name in self._ran.left_out if self._is_of(stated, name)]

    def excused(self, stated: Stated) -> dict[str, str]:
        """Return which tests of a claim were skipped, or failed as expected, by their ids."""
        found = self._ran.excused.items()
        return {name: how for name, how in found if self._is_of(stated, name)}

    def names(self, stated: Stated) -> set[str]:
        """Return the names in ids of all tests of a claim that were collected."""
        ids = [
            *(each.id for each in self.of(stated)),
            *self.left_out(stated),
            *self.excused(stated),
        ]
        return {each.partition("::")[2] for each in ids}

    def _is_of(self, stated: Stated, name: str) -> bool:
        own = not stated.is_check and stated.is_named(name.partition("::")[2])
        return own and self._file(name) == stated.file

    def of(self, stated: Stated) -> list[Record]:
        """Return the records of a claim, or of a check."""
        here = self._records.get(stated.file, [])
        if stated.is_check:
            kinds = [getattr(self._run, name, []) for name in CHECKS[stated.name]]
            return [record for record in here if any(record in kind for kind in kinds)]
        named = ((record.id.partition("::")[2], record) for record in here)
        return [
            record
            for name, record in named
            if isinstance(record, ClaimRecord) and stated.is_named(name)
        ]

    def id_of(self, stated: Stated) -> str:
        """Return the id of its record; where there is none, its file and its name."""
        found = [] if stated.is_check else self.of(stated)
        return found[0].id if found else f"{stated.file}::{stated.name}"
