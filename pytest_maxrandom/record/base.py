"""What several kinds of records share."""

from __future__ import annotations

import copy
import dataclasses
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar

from annotated_types import Interval  # pydantic reads them

from pytest_maxrandom.record.words import Outcome

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Adjustment = Literal["holm", "bh", "none"]
_ONE = 1 + 1e-6  # floating point rounds
_MOST = 10**12
Count = Annotated[int, Interval(ge=0, le=_MOST)]
Amount = Annotated[float, Interval(ge=0, le=_MOST)]
Share = Annotated[float, Interval(ge=0, le=_ONE)]
"""Also a probability."""
Difference = Annotated[float, Interval(ge=-_ONE, le=_ONE)]
"""Also a correlation."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader must know besides the numbers; reports make a sentence from kind and values.

    Tasks of other packages may have only the sentence.
    """

    kind: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    """That sentence, once it is made."""

    def __hash__(self) -> int:
        return hash(self.kind)


@dataclass(slots=True, kw_only=True)
class ItemRecord:
    """The record of every item of a suite: of a claim, and of the checks that go with it."""

    id: str
    suite: str
    line: int
    """Line of the item in its suite file, from 1."""
    passed: bool | None = None
    """Whether what is asserted holds, and no red flag fails the claim; true where nothing is
    asserted. None where it could not be tested, or cannot be told."""
    cannot_tell: Remark | None = None
    """Why the results can neither show what is asserted nor that it does not hold."""
    outcome: Outcome | None = None
    xfail: str | None = None
    message: str | None = None
    """Why it does not pass, or could not be tested, in one line; for red flags, their kinds."""
    notes: list[Remark] = field(default_factory=list)
    """Remarks on how the result came about."""
    warnings: list[Remark] = field(default_factory=list)
    """Warnings about the ledger, the results store, or what packages add."""
    simulated: bool = False
    """Whether any answers were made up by a rule, so that they say nothing about a model."""


class Heading(TypedDict):
    """What records of anything on one task begin with."""

    id: str
    suite: str
    line: int
    task: str
    shots: int
    simulated: bool


class ClaimHeading(Heading):
    """What the records of a claim, and of the checks that go with it, begin with."""

    model: str
    quantization: str


_Item = TypeVar("_Item", bound=ItemRecord)


def note(record: _Item, *said: Remark) -> _Item:
    """Add to the notes of a record."""
    record.notes += said
    return record


Severity = Literal["fail", "warn", "ignore"]


@dataclass(slots=True)
class RedFlag:
    """One red flag of a claim."""

    kind: str
    severity: Severity
    """fail: it fails the claim; warn: reports show it. Ignored flags are in no record."""
    text: str = ""
    """One sentence, which reports make from kind and parameters."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What was found: numbers and names."""


_SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """Return a record, or a part of one, in builtin types alone.

    As `dataclasses.asdict`, which copies each number and takes three times as long.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is list or kind is tuple:
        return kind(map(plain, value))
    if kind is dict:
        return {key: plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        return {name: plain(getattr(value, name)) for name in _names(kind)}
    return copy.deepcopy(value)


_adapters: dict[type, TypeAdapter[Any]] = {}


def adapter_of(kind: type) -> TypeAdapter[Any]:
    """Return what reads records of a kind; to make it takes longer than to read a run with it."""
    if kind not in _adapters:
        from pydantic import TypeAdapter

        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(kind))
