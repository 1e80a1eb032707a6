"""The best prompt beside the incumbent, a control or a stated baseline, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from pytest_maxrandom.notation import (
    P_VALUES,
    accuracy,
    apart,
    count,
    equals,
    level,
    p_value,
    signed,
    tries,
)
from pytest_maxrandom.reports.text import clauses, listed
from pytest_maxrandom.stats.judged_losses import look_share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pytest_maxrandom.record import BesideIncumbent, ClaimRecord

Other = Literal["baseline", "control", "incumbent"]
"""What the best prompt is compared with, by the field of a record."""
_OTHERS: tuple[Other, ...] = get_args(Other)
TESTS = {
    "exact": "an exact paired test, times t",
    "resampled": "White's reality check",
}
"""What each test is."""
_NAMED = 100
"""Prompts that are named; the JSON report has all."""
_OF_BASELINE = "an exact test of a mean of bounded scores, times t"


def difference(claim: ClaimRecord, other: Other = "incumbent") -> str:
    """Write the difference to the incumbent with its interval; empty where there is none."""
    found: BesideIncumbent | None = getattr(claim, other)
    return "" if found is None else f"{signed(found.difference)} ({_interval(found)})"


def alone(claim: ClaimRecord) -> bool:
    """Tell whether what is claimed is about the incumbent, and about no guesser."""
    of_guessers = ("p_max", "permutation_p", "union_p", "beats", "test_p")
    return "better_than" in claim.asserted and not claim.asserted.keys() & {*of_guessers}


def compared(claim: ClaimRecord, other: Other = "incumbent") -> str:
    """Say by how much the best prompt is better than the incumbent, and what else is known."""
    beside: BesideIncumbent | None = getattr(claim, other)
    if beside is None:
        return ""
    key = f"{other}_p"
    test = _OF_BASELINE if other == "baseline" else TESTS[beside.test]
    tested = f"best of {tries(beside.of)} prompts on {count(beside.n)} examples"
    if beside.units != beside.n:
        tested += f" in {count(beside.units)} clusters"
    if beside.rank > 1:
        tested += f", beside number {count(beside.rank)} of those tried"
    if beside.place > 1:
        tested += f", beside number {count(beside.place)} of those named as the incumbent"
    above = "" if not beside.by else f" by more than {accuracy(beside.by)}"
    others = beside.candidates - len(beside.alike)
    look = ""
    if beside.look is not None:
        of_look = look_share(beside.look)
        after = beside.level / of_look * look_share(beside.look + 1)
        look = (
            f"look {count(beside.look)} at recorded answers: it has {level(beside.level)} of the "
            f"level {level(beside.level / of_look)}, and the next one at other answers "
            f"{level(after)}, so that any number of looks is valid"
        )
    elif other == "incumbent" and claim.tries is None:
        look = "nobody counts looks here, so whoever looks again at other answers errs more often"
    return clauses(
        f"the best prompt is {apart(beside.difference)} {_named(beside)} "
        f"({accuracy(beside.accuracy)}); interval {_interval(beside)}, each end at "
        f"{accuracy(1 - beside.level)} with the selection of the best taken into account",
        f"{P_VALUES[key]} (being better{above}) "
        f"{equals(p_value(getattr(claim, key), level=beside.level))} ({test}; {tested})",
        f"{count(len(beside.alike))} of {count(beside.candidates)} prompts cannot be told from the "
        "best"
        if others
        else beside.candidates > 1 and f"all {count(beside.candidates)} prompts may be the best",
        beside.needed is not None
        and f"about {count(beside.needed)} examples would show a difference of "
        f"{accuracy(beside.matters)} with probability .8",
        look,
    )


def alike(claim: ClaimRecord) -> str:
    """Name the prompts that cannot be told from the best; empty where they are all, or one."""
    found: Iterator[BesideIncumbent | None] = (getattr(claim, other) for other in _OTHERS)
    known = next((each for each in found if each is not None), None)
    if known is None or len(known.alike) in (1, known.candidates):
        return ""
    more = len(known.alike) - _NAMED
    named = ", ".join(known.alike[:_NAMED])
    return f"{named} and {count(more)} more, which the JSON report names" if more > 0 else named


def in_brief(claim: ClaimRecord) -> str:
    """Say how much better the best prompt is than what it is compared with; empty for nothing."""
    said = [
        f"{apart(found.difference)} {_named(found)} ({accuracy(found.accuracy)}; "
        f"interval {_interval(found)}, {_p(claim, other, found)})"
        for other in _OTHERS
        if (found := getattr(claim, other)) is not None
    ]
    return listed(said) if said else ""


def claimed(asserted: dict[str, object]) -> str:
    """Say what the best prompt is claimed to be better than, guessers aside; empty if nothing."""
    sentences = []
    if "better_than" in asserted:
        by = asserted.get("by")
        above = f" by more than {accuracy(by)}" if isinstance(by, float) and by else ""
        sentences.append(f"the best prompt is better than the incumbent{above}")
    if "control_p" in asserted:
        sentences.append("the best prompt is better than the control")
    if isinstance(beats := asserted.get("beats"), float):
        sentences.append(f"the best prompt is above the stated baseline {accuracy(beats)}")
    return ", and ".join(sentences)


def beaten_by(claim: ClaimRecord, parts: Collection[str]) -> Other | None:
    """Return beside what a claim fails, where it fails in nothing else; the first of several."""
    others = [other for other in _OTHERS if f"{other}_p" in parts and getattr(claim, other)]
    return others[0] if others and len(others) == len(parts) else None


def reached(claim: ClaimRecord, other: Other) -> tuple[str, str]:
    """Say how the best prompt stands beside the incumbent, and the numbers."""
    comparison: BesideIncumbent = getattr(claim, other)
    what = f"the {other}'s {accuracy(comparison.accuracy)}"
    if other == "baseline":
        what = f"the stated baseline {accuracy(comparison.accuracy)}"
    numbers = _p(claim, other, comparison)
    if comparison.level != 0.05:
        numbers += f", level {level(comparison.level)}"
    return (
        f"is {apart(comparison.difference)} {what}",
        f"{numbers}; interval {_interval(comparison)}",
    )


def shortfall(claim: ClaimRecord, other: Other) -> tuple[str, str]:
    """Say what a claim that fails beside the incumbent reached and needs, and the numbers."""
    beside: BesideIncumbent = getattr(claim, other)
    here, numbers = reached(claim, other)
    luck = "that may be luck"
    if claim.t is not None and beside.of > claim.t:
        luck = "that may be luck of a search, which a test set need not pay for"
    if beside.difference <= beside.by:
        most = f"more than {accuracy(beside.by)} " * bool(beside.by)
        said = f"{here}, and must be {most}above it"
    else:
        said = f"{here}, but {luck}: its interval must begin above {accuracy(beside.by)}"
    return said, numbers


def _p(claim: ClaimRecord, other: Other, found: BesideIncumbent) -> str:
    key = f"{other}_p"
    return f"{P_VALUES[key]} {equals(p_value(getattr(claim, key), level=found.level))}"


def _interval(found: BesideIncumbent) -> str:
    low, by = signed(found.low), signed(found.by)
    # Rounded, a lower end above the margin must not look as if it were the margin.
    return f"{f'> {by}' if found.low > found.by and low == by else low} to {signed(found.high)}"


def _named(found: BesideIncumbent) -> str:
    return f"{found.name}, model {found.model}" if found.model else found.name
