"""Every error that a user can meet, each one a clear sentence.

::

    MaxRandomError
    ├── SuiteError      a suite or a data file is wrong; holds all its problems
    ├── ExtensionError  what an installed package adds cannot be used
    ├── SweepError      a sweep cannot be run as asked
    │   ├── ModelError      a model cannot be loaded or used
    │   ├── PromptTooLong   a prompt does not fit the model's context
    │   └── ScoreError      the model returned scores that cannot be compared
    ├── LedgerError     a ledger cannot be read
    ├── GitError        git cannot say what is asked of it
    ├── StoreError      the results store must not be used
    ├── LockError       no lock between processes can be made
    ├── ReportError     a report cannot be written or read
    ├── RecordedError   recorded predictions cannot be read
    └── ForgeError      a forge (GitHub, GitLab) cannot be reached, or refuses
    ClaimFailed         (an AssertionError) a claim does not hold
    RedFlagged          (an AssertionError) its result is not what it looks like
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class MaxRandomError(Exception):
    """Base of all errors of this package but :class:`ClaimFailed` and :class:`RedFlagged`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, and one sentence on what to do about it."""

    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        where = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


class SuiteError(MaxRandomError):
    """A suite, or a data file that it names, is wrong.

    Parameters
    ----------
    problems : iterable of Problem
        All the mistakes found, at least one, in the order of the file.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ExtensionError(MaxRandomError):
    """A backend or source that an installed package adds cannot be used, or there is none."""


class SweepError(MaxRandomError):
    """A sweep cannot be run as the suite asks."""


class ModelError(SweepError):
    """A model cannot be loaded, or cannot do what the suite asks of it."""


class PromptTooLong(SweepError):
    """A prompt with an example does not fit the model's context; text is never cut."""


class ScoreError(SweepError):
    """The model returned scores that cannot be compared."""


class LedgerError(MaxRandomError):
    """A ledger cannot be read: a line of it is none, or contradicts itself."""


class GitError(MaxRandomError):
    """Git cannot say what is asked of it: it is not there, or the history is not."""


class StoreError(MaxRandomError):
    """The results store must not be used, because its results may be anybody's."""


class LockError(MaxRandomError):
    """No lock between processes can be made on this machine."""


class ReportError(MaxRandomError):
    """A report cannot be written or read: a template, or a report file, is wrong."""


class RecordedError(MaxRandomError):
    """A file of recorded predictions cannot be read, or contradicts itself."""


class ForgeError(MaxRandomError):
    """A forge (GitHub, GitLab) cannot be reached, or refuses what is asked of it."""


class ClaimFailed(AssertionError):
    """A claim does not hold; its text is one line with the numbers behind it."""


class RedFlagged(AssertionError):
    """A claim has red flags that fail it, which is never the failure that was expected of it.

    Its text is why the claim does not pass, in one line, and then each red flag in a line.
    """
