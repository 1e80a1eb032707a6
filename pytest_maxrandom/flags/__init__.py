"""Red flags: what makes a result look better than it is.

==============  ==================================================================
``kinds``       all kinds, each a module of its name with everything about it
``kind``        what these are written with: what checks look at and find, definitions
``counting``    what answers tell of labels; how many something is so of, and when by accident
``texts``       texts that several examples share
``shortcuts``   what a best prompt is compared with that needs no question
``things``      things that examples compare
``dependence``  examples that depend on each other: who passes, and by which labels
==============  ==================================================================

A check says what it finds by kind and parameters; :mod:`pytest_maxrandom.reports` words that.
"""

from __future__ import annotations

import json
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from pytest_maxrandom.flags import kinds
from pytest_maxrandom.flags.kind import (
    TOPICS,
    Flag,
    JudgedAnswers,
    RedFlagKind,
    RedFlagKinds,
)
from pytest_maxrandom.host.packages import RED_FLAGS, package_of, reason
from pytest_maxrandom.record import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "KINDS",
    "TOPICS",
    "Flag",
    "JudgedAnswers",
    "RedFlagKind",
    "find",
    "preferences",
]


def _definitions() -> Iterator[RedFlagKind]:
    for module in iter_modules(kinds.__path__):
        yield import_module(f"{kinds.__name__}.{module.name}").RED_FLAG


KINDS = RedFlagKinds(_definitions)
"""All kinds of red flags that there are, with those of packages."""


def find(judged: JudgedAnswers, failed: list[Remark] | None = None) -> list[Flag]:
    """Return what a reader must be warned of: what makes the numbers wrong first.

    `failed` takes a warning for each kind of a package that cannot be looked for; without it, what
    the package raises is raised.
    """
    answered = bool(judged.read.prompts)
    wanted = (
        kind
        for kind in KINDS.values()
        if (answered or kind.of_maximum) and (judged.chance or kind.of_scores)
    )
    if failed is not None:
        failed += [
            Remark("red_flag_unusable", {"why": str(each)}) for each in KINDS.parts.refused()
        ]
    return _found(judged, wanted, failed)


def preferences(judged: JudgedAnswers, failed: list[Remark] | None = None) -> list[Flag]:
    """Return what depends on which answers have the same label; see `find`."""
    return _found(judged, (kind for kind in KINDS.values() if kind.reads_labels), failed)


def _found(
    judged: JudgedAnswers, wanted: Iterable[RedFlagKind], failed: list[Remark] | None
) -> list[Flag]:
    flags: list[Flag] = []
    for kind in wanted:
        try:
            flags += [*_checked(kind, judged)]
        except Exception as error:  # whatever the code of a package raises
            if failed is None or kind.kind in KINDS.parts.built_in:
                raise
            values = {
                "flag": kind.kind,
                "package": package_of(RED_FLAGS, kind.kind),
                "error": reason(error),
            }
            failed.append(Remark("red_flag_failed", values))
    return flags


def _checked(kind: RedFlagKind, judged: JudgedAnswers) -> Iterator[Flag]:
    """Yield what a check finds.

    Raises
    ------
    TypeError, ValueError
        If a package's check yields no flag of its kind, or parameters that no report can hold.
    """
    for flag in kind.check(judged):
        if kind.kind not in KINDS.parts.built_in:
            if not isinstance(flag, Flag) or flag.kind != kind.kind:
                raise TypeError(f"its check yielded {flag!r}, expected Flag({kind.kind!r}, ...)")
            json.dumps(dict(flag.parameters), allow_nan=False)
            if kind.sentence(case := flag.parameters.get("case")) is None:
                raise ValueError(f"it has no sentence for the case {case!r}")
        yield flag
