"""Where tasks come from: what a format of task files, or another source of examples, must give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from pytest_maxrandom.suite.tasks import TaskSpec
    from pytest_maxrandom.tasks.task import Task

S = TypeVar("S", bound="TaskSpec")
Where: TypeAlias = Callable[[str], tuple[Path, int | None]]
"""From a key of the task, such as "path", to the suite file and the key's line in it; for a key
that the suite does not give, the line of the task."""


class Source(Protocol[S]):
    """Reads the tasks of one `format`.

    An implementer writes a spec and :meth:`read`, and names the class (or an instance) in the entry
    point group ``pytest_maxrandom.sources``; the entry point's name is the `format` that suites
    give. What is common to all tasks (the texts around examples, the test set, the checks of what
    every task must hold) is done elsewhere.

    Attributes
    ----------
    spec : type of TaskSpec
        A subclass of :class:`pytest_maxrandom.suite.tasks.TaskSpec` with the keys that a task of
        this format has in a suite beside the common ones, typed and with docstrings.
    """

    @property
    def spec(self) -> type[S]:
        """The keys of a task in a suite."""

    def read(self, spec: S, base: Path, where: Where) -> Task:
        """Read the whole task.

        Parameters
        ----------
        spec : TaskSpec
            What the suite says, an instance of :attr:`spec`.
        base : Path
            The folder that paths are relative to: that of the suite file.
        where : callable
            Tells where a key stands in the suite, for messages.

        Returns
        -------
        Task
            With all its examples; with a pool of its own where demonstrations have a split of
            theirs.

        Raises
        ------
        SuiteError
            With all that is wrong: ``Problem(*where("path"), sentence)`` in the suite, or with
            path and line in a file.
        """
