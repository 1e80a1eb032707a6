"""The predictions file: what is written is what a sweep found, and can be read again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from pytest_maxrandom.models.base import Score
from pytest_maxrandom.predictions import Predictions, Scoring, predict
from pytest_maxrandom.prompts.formats import Format
from pytest_maxrandom.prompts.prompt import Prompt
from pytest_maxrandom.recorded.read import read
from pytest_maxrandom.reports.predictions import lines
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.reports.samples import claim

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = [
    Example("é\n1", "Snow?", ("wet", "dry"), (0,)),
    Example("2", "Sand?", ("wet", "dry", "hot"), (1, 2)),
    Example("3", "River?", ("wet", "dry"), (0,)),
    Example("4", "Fog?", ("wet", "dry", "cold"), (0,)),
]
RECORD = claim(shots=1)


def sweep(seed: int, scoring: Scoring = "mean_logprob") -> Predictions:
    """Random scores of prompts of which each shows one example and is scored on the others."""
    generator = np.random.default_rng(seed)
    found = []
    for shown in EXAMPLES:
        asked = [example for example in EXAMPLES if example is not shown]
        scores = [
            [
                Score(-float(generator.exponential()), int(generator.integers(1, 4)))
                for _ in ex.choices
            ]
            for ex in asked
        ]
        found.append(predict(Prompt((shown,), Format(Layout())), asked, scores, scoring))
    return Predictions(tuple(found))


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def written(predictions: Predictions, **changed: Any) -> list[dict[str, Any]]:
    texts = list(lines(replace(RECORD, **changed), predictions))
    assert all(text.isascii() and text.count("\n") == 1 and text[-1] == "\n" for text in texts)
    return [json.loads(text, parse_constant=refuse) for text in texts]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_read_again(tmp_path: Path, seed: int) -> None:
    predictions = sweep(seed)
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(lines(RECORD, predictions)))
    [found] = read(path)
    assert (found.claim, found.task, found.shots) == (RECORD.id, RECORD.task, 1)
    assert found.model == "demo (nf4)"
    assert list(found.prompt_ids) == [each.prompt.digest for each in predictions.prompts]
    assert found.demonstration_ids == tuple((example.id,) for example in EXAMPLES)
    assert found.correct.sum(axis=1).tolist() == predictions.correct_counts
    column = {name: place for place, name in enumerate(found.example_ids)}
    assert found.chances is not None
    for example in EXAMPLES:
        assert found.chances[column[example.id]] == example.chance
    for row, prompt in enumerate(predictions.prompts):
        places = [column[example.id] for example in prompt.examples]
        assert np.flatnonzero(found.evaluated[row]).tolist() == sorted(places)
        answers = zip(prompt.chosen, prompt.examples, strict=True)
        assert found.correct[row, places].tolist() == [index in ex.right for index, ex in answers]


def test_a_line_holds_every_number_unrounded() -> None:
    predictions = sweep(0)
    for line, prompt in zip(written(predictions), predictions.prompts, strict=True):
        assert line["prompt"] == prompt.prompt.digest
        assert line["scoring"] == "mean_logprob"
        for cell, example, log_likelihoods, tokens in zip(
            line["examples"], prompt.examples, prompt.log_likelihoods, prompt.tokens, strict=True
        ):
            assert cell["id"] == example.id
            assert cell["choices"] == len(example.choices)
            assert tuple(cell["right"]) == example.right
            assert tuple(cell["log_likelihoods"]) == log_likelihoods
            assert tuple(cell["tokens"]) == tokens


def test_the_margin_is_in_the_unit_of_the_scoring() -> None:
    for scoring in ("mean_logprob", "sum_logprob"):
        for line in written(sweep(1, scoring), scoring=scoring):
            for cell in line["examples"]:
                cells = zip(cell["log_likelihoods"], cell["tokens"], strict=True)
                scores = sorted(a / b if scoring == "mean_logprob" else a for a, b in cells)
                assert cell["margin"] == pytest.approx(scores[-1] - scores[-2], abs=1e-12)


def test_minus_infinity_is_null(tmp_path: Path) -> None:
    prompt = Prompt((), Format(Layout()))
    scores = [[Score(-1.0, 1), Score(-math.inf, 1)]]
    predictions = Predictions((predict(prompt, EXAMPLES[:1], scores, "mean_logprob"),))
    [line] = written(predictions)
    assert line["examples"][0]["log_likelihoods"] == [-1.0, None]
    assert line["examples"][0]["margin"] is None
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(lines(RECORD, predictions)))
    assert read(path)[0].correct.tolist() == [[True]]
