"""Which columns of a table hold what, and why it seems so: what guesses come to."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.recorded.names import NAMED
from pytest_maxrandom.recorded.tables.columns import IF_NAMED
from pytest_maxrandom.suite.recorded import TableColumns


@dataclass(frozen=True, slots=True)
class Guess:
    """Which column has a role, and why it seems so."""

    column: str
    why: str


@dataclass(slots=True)
class Guessed:
    """What the columns of a table seem to hold.

    Attributes
    ----------
    columns : dict of str to Guess
        By their roles, the keys of `columns` in a suite.
    missing : dict of str to str
        What is needed and was not found, by roles, with the reason.
    labels : tuple of str
        The labels of right answers, where they seem to be the choices of every question.
    unread : tuple of str
        Roles that no column has, though one is called so.
    guessed_at : bool
        Whether a guess has a chance: neither graded scores nor open answers tell one.
    """

    columns: dict[str, Guess] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    guessed_at: bool = True

    def keys(self) -> dict[str, str]:
        """Return `columns` of a suite: those that are called otherwise than their role.

        A column that is called like a role, and does not hold it, is not read: its name is empty.
        """
        named = {role: each.column for role, each in self.columns.items()}
        named |= dict.fromkeys(self.unread, "")
        roles = (role for role in TableColumns.model_fields if role in named)
        return {role: named[role] for role in roles if named[role] != role or role in IF_NAMED}


def shown(guessed: Guessed) -> list[tuple[str, str, str]]:
    """Return role, column and reason of each guess, in the order of the suite's keys."""
    return [
        (role, quoted(guessed.columns[role].column), guessed.columns[role].why)
        for role in NAMED
        if role in guessed.columns
    ]
