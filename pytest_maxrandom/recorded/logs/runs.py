"""Runs of other tools, gathered into sweeps: a run is one prompt of a sweep."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from json import dumps
from operator import ne
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_maxrandom.answers import Answers, are_letters
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.logs.written import Written, compared
from pytest_maxrandom.suite.base import repeats
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.tasks.references import Matching

    _Table: TypeAlias = list[list["LoggedAnswer"]]  # (t, n)
    _Codes: TypeAlias = list[list[tuple[int, ...]]]  # (t, n), the label of each choice


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """What a run's log tells of one example; None where it does not tell."""

    id: str
    """Name of the example, unique in its run."""
    content: str
    """Digest of what the example says, whatever the prompt around it."""
    prompt: str
    """Digest of what the model got before it answered."""
    correct: bool
    """Whether the tool counted the answer as right."""
    score: float | None = None
    """How good it is, from 0 to 1, where the tool does not say right or wrong."""
    choices: tuple[str, ...] | None = None
    """Texts of the choices, or as many empty texts where only their number is known."""
    told: tuple[str, ...] | None = None
    """Texts that the question lists under its choices, where these are letters."""
    right: frozenset[int] | None = None
    """Places of the right choices."""
    chosen: int | None = None
    """Place of the choice that was answered."""
    log_likelihoods: tuple[float, ...] | None = None
    """Of each choice, in nats."""
    written: Written | None = None
    """Of an example without choices."""
    cluster: str | None = None
    """What the example shares with others, such as its passage."""

    @property
    def chance(self) -> Fraction | None:
        """Chance of one guess; one choice counts as right if the log does not say which."""
        right = 1 if self.right is None else len(self.right)
        return Fraction(right, len(self.choices)) if self.choices else None


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One model, with one set of prompts, on one task."""

    path: Path
    """The file with its answers."""
    log: Path
    """The file after which the run is called in the sweep."""
    identity: str
    """Digest of all that makes it another try than another run."""
    model: str
    task: str
    shots: int
    measure: str
    """How its answers were judged."""
    answers: tuple[LoggedAnswer, ...]
    others: tuple[tuple[LoggedAnswer, ...], ...] = ()
    """Further answers to the same examples, where each was asked several times."""
    matching: Matching | None = None
    """How answers without choices are compared with what is right; None where that is not told."""
    notes: tuple[Remark, ...] = ()
    """What a reader must know."""


def is_share(value: object) -> bool:
    """Tell whether a value is a score between 0 and 1, which no number of right answers is."""
    return isinstance(value, float) and 0 < value < 1


def digest(*parts: object) -> str:
    """Return a digest of values that JSON can hold."""
    text = dumps(parts, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()


def cluster_of(data: object, key: str | None, where: str) -> str | None:
    """Return the cluster in what a log tells of an example; None where none is asked for.

    Raises
    ------
    RecordedError
        If it does not stand under `key` in an object of JSON.
    """
    if key is None:
        return None
    fields = data if isinstance(data, dict) else {}
    value = fields.get(key)
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value)
    raise RecordedError(
        f"{where}: no cluster in {key!r}, found {reprlib.repr(value)} (fields: "
        f"{', '.join(map(str, fields)) or 'none'}); name a field that holds a text or a whole "
        "number in every example"
    )


def gather(path: Path, runs: Sequence[LoggedRun]) -> list[Answers]:
    """Make a sweep of all runs with the same model, task and shots, in the order of their firsts.

    Repeated runs give way to those that are given earlier.

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
    first, k = runs[0], 1 + len(runs[0].others)
    columns = {answer.id: column for column, answer in enumerate(first.answers)}
    table: _Table = []
    for run in runs:
        _same_examples(first, run)
        if 1 + len(run.others) != k:
            raise RecordedError(
                f"{run.path}: {run.task}: {1 + len(run.others)} answers to each example, but "
                f"{first.path} has {k}; keep the runs with as many epochs"
            )
        for answers in (run.answers, *run.others):
            table.append(sorted(answers, key=lambda answer: columns[answer.id]))
    run_of_row = [run for run in runs for _ in range(k)]
    correct = np.array([[answer.correct for answer in row] for row in table])
    graded = any(answer.score is not None for row in table for answer in row)
    scores = [
        [float(answer.correct) if answer.score is None else answer.score for answer in row]
        for row in table
    ]
    chances = tuple(answer.chance for answer in first.answers if answer.chance is not None)
    clusters = tuple(answer.cluster for answer in first.answers if answer.cluster is not None)
    root = path if path.is_dir() else path.parent
    matching = first.matching if {run.matching for run in runs} == {first.matching} else None
    written = [[None if graded else answer.written for answer in row] for row in table]
    of_open, notes = compared([*columns], written, correct, matching, samples=k)
    samples = Answers(
        path=path,
        claim=f"{first.task}[{first.model}-{first.shots}shot]",
        model=first.model,
        task=first.task,
        shots=first.shots,
        prompts=tuple(str(run.log.relative_to(root).with_suffix("")) for run in run_of_row),
        examples=tuple(columns),
        identities=tuple(run.identity for run in run_of_row),
        demonstration_ids=((),) * len(run_of_row),
        correct=correct,
        evaluated=np.ones_like(correct),
        scores=np.array(scores) if graded else None,
        chances=chances if len(chances) == len(columns) else None,
        rule=digest(first.measure, "" if matching is None else matching.digest),
        notes=(
            *dict.fromkeys(note for run in runs for note in run.notes),
            *notes,
            *_repeats(runs, table[::k]),
        ),
        clusters=clusters or None,
        **(of_open or _by_label(table)),
    )
    return folded(samples, k)


def _same_examples(first: LoggedRun, run: LoggedRun) -> None:
    where = f"{run.path}: {run.task}"
    if run.measure != first.measure:
        raise RecordedError(
            f"{where}: judged by {run.measure}, but {first.path} by {first.measure}; keep the runs "
            "with the same measure"
        )
    if len(run.answers) != len(first.answers):
        raise RecordedError(
            f"{where}: {len(run.answers)} examples, but {first.path} has {len(first.answers)}; run "
            "the same examples every time, with the same limit"
        )
    known = {answer.id: answer for answer in first.answers}
    for answer in run.answers:
        same, name = known.get(answer.id), f"example {answer.id!r}"
        if same is None:
            raise RecordedError(
                f"{where}: {name} is not in {first.path}; run the same examples every time"
            )
        if answer.cluster != same.cluster:
            problem = f"has the cluster {answer.cluster!r}, but {same.cluster!r} in {first.path}"
        elif (answer.content, answer.chance) != (same.content, same.chance):
            problem = f"differs from the one in {first.path}"
        else:
            continue
        raise RecordedError(f"{where}: {name} {problem}; keep the runs on one version of the task")


def _by_label(table: _Table) -> dict[str, Any]:
    """Return what `Answers` holds of labels, as far as it is known of all answers."""
    ways = _labelings(table)
    names, codes = next((way for way in ways if _same_in_all_runs(table, way[1])), ((), None))
    if codes is None:
        return {}
    gold = _right(table[0], codes[0])
    known: dict[str, Any] = {"labels": names, "gold": None if None in gold else tuple(gold)}
    first, *others = ([answer.choices or () for answer in row] for row in table)
    listed = all(choices[0] for choices in first) and all(other == first for other in others)
    if listed and all(map(are_letters, first)):
        # What they stand for, where that is told.
        first, *others = ([answer.told or () for answer in row] for row in table)
        listed = all(first) and all(other == first for other in others)
    if listed:
        known["offered"] = tuple(first)
    cells = [[*zip(row, own, strict=True)] for row, own in zip(table, codes, strict=True)]
    told = [answer for row in table for answer in row]
    if all(answer.chosen is not None for answer in told):
        said = [[code[answer.chosen or 0] for answer, code in row] for row in cells]
        known["answers"] = np.array(said)
    if all(answer.log_likelihoods is not None for answer in told):
        most = 1 + max(max(code) for row in codes for code in row)
        scores = known["log_likelihoods"] = np.full((len(table), len(table[0]), most), np.nan)
        for place, row in enumerate(cells):
            for column, (answer, code) in enumerate(row):
                scores[place, column, list(code)] = answer.log_likelihoods
    return known


def _labelings(table: _Table) -> Iterator[tuple[tuple[str, ...], _Codes]]:
    """Yield what labels may be called, and that of each choice; the best way first.

    It is the choice's text if all examples with as many share their texts, else its place. Nothing
    where the choices are not known.
    """
    choices = [[answer.choices or () for answer in row] for row in table]
    if not all(map(all, choices)):
        return
    texts = {tuple(sorted(each)) for row in choices for each in row}
    if len({*map(len, texts)}) == len(texts) and all(len({*each}) == len(each) for each in texts):
        known = tuple(sorted(set().union(*texts)))
        names = {text: label for label, text in enumerate(known)}
        yield known, [[tuple(names[text] for text in each) for each in row] for row in choices]
    yield (), [[tuple(range(len(each))) for each in row] for row in choices]


def _same_in_all_runs(table: _Table, codes: _Codes) -> bool:
    first, *others = [_right(*each) for each in zip(table, codes, strict=True)]
    sizes = {tuple(map(len, row)) for row in codes}
    return len(sizes) == 1 and all(other == first for other in others)


def _right(row: list[LoggedAnswer], codes: list[tuple[int, ...]]) -> list[frozenset[int] | None]:
    return [
        None if answer.right is None else frozenset(code[place] for place in answer.right)
        for answer, code in zip(row, codes, strict=True)
    ]


def _repeats(runs: list[LoggedRun], table: _Table) -> list[Remark]:
    """Say that runs count once, and whether they answered alike."""
    again = [*repeats(run.identity for run in runs)]
    if not again:
        return []
    said = [[(answer.correct, answer.score, answer.chosen) for answer in row] for row in table]
    most = max(sum(map(ne, said[place], said[earlier])) for place, earlier in again)
    values = {"repeats": len(again), "runs": len(runs)}
    if most:
        return [Remark("runs_differ", {**values, "differ": most, "answers": len(table[0])})]
    return [Remark("runs_repeat", values)]
