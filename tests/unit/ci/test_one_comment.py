"""There is one comment for each key: created once, then updated, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.unit.ci.server import BOT, TOKEN, Reply, Server
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from tests.unit.ci.conftest import Job

MARKER = "<!-- maxrandom:gate -->"


def of_run(number: int, attempt: int = 1) -> str:
    return f"{MARKER}\n<!-- maxrandom:run={number} attempt={attempt} -->\n\nold"


def test_a_comment_is_created_and_then_updated(pull_request: Job, github: Server) -> None:
    assert pull_request.comment() == 0
    (first,) = github.comments
    assert pull_request.out == f"created: {first['html_url']}\n"
    assert first["body"].startswith(
        f"{MARKER}\n<!-- maxrandom:run=20 attempt=1 -->\n\n### ✅ maxrandom · gate: "
    )
    assert "actions/runs/20" in first["body"]
    assert "commit `c0ffeec0ff`" in first["body"]
    pull_request.set(GITHUB_RUN_ID=21)
    assert pull_request.comment(record=run(claim(best=38))) == 0
    assert pull_request.out == f"updated: {first['html_url']}\n"
    assert len(github.comments) == 1
    assert "run=21" in github.comments[0]["body"]
    assert ".633" in github.comments[0]["body"]


def test_the_installed_command_does_the_same(pull_request: Job, github: Server) -> None:
    path = pull_request.results(run(claim()))
    command = [sys.executable, "-m", "pytest_maxrandom.cli", "comment", str(path)]
    github.failures["GET"] = [Reply(429, headers={"Retry-After": "0"})]
    for how in ("created", "unchanged"):
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{how}: {github.comments[0]['html_url']}\n"
    assert len(github.bodies()) == 1


def test_a_comment_on_a_late_page_is_found(pull_request: Job, github: Server) -> None:
    for number in range(7):
        github.add("somebody", f"talk {number}")
    github.add(BOT, of_run(19))
    github.add("somebody", "more talk")
    assert pull_request.comment() == 0
    assert pull_request.out.startswith("updated: ")
    assert len(github.comments) == 9


def test_comments_of_others_with_the_marker_are_left_alone(
    pull_request: Job, github: Server
) -> None:
    theirs = github.add("mallory", of_run(999))
    quoted = github.add(BOT, f"somebody said: {of_run(999)}")
    assert pull_request.comment() == 0
    assert pull_request.out.startswith("created: ")
    assert theirs["body"] == of_run(999)
    assert quoted["body"].endswith(of_run(999))


def test_each_key_has_its_own_comment(pull_request: Job, github: Server) -> None:
    for key in ("nightly", "nightly-2", "gate", "nightly"):
        assert pull_request.comment("--key", key) == 0
    assert [body.splitlines()[0] for body in github.bodies()] == [
        f"<!-- maxrandom:{key} -->" for key in ("nightly", "nightly-2", "gate")
    ]


@pytest.mark.parametrize("reply", [Reply(502, after=True), Reply(0, after=True, drop=True)])
def test_a_creation_that_seemed_to_fail_is_not_repeated(
    pull_request: Job, github: Server, reply: Reply
) -> None:
    github.viewer = None
    github.failures["POST"] = [None, reply]  # the first asks who it is
    assert pull_request.comment() == 0
    assert len(github.bodies()) == 1
    assert pull_request.out.startswith("unchanged: ")
    assert len(github.asked("POST")) == 2


def test_a_creation_that_failed_is_repeated(pull_request: Job, github: Server) -> None:
    github.failures["POST"] = [None, Reply(500), Reply(503, headers={"Retry-After": "9"})]
    assert pull_request.comment() == 0
    assert len(github.bodies()) == 1
    assert pull_request.slept[1:] == [9.0]
    assert 1.0 <= pull_request.slept[0] <= 1.25
    lists = [request for request in github.asked("GET") if "comments" in request.path]
    assert len(lists) == 3  # it looked before each attempt


def test_a_comment_deleted_meanwhile_is_written_again(pull_request: Job, github: Server) -> None:
    github.add(BOT, of_run(19))
    github.failures["PATCH"] = [github.comments.clear]
    assert pull_request.comment() == 0
    assert pull_request.out.startswith("created: ")
    assert len(github.bodies()) == 1


def test_an_edit_in_between_is_overwritten(pull_request: Job, github: Server) -> None:
    comment = github.add(BOT, of_run(19))
    github.failures["PATCH"] = [lambda: comment.update(body=of_run(18) + " and edited")]
    assert pull_request.comment() == 0
    (body,) = github.bodies()
    assert "run=20" in body


@pytest.mark.parametrize("later", [(21, 1), (20, 2)])
def test_an_older_run_does_not_overwrite_a_newer_one(
    pull_request: Job, github: Server, later: tuple[int, int]
) -> None:
    comment = github.add(BOT, of_run(*later))
    assert pull_request.comment() == 0
    assert pull_request.out == (
        f"left alone: {comment['html_url']}\nit shows run {later[0]}, which is newer than this one "
        "(20)\n"
    )
    assert github.bodies() == [of_run(*later)]


def test_two_own_comments_are_told_and_the_first_is_updated(
    pull_request: Job, github: Server
) -> None:
    github.add(BOT, of_run(18))
    second = github.add(BOT, of_run(19))
    assert pull_request.comment() == 0
    assert "2 comments of github-actions[bot] have the key 'gate'" in pull_request.out
    assert second["html_url"] in pull_request.out
    assert "run=20" in github.bodies()[0]
    assert github.bodies()[1] == of_run(19)


@pytest.mark.parametrize(
    ("user", "viewer", "login"),
    [("robin", None, "robin"), (None, "app[bot]", "app[bot]"), (None, "app", "app[bot]")],
)
def test_own_comments_are_those_of_the_tokens_login(
    pull_request: Job, github: Server, user: str | None, viewer: str | None, login: str
) -> None:
    github.user, github.viewer, github.writes_as = user, viewer, login
    github.add(login.removesuffix("[bot]") + "-2", of_run(19))
    github.add(BOT, of_run(19))
    for how in ("created", "updated"):
        assert pull_request.comment("--report-url", f"https://ci.test/{how}") == 0
        assert pull_request.out.startswith(how)
    assert github.bodies(BOT) == [of_run(19)]
    assert len(github.bodies(login)) == 1


def test_a_token_whose_login_is_not_told_is_taken_for_the_jobs_own(
    pull_request: Job, github: Server
) -> None:
    github.viewer = None
    assert pull_request.comment() == 0
    assert pull_request.out.count("\n") == 1
    github.writes_as = "app[bot]"
    assert pull_request.comment("--key", "other") == 0
    assert "give --login 'app[bot]'" in pull_request.out
    assert pull_request.comment("--key", "other") == 2
    assert "app[bot] has a comment with the key 'other', and the forge does not" in pull_request.err
    assert len(github.bodies("app[bot]")) == 1
    assert pull_request.comment("--key", "other", "--login", "app[bot]") == 0
    assert pull_request.out.startswith("unchanged: ")


@pytest.mark.parametrize("graphql", ["nothing", "an error", "no text", "a refusal"])
def test_outside_of_actions_a_login_that_is_not_told_must_be_given(
    pull_request: Job, github: Server, graphql: str
) -> None:
    pull_request.environment.delenv("GITHUB_ACTIONS")
    github.viewer = None
    match graphql:
        case "an error":
            github.graphql_errors = [{"type": "FORBIDDEN", "message": "not accessible"}]
        case "no text":
            github.viewer = 5  # type: ignore[assignment]
        case "a refusal":
            github.failures["POST"] = [Reply(403, {"message": "Forbidden"})]
    assert pull_request.comment() == 2
    assert "does not say whose token this is; give --login, for an app its" in pull_request.err
    assert github.comments == []
    assert pull_request.comment("--login", BOT) == 0
    assert len(github.bodies()) == 1


def test_a_person_cannot_keep_the_comment_of_a_guessed_login_back(
    pull_request: Job, github: Server
) -> None:
    github.viewer = None
    github.add("mallory", of_run(999))
    assert pull_request.comment() == 0
    assert pull_request.out.startswith("created: ")


def test_a_limit_of_graphql_is_waited_for(pull_request: Job, github: Server) -> None:
    limit = [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]
    headers = {"X-RateLimit-Remaining": "0", "Retry-After": "4"}
    github.failures["POST"] = [Reply(200, {"data": None, "errors": limit}, headers)]
    github.viewer = github.writes_as = "app[bot]"
    assert pull_request.comment() == 0
    assert pull_request.slept == [4.0]
    assert len(github.bodies("app[bot]")) == 1


@pytest.mark.parametrize("parameters", ['rel="next"', 'rel="next", <x>; rel="last"'])
def test_the_address_of_a_page_can_hold_the_signs_of_the_header(
    pull_request: Job, github: Server, parameters: str
) -> None:
    github.add("somebody", "talk")
    github.add("somebody", "talk")
    github.add(BOT, of_run(19))
    page = f"{github.url}/repos/team/models/issues/7/comments?page=2&after=a,b;c"
    link = {"Link": f'<x>; rel="prev",<{page}>; {parameters}'}
    github.failures["GET"] = [None, Reply(200, [], link)]
    assert pull_request.comment() == 0
    assert pull_request.out.startswith("updated: ")


def test_github_enterprise_has_its_interface_below_a_path(
    pull_request: Job, github: Server
) -> None:
    github.prefix = "/api/v3"
    pull_request.set(GITHUB_API_URL=f"{github.url}/")
    assert pull_request.comment() == 0
    assert pull_request.comment() == 0
    assert len(github.bodies()) == 1
    assert {request.path.split("/")[1] for request in github.requests} == {"api"}


def test_the_longest_comment_is_taken_by_the_forge(pull_request: Job, github: Server) -> None:
    claims = [claim(id=f"s.yaml::{number}", task="動" * 200) for number in range(600)]
    assert pull_request.comment(record=run(*claims)) == 0
    (body,) = github.bodies()
    assert 60_000 < len(body.encode()) <= 65_536


def test_every_request_carries_what_github_asks_for(pull_request: Job, github: Server) -> None:
    assert pull_request.comment() == 0
    for request in github.requests:
        assert request.headers["Authorization"] == f"Bearer {TOKEN}"
        assert request.headers["Accept"] == "application/vnd.github+json"
        assert request.headers["X-Github-Api-Version"] == "2022-11-28"
        assert request.headers["User-Agent"] == "pytest-maxrandom"
