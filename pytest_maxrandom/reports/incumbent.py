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
    found: BesideIncumbent | None = getattr(claim, other)
    if found is None:
        return ""
    key = f"{other}_p"
    test = _OF_BASELINE if other == "baseline" else TESTS[found.test]
    tested = f"best of {tries(found.of)} prompts on {count(found.n)} examples"
    if found.units != found.n:
        tested += f" in {count(found.units)} clusters"
    if found.rank > 1:
        tested += f", beside number {count(found.rank)} of those tried"
    if found.place > 1:
        tested += f", beside number {count(found.place)} of those named as the incumbent"
    above = "" if not found.by else f" by more than {accuracy(found.by)}"
    others = found.candidates - len(found.alike)
    look = ""
    if found.look is not None:
        of_look = look_share(found.look)
        after = found.level / of_look * look_share(found.look + 1)
        look = (
            f"look {count(found.look)} at recorded answers: it has {level(found.level)} of the "
            f"level {level(found.level / of_look)}, and the next one at other answers "
            f"{level(after)}, so that any number of looks is valid"
        )
    elif other == "incumbent" and claim.tries is None:
        look = "nobody counts looks here, so whoever looks again at other answers errs more often"
    return clauses(
        f"the best prompt is {apart(found.difference)} {_named(found)} "
        f"({accuracy(found.accuracy)}); interval {_interval(found)}, each end at "
        f"{accuracy(1 - found.level)} with the selection of the best taken into account",
        f"{P_VALUES[key]} (being better{above}) "
        f"{equals(p_value(getattr(claim, key), level=found.level))} ({test}; {tested})",
        f"{count(len(found.alike))} of {count(found.candidates)} prompts cannot be told from the "
        "best"
        if others
        else found.candidates > 1 and f"all {count(found.candidates)} prompts may be the best",
        found.needed is not None
        and f"about {count(found.needed)} examples would show a difference of "
        f"{accuracy(found.matters)} with probability .8",
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
    said = []
    if "better_than" in asserted:
        by = asserted.get("by")
        above = f" by more than {accuracy(by)}" if isinstance(by, float) and by else ""
        said.append(f"the best prompt is better than the incumbent{above}")
    if "control_p" in asserted:
        said.append("the best prompt is better than the control")
    if isinstance(beats := asserted.get("beats"), float):
        said.append(f"the best prompt is above the stated baseline {accuracy(beats)}")
    return ", and ".join(said)


def beaten_by(claim: ClaimRecord, parts: Collection[str]) -> Other | None:
    """Return beside what a claim fails, where it fails in nothing else; the first of several."""
    others = [other for other in _OTHERS if f"{other}_p" in parts and getattr(claim, other)]
    return others[0] if others and len(others) == len(parts) else None


def reached(claim: ClaimRecord, other: Other) -> tuple[str, str]:
    """Say how the best prompt stands beside the incumbent, and the numbers."""
    found: BesideIncumbent = getattr(claim, other)
    what = f"the {other}'s {accuracy(found.accuracy)}"
    if other == "baseline":
        what = f"the stated baseline {accuracy(found.accuracy)}"
    numbers = _p(claim, other, found)
    if found.level != 0.05:
        numbers += f", level {level(found.level)}"
    return (
        f"is {apart(found.difference)} {what}",
        f"{numbers}; interval {_interval(found)}",
    )


def shortfall(claim: ClaimRecord, other: Other) -> tuple[str, str]:
    """Say what a claim that fails beside the incumbent reached and needs, and the numbers."""
    found: BesideIncumbent = getattr(claim, other)
    here, numbers = reached(claim, other)
    luck = "that may be luck"
    if claim.t is not None and found.of > claim.t:
        luck = "that may be luck of a search, which a test set need not pay for"
    if found.difference <= found.by:
        most = f"more than {accuracy(found.by)} " * bool(found.by)
        said = f"{here}, and must be {most}above it"
    else:
        said = f"{here}, but {luck}: its interval must begin above {accuracy(found.by)}"
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
