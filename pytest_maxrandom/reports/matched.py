"""Which claim of a later run is which of an earlier one, also where its file was renamed.

Claims are the same where their ids are: suite, task, model, quantization and shots; or the arms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.reports import kept_answers
from pytest_maxrandom.reports.summary import records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, RunRecord


class Match(NamedTuple):
    """A claim of an earlier run, and the same of a later one."""

    before: ClaimRecord
    now: ClaimRecord | None = None
    """None where the later run has none, or where it cannot be told which."""
    candidates: tuple[str, ...] = ()
    """Ids of the later run's claims of which each may be it, where that cannot be told."""
    is_moved: bool = False
    """Whether the later one stands in a file of another name."""


def folders_above(run: RunRecord, base: RunRecord) -> tuple[str, str]:
    """Return what the ids of either run begin with that those of the other lack.

    Ids begin at pytest's rootdir, which can be another folder for the same suites: without an
    ini-file, a path among the options moves it.
    """
    suites, earlier = ({record.suite for record in records(each)} for each in (run, base))
    if suites & earlier:
        return "", ""
    for one, other in sorted(product(suites, earlier)):
        if one.endswith(f"/{other}"):
            return one.removesuffix(other), ""
        if other.endswith(f"/{one}"):
            return "", other.removesuffix(one)
    return "", ""


def matches(base: RunRecord, head: RunRecord) -> Iterator[Match]:
    """Yield each claim of the base with that of the later run.

    What has no namesake is the claim of the same name, model and examples in another file; or else
    that of the same file, task and shots whose model is called otherwise; where no other can be
    meant.
    """
    above, below = folders_above(head, base)
    now = {claim.id.removeprefix(above): claim for claim in head.claims}
    before = {claim.id.removeprefix(below): claim for claim in base.claims}
    pairs = {name: Match(claim, now.get(name)) for name, claim in before.items()}

    def slot(claim: ClaimRecord) -> Hashable:
        suite = claim.suite.removeprefix(below if claim.id in alone else above)
        return suite, claim.task, claim.shots

    for key in (_moved, slot):
        taken = {each.now.id for each in pairs.values() if each.now is not None}
        alone = {each.before.id for each in pairs.values() if each == Match(each.before)}
        left = {name: claim for name, claim in now.items() if claim.id not in taken}
        if not left:  # what is gone is not unpacked for nothing
            break
        mine = {name: claim for name, claim in before.items() if claim.id in alone}
        pairs |= dict(_by(key, mine, left, moved=key is _moved))
    yield from pairs.values()


def _by(
    key: Callable[[ClaimRecord], Hashable],
    before: Mapping[str, ClaimRecord],
    now: Mapping[str, ClaimRecord],
    *,
    moved: bool,
) -> Iterator[tuple[str, Match]]:
    """Yield the claims of either side of which one alone has a key; of moved ones, others too."""
    earlier, later = (defaultdict[Hashable, list[str]](list) for _ in range(2))
    for side, claims in ((earlier, before), (later, now)):
        for name, claim in claims.items():
            side[key(claim)].append(name)
    for same, names in earlier.items():
        others: Sequence[str] = later.get(same, ()) if same is not None else ()
        if len(names) == len(others) == 1:
            yield names[0], Match(before[names[0]], now[others[0]], is_moved=moved)
        elif moved and others:
            ids = tuple(now[name].id for name in others)
            yield from ((name, Match(before[name], None, ids)) for name in names)


def _moved(claim: ClaimRecord) -> Hashable:
    """Return what stays of a claim wherever its file lies; None where its examples are unknown."""
    name = claim.id.partition("::")[2]
    if claim.task_digest:
        return name, claim.model, claim.quantization, claim.task_digest
    examples = kept_answers.examples(claim)
    return None if examples is None else (name, claim.model, claim.quantization, *examples)
