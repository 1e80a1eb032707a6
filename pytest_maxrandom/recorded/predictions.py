"""Files that ``pytest --maxrandom-predictions`` wrote."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from pydantic import TypeAdapter, ValidationError

from pytest_maxrandom.errors import RecordedError, dotted
from pytest_maxrandom.recorded.lines import VERSION, AnswerLine, PromptLine
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_LINE = TypeAdapter(PromptLine)
_UNTOLD = (
    "The file was written before choices were: answers are told by their places in the task's "
    "file, so who prefers a text cannot be told from who knows where files list it at several "
    "places; run the suite that wrote it again."
)


class _Mistake(Exception):
    """What is wrong with a line, in one clause."""


@dataclass
class _Claim:
    """The lines of one claim, gathered as they are read."""

    first: PromptLine
    first_place: int
    columns: dict[str, int] = field(default_factory=dict)
    gold: list[tuple[list[int], int]] = field(default_factory=list)
    labels: list[list[str] | list[int] | None] = field(default_factory=list)
    clusters: list[str | None] = field(default_factory=list)
    prompts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    places: list[NDArray[np.intp]] = field(default_factory=list)
    chosen: list[list[int]] = field(default_factory=list)
    log_likelihoods: list[list[list[float]]] = field(default_factory=list)

    def add(self, line: PromptLine) -> None:
        """Take a line in, or say what in it contradicts the claim's first."""
        for name in ("task", "model", "quantization", "shots", "scoring"):
            found, expected = getattr(line, name), getattr(self.first, name)
            if found != expected:
                raise _Mistake(
                    f"'{name}' is {found!r}, but {expected!r} in line {self.first_place} of the "
                    f"same claim {line.claim!r}; keep the lines of one run"
                )
        self.prompts.append((line.prompt, tuple(line.demonstration_ids)))
        self.places.append(np.array([self._column(answer) for answer in line.examples]))
        self.chosen.append([answer.chosen for answer in line.examples])
        self.log_likelihoods.append([_floats(answer.log_likelihoods) for answer in line.examples])

    def _column(self, answer: AnswerLine) -> int:
        column = self.columns.setdefault(answer.id, len(self.columns))
        gold = (answer.right, answer.choices)
        if column == len(self.gold):
            self.gold.append(gold)
            self.labels.append(answer.labels)
            self.clusters.append(answer.cluster)
        if self.gold[column] != gold:
            right, choices = self.gold[column]
            raise _Mistake(
                f"example {answer.id!r} has the right choices {answer.right} of {answer.choices}, "
                f"but {right} of {choices} in an earlier line; keep the lines of one run"
            )
        if self.labels[column] != answer.labels:
            raise _Mistake(
                f"example {answer.id!r} has {_labelled(answer.labels)}, but "
                f"{_labelled(self.labels[column])} in an earlier line; keep the lines of one run"
            )
        if _kind(answer.labels) is not _kind(self.labels[0]):
            first = next(iter(self.columns))
            raise _Mistake(
                f"example {answer.id!r} has {_labelled(answer.labels)}, but example {first!r} has "
                f"{_labelled(self.labels[0])}; keep the lines of one run"
            )
        if self.clusters[column] != answer.cluster:
            raise _Mistake(
                f"example {answer.id!r} has {_named(answer.cluster)}, but "
                f"{_named(self.clusters[column])} in an earlier line; keep the lines of one run"
            )
        if (answer.cluster is None) != (self.clusters[0] is None):
            first = next(iter(self.columns))
            raise _Mistake(
                f"example {answer.id!r} has {_named(answer.cluster)}, but example {first!r} has "
                f"{_named(self.clusters[0])}; keep the lines of one run"
            )
        return column

    def sweep(self, path: Path) -> Answers:
        """Return all that was gathered."""
        shape = (len(self.prompts), len(self.columns))
        most = max(choices for _, choices in self.gold)
        answers = np.full(shape, NOT_EVALUATED, dtype=np.int64)
        scores = np.full((*shape, most), np.nan)
        for row, places in enumerate(self.places):
            answers[row, places] = self.chosen[row]
            for place, values in zip(places, self.log_likelihoods[row], strict=True):
                scores[row, place, : len(values)] = values
        evaluated = answers != NOT_EVALUATED
        right = np.zeros((len(self.columns), most), dtype=np.bool_)
        for place, (indices, _) in enumerate(self.gold):
            right[place, indices] = True
        correct = evaluated & right[np.arange(len(self.columns)), answers]
        names, codes = self._codes(most)
        digests = tuple(digest for digest, _ in self.prompts)
        line = self.first
        quantized = "" if line.quantization == "none" else f" ({line.quantization})"
        return Answers(
            path=path,
            claim=line.claim,
            model=line.model + quantized,
            task=line.task,
            shots=line.shots,
            prompts=digests,
            examples=tuple(self.columns),
            identities=digests,
            demonstration_ids=tuple(shown for _, shown in self.prompts),
            correct=correct,
            evaluated=evaluated,
            chances=tuple(Fraction(len(right), choices) for right, choices in self.gold),
            answers=codes[np.arange(len(codes)), answers],
            gold=tuple(
                frozenset(row[right].tolist())
                for row, (right, _) in zip(codes, self.gold, strict=True)
            ),
            labels=names,
            unshown=self.labels[0] is None,
            notes=(_UNTOLD,) if self.labels[0] is None else (),
            log_likelihoods=scores,
            clusters=tuple(each for each in self.clusters if each is not None) or None,
        )

    def _codes(self, most: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return what labels are called, and per example and choice its label.

        The last column is NOT_EVALUATED, so that it stays what it is.
        """
        told = chain.from_iterable(labels or () for labels in self.labels)
        texts = sorted({each for each in told if isinstance(each, str)})
        number = {text: place for place, text in enumerate(texts)}
        codes = np.full((len(self.labels), most + 1), NOT_EVALUATED, dtype=np.int64)
        for row, labels, (_, choices) in zip(codes, self.labels, self.gold, strict=True):
            own = range(choices) if labels is None else labels
            row[:choices] = [number[each] if isinstance(each, str) else each for each in own]
        return tuple(texts), codes


def _labelled(labels: list[str] | list[int] | None) -> str:
    return "no labels" if labels is None else f"the labels {reprlib.repr(labels)}"


def _kind(labels: list[str] | list[int] | None) -> type:
    return type(None if labels is None else labels[0])


def _named(cluster: str | None) -> str:
    return "no cluster" if cluster is None else f"the cluster {cluster!r}"


def _floats(values: list[float | None]) -> list[float]:
    return [-np.inf if value is None else value for value in values]


def read_predictions(path: Path) -> list[Answers]:
    """Read the sweeps of all claims, in the order of their first lines.

    Raises
    ------
    RecordedError
        If the file cannot be read, is empty, was written by a newer version, or a line does not
        hold what it should.
    """
    claims: dict[str, _Claim] = {}
    number = 0
    try:
        for number, line in _lines(path):
            claims.setdefault(line.claim, _Claim(line, number)).add(line)
    except _Mistake as mistake:
        raise RecordedError(f"{path}:{number}: {mistake}") from None
    if not claims:
        raise RecordedError(
            f"{path}: holds no prediction; give a file that --maxrandom-predictions wrote"
        )
    return [claim.sweep(path) for claim in claims.values()]


def _lines(path: Path) -> Iterator[tuple[int, PromptLine]]:
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    yield number, _line(f"{path}:{number}", text)
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error


def _line(where: str, text: bytes) -> PromptLine:
    try:
        line = _LINE.validate_json(text, strict=True)
    except ValidationError as error:
        raise RecordedError(f"{where}: {_first(error)}") from error
    if line.schema_version > VERSION:
        raise RecordedError(
            f"{where}: schema version {line.schema_version} is newer than the {VERSION} known "
            "here; upgrade pytest-maxrandom"
        )
    ids = [answer.id for answer in line.examples]
    if not ids or len(set(ids)) < len(ids):
        raise RecordedError(
            f"{where}: 'examples' must name each example once, and at least one; keep the lines "
            "as --maxrandom-predictions wrote them"
        )
    for answer in line.examples:
        if problem := _problem(answer):
            raise RecordedError(f"{where}: example {answer.id!r}: {problem}")
    return line


def _problem(answer: AnswerLine) -> str | None:
    known = range(answer.choices)
    if answer.chosen not in known:
        return f"'chosen' is {answer.chosen}, expected an index below {answer.choices}"
    if not answer.right or any(index not in known for index in answer.right):
        return f"'right' is {answer.right}, expected indices below {answer.choices}"
    if len(set(answer.right)) < len(answer.right):
        return f"'right' is {answer.right}, expected each index once"
    for name, values in (("log_likelihoods", answer.log_likelihoods), ("tokens", answer.tokens)):
        if len(values) != answer.choices:
            return f"'{name}' has {len(values)} values, expected {answer.choices}"
    labels = answer.labels
    if labels is None:
        return None
    if len(labels) != answer.choices or len(set(labels)) < len(labels):
        return (
            f"'labels' is {reprlib.repr(labels)}, expected {answer.choices} different ones; keep "
            "the lines as --maxrandom-predictions wrote them"
        )
    if _kind(labels) is int and set(labels) != set(known):
        return f"'labels' is {reprlib.repr(labels)}, expected each place below {answer.choices}"
    return None


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return (
            f"{first['msg'][:1].lower()}{first['msg'][1:]}; remove the line if a run was stopped "
            "while it wrote it"
        )
    if not first["loc"]:
        return "not a prediction; give a file that --maxrandom-predictions wrote"
    where = dotted(first["loc"])
    if first["type"] == "missing":
        return f"'{where}' is missing; give a file that --maxrandom-predictions wrote"
    expected = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    return f"'{where}': found {reprlib.repr(first['input'])}, but {expected}"
