"""Tidy tables of answers, one row for each (CSV, JSONL or Parquet)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import Answers, letter_place
from pytest_maxrandom.errors import RecordedError, did_you_mean, listed, quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.tables.cells import CELLS, WITHOUT_CHOICES
from pytest_maxrandom.recorded.tables.codes import counted, first_of, taken, unlike
from pytest_maxrandom.recorded.tables.columns import wanted_columns
from pytest_maxrandom.recorded.tables.files import read_columns
from pytest_maxrandom.recorded.tables.grid import Grid, members_of, natural, owners, shown
from pytest_maxrandom.recorded.tables.open_table import open_sweep, refuse_choices, refuse_unused
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.codes import Column
    from pytest_maxrandom.recorded.tables.columns import Rows, Wanted
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import TableColumns, TableResults

    Texts = Sequence[frozenset[str]]

_MISSING = frozenset(("nan", "na", "n/a", "#n/a", "<na>", "nat", "null"))
"""What programs write where a value is missing."""


def read_table(path: Path, spec: TableResults, meant: Meant) -> list[Answers]:
    """Read the sweeps of a table, in the order of their first rows.

    A ``score`` from 0 to 1 may stand in place of ``correct``; where all are 0 or 1 they are that.
    The column of ``correct`` may be missing (if not renamed) where those of ``prediction`` and
    ``gold`` are there. Several gold labels are a list (in CSV as JSON); so are choices, unless only
    their number is known. Lists stand in the order in which a model saw them, if it did: right
    answers are shuffled by their places, and by the texts that recur.

    Raises
    ------
    RecordedError
        If the file cannot be read or contradicts itself.

    Notes
    -----
    Labels are the texts of `prediction` and `gold` of a sweep, numbers before other texts; there
    may be more of them than choices. With `choices`, the chance of one guess is the number of
    gold labels (1 where none are given) over that of choices. Where all examples have two choices
    and two answers were given, those that are right follow from `prediction` and `correct`.
    A table with references has no choices: see `open_table`.
    """
    return sweeps_of(read_columns(path, columns_of(spec)), spec, meant)


def columns_of(spec: TableResults) -> Wanted:
    """Return the columns that are read of a table."""
    if spec.columns.wide is None:
        return wanted_columns(spec.columns, always=("prompt", "example"))
    wanted = wanted_columns(spec.columns, always=())
    return {role: wanted[role] for role in wanted if role != "prompt"}


def sweeps_of(rows: Rows, spec: TableResults, meant: Meant) -> list[Answers]:
    """Return the sweeps of the rows of a table, wherever these are from; see `read_table`.

    Raises
    ------
    RecordedError
        If they contradict themselves.
    """
    path = rows.path
    if spec.columns.wide is not None:
        rows.lengthen(*spec.columns.wide)
    if meant.models is not None and "model" in rows.names and rows.count:
        rows.keep("model", meant.models)
    unread = _unread(path, spec.columns) if {"correct", "score"} <= rows.names.keys() else ""
    if {"reference", "score"} <= rows.names.keys() and spec.columns.reference is not None:
        unread = unread or ("score" if spec.columns.score is None else "")  # what is named counts
    # Scores that somebody gave are taken as they are, whatever references they were given by.
    is_open = "reference" in rows.names and ("score" not in rows.names or unread == "score")
    refuse_unused(rows, spec, is_open=is_open)
    if is_open:
        refuse_choices(rows)
    elif not {"correct", "score"} & rows.names.keys() and (
        not {"prediction", "gold"} <= rows.names.keys()
    ):
        name = str(spec.columns.correct or "correct")
        raise RecordedError(
            f"{path}: there is no column {quoted(name)} for `columns: correct:`, none with a "
            "`score`, and it cannot be computed without both prediction and gold; found "
            f"{listed(rows.header)}{did_you_mean(name, rows.header)}"
        )
    values = {
        name: rows.read(role, parse)
        for name, (role, parse) in (CELLS | WITHOUT_CHOICES if is_open else CELLS).items()
        if role in rows.names and role != unread
    }
    found, of_row = owners(rows, meant)
    members = members_of(of_row, len(found))
    grids = (Grid(rows, owner, own, values) for owner, own in zip(found, members, strict=True))
    return [
        folded(
            open_sweep(grid, spec) if is_open else _samples(grid, ragged=spec.ragged), grid.samples
        )
        for grid in grids
    ]


def _unread(path: Path, columns: TableColumns) -> str:
    """Return which of `correct` and `score` is not read where a table has both."""
    if columns.score is None:
        return "score"  # which may be anything, where answers are marked as right or wrong
    if columns.correct is None:
        return "correct"
    correct, score = quoted(str(columns.correct)), quoted(str(columns.score))
    raise RecordedError(
        f"{path}: the columns {correct} and {score} both say how good an answer is; name one of "
        "them under `columns:`"
    )


def _samples(grid: Grid, *, ragged: bool) -> Answers:
    """Return the answers of a sweep, each sample as if it were a prompt."""
    known = grid.known(ragged=ragged)
    texts: Sequence[str]
    texts, of_row = grid.of_rows("prediction")
    correct, scores = _graded(grid)
    if scores is None:
        _refuse_missing(grid)
    choices = grid.of_examples("choices")
    gold: Texts | None = None if scores is not None else grid.of_examples("gold")
    if gold is not None and correct is None and of_row is not None:
        texts, known["notes"] = _respelled(texts, gold, known["notes"], of_row)
    if gold is None and of_row is not None and correct is not None and len(texts) == 2:
        gold = _follows(grid, texts, np.where(correct, of_row[:], 1 - of_row[:]), choices)
    labels = sorted({*texts}.union(*(gold or ())), key=natural)
    number = {label: place for place, label in enumerate(labels)}
    right = None if gold is None else [frozenset(map(number.__getitem__, each)) for each in gold]
    answers = None if of_row is None else taken(_labels([number[text] for text in texts]), of_row)
    if answers is not None and right is not None:
        if "score" in grid and (hits(answers, right, grid.example) != correct).any():
            gold = right = None  # the scores are somebody's judgement, not whether texts agree
        else:
            correct = _agreed(grid, correct, answers, right, labels)
    assert correct is not None
    return Answers(
        **known,
        correct=grid.filled(correct, empty=False),
        evaluated=grid.evaluated(),
        scores=None if scores is None else grid.filled(scores, empty=np.nan),
        judge=_judge(grid),
        chances=None if choices is None else _chances(grid, choices, right),
        choices_counted=None in grid.of_rows("listed")[0],
        answers=None if answers is None else grid.filled(answers, empty=NOT_EVALUATED),
        gold=None if right is None else tuple(right),
        labels=tuple(labels),
        offered=None if gold is None else _offered(grid, gold),
    )


def _graded(grid: Grid) -> tuple[NDArray[np.bool_] | None, NDArray[np.float64] | None]:
    """Return whether each answer is right, if rows say so, and its score where some are between."""
    for name in ("correct", "score"):
        marks, places = grid.of_rows(name)
        if places is not None:
            scores = np.array(marks, dtype=np.float64)
            is_graded = ((scores > 0) & (scores < 1)).any()
            return taken(scores == 1, places), taken(scores, places) if is_graded else None
    return None, None


def _judge(grid: Grid) -> str | None:
    """Return who gave the scores of a sweep, whose judge must be one."""
    if "score" not in grid:
        return None
    judges, places = grid.of_rows("judge")
    if places is not None and len(judges) > 1:
        raise grid.error(
            first_of(places, 1),
            f"judge is {quoted(judges[1])}, but {quoted(judges[0])} in an earlier row; scores of "
            "several judges cannot be compared, so give each a file, or rows, of its own",
        )
    return judges[0] or None if judges else None


def _refuse_missing(grid: Grid) -> None:
    """Refuse answers, and right answers, that stand for none; a choice that is listed is one."""
    listed_texts = frozenset[str]().union(*filter(None, grid.of_rows("listed")[0]))
    for name, way in (
        ("prediction", "write a word such as 'none' where no answer could be read"),
        ("gold", "leave out examples whose right answer is not known"),
    ):
        values, of_row = grid.of_rows(name)
        for place, value in enumerate(values):
            texts = {value} if isinstance(value, str) else value
            for text in sorted(texts - listed_texts):
                if text.strip().casefold() in _MISSING:
                    assert of_row is not None
                    raise grid.error(
                        first_of(of_row, place),
                        f"{name} is {quoted(text)}, as programs write where a value is missing; "
                        f"{way}, or list it among the choices if it is one",
                    )


def _respelled(
    texts: Sequence[str], gold: Texts, notes: tuple[Remark, ...], said: Column
) -> tuple[list[str], tuple[Remark, ...]]:
    """Write answers as the right ones that they are but for case and the spaces around them.

    Where several right answers differ in no more than that, it tells something.
    """
    known = frozenset[str]().union(*gold)
    meant: dict[str, list[str]] = {}
    for label in known:
        meant.setdefault(label.strip().casefold(), []).append(label)
    own = [[text] if text in known else meant.get(text.strip().casefold(), []) for text in texts]
    read = [one[0] if len(one) == 1 else text for one, text in zip(own, texts, strict=True)]
    changed = [one != text for one, text in zip(read, texts, strict=True)]
    count = int(counted(said, len(texts))[changed].sum())
    return read, notes + ((Remark("respelled", {"answers": count}),) if count else ())


def _follows(
    grid: Grid, texts: Sequence[str], right: NDArray[np.integer[Any]], choices: list[int] | None
) -> Texts | None:
    """Return the right answers that follow from rows that say which of two answers is right."""
    if set(choices or ()) != {2}:
        return None
    gold = right[grid.example_firsts]
    if unlike(right, gold, grid.example) is not None:
        return None
    return [frozenset({texts[each]}) for each in gold.tolist()]


def _agreed(
    grid: Grid,
    correct: NDArray[np.bool_] | None,
    answers: NDArray[np.integer[Any]],
    right: Sequence[frozenset[int]],
    labels: Sequence[str],
) -> NDArray[np.bool_]:
    """Return whether each answer is right, which the rows may say as well."""
    computed = hits(answers, right, grid.example)
    if correct is None:
        known = frozenset().union(*right)
        # Letters where gold are numbers: nothing else would tell, and nothing be right.
        if not computed.any() and known.isdisjoint(np.unique(answers).tolist()):
            said = [labels[each] for each in dict.fromkeys(answers.tolist())]
            raise grid.error(
                0,
                f"no prediction is the gold label of any example: found {listed(said, 4)}, "
                f"expected labels such as {listed(sorted(labels[each] for each in known), 4)}; use "
                "the same labels for both, or add a column correct",
            )
        return computed
    for row in np.flatnonzero(correct != computed)[:1]:
        gold = frozenset(labels[each] for each in right[grid.example[row]])
        raise grid.error(
            row,
            f"correct says {'right' if correct[row] else 'wrong'}, but prediction is "
            f"{quoted(labels[answers[row]])} and gold {shown(gold)}; correct the table, or leave "
            "the wrong column out with an empty name under `columns:`",
        )
    return computed


def _offered(grid: Grid, gold: Texts) -> tuple[tuple[str, ...], ...] | None:
    """Return the lists of choices; None where they hold nothing that is right, nor letters do.

    They are as they stand in the file, and sorted where prompts list those of one example in other
    orders.

    Raises
    ------
    RecordedError
        If they hold what is right to some examples only.
    """
    sets = grid.of_examples("listed")
    if sets is None or not any(sets):
        return None
    pairs = [*zip(gold, sets, strict=True)]
    lettered = all(
        0 <= letter_place(label) < len(own or ()) for right, own in pairs for label in right
    )
    there = [own is not None and right <= own for right, own in pairs]
    if not all(sets):
        raise grid.example_error(
            sets.index(None), "has no list of choices, but others have one; list those of all"
        )
    if not any(there) and not lettered:
        return None
    if not all(there) and not lettered:
        right, own = pairs[there.index(False)]
        raise grid.example_error(
            there.index(False),
            f"has the gold label {shown(right)}, which is none of its choices "
            f"{listed(sorted(own), 4)}; write the texts of choices in both columns, or letters in "
            "all rows",
        )
    lists, places = grid.of_rows("order")
    assert places is not None
    first = places[grid.example_firsts]
    if unlike(places, first, grid.example) is not None:
        return tuple(tuple(sorted(own)) for own in sets)
    return tuple(lists[place] for place in first)


def _labels(numbers: list[int]) -> NDArray[np.signedinteger[Any]]:
    """Return labels in as few bytes as they and NOT_EVALUATED take."""
    return np.array(numbers, dtype=np.min_scalar_type(-1 - max(numbers)))


def _chances(
    grid: Grid, choices: list[int], right: Sequence[frozenset[int]] | None
) -> tuple[Fraction, ...]:
    counts = [1] * len(choices) if right is None else [*map(len, right)]
    for example, (count, number) in enumerate(zip(counts, choices, strict=True)):
        if count >= number:
            raise grid.example_error(
                example,
                f"has {number} choices, of which {count} are right; at least one must be wrong, so "
                "give the total number of choices",
            )
    return tuple(map(Fraction, counts, choices))
