"""Scores that a hand-written test gives, as the answers that any claim is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.beside import IncumbentAnswers, rank_among
from pytest_maxrandom.claims.samples import as_stated, unlike
from pytest_maxrandom.stats.samples import Aggregate
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.incumbent import IncumbentSettings
from pytest_maxrandom.suite.mistakes import worded
from pytest_maxrandom.suite.prompts import AggregateSettings
from pytest_maxrandom.sweeps.samples import aggregated, folded

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.incumbents import IncumbentTest

_SCORES = "numbers from 0 to 1, or NaN where there is none"


def answers_of(
    name: str,
    given: Any,
    clusters: Sequence[Hashable] | Mapping[str, Hashable] | None = None,
    aggregate: Any = None,
) -> Answers:
    """Return scores as answers.

    Parameters
    ----------
    name : str
        What a message calls them.
    given
        An array of shape (prompts, examples), or with a third axis for several samples of each
        answer; or scores by the names of prompts: each a row, or scores by the ids of examples.
    clusters : sequence or mapping, optional
        Per example, in the same order or by its id, what it has in common with others.
    aggregate : str or mapping, optional
        What samples come to, as in a suite; their mean if not given.

    Raises
    ------
    ValueError
        In one line, if shapes disagree, or a score is none.
    """
    prompts: tuple[str, ...]
    if isinstance(given, Mapping):
        prompts = tuple(map(str, given))
        rows = [*given.values()]
        if rows and all(isinstance(row, Mapping) for row in rows):
            examples = tuple(dict.fromkeys(str(key) for row in rows for key in row))
            named = [{str(key): value for key, value in row.items()} for row in rows]
            nothing = _nothing(value for row in named for value in row.values())
            values = _numbers(name, [[row.get(key, nothing) for key in examples] for row in named])
        else:
            values = _numbers(name, rows)
            examples = _places(values)
    else:
        values = _numbers(name, given)
        prompts, examples = tuple(map(str, range(len(values)))), _places(values)
    k = values.shape[2]
    there = ~np.isnan(values[..., 0])
    for row in np.flatnonzero(~there.any(axis=1))[:1]:
        raise ValueError(
            f"{name}: prompt {prompts[row]!r} has no score on any example; leave it out"
        )
    for column in np.flatnonzero(~there.any(axis=0))[:1]:
        raise ValueError(
            f"{name}: example {examples[column]!r} has no score of any prompt; leave it out, or "
            "score it"
        )
    graded = k > 1 or not np.isin(values[there], (0.0, 1.0)).all()
    # Each sample is as if it were a prompt.
    samples = values.transpose(0, 2, 1).reshape(-1, len(examples))
    names = tuple(prompt for prompt in prompts for _ in range(k))
    answers = folded(
        Answers(
            model="",
            shots=0,
            prompts=names,
            identities=names,
            examples=examples,
            correct=samples == 1,
            evaluated=~np.isnan(samples),
            scores=samples if graded else None,
            clusters=_clusters(clusters, examples),
        ),
        k,
    )
    how = _aggregate(aggregate, k)
    return answers if how is None else aggregated(answers, how.how, how.asked)


def scores_beside(
    name: str,
    given: Any,
    answers: Answers,
    test: IncumbentTest | None = None,
    matters: float = 0.05,
) -> IncumbentAnswers:
    """Return the scores of an incumbent or a control on the examples of some answers.

    `name` is "incumbent" or "control", and `given` a row of scores, or scores by the ids of
    examples; several samples of each come to what those of the answers do.

    Raises
    ------
    ValueError
        In one line, if they are not as many as examples, or a score is none.
    """
    if isinstance(given, Mapping):
        own = {str(key): value for key, value in given.items()}
        nothing = _nothing(own.values())
        given = [own.get(example, nothing) for example in answers.examples]
    (samples,) = _numbers(name, [given])
    many = samples.shape[1]
    if why := unlike(answers.aggregate, many):
        raise ValueError(f"{name}: {why}; give as many samples of each")
    how = answers.aggregate or Aggregate("mean", many)
    values = how.of_fewer(many).of_grades(samples)
    if len(values) != len(answers.examples):
        raise ValueError(
            f"{name} must have one score for each of the {len(answers.examples)} examples, found "
            f"{len(values)}"
        )
    if not (answers.evaluated.any(axis=0) & ~np.isnan(values)).any():
        raise ValueError(f"{name} has no score on any example of the others")
    scores = {
        example: float(value)
        for example, value in zip(answers.examples, values, strict=True)
        if not np.isnan(value)
    }
    cells = (f"{example} {score!r}" for example, score in sorted(scores.items()))
    chosen_here, rank = rank_among(scores, answers) if name == "incumbent" else (None, 1)
    return IncumbentAnswers(
        settings=IncumbentSettings(test=test, matters=matters),
        name=f"the {name}",
        digest=digest(name, *cells),
        model="",
        scores=scores,
        chosen_here=chosen_here,
        rank=rank,
    )


def _numbers(name: str, rows: Any) -> NDArray[np.float64]:
    """Return rows of scores as an array, shape (prompts, examples, samples)."""
    if hasattr(rows, "columns"):
        raise ValueError(
            f"{name} is a {type(rows).__name__}, which does not say whether its rows are prompts "
            "or examples; give an array of shape (prompts, examples), or a row of scores by the "
            "name of each prompt"
        )
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be {_SCORES}, as many for each prompt as there are examples, found "
            f"{_found(rows)}"
        ) from None
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise ValueError(
            f"{name} must have the shape (prompts, examples), found {values.shape}; give one row "
            "of scores for each prompt, or a third axis for samples"
        )
    for place in np.argwhere(~np.isnan(values) & ~((values >= 0) & (values <= 1)))[:1]:
        row, column = place[:2]
        raise ValueError(
            f"{name} must be {_SCORES}, found {values[tuple(place)]:g} in row {row}, column "
            f"{column}; divide marks on another scale by their range"
        )
    samples = values.reshape(*values.shape[:2], -1)
    there = ~np.isnan(samples)
    for row, column in np.argwhere(there.any(axis=2) & ~there.all(axis=2))[:1]:
        raise ValueError(
            f"{name} must have as many samples of each answer, found {there[row, column].sum()} of "
            f"{samples.shape[2]} in row {row}, column {column}"
        )
    return samples


def _aggregate(given: Any, samples: int) -> Aggregate | None:
    """Return what so many samples come to; None where nobody says."""
    if given is None:
        return None
    keys = {"aggregate": given}
    try:
        how = AggregateSettings.model_validate(keys).aggregate
    except ValidationError as error:
        raise ValueError(worded(error, keys, AggregateSettings)) from None
    if samples == 1:
        raise ValueError(
            "aggregate: each answer has one score; give several samples of each on a third axis, "
            "or leave it out"
        )
    if how == "vote":
        raise ValueError(
            "aggregate: a vote needs what was answered, and only scores are given; use 'mean', "
            "'pass' or 'all', or give the answers to `maxrandom.judge`"
        )
    stated = as_stated(how, samples)
    if stated.j > samples:
        raise ValueError(
            f"aggregate: pass@{stated.j} needs at least {stated.j} samples of each answer, found "
            f"{samples}; ask for fewer, or take more"
        )
    return stated


def _nothing(values: Iterable[Any]) -> Any:
    """Return what stands where there is no score: as many as samples of others."""
    first = next(iter(values), np.nan)
    return [np.nan] * len(first) if isinstance(first, list | tuple | np.ndarray) else np.nan


def _found(rows: Any) -> str:
    """Say why rows are no array of numbers."""
    if isinstance(rows, list) and all(isinstance(row, list | tuple) for row in rows):
        texts = (value for row in rows for value in row if isinstance(value, str))
        if (text := next(texts, None)) is not None:
            return repr(text)
        sizes = dict.fromkeys(map(len, rows))
        if len(sizes) > 1:
            return f"rows of {' and '.join(map(str, [*sizes][:2]))} scores"
        samples = dict.fromkeys(
            len(cell) if isinstance(cell, list | tuple) else 1 for row in rows for cell in row
        )
        if len(samples) > 1:
            return f"answers of {' and '.join(map(str, [*samples][:2]))} samples"
    return f"{type(rows).__name__} that is no array of numbers"


def _places(values: NDArray[np.float64]) -> tuple[str, ...]:
    return tuple(map(str, range(values.shape[1])))


def _clusters(
    given: Sequence[Hashable] | Mapping[str, Hashable] | None, examples: tuple[str, ...]
) -> tuple[str | None, ...] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        named = {str(key): value for key, value in given.items()}
        return tuple(str(named[key]) if key in named else None for key in examples)
    if len(given) != len(examples):
        raise ValueError(f"clusters names {len(given)} examples, the scores have {len(examples)}")
    return tuple(map(str, given))
