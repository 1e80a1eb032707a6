"""Runs of other tools, gathered into sweeps: a run is one prompt of a sweep."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    from numpy.typing import NDArray

    _Table: TypeAlias = list[list["LoggedAnswer"]]  # (t, n)
    _Codes: TypeAlias = list[list[tuple[int, ...]]]  # (t, n), the label of each choice


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """What a run's log tells of one example; None where it does not tell.

    Attributes
    ----------
    id : str
        Name of the example, unique in its run.
    content : str
        Digest of what the example says, whatever the prompt around it.
    correct : bool
        Whether the tool counted the answer as right.
    chance : Fraction or None
        Chance of one guess.
    choices : tuple of str or None
        Texts of the choices, or as many empty texts where only their number is known.
    right : frozenset of int or None
        Places of the right choices.
    chosen : int or None
        Place of the choice that was answered.
    log_likelihoods : tuple of float or None
        Of each choice, in nats.
    cluster : str or None
        What the example shares with others, such as its passage.
    """

    id: str
    content: str
    correct: bool
    chance: Fraction | None = None
    choices: tuple[str, ...] | None = None
    right: frozenset[int] | None = None
    chosen: int | None = None
    log_likelihoods: tuple[float, ...] | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One model, with one set of prompts, on one task.

    Attributes
    ----------
    path : Path
        The file with its answers.
    name : str
        What the run is called in the sweep.
    identity : str
        Digest of all that makes it another try than another run.
    measure : str
        How its answers were judged.
    notes : tuple of str
        What a reader must know, one sentence each.
    """

    path: Path
    name: str
    identity: str
    model: str
    task: str
    shots: int
    measure: str
    answers: tuple[LoggedAnswer, ...]
    notes: tuple[str, ...] = ()


def digest(*parts: object) -> str:
    """Return a digest of values that JSON can hold."""
    text = dumps(parts, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()


def cluster_of(data: object, key: str | None, where: str) -> str | None:
    """Return the cluster in what a log tells of an example; None where none is asked for.

    Parameters
    ----------
    data : object
        An object of JSON in which it stands under `key`.

    Raises
    ------
    RecordedError
        If it does not stand there.
    """
    if key is None:
        return None
    fields = data if isinstance(data, dict) else {}
    value = fields.get(key)
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value)
    raise RecordedError(
        f"{where}: no cluster in {key!r}, found {reprlib.repr(value)} beside "
        f"{', '.join(map(str, fields)) or 'nothing'}; name a field that holds a text or a whole "
        "number in every example"
    )


def gather(path: Path, runs: Sequence[LoggedRun]) -> list[Answers]:
    """Make a sweep of all runs with the same model, task and shots, in the order of their firsts.

    Parameters
    ----------
    path : Path
        Where the runs were read from.
    runs : sequence of LoggedRun
        In the order in which repeated runs give way to earlier ones.

    Raises
    ------
    RecordedError
        If runs of a sweep were judged in different ways, or on different examples.
    """
    sweeps: dict[tuple[str, str, int], list[LoggedRun]] = {}
    for run in runs:
        sweeps.setdefault((run.model, run.task, run.shots), []).append(run)
    return [_sweep(path, each) for each in sweeps.values()]


def _sweep(path: Path, runs: list[LoggedRun]) -> Answers:
    first = runs[0]
    columns = {answer.id: column for column, answer in enumerate(first.answers)}
    table: _Table = []
    for run in runs:
        _same_examples(first, run)
        table.append(sorted(run.answers, key=lambda answer: columns[answer.id]))
    codes, labels = _labels(table)
    correct = np.array([[answer.correct for answer in row] for row in table])
    chances = [answer.chance for answer in first.answers]
    clusters = tuple(answer.cluster for answer in first.answers if answer.cluster is not None)
    return Answers(
        path=path,
        claim=f"{first.task}[{first.model}-{first.shots}shot]",
        model=first.model,
        task=first.task,
        shots=first.shots,
        prompts=tuple(run.name for run in runs),
        examples=tuple(columns),
        identities=tuple(run.identity for run in runs),
        demonstration_ids=((),) * len(runs),
        correct=correct,
        evaluated=np.ones_like(correct),
        chances=None if None in chances else tuple(each for each in chances if each is not None),
        answers=_answers(table, codes),
        gold=_gold(table, codes),
        labels=labels,
        log_likelihoods=_log_likelihoods(table, codes),
        notes=(*dict.fromkeys(note for run in runs for note in run.notes), *_repeats(runs, table)),
        clusters=clusters or None,
    )


def _same_examples(first: LoggedRun, run: LoggedRun) -> None:
    where = f"{run.path}: {run.task}"
    if run.measure != first.measure:
        raise RecordedError(
            f"{where}: judged by {run.measure}, but {first.path} by {first.measure}; keep the "
            "runs that were judged alike"
        )
    if len(run.answers) != len(first.answers):
        raise RecordedError(
            f"{where}: {len(run.answers)} examples, but {first.path} has {len(first.answers)}; "
            "run the same examples every time, without another limit"
        )
    known = {answer.id: answer for answer in first.answers}
    for answer in run.answers:
        same = known.get(answer.id)
        if same is None:
            raise RecordedError(
                f"{where}: example {answer.id!r} is not in {first.path}; run the same examples "
                "every time"
            )
        if (answer.content, answer.chance) != (same.content, same.chance):
            raise RecordedError(
                f"{where}: example {answer.id!r} is another one than in {first.path}; keep the "
                "runs on one version of the task"
            )
        if answer.cluster != same.cluster:
            raise RecordedError(
                f"{where}: example {answer.id!r} has the cluster {answer.cluster!r}, but "
                f"{same.cluster!r} in {first.path}; keep the runs on one version of the task"
            )


def _labels(table: _Table) -> tuple[_Codes | None, tuple[str, ...]]:
    """Return the label of each choice, and what labels are called.

    It is the choice's text if all examples with as many share their texts, else its place. None
    where the choices are not known, or the right ones have other labels in one run than in another.
    """
    choices = [[answer.choices or () for answer in row] for row in table]
    if any(not each for row in choices for each in row):
        return None, ()
    texts = {tuple(sorted(each)) for row in choices for each in row}
    if len({*map(len, texts)}) == len(texts) and all(len({*each}) == len(each) for each in texts):
        known = tuple(sorted(set().union(*texts)))
        names = {text: label for label, text in enumerate(known)}
        codes = [[tuple(names[text] for text in each) for each in row] for row in choices]
        if _same_in_all_runs(table, codes):
            return codes, known
    codes = [[tuple(range(len(each))) for each in row] for row in choices]
    return (codes if _same_in_all_runs(table, codes) else None), ()


def _same_in_all_runs(table: _Table, codes: _Codes) -> bool:
    first, *others = [_right(*each) for each in zip(table, codes, strict=True)]
    sizes = {tuple(len(code) for code in row) for row in codes}
    return len(sizes) == 1 and all(other == first for other in others)


def _right(row: list[LoggedAnswer], codes: list[tuple[int, ...]]) -> list[frozenset[int] | None]:
    return [
        None if answer.right is None else frozenset(code[place] for place in answer.right)
        for answer, code in zip(row, codes, strict=True)
    ]


def _gold(table: _Table, codes: _Codes | None) -> tuple[frozenset[int], ...] | None:
    right = [None] if codes is None else _right(table[0], codes[0])
    return None if None in right else tuple(each for each in right if each is not None)


def _answers(table: _Table, codes: _Codes | None) -> NDArray[np.int64] | None:
    if codes is None or any(answer.chosen is None for row in table for answer in row):
        return None
    return np.array(
        [
            [
                code[answer.chosen]
                for answer, code in zip(row, labels, strict=True)
                if answer.chosen is not None
            ]
            for row, labels in zip(table, codes, strict=True)
        ]
    )


def _log_likelihoods(table: _Table, codes: _Codes | None) -> NDArray[np.float64] | None:
    if codes is None or any(answer.log_likelihoods is None for row in table for answer in row):
        return None
    most = 1 + max(max(code) for row in codes for code in row)
    values = np.full((len(table), len(table[0]), most), np.nan)
    for row, (answers, labels) in enumerate(zip(table, codes, strict=True)):
        for column, (answer, code) in enumerate(zip(answers, labels, strict=True)):
            values[row, column, list(code)] = answer.log_likelihoods
    return values


def _repeats(runs: list[LoggedRun], table: _Table) -> list[str]:
    """Say that runs count once, and whether they answered alike."""
    first: dict[str, int] = {}
    repeats, most = 0, 0
    for place, run in enumerate(runs):
        earlier = first.setdefault(run.identity, place)
        if earlier != place:
            pairs = zip(table[place], table[earlier], strict=True)
            differ = [(a.correct, a.chosen) != (b.correct, b.chosen) for a, b in pairs]
            repeats, most = repeats + 1, max(most, sum(differ))
    if not repeats:
        return []
    verb, count = ("repeats", "does") if repeats == 1 else ("repeat", "do")
    note = (
        f"{repeats} of the {len(runs)} runs {verb} the prompts of an earlier one and {count} not "
        "count again"
    )
    if most:
        note += f", although up to {most} of the {len(table[0])} answers differ"
    return [note + "."]
