"""The mock backend: models that answer by rule, so that suites run in milliseconds without torch.

An answer depends on the rule, the prompt and the example, and on nothing else: neither on the order
of the questions nor on the process that asks. A mock model knows which answers are right; a real
one never is.
"""

from __future__ import annotations

import hashlib
import time
from bisect import bisect
from functools import lru_cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from pytest_maxrandom.models.base import Backend, Identity, Located, Model, Resources
from pytest_maxrandom.models.questions import Answer, Question, Reply
from pytest_maxrandom.models.requests import common_length
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import MockSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Example

_ARITHMETIC = Arithmetic("", "simulated", {})
_FOLLOWED = "1"
"""Another number where the same rule gives other answers than it did: those are not read again."""
_ASKS_NOTHING = ("control ", "content-free ")
"""How the ids of texts begin by which label bias is measured: none of their answers is right."""
_AROUND_LABELS = "()., "


class Mock(Backend):
    """Models that are simulated."""

    spec = MockSpec

    def locate(self, spec: MockSpec, base: Path) -> Located:
        """Return the model, which is nowhere."""
        return Located(spec)

    def identity(self, located: Located) -> Identity:
        """Digest the rule, and how rules are followed."""
        return _identity(located.spec.model_dump_json(exclude={"label", "seconds"}))

    def load(self, located: Located, resources: Resources) -> MockModel:
        """Return the model."""
        assert isinstance(located.spec, MockSpec)
        return MockModel(located.spec)


@lru_cache(maxsize=16)  # a claim asks several times
def _identity(spec: str) -> Identity:
    rule = digest("mock", spec)
    return Identity(digest(_FOLLOWED, rule), _ARITHMETIC, rule)


class MockModel(Model):
    """A model that answers by rule; see :class:`pytest_maxrandom.models.base.Model`."""

    device = "simulated"
    dtype = "simulated"
    engine = "simulated"
    context_length: int | None = None
    arithmetic = _ARITHMETIC
    batch_tokens = 0
    generates = True

    def __init__(self, spec: MockSpec) -> None:
        self._spec = spec
        self._seed = digest(spec.name, spec.seed)

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse nothing."""

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Answer the questions about each example together, because only one choice is the best."""
        answers: list[Answer] = []
        started = time.monotonic()
        for _, together in groupby(questions, key=lambda question: question.example):
            group = list(together)
            offered = len(group[0].example.choices) if group[0].example else 0
            size = max(1, offered // len(group[0].answers))
            for start in range(0, len(group), size):
                answers += self._answers(group[start : start + size])
        if self._spec.seconds:
            time.sleep(max(0.0, self._spec.seconds - (time.monotonic() - started)))
        return Reply(tuple(answers), 0, 0)

    def _answers(self, questions: Sequence[Question]) -> list[Answer]:
        """Answer one example: a text with all its answers, or a text for each of them."""
        texts = [text for question in questions for text in question.answers]
        if (example := questions[0].example) is not None and example.open is not None:
            return [Answer((), (), text=self._open_answer(questions[0], example), finish="stop")]
        best = self._choice(questions, texts)
        if questions[0].generation is not None:
            return [Answer((), (), text=texts[best], finish="stop")]
        values, lengths = [], []
        for place, text in enumerate(texts):
            # The chosen one is the best in total, per token and per character.
            uniform = 1 + self._uniforms("how likely", questions[0].context, place)[0]
            length = max(1, len(text.split()))
            other = -5 * uniform * max(length, len(text))
            values.append(-uniform / 20 if place == best else other)
            lengths.append(length)
        size = len(questions[0].answers)
        return [
            Answer(tuple(values[at : at + size]), tuple(lengths[at : at + size]))
            for at in range(0, len(values), size)
        ]

    def _open_answer(self, question: Question, example: Example) -> str:
        """Return the answer to an open question: a reference that is known, or what is preferred.

        Without preferences it says that it does not know.
        """
        who, known = self._who(question.context, example)[0], example.choices
        knows, which = self._uniforms("knows", who, example.input, *known)[:2]
        if knows < self._spec.knows and _asks(example):
            return known[int(which * len(known))]
        prefers = self._spec.prefers
        if not prefers or isinstance(prefers, list):
            return "I do not know"
        weights = {prefers: 1.0} if isinstance(prefers, str) else prefers
        sample = _sample(question)
        guess = self._uniforms("guesses", who, example.input, *known, *sample)[0]
        return [*weights][_drawn([*weights.values()], guess)]

    def _choice(self, questions: Sequence[Question], texts: Sequence[str]) -> int:
        """Return the place of the answer, in the order of the choices in the file."""
        example = questions[0].example
        if example is None:
            return int(self._uniforms(questions[0].context)[0] * len(texts))
        known = sorted(example.choices)
        who, tail = self._who(questions[0].context, example)
        # What is known is known in whatever order the choices stand.
        knows, which = self._uniforms("knows", who, example.input, *known)[:2]
        if knows < self._spec.knows and _asks(example):
            return example.right[int(which * len(example.right))]
        order = _shown(example, tail)
        sample = _sample(questions[0])
        guess = self._uniforms("guesses", who, example.input, *known, *order, *sample)[0]
        return _drawn(self._weights(example, _labels(questions, texts), order), guess)

    def _who(self, context: str, example: Example) -> tuple[str, str]:
        """Return whose answer it is, the prompt's or that of all, and what follows the input."""
        known, head, tail = sorted(example.choices), "", context
        if example.input:
            head, _, tail = context.rpartition(example.input)
        prompt = head + _without(tail, known)
        copied = self._uniforms("copies", prompt, example.input, *known)[0]
        return ("all prompts" if copied < self._spec.copies else prompt), tail

    def _weights(
        self, example: Example, labels: Sequence[str], order: Sequence[int]
    ) -> list[float]:
        """Return how much each choice is preferred, in the order of the file."""
        prefers, count = self._spec.prefers, len(labels)
        if prefers is None:
            return [1.0] * count
        if isinstance(prefers, list):
            weights = [0.0] * count
            for place, weight in zip(order, prefers, strict=False):
                weights[place] = weight
        else:
            named = {prefers: 1.0} if isinstance(prefers, str) else prefers
            weights = [
                max(named.get(name, 0.0) for name in (text, label, label.strip(_AROUND_LABELS)))
                for text, label in zip(example.choices, labels, strict=True)
            ]
        return weights if any(weights) else [1.0] * count

    def _uniforms(self, *names: str | int) -> tuple[float, ...]:
        """Return numbers in [0, 1) that depend on the names and the model's seed alone."""
        joined = "\0".join(map(str, (self._seed, *names)))
        raw = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()
        return tuple(int.from_bytes(raw[at : at + 6]) / 2**48 for at in range(0, 18, 6))


def _sample(question: Question) -> tuple[int, ...]:
    """Return what tells a sample of an answer from the first one with the usual seed."""
    how = question.generation
    return () if how is None or not (how.sample or how.seed) else (how.seed, how.sample)


def _asks(example: Example) -> bool:
    """Tell whether an example asks anything that could be known."""
    asks = bool(example.input.strip()) or example.continuation is not None
    return asks and not example.id.startswith(_ASKS_NOTHING)


def _without(text: str, parts: Iterable[str]) -> str:
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "")
    return text


def _shown(example: Example, tail: str) -> tuple[int, ...]:
    """Return the choices in the order in which they stand after the input, else that of the file.

    The places of the longer ones are found first, since a choice may be a part of another.
    """
    if example.order is not None:
        return example.order
    places: dict[int, int] = {}
    for index in sorted(range(len(example.choices)), key=lambda i: -len(example.choices[i])):
        text = example.choices[index]
        places[index] = tail.find(text)
        tail = tail.replace(text, "\0" * len(text), 1)
    if min(places.values()) < 0:
        return tuple(range(len(places)))
    return tuple(sorted(places, key=lambda index: places[index]))


def _labels(questions: Sequence[Question], texts: Sequence[str]) -> list[str]:
    """Return what stands for each choice: the answers, or where the contexts differ."""
    if len(questions) == 1:
        return list(texts)
    contexts = [question.context for question in questions]
    head = common_length(min(contexts), max(contexts))
    rests = [context[head:] for context in contexts]
    ends = [rest[::-1] for rest in rests]
    end = common_length(min(ends), max(ends))
    return [rest[: len(rest) - end] for rest in rests]


def _drawn(weights: Sequence[float], uniform: float) -> int:
    """Return a place by weight."""
    bounds = list(accumulate(weights))
    place = bisect(bounds, uniform * bounds[-1])
    return min(place, max(at for at, weight in enumerate(weights) if weight))
