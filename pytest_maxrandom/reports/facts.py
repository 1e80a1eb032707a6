"""What is known of a claim, as a list of titles and phrases of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.reports import label_bias, origins, phrases
from pytest_maxrandom.reports.agreement import published
from pytest_maxrandom.reports.red_flags import set_by_suite

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord


def facts(claim: ClaimRecord, run: RunRecord) -> list[tuple[str, str]]:
    """List what was recorded of a claim, the most important first; nothing is empty."""
    known = [
        ("Expected to fail", claim.xfail or ""),
        ("Result", claim.message or ""),
        ("Claimed", phrases.claimed(claim)),
        ("Needed", phrases.needed(claim)),
        ("Red flags, by the suite", set_by_suite(claim)),
        ("Metric", phrases.scored(claim)),
        ("Probability that guessers do as well", phrases.guessing(claim)),
        ("On new questions", phrases.new_questions(claim)),
        ("Adjusted for the number of claims", phrases.adjusted(claim, run)),
        ("Always the same answer", phrases.majority(claim)),
        ("Without the question", phrases.shortcuts(claim)),
        ("Label bias", label_bias.of_claim(claim, run)),
        (f"n = {count(claim.n)}", origins.counted_n(claim)),
        ("Clusters", origins.clusters(claim)),
        (f"t = {count(claim.t)}", origins.counted_t(claim)),
        ("Looks", origins.looks(claim)),
        ("Test set", origins.held_out(claim)),
        ("Chance of a right guess", origins.chance(claim)),
        ("As published", published(claim)),
        ("All prompts", origins.spread(claim)),
        ("Ties", origins.ties(claim)),
        ("Precision", origins.precision(claim)),
        ("Computed", origins.computed(claim)),
        ("Cost", origins.cost(claim)),
    ]
    return [(title, phrase) for title, phrase in known if phrase]
