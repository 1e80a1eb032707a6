"""The predictions file: one line of JSON for each prompt of each claim.

`pytest_maxrandom.recorded.prediction_lines` says what a line holds.
"""

from __future__ import annotations

import glob
import json
import math
import shutil
from dataclasses import fields
from itertools import count
from typing import TYPE_CHECKING

from pytest_maxrandom.answers import are_letters
from pytest_maxrandom.ledger.lines import named_digest
from pytest_maxrandom.recorded.prediction_lines import VERSION, AnswerLine, OpenLine, PromptLine
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.lettered import with_listed_texts
from pytest_maxrandom.sweeps.open_answers import said_of
from pytest_maxrandom.sweeps.open_controls import with_controls
from pytest_maxrandom.sweeps.predictions import PromptPredictions, samples_of
from pytest_maxrandom.sweeps.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.tasks.task import Example


def append(
    path: Path, process: str, record: ClaimRecord, predictions: Sequence[PromptPredictions]
) -> None:
    """Write the predictions behind a claim into this process's part of the file."""
    with _part(path, process).open("a", encoding="ascii") as part:
        part.writelines(lines(record, predictions))


def gather(path: Path) -> None:
    """Make the file of its parts, in place of any that is there."""
    whole = _part(path, "whole")
    whole.unlink(missing_ok=True)
    parts = _parts(path)
    with whole.open("wb") as out:
        for part in parts:
            with part.open("rb") as content:
                shutil.copyfileobj(content, out)
    whole.replace(path)
    discard(path)


def discard(path: Path) -> None:
    """Remove parts, such as a killed run has left."""
    for part in _parts(path):
        part.unlink(missing_ok=True)


def _part(path: Path, process: str) -> Path:
    return path.with_name(f"{path.name}.{process}.part")


def _parts(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{glob.escape(path.name)}.*.part"))


def lines(record: ClaimRecord, predictions: Sequence[PromptPredictions]) -> Iterator[str]:
    """Yield the predictions behind a claim, a line for each prompt in the order of the sweep.

    The text is ASCII, and minus infinity, which JSON does not know, is null.
    """
    for line in prompt_lines(record, predictions):
        yield json.dumps(line, default=_keys, allow_nan=False, separators=(",", ":")) + "\n"


def prompt_lines(
    record: ClaimRecord, predictions: Sequence[PromptPredictions]
) -> Iterator[PromptLine]:
    """Say of each prompt of a claim, in the order of the sweep, what it answered.

    The record tells the claim's id, task, model, quantization, shots and scoring.
    """
    asked = {each.id: each for prompt in predictions for each in prompt.examples}
    examples = [*asked.values()]
    repeating = any(len({*each.choices}) < len(each.choices) for each in examples)
    # What tells the answers that are the same in other examples.
    known = label(examples, by_place=repeating)
    labels: dict[str, list[str] | list[int]] = {
        example.id: list(example.choices) if known.shared else list(codes)
        for example, codes in zip(examples, known.codes, strict=True)
    }
    listed = {
        example.id: None
        if known.shared
        else [example.choices[place] for place in shown_order(example)]
        for example in examples
    }
    if all(are_letters(example.choices) for example in examples):
        # Letters alone would not tell which texts they stand for.
        listed = {each.id: list(each.choices) for each in with_listed_texts(examples) or examples}
    opened = _open_lines(predictions, examples)
    arithmetic = None if record.engine is None else record.engine.arithmetic
    matching = predictions[0].prompt.format.matching if predictions else None
    for row, (prompt, sample) in enumerate(_samples(predictions)):
        yield PromptLine(
            schema_version=VERSION,
            claim=record.id,
            task=record.task,
            model=record.model,
            quantization=record.quantization,
            shots=record.shots,
            scoring=record.scoring,
            prompt=prompt.prompt.digest,
            demonstration_ids=[example.id for example in prompt.prompt.demonstrations],
            examples=[
                AnswerLine(
                    id=example.id,
                    chosen=prompt.chosen[place],
                    right=list(example.right),
                    choices=len(example.choices),
                    log_likelihoods=list(map(_finite, prompt.log_likelihoods[place])),
                    tokens=list(prompt.tokens[place]),
                    margin=_finite(prompt.margins[place]),
                    labels=labels[example.id],
                    listed=listed[example.id],
                    cluster=example.cluster,
                    text=prompt.texts[place] if prompt.texts else None,
                    finish=prompt.finishes[place] if prompt.finishes else None,
                    open=opened[row][example.id] if opened else None,
                    score=prompt.graded[place] if prompt.graded else None,
                )
                for place, example in enumerate(prompt.examples)
            ],
            sample=sample,
            simulated=record.simulated,
            examples_digest=named_digest(prompt.examples),
            model_digest=record.model_digest,
            arithmetic=arithmetic.digest if arithmetic else None,
            matching=None if matching is None else matching.digest,
        )


def _samples(
    predictions: Sequence[PromptPredictions],
) -> Iterator[tuple[PromptPredictions, int | None]]:
    """Yield each prompt, or each of its samples with their numbers from 0."""
    for prompt in predictions:
        if prompt.samples:
            yield from zip(prompt.samples, count(), strict=False)
        else:
            yield prompt, None


def _open_lines(
    predictions: Sequence[PromptPredictions], examples: Sequence[Example]
) -> list[dict[str, OpenLine]]:
    """Return of each prompt, by the ids of the examples, what it said; nothing of choices."""
    matching = predictions[0].prompt.format.matching
    if matching is None or samples_of(predictions)[0].graded:
        return []
    many = max(1, len(predictions[0].samples))
    coded = with_controls(examples, said_of(samples_of(predictions)), matching, samples=many)
    voices = coded.voices
    return [
        {
            example.id: OpenLine(
                said=label,
                right=sorted(coded.gold[place]),
                role=coded.roles[place],
                stratum=coded.strata[place],
                controls={name: own[place] for name, own in coded.controls.items() if own[place]},
                voice=None if voices is None else voices.name(place, voices.labels[row, place]),
            )
            for place, (example, label) in enumerate(zip(examples, labels, strict=True))
        }
        for row, labels in enumerate(coded.said.tolist())
    ]


def _keys(line: PromptLine | AnswerLine | OpenLine) -> dict[str, object]:
    """Return what a line holds; what is as it is by default is left out."""
    values = ((each, getattr(line, each.name)) for each in fields(line))
    return {each.name: value for each, value in values if value != each.default}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
