"""Files that ``pytest --maxrandom-predictions`` wrote: one line for each prompt of each claim."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass, field
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from pytest_maxrandom.answers import NO_CHOICE, Answers
from pytest_maxrandom.errors import RecordedError, dotted
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.recorded.files import opened
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

VERSION = 1


@dataclass
class AnswerLine:
    """One prompt's answer to one example."""

    id: str
    chosen: int | None
    """Index of the chosen answer; choices stand in the order of the task's file. None where none
    could be read in what was said."""
    right: list[int]
    """Indices of the right ones, ascending."""
    choices: int
    """How many there are."""
    log_likelihoods: list[float | None]
    """Of each choice: the sum over its tokens, in nats; None stands for minus infinity."""
    tokens: list[int]
    """Of each choice: the number of those tokens."""
    margin: float | None
    """By how much the best score exceeds the second, in the unit of the scoring; 0 where the
    choice fell by lot, None where the second score is minus infinity."""
    labels: list[str] | list[int]
    """Of each choice: its text where all examples with as many choices offer the same texts, else
    the place at which it is shown, from 0."""
    listed: list[str] | None = None
    """The texts of the choices by their places; left out where labels are texts."""
    cluster: str | None = None
    """What the example shares with others, such as its passage; left out where none is stated."""
    text: str | None = None
    """What the model wrote, where answers are generated; there are no log-likelihoods then."""
    finish: Literal["stop", "length", "refused"] | None = None
    """Why that ends: by itself or at a stop text, cut at its greatest length, or refused."""

    def problems(self) -> Iterator[str]:
        """Yield what no scored example can have."""
        size, known = self.choices, range(self.choices)
        if self.chosen is not None and self.chosen not in known:
            yield f"'chosen' is {self.chosen}, expected an index below {size}"
        if self.right and len(self.right) == size and self.text is not None:
            yield (
                "all choices are right, as of answers without choices; such are read from a table "
                "with the columns prediction and reference (`format: table`)"
            )
        if not self.right or not _different(self.right) or not set(self.right) <= set(known):
            yield f"'right' is {self.right}, expected different indices below {size}"
        for name in ("log_likelihoods", "tokens"):
            expected = size if self.text is None else 0
            if len(values := getattr(self, name)) != expected:
                yield f"'{name}' has {len(values)} values, expected {expected}"
        if wrong := [each for each in self.log_likelihoods if not math.isfinite(each or 0)]:
            yield (
                f"'log_likelihoods' has {wrong[0]}, expected numbers of nats, or null for minus "
                "infinity; find out what went wrong in the run"
            )
        labels = self.labels
        if (
            len(labels) != size
            or not _different(labels)
            or (isinstance(labels[0], int) and set(labels) != set(known))
        ):
            yield (
                f"'labels' is {reprlib.repr(labels)}, expected {size} different texts, or the "
                f"numbers below {size}; keep the lines as --maxrandom-predictions wrote them"
            )
        if self.listed is not None and len(self.listed) != size:
            yield f"'listed' has {len(self.listed)} texts, expected {size}"

    def facts(self) -> Iterator[tuple[object, object, str]]:
        """Yield what the example is, whatever was answered.

        Each fact comes with what of it all examples have in common, and in words.
        """
        labels, listed, cluster = self.labels, self.listed, self.cluster
        yield (
            (self.right, self.choices),
            None,
            f"the right choices {self.right} of {self.choices}",
        )
        yield labels, type(labels[0]), f"the labels {reprlib.repr(labels)}"
        yield listed, type(listed), f"the listed choices {reprlib.repr(listed)}"
        yield (
            cluster,
            type(cluster),
            "no cluster" if cluster is None else f"the cluster {cluster!r}",
        )


@dataclass
class PromptLine:
    """One prompt of one claim."""

    schema_version: int
    claim: str
    task: str
    model: str
    quantization: str
    shots: int
    scoring: str
    prompt: str
    """Digest of its text."""
    demonstration_ids: list[str]
    examples: list[AnswerLine]
    sample: int | None = None
    """Which of several answers of the prompt these are, from 0; left out where there is one."""
    simulated: bool = False
    """Whether a rule made the answers up (`backend: mock`); left out where none did."""
    examples_digest: str | None = None
    """Digest of the examples and their ids."""
    model_digest: str | None = None
    """By which the ledger knows the model."""
    arithmetic: str | None = None
    """Digest of what computed the numbers."""

    def problems(self) -> Iterator[str]:
        """Yield what no line that is known here can have."""
        if self.schema_version > VERSION:
            yield (
                f"schema version {self.schema_version} is newer than {VERSION}, the newest known "
                "here; upgrade pytest-maxrandom"
            )
        if not self.examples or not _different([answer.id for answer in self.examples]):
            yield (
                "'examples' must name at least one example, and each only once; keep the lines as "
                "--maxrandom-predictions wrote them"
            )
        for answer in self.examples:
            yield from (f"example {answer.id!r}: {problem}" for problem in answer.problems())


_LINE = TypeAdapter(PromptLine)
_SAID = attrgetter("right", "choices", "labels", "listed", "cluster")


def _different(values: list[int] | list[str]) -> bool:
    return len(set(values)) == len(values)


@dataclass
class _Claim:
    """The lines of one claim, gathered as they are read."""

    first: PromptLine
    first_line: int
    examples: dict[str, AnswerLine] = field(default_factory=dict)
    prompts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Of each its digest, and the ids of its demonstrations."""
    answers: list[list[tuple[str, int | None, list[float | None]]]] = field(default_factory=list)
    """Of each prompt and example the id, what was chosen, and the log-likelihoods."""
    samples: list[int] = field(default_factory=list)
    """Of each line which sample of its prompt it is."""

    def add(self, line: PromptLine, where: str) -> None:
        """Take a line in, or say what in it contradicts the claim's first."""
        for name in ("task", "model", "quantization", "shots", "scoring", "simulated"):
            found, expected = getattr(line, name), getattr(self.first, name)
            if found != expected:
                raise RecordedError(
                    f"{where}: '{name}' is {found!r}, but {expected!r} in line {self.first_line} "
                    f"of the same claim {line.claim!r}; keep the lines of one run"
                )
        for answer in line.examples:
            self._compare(answer, where)
        self.prompts.append((line.prompt, tuple(line.demonstration_ids)))
        self.samples.append(line.sample or 0)
        self.answers.append([(own.id, own.chosen, own.log_likelihoods) for own in line.examples])

    def _compare(self, answer: AnswerLine, where: str) -> None:
        """Compare an example with itself in earlier lines, and with the claim's first."""
        same, first = self.examples.setdefault(answer.id, answer), self.first.examples[0]
        if same is not answer and _SAID(same) == _SAID(answer):
            return
        facts = zip(answer.facts(), same.facts(), first.facts(), strict=True)
        for (value, kind, found), (before, _, earlier), (_, usual, of_first) in facts:
            if value != before or kind != usual:
                expected = f"example {first.id!r} has {of_first}"
                if value != before:
                    expected = f"{earlier} in an earlier line"
                raise RecordedError(
                    f"{where}: example {answer.id!r} has {found}, but {expected}; keep the lines "
                    "of one run"
                )

    def sweep(self, path: Path) -> Answers:
        """Return all that was gathered."""
        k = 1 + max(self.samples)
        if k > 1:
            self._order(path, k)
        return folded(self._read(path), k)

    def _order(self, path: Path, k: int) -> None:
        """Put the samples of each prompt together, which may stand in any order."""
        first: dict[str, int] = {}
        places = [first.setdefault(digest, len(first)) for digest, _ in self.prompts]
        found = [*zip(places, self.samples, strict=True)]
        for digest, place in first.items():
            own = sorted(sample for at, sample in found if at == place)
            if own != [*range(k)]:
                raise RecordedError(
                    f"{path}: {self.first.claim}: prompt {digest!r} has the samples {own}, and "
                    f"others have 0 to {k - 1}; keep the lines of one run, each once"
                )
        order = sorted(range(len(found)), key=found.__getitem__)
        self.prompts = [self.prompts[each] for each in order]
        self.answers = [self.answers[each] for each in order]

    def _read(self, path: Path) -> Answers:
        """Return it as if each sample were a prompt."""
        examples = [*self.examples.values()]
        columns = {name: column for column, name in enumerate(self.examples)}
        names, codes = _codes(examples)
        beyond = len(names) or codes.shape[1]
        if names and any(chosen is None for cells in self.answers for _, chosen, _ in cells):
            names = (*names, NO_CHOICE)
        answers = np.full((len(self.prompts), len(examples)), NOT_EVALUATED, dtype=np.int64)
        scores = np.full((*answers.shape, codes.shape[1]), np.nan)
        for row, cells in enumerate(self.answers):
            for name, chosen, values in cells:
                column = columns[name]
                answers[row, column] = beyond if chosen is None else codes[column, chosen]
                floats = [-np.inf if value is None else value for value in values]
                scores[row, column, : len(values)] = floats
        gold = tuple(
            frozenset(row[example.right].tolist())
            for row, example in zip(codes, examples, strict=True)
        )
        line, digests = self.first, tuple(digest for digest, _ in self.prompts)
        quantized = "" if line.quantization in ("", "none") else f" ({line.quantization})"
        return Answers(
            path=path,
            claim=line.claim,
            model=line.model + quantized,
            task=line.task,
            shots=line.shots,
            prompts=digests,
            examples=tuple(self.examples),
            identities=digests,
            demonstration_ids=tuple(shown for _, shown in self.prompts),
            correct=hits(answers, gold, np.arange(len(gold))),
            evaluated=answers != NOT_EVALUATED,
            chances=tuple(Fraction(len(each.right), each.choices) for each in examples),
            answers=answers,
            gold=gold,
            labels=names,
            log_likelihoods=None if examples[0].text is not None else scores,
            simulated=line.simulated,
            clusters=tuple(each.cluster for each in examples if each.cluster is not None) or None,
            offered=tuple(tuple(each.listed) for each in examples if each.listed is not None)
            or None,
        )


def _codes(examples: list[AnswerLine]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return what labels are called, and per example and choice its label."""
    told = [example.labels for example in examples]
    texts = sorted({label for labels in told for label in labels if isinstance(label, str)})
    number: dict[str | int, int] = {text: place for place, text in enumerate(texts)}
    codes = np.full((len(told), max(map(len, told))), NOT_EVALUATED, dtype=np.int64)
    for row, labels in zip(codes, told, strict=True):
        row[: len(labels)] = [number.get(label, label) for label in labels]
    return tuple(texts), codes


def read_predictions(path: Path) -> list[Answers]:
    """Read the sweeps of all claims, in the order of their first lines.

    Raises
    ------
    RecordedError
        If the file cannot be read, is empty, was written by a newer version, or a line does not
        hold what it should.
    """
    claims: dict[str, _Claim] = {}
    for number, line in _numbered(path):
        claims.setdefault(line.claim, _Claim(line, number)).add(line, f"{path}:{number}")
    if not claims:
        raise RecordedError(
            f"{path}: holds no prediction; give a file that --maxrandom-predictions wrote"
        )
    return [claim.sweep(path) for claim in claims.values()]


def read_lines(path: Path) -> Iterator[PromptLine]:
    """Read what each prompt of each claim answered, in the order of the file.

    Raises
    ------
    RecordedError
        If the file cannot be read, was written by a newer version, or a line does not hold what it
        should.
    """
    if why := refused(path, str(path)):
        raise RecordedError(why)
    return (line for _, line in _numbered(path))


def _numbered(path: Path) -> Iterator[tuple[int, PromptLine]]:
    with opened(path, newline="\n") as file:
        for number, text in enumerate(file, start=1):
            if not text.isspace():
                try:
                    line = _LINE.validate_json(text, strict=True)
                except ValidationError as error:
                    raise RecordedError(f"{path}:{number}: {_first(error)}") from None
                for problem in line.problems():
                    raise RecordedError(f"{path}:{number}: {problem}")
                yield number, line


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    where, expected = dotted(first["loc"]), f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    if first["type"] == "json_invalid":
        if "line 1 column 1" in expected:
            return "not a prediction; give a file that --maxrandom-predictions wrote"
        return (
            "the line ends too early, or is not valid JSON; remove it if an interrupted run left "
            "it unfinished"
        )
    if not where:
        return "not a prediction; give a file that --maxrandom-predictions wrote"
    if first["type"] == "missing":
        return f"'{where}' is missing; give a file that --maxrandom-predictions wrote"
    return f"'{where}': found {reprlib.repr(first['input'])}, but {expected}"
