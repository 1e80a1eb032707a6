"""`maxrandom search close`: let the ledger show what searches found that may see no score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import add_command, suites_in
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.notation import count
from pytest_maxrandom.searches.private import private_ledger
from pytest_maxrandom.searches.search import claims_of
from pytest_maxrandom.stats.search import WITHHELD

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "end searches, and add their results to the ledger"
    parser = add_command(commands, "search", run, text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = (
        "add the results of searches with feedback none, accept or improved to the ledger, which "
        "ends them: no search on these examples is told less than everything afterwards"
    )
    closing = add_command(actions, "close", run, text)
    closing.add_argument("paths", nargs="+", type=Path, help="suites, or folders with suites")
    closing.add_argument("--by", metavar="NAME", help="who proposed the prompts (default: anybody)")


def run(options: argparse.Namespace) -> str:
    """Close the searches of suites, and say what is in the ledger now.

    Raises
    ------
    SearchError, LedgerError
        If results cannot be read or written, or others can read what is withheld.
    SuiteError
        With all the mistakes of the suites.
    """
    claims = [claim for _, claim in claims_in(options.paths)]
    # All claims of a task have one ledger file.
    sets = {(each.ledger, each.condition.example_digests): each for each in claims}
    told = [closed for each in sets.values() for closed in _close(each, options.by)]
    by = "" if options.by is None else f" by {options.by}"
    return "\n".join(told) or f"no search{by} is open there, so there is nothing to publish"


def claims_in(paths: Sequence[Path]) -> list[tuple[Path, PlannedClaim]]:
    """Return the claims that prompts can be searched for, each with the file of its suite.

    Suites of a folder that have none are left out.

    Raises
    ------
    SearchError
        If a suite that is named has none, or no suite of a folder has.
    SuiteError
        With all the mistakes of the suites.
    """
    claims, without = [], []
    for path in suites_in(paths):
        try:
            claims += [(path, claim) for claim in claims_of(path)]
        except SearchError as error:
            if path in paths:
                raise
            without.append(error)
    if without and not claims:
        raise without[0]
    return claims


def _close(planned: PlannedClaim, by: str | None) -> Iterator[str]:
    """Close the searches on the validation set of a claim, and yield what became of each.

    Whatever model they are for; if `by` is given, only those whose prompts it proposed.
    """
    ledger, *_ = private_ledger(planned)
    for name, search in ledger.own_searches.items():
        first = next(iter(search.values()))
        if first.feedback not in WITHHELD or (by is not None and first.by != by):
            continue
        before = ledger.unknown(search)
        is_open = name not in ledger.closed
        new = ledger.publish(search, [name])
        if new is None:
            raise SearchError(f"{ledger.path}: cannot be written to ({ledger.why_closed})")
        if not new and not is_open:
            continue
        added = f"{count(new)} result{'s' * (new != 1)}" if new else "its end was"
        sentence = (
            f"{first.by} (feedback {first.feedback}) is closed: {added} added to {ledger.path}; "
            "commit the lines, and let them be reviewed"
        )
        if unknown := before - new:
            sentence += (
                f"; the scores of {count(unknown)} of {count(len(search))} prompts are not on this "
                "machine: run the command where these were tried, too"
            )
        yield sentence
    for path, one in ledger.open_before:
        if by in (None, one.by):
            yield (
                f"{one.by} (feedback {one.feedback}) is open in {path}, whose examples were "
                "changed since: put them back as they were, and run the command again"
            )
