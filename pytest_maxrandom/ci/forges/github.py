"""Comments on a pull request of GitHub or GitHub Enterprise (REST API, version 2022-11-28)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_maxrandom.ci.forges.http import next_page
from pytest_maxrandom.ci.forges.publish import Comment, Login
from pytest_maxrandom.ci.forges.values import integer, pages, text
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.ci.forges.http import Answer, Client

ACTIONS_LOGIN = "github-actions[bot]"
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")


def headers(token: str) -> dict[str, str]:
    """Return what every request to GitHub carries."""
    return {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": "2022-11-28",
    }


def check_repository(repository: str) -> str:
    """Return the repository.

    Raises
    ------
    ForgeError
        If it is not written OWNER/NAME.
    """
    if not _REPOSITORY.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
        raise ForgeError(f"--repository: found {repository[:120]!r}, expected OWNER/NAME")
    return repository


def pull_request_with_head(
    client: Client, repository: str, head_repository: str, branch: str
) -> list[tuple[int, str]]:
    """Look up the open pull requests of a branch, as number and commit.

    For runs of forks, whose event names no pull request.
    """
    owner = head_repository.partition("/")[0]
    head = quote(f"{owner}:{branch}", safe="")
    found = []
    path = f"/repos/{repository}/pulls?state=open&head={head}&per_page=100"
    for answer in pages(client, path, next_page):
        if answer.status != 200:
            raise ForgeError(
                f"{client.host} refuses to list the pull requests of {repository}: {answer.status}"
                f"{answer.message}; give the job 'permissions: pull-requests: read' or write"
            )
        for pull in answer.content:
            where = pull.get("head") or {}
            name = (where.get("repo") or {}).get("full_name")
            if name == head_repository and where.get("ref") == branch:
                found.append((integer(pull, "number"), str(where.get("sha"))))
    return found


class GitHub:
    """The comments on one pull request; see :class:`pytest_maxrandom.ci.forges.publish.Forge`."""

    def __init__(
        self,
        client: Client,
        repository: str,
        number: int,
        login: str | None = None,
        *,
        in_actions: bool = False,
    ) -> None:
        self._client = client
        self._number = number
        self._login = login
        self._in_actions = in_actions
        self._repository = f"/repos/{repository}"
        self.place = f"pull request {number} of {repository}"

    def login(self) -> Login:
        """Return the login that comments of this token have.

        The token of a job is no user's, so it may not ask who it is; GraphQL tells nevertheless.
        Where it does not, a job of Actions is taken to have its own token.
        """
        if self._login:
            return Login(self._login)
        answer = self._client.send("GET", "/user")
        if answer.status == 200:
            return Login(text(answer.content, "login"))
        if viewer := self._viewer():
            return Login(viewer)
        if self._in_actions:
            return Login(ACTIONS_LOGIN, guessed=True)
        raise ForgeError(
            f"{self._client.host} does not tell whose token this is; give --login, for an app its "
            "name followed by [bot]"
        )

    def comments(self) -> Iterator[Comment]:
        """Return the comments of all pages."""
        path = f"{self._repository}/issues/{self._number}/comments?per_page=100"
        for answer in pages(self._client, path, next_page):
            if answer.status != 200:
                raise self._refused(answer, "read")
            yield from map(_comment, answer.content)

    def create(self, body: str) -> Comment:
        """Write a new comment."""
        path = f"{self._repository}/issues/{self._number}/comments"
        answer = self._client.send("POST", path, {"body": body}, repeatable=False)
        if answer.status != 201:
            raise self._refused(answer, "write")
        return _comment(answer.content)

    def update(self, comment: Comment, body: str) -> Comment | None:
        """Write a comment anew; None if it is no more."""
        path = f"{self._repository}/issues/comments/{comment.id}"
        answer = self._client.send("PATCH", path, {"body": body})
        if answer.status in (404, 410):
            return None
        if answer.status != 200:
            raise self._refused(answer, "write")
        return _comment(answer.content)

    def _viewer(self) -> str | None:
        # https://host/api/v3 of GitHub Enterprise has its GraphQL at https://host/api/graphql.
        path = f"{self._client.address.removesuffix('/v3')}/graphql"
        answer = self._client.send("POST", path, {"query": "query { viewer { login } }"})
        try:
            login = answer.content["data"]["viewer"]["login"]
        except (KeyError, TypeError):
            return None
        if not isinstance(login, str) or not login:
            return None
        # Whoever is no user is an app, which REST lists with this ending.
        return f"{login.removesuffix('[bot]')}[bot]"

    def _refused(self, answer: Answer, doing: str) -> ForgeError:
        said = f"{self._client.host} refuses to {doing} comments on {self.place}: {answer.status}"
        said += answer.message
        if answer.status == 403 and "locked" in answer.said:
            return ForgeError(f"{said}; its conversation is locked: unlock it")
        if answer.status == 403:
            return ForgeError(
                f"{said}; give the job 'permissions: pull-requests: write', and comment on pull "
                "requests of forks, whose jobs never get it, from a workflow_run workflow"
            )
        if answer.status == 404:
            return ForgeError(f"{said}; there is none, or the token may not see it")
        return ForgeError(said)


def _comment(content: Any) -> Comment:
    return Comment(
        id=integer(content, "id"),
        # A deleted account has none.
        login=text(content.get("user") or {"login": "ghost"}, "login"),
        body=str(content.get("body") or ""),
        url=text(content, "html_url"),
    )
