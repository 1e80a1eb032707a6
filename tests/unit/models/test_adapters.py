"""A model with an adapter gives the numbers of the model into which the adapter was merged."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.errors import ModelError, SuiteError
from pytest_maxrandom.models.base import EngineName, Model, Resources
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located
from tests.suites import load_suite

if TYPE_CHECKING:
    from collections.abc import Callable


# What PEFT tells those who tune; nothing of it may reach those who run a suite.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:peft"),
]

QUESTIONS = [
    Question(f"Which of these is a fruit? {text} A:", (" apple", " stone", " river", " dog", " 12"))
    for text in ("", "Yes no", "The quick brown fox jumps over the lazy dog")
]
ATTENTION = ["q_proj", "v_proj"]
EVERYWHERE = [*ATTENTION, "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@pytest.fixture(scope="module", autouse=True)
def peft() -> None:
    """Import it where it is used only: that takes seconds in each process."""
    pytest.importorskip("peft", reason="the extra `adapters` is not installed")


def _base(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder)


def _tuned(folder: Path, spread: float = 0.3, **said: Any) -> Any:
    """Return the model with an adapter that is not zero, as tuning leaves it."""
    import peft
    import torch

    said = {"r": 4, "lora_alpha": 8, "target_modules": EVERYWHERE, **said}
    torch.manual_seed(1)
    tuned = peft.get_peft_model(_base(folder), peft.LoraConfig(task_type="CAUSAL_LM", **said))
    for name, weight in tuned.named_parameters():
        if ".lora_B." in name or ".lora_embedding_" in name:
            torch.nn.init.normal_(weight, std=spread)
    return tuned


@pytest.fixture(scope="module")
def models(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with `base`, its adapter `lora`, and `merged`, which is the two in one."""
    folder = tmp_path_factory.mktemp("adapted")
    shutil.copytree(tiny_llama, folder / "base")
    tuned = _tuned(tiny_llama)
    tuned.save_pretrained(folder / "lora")
    tuned.merge_and_unload().save_pretrained(folder / "merged")
    tiny.byte_level_tokenizer().save_pretrained(folder / "merged")
    return folder


@pytest.fixture
def spoilt(models: Path, tmp_path: Path) -> Path:
    """Folder like `models`, whose files may be changed."""
    return Path(shutil.copytree(models, tmp_path / "spoilt"))


def _get(base: Path, engine: EngineName = "auto", **said: Any) -> Model:
    said = {"name": "./base", "quantization": "none", "device": "cpu", **said}
    return ModelPool(Resources(engine=engine)).get(located(TransformersSpec(**said), base))


def _sums(model: Model) -> list[float]:
    return [value for one in model.ask(QUESTIONS).answers for value in one.log_likelihoods]


def _most(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def _refusal(base: Path, **said: Any) -> str:
    with pytest.raises(ModelError) as caught:
        _get(base, **{"adapter": "./lora", **said})
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("engine", ["packed", "rows", "plain"])
def test_the_numbers_are_those_of_the_merged_model_in_each_engine(
    models: Path, engine: EngineName
) -> None:
    adapted, merged, base = (
        _get(models, engine, **said)
        for said in ({"adapter": "./lora"}, {"name": "./merged"}, {})
    )  # fmt: skip
    assert adapted.engine == merged.engine == engine
    assert _sums(adapted) == pytest.approx(_sums(merged), abs=1e-4)
    assert _most(_sums(adapted), _sums(base)) > 0.1


@pytest.mark.parametrize(
    "said",
    [
        {"target_modules": ATTENTION, "use_rslora": True},
        {"target_modules": EVERYWHERE, "use_dora": True},
        {"target_modules": ["q_proj", "embed_tokens"]},
        {"target_modules": ATTENTION, "modules_to_save": ["lm_head"]},
        {"target_modules": ["up_proj"], "lora_dropout": 0.5},
    ],
    ids=["rank-stabilized", "magnitudes", "embedding", "whole-layer", "dropout"],
)
def test_kinds_of_lora_give_the_numbers_of_their_merged_models(
    models: Path, tmp_path: Path, said: dict[str, Any]
) -> None:
    import torch

    shutil.copytree(models / "base", tmp_path / "base")
    tuned = _tuned(models / "base", **said)
    for name, weight in tuned.named_parameters():
        if ".modules_to_save." in name or ".lora_magnitude_vector." in name:
            with torch.no_grad():
                weight.mul_(1.5)
    tuned.save_pretrained(tmp_path / "lora")
    tuned.merge_and_unload().save_pretrained(tmp_path / "merged")
    tiny.byte_level_tokenizer().save_pretrained(tmp_path / "merged")
    found = _sums(_get(tmp_path, adapter="./lora"))
    assert found == pytest.approx(_sums(_get(tmp_path, name="./merged")), abs=1e-3)
    assert _most(found, _sums(_get(models))) > 0.1


@pytest.mark.parametrize("architecture", ["gpt-2", "gpt-neox", "mistral-window", "falcon-rope"])
def test_other_architectures_take_adapters_too(tmp_path: Path, architecture: str) -> None:
    base = tiny.save(tmp_path / "base", architecture)
    tuned = _tuned(base, target_modules="all-linear", fan_in_fan_out=architecture == "gpt-2")
    tuned.save_pretrained(tmp_path / "lora")
    tuned.merge_and_unload().save_pretrained(tmp_path / "merged")
    tiny.byte_level_tokenizer().save_pretrained(tmp_path / "merged")
    found = _get(tmp_path, adapter="./lora")
    merged = _get(tmp_path, name="./merged")
    assert found.engine == merged.engine
    assert _sums(found) == pytest.approx(_sums(merged), abs=1e-3)


@pytest.mark.parametrize("quantization", ["none", "nf4", "int8"])
def test_an_adapter_of_zeros_changes_nothing(models: Path, spoilt: Path, quantization: str) -> None:
    _tuned(models / "base", spread=0.0).save_pretrained(spoilt / "lora")
    adapted = _get(spoilt, adapter="./lora", quantization=quantization)
    base = _get(spoilt, quantization=quantization)
    assert _sums(adapted) == pytest.approx(_sums(base), abs=1e-5)


@pytest.mark.parametrize(
    ("quantization", "layer"),
    [("nf4", "Linear4bit"), ("fp4", "Linear4bit"), ("int8", "Linear8bitLt")],
)
def test_a_quantized_model_stays_quantized_and_follows_the_plain_one_with_the_adapter(
    models: Path, quantization: str, layer: str
) -> None:
    import numpy as np

    adapted = _get(models, adapter="./lora", quantization=quantization)
    kinds = [type(module.get_base_layer()).__name__
             for name, module in adapted._model.named_modules()  # type: ignore[attr-defined]
             if hasattr(module, "get_base_layer")]  # fmt: skip
    assert kinds == [layer] * (2 * len(EVERYWHERE))
    plain = _sums(_get(models, adapter="./lora"))
    assert np.corrcoef(_sums(adapted), plain)[0, 1] > 0.8
    assert _most(_sums(adapted), plain) > 1e-3
    assert _most(_sums(adapted), _sums(_get(models, quantization=quantization))) > 0.1


@pytest.mark.parametrize("quantization", ["none", "nf4", "int8"])
def test_what_computes_an_adapted_model_is_foretold(models: Path, quantization: str) -> None:
    found = _get(models, adapter="./lora", quantization=quantization).arithmetic
    spec = {"name": "./base", "adapter": "./lora", "quantization": quantization, "device": "cpu"}
    assert found == foretold(TransformersSpec.model_validate(spec))
    assert "peft" in found.versions


def test_what_the_adapter_says_of_its_base_does_not_matter(spoilt: Path) -> None:
    before = _sums(_get(spoilt, adapter="./lora"))
    _say(spoilt, base_model_name_or_path="another/model")
    assert _sums(_get(spoilt, adapter="./lora")) == before


def _say(folder: Path, **said: Any) -> None:
    path = folder / "lora" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))


def _weights(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "lora" / "adapter_model.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path, metadata={"format": "pt"})


KEY = "base_model.model.model.layers.1.mlp.up_proj.lora_A.weight"


def test_weights_that_no_module_takes(spoilt: Path) -> None:
    _weights(spoilt, lambda weights: weights.update({KEY.replace("1", "7"): weights[KEY].clone()}))
    assert _refusal(spoilt) == (
        "the adapter ./lora does not fit ./base: there is no place for its weight "
        "base_model.model.model.layers.7.mlp.up_proj.lora_A.weight (1 of its 29 weights have "
        "none); expected an adapter that was tuned on this model"
    )


def test_a_weight_that_is_missing(spoilt: Path) -> None:
    _weights(spoilt, lambda weights: weights.pop(KEY))
    assert _refusal(spoilt) == (
        "the adapter ./lora is incomplete for ./base: "
        "base_model.model.model.layers.1.mlp.up_proj.lora_A.weight is not in its file (1 weights "
        "are missing); expected an adapter that was tuned on this model"
    )


def test_a_weight_of_another_shape(spoilt: Path) -> None:
    _weights(spoilt, lambda weights: weights.update({KEY: weights[KEY][:, :32].clone()}))
    message = _refusal(spoilt)
    assert message.startswith("the adapter ./lora does not fit ./base: RuntimeError: size mismatch")
    assert "layers.1.mlp.up_proj.lora_A" in message
    assert message.endswith("; expected an adapter that was tuned on this model")


def test_an_adapter_of_another_architecture(spoilt: Path) -> None:
    tiny.save(spoilt / "other", "gpt-2")
    message = _refusal(spoilt, name="./other")
    assert message.startswith("the adapter ./lora does not fit ./other: ")
    assert "Target modules" in message


def test_a_file_that_was_cut_off(spoilt: Path) -> None:
    path = spoilt / "lora" / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:500])
    assert "SafetensorError" in _refusal(spoilt)


def test_pickled_weights_are_never_loaded(spoilt: Path) -> None:
    import torch
    from safetensors.torch import load_file

    path = spoilt / "lora" / "adapter_model.safetensors"
    torch.save(load_file(path), path.with_name("adapter_model.bin"))
    path.unlink()
    assert _refusal(spoilt) == (
        "the adapter ./lora cannot be loaded: the folder holds no adapter_model.safetensors; "
        "expected an adapter as written by PEFT's save_pretrained (pickled weights such as "
        "adapter_model.bin can run code and are never loaded)"
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"peft_type": "PREFIX_TUNING"},
            "the adapter_config.json of the adapter ./lora says peft_type 'PREFIX_TUNING'; "
            "expected 'LORA'",
        ),
        (
            {"alora_invocation_tokens": [1, 2]},
            "the adapter ./lora has `alora_invocation_tokens`, which is not supported: an "
            "activated LoRA changes the scores of only a part of a text; expected a plain LoRA",
        ),
    ],
)
def test_adapters_of_other_kinds(spoilt: Path, said: dict[str, Any], told: str) -> None:
    _say(spoilt, **said)
    assert _refusal(spoilt) == told


@pytest.mark.parametrize("text", ["{", "[]", "\0", "[" * 200_000])
def test_a_broken_configuration(spoilt: Path, text: str) -> None:
    (spoilt / "lora" / "adapter_config.json").write_text(text)
    assert _refusal(spoilt).startswith("the adapter_config.json of the adapter ./lora ")


def test_a_configuration_that_has_no_end_is_not_read(spoilt: Path) -> None:
    file = spoilt / "lora" / "adapter_config.json"
    file.unlink()
    os.mkfifo(file)
    assert "holds no adapter_config.json" in _refusal(spoilt)


def test_weights_that_are_no_numbers(spoilt: Path) -> None:
    _weights(spoilt, lambda weights: weights[KEY].fill_(float("nan")))
    assert "not finite" in _refusal(spoilt)


def test_peft_that_is_not_installed(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "peft" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert _refusal(models) == (
        "the adapter ./lora of ./base needs peft, which is not installed; "
        'pip install "pytest-maxrandom[adapters]"'
    )
    assert _get(models).dtype == "float32"


def test_a_model_beside_an_adapter_in_one_folder_is_refused(spoilt: Path) -> None:
    """The loader would take the weights of the model that the adapter names."""
    shutil.copy(spoilt / "lora" / "adapter_config.json", spoilt / "base")
    assert _refusal(spoilt, adapter=None) == (
        "./base cannot be loaded: the folder holds both a model and an adapter_config.json, so it "
        "is not clear which weights are meant; remove that file, or give the adapter's folder as "
        "the key `adapter`"
    )


SUITE = """\
models: [{name: ./base, quantization: none}]
tasks: [{name: t, format: csv, path: t.csv}]
prompts: {shots: 0, count: 1}
assert: report
arms:
  base: {}
  tuned: {adapter: ADAPTER}
"""


def _mistakes(folder: Path, text: str) -> list[str]:
    (folder / "t.csv").write_text("input,choices,answer\n" + '1,"[""a"", ""b""]",a\n' * 4)
    (folder / "s.yaml").write_text(text)
    with pytest.raises(SuiteError) as caught:
        plan(load_suite(folder / "s.yaml"))
    return [str(each).removeprefix(f"{folder / 's.yaml'}:") for each in caught.value.problems]


@pytest.mark.parametrize(
    ("adapter", "told"),
    [
        (
            "./base",
            "the folder ./base holds no adapter_config.json; expected an adapter as written by "
            "PEFT's save_pretrained",
        ),
        (
            "./lor",
            "there is no folder ./lor (relative to the suite file), and it is not a hub id such as "
            "lab/llama-lora; did you mean `lora`?",
        ),
        (
            "missing",
            "there is no folder missing (relative to the suite file), and it is not a hub id such "
            "as lab/llama-lora",
        ),
    ],
)
def test_an_adapter_that_is_not_there_is_a_mistake_with_its_line(
    spoilt: Path, adapter: str, told: str
) -> None:
    text = SUITE.replace("ADAPTER", adapter)
    assert f"7: arms.tuned.adapter: {told}" in _mistakes(spoilt, text)
    head = text.partition("arms:")[0]
    named = head.replace("{name: ./base,", f"\n- {{name: ./base, adapter: {adapter},")
    named = named.replace("[\n", "\n").replace("none}]", "none}")
    assert f"2: models[0].adapter: {told}" in _mistakes(spoilt, named)


def test_an_adapter_that_is_given_as_the_model_is_a_mistake(spoilt: Path) -> None:
    text = SUITE.replace("./base", "./lora").replace("ADAPTER", "./lora")
    assert (
        "1: models[0].name: the folder ./lora holds no config.json; expected a model as written by "
        "save_pretrained (it holds an adapter; name it with the key `adapter`)"
    ) in _mistakes(spoilt, text)


def _digest(base: Path, backends: Backends | None = None, **said: Any) -> str:
    spec = TransformersSpec(name="./base", **said)
    return (backends or Backends()).identify(located(spec, base)).digest


def test_the_digest_tells_adapters_apart_by_their_content(spoilt: Path) -> None:
    plain, adapted = _digest(spoilt), _digest(spoilt, adapter="./lora")
    assert plain != adapted
    (spoilt / "lora" / "README.md").write_text("other words")
    shutil.copytree(spoilt / "lora", spoilt / "copy")
    assert _digest(spoilt, adapter="./copy") == _digest(spoilt, adapter="./lora") == adapted
    _weights(spoilt, lambda weights: weights[KEY].mul_(2))
    other = _digest(spoilt, adapter="./lora")
    _say(spoilt, lora_alpha=9)
    assert len({plain, adapted, other, _digest(spoilt, adapter="./lora")}) == 4


def test_models_with_other_adapters_are_not_shared(spoilt: Path) -> None:
    shutil.copytree(spoilt / "lora", spoilt / "copy")
    shutil.copytree(spoilt, spoilt / "elsewhere")
    keys = {
        Backends().locate(TransformersSpec(name=str(spoilt / "base"), adapter=adapter), folder).key
        for adapter in (None, "./lora", "./copy")
        for folder in (spoilt, spoilt / "elsewhere")
    }
    assert len(keys) == 1 + 2 * 2


def test_an_adapter_on_the_hub_is_loaded_from_its_cache_and_is_its_commit(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    repo = tmp_path / "hub" / "models--org--lora"
    for commit in ("1" * 40, "2" * 40):
        shutil.copytree(models / "lora", repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("2" * 40)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    expected = _sums(_get(models, adapter="./lora"))
    assert _sums(_get(models, adapter="org/lora")) == expected
    session = Backends()
    second = _digest(models, session, adapter="org/lora")
    (repo / "refs" / "main").write_text("1" * 40)
    assert _digest(models, session, adapter="org/lora") == second
    assert len({second, _digest(models, adapter="org/lora"), _digest(models)}) == 3
    assert _refusal(models, adapter="org/absent").startswith("there is no folder org/absent")
