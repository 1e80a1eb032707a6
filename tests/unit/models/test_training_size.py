"""What a training reads is counted before it begins, without torch, as the training counts it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from transformers import AutoConfig, AutoTokenizer

from pytest_maxrandom.models.hf.training.texts import encode, reach, rows_of, size_of
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.models.training import LabelledText, Training
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
from tests.models import located
from tests.tiny import save_bert, save_llama, sentencepiece_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "apple, stone, river",
    "",
    "yes",
    "The quick brown fox jumps over the lazy dog " * 9,
    "a b",
)
LABELLED = tuple(LabelledText(text, place % 2) for place, text in enumerate(TEXTS[:3]))


@pytest.fixture(scope="module", params=["bytes", "sentencepiece", "words"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    if request.param == "words":
        return save_bert(folder)
    tokenizer = sentencepiece_tokenizer(end=True) if request.param == "sentencepiece" else None
    return save_llama(folder, tokenizer, positions=48)


def told(folder: Path, training: Training) -> Any:
    spec = TransformersSpec(name=str(folder), quantization="none")
    return ModelPool().training_size(located(spec, folder, training))


@pytest.mark.parametrize("longest", [8, 256])
def test_tokens_and_steps_are_those_of_the_rows_that_are_trained_on(
    model: Path, longest: int
) -> None:
    tokenizer, config = AutoTokenizer.from_pretrained(model), AutoConfig.from_pretrained(model)
    objective: Any = "causal" if tokenizer.mask_token is None else "masked"
    train = TrainSpec(
        text="scored", objective=objective, epochs=3, batch_size=2, max_length=longest
    )
    head = ClassifySpec(epochs=2, batch_size=2, max_length=longest)
    limit = reach(config, tokenizer, longest)
    rows = rows_of(encode(tokenizer, TEXTS, limit), tokenizer, objective, "m")
    labelled = encode(tokenizer, [each.text for each in LABELLED], limit)
    whole = Training(train, TEXTS, head, LABELLED, ("x", "y"))
    found = told(model, whole)
    assert found.tokens == 3 * sum(len(row["input_ids"]) for row in rows) + 2 * sum(
        map(len, labelled.ids)
    )
    assert found.steps == 3 * -(-len(rows) // 2) + 2 * 2
    assert found.words == 3 * sum(len(text.split()) for text in TEXTS) + 2 * 4
    alone = told(model, replace(whole, settings=None, texts=()))
    assert alone.tokens == 2 * sum(map(len, labelled.ids))


def test_without_a_tokenizer_at_hand_there_are_steps_alone(tmp_path: Path) -> None:
    training = Training(TrainSpec(text="scored", batch_size=2), TEXTS)
    assert told(save_llama(tmp_path), training).tokens
    (tmp_path / "tokenizer.json").write_text("{}")
    for file in (None, tmp_path / "tokenizer.json"):
        found = size_of(training, file, None)
        assert (found.steps, found.tokens) == (3, None)


def test_neither_torch_nor_the_hub_is_asked(tmp_path: Path) -> None:
    save_llama(tmp_path)
    script = """
import socket, sys
from pathlib import Path
from pytest_maxrandom.models.hf.hub import at_hand
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.training import Training
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.training import TrainSpec

def refuse(*args, **kwargs):
    raise AssertionError("the network is asked")

socket.socket.connect = refuse
training = Training(TrainSpec(text="scored"), ("a text", "another"))
spec = TransformersSpec(name=sys.argv[1], quantization="none")
located = Backends().locate(spec, Path(), training)
assert ModelPool().training_size(located).tokens > 4
assert at_hand("nobody/has-this-model", "tokenizer.json", None) is None
assert not {"torch", "transformers"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
