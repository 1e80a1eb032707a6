"""`maxrandom comment`: write a run's results as one comment on a pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.comments import check_key, head, publish
from pytest_maxrandom.ci.forges import github, github_trigger, gitlab, gitlab_trigger
from pytest_maxrandom.commands import add_command
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.comment import LIMIT, comment
from pytest_maxrandom.reports.results import load, load_untrusted
from pytest_maxrandom.reports.summary import overall
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.record import RunRecord

_DESCRIPTION = """\
Write a JSON report as a comment on a GitHub pull request or a GitLab merge request: one comment for
each key, created once and then updated. The token comes from the environment: GITHUB_TOKEN or
GH_TOKEN, or GITLAB_TOKEN. Options that are not given come from the job's environment:
GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH and GITHUB_RUN_ID, or CI_API_V4_URL,
CI_PROJECT_ID, CI_MERGE_REQUEST_IID and CI_PIPELINE_ID. If the forge says that the run failed and
the results do not, the comment says so."""
_EPILOG = """\
The exit code is 0 if the comment was written, or was left alone on purpose (it shows a later run,
or the pull request has moved on or is closed); it is 2 if an argument or a file is wrong, or the
forge refuses or cannot be reached."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "write a run's results as one comment on a pull request"
    parser = add_command(commands, "comment", run, text, _DESCRIPTION, _EPILOG)
    add = parser.add_argument
    add(
        "results",
        type=Path,
        nargs="?",
        help=(
            "file written by pytest --maxrandom-json; may be left out if the run failed and wrote "
            "none"
        ),
    )
    add(
        "--outcome",
        default="",
        metavar="TEXT",
        help="why the run does not pass, if the results do not say so; the comment begins with it",
    )
    add(
        "--failed",
        action="store_true",
        help="the run failed, whatever the results say; the comment says so if they do not",
    )
    add(
        "--base",
        type=Path,
        help="JSON report of the base branch; the comment then says what changed",
    )
    add("--key", default="gate", help="name that tells several comments apart (default: gate)")
    add(
        "--pull-request",
        type=int,
        metavar="N",
        help="number of the pull request (default: from the event)",
    )
    add("--repository", metavar="OWNER/NAME", help="default: from the job's environment")
    add(
        "--report-url",
        metavar="URL",
        help="page of the run that keeps the report (default: the job's)",
    )
    add(
        "--page-url",
        metavar="URL",
        help="address of the page of --maxrandom-html, such as an artifact; the comment's full "
        "report links to it (default: to the run)",
    )
    add("--login", help="login of the token's owner, if the forge does not say it")
    add("--forge", choices=("github", "gitlab"), help="default: from the job's environment")
    add(
        "--untrusted",
        action="store_true",
        help="the results may come from anybody, such as a fork's pull request: take only numbers "
        "and names from them, and the pull request only from the event",
    )
    add("--templates", type=Path, help="folder with templates that override blocks")
    add("--out", type=Path, metavar="FILE", help="also write the comment to this file")
    add(
        "--dry-run",
        action="store_true",
        help="do not contact the forge; print the comment, or write it to --out",
    )


def run(options: argparse.Namespace) -> str:
    """Write the comment, and say what became of it.

    Raises
    ------
    ReportError
        If a file or a template is wrong.
    ForgeError
        If the forge refuses or cannot be reached.
    ValueError
        If arguments contradict each other, or there is nothing to say.
    """
    _check(options)
    on_gitlab = (options.forge == "gitlab") if options.forge else bool(os.environ.get("GITLAB_CI"))
    trigger = (gitlab_trigger if on_gitlab else github_trigger)(os.environ)
    above = head(check_key(options.key), trigger.stamp)
    read = load_untrusted if options.untrusted else load
    results = read(options.results) if options.results else None
    text = above + comment(
        results,
        _base(options.base),
        key=options.key,
        outcome=options.outcome or _unsaid(results, failed=trigger.failed or options.failed),
        report=options.report_url or trigger.report,
        page=options.page_url,
        branch=trigger.base,
        commit=trigger.commit,
        untrusted=options.untrusted,
        limit=LIMIT - len(above),
        templates=options.templates,
    )
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    if options.dry_run:
        return text.rstrip("\n") if options.out is None else f"written to {options.out}"
    find = gitlab if on_gitlab else github
    forge = find(os.environ, trigger, options.repository, options.pull_request)
    if isinstance(forge, str):
        return f"left alone: {forge}"
    return "\n".join(map(visible, publish(forge, options.key, text, options.login)))


def _check(options: argparse.Namespace) -> None:
    if options.pull_request is not None and options.pull_request < 1:
        raise ValueError(f"--pull-request: found {options.pull_request}, expected 1 or more")
    for name, why in (
        ("pull-request", "only the event names the pull request"),
        ("templates", "only this package's templates are used"),
    ):
        if options.untrusted and getattr(options, name.replace("-", "_")) is not None:
            raise ValueError(f"--{name}: with --untrusted {why}; remove one of the two")


def _unsaid(results: RunRecord | None, *, failed: bool) -> str:
    """Say that a run has failed, if the forge or the user says so and the results do not."""
    if results is None and not failed:
        raise ValueError("found neither results nor --outcome, expected at least one of them")
    if results is None:
        return "The run failed and wrote no report; its log says why"
    if failed and overall(results) != "failed":
        return "The run failed, though none of its tests did; its log says why"
    return ""


def _base(path: Path | None) -> RunRecord | str | None:
    """Read what to compare with; or say why that cannot be done, which is no reason to fail."""
    if path is None:
        return None
    try:
        return load(path)
    except ReportError as error:
        return str(error)
