"""Where the prompts of a sweep are computed, and what that costs."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from pytest_maxrandom.errors import ModelError, PromptTooLong, QuestionError, ScoreError, SweepError
from pytest_maxrandom.models.questions import Answer, Question, both
from pytest_maxrandom.record import Arithmetic, Fingerprint, SweepCost
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.scorers import SCORERS, stored_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
    from pytest_maxrandom.tasks.task import Example

_CONVENTION = 1
"""Raised when the same texts would be given other numbers, so that no older ones are reused."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Where and with what a prompt was scored."""

    device: str
    dtype: str
    engine: str
    engine_reason: str | None
    """The engine that was used, and why it was no faster one."""
    revision: str | None
    """The commit of the model that was loaded, where it is known."""
    tokens_forwarded: int
    trie_nodes: int
    seconds: float
    arithmetic: Arithmetic
    """What computed the numbers."""
    asked_dtype: str | None = None
    """The precision that was asked for, where `dtype` is another one."""
    full_texts: int = 0
    """Examples of which a text is exactly as long as the model's context."""
    handshake: Mapping[str, str | int | float | None] | None = None
    """What a server says that it serves, and what was checked of it."""
    quantized: str | None = None
    """Method and bits, where the model's files were quantized already."""
    chat: Sequence[str] | None = None
    """What stood before and after each prompt, as a message to the model."""
    fingerprint: Fingerprint | None = None
    """By what the model is known again, where it is behind an address."""
    tokens_cached: int | None = 0
    """Tokens that a server had kept; None where it tells none, and `tokens_forwarded` is a bound.
    """


@dataclass(frozen=True, slots=True)
class Job:
    """One prompt of a sweep and the examples that it is scored on; it can be sent elsewhere."""

    number: int
    """Its place in the sweep, from 0."""
    prompt: Prompt
    examples: Sequence[Example]
    scoring: Scoring
    """Name of the scorer."""
    task: str
    """SHA-256 (hex) of the examples as the prompt's format shows and scores them."""
    aggregate: Aggregate | None = None
    """What the answers of several such jobs come to; None where the prompt is asked once."""
    sample: int = 0
    """Which of these it is, from 0."""

    @property
    def place(self) -> int:
        """The place of its prompt in the sweep, from 0."""
        return self.number // (1 if self.aggregate is None else self.aggregate.samples)

    @property
    def stored_as(self) -> str:
        """What the results store calls its scoring; the first sample is that of a single answer."""
        own = stored_as(self.scoring)
        return f"{own} sample {self.sample}" if self.sample else own


@dataclass(frozen=True, slots=True)
class Scored:
    """What computing a job gave."""

    answers: tuple[tuple[Answer, ...], ...]
    """Per example: one to each of its scorer's questions; from the store, one that joins them."""
    cost: Cost
    batch_tokens: int | None = None
    """Tokens that went through the model at once."""
    peak_memory: int | None = None
    """The most bytes in use since the model was loaded."""


class Executor(Protocol):
    """Computes jobs: here, or on other machines."""

    @property
    def at_once(self) -> int:
        """How many jobs it should have at hand to lose no time."""

    @property
    def arithmetic(self) -> Arithmetic:
        """What will compute the numbers, known once a model is loaded."""

    def check(self, jobs: Iterable[Job]) -> None:
        """Refuse what cannot be asked, before anything is computed.

        Raises
        ------
        SweepError
            In one sentence that names prompt and example.
        """

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Scored]]:
        """Yield each job with its answers as soon as it is computed, in any order.

        Parameters
        ----------
        jobs : iterable of Job
            Taken as they are needed: what another process stores meanwhile is no job any more.

        Raises
        ------
        SweepError
            In one sentence that names prompt and example.
        """


class LocalExecutor:
    """Computes jobs with a model of this process, one after the other.

    Parameters
    ----------
    load : callable
        Returns the model; called with the first job only.
    """

    at_once = 1

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load

    @cached_property
    def _model(self) -> Model:
        return self._load()

    @property
    def arithmetic(self) -> Arithmetic:
        """What computes the model's numbers."""
        return self._model.arithmetic

    def check(self, jobs: Iterable[Job]) -> None:
        """Refuse what cannot be asked; see :class:`Executor`."""
        for job in jobs:
            with _named(job):
                self._able(job)
                self._model.check(questions_of(job))

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Scored]]:
        """Yield each job with its answers, in their order."""
        for job in jobs:
            with _named(job):
                scored = self._scored(job)
            yield job, scored

    def _able(self, job: Job) -> None:
        """Refuse a model that does not generate, and would be asked to."""
        if SCORERS[job.scoring].generates and not self._model.generates:
            raise ModelError(
                "the model cannot generate answers, which `scoring: generate` asks for; use a "
                "backend that does (transformers, vllm, sglang, llama_cpp, openai, mock), or "
                "another `scoring`"
            )

    def _scored(self, job: Job) -> Scored:
        self._able(job)
        model = self._model
        counts: list[int] = []
        started = time.perf_counter()
        reply = model.ask(questions_of(job, counts))
        seconds = time.perf_counter() - started
        if len(reply.answers) != sum(counts):
            raise ScoreError(
                f"the model gave {len(reply.answers)} answers to {sum(counts)} questions, expected "
                "one per question; report this to the authors of its backend"
            )
        rest = iter(reply.answers)
        answers = tuple(tuple(islice(rest, count)) for count in counts)
        cost = Cost(
            device=model.device,
            dtype=model.dtype,
            engine=model.engine,
            engine_reason=model.engine_reason,
            revision=model.revision,
            tokens_forwarded=reply.tokens_forwarded,
            trie_nodes=reply.trie_nodes,
            seconds=seconds,
            arithmetic=model.arithmetic,
            asked_dtype=model.asked_dtype,
            full_texts=sum(any(one.fills_context for one in own) for own in answers),
            handshake=model.handshake,
            quantized=model.quantized,
            chat=model.chat,
            fingerprint=model.fingerprint(generates=SCORERS[job.scoring].generates),
            tokens_cached=reply.tokens_cached,
        )
        return Scored(answers, cost, model.batch_tokens, model.peak_memory())


def jobs_of(
    prompts: Iterable[tuple[Prompt, Sequence[Example]]],
    scoring: Scoring,
    aggregate: Aggregate | None = None,
) -> list[Job]:
    """Return the jobs of a sweep.

    Parameters
    ----------
    prompts : iterable of t pairs of Prompt and sequence of Example
        The prompts, each with the examples that it is scored on.
    aggregate : Aggregate, optional
        What several samples of each answer come to; each of them is a job.
    """
    digests: dict[tuple[Format, tuple[int, ...]], str] = {}  # most prompts share their examples
    jobs: list[Job] = []
    for prompt, examples in prompts:
        # An instruction changes nothing of how an example is shown.
        form = replace(prompt.format, layout=replace(prompt.format.layout, task_prefix=""))
        shown = form, tuple(map(id, examples))
        if shown not in digests:
            digests[shown] = scored_digest(form, examples)
        for sample in range(1 if aggregate is None else aggregate.samples):
            of_prompt = prompt, examples, scoring, digests[shown]
            jobs.append(Job(len(jobs), *of_prompt, aggregate=aggregate, sample=sample))
    return jobs


def scored_digest(form: Format, examples: Sequence[Example]) -> str:
    """Return the SHA-256 (hex) of examples as a format shows and scores them; ids do not count."""
    parts: list[str | int] = [_CONVENTION]
    for example in examples:
        answers = form.answers(example)
        parts += [form.question(example), len(answers), *answers, *example.choices]
        parts += [len(example.right), *example.right]
    return digest(*parts)


def questions_of(job: Job, counts: list[int] | None = None) -> Iterator[Question]:
    """Yield what is asked, and note how many questions each example takes."""
    scorer = SCORERS[job.scoring]
    for example in job.examples:
        questions = scorer.questions(job.prompt, example)
        if job.sample:
            questions = [_sampled(each, job.sample) for each in questions]
        if counts is not None:
            counts.append(len(questions))
        yield from questions


def _sampled(question: Question, sample: int) -> Question:
    how = question.generation
    return question if how is None else replace(question, generation=replace(how, sample=sample))


@contextmanager
def _named(job: Job) -> Iterator[None]:
    """Put the prompt's name before what a model says against a question."""
    name = f"prompt {job.place + 1} ({job.prompt.digest[:8]})"
    try:
        yield
    except PromptTooLong as error:
        raise PromptTooLong(f"{name} with {error}") from error
    except QuestionError as error:
        raise SweepError(f"{name}: {error}") from error


def spent(scored: Scored, *, reused: bool) -> SweepCost:
    """Return what a prompt cost in this run: where it was read, nothing but what it once took."""
    cost = scored.cost
    return SweepCost(
        device=cost.device,
        dtype=cost.dtype,
        requests=0 if reused else sum(_requests(one) for own in scored.answers for one in own),
        tokens_forwarded=0 if reused else cost.tokens_forwarded,
        seconds=0.0 if reused else cost.seconds,
        trie_nodes=0 if reused else cost.trie_nodes,
        engine=cost.engine,
        engine_reason=cost.engine_reason,
        batch_tokens=scored.batch_tokens,
        peak_memory=scored.peak_memory,
        reused=int(reused),
        reused_seconds=cost.seconds if reused else 0.0,
        asked_dtype=cost.asked_dtype,
        arithmetic=cost.arithmetic,
        handshake=None if cost.handshake is None else dict(cost.handshake),
        quantized=cost.quantized,
        chat=None if cost.chat is None else list(cost.chat),
        servers=[] if cost.fingerprint is None else [str(cost.fingerprint)],
        tokens_cached=0 if reused else cost.tokens_cached,
    )


def _requests(answer: Answer) -> int:
    """Count what was asked: continuations, or one text."""
    return len(answer.tokens) if answer.text is None else 1


def total(engines: Sequence[SweepCost]) -> SweepCost:
    """Return what several prompts or sweeps cost together."""
    reasons = [one.engine_reason for one in engines if one.engine_reason]
    cached = [0, *(one.tokens_cached for one in engines)]
    return SweepCost(
        # A sweep may be begun on one GPU and finished on another.
        device=_all(one.device for one in engines),
        dtype=_all(one.dtype for one in engines),
        requests=sum(one.requests for one in engines),
        tokens_forwarded=sum(one.tokens_forwarded for one in engines),
        seconds=sum(one.seconds for one in engines),
        trie_nodes=sum(one.trie_nodes or 0 for one in engines),
        engine=_all(one.engine for one in engines if one.engine),
        engine_reason=reasons[0] if reasons else None,
        batch_tokens=max((one.batch_tokens or 0 for one in engines), default=0) or None,
        peak_memory=max((one.peak_memory or 0 for one in engines), default=0) or None,
        reused=sum(one.reused for one in engines),
        reused_seconds=sum(one.reused_seconds for one in engines),
        closest=min((one.closest for one in engines if one.closest is not None), default=None),
        asked_dtype=next((one.asked_dtype for one in engines if one.asked_dtype), None),
        # The store keeps results of another arithmetic apart, so there is one.
        arithmetic=next((one.arithmetic for one in engines if one.arithmetic), None),
        handshake=next((one.handshake for one in engines if one.handshake), None),
        quantized=next((one.quantized for one in engines if one.quantized), None),
        chat=next((one.chat for one in engines if one.chat), None),
        servers=list(dict.fromkeys(each for one in engines for each in one.servers)),
        tokens_cached=reduce(both, cached),
    )


def _all(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
