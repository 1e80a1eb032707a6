"""Lines that ``pytest --maxrandom-predictions`` wrote, and what none of them can hold."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter, ValidationError

from pytest_maxrandom.errors import RecordedError, dotted
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.record import HeuristicName  # noqa: TC001 - read by pydantic
from pytest_maxrandom.recorded.files import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1


@dataclass
class OpenLine:
    """An answer without choices, as what is compared with references that other examples have."""

    said: int
    """The label of what was read in it: the same number for the same answer to all examples."""
    right: list[int]
    """All the labels that would be right, ascending."""
    role: str
    """The kind of the reference, or what it is to its question."""
    stratum: int
    """A number: references can take each other's places where it is the same."""
    controls: dict[HeuristicName, int] = field(default_factory=dict)
    """Which of the answers of a control is right, from 1, where any is; of an offer how many there
    are."""
    voice: str | None = None
    """Of a sample a digest of what was read in it, the same where nothing tells two answers apart;
    empty where nothing could be read."""

    @property
    def known(self) -> tuple[object, ...]:
        """What it is whatever was answered."""
        return self.right, self.role, self.stratum, self.controls

    def problems(self, *, is_right: bool) -> Iterator[str]:
        """Yield what no scored answer can have."""
        if self.said < 0 or not self.right or min(self.right) < 0 or not _different(self.right):
            yield "'open' is no answer with its right ones; keep the lines as they were written"
        elif (self.said in self.right) != is_right:
            yield (
                f"'open' says that the answer is {'wrong' if is_right else 'right'}, and 'chosen' "
                "otherwise; keep the lines as --maxrandom-predictions wrote them"
            )
        if wrong := [name for name, place in self.controls.items() if place < 1]:
            yield f"'open.controls.{wrong[0]}' is {self.controls[wrong[0]]}, expected 1 or more"


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
    open: OpenLine | None = None
    """Of a task without choices; `choices` are then the references, all of them right."""
    score: float | None = None
    """How good an answer without choices is, from 0 to 1, where it is graded; nothing is chosen
    then, and there is no `open`."""

    @property
    def credit(self) -> float:
        """What the answer counts: its score, else 1 where it is right."""
        return float(self.chosen in self.right) if self.score is None else self.score

    def problems(self) -> Iterator[str]:
        """Yield what no scored example can have."""
        size, known = self.choices, range(self.choices)
        if self.chosen is not None and self.chosen not in known:
            yield f"'chosen' is {self.chosen}, expected an index below {size}"
        if self.open is not None:
            yield from self.open.problems(is_right=self.chosen is not None)
        elif self.score is not None:
            if not 0 <= self.score <= 1:
                yield f"'score' is {self.score}, expected a number from 0 to 1"
        elif self.right and len(self.right) == size and self.text is not None:
            yield (
                "all choices are right, as of answers without choices, but 'open' or 'score' is "
                "missing; keep the lines as --maxrandom-predictions wrote them"
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
        is_graded = self.score is not None
        yield None, is_graded, "a score" if is_graded else "an answer that is right or wrong"
        own = self.open
        yield (
            own and own.known,
            type(own),
            "choices" if own is None else f"the role {own.role!r} and the right labels {own.right}",
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
    matching: str | None = None
    """Digest of what says when an answer without choices is a right one; left out where there are
    choices."""

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


def _different(values: list[int] | list[str]) -> bool:
    return len(set(values)) == len(values)


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
    return (line for _, line in numbered(path))


def numbered(path: Path) -> Iterator[tuple[int, PromptLine]]:
    """Yield the lines of a file with their numbers; see `read_lines`."""
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
