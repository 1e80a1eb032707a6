"""One comment for each key: found, then updated, created, or left to a later run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from pytest_maxrandom.ci.forges.http import UnsureError
from pytest_maxrandom.ci.forges.markers import is_ours, stamp_of
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a pull request."""

    id: int
    login: str
    """Of who wrote it."""
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Login:
    """Whose comments a token writes."""

    name: str
    guessed: bool = False
    """Whether the forge did not tell."""


class Forge(Protocol):
    """The comments on one pull request.

    All methods raise :class:`ForgeError` where the forge refuses or cannot be reached.
    """

    @property
    def place(self) -> str:
        """Name the pull request: ``pull request 7 of owner/name``."""
        ...

    def login(self) -> Login:
        """Return the login that comments of this token have."""
        ...

    def comments(self) -> Iterable[Comment]:
        """Return the comments of all pages."""
        ...

    def create(self, body: str) -> Comment:
        """Write a new comment; raises UnsureError where it may have been written."""
        ...

    def update(self, comment: Comment, body: str) -> Comment | None:
        """Write a comment anew; None if it is no more."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a comment."""

    how: Literal["created", "updated", "unchanged", "left alone"]
    comment: Comment
    notes: list[str] = field(default_factory=list)
    """What a person should know, one sentence each."""


def publish(forge: Forge, key: str, body: str) -> Done:
    """Make `body` the one comment of this key that this token has on the pull request.

    A comment of a later run stays as it is. After a creation that may have happened, and after an
    update of a comment that was deleted meanwhile, the comments are read again.

    Parameters
    ----------
    forge : Forge
        With the pull request.
    key : str
        Which of this project's comments it is.
    body : str
        Begins with its marker and the run that it is of, if that is known; see
        :func:`pytest_maxrandom.ci.forges.markers.head`.

    Raises
    ------
    ForgeError
        If the forge refuses or cannot be reached, or does not tell which comments are this token's
        where they may be those of another login.
    """
    told = forge.login()
    login = told.name
    for _ in range(_MOST_ROUNDS):
        found = [comment for comment in forge.comments() if is_ours(comment.body, key)]
        own = sorted((c for c in found if c.login.lower() == login.lower()), key=lambda c: c.id)
        if own:
            done = _renew(forge, own, key, body)
            if done is not None:
                return done
            continue
        if told.guessed:
            _refuse_if_of_an_app(forge, found, key)
        try:
            created = forge.create(body)
        except UnsureError:
            continue
        return Done("created", created, _other_login(created, login))
    raise ForgeError(f"{forge.place}: the comment disappears as often as it is written")


def _renew(forge: Forge, own: list[Comment], key: str, body: str) -> Done | None:
    """Write the first of our comments anew, unless a later run did; None if it is no more."""
    notes = []
    if len(own) > 1:
        others = ", ".join(comment.url for comment in own[1:])
        notes.append(
            f"{len(own)} comments of {own[0].login} have the key '{key}'; the first one is kept up "
            f"to date, delete the others: {others}"
        )
    stamp = stamp_of(body, key)
    for comment in own:
        known = stamp_of(comment.body, key)
        if known is not None and stamp is not None and known > stamp:
            notes.append(f"it shows run {known.run}, which is later than this one ({stamp.run})")
            return Done("left alone", comment, notes)
    first = own[0]
    if _lines(first.body) == _lines(body):
        return Done("unchanged", first, notes)
    updated = forge.update(first, body)
    return None if updated is None else Done("updated", updated, notes)


def _refuse_if_of_an_app(forge: Forge, found: list[Comment], key: str) -> None:
    """Refuse to write beside a comment of an app, whose token this one may be.

    No person's login ends so, so nobody can keep a comment back with one of theirs.
    """
    for comment in found:
        if comment.login.endswith("[bot]"):
            raise ForgeError(
                f"{forge.place}: {comment.login} has a comment with the key '{key}', and the forge "
                f"does not tell whose token this is; give --login '{comment.login}' if it is that "
                "one's, or another --key"
            )


def _lines(body: str) -> list[str]:
    return body.strip().splitlines()


def _other_login(created: Comment, login: str) -> list[str]:
    if created.login.lower() == login.lower():
        return []
    return [
        f"this token writes as {created.login}, not as {login}: give --login '{created.login}', or "
        "the next run does not find this comment and writes another one"
    ]
