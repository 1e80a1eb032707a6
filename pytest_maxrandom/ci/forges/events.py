"""Which pull request a job is about, from what the forge tells it.

An event is written by GitHub. What a pull request's own code wrote, such as an artifact, is never
asked: it could name another one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.ci.forges.github import pull_request_with_head
from pytest_maxrandom.ci.forges.markers import Stamp
from pytest_maxrandom.ci.forges.values import integer, text
from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.ci.forges.http import Client

_WAY_OUT = "give --pull-request, or run this on 'pull_request' or 'workflow_run'"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What the event says of the run whose numbers are shown."""

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
    failed: bool = False
    """Whether the forge says that the run, or the job, has failed."""


def gitlab_trigger(environ: Mapping[str, str]) -> Trigger:
    """Read what GitLab tells a job; a job that runs again has a greater number."""
    pipeline, job = (_digits(environ.get(name)) for name in ("CI_PIPELINE_ID", "CI_JOB_ID"))
    return Trigger(
        number=_digits(environ.get("CI_MERGE_REQUEST_IID")),
        # A pipeline of merged results runs on another commit than the branch's.
        commit=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA"),
        stamp=None if pipeline is None else Stamp(pipeline, job or 0),
        report=environ.get("CI_JOB_URL"),
        failed=environ.get("CI_JOB_STATUS") == "failed",
    )


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
        made = integer(run, "id")
        return Trigger(
            number=_number(run, event),
            commit=text(run, "head_sha"),
            stamp=Stamp(made, _digits(run.get("run_attempt")) or 1),
            report=f"{server}/{repository}/actions/runs/{made}",
            branch=_head(run),
            failed=run.get("conclusion") == "failure",
        )
    number = _digits(environ.get("GITHUB_RUN_ID"))
    attempt = _digits(environ.get("GITHUB_RUN_ATTEMPT")) or 1
    pull = event.get("pull_request")
    return Trigger(
        number=integer(pull, "number") if pull else None,
        commit=text(pull.get("head"), "sha") if isinstance(pull, dict) else None,
        stamp=None if number is None else Stamp(number, attempt),
        report=f"{server}/{repository}/actions/runs/{number}" if number and repository else None,
    )


def current_number(trigger: Trigger, client: Client, repository: str) -> int | str:
    """Find the number of the pull request.

    Returns
    -------
    int or str
        The number; or, where the run is no open pull request's any more, a sentence that says so.

    Raises
    ------
    ForgeError
        If the event is about no pull request, or about several.
    """
    if trigger.branch is None:
        if trigger.number is None:
            raise ForgeError(f"the event is about no pull request; {_WAY_OUT}")
        return trigger.number
    head_repository, branch = trigger.branch
    pulls = pull_request_with_head(client, repository, head_repository, branch)
    if trigger.number is not None:
        pulls = [(number, sha) for number, sha in pulls if number == trigger.number]
    if not pulls:
        return f"no open pull request of {repository} comes from {head_repository}, branch {branch}"
    current = [number for number, sha in pulls if sha == trigger.commit]
    if not current:
        number, sha = pulls[0]
        return (
            f"pull request {number} is at {sha[:10]} by now, and this run was of "
            f"{(trigger.commit or '')[:10]}: the comment is left to the later run"
        )
    if len(current) > 1:
        numbers = " and ".join(map(str, current))
        raise ForgeError(
            f"pull requests {numbers} of {repository} have the same head, and the event does not "
            "tell which of them the run was of; close all but one"
        )
    return current[0]


def _event(environ: Mapping[str, str]) -> dict[str, Any]:
    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ForgeError(f"{path}: the event of GITHUB_EVENT_PATH cannot be read") from error
    if not isinstance(content, dict):
        raise ForgeError(f"{path}: the event of GITHUB_EVENT_PATH is no JSON object")
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
    return integer(pulls[0], "number") if len(pulls) == 1 else None


def _head(run: dict[str, Any]) -> tuple[str, str]:
    return text(run.get("head_repository"), "full_name"), text(run, "head_branch")


def _digits(value: object) -> int | None:
    shown = str(value)
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) <= 18 else None
