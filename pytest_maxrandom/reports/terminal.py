"""The summary at the end of a run in a terminal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import where_keys_are
from pytest_maxrandom.notation import NONE, count
from pytest_maxrandom.record import LISTS, OUTCOMES, SETTLED, ClaimRecord, RunRecord
from pytest_maxrandom.reports import red_flags
from pytest_maxrandom.reports.design_sections import design_tables
from pytest_maxrandom.reports.designs import without_boost
from pytest_maxrandom.reports.headlines import by_luck
from pytest_maxrandom.reports.layout import Line, Markup, table_lines, wrapped
from pytest_maxrandom.reports.phrases import decisive_name, decisive_p
from pytest_maxrandom.reports.sections import claims_table, guessers_of_constants
from pytest_maxrandom.reports.summary import (
    asserts,
    became,
    leaking,
    missing,
    names,
    overall,
    records,
    simulated,
    tally,
    unread,
    unverified,
    with_rows,
)
from pytest_maxrandom.reports.text import clauses, number_of, some_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST_FLAGS = 20
_MOST_SETTLED = 20
"""Claims with rows that ended as they should; pytest has a dot for each."""
_INDENT = "    "


def summary(run: RunRecord, width: int = 80, verbosity: int = 0) -> list[Line]:
    """Sum up a run: its verdict, then tables with what fails on top, then red flags.

    No line is longer than `width` columns. The verbosity is pytest's: below 0 nothing explains the
    numbers, below -1 there is the verdict alone; from 1 on there are all rows, and red flags in
    full.
    """
    lines = list(_verdict(run, width))
    if verbosity >= -1:
        luck = by_luck(run) if verbosity >= 0 else ""
        for said in filter(None, [luck, simulated(run), unverified(run)]):
            lines += wrapped(said, width)
        lines += _tables(run, width, verbosity)
        lines += _red_flags(run, width, is_whole=verbosity > 0)
        for text in dict.fromkeys(told.text for each in records(run) for told in each.warnings):
            lines += wrapped(visible(text), width, indent=_INDENT, markup=("yellow",))
    return lines


def _verdict(run: RunRecord, width: int) -> Iterator[Line]:
    if records(run):
        ended = overall(run)
        word, colour = ended.upper(), OUTCOMES[ended].colour
        markup: tuple[Markup, ...] = (colour, "bold") if colour else ("bold",)
        told = clauses(f"{word}: {tally(run)}", *_flagged(run))
        yield from wrapped(told, width, indent=_INDENT, markup=markup, lead=len(word) + 1)
    if told := missing(run):
        ended = "interrupted" if run.interrupted else "ended early"
        said = f"{ended}: {told.replace(' ', ' selected ', 1)}"
        yield from wrapped(said, width, markup=("red",))
    if told := leaking(run):
        yield from wrapped(told, width, indent=_INDENT, markup=("red",))
    if run.broken:
        yield from wrapped(unread(run), width, markup=("red",))
        yield from (Line(line) for line in where_keys_are(run.broken))


def _tables(run: RunRecord, width: int, verbosity: int) -> Iterator[Line]:
    """Show what was tested, what fails first."""
    order = [*OUTCOMES]
    ordered: dict[str, Any] = {
        name: sorted(getattr(run, name), key=lambda record: order.index(became(record)))
        for name in LISTS
    }
    run = replace(run, **ordered)
    with_numbers = with_rows(run.claims)
    shown = list(with_numbers)
    if verbosity < 1:
        settled = [claim for claim in shown if became(claim) in SETTLED]
        hidden = {claim.id for claim in settled[_MOST_SETTLED:]}
        shown = [claim for claim in shown if claim.id not in hidden]
    yield from table_lines(claims_table(run, shown), width)
    if left_out := len(with_numbers) - len(shown):
        text = f"{count(left_out)} more claims pass, or fail as expected (-v shows them)"
        yield from wrapped(text, width)
    for table in design_tables(run):
        yield from table_lines(table, width)
    if verbosity >= 0 and (sentence := without_boost(run)):
        yield from wrapped(sentence, width)
    if verbosity >= 0 and (deciding := Counter(filter(None, map(decisive_name, shown)))):
        sentence = ", ".join(
            f"{name} of {number_of(number, 'claim')}" for name, number in deciding.items()
        )
        with_p = sum(decisive_p(claim) != NONE for claim in shown)
        rest = ", p_max of the others" if deciding.total() < with_p else ""
        yield from wrapped(f"p is the p-value that decides: {sentence}{rest}", width)
    if verbosity >= 0 and (sentence := guessers_of_constants(shown)):
        yield from wrapped(sentence, width)
    if skipped := len(run.claims) - len(with_numbers):
        yield from wrapped(f"{count(skipped)} claims were skipped", width)


def _flagged(run: RunRecord) -> Iterator[str]:
    """Say how many claims have red flags although they pass, or are reported."""
    kinds = Counter(map(_ended, (claim for claim in run.claims if claim.red_flags)))
    for kind, one in (("that pass", "that passes"), ("that are reported", "that is reported")):
        if number := kinds[kind]:
            yield f"{count(number)} {f'{one} has' if number == 1 else f'{kind} have'} red flags"


def _ended(claim: ClaimRecord) -> str:
    """Say of which claims it is one; nothing passes that is only reported."""
    if claim.outcome != "passed":
        return "that do not pass"
    return "that pass" if asserts(claim) else "that are reported"


def _red_flags(run: RunRecord, width: int, *, is_whole: bool) -> Iterator[Line]:
    """Tell red flags once for each kind of claim, and say where none were looked for.

    pytest has told those that are why a claim fails.
    """
    named = {name: visible(shown) for name, shown in names(run).items()}
    for heading in ("that pass", "that are reported", "that do not pass"):
        claims = [claim for claim in run.claims if _ended(claim) == heading]
        found = list(_flags_of(claims, named, is_whole))
        if found:
            yield Line(f"Red flags of claims {heading}:", ("bold",))
        for markup, lead, text in found[:_MOST_FLAGS]:
            yield from wrapped(f"  {text}", width, indent=_INDENT, markup=markup, lead=lead + 2)
        if left_out := len(found[_MOST_FLAGS:]):
            yield from wrapped(f"  {count(left_out)} more are in the reports", width)
    tried = (claim for claim in run.claims if claim.outcome != "skipped")
    if unseen := [
        named[claim.id] for claim in tried if red_flags.severity_of_all(claim) == "ignore"
    ]:
        some = some_of(unseen, red_flags.MOST_NAMES)
        text = f"All red flags are ignored, by the suite: {some}"
        yield from wrapped(text, width, indent=_INDENT)


def _flags_of(
    claims: Sequence[ClaimRecord], named: Mapping[str, str], is_whole: bool
) -> Iterator[tuple[tuple[Markup, ...], int, str]]:
    """Yield red flags with their markup, and how much of the text is marked."""
    about: dict[tuple[str, str, str], dict[str, None]] = {}
    for told in red_flags.raised(claims, red_flags.not_in_finding):
        flag = told.flag
        what = visible(flag.text) if is_whole else red_flags.remedy(flag)
        ids = about.setdefault((flag.kind, red_flags.DOES[flag.severity], what), {})
        ids.update(dict.fromkeys(told.ids))
    for (kind, does, what), ids in about.items():
        markup: tuple[Markup, ...] = ("red",) if does == red_flags.DOES["fail"] else ("yellow",)
        where = some_of([named[name] for name in ids], red_flags.MOST_NAMES)
        yield markup, len(kind), f"{kind} ({does}): {what} ({where})"
