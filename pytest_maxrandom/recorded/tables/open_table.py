"""Tables of open answers: what was said, and the references that it is compared with."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers
from pytest_maxrandom.errors import RecordedError, quoted
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.stats.samples import UNREAD
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.prompts import ExactMatchSpec
from pytest_maxrandom.sweeps.open_answers import voices_of
from pytest_maxrandom.sweeps.open_controls import with_controls
from pytest_maxrandom.tasks.mathematics import MISSING, is_missing
from pytest_maxrandom.tasks.references import Matching, Open, f1, kind_of
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.recorded.tables.columns import Rows
    from pytest_maxrandom.recorded.tables.grid import Grid
    from pytest_maxrandom.suite.recorded import TableResults


def refuse_choices(rows: Rows) -> None:
    """Refuse a table with references that lacks answers, or has choices as well.

    Raises
    ------
    RecordedError
        Naming the column.
    """
    if "prediction" not in rows.names:
        raise RecordedError(
            f"{rows.path}: the references in {quoted(rows.names['reference'])} tell nothing "
            "without the answers; name their column as `columns: prediction:`"
        )
    for role in ("gold", "choices"):
        if role in rows.names:
            raise RecordedError(
                f"{rows.path}: the column {quoted(rows.names[role])} is about choices, and "
                f"{quoted(rows.names['reference'])} about answers without; leave one of them out "
                f"with an empty name (`columns: {{{role}: ''}}`)"
            )


def refuse_unused(rows: Rows, spec: TableResults, *, is_open: bool) -> None:
    """Refuse what says how answers are compared with references, where none are.

    Raises
    ------
    RecordedError
        Naming the key.
    """
    said = {
        "scoring": spec.scoring != "exact_match",
        "exact_match": spec.exact_match is not None,
        "tolerance": spec.tolerance is not None,
    }
    for key in () if is_open else filter(said.get, said):
        why, way_out = (
            (
                f"the column {quoted(rows.names['score'])} says how good each answer is",
                "leave the column out with an empty name (`columns: {score: ''}`)",
            )
            if "reference" in rows.names
            else ("no column has references", "name it as `columns: reference:`")
        )
        raise RecordedError(
            f"{rows.path}: `{key}` says how answers are compared with references, and {why}; "
            f"{way_out}, or remove `{key}`"
        )


def open_sweep(grid: Grid, spec: TableResults) -> Answers:
    """Return the open answers of a sweep.

    Raises
    ------
    RecordedError
        If a row says that an answer is right, and its references say otherwise.
    """
    known = grid.known(ragged=spec.ragged)
    references, kinds = grid.of_examples("reference"), grid.of_examples("kind")
    inputs = grid.of_examples("input")
    assert references is not None
    tolerance, how = spec.tolerance or 0.0, spec.exact_match or ExactMatchSpec()
    matching = Matching.of(how)
    # Without a tolerance it is the rule of a run.
    rule = digest(matching.digest, str(tolerance)) if tolerance else matching.digest
    if how.math and is_missing():
        raise RecordedError(MISSING)
    examples = [
        Example.without_choices(
            name,
            "" if inputs is None else inputs[place],
            references[place],
            Open(kind_of(references[place][0]) if kinds is None else kinds[place], tolerance),
        )
        for place, name in enumerate(grid.examples)
    ]
    texts, of_row = grid.of_rows("prediction")
    assert of_row is not None
    columns = grid.filled(of_row[:].astype(np.int64), empty=-1).tolist()
    said = [
        {each.id: texts[text] for each, text in zip(examples, row, strict=True) if text >= 0}
        for row in columns
    ]
    if spec.scoring == "f1":
        scored = _of_f1(grid, examples, said, matching, ragged=spec.ragged)
        return replace(scored, rule=rule)
    found = with_controls(examples, said, matching, samples=grid.samples)
    correct = hits(found.said, found.gold, np.arange(len(examples)))
    _refuse_other(grid, correct[grid.prompt[:], grid.example[:]])
    return Answers(
        **known,
        correct=correct,
        evaluated=found.said != NOT_EVALUATED,
        open=found,
        inputs=None if inputs is None else tuple(inputs),
        rule=rule,
    )


def _of_f1(
    grid: Grid,
    examples: Sequence[Example],
    said: Sequence[Mapping[str, str | None]],
    matching: Matching,
    *,
    ragged: bool,
) -> Answers:
    """Return the same answers with the F1 of their tokens."""
    if "correct" in grid:
        raise RecordedError(
            f"{grid.owner}: a column says which answers are right, and `scoring: f1` how good they "
            "are; leave the column out with an empty name (`columns: {correct: ''}`)"
        )
    scores = np.array(
        [
            [
                max(f1(row[each.id] or "", own, matching) for own in each.choices)
                if each.id in row
                else np.nan
                for each in examples
            ]
            for row in said
        ]
    )
    spoken = [[row.get(each.id) for each in examples] for row in said]
    voices, names = voices_of(spoken, matching), dict[int, str]()
    for label, text in zip(voices.labels.ravel().tolist(), chain(*spoken), strict=True):
        names.setdefault(label, text or "")
    evaluated = ~np.isnan(scores)
    texts = [names[label] for label in range(len(voices.names))]
    said_of = np.where(voices.labels == UNREAD, len(texts), voices.labels)
    return Answers(
        **grid.known(ragged=ragged),
        correct=scores == 1,
        evaluated=evaluated,
        scores=scores,
        answers=np.where(evaluated, said_of, NOT_EVALUATED).astype(
            np.min_scalar_type(-2 - len(texts))
        ),
        labels=(*texts, NO_CHOICE),
        judge="f1",
    )


def _refuse_other(grid: Grid, right: Any) -> None:
    """Refuse rows whose `correct` is not what their references say."""
    truth, places = grid.of_rows("correct")
    if places is None:
        return
    for row in np.flatnonzero(np.array(truth)[places[:]] != right)[:1]:
        texts, of_row = grid.of_rows("prediction")
        references = grid.of_examples("reference")
        assert of_row is not None
        assert references is not None
        own = " or ".join(map(quoted, references[grid.example[row]]))
        raise grid.error(
            row,
            f"correct says {'wrong' if right[row] else 'right'}, but prediction is "
            f"{quoted(texts[of_row[row]] or '')} and the reference {own}; say how they are "
            "compared (`results: {exact_match: {normalise: [...]}}`), or leave the column out with "
            "an empty name under `columns:`",
        )
