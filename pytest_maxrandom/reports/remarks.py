"""Remarks in words: what a reader must know about a record besides its numbers."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import count, span
from pytest_maxrandom.reports.remark_sentences import SENTENCES
from pytest_maxrandom.reports.searches import rule, sources
from pytest_maxrandom.reports.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_maxrandom.record import Remark


class Writer(Formatter):
    """Fills the fields of sentences, where a colon stands before how a value is written.

    A slash there stands between what is said of one, or of what is so, and of anything else; else
    it is one of `kinds`, or a format of Python's.
    """

    def __init__(self, **kinds: Callable[[Any], str]) -> None:
        self.kinds = kinds

    def fill(self, template: str, values: Mapping[str, Any], known: str) -> str:
        """Fill a template; where it has other values, the sentence that is known stays."""
        try:
            return self.vformat(template, (), values)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            if not known:
                raise
            return known

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value."""
        one, slash, other = format_spec.partition("/")
        if slash:
            return one if value == 1 else other
        known = self.kinds.get(format_spec)
        return str(super().format_field(value, format_spec)) if known is None else known(value)


_UNANSWERABLE = {
    "no_right_choice": "without a right choice",
    "all_right": "with right choices alone",
    "fewer_choices": "with fewer than two choices",
    "equal_choices": "with two choices of one text",
    "empty_choice": "with an empty choice",
}


def _offer(of: Mapping[str, int]) -> str:
    variants = f"{of['variants']} variants of instruction and format" if of["variants"] > 1 else ""
    if not of["shots"]:
        return variants or "a prompt without demonstrations and without variants can"
    drawn = f"draws of {of['shots']} from a pool of {of['pool']} examples"
    return f"{drawn} in {variants}" if variants else drawn


UNDECIDED = {
    "no_budget": "t is not declared (`prompts: {budget: N}`)",
    "metric": "the metric is not accuracy",
    "all_answers": "the claim, or a check that goes with it, depends on all answers",
    "red_flags": "the claim is expected to fail, but red flags may fail it in another way "
    "(`assert: {red_flags: warn}` makes them warn)",
    "unpassable": "no result can pass the claim",
    "search": "a search has tried prompts on these examples",
}
"""Why all answers of a claim are computed."""

_WRITER = Writer(
    undecided=UNDECIDED.__getitem__,
    of_searches=sources,
    of_rule=rule,
    span=span,
    offer=_offer,
    clauses="; ".join,
    drawn=lambda shots: "demonstrations" if shots else "instructions and formats",
    capital=str.capitalize,
    clause=lambda text: text[:1].lower() + text[1:].removesuffix("."),
    names=", ".join,
    of_each=lambda units: listed([f"of the {unit}" for unit in units]),
    unanswerable=lambda counts: ", ".join(f"{counts[why]} {_UNANSWERABLE[why]}" for why in counts),
    of_choices=lambda sizes: ", ".join(f"{sizes[m]} with {m} choices" for m in sizes),
    of_claims=lambda prompts: "; ".join(
        f"{count(number)} prompt{'s' * (number != 1)} of {claim}"
        for claim, number in sorted(prompts.items())
    ),
)


def worded(remark: Remark) -> Remark:
    """Word it anew; of a kind that is not known here, or other values, the sentence stays."""
    if remark.text and remark.kind not in SENTENCES:
        return remark
    text = _WRITER.fill(SENTENCES[remark.kind], remark.values, remark.text)
    return replace(remark, text=text)
