"""Files that ``pytest --maxrandom-predictions`` wrote: one line for each prompt of each claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers, OpenAnswers, Voices
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.prediction_lines import AnswerLine, OpenLine, PromptLine, numbered
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.stats.samples import UNREAD
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_SAID = attrgetter("right", "choices", "labels", "listed", "cluster")


def _known(answer: AnswerLine) -> tuple[object, ...]:
    """Return what an example is whatever was answered."""
    return _SAID(answer), answer.open and answer.open.known


class _Cells(NamedTuple):
    """What a prompt answered, example by example."""

    columns: NDArray[np.int32]
    """Places of the examples among those of the claim."""
    said: NDArray[np.int32]
    """What was chosen or said; -1 where that is nothing."""
    values: NDArray[np.float64]
    """Log-likelihoods, shape (examples, most choices), NaN beyond those of an example; or one
    score of each."""


@dataclass
class _Claim:
    """The lines of one claim, gathered as they are read."""

    first: PromptLine
    first_line: int
    examples: dict[str, AnswerLine] = field(default_factory=dict)
    prompts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Of each its digest, and the ids of its demonstrations."""
    columns: dict[str, int] = field(default_factory=dict)
    """Of each example its place."""
    answers: list[_Cells] = field(default_factory=list)
    voices: list[dict[str, str | None]] = field(default_factory=list)
    """Of each line, by the ids of the examples, what an answer without choices says."""
    samples: list[int] = field(default_factory=list)
    """Of each line which sample of its prompt it is."""

    def add(self, line: PromptLine, where: str) -> None:
        """Take a line in, or say what in it contradicts the claim's first."""
        for name in ("task", "model", "quantization", "shots", "scoring", "matching", "simulated"):
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
        self.voices.append(
            {own.id: None if own.open is None else own.open.voice for own in line.examples}
            if any(own.open for own in line.examples)
            else {}
        )
        columns = [self.columns.setdefault(own.id, len(self.columns)) for own in line.examples]
        said = [-1 if (label := _label(own)) is None else label for own in line.examples]
        rows = [own.log_likelihoods if own.score is None else [own.score] for own in line.examples]
        values = np.full((len(rows), max(map(len, rows))), np.nan)
        for row, own in zip(values, rows, strict=True):
            row[: len(own)] = [-np.inf if value is None else value for value in own]
        of_examples, labels = (np.array(each, dtype=np.int32) for each in (columns, said))
        self.answers.append(_Cells(of_examples, labels, values))

    def _compare(self, answer: AnswerLine, where: str) -> None:
        """Compare an example with itself in earlier lines, and with the claim's first."""
        same, first = self.examples.setdefault(answer.id, answer), self.first.examples[0]
        if same is not answer and _known(same) == _known(answer):
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
        for (digest, shown), cells in zip(self.prompts, self.answers, strict=True):
            there = {*cells.columns.tolist()}
            lacking = [name for name, at in self.columns.items() if at not in there]
            for name in [each for each in lacking if each not in shown][:1]:
                raise RecordedError(
                    f"{path}: {self.first.claim}: prompt {digest!r} has no answer to example "
                    f"{name!r}, which it does not show as solved; keep the lines as "
                    "--maxrandom-predictions wrote them"
                )
        if k > 1:
            self._order(path, k)
        return folded(self._read(path), k)

    def _order(self, path: Path, k: int) -> None:
        """Put the samples of each prompt together, which may stand in any order."""
        first: dict[str, int] = {}
        places = [first.setdefault(digest, len(first)) for digest, _ in self.prompts]
        pairs = [*zip(places, self.samples, strict=True)]
        for digest, place in first.items():
            own = sorted(sample for at, sample in pairs if at == place)
            if own != [*range(k)]:
                raise RecordedError(
                    f"{path}: {self.first.claim}: prompt {digest!r} has the samples {own}, and "
                    f"others have 0 to {k - 1}; keep the lines of one run, each once"
                )
        order = sorted(range(len(pairs)), key=pairs.__getitem__)
        self.prompts = [self.prompts[each] for each in order]
        self.answers = [self.answers[each] for each in order]
        self.voices = [self.voices[each] for each in order]

    def _read(self, path: Path) -> Answers:
        """Return it as if each sample were a prompt."""
        line, digests = self.first, tuple(digest for digest, _ in self.prompts)
        quantized = "" if line.quantization in ("", "none") else f" ({line.quantization})"
        examples = [*self.examples.values()]
        opened = [each.open for each in examples if each.open is not None]
        if examples[0].score is not None:
            said = self._of_scores()
        else:
            said = self._of_open(opened) if opened else self._of_choices(examples)
        return Answers(
            **said,
            path=path,
            claim=line.claim,
            model=line.model + quantized,
            task=line.task,
            shots=line.shots,
            prompts=digests,
            examples=tuple(self.examples),
            identities=digests,
            demonstration_ids=tuple(shown for _, shown in self.prompts),
            rule=line.matching,
            simulated=line.simulated,
            clusters=tuple(each.cluster for each in examples if each.cluster is not None) or None,
        )

    def _of_open(self, examples: list[OpenLine]) -> dict[str, Any]:
        """Return what `Answers` hold of answers without choices."""
        answers = np.full((len(self.prompts), len(examples)), NOT_EVALUATED, dtype=np.int64)
        for row, cells in zip(answers, self.answers, strict=True):
            row[cells.columns] = cells.said
        gold = tuple(frozenset(each.right) for each in examples)
        names = dict.fromkeys(name for each in examples for name in each.controls)
        return {
            "correct": hits(answers, gold, np.arange(len(gold))),
            "evaluated": answers != NOT_EVALUATED,
            "open": OpenAnswers(
                answers,
                gold,
                tuple(each.stratum for each in examples),
                tuple(each.role for each in examples),
                controls={
                    name: tuple(each.controls.get(name, 0) for each in examples) for name in names
                },
                voices=self._voices(),
            ),
        }

    def _voices(self) -> Voices | None:
        """Return which samples say the same; None where a line does not tell."""
        rows = [[row.get(name, "") for name in self.examples] for row in self.voices]
        if any(voice is None for row in rows for voice in row):
            return None
        number = {voice: at for at, voice in enumerate(dict.fromkeys(filter(None, chain(*rows))))}
        labels = [[number[voice] if voice else UNREAD for voice in row] for row in rows]
        return Voices(np.array(labels, dtype=np.int64), tuple(number))

    def _of_scores(self) -> dict[str, Any]:
        """Return what `Answers` hold of graded answers."""
        scores = np.full((len(self.prompts), len(self.examples)), np.nan)
        for row, cells in zip(scores, self.answers, strict=True):
            row[cells.columns] = cells.values[:, 0]
        graded = {"correct": scores == 1, "evaluated": ~np.isnan(scores), "scores": scores}
        return {**graded, "judge": self.first.scoring}

    def _of_choices(self, examples: list[AnswerLine]) -> dict[str, Any]:
        """Return what `Answers` hold of choices."""
        names, codes = _codes(examples)
        beyond = len(names) or codes.shape[1]
        if names and any((cells.said < 0).any() for cells in self.answers):
            names = (*names, NO_CHOICE)
        shape, few = (len(self.prompts), len(examples)), np.min_scalar_type(-1 - beyond)
        answers: NDArray[np.signedinteger[Any]] = np.full(shape, NOT_EVALUATED, dtype=few)
        scores = None if examples[0].text is not None else np.full((*shape, codes.shape[1]), np.nan)
        for row, (columns, said, values) in enumerate(self.answers):
            answers[row, columns] = np.where(said < 0, beyond, codes[columns, said])
            if scores is not None:
                scores[row, columns, : values.shape[1]] = values
        gold = tuple(
            frozenset(row[example.right].tolist())
            for row, example in zip(codes, examples, strict=True)
        )
        return {
            "correct": hits(answers, gold, np.arange(len(gold))),
            "evaluated": answers != NOT_EVALUATED,
            "chances": tuple(Fraction(len(each.right), each.choices) for each in examples),
            "answers": answers,
            "gold": gold,
            "labels": names,
            "log_likelihoods": scores,
            "offered": tuple(tuple(each.listed) for each in examples if each.listed is not None)
            or None,
        }


def _label(answer: AnswerLine) -> int | None:
    """Return what was chosen, or the label of an answer without choices."""
    return answer.chosen if answer.open is None else answer.open.said


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
    for number, line in numbered(path):
        claims.setdefault(line.claim, _Claim(line, number)).add(line, f"{path}:{number}")
    if not claims:
        raise RecordedError(
            f"{path}: holds no prediction; give a file that --maxrandom-predictions wrote"
        )
    return [claim.sweep(path) for claim in claims.values()]
