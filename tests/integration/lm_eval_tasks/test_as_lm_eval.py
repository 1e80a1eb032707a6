"""Texts, choices, right answers and log-likelihoods are those of lm-evaluation-harness itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import PromptTooLong
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.sweeps.scorers import SCORERS
from tests.integration.lm_eval_tasks.conftest import DEMO_MODEL, FILES
from tests.integration.lm_eval_tasks.documents import DECLARATIVE

if TYPE_CHECKING:
    from pytest_maxrandom.models.base import Model
    from tests.integration.lm_eval_tasks.conftest import Compared

EACH = pytest.mark.parametrize("file", FILES)


@pytest.fixture(scope="module")
def model() -> Model:
    spec = TransformersSpec.model_validate(
        {"name": "demo", "device": "cpu", "quantization": "none", "dtype": "float32"}
    )
    return load(spec, str(DEMO_MODEL))


def test_there_are_enough_of_them() -> None:
    assert len(DECLARATIVE) >= 40
    assert len({file.partition("/")[0] for file in DECLARATIVE}) >= 15


@EACH
def test_choices_and_right_answers(compared: dict[str, Compared], file: str) -> None:
    one = compared[file]
    assert len(one.task.examples) == len(one.built["documents"])
    for example, known in zip(one.task.examples, one.built["documents"], strict=True):
        assert list(example.choices) == known["choices"]
        assert list(example.right) == known["right"]


@EACH
def test_every_text_character_for_character(compared: dict[str, Compared], file: str) -> None:
    for asked in (each for prompt in compared[file].asked for each in prompt):
        questions = SCORERS["sum_logprob"].questions(asked.prompt, asked.example)
        ours = [(each.context, answer) for each in questions for answer in each.answers]
        # Where a context ends with white space, lm-eval's models score that with the answer.
        theirs = [
            (before.rstrip(), before[len(before.rstrip()) :] + after)
            for before, after in asked.built["requests"]
        ]
        assert ours == theirs


@EACH
def test_log_likelihoods_acc_and_acc_norm(
    compared: dict[str, Compared], model: Model, file: str
) -> None:
    for prompt in compared[file].asked:
        scorer = SCORERS["sum_logprob"]
        asked_of = [scorer.questions(asked.prompt, asked.example) for asked in prompt]
        try:
            answers_of = iter(model.ask([each for one in asked_of for each in one]).answers)
        except PromptTooLong:  # where lm-eval cuts the text; some templates hold six examples
            assert prompt[0].prompt.demonstrations
            continue
        for asked, questions in zip(prompt, asked_of, strict=True):
            answers = [next(answers_of) for _ in questions]
            values = [value for answer in answers for value in answer.log_likelihoods]
            # lm-eval adds up in float32, whose numbers near 1,000 are 6e-5 apart.
            assert values == pytest.approx(asked.built["log_likelihoods"], abs=1e-4, rel=2**-22)
            for name, scoring in (("acc", "sum_logprob"), ("acc_norm", "char_logprob")):
                reading = SCORERS[scoring].answer(asked.prompt, asked.example, answers)
                assert not reading.tied
                assert float(reading.chosen in asked.example.right) == asked.built[name]
