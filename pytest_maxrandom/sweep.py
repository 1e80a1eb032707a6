"""Run one sweep: t prompts, each with its n examples, through one model or out of the store."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import PromptTooLong, SweepError
from pytest_maxrandom.locks import held
from pytest_maxrandom.models.base import Score
from pytest_maxrandom.predictions import Predictions, predict
from pytest_maxrandom.scoring.requests import Question
from pytest_maxrandom.seeding import digest
from pytest_maxrandom.store import Key, Stored
from pytest_maxrandom.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.models.base import Model, Scored
    from pytest_maxrandom.predictions import PromptPredictions, Scoring
    from pytest_maxrandom.prompts.formats import Format
    from pytest_maxrandom.prompts.prompt import Prompt
    from pytest_maxrandom.record import Engine
    from pytest_maxrandom.scoring.requests import Request
    from pytest_maxrandom.store import Cost, Store
    from pytest_maxrandom.tasks.task import Example

    Progress = Callable[[int, int], None]
    Work = Sequence[tuple[Prompt, Sequence[Example]]]


_CONVENTION = 1
"""Raised when the same texts would be given other numbers, so that no older ones are reused."""
_ADDED = 8
"""Tokens that stand for no byte of the text, at most (beginning, SentencePiece's first space)."""
_AT_ONCE = 1000
"""Examples in one call of the model, at most, so that memory does not grow with n."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep: what was predicted, and what it cost.

    Attributes
    ----------
    revision : str or None
        The commit of the model, where it is known.
    """

    predictions: Predictions
    engine: Engine
    revision: str | None = None


def run_sweep(
    work: Work,
    load: Callable[[], Model],
    scoring: Scoring,
    progress: Progress,
    *,
    store: Store | None = None,
    fresh: bool = False,
    model_digest: str = "",
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
    """
    keys = _keys(work, scoring, model_digest, forced_engine)
    known = store.get(keys) if store and not fresh else {}
    complete = all(key in known for key in keys)
    tally = Tally()
    done: list[PromptPredictions] = []
    # Before the sweep is locked: loading waits for a GPU, and who has it may wait for the sweep.
    model = None if complete else load()
    if model:
        missing = [number for number, key in enumerate(keys) if key not in known]
        _check_lengths(work, missing, model, scoring)
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
    margins = (margin for one in done for margin in one.margins if 0 < margin < math.inf)
    engine = tally.engine(model, closest=min(margins, default=None))
    return Sweep(Predictions(tuple(done)), engine, tally.revision)


def is_stored(
    work: Work, scoring: Scoring, store: Store, model_digest: str, forced_engine: str = "auto"
) -> bool:
    """Tell whether a sweep needs no model, because the store has all of its results."""
    keys = _keys(work, scoring, model_digest, forced_engine)
    return store.get(keys).keys() >= set(keys)


def _computed(
    number: int,
    work: tuple[Prompt, Sequence[Example]],
    model: Model,
    scoring: Scoring,
    tally: Tally,
) -> tuple[PromptPredictions, Cost]:
    prompt, examples = work
    started = time.perf_counter()
    scored = list(_score(number, prompt, examples, model, scoring))
    rows = [row for part, _ in scored for row in part]
    predictions = predict(prompt, examples, rows, scoring)
    seconds = time.perf_counter() - started
    return predictions, tally.compute(model, [one for _, one in scored], seconds)


def _storable(predictions: PromptPredictions, cost: Cost) -> Stored:
    return Stored(predictions.log_likelihoods, predictions.tokens, predictions.chosen, cost)


def scored_digest(prompt: Prompt, examples: Sequence[Example]) -> str:
    """Return the SHA-256 (hex) of examples as a prompt shows and scores them; ids do not count."""
    return _scored_digest(prompt.format, examples)


def _scored_digest(form: Format, examples: Sequence[Example]) -> str:
    parts: list[str | int] = [_CONVENTION]
    for example in examples:
        answers = form.answers(example)
        parts += [form.question(example), len(answers), *answers, *example.choices]
        parts += [len(example.right), *example.right]
    return digest(*parts)


def _keys(work: Work, scoring: Scoring, model_digest: str, engine: str) -> list[Key]:
    digests: dict[tuple[Format, tuple[int, ...]], str] = {}  # most prompts share their examples
    keys = []
    for prompt, examples in work:
        same = prompt.format, tuple(map(id, examples))
        if same not in digests:
            digests[same] = _scored_digest(prompt.format, examples)
        keys.append(Key(model_digest, digests[same], prompt.digest, scoring, engine))
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


def _score(
    number: int, prompt: Prompt, examples: Sequence[Example], model: Model, scoring: Scoring
) -> Iterator[tuple[list[list[Score]], Scored]]:
    """Yield the scores of some examples after the other, and what each such call cost."""
    for start in range(0, len(examples), _AT_ONCE):
        encoded = _encode(number, prompt, examples[start : start + _AT_ONCE], model, scoring)
        scored = model.score([request for row in encoded for request in row])
        scores = iter(scored.scores)
        yield [[next(scores) for _ in row] for row in encoded], scored


def _check_lengths(work: Work, missing: Sequence[int], model: Model, scoring: Scoring) -> None:
    """Refuse what does not fit the model's context, before anything is scored."""
    for number in missing:
        prompt, examples = work[number]
        doubtful = _perhaps_too_long(prompt, examples, model)
        for start in range(0, len(doubtful), _AT_ONCE):
            _encode(number, prompt, doubtful[start : start + _AT_ONCE], model, scoring)


def _perhaps_too_long(prompt: Prompt, examples: Sequence[Example], model: Model) -> list[Example]:
    """Return the examples that must be encoded to know whether they fit the context.

    A token stands for at least one byte, but for the few that a tokenizer adds at the ends.
    """
    limit = model.context_length
    if limit is None:
        return []
    room = limit - _ADDED - len(prompt.text.encode())
    return [
        example
        for example in examples
        if len(prompt.format.question(example).encode()) + _longest_answer(prompt, example) > room
    ]


def _longest_answer(prompt: Prompt, example: Example) -> int:
    return max(len(answer.encode()) for answer in prompt.format.answers(example))


def _encode(
    number: int, prompt: Prompt, examples: Sequence[Example], model: Model, scoring: Scoring
) -> list[tuple[Request, ...]]:
    questions = [
        Question(prompt.context(example), prompt.format.answers(example)) for example in examples
    ]
    where = f"prompt {number + 1} ({prompt.digest[:8]})"
    try:
        encoded = model.encode(questions, span="paper" if scoring == "paper" else "boundary")
    except ValueError as error:
        raise SweepError(
            f"{where}: {error}; give the task an instruction, an input or an output prefix"
        ) from error
    limit = model.context_length
    for example, row in zip(examples, encoded, strict=True):
        length = max(len(request.ids) for request in row)
        if limit is not None and length > limit:
            raise PromptTooLong(
                f"{where} with example {example.id} has {length} tokens, and the model's context "
                f"holds {limit}; use fewer shots, shorter demonstrations or another model (text is "
                "never cut)"
            )
    return encoded
