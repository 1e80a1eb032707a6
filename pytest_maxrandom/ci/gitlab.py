"""Comments on a merge request of GitLab (REST API, version 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_maxrandom.ci.comments import Comment, Forge, Stamp, Trigger, needed
from pytest_maxrandom.ci.http import Client, value, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping


def trigger(environ: Mapping[str, str]) -> Trigger:
    """Read what GitLab tells a job; a job that runs again has a greater number."""
    pipeline, job = (whole_number(environ.get(name)) for name in ("CI_PIPELINE_ID", "CI_JOB_ID"))
    return Trigger(
        number=whole_number(environ.get("CI_MERGE_REQUEST_IID")),
        # A pipeline of merged results runs on another commit than the branch's.
        commit=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA"),
        stamp=None if pipeline is None else Stamp(pipeline, job or 0),
        report=environ.get("CI_JOB_URL"),
        failed=environ.get("CI_JOB_STATUS") == "failed",
    )


def forge(
    environ: Mapping[str, str], event: Trigger, project: str | None, number: int | None
) -> GitLab:
    """Return the notes on a merge request; `project` and `number` where the user names them.

    Raises
    ------
    ForgeError
        If something is not told.
    """
    page = None if project else environ.get("CI_PROJECT_URL")
    project = needed(project or environ.get("CI_PROJECT_ID"), "--repository GROUP/NAME")
    number = needed(number or event.number, "--pull-request N")
    token = needed(environ.get("GITLAB_TOKEN"), "GITLAB_TOKEN")
    headers = {"Accept": "application/json", "PRIVATE-TOKEN": token}
    client = Client(environ.get("CI_API_V4_URL") or "https://gitlab.com/api/v4", headers, token)
    return GitLab(client, project, number, page)


class GitLab(Forge):
    """The notes on one merge request.

    Parameters
    ----------
    project : str
        Its number, or its path: ``group/name``.
    page : str or None
        Of the project, for links to its notes.
    """

    noun = "notes"
    query = "per_page=100&sort=asc&order_by=created_at"
    update_method = "PUT"
    needs = "GITLAB_TOKEN needs the scope 'api' and the role Reporter or higher"

    def __init__(self, client: Client, project: str, number: int, page: str | None) -> None:
        path = f"/projects/{quote(project, safe='')}/merge_requests/{number}/notes"
        super().__init__(client, f"merge request {number} of {project}", path, path)
        self._page = f"{page}/-/merge_requests/{number}" if page else self.place

    def login(self) -> str:
        """Ask who the token's user is."""
        answer = self.client.send("GET", "/user")
        if answer.status != 200:
            raise self.refused(answer, "say whose token it is")
        return value(answer.content, "username", str)

    def comment(self, content: Any) -> Comment:
        """Read a note."""
        number = value(content, "id", int)
        return Comment(
            id=number,
            login=value(content.get("author"), "username", str),
            body=str(content.get("body") or ""),
            url=f"{self._page}#note_{number}",
        )
