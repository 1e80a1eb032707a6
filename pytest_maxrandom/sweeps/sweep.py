"""Run one sweep: t prompts, each with its n examples, through one model or out of the store."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import PromptTooLong, QuestionError, SweepError
from pytest_maxrandom.host.locks import held
from pytest_maxrandom.models.base import Question, Score
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.predictions import Predictions, predict
from pytest_maxrandom.sweeps.store import Key, Stored
from pytest_maxrandom.sweeps.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.prompts.formats import Format
    from pytest_maxrandom.prompts.prompt import Prompt
    from pytest_maxrandom.record import Arithmetic, Engine
    from pytest_maxrandom.sweeps.predictions import PromptPredictions, Scoring
    from pytest_maxrandom.sweeps.store import Cost, Store
    from pytest_maxrandom.tasks.task import Example

    Progress = Callable[[int, int], None]
    Work = Sequence[tuple[Prompt, Sequence[Example]]]


_CONVENTION = 1
"""Raised when the same texts would be given other numbers, so that no older ones are reused."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep: what was predicted, and what it cost.

    Attributes
    ----------
    revision : str or None
        The commit of the model, where it is known.
    tokens : int
        Tokens put through a model for it, those of stored results included.
    full_texts : int
        (prompt, example) pairs of which a text is exactly as long as the model's context.
    """

    predictions: Predictions
    engine: Engine
    revision: str | None = None
    tokens: int = 0
    full_texts: int = 0


def run_sweep(
    work: Work,
    load: Callable[[], Model],
    scoring: Scoring,
    progress: Progress,
    *,
    store: Store | None = None,
    fresh: bool = False,
    model_digest: str = "",
    arithmetic: Arithmetic | None = None,
    forced_engine: str = "auto",
    finished: Callable[[PromptPredictions], None] = lambda predictions: None,
) -> Sweep:
    """Score every prompt on its examples, or read what is stored of it.

    Parameters
    ----------
    work : sequence of t pairs of Prompt and sequence of Example
        The prompts, each with the examples that it is scored on.
    load : callable
        Returns the model; called only if the store lacks a prompt.
    progress : callable
        Called with (prompts done, prompts in all) after each prompt, and once before the first.
    store : Store, optional
        Where results are read from, and each prompt's are put as soon as they are there.
    fresh : bool
        Whether results are computed even if they are stored.
    model_digest : str
        What determines the model's numbers; needed with a store.
    arithmetic : Arithmetic, optional
        What will compute them, as far as that is known before; if the model that is loaded is
        computed otherwise, only what was stored of that is read. Without it, results are not told
        apart by it.
    forced_engine : str
        The engine that the user forced, or "auto".
    finished : callable
        Called with each prompt's predictions in the order of `work`, whether they are new or read;
        new ones before they are stored, so that what is stored was always told.

    Raises
    ------
    PromptTooLong
        Before anything is scored.
    SweepError
        In one sentence that names prompt and example.
    ValueError
        If the scoring is "counterfactual" and a prompt's format is not, or the reverse.
    """
    _check_interaction(work, scoring)
    keys = _keys(work, scoring, model_digest, forced_engine, arithmetic)
    known = store.get(keys) if store and not fresh else {}
    complete = all(key in known for key in keys)
    tally = Tally()
    done: list[PromptPredictions] = []
    # Before the sweep is locked: loading waits for a GPU, and who has it may wait for the sweep.
    model = None if complete else load()
    if model and arithmetic not in (None, model.arithmetic):
        keys = _keys(work, scoring, model_digest, forced_engine, model.arithmetic)
        known = store.get(keys) if store and not fresh else {}
    if model:
        for number, (prompt, examples) in enumerate(work):
            if keys[number] not in known:
                with _named(number, prompt):
                    model.check(_questions(prompt, examples, scoring))
    progress(0, len(work))
    # Of two processes with the same work, one waits here and then reads what the other has stored.
    alone = bool(store and store.writable and not complete)
    lock = held("sweep", _lock_name(work, model_digest, scoring)) if alone else nullcontext()
    with lock:
        if store and not complete and not fresh:
            known |= store.get(key for key in keys if key not in known)
        for number, (prompt, examples) in enumerate(work):
            key = keys[number]
            stored = known.pop(key, None)
            if stored is None and store and not fresh:
                # Work that overlaps with this in part has another lock.
                stored = store.get([key]).get(key)
            if stored is not None:
                predictions = predict(prompt, examples, _scores(stored), scoring)
                tally.reuse(stored.cost)
                finished(predictions)
            else:
                model = model or load()
                predictions, cost = _computed(number, work[number], model, scoring, tally)
                finished(predictions)
                if store:
                    store.put(key, _storable(predictions, cost))
            done.append(predictions)
            progress(number + 1, len(work))
    return _finished(done, tally, model)


def is_stored(
    work: Work,
    scoring: Scoring,
    store: Store,
    model_digest: str,
    forced_engine: str = "auto",
    arithmetic: Arithmetic | None = None,
) -> bool:
    """Tell whether a sweep needs no model, because the store has all of its results."""
    keys = _keys(work, scoring, model_digest, forced_engine, arithmetic)
    return store.get(keys).keys() >= set(keys)


def stored_sweep(
    work: Work,
    scoring: Scoring,
    store: Store,
    model_digest: str,
    forced_engine: str = "auto",
    arithmetic: Arithmetic | None = None,
) -> Sweep | None:
    """Read a sweep of which the store has all results; None where one is missing."""
    keys = _keys(work, scoring, model_digest, forced_engine, arithmetic)
    known = store.get(keys)
    if not known.keys() >= set(keys):
        return None
    tally = Tally()
    done = []
    for (prompt, examples), key in zip(work, keys, strict=True):
        tally.reuse(known[key].cost)
        done.append(predict(prompt, examples, _scores(known[key]), scoring))
    return _finished(done, tally, None)


def _finished(done: Sequence[PromptPredictions], tally: Tally, model: Model | None) -> Sweep:
    margins = (margin for one in done for margin in one.margins if 0 < margin < math.inf)
    engine = tally.engine(model, closest=min(margins, default=None))
    return Sweep(Predictions(tuple(done)), engine, tally.revision, tally.tokens, tally.full_texts)


def _check_interaction(work: Work, scoring: Scoring) -> None:
    if any((p.format.counterfactual is None) == (scoring == "counterfactual") for p, _ in work):
        raise ValueError(f"the prompts are not written for the scoring {scoring!r}")


def _computed(
    number: int,
    work: tuple[Prompt, Sequence[Example]],
    model: Model,
    scoring: Scoring,
    tally: Tally,
) -> tuple[PromptPredictions, Cost]:
    prompt, examples = work
    started = time.perf_counter()
    with _named(number, prompt):
        reply = model.ask(_questions(prompt, examples, scoring))
    answers = iter(reply.answers)
    rows: list[list[Score]] = []
    full = 0
    for example in examples:
        own = [next(answers) for _ in range(_asked(prompt, example))]
        full += any(answer.fills_context for answer in own)
        rows.append(
            [
                Score(*score)
                for answer in own
                for score in zip(answer.log_likelihoods, answer.tokens, strict=True)
            ]
        )
    predictions = predict(prompt, examples, rows, scoring)
    seconds = time.perf_counter() - started
    return predictions, tally.compute(model, reply, seconds, full)


def _questions(prompt: Prompt, examples: Sequence[Example], scoring: Scoring) -> Iterator[Question]:
    """Yield what is asked: all answers after one text, or one continuation after each answer."""
    after = prompt.format.counterfactual
    for example in examples:
        context, answers = prompt.context(example), prompt.format.answers(example)
        if after is None:
            yield Question(context, answers, example, "paper" if scoring == "paper" else "boundary")
        else:
            for answer in answers:
                text = context + answer + after.statement
                yield Question(text, (after.continuation,), example)


def _asked(prompt: Prompt, example: Example) -> int:
    return 1 if prompt.format.counterfactual is None else len(example.choices)


@contextmanager
def _named(number: int, prompt: Prompt) -> Iterator[None]:
    """Put the prompt's name before what a model says against a question."""
    name = f"prompt {number + 1} ({prompt.digest[:8]})"
    try:
        yield
    except PromptTooLong as error:
        raise PromptTooLong(f"{name} with {error}") from error
    except QuestionError as error:
        raise SweepError(f"{name}: {error}") from error


def _storable(predictions: PromptPredictions, cost: Cost) -> Stored:
    return Stored(predictions.log_likelihoods, predictions.tokens, predictions.chosen, cost)


def scored_digest(form: Format, examples: Sequence[Example]) -> str:
    """Return the SHA-256 (hex) of examples as a format shows and scores them; ids do not count."""
    parts: list[str | int] = [_CONVENTION]
    for example in examples:
        answers = form.answers(example)
        parts += [form.question(example), len(answers), *answers, *example.choices]
        parts += [len(example.right), *example.right]
    return digest(*parts)


def _keys(
    work: Work, scoring: Scoring, model_digest: str, engine: str, arithmetic: Arithmetic | None
) -> list[Key]:
    computed = arithmetic.digest if arithmetic else ""
    digests: dict[tuple[Format, tuple[int, ...]], str] = {}  # most prompts share their examples
    keys = []
    for prompt, examples in work:
        same = prompt.format, tuple(map(id, examples))
        if same not in digests:
            digests[same] = scored_digest(prompt.format, examples)
        keys.append(Key(model_digest, digests[same], prompt.digest, scoring, engine, computed))
    return keys


def _lock_name(work: Work, model_digest: str, scoring: Scoring) -> str:
    """Return what two processes have in common that would do the same work.

    That is all the examples together: where prompts leave out their own demonstrations, the
    examples differ from prompt to prompt, and together they are the validation set.
    """
    together = {id(example): example for _, examples in work for example in examples}
    contents = sorted(repr(example.content) for example in together.values())
    return digest(model_digest, scoring, *contents)


def _scores(stored: Stored) -> list[list[Score]]:
    return [
        [Score(*score) for score in zip(log_likelihoods, tokens, strict=True)]
        for log_likelihoods, tokens in zip(stored.log_likelihoods, stored.tokens, strict=True)
    ]
