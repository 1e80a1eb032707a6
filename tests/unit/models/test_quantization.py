"""Quantized models are what the suite says, on the CPU as well."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.loading import _precision, quiet
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.suite.models import TransformersSpec

if TYPE_CHECKING:
    from pytest_maxrandom.models.hf.causal import CausalModel

QUESTION = Question("Which of these is a fruit? A:", (" apple", " stone", " river", " dog", " 12"))


def _load(folder: Path, **said: Any) -> CausalModel:
    return load(TransformersSpec(name=folder.name, device="cpu", **said), str(folder))


def _sums(model: CausalModel) -> list[float]:
    return list(model.ask([QUESTION]).answers[0].log_likelihoods)


@cache
def _plain(folder: Path) -> tuple[float, ...]:
    return tuple(_sums(_load(folder, quantization="none")))


@pytest.mark.parametrize(
    ("quantization", "layer"),
    [("nf4", "Linear4bit"), ("fp4", "Linear4bit"), ("int8", "Linear8bitLt")],
)
def test_quantized_layers_give_other_numbers_that_follow_the_plain_ones(
    tiny_llama: Path, quantization: str, layer: str, kernels: str
) -> None:
    import numpy as np

    model = _load(tiny_llama, quantization=quantization)
    layers = [type(module).__name__ for module in model._model.modules()]
    assert layers.count(layer) == 2 * 7  # query, key, value, output; gate, up, down
    sums = _sums(model)
    assert max(abs(a - b) for a, b in zip(sums, _plain(tiny_llama), strict=True)) > 1e-3
    assert np.corrcoef(sums, _plain(tiny_llama))[0, 1] > 0.8


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_four_bits_are_doubly_quantized_and_computed_in_bfloat16(
    tiny_llama: Path, kind: str, kernels: str
) -> None:
    import torch

    model = _load(tiny_llama, quantization=kind)
    layer = model._model.model.layers[0].mlp.up_proj
    assert layer.compute_dtype is torch.bfloat16
    assert layer.weight.quant_type == kind
    assert layer.weight.dtype is torch.uint8
    assert (model.dtype, model.asked_dtype) == ("bfloat16", None)
    # What is packed for the processor is no longer nested, and says that it was.
    state = layer.weight.quant_state
    packed = getattr(state, "packing_format_for_cpu", False)
    assert packed == (kernels == "native")
    assert state.original_nested if packed else state.nested


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_float32_is_computed_and_recorded_as_what_the_kernels_make_of_it(
    tiny_llama: Path, kind: str, kernels: str
) -> None:
    model = _load(tiny_llama, quantization=kind, dtype="float32")
    said = (model.dtype, model.asked_dtype)
    assert said == (("bfloat16", "float32") if kernels == "native" else ("float32", None))
    # In bfloat16 the ways to put texts together differ by more than float32 would allow.
    assert (model.engine, model.engine_reason) == ("packed", None)


def test_the_demo_model_is_packed_in_float32_as_well(kernels: str) -> None:
    demo = Path(__file__).parents[3] / "eval_suites" / "demo" / "demo-llama"
    model = _load(demo, quantization="nf4", dtype="float32")
    assert (model.engine, model.engine_reason) == ("packed", None)


@pytest.mark.parametrize("dtype", ["auto", "float32"])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_the_first_forward_gives_the_numbers_of_later_ones(
    tiny_llama: Path, kind: str, dtype: str, kernels: str
) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    spec = {"name": "m", "quantization": kind, "dtype": dtype}
    said = _precision(TransformersSpec.model_validate(spec))
    model = AutoModelForCausalLM.from_pretrained(tiny_llama, device_map="cpu", **said).eval()
    ids = torch.arange(3, 60)[None]
    with torch.inference_mode():
        first, second, third = (model(input_ids=ids).logits for _ in range(3))
    assert torch.equal(first, second)
    assert torch.equal(first, third)


@pytest.mark.parametrize(("hidden", "inner"), [(96, 144), (64, 80), (80, 128)])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_layers_that_cannot_be_packed_are_computed_all_the_same(
    tmp_path: Path, kind: str, hidden: int, inner: int, kernels: str
) -> None:
    import numpy as np

    folder = tiny.save_llama(tmp_path / "odd", hidden=hidden, inner=inner)
    model = _load(folder, quantization=kind)
    layers = [each for each in model._model.modules() if type(each).__name__ == "Linear4bit"]
    shapes = {
        tuple(layer.weight.quant_state.shape): getattr(
            layer.weight.quant_state, "packing_format_for_cpu", False
        )
        for layer in layers
    }
    assert shapes == {
        shape: kernels == "native" and not shape[0] % 32 and not shape[1] % 64 for shape in shapes
    }
    assert (model.engine, model.engine_reason) == ("packed", None)
    plain = _sums(_load(folder, quantization="none"))
    assert np.corrcoef(_sums(model), plain)[0, 1] > 0.8


def test_eight_bits_are_closer_to_the_plain_numbers_than_four(tiny_llama: Path) -> None:
    def distance(quantization: str) -> float:
        sums = _sums(_load(tiny_llama, quantization=quantization))
        return max(abs(a - b) for a, b in zip(sums, _plain(tiny_llama), strict=True))

    assert distance("int8") < distance("nf4")


@pytest.mark.parametrize("dtype", ["auto", "bfloat16", "float32"])
def test_eight_bits_keep_the_log_quiet_at_every_dtype(
    tiny_llama: Path, dtype: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        model = _load(tiny_llama, quantization="int8", dtype=dtype)
        _sums(model)
    assert model.dtype == "float16"  # whatever its layers are given
    assert model.asked_dtype == (None if dtype == "auto" else dtype)
    assert [record for record in caplog.records if "bitsandbytes" in record.name] == []


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_without_quantization_the_weights_have_the_dtype_that_is_asked_for(
    tiny_llama: Path, dtype: str
) -> None:
    model = _load(tiny_llama, quantization="none", dtype=dtype)
    assert {str(weight.dtype) for weight in model._model.parameters()} == {f"torch.{dtype}"}
    assert model.dtype == dtype
    assert _sums(model) == pytest.approx(_plain(tiny_llama), abs=0.2)


def test_without_quantization_auto_is_the_dtype_of_the_files(tiny_llama: Path) -> None:
    model = _load(tiny_llama, quantization="none")
    assert model.dtype == "float32"


def test_a_model_without_a_layer_that_can_be_quantized_is_refused(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = tiny.byte_level_tokenizer()
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=0, n_head=4)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "flat")
    tokenizer.save_pretrained(tmp_path / "flat")
    with pytest.raises(ModelError) as caught:
        _load(tmp_path / "flat", quantization="nf4")
    assert str(caught.value) == (
        "flat has no layer that bitsandbytes can quantize to nf4; use `quantization: none`"
    )


def test_an_architecture_that_cannot_compute_with_quantized_layers_is_refused(
    tmp_path: Path, kernels: str
) -> None:
    folder = tiny.save(tmp_path / "mamba", "mamba")
    with pytest.raises(ModelError) as caught:
        _load(folder, quantization="nf4")
    message = str(caught.value)
    assert message.startswith(
        "mamba cannot read a text with `quantization: nf4` on cpu: RuntimeError: "
    )
    assert message.endswith("; try another quantization or dtype")
    assert "\n" not in message


@pytest.fixture(scope="module")
def stored_in_fp4(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> Path:
    """A folder with weights that are quantized already."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("models") / "stored"
    # Saved before anything is put through it: what was packed for a processor is unpacked by
    # quantizing its scales anew, which changes them.
    said = _precision(TransformersSpec(name="m", quantization="fp4"))
    made = AutoModelForCausalLM.from_pretrained(tiny_llama, device_map="cpu", **said)
    made.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_llama).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("quantization", ["none", "nf4", "int8"])
def test_files_that_are_quantized_otherwise_are_refused(
    stored_in_fp4: Path, quantization: str
) -> None:
    with pytest.raises(ModelError) as caught:
        _load(stored_in_fp4, quantization=quantization)
    assert str(caught.value) == (
        "the files of stored are already quantized (bitsandbytes fp4, 4 bits), but the suite says "
        f"`quantization: {quantization}`; write `quantization: stored`, or name files that are not "
        "quantized"
    )


def test_files_that_are_quantized_as_the_suite_says_give_the_same_numbers(
    stored_in_fp4: Path, tiny_llama: Path, kernels: str
) -> None:
    stored = _sums(_load(stored_in_fp4, quantization="fp4"))
    assert stored == pytest.approx(_sums(_load(tiny_llama, quantization="fp4")), abs=1e-2)


@pytest.mark.parametrize("name", ["torchao.kernel.intmm", "torch.utils._pytree"])
def test_of_kernels_that_it_lacks_a_library_tells_nothing_while_a_model_is_loaded(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("transformers")
    logger = logging.getLogger(name)
    # torch's own loggers hand nothing on.
    logger.addHandler(caplog.handler)
    try:
        logger.warning("before")
        with quiet():
            logger.warning("no triton")
            logger.error("broken")
        logger.warning("after")
    finally:
        logger.removeHandler(caplog.handler)
    assert list(dict.fromkeys(caplog.messages)) == ["before", "broken", "after"]
