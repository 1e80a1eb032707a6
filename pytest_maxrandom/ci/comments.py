"""The one comment of each key on a pull request: found, then updated, created, or left as it is.

A comment is known again by what stands, unseen, on its first lines: ``<!-- maxrandom:KEY -->``
names it, ``<!-- maxrandom:run=12 attempt=1 -->`` the run whose numbers it shows. Both count at the
very beginning only, where no text from data can stand.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pytest_maxrandom.ci.http import Answer, Client, UnsureError
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_ROUNDS = 10
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_Value = TypeVar("_Value", str, int)
_STAMP = re.compile(r"\s*<!-- maxrandom:run=(\d{1,18}) attempt=(\d{1,18}) -->", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """Which run a comment is of; a later run is the greater one."""

    run: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Trigger:
    """What the forge says of the run whose numbers are shown.

    What a pull request's own code wrote, such as an artifact, is never asked: it could name
    another pull request.
    """

    number: int | None
    """Of the pull request, where the event names it."""
    commit: str | None
    """Head of the pull request when the run began."""
    stamp: Stamp | None
    report: str | None
    """Page of the run."""
    branch: tuple[str, str] | None = None
    """Repository and branch of the head: where the number must be looked up, and where the pull
    request may have moved on meanwhile."""
    base: str | None = None
    """Branch that the pull request goes into, where the event names it."""
    failed: bool = False
    """Whether the forge says that the run, or the job, has failed."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a pull request."""

    id: int
    login: str
    """Of who wrote it."""
    body: str
    url: str


class Forge(ABC):
    """The comments on one pull request.

    All methods raise :class:`ForgeError` where the forge refuses or cannot be reached.

    Parameters
    ----------
    client : Client
        Of the forge's interface.
    place : str
        Names the pull request for a person: ``pull request 7 of owner/name``.
    path, path_of_one : str
        Of its comments, and of one, which its number follows.
    """

    noun: ClassVar[str] = "comments"
    """What the forge calls them."""
    query: ClassVar[str] = "per_page=100"
    update_method: ClassVar[str]
    needs: ClassVar[str]
    """What a token that may not write lacks."""
    job_login: ClassVar[str] = ""
    """Whose comments a token writes where the forge does not tell."""

    def __init__(self, client: Client, place: str, path: str, path_of_one: str) -> None:
        self.client = client
        self.place = place
        self._path = path
        self._path_of_one = path_of_one

    def comments(self) -> Iterator[Comment]:
        """Return the comments of all pages."""
        path = f"{self._path}?{self.query}"
        found = self.client.items(path, lambda answer: self.refused(answer, f"read {self.noun}"))
        return map(self.comment, found)

    def create(self, body: str) -> Comment:
        """Write a new comment; raises UnsureError where it may have been written."""
        answer = self.client.send("POST", self._path, {"body": body}, repeatable=False)
        if answer.status != 201:
            raise self.refused(answer, f"write {self.noun}")
        return self.comment(answer.content)

    def update(self, comment: Comment, body: str) -> Comment | None:
        """Write a comment anew; None if it is no more."""
        path = f"{self._path_of_one}/{comment.id}"
        answer = self.client.send(self.update_method, path, {"body": body})
        if answer.status in (404, 410):
            return None
        if answer.status != 200:
            raise self.refused(answer, f"write {self.noun}")
        return self.comment(answer.content)

    def refused(self, answer: Answer, doing: str) -> ForgeError:
        """Return the error for a request that was refused."""
        why = {403: f"; {self.needs}", 404: "; there is none, or the token may not see it"}
        if answer.status == 403 and "locked" in answer.words:
            why[403] = "; its conversation is locked: unlock it"
        return ForgeError(
            f"{self.client.host} refuses to {doing} on {self.place}: {answer.status}"
            f"{answer.message}{why.get(answer.status, '')}"
        )

    @abstractmethod
    def login(self) -> str | None:
        """Ask whose token it is; None if it must be taken for `job_login`'s."""

    @abstractmethod
    def comment(self, content: Any) -> Comment:
        """Read a comment in an answer."""


def needed(value: _Value | None, name: str) -> _Value:
    """Return a value that an argument or the environment must give."""
    if not value:
        raise ForgeError(f"{name} is needed here: neither an argument nor the environment has it")
    return value


def check_key(key: str) -> str:
    """Return the key.

    Raises
    ------
    ValueError
        If it could not stand in a marker.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(
            f"--key: found {key[:80]!r}, expected at most 64 letters, digits, dots, underscores "
            "and hyphens, beginning with a letter or a digit"
        )
    return key


def head(key: str, stamp: Stamp | None) -> str:
    """Write what stands in front of a comment's text."""
    run = f"<!-- maxrandom:run={stamp.run} attempt={stamp.attempt} -->\n" if stamp else ""
    return f"{_marker(key)}\n{run}\n"


def publish(forge: Forge, key: str, body: str, login: str | None = None) -> list[str]:
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
        Begins with its marker and the run that it is of, if that is known; see :func:`head`.
    login : str, optional
        Whose token it is, where the user says it.

    Returns
    -------
    list of str
        What became of the comment, with its address, and what else a person should know.

    Raises
    ------
    ForgeError
        If the forge refuses or cannot be reached, or does not tell which comments are this token's
        where they may be those of another login.
    """
    known_login = login or forge.login()
    name = known_login or forge.job_login
    for _ in range(_MOST_ROUNDS):
        marked = [one for one in forge.comments() if one.body.lstrip().startswith(_marker(key))]
        own = [comment for comment in marked if comment.login.lower() == name.lower()]
        if own:
            done = _renew(forge, sorted(own, key=lambda comment: comment.id), key, body)
            if done is not None:
                return done
            continue
        if known_login is None:
            _refuse_if_of_an_app(forge, marked, key)
        try:
            created = forge.create(body)
        except UnsureError:
            continue
        notes = []
        if created.login.lower() != name.lower():
            notes.append(
                f"this token writes as {created.login}, not as {name}: give --login "
                f"'{created.login}', or the next run will not find this comment, and will write "
                "another one"
            )
        return [f"created: {created.url}", *notes]
    raise ForgeError(f"{forge.place}: the comment disappears each time it is written")


def _renew(forge: Forge, own: list[Comment], key: str, body: str) -> list[str] | None:
    """Write the first of our comments anew, unless a later run did; None if it is no more."""
    notes = []
    if len(own) > 1:
        others = ", ".join(comment.url for comment in own[1:])
        notes.append(
            f"{len(own)} comments of {own[0].login} have the key '{key}'; the first one is kept up "
            f"to date, delete the others: {others}"
        )
    stamp = _stamp(body, key)
    for comment in own:
        known = _stamp(comment.body, key)
        if known is not None and stamp is not None and known > stamp:
            notes.append(f"it shows run {known.run}, which is newer than this one ({stamp.run})")
            return [f"left alone: {comment.url}", *notes]
    first = own[0]
    if first.body.strip().splitlines() == body.strip().splitlines():
        return [f"unchanged: {first.url}", *notes]
    updated = forge.update(first, body)
    return None if updated is None else [f"updated: {updated.url}", *notes]


def _refuse_if_of_an_app(forge: Forge, comments: list[Comment], key: str) -> None:
    """Refuse to write a second comment if one of an app is there, whose token this one may be.

    No person's login ends so, so nobody can keep a comment back with one of theirs.
    """
    for comment in comments:
        if comment.login.endswith("[bot]"):
            raise ForgeError(
                f"{forge.place}: {comment.login} has a comment with the key '{key}', and the forge "
                f"does not say whose token this is; give --login '{comment.login}' if it is that "
                "one's, or another --key"
            )


def _stamp(body: str, key: str) -> Stamp | None:
    match = _STAMP.match(body.lstrip().removeprefix(_marker(key)))
    return Stamp(int(match[1]), int(match[2])) if match else None


def _marker(key: str) -> str:
    return f"<!-- maxrandom:{key} -->"
