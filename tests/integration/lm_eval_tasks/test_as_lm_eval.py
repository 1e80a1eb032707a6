"""Texts, choices, right answers and log-likelihoods are those of lm-evaluation-harness itself."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
from lm_eval_documents import documents
from lm_eval_share import measured

from pytest_maxrandom.errors import PromptTooLong
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.sweeps.scorers import SCORERS
from tests.integration.lm_eval_tasks.conftest import DEMO_MODEL, FILES, Compared
from tests.integration.lm_eval_tasks.documents import DECLARATIVE
from tests.proof.scale import scaled

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.base import Model


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


@pytest.mark.skipif(
    importlib.util.find_spec("lm_eval") is None,
    reason="lm-eval is not installed (dependency group test)",
)
def test_at_least_95_of_100_are_read(tmp_path: Path) -> None:
    share = measured(tmp_path, every=scaled(1, 40))
    seen = share.all["none"] + share.all["for sums of scores only"]
    assert seen > scaled(2500, 40)
    assert share.without_functions >= 0.95, share.table()
    assert sum(share.read.values()) + share.reasons.total() == seen


def test_documents_have_the_columns_that_templates_use() -> None:
    config = {
        "description": "{{passage.strip()}} {{names[2]}}",
        "doc_to_text": "{% for one in parts %}{{one.text}}{% endfor %}",
        "doc_to_choice": "{{choices.text}}",
        "doc_to_target": "{{choices.label.index(key)}}",
    }
    for document in documents(config, 3):
        assert isinstance(document["passage"], str)
        assert len(document["names"]) >= 3
        assert all(isinstance(one["text"], str) for one in document["parts"])
        assert document["key"] in document["choices"]["label"]
        assert len(document["choices"]["text"]) == len(document["choices"]["label"])
    [first, second] = documents({"doc_to_text": "q", "doc_to_target": "{{['a', 'b'].index(x)}}"}, 2)
    assert (first["x"], second["x"]) == ("a", "b")
    assert first["q"] != second["q"]
