"""Red flags in words: what was found, what it does to its claim, and what to look at.

Each kind brings its templates (`pytest_maxrandom.flags`); here they are filled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.shortcuts import HEURISTICS
from pytest_maxrandom.errors import DOCUMENTATION, ExtensionError
from pytest_maxrandom.flags import KINDS, RedFlagKind
from pytest_maxrandom.host.packages import RED_FLAGS, blamed
from pytest_maxrandom.notation import accuracy, count, level, p_value, percent, span
from pytest_maxrandom.reports.sentences import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, RedFlag, Severity
    from pytest_maxrandom.record.claim import Measure

DOES: dict[Severity, str] = {"fail": "fails", "warn": "warns", "ignore": "is ignored"}
MOST_NAMES = 3
"""Of the claims that the same is said of."""

_ALL: dict[Severity, str] = {"fail": "all fail", "warn": "all warn", "ignore": "all are ignored"}

_NOT_EXPECTED = (
    "`xfail` expects of the numbers that they fail, and of no red flag; one that is known can be "
    "set to warn under `assert: {red_flags: ...}`."
)


@dataclass(frozen=True, slots=True)
class Raised:
    """The same red flag of one or more claims."""

    flag: RedFlag
    ids: tuple[str, ...]
    """The claims, by their ids."""

    @property
    def first(self) -> tuple[str, ...]:
        """The claims that are named."""
        return self.ids[:MOST_NAMES]

    @property
    def more(self) -> int:
        """How many others there are."""
        return max(0, len(self.ids) - MOST_NAMES)


def page_of(kind: str) -> str:
    """Return the address of the page about a kind of red flag; empty where none is known."""
    if kind in KINDS.parts.built_in:
        return f"{DOCUMENTATION}how-to/red-flags/{kind}.html"
    return KINDS[kind].page if kind in KINDS else ""


def remedy(flag: RedFlag) -> str:
    """Say what to do in a few words, of which `page_of` has more; of an unknown kind its text."""
    kind = KINDS.get(flag.kind)
    if kind is None:
        return flag.text
    return _in_few_words(kind, kind.remedy_of, flag, kind.remedy)


def does(flag: RedFlag) -> str:
    """Say what a red flag does to its claim: ``fails`` or ``warns``."""
    return DOES[flag.severity]


def described(flag: RedFlag) -> str:
    """Say a red flag in a clause: ``red flag majority (warns): Always yes is as good``."""
    return f"red flag {flag.kind} ({does(flag)}): {flag.text.removesuffix('.')}"


def explained(claim: ClaimRecord) -> str:
    """Say why a claim does not pass: its message, and each red flag that fails it in a line."""
    lines = [f"{flag.kind}: {flag.text}" for flag in claim.failing_flags]
    if lines and claim.xfail:
        lines.append(_NOT_EXPECTED)
    return "\n".join([str(claim.message), *lines])


def set_by_suite(claim: ClaimRecord) -> str:
    """Say what the suite changes: ``majority fails, tied_scores is ignored``, or ``all warn``."""
    of_all = severity_of_all(claim)
    if of_all is not None:
        return _ALL[of_all]
    return ", ".join(f"{kind} {DOES[severity]}" for kind, severity in claim.severities.items())


def severity_of_all(claim: ClaimRecord) -> Severity | None:
    """Return the severity that the suite gives to all kinds; None if they differ, or are ours."""
    if not claim.severities:
        return None
    first, *others = {**KINDS.defaults(), **claim.severities}.values()
    return None if any(other != first for other in others) else first


def not_in_finding(claim: ClaimRecord) -> list[RedFlag]:
    """Return the red flags that are not why a claim fails."""
    failing = claim.failing_flags if claim.outcome == "failed" else []
    return [flag for flag in claim.red_flags if flag not in failing]


def raised(
    claims: Iterable[ClaimRecord],
    flags_of: Callable[[ClaimRecord], Sequence[RedFlag]] = attrgetter("red_flags"),
) -> list[Raised]:
    """List red flags, the same of many claims once; `flags_of` says which of a claim are shown.

    Those that fail a claim stand first, then other kinds that fail one by default, then the rest.
    """
    found: dict[tuple[str, str, str], tuple[RedFlag, dict[str, None]]] = {}
    for claim in claims:
        for flag in flags_of(claim):
            key = (flag.severity, flag.kind, flag.text)
            found.setdefault(key, (flag, {}))[1][claim.id] = None
    listed = [Raised(flag, tuple(ids)) for flag, ids in found.values()]
    return sorted(listed, key=lambda each: gravity(each.flag))


def gravity(flag: RedFlag) -> int:
    """Rank a red flag: 0 if it fails its claim, 1 if its kind does so by default, 2 otherwise."""
    if flag.severity == "fail":
        return 0
    known = KINDS.get(flag.kind)
    return 1 if known is not None and known.default == "fail" else 2


MEASURES: dict[Measure, str] = {
    "accuracy": "an accuracy",
    "balanced_accuracy": "a balanced accuracy",
    "pass": "a pass rate",
}
_WRITER = Writer(
    accuracy=accuracy,
    heuristic=lambda name: HEURISTICS[name].description(),
    level=level,
    log_p=lambda log_p: p_value(math.exp(log_p), log_p),
    measure=lambda name: MEASURES[name],
    p=p_value,
    percent=percent,
    span=span,
)


def sentence(flag: RedFlag) -> str:
    """Word a red flag anew; one without parameters, or with unknown ones, has the text it has."""
    kind = KINDS.get(flag.kind)
    template = kind.sentence(flag.parameters.get("case")) if kind is not None else None
    if kind is None or template is None or not (flag.parameters or not flag.text):
        return flag.text
    return _filled(kind, template, flag, flag.text)


def brief(flag: RedFlag) -> str:
    """Say a red flag in a few words; of an unknown kind, its kind."""
    kind = KINDS.get(flag.kind)
    if kind is None:
        return flag.kind.replace("_", " ")
    return _in_few_words(kind, kind.brief_of, flag, kind.brief)


def _in_few_words(kind: RedFlagKind, template: str, flag: RedFlag, known: str) -> str:
    """Say of what was found what is said of it alone, and else what its kind says of any."""
    return _filled(kind, template, flag, known) if template and flag.parameters else known


def _filled(kind: RedFlagKind, template: str, flag: RedFlag, known: str) -> str:
    """Fill a template; that of a package may be wrong, and a report says so in its place."""
    parameters = _Parameters(kind, flag.parameters)
    if kind.kind in KINDS.parts.built_in:
        return _WRITER.fill(template, parameters, known)
    try:
        with blamed(RED_FLAGS, kind.kind):
            return _WRITER.vformat(template, (), parameters)
    except ExtensionError as error:
        return known or f"{kind.description} (Its sentence is missing: {error}.)"


class _Parameters(dict[str, Any]):
    """Those of a flag, and what follows from several of them, or where one is missing."""

    def __init__(self, kind: RedFlagKind, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        self._parts = {"who": _who, **kind.parts}

    def __missing__(self, name: str) -> Any:
        return self._parts[name](self)


def _who(of: Mapping[str, Any]) -> str:
    if of["prompts"] == 1:
        return "The only prompt"
    return f"{count(of['told'])} of {count(of['prompts'])} prompts"
