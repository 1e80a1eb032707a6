"""A run of a fork is commented on by another workflow, which trusts the event and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import Remark
from tests.unit.ci.server import BOT, Server
from tests.unit.reports.samples import claim, flag, run

if TYPE_CHECKING:
    from tests.unit.ci.conftest import Job

SHA = "1" * 40


def pull(number: int = 7, repository: str = "fork/models", **changed: Any) -> dict[str, Any]:
    head = {"sha": SHA, "ref": "tune", "repo": {"full_name": repository}} | changed
    return {"number": number, "head": head, "base": {"repo": {"id": 1}}}


def workflow_run(repository: str = "fork/models", **changed: Any) -> dict[str, Any]:
    content = {
        "id": 15,
        "run_attempt": 2,
        "head_sha": SHA,
        "head_branch": "tune",
        "head_repository": {"full_name": repository},
        "pull_requests": [],
    }
    return {"workflow_run": content | changed, "repository": {"id": 1}}


@pytest.fixture
def fork(pull_request: Job, github: Server) -> Job:
    """The workflow_run job after run 15 of a fork's pull request 7."""
    pull_request.event(workflow_run())
    github.pulls = [pull()]
    return pull_request


def test_the_pull_request_is_looked_up_by_the_head(fork: Job, github: Server) -> None:
    github.pulls.append(pull(8, sha="2" * 40))
    assert fork.comment("--untrusted") == 0
    (body,) = github.bodies()
    assert "<!-- maxrandom:run=15 attempt=2 -->" in body
    assert "[Full report](<https://github.test/team/models/actions/runs/15>)" in body
    assert f"`{SHA[:5]}" in body
    assert "computed by the pull request's own code" in body


def test_the_event_names_the_pull_request_of_a_branch(fork: Job, github: Server) -> None:
    elsewhere = pull(3, "team/models") | {"base": {"repo": {"id": 2}}}
    fork.event(workflow_run("team/models", pull_requests=[elsewhere, pull(7, "team/models")]))
    github.pulls = [pull(9, "team/models"), pull(7, "team/models")]
    assert fork.comment("--untrusted") == 0
    assert len(github.bodies()) == 1


def test_a_branch_that_is_named_alike_in_another_fork_is_another_one(
    fork: Job, github: Server
) -> None:
    github.pulls = [pull(repository="fork/other")]
    assert fork.comment("--untrusted") == 0
    assert fork.out == (
        "left alone: no open pull request of team/models comes from fork/models, branch tune\n"
    )
    assert github.comments == []


def test_a_run_whose_pull_request_moved_on_is_left_alone(fork: Job, github: Server) -> None:
    github.pulls = [pull(sha="2" * 40)]
    assert fork.comment("--untrusted") == 0
    assert fork.out == (
        "left alone: pull request 7 is now at 2222222222, but this run was at 1111111111: the "
        "later run writes the comment\n"
    )
    assert github.comments == []


def test_two_pull_requests_of_one_head_are_not_guessed_between(fork: Job, github: Server) -> None:
    github.pulls = [pull(7), pull(8)]
    assert fork.comment("--untrusted") == 2
    assert "pull requests 7 and 8 of team/models have the same head" in fork.err


def test_a_number_from_elsewhere_is_not_taken(fork: Job, github: Server) -> None:
    content = json.loads(fork.results(run(claim())).read_text())
    content |= {"pull_request": 8, "number": 8, "report": "https://evil.test"}
    path = fork.folder / "artifact.json"
    path.write_text(json.dumps(content))
    assert fork.comment("--untrusted", "--pull-request", 8) == 2
    assert "with --untrusted only the event names the pull request" in fork.err
    assert fork.comment("--untrusted", "--base", path) == 0
    assert "evil" not in github.bodies()[0]


def test_a_later_direct_run_is_not_overwritten_by_the_run_of_the_event(
    fork: Job, github: Server
) -> None:
    github.add(BOT, "<!-- maxrandom:gate -->\n<!-- maxrandom:run=16 attempt=1 -->\nlater")
    fork.set(GITHUB_RUN_ID=99)  # of the commenting workflow, which is no measure
    assert fork.comment("--untrusted") == 0
    assert fork.out.startswith("left alone: ")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"ref": "refs/heads/main"}, "the event is not about a pull request; give --pull-request"),
        (["x"], "the event of GITHUB_EVENT_PATH is not a JSON object"),
        ({"pull_request": {"number": "7"}}, "has no number 'number'"),
        ({"pull_request": [7]}, "has no number 'number'"),
        ({"workflow_run": {"id": 1}}, "has no text"),
    ],
)
def test_an_event_without_a_pull_request_is_said(fork: Job, event: Any, said: str) -> None:
    fork.event(event)
    assert fork.comment() == 2
    assert said in fork.err


def test_an_event_that_cannot_be_read_is_said(fork: Job) -> None:
    fork.set(GITHUB_EVENT_PATH=str(fork.folder / "none.json"))
    assert fork.comment() == 2
    assert "none.json: the event of GITHUB_EVENT_PATH cannot be read" in fork.err


def test_sentences_of_an_artifact_are_not_said(fork: Job, github: Server) -> None:
    lie = "Approved by the maintainers"
    told: dict[str, Any] = {"notes": [Remark(text=lie)], "warnings": [Remark(text=lie)]}
    hostile = replace(claim(best=38), message=lie, red_flags=[flag(lie)], xfail=lie, **told)
    record = run(
        hostile,
        claim(asserted={lie: lie}),
        replace(claim(id="a::b"), outcome="error", message=lie),
        broken=[lie],
        versions={lie: lie},
        created=lie,
    )
    assert fork.comment("--untrusted", record=record) == 0
    (body,) = github.bodies()
    assert "Approved" not in body
    assert "**best .633, needs .700**" in body


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n", -1),
        ("t", 10**13),
        ("t", 10**4000),
        ("best_correct", -(10**4000)),
        ("p_max", 7.0),
        ("p_max", 10**400),
        ("best_accuracy", -0.1),
        ("best_score", 1e308),
        ("metric", "a metric that says: approved"),
        ("verdict", "approved"),
    ],
)
def test_numbers_that_no_run_has_are_refused(
    fork: Job, github: Server, key: str, value: Any
) -> None:
    content = json.loads(fork.results(run(claim())).read_text())
    content["claims"][0][key] = value
    path = fork.folder / "artifact.json"
    path.write_text(json.dumps(content))
    assert fork.run("comment", path, "--untrusted") == 2
    assert f"artifact.json: 'claims[0].{key}': found " in fork.err
    assert len(fork.err) < 500
    assert github.comments == []


def test_names_of_any_length_are_shown_shortened(fork: Job, github: Server) -> None:
    paths = [f"{letter}{'/a' * 50_000}::x" for letter in "ab"]
    claims = [claim(id=path, task=path, model="m" * 100_000, best=38) for path in paths]
    assert fork.comment("--untrusted", record=run(*claims)) == 0
    (body,) = github.bodies()
    assert len(body) < 5000
    assert body.count("| ❌&nbsp;fails |") == 2


@pytest.mark.parametrize("kind", ["huge", "link", "folder", "missing", "deep", "digits"])
def test_files_that_no_run_writes_are_refused(fork: Job, github: Server, kind: str) -> None:
    path = fork.folder / "artifact.json"
    match kind:
        case "huge":
            path.write_bytes(b" " * (20 * 2**20 + 1))
        case "link":
            path.symlink_to(fork.results(run(claim()), "real.json"))
        case "folder":
            path.mkdir()
        case "deep":
            path.write_text("[" * 200_000)
        case "digits":
            path.write_text('{"claims": [], "schema_version": ' + "1" * 5000 + "}")
    assert fork.run("comment", path, "--untrusted") == 2
    assert "artifact.json" in fork.err
    assert len(fork.err) < 500
    assert github.requests == []
