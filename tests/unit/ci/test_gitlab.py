"""On GitLab the same holds for the notes on a merge request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.unit.ci.server import TOKEN, Reply, Request, Server, serving
from tests.unit.reports.samples import claim, flag, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.ci.conftest import Job

NOTES = "/api/v4/projects/42/merge_requests/7/notes"


class GitLabServer(Server):
    def do(self, request: Request) -> Reply:
        if request.headers.get("Private-Token") != TOKEN:
            return Reply(401, {"message": "401 Unauthorized"})
        split = urlsplit(request.path)
        if split.path == "/api/v4/user":
            return Reply(200, {"username": "gate-bot"})
        if request.method == "GET" and split.path == NOTES:
            query = dict(pair.split("=") for pair in split.query.split("&"))
            return self.page(split.path, int(query.get("page", 1)))
        if request.method == "POST" and split.path == NOTES:
            return Reply(201, self.add("gate-bot", request.body["body"]))
        if request.method == "PUT":
            found = [c for c in self.comments if f"{NOTES}/{c['id']}" == split.path]
            if found:
                found[0]["body"] = request.body["body"]
                return Reply(200, found[0])
        return Reply(404, {"message": "404 Not found"})

    def add(self, login: str, body: str) -> dict[str, Any]:
        made = {"id": len(self.comments) + 1, "author": {"username": login}, "body": body}
        self.comments.append(made)
        return made


@pytest.fixture
def gitlab() -> Iterator[GitLabServer]:
    server = GitLabServer()
    with serving(server):
        yield server


@pytest.fixture
def merge_request(job: Job, gitlab: GitLabServer) -> Job:
    job.set(
        GITLAB_CI="true",
        GITLAB_TOKEN=TOKEN,
        CI_API_V4_URL=f"{gitlab.url}/api/v4",
        CI_PROJECT_ID=42,
        CI_PROJECT_URL="https://gitlab.test/team/models",
        CI_MERGE_REQUEST_IID=7,
        CI_PIPELINE_ID=20,
        CI_JOB_ID=300,
        CI_JOB_URL="https://gitlab.test/team/models/-/jobs/300",
        CI_COMMIT_SHA="c" * 40,
    )
    return job


@pytest.mark.parametrize("report", [True, False])
def test_a_job_that_failed_for_another_reason_says_so(
    merge_request: Job, gitlab: GitLabServer, report: bool
) -> None:
    merge_request.set(CI_JOB_STATUS="failed")
    results = [merge_request.results(run(claim()))] if report else []
    assert merge_request.run("comment", *results) == 0
    (body,) = (comment["body"] for comment in gitlab.comments)
    why = "though none of its tests did" if report else "and wrote no report"
    assert why in body.split("###")[1]


def test_a_note_is_created_and_then_updated(merge_request: Job, gitlab: GitLabServer) -> None:
    for number in range(5):
        gitlab.add("somebody", f"<!-- maxrandom:gate -->\ntalk {number}")
    assert merge_request.comment() == 0
    assert merge_request.out == (
        "created: https://gitlab.test/team/models/-/merge_requests/7#note_6\n"
    )
    merge_request.set(CI_JOB_ID=301)
    assert merge_request.comment(record=run(claim(best=38))) == 0
    assert merge_request.out.startswith("updated: ")
    assert len(gitlab.comments) == 6
    body = gitlab.comments[-1]["body"]
    assert "run=20 attempt=301" in body
    assert "[Full report](<https://gitlab.test/team/models/-/jobs/300>)" in body


def test_an_older_pipeline_leaves_the_note_alone(merge_request: Job, gitlab: GitLabServer) -> None:
    assert merge_request.comment() == 0
    merge_request.set(CI_PIPELINE_ID=19)
    assert merge_request.comment() == 0
    assert merge_request.out.startswith("left alone: ")


def test_a_creation_that_seemed_to_fail_is_not_repeated(
    merge_request: Job, gitlab: GitLabServer
) -> None:
    gitlab.failures["POST"] = [Reply(500, after=True)]
    assert merge_request.comment() == 0
    assert len(gitlab.comments) == 1


def test_a_note_deleted_meanwhile_is_written_again(
    merge_request: Job, gitlab: GitLabServer
) -> None:
    gitlab.add("gate-bot", "<!-- maxrandom:gate -->\nold")
    gitlab.failures["PUT"] = [gitlab.comments.clear]
    assert merge_request.comment() == 0
    assert len(gitlab.comments) == 1
    assert gitlab.asked("POST")


@pytest.mark.parametrize(
    ("method", "status", "said"),
    [
        ("POST", 403, "GITLAB_TOKEN needs the scope 'api' and the role Reporter or higher"),
        ("POST", 404, "there is none, or the token may not see it"),
        ("POST", 400, "refuses to write notes on merge request 7 of 42: 400 (no)"),
        ("GET", 403, "refuses to say whose token it is"),
        ("GET", 401, "does not know the token (no)"),
    ],
)
def test_refusals_are_said_with_the_way_out(
    merge_request: Job, gitlab: GitLabServer, method: str, status: int, said: str
) -> None:
    gitlab.failures[method] = [Reply(status, {"message": "no"})]
    assert merge_request.comment() == 2
    assert said in merge_request.err


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("GITLAB_TOKEN", "GITLAB_TOKEN is needed here"),
        ("CI_MERGE_REQUEST_IID", "--pull-request N is needed here"),
        ("CI_PROJECT_ID", "--repository GROUP/NAME is needed here"),
    ],
)
def test_what_is_missing_is_named(merge_request: Job, variable: str, said: str) -> None:
    merge_request.environment.delenv(variable)
    assert merge_request.comment() == 2
    assert said in merge_request.err


def test_no_line_of_a_note_is_a_command_to_gitlab(merge_request: Job, gitlab: GitLabServer) -> None:
    record = run(
        claim(best=38, task="x\n/approve", message="\n/merge", red_flags=[flag("/close")]),
        broken=["/label ~done\n/merge"],
    )
    assert merge_request.comment(record=record) == 0
    assert not [line for line in gitlab.comments[0]["body"].splitlines() if line[:1] == "/"]
