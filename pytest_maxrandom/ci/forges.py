"""Comments on a pull request of GitHub (REST API 2022-11-28) or merge request of GitLab (4)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pytest_maxrandom.ci.comments import Comment, Forge, Stamp, Trigger, needed
from pytest_maxrandom.ci.http import Answer, Client, value, whole_number
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_WAY_OUT = "give --pull-request, or run this on 'pull_request' or 'workflow_run'"


def github_trigger(environ: Mapping[str, str]) -> Trigger:
    """Read the event, and the run, of a job on GitHub.

    Raises
    ------
    ForgeError
        If the event's file is not what GitHub writes.
    """
    event = _event(environ)
    server = environ.get("GITHUB_SERVER_URL", "https://github.com")
    repository = environ.get("GITHUB_REPOSITORY", "")
    run = event.get("workflow_run")
    if isinstance(run, dict):
        made = value(run, "id", int)
        return Trigger(
            number=_number(run, event),
            commit=value(run, "head_sha", str),
            stamp=Stamp(made, whole_number(run.get("run_attempt")) or 1),
            report=f"{server}/{repository}/actions/runs/{made}",
            branch=(
                value(run.get("head_repository"), "full_name", str),
                value(run, "head_branch", str),
            ),
            failed=run.get("conclusion") == "failure",
        )
    number = whole_number(environ.get("GITHUB_RUN_ID"))
    attempt = whole_number(environ.get("GITHUB_RUN_ATTEMPT")) or 1
    pull = event.get("pull_request")
    return Trigger(
        number=value(pull, "number", int) if pull else None,
        commit=value(pull.get("head"), "sha", str) if isinstance(pull, dict) else None,
        base=environ.get("GITHUB_BASE_REF") or None,
        stamp=None if number is None else Stamp(number, attempt),
        report=f"{server}/{repository}/actions/runs/{number}" if number and repository else None,
    )


def github(
    environ: Mapping[str, str], event: Trigger, repository: str | None, number: int | None
) -> GitHub | str:
    """Return the comments on a pull request; `repository` and `number` where the user names them.

    Where the run is no open pull request's any more, it is a sentence that says so.

    Raises
    ------
    ForgeError
        If something is not given, or the event is about no pull request, or about several.
    """
    place = needed(repository or environ.get("GITHUB_REPOSITORY"), "--repository OWNER/NAME")
    if not _REPOSITORY.fullmatch(place) or {".", ".."} & set(place.split("/")):
        raise ForgeError(f"--repository: found {place[:120]!r}, expected OWNER/NAME")
    token = needed(environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN"), "GITHUB_TOKEN")
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    client = Client(environ.get("GITHUB_API_URL") or "https://api.github.com", headers, token)
    found = number or _current_number(event, client, place)
    if isinstance(found, str):
        return found
    return GitHub(client, place, found, in_actions=environ.get("GITHUB_ACTIONS") == "true")


def _current_number(event: Trigger, client: Client, repository: str) -> int | str:
    """Return the number of the pull request, or why there is none."""
    if event.branch is None:
        if event.number is None:
            raise ForgeError(f"the event is not about a pull request; {_WAY_OUT}")
        return event.number
    head_repository, branch = event.branch
    pulls = _pulls_with_head(client, repository, head_repository, branch)
    if event.number is not None:
        pulls = [(number, sha) for number, sha in pulls if number == event.number]
    if not pulls:
        return f"no open pull request of {repository} comes from {head_repository}, branch {branch}"
    current = [number for number, sha in pulls if sha == event.commit]
    if not current:
        number, sha = pulls[0]
        return (
            f"pull request {number} is now at {sha[:10]}, but this run was at "
            f"{(event.commit or '')[:10]}: the later run writes the comment"
        )
    if len(current) > 1:
        numbers = " and ".join(map(str, current))
        raise ForgeError(
            f"pull requests {numbers} of {repository} have the same head, and the event does not "
            "say which of them the run belongs to; close all but one"
        )
    return current[0]


class GitHub(Forge):
    """The comments on one pull request.

    Parameters
    ----------
    in_actions : bool
        Whether this is a job of GitHub Actions.
    """

    update_method = "PATCH"
    job_login = "github-actions[bot]"
    needs = (
        "give the job 'permissions: pull-requests: write', and comment on pull requests of forks, "
        "whose jobs never get it, from a workflow_run workflow"
    )

    def __init__(self, client: Client, repository: str, number: int, *, in_actions: bool) -> None:
        self._in_actions = in_actions
        place, issues = f"pull request {number} of {repository}", f"/repos/{repository}/issues"
        super().__init__(client, place, f"{issues}/{number}/comments", f"{issues}/comments")

    def login(self) -> str | None:
        """Ask whose token it is.

        The token of a job is no user's, so it may not ask who it is; GraphQL tells nevertheless.
        Where it does not, a job of Actions is taken to have its own token.
        """
        answer = self.client.send("GET", "/user")
        if answer.status == 200:
            return value(answer.content, "login", str)
        viewer = self._viewer()
        if viewer is None and not self._in_actions:
            raise ForgeError(
                f"{self.client.host} does not say whose token this is; give --login, for an app "
                "its name followed by [bot]"
            )
        return viewer

    def comment(self, content: Any) -> Comment:
        """Read a comment."""
        return Comment(
            id=value(content, "id", int),
            # A deleted account has none.
            login=value(content.get("user") or {"login": "ghost"}, "login", str),
            body=str(content.get("body") or ""),
            url=value(content, "html_url", str),
        )

    def _viewer(self) -> str | None:
        # https://host/api/v3 of GitHub Enterprise has its GraphQL at https://host/api/graphql.
        path = f"{self.client.address.removesuffix('/v3')}/graphql"
        answer = self.client.send("POST", path, {"query": "query { viewer { login } }"})
        try:
            login = answer.content["data"]["viewer"]["login"]
        except (KeyError, TypeError):
            return None
        if not isinstance(login, str) or not login:
            return None
        # Whoever is no user is an app, which REST lists with this ending.
        return f"{login.removesuffix('[bot]')}[bot]"


def _event(environ: Mapping[str, str]) -> dict[str, Any]:
    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ForgeError(f"{path}: the event of GITHUB_EVENT_PATH cannot be read") from error
    if not isinstance(content, dict):
        raise ForgeError(f"{path}: the event of GITHUB_EVENT_PATH is not a JSON object")
    return content


def _number(run: dict[str, Any], event: dict[str, Any]) -> int | None:
    """Return the number of the one pull request of this repository that the run names, if any.

    It names those of forks too whose head is a branch of this repository.
    """
    here = (event.get("repository") or {}).get("id")
    pulls = [
        pull
        for pull in run.get("pull_requests") or []
        if here is None or ((pull.get("base") or {}).get("repo") or {}).get("id") == here
    ]
    return value(pulls[0], "number", int) if len(pulls) == 1 else None


def _pulls_with_head(
    client: Client, repository: str, head_repository: str, branch: str
) -> list[tuple[int, str]]:
    """Look up the open pull requests of a branch, as number and commit.

    For runs of forks, whose event names no pull request.
    """

    def refused(answer: Answer) -> ForgeError:
        return ForgeError(
            f"{client.host} refuses to list the pull requests of {repository}: {answer.status}"
            f"{answer.message}; give the job 'permissions: pull-requests: read' or write"
        )

    head = quote(f"{head_repository.partition('/')[0]}:{branch}", safe="")
    path = f"/repos/{repository}/pulls?state=open&head={head}&per_page=100"
    pulls = []
    for pull in client.items(path, refused):
        where = pull.get("head") or {}
        name = (where.get("repo") or {}).get("full_name")
        if name == head_repository and where.get("ref") == branch:
            pulls.append((value(pull, "number", int), str(where.get("sha"))))
    return pulls


def gitlab_trigger(environ: Mapping[str, str]) -> Trigger:
    """Read what GitLab tells a job; a job that runs again has a greater number."""
    pipeline, job = (whole_number(environ.get(name)) for name in ("CI_PIPELINE_ID", "CI_JOB_ID"))
    return Trigger(
        number=whole_number(environ.get("CI_MERGE_REQUEST_IID")),
        # A pipeline of merged results runs on another commit than the branch's.
        commit=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA"),
        stamp=None if pipeline is None else Stamp(pipeline, job or 0),
        report=environ.get("CI_JOB_URL"),
        base=environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        failed=environ.get("CI_JOB_STATUS") == "failed",
    )


def gitlab(
    environ: Mapping[str, str], event: Trigger, project: str | None, number: int | None
) -> GitLab:
    """Return the notes on a merge request; `project` and `number` where the user names them.

    Raises
    ------
    ForgeError
        If something is not given.
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
