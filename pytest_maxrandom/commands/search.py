"""`maxrandom search close`: let the ledger show what searches found that may see no score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import suites_in
from pytest_maxrandom.notation import count
from pytest_maxrandom.searches.closing import close
from pytest_maxrandom.searches.search import claims_of

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.searches.closing import Closed


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "end searches, and add their results to the ledger"
    parser = commands.add_parser("search", help=text, description=f"{text[0].upper()}{text[1:]}.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = (
        "add the results of searches with feedback none, accept or improved to the ledger, which "
        "ends them: no search on these examples is told less than everything afterwards"
    )
    closing = actions.add_parser("close", help=text, description=f"{text[0].upper()}{text[1:]}.")
    closing.add_argument("paths", nargs="+", type=Path, help="suites, or folders with suites")
    closing.add_argument("--by", metavar="NAME", help="who proposed the prompts (default: anybody)")
    closing.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Close the searches of suites, and say what is in the ledger now.

    Raises
    ------
    SearchError, LedgerError
        If results cannot be read or written.
    SuiteError
        With all the mistakes of the suites.
    """
    claims = [claim for path in suites_in(options.paths) for claim in claims_of(path)]
    # All claims of a task have one ledger file.
    sets = {(each.ledger, each.condition.example_digests): each for each in claims}
    told = [_closed_search(closed) for each in sets.values() for closed in close(each, options.by)]
    return "\n".join(told) or "no search is open there, so there is nothing to publish"


def _closed_search(closed: Closed) -> str:
    results = f"{count(closed.results)} result{'s' * (closed.results != 1)}"
    said = (
        f"{closed.by} (feedback {closed.feedback}) is closed: {results} added to {closed.ledger}; "
        "commit the lines, and let them be reviewed"
    )
    if closed.unknown:
        of = f"{count(closed.unknown)} of {count(closed.prompts)} prompts"
        said += (
            f"; the scores of {of} are not on this machine: run the command where these were "
            "tried, too"
        )
    return said
