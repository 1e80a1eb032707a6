"""The predictions file: what is written is what a sweep found, and can be read again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.recorded.sources import read
from pytest_maxrandom.reports.predictions import lines
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.reports.samples import claim

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.base import Scoring

EXAMPLES = [
    Example("é\n1", "Snow?", ("wet", "dry"), (0,)),
    Example("2", "Sand?", ("wet", "dry", "hot"), (1, 2)),
    Example("3", "River?", ("wet", "dry"), (0,)),
    Example("4", "Fog?", ("wet", "dry", "cold"), (0,)),
]
RECORD = claim(shots=1)


def sweep(seed: int, scoring: Scoring = "mean_logprob") -> tuple[PromptPredictions, ...]:
    """Random scores of prompts of which each shows one example and is scored on the others."""
    generator = np.random.default_rng(seed)
    found = []
    for shown in EXAMPLES:
        asked = [example for example in EXAMPLES if example is not shown]
        scores = [
            [
                Answer((-float(generator.exponential()),), (int(generator.integers(1, 4)),))
                for _ in ex.choices
            ]
            for ex in asked
        ]
        found.append(predict(Prompt((shown,), Format(Layout())), asked, scores, scoring))
    return tuple(found)


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def written(predictions: Sequence[PromptPredictions], **changed: Any) -> list[dict[str, Any]]:
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
    assert list(found.prompts) == [each.prompt.digest for each in predictions]
    assert found.demonstration_ids == tuple((example.id,) for example in EXAMPLES)
    assert found.offered is not None
    for choices, name in zip(found.offered, found.examples, strict=True):
        (example,) = (each for each in EXAMPLES if each.id == name)
        assert choices == tuple(example.choices[place] for place in shown_order(example))
    assert found.correct.sum(axis=1).tolist() == [prompt.correct for prompt in predictions]
    column = {name: place for place, name in enumerate(found.examples)}
    assert found.chances is not None
    for example in EXAMPLES:
        assert found.chances[column[example.id]] == example.chance
    for row, prompt in enumerate(predictions):
        places = [column[example.id] for example in prompt.examples]
        assert np.flatnonzero(found.evaluated[row]).tolist() == sorted(places)
        answers = zip(prompt.chosen, prompt.examples, strict=True)
        assert found.correct[row, places].tolist() == [index in ex.right for index, ex in answers]


def test_an_answer_that_nobody_could_read_is_wrong_and_stands_in_the_file(tmp_path: Path) -> None:
    first, *others = sweep(0)
    chosen = (None, *first.chosen[1:])
    first = replace(first, chosen=chosen)
    assert first.unread == 1
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(lines(RECORD, [first, *others])))
    [found] = read(path)
    place = found.examples.index(first.examples[0].id)
    assert found.evaluated[0, place]
    assert not found.correct[0, place]
    assert found.correct[0].sum() == first.correct


def asked(tmp_path: Path, examples: list[Example], chosen: list[list[int]]) -> Answers:
    """Write and read prompts that give these examples these choices."""
    found = []
    for number, row in enumerate(chosen):
        scores = [
            [Answer((-1.0 - (place != said),), (1,)) for place in range(len(each.choices))]
            for each, said in zip(examples, row, strict=True)
        ]
        prompt = Prompt((), Format(Layout(task_prefix=str(number))))
        found.append(predict(prompt, examples, scores, "mean_logprob"))
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(lines(RECORD, tuple(found))))
    [sweep] = read(path)
    return sweep


def test_labels_are_the_texts_that_all_examples_share(tmp_path: Path) -> None:
    examples = [
        Example(str(place), f"{place}?", ("No", "Yes")[:: 1 - place % 2 * 2], (place % 3 % 2,))
        for place in range(12)
    ]
    yes = [each.choices.index("Yes") for each in examples]
    sweep = asked(tmp_path, examples, [yes, [0] * 12])
    assert sweep.labels == ("No", "Yes")
    assert sweep.answers is not None
    assert sweep.answers[0].tolist() == [1] * 12
    assert sweep.answers[1].tolist() == [place % 2 for place in range(12)]
    assert sweep.gold == tuple(
        frozenset({("No", "Yes").index(each.choices[each.right[0]])}) for each in examples
    )


@pytest.mark.parametrize("repeated", [False, True])
def test_labels_are_else_the_places_at_which_prompts_show_them(
    tmp_path: Path, repeated: bool
) -> None:
    """Choices with the same text, of which one is right, are no labels either."""
    texts = [("x", "y", "x") if repeated else tuple(f"{name}{i}" for name in "xyz")
             for i in range(30)]  # fmt: skip
    examples = [Example(str(i), f"{i}?", own, (0,)) for i, own in enumerate(texts)]
    sweep = asked(tmp_path, examples, [[0] * 30, [2] * 30])
    assert sweep.labels == ()
    assert sweep.answers is not None
    assert sweep.gold is not None
    shown = [list(shown_order(each)) for each in examples]
    assert sweep.answers[0].tolist() == [order.index(0) for order in shown]
    assert sweep.answers[1].tolist() == [order.index(2) for order in shown]
    assert sweep.gold == tuple(frozenset({order.index(0)}) for order in shown)
    assert sweep.correct.tolist() == [[True] * 30, [False] * 30]


def test_shared_texts_may_be_fewer_in_some_examples(tmp_path: Path) -> None:
    some = [Example("4", "Fog?", ("dry", "wet"), (1,)), EXAMPLES[0], EXAMPLES[1]]
    sweep = asked(tmp_path, some, [[0, 0, 2]])
    assert sweep.labels == ("dry", "hot", "wet")
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[0, 2, 1]]
    assert sweep.gold == (frozenset({2}), frozenset({2}), frozenset({0, 1}))


def test_a_line_holds_every_number_unrounded() -> None:
    predictions = sweep(0)
    for line, prompt in zip(written(predictions), predictions, strict=True):
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
    scores = [[Answer((-1.0,), (1,)), Answer((-math.inf,), (1,))]]
    predictions = [predict(prompt, EXAMPLES[:1], scores, "mean_logprob")]
    [line] = written(predictions)
    assert line["examples"][0]["log_likelihoods"] == [-1.0, None]
    assert line["examples"][0]["margin"] is None
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(lines(RECORD, predictions)))
    assert read(path)[0].correct.tolist() == [[True]]
