"""Which columns of a table hold what, and why it seems so: what guesses come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.recorded.names import NAMED
from pytest_maxrandom.recorded.tables.columns import IF_NAMED
from pytest_maxrandom.suite.recorded import TableColumns

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Guess:
    """Which column has a role, and why it seems so."""

    column: str
    why: str
    of_prompts: tuple[str, ...] = ()
    """The columns of the prompts, where each has one; the first is `column`."""

    @classmethod
    def of_person(cls, column: str | Sequence[str]) -> Guess:
        """Return what somebody said."""
        several = () if isinstance(column, str) else tuple(column)
        return cls(several[0] if several else str(column), "you said so", several)

    @property
    def named(self) -> str | list[str]:
        """What a suite calls it."""
        return [*self.of_prompts] or self.column

    def shown(self, header: Sequence[str]) -> str:
        """Return what a person is told: of columns side by side the first and the last."""
        if not self.of_prompts:
            return quoted(self.column)
        at = [header.index(name) for name in self.of_prompts]
        starts = [i for i in range(len(at)) if not i or at[i] != at[i - 1] + 1]
        runs = zip(starts, [*starts[1:], len(at)], strict=True)
        return ", ".join(
            " to ".join(quoted(self.of_prompts[i]) for i in dict.fromkeys((start, end - 1)))
            for start, end in runs
        )


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

    @property
    def taken(self) -> set[str]:
        """The columns that have a role."""
        return {
            name for each in self.columns.values() for name in each.of_prompts or (each.column,)
        }

    def keys(self) -> dict[str, str | list[str]]:
        """Return `columns` of a suite: those that are called otherwise than their role.

        A column that is called like a role, and does not hold it, is not read: its name is empty.
        """
        named = {role: each.named for role, each in self.columns.items()}
        named |= dict.fromkeys(self.unread, "")
        roles = (role for role in TableColumns.model_fields if role in named)
        return {role: named[role] for role in roles if named[role] != role or role in IF_NAMED}


def shown(guessed: Guessed, header: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return role, column and reason of each guess, in the order of the suite's keys."""
    return [
        (role, guessed.columns[role].shown(header), guessed.columns[role].why)
        for role in NAMED
        if role in guessed.columns
    ]
