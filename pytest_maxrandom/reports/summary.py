"""A run in words: what became of its claims, and which of them a reader has to look at."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.record import ClaimRecord, Outcome, RunRecord

REPORTED = "reported"
"""What became of a claim that asserts nothing and has its numbers."""
SYMBOLS: dict[str | None, str] = {
    "passed": "✅",
    REPORTED: "📋",
    "failed": "❌",
    "xfailed": "☑️",
    "xpassed": "❌",
    "skipped": "⏭️",
    "error": "⚠️",
    None: "⚠️",
}
WORDS: dict[str | None, str] = {
    "passed": "passed",
    REPORTED: "reported",
    "failed": "failed",
    "xfailed": "expected failure",
    "xpassed": "unexpected pass",
    "skipped": "skipped",
    "error": "error",
    None: "no result",
}
_BECAME: dict[str | None, tuple[str, str]] = {
    "failed": ("fails", "fail"),
    "xpassed": ("holds unexpectedly", "hold unexpectedly"),
    "xfailed": ("fails as expected", "fail as expected"),
    "error": ("could not be tested", "could not be tested"),
    "skipped": ("was skipped", "were skipped"),
    None: ("has no result", "have no result"),
}


def label(claim: ClaimRecord) -> str:
    """Name a claim without its file: ``task[model-quantization-kshot]``."""
    return claim.id.partition("::")[2] or claim.id


def files(run: RunRecord) -> dict[str, str]:
    """Tell claims of the same name apart by their files.

    Returns
    -------
    dict of str to str
        By the claim's id: the shortest end of its file's path that no other file of a claim of
        the same name ends with; empty where the name is enough.
    """
    alike: dict[str, dict[str, list[str]]] = {}
    for claim in run.claims:
        path = claim.id.partition("::")[0]
        alike.setdefault(label(claim), {}).setdefault(path, []).append(claim.id)
    return {
        name: end
        for paths in alike.values()
        for end, names in zip(_ends(list(paths)), paths.values(), strict=True)
        for name in names
    }


def names(run: RunRecord) -> dict[str, str]:
    """Name each claim, by its id, as shortly as tells it from all others of the run."""
    known_files = files(run)
    return {
        claim.id: f"{file}::{label(claim)}" if (file := known_files[claim.id]) else label(claim)
        for claim in run.claims
    }


def model_name(claim: ClaimRecord) -> str:
    """Name the model with its quantization, if any: ``OLMo-7B (nf4)``; empty if not stated."""
    stated = claim.model and claim.quantization not in ("", "none")
    return f"{claim.model} ({claim.quantization})" if stated else claim.model


def shots(claim: ClaimRecord) -> str:
    """Write the number of demonstrations; empty if a hand-written claim does not state it."""
    return "" if claim.backend == "numbers" and not claim.shots else str(claim.shots)


def became(claim: ClaimRecord) -> Outcome | str | None:
    """Return what became of a claim, the key of its sign and word: its outcome, or reported."""
    return REPORTED if claim.outcome == "passed" and not claim.asserted else claim.outcome


def tally(run: RunRecord) -> str:
    """Count the claims by what became of them.

    Returns
    -------
    str
        Such as ``2 of 5 claims hold, 1 fails, 1 fails as expected, 1 was not run``.
    """
    outcomes = Counter(map(became, run.claims))
    reported = outcomes[REPORTED]
    total = len(run.claims) + run.not_run - reported
    if reported and not total:
        return f"{_results(reported)} reported, nothing claimed"
    held = outcomes["passed"]
    verb = "holds" if held == 1 else "hold"
    parts = [f"{held} of {total} {'claim' if total == 1 else 'claims'} {verb}"]
    for outcome, (one, more) in _BECAME.items():
        if number := outcomes[outcome]:
            parts.append(f"{number} {one if number == 1 else more}")
    if run.not_run:
        parts.append(f"{run.not_run} {'was' if run.not_run == 1 else 'were'} not run")
    if reported:
        parts.append(f"{_results(reported)} reported")
    return ", ".join(parts)


def unread(run: RunRecord) -> str:
    """Say that suites could not be read, or nothing if all could."""
    mistakes = len(run.broken)
    if mistakes > 1:
        return f"some suites could not be read ({mistakes} mistakes)"
    return "1 suite could not be read" if mistakes else ""


def symbol(run: RunRecord) -> str:
    """Mark a run as good if every claim is, and as bad if one fails or a claim is missing.

    Where nothing is claimed the run is merely reported.
    """
    good = ("passed", "xfailed", "skipped")
    complete = not (run.interrupted or run.not_run or run.broken)
    fine = complete and all(claim.outcome in good for claim in run.claims)
    if fine and run.claims and all(became(claim) == REPORTED for claim in run.claims):
        return SYMBOLS[REPORTED]
    return SYMBOLS["passed"] if fine else SYMBOLS["failed"]


def open_questions(run: RunRecord) -> list[ClaimRecord]:
    """List the claims to look at: all but passes and expected failures without a red flag.

    Those that did not end as they should stand before those with a red flag.
    """
    settled = ("passed", "xfailed")
    open_ones = [claim for claim in run.claims if claim.outcome not in settled or claim.red_flags]
    return sorted(open_ones, key=lambda claim: claim.outcome in settled)


def known(values: Iterable[int | None]) -> list[int]:
    """Leave out what was not computed."""
    return [value for value in values if value is not None]


def _results(number: int) -> str:
    return f"{number} {'result' if number == 1 else 'results'}"


def _ends(paths: list[str]) -> list[str]:
    """Return the shortest ends of different paths, of equally many parts, that are different."""
    if len(paths) == 1:
        return [""]
    parts = [path.split("/") for path in paths]
    for length in range(1, max(map(len, parts))):
        ends = ["/".join(of_path[-length:]) for of_path in parts]
        if len(set(ends)) == len(ends):
            return ends
    return paths
