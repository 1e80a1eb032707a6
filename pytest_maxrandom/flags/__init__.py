"""Red flags: what makes a result look better than it is.

=============  ===================================================================
``kinds``      one module for each kind, with everything about it
``kind``       what these are written with: what checks look at and find, definitions
``counting``   what answers tell of labels; how many something is so of, and when by accident
``texts``      texts that several examples share
``shortcuts``  what the best prompt is compared with that needs no knowledge
=============  ===================================================================

A check says what it finds by kind and parameters; :mod:`pytest_maxrandom.reports` words that.
"""

from __future__ import annotations

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
"""All kinds of red flags that there are."""


def find(judged: JudgedAnswers) -> list[Flag]:
    """Return what a reader must be warned of: what makes the numbers wrong first."""
    answered = bool(judged.read.prompts)
    return _found(judged, (kind for kind in KINDS.values() if answered or kind.of_maximum))


def preferences(judged: JudgedAnswers) -> list[Flag]:
    """Return what depends on which answers have the same label."""
    return _found(judged, (kind for kind in KINDS.values() if kind.reads_labels))


def _found(judged: JudgedAnswers, wanted: Iterable[RedFlagKind]) -> list[Flag]:
    return [flag for kind in wanted for flag in kind.check(judged)]
