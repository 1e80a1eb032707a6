"""The rows of one sweep as a grid of prompts and examples."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from pytest_maxrandom.errors import RecordedError, listed, quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.tables.codes import Cycle, by_first_row, counted, pieces, unlike
from pytest_maxrandom.recorded.tables.columns import Values, as_id, as_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.codes import Column
    from pytest_maxrandom.recorded.tables.columns import Rows

S = TypeVar("S", bound=np.generic)
Members: TypeAlias = "range | NDArray[np.int64]"
"""Rows of the whole file."""

_FEW_CELLS = 10_000_000
"""Up to here a grid is made, whatever part of it is filled."""
_SPARSEST = 20
"""Cells for each row, beyond which the columns cannot be those of prompts and examples."""

_OWNER: dict[str, tuple[Callable[[str], Any], str]] = {
    "model": (as_id, "give `results: {model: ...}`"),
    "task": (as_id, "give the suite a single task"),
    "shots": (lambda text: as_number(text, 0), "give `results: {shots: ...}`"),
}
"""How what tells whose a row is is read, and how a suite says it of a whole file."""


class Meant(NamedTuple):
    """What results are about where their file does not say it; None where the suite does not."""

    model: str | None = None
    task: str | None = None
    shots: int | None = None
    models: tuple[tuple[str, ...], ...] | None = None
    """What each model of the suite may be called; rows of others need not be right."""


class Owner(NamedTuple):
    """What was asked of which model."""

    model: str
    task: str
    shots: int

    def __str__(self) -> str:
        return f"{self.task}[{self.model}-{self.shots}shot]"


def owners(rows: Rows, meant: Meant) -> tuple[list[Owner], Column]:
    """Return the owners in the order of their first rows, and per row the place of its own.

    Raises
    ------
    RecordedError
        If the file has no such column and it is not given, or a value of it is not valid.
    """
    all_rows = Cycle(rows.count, 1, rows.count)
    codes: Column = all_rows
    firsts, parts = np.zeros(1, dtype=np.int64), []
    for role, (parse, way) in _OWNER.items():
        given = getattr(meant, role)
        if role in rows.names:
            values = rows.read(role, parse)
        elif given is None:
            raise RecordedError(
                f"{rows.path}: no column gives the {role}; name it as `columns: {role}:` (found "
                f"{listed(rows.header)}), or {way}"
            )
        else:
            values = Values(role, [given], all_rows)
        parts.append(values)
        if (size := len(values.distinct)) > 1:
            # Of what all rows share there is nothing to tell apart.
            both = codes[:].astype(np.min_scalar_type(len(firsts) * size))
            both *= size
            both += values.codes[:]
            firsts, codes = by_first_row(both, len(firsts) * size)
    return [Owner(*(part.distinct[part.codes[row]] for part in parts)) for row in firsts], codes


def members_of(owner: Column, count: int) -> Sequence[Members]:
    """Return the rows of each owner, ascending; as a range where they follow each other."""
    if count == 1:
        return [range(len(owner))]
    of_row = owner[:]
    ends = np.cumsum(counted(of_row, count)).tolist()
    if (of_row[1:] >= of_row[:-1]).all():
        return [range(*each) for each in pairwise([0, *ends])]
    # A stable sort of small integers takes linear time.
    return np.split(np.argsort(of_row, kind="stable"), ends[:-1])


class Grid:
    """Where each row of the sweep of one owner stands.

    Its members are the sweep's rows in the whole file, ascending; what the columns mean is given of
    all rows, with ``prompt`` and ``example`` among them.

    Attributes
    ----------
    prompts, examples : tuple of str
        Ids, in the order of their first rows; t and n of them. Each sample of a prompt is as if it
        were one of its own: those of one stand together, with its name.
    prompt, example : Column
        Per row the place of its prompt, and of its example.
    example_firsts : ndarray of int
        The first row of each example.
    samples : int
        How many answers each prompt gave to each example.

    Raises
    ------
    RecordedError
        If two rows stand in one place, or an answer has fewer samples than others.
    """

    def __init__(
        self,
        rows: Rows,
        owner: Owner,
        members: Members,
        values: Mapping[str, Values[Any]],
    ) -> None:
        self.owner = owner
        self._rows, self._members, self._values = rows, members, values
        self.prompts, self._prompt_firsts, self.prompt = self._distinct("prompt")
        self.examples, self.example_firsts, self.example = self._distinct("example")
        self.samples = 1
        if "sample" in values:
            self._tell_samples_apart()
        cells = len(self.prompts) * len(self.examples)
        if cells > max(_FEW_CELLS, _SPARSEST * len(members)):
            raise RecordedError(
                f"{rows.path}: {owner}: found {len(self.prompts)} prompts and "
                f"{len(self.examples)} examples in {len(members)} rows; name the columns that hold "
                "the ids of prompts and of examples"
            )
        self._in_order = len(members) == cells
        seen = np.zeros(cells, dtype=np.bool_)
        for part, place in self._places():
            seen[place] = True
            self._in_order &= bool((place == np.arange(part.start, part.stop)).all())
        if np.count_nonzero(seen) < len(members):
            self._refuse_repeated()

    def _places(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield the rows in pieces, and the number of the cell of each."""
        for part in pieces(len(self._members)):
            yield part, self.prompt[part] * np.int64(len(self.examples)) + self.example[part]

    def _refuse_repeated(self) -> None:
        """Refuse the first row in whose place another one stands."""
        place = np.concatenate([each for _, each in self._places()])
        last = np.zeros(len(self.prompts) * len(self.examples), dtype=np.int64)
        last[place] = np.arange(len(place))
        first = int(np.argmax(last[place] != np.arange(len(place))))
        again = first + 1 + np.argmax(place[first + 1 :] == place[first])
        raise self.error(
            again,
            f"prompt {quoted(self.prompts[self.prompt[first]])} already has an answer to "
            f"example {quoted(self.examples[self.example[first]])} in "
            f"{self._rows.called(self._members[first])}; keep one row for each prompt and example, "
            "or name the column that tells samples apart as `columns: sample:`",
        )

    def _tell_samples_apart(self) -> None:
        """Let each sample be as if it were a prompt; those of an answer stand by their names."""
        names, _, column = self._distinct("sample")
        which = column[:]
        order = sorted(range(len(names)), key=lambda place: natural(names[place]))
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        cell = np.concatenate([each for _, each in self._places()])
        by_cell = np.lexsort((rank[which], cell))
        firsts = np.flatnonzero(np.diff(cell[by_cell], prepend=-1))
        sizes = np.diff(np.append(firsts, len(cell)))
        place = np.empty(len(cell), dtype=np.int64)
        place[by_cell] = np.arange(len(cell)) - np.repeat(firsts, sizes)
        same = (np.diff(cell[by_cell]) == 0) & (np.diff(rank[which][by_cell]) == 0)
        for at in np.flatnonzero(same)[:1]:
            one, other = sorted(by_cell[at : at + 2].tolist())
            raise self.error(
                other,
                f"sample {quoted(names[which[one]])} of {self._about(one)} already stands in "
                f"{self._rows.called(self._members[one])}; give each sample a name of its own",
            )
        self.samples = int(sizes.max())
        for short in np.flatnonzero(sizes < self.samples)[:1]:
            first = by_cell[firsts[short]]
            raise self.error(
                first,
                f"{self._about(first)} has {sizes[short]} of the "
                f"{self.samples} samples that others have; give as many of each, or finish the run",
            )
        self.prompts = tuple(name for name in self.prompts for _ in range(self.samples))
        self._prompt_firsts = np.repeat(self._prompt_firsts, self.samples)
        self.prompt = self.prompt[:] * np.int64(self.samples) + place

    def _about(self, member: int | np.integer[Any]) -> str:
        prompt, example = self.prompts[self.prompt[member]], self.examples[self.example[member]]
        return f"the answer of prompt {quoted(prompt)} to example {quoted(example)}"

    def error(self, member: int | np.integer[Any], message: str) -> RecordedError:
        """Return an error at one of the sweep's rows."""
        return self._rows.error(int(self._members[member]), f"{self.owner}: {message}")

    def example_error(self, example: int, message: str) -> RecordedError:
        """Return an error at the first row of an example."""
        about = f"example {quoted(self.examples[example])} {message}"
        return self.error(self.example_firsts[example], about)

    def known(self, *, ragged: bool) -> dict[str, Any]:
        """Return what `Answers` hold of a sweep, whatever was answered.

        Raises
        ------
        RecordedError
            If prompts were scored on different numbers of examples, and may not be, or some
            examples have a cluster, and others do not.
        """
        least, most = self._sizes(ragged=ragged)
        return {
            "path": self._rows.path,
            "claim": str(self.owner),
            **self.owner._asdict(),
            "prompts": self.prompts,
            "examples": self.examples,
            "identities": self.prompts,
            "demonstration_ids": ((),) * len(self.prompts),
            "notes": () if least == most else (Remark("ragged", {"least": least, "most": most}),),
            "clusters": self._clusters(),
        }

    def _sizes(self, *, ragged: bool) -> tuple[int, int]:
        """Return the least and the greatest number of examples of a prompt, if these may differ."""
        sizes = counted(self.prompt, len(self.prompts))
        least, most = int(sizes.min()), int(sizes.max())
        if least < most and not ragged:
            short, long = int(sizes.argmin()), int(sizes.argmax())
            raise self.error(
                self._prompt_firsts[short],
                f"prompt {quoted(self.prompts[short])} was scored on {least} examples, but prompt "
                f"{quoted(self.prompts[long])} on {most}, as in an interrupted run; finish the "
                "run, or write `ragged: true` if each prompt leaves out its own demonstrations",
            )
        return least, most

    def of_rows(self, name: str) -> tuple[tuple[Any, ...], Column | None]:
        """Return the distinct values of the sweep's rows, and per row the place of its own.

        None in place of those where the file has no such column.
        """
        distinct, _, places = self._distinct(name) if name in self._values else ((), None, None)
        return distinct, places

    def _codes(self, name: str) -> Column:
        """Return per row the place of its value among those of the file."""
        codes, rows = self._values[name].codes, self._members
        if len(rows) == len(codes):
            return codes
        own: Column = codes[rows.start : rows.stop] if isinstance(rows, range) else codes[rows]
        return own

    def _distinct(self, name: str) -> tuple[tuple[Any, ...], NDArray[np.int64], Column]:
        """Return distinct values, the first row of each, and per row the place of its own."""
        values, codes = self._values[name], self._codes(name)
        firsts, places = by_first_row(codes, len(values.distinct))
        return tuple(values.distinct[code] for code in codes[firsts]), firsts, places

    def of_examples(self, name: str) -> list[Any] | None:
        """Return a value for each example; None where the file has no such column.

        Raises
        ------
        RecordedError
            If two rows of an example do not agree.
        """
        if name not in self._values:
            return None
        values, codes = self._values[name], self._codes(name)
        expected = codes[self.example_firsts]
        if (at := unlike(codes, expected, self.example)) is not None:
            example = self.example[at]
            first = self.example_firsts[example]
            raise self.error(
                at,
                f"{values.role} of example {quoted(self.examples[example])} is "
                f"{shown(values.distinct[codes[at]])}, but {shown(values.distinct[codes[first]])} "
                f"in {self._rows.called(self._members[first])}; give all rows of an example the "
                "same value",
            )
        return [values.distinct[code] for code in expected]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def _clusters(self) -> tuple[str, ...] | None:
        """Return the cluster of each example, of all or of none; None where the file has none."""
        clusters = self.of_examples("cluster")
        if clusters is None or not any(clusters):
            return None
        if "" in clusters:
            raise self.example_error(
                clusters.index(""),
                "has no cluster, but others have one; give an example without relatives a name of "
                "its own",
            )
        return tuple(clusters)

    def evaluated(self) -> NDArray[np.bool_]:
        """Tell which places have a row, shape (t, n): one value for all of them where all do."""
        every = np.broadcast_to(np.True_, len(self._members))
        shape = len(self.prompts), len(self.examples)
        whole = len(every) == shape[0] * shape[1]
        return np.broadcast_to(np.True_, shape) if whole else self.filled(every, empty=False)

    def filled(self, values: NDArray[S], empty: Any) -> NDArray[S]:
        """Put a value for each row in its place, shape (t, n)."""
        shape = len(self.prompts), len(self.examples)
        if self._in_order:
            return values.reshape(shape)
        cells = np.full(shape, empty, dtype=values.dtype)
        flat = cells.ravel()
        for part, place in self._places():
            flat[place] = values[part]
        return cells


def shown(value: object) -> str:
    """Write a value for a message: a number, a text, the texts of a set, or several spellings."""
    if isinstance(value, frozenset):
        return " and ".join(quoted(text) for text in sorted(value))
    if isinstance(value, tuple):
        return " or ".join(map(quoted, value))
    return quoted(value) if isinstance(value, str) else str(value)


def natural(label: str) -> tuple[bool, int, str]:
    """Sort numbers by value, before other texts."""
    number = label.isascii() and label.isdecimal() and len(label) < 19
    return (not number, int(label) if number else 0, label)
