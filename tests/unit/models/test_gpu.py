"""On a GPU a model is where `device: auto` puts it, and its kernels give the numbers of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.suite.models import TransformersSpec
from tests import tiny
from tests.needs import require

require("hf")
if tiny.place() == "cpu":
    pytest.skip("torch finds no GPU", allow_module_level=True)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.hf.causal import CausalModel

SHOTS = "Q: Which of these is a fruit? A: apple\nQ: dog or fox? A: fox\n" * 6
QUESTIONS = [
    Question(f"{SHOTS}Q: {text}? A:", (" apple", " stone", " river", " brown dog", " 12"))
    for text in ("apple", "brown fox", "river or stone", "lazy dog 12", "word " * 40)
]


def _load(folder: Path, engine: Any = "auto", **said: Any) -> CausalModel:
    spec = TransformersSpec.model_validate({"name": folder.name, **said})
    return load(spec, str(folder), None, Resources(engine=engine))


def _sums(model: CausalModel) -> list[float]:
    return [v for one in model.ask(QUESTIONS).answers for v in one.log_likelihoods]


@pytest.mark.parametrize("quantization", ["none", "nf4", "fp4", "int8"])
def test_a_model_is_on_the_gpu_and_computed_there_as_foretold(
    tiny_llama: Path, quantization: str
) -> None:
    spec = TransformersSpec.model_validate({"name": "m", "quantization": quantization})
    model = _load(tiny_llama, quantization=quantization)
    assert model.device == "cuda:0"
    assert {weight.device.type for weight in model._model.parameters()} == {"cuda"}
    assert model.arithmetic == foretold(spec)
    assert "compute capability" in model.arithmetic.processor
    before = model.peak_memory()
    _sums(model)
    assert 0 < (before or 0) <= (model.peak_memory() or 0)


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ({"quantization": "none", "dtype": "float32"}, 1e-3),
        ({"quantization": "nf4", "dtype": "float32"}, 1e-3),
        ({"quantization": "fp4", "dtype": "float32"}, 1e-3),
        ({"quantization": "none", "dtype": "bfloat16"}, 0.25),
        ({"quantization": "nf4"}, 0.25),
        ({"quantization": "int8"}, 0.5),
    ],
)
def test_its_kernels_give_the_numbers_of_the_processors(
    tiny_llama: Path, said: dict[str, str], most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bitsandbytes.nn import modules

    monkeypatch.setattr(modules, "has_avx512bf16", lambda: False)
    there = _sums(_load(tiny_llama, **said))
    assert there == pytest.approx(_sums(_load(tiny_llama, device="cpu", **said)), abs=most)


@pytest.mark.parametrize("engine", ["packed", "rows"])
@pytest.mark.parametrize(
    ("said", "most"),
    [
        ({"quantization": "none", "dtype": "float32"}, 1e-4),
        ({"quantization": "none", "dtype": "bfloat16"}, 0.25),
        ({"quantization": "nf4", "dtype": "float32"}, 1e-4),
        ({"quantization": "nf4"}, 0.25),
        ({"quantization": "fp4"}, 0.25),
        ({"quantization": "int8"}, 0.5),
    ],
)
def test_texts_that_share_what_they_have_in_common_score_as_each_alone(
    tiny_llama: Path, engine: str, said: dict[str, str], most: float
) -> None:
    model = _load(tiny_llama, engine, **said)
    found = _sums(model)
    assert (model.engine, found) == (engine, _sums(model))  # a second time to the last bit
    assert found == pytest.approx(_sums(_load(tiny_llama, "plain", **said)), abs=most)
