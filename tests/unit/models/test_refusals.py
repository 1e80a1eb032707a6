"""A model that would give wrong numbers is refused, in one sentence."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.models.base import Model


@pytest.fixture
def folder(tiny_llama: Path, tmp_path: Path) -> Path:
    """A model to be spoilt."""
    return shutil.copytree(tiny_llama, tmp_path / "spoilt")


def _get(folder: Path, **said: Any) -> Model:
    spec = TransformersSpec(
        **{"name": folder.name, "quantization": "none", "device": "cpu", **said}
    )
    return ModelPool().get(located(spec, folder.parent))


def _refusal(folder: Path, **said: Any) -> str:
    with pytest.raises(ModelError) as caught:
        _get(folder, **said)
    message = str(caught.value)
    assert "\n" not in message
    return message


def _weights(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_an_unspoilt_model_is_loaded(folder: Path) -> None:
    assert _get(folder).context_length == 512


def test_a_missing_weight(folder: Path) -> None:
    _weights(folder, lambda weights: weights.pop("model.layers.1.mlp.up_proj.weight"))
    assert _refusal(folder) == (
        "spoilt is incomplete: model.layers.1.mlp.up_proj.weight is not in its files (1 of its "
        "weights are missing); expected all the weights of a causal language model"
    )


def test_a_missing_weight_of_a_quantized_model(folder: Path) -> None:
    _weights(folder, lambda weights: weights.pop("model.layers.1.mlp.up_proj.weight"))
    assert _refusal(folder, quantization="nf4").startswith("spoilt is incomplete: ")


def test_a_weight_of_another_shape(folder: Path) -> None:
    import torch

    _weights(folder, lambda weights: weights.update({"model.norm.weight": torch.ones(7)}))
    assert _refusal(folder) == (
        "spoilt contradicts its config.json: the weight model.norm.weight has the shape (7,), "
        "expected (64,)"
    )


def test_a_file_that_was_cut_off(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    assert _refusal(folder).startswith(
        "spoilt cannot be loaded: its weights are damaged or incomplete ("
    )


def test_pickled_weights_are_never_loaded(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert _refusal(folder) == (
        "spoilt cannot be loaded: the folder holds no weights as safetensors; expected a model as "
        "written by save_pretrained (pickled weights such as pytorch_model.bin can run code and "
        "are never loaded)"
    )


def test_no_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert _refusal(folder) == (
        "spoilt cannot be loaded: the folder holds no tokenizer; expected tokenizer.json in the "
        "model's folder, as written by the tokenizer's save_pretrained"
    )


def test_a_broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    assert _refusal(folder).startswith("spoilt cannot be loaded: its tokenizer: ")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ('{"model_type": ', "not a valid JSON file"),
        ("{}", "Should have a `model_type` key"),
        ('{"model_type": "blubb"}', "model type `blubb`"),
    ],
)
def test_a_broken_configuration(folder: Path, config: str, reason: str) -> None:
    (folder / "config.json").write_text(config)
    message = _refusal(folder)
    assert message.startswith("spoilt cannot be loaded: its configuration: ")
    assert reason in message


def test_a_model_that_reads_in_both_directions(tmp_path: Path) -> None:
    from transformers import BertConfig, BertLMHeadModel

    tokenizer = tiny.byte_level_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        initializer_range=0.2,
    )
    folder = tmp_path / "bert"
    BertLMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    assert _refusal(folder) == (
        "bert looks ahead (a token's scores depend on later tokens); expected a causal language "
        "model"
    )
    said = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**said, "is_decoder": True}))
    assert _get(folder).context_length == 512


def test_a_masked_language_model_whose_weights_are_small(tmp_path: Path) -> None:
    assert _refusal(tiny.save_bert(tmp_path / "bert")).startswith("bert looks ahead (")


def test_a_model_with_an_encoder(tmp_path: Path) -> None:
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path / "t5"
    config = T5Config(vocab_size=400, d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tiny.byte_level_tokenizer().save_pretrained(folder)
    assert _refusal(folder) == (
        "t5 cannot be loaded: it is not a causal language model; expected one that "
        "AutoModelForCausalLM can load"
    )


def test_weights_that_are_no_numbers(folder: Path) -> None:
    _weights(folder, lambda weights: weights["lm_head.weight"].fill_(float("nan")))
    assert _refusal(folder) == (
        "spoilt returns numbers that are not finite; try another dtype or quantization"
    )


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there(folder: Path, device: str) -> None:
    message = _refusal(folder, device=device)
    assert message.startswith(f"the device `{device}` of spoilt cannot be used on this machine (")
    assert message.endswith("; expected auto, cpu, cuda or cuda:1")


def test_a_library_that_is_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "bitsandbytes" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert _refusal(folder, quantization="nf4") == (
        'spoilt needs bitsandbytes, which is not installed; pip install "pytest-maxrandom[hf]"'
    )
    assert _get(folder).dtype == "float32"


@pytest.fixture
def own_code(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A model that comes with code, which leaves a trace when it runs."""
    import transformers.dynamic_module_utils

    # The code is copied there, and the folder is put on the path.
    cache = str(tmp_path / "cache")
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", cache)
    monkeypatch.setattr(sys, "path", [*sys.path])
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "own-llama"
    config["architectures"] = ["OwnModel"]
    config["auto_map"] = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(
        "from pathlib import Path\n"
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        f"Path({str(tmp_path / 'trace')!r}).touch()\n"
        "class OwnConfig(LlamaConfig):\n"
        "    model_type = 'own-llama'\n"
        "class OwnModel(LlamaForCausalLM):\n"
        "    config_class = OwnConfig\n"
    )
    return folder


def test_code_that_comes_with_a_model_does_not_run_unasked(own_code: Path) -> None:
    assert _refusal(own_code) == (
        "spoilt cannot be loaded: it needs its own code; write `trust_remote_code: true` in the "
        "suite if that code may run on this machine"
    )
    assert not (own_code.parent / "trace").exists()


def test_code_that_comes_with_a_model_runs_where_the_suite_says_so(own_code: Path) -> None:
    model = _get(own_code, trust_remote_code=True)
    assert model.context_length == 512
    assert (own_code.parent / "trace").exists()


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert _refusal(folder) == (
        "the folder empty holds no config.json; expected a model as written by save_pretrained"
    )


@pytest.mark.parametrize(
    ("name", "hint"), [("./spoild", "did you mean `spoilt`?"), ("./elsewhere", "OLMo-7B-hf")]
)
def test_a_folder_that_is_not_there(folder: Path, name: str, hint: str) -> None:
    message = _refusal(folder, name=name)
    assert message.startswith(f"there is no folder {name} (relative to the suite file), and ")
    assert re.search(re.escape(hint) + "$", message)
