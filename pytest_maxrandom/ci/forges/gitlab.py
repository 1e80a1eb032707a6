"""Comments on a merge request of GitLab (REST API, version 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_maxrandom.ci.forges.http import next_page
from pytest_maxrandom.ci.forges.publish import Comment, Login
from pytest_maxrandom.ci.forges.values import integer, pages, text
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.ci.forges.http import Answer, Client


def headers(token: str) -> dict[str, str]:
    """Return what every request to GitLab carries."""
    return {"Accept": "application/json", "PRIVATE-TOKEN": token}


class GitLab:
    """The notes on one merge request; see :class:`pytest_maxrandom.ci.forges.publish.Forge`.

    Parameters
    ----------
    project : str
        Its number, or its path: ``group/name``.
    url : str or None
        Of the project, for links to its notes.
    """

    def __init__(
        self,
        client: Client,
        project: str,
        number: int,
        login: str | None = None,
        url: str | None = None,
    ) -> None:
        self._client = client
        self._login = login
        self._url = url
        self._number = number
        self._notes = f"/projects/{quote(project, safe='')}/merge_requests/{number}/notes"
        self.place = f"merge request {number} of {project}"

    def login(self) -> Login:
        """Return the user name that notes of this token have."""
        if self._login:
            return Login(self._login)
        answer = self._client.send("GET", "/user")
        if answer.status != 200:
            raise self._refused(answer, "say whose token it is")
        return Login(text(answer.content, "username"))

    def comments(self) -> Iterator[Comment]:
        """Return the notes of all pages."""
        path = f"{self._notes}?per_page=100&sort=asc&order_by=created_at"
        for answer in pages(self._client, path, next_page):
            if answer.status != 200:
                raise self._refused(answer, "read notes")
            yield from map(self._comment, answer.content)

    def create(self, body: str) -> Comment:
        """Write a new note."""
        answer = self._client.send("POST", self._notes, {"body": body}, repeatable=False)
        if answer.status != 201:
            raise self._refused(answer, "write notes")
        return self._comment(answer.content)

    def update(self, comment: Comment, body: str) -> Comment | None:
        """Write a note anew; None if it is no more."""
        answer = self._client.send("PUT", f"{self._notes}/{comment.id}", {"body": body})
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise self._refused(answer, "write notes")
        return self._comment(answer.content)

    def _comment(self, content: Any) -> Comment:
        number = integer(content, "id")
        page = f"{self._url}/-/merge_requests/{self._number}" if self._url else self.place
        return Comment(
            id=number,
            login=text(content.get("author"), "username"),
            body=str(content.get("body") or ""),
            url=f"{page}#note_{number}",
        )

    def _refused(self, answer: Answer, doing: str) -> ForgeError:
        said = f"{self._client.host} refuses to {doing} on {self.place}: {answer.status}"
        said += answer.message
        if answer.status == 403:
            return ForgeError(
                f"{said}; GITLAB_TOKEN needs the scope 'api' and the role Reporter or higher"
            )
        if answer.status == 404:
            return ForgeError(f"{said}; there is none, or the token may not see it")
        return ForgeError(said)
