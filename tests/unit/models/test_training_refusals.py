"""What cannot be trained is refused in one sentence, as early as it is known."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.hf import transformers as backend
from pytest_maxrandom.models.hf.engines import network
from pytest_maxrandom.models.hf.training import fitting
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.training import LabelledText, Training
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
from tests.models import located

TEXTS = tuple(tiny.TEXT)
LABELLED = tuple(LabelledText(text, number % 2) for number, text in enumerate(TEXTS))
FULL = Training(TrainSpec(text="extra"), TEXTS)
HEAD = Training(None, (), ClassifySpec(), LABELLED, ("no", "yes"))


@pytest.fixture(scope="module", autouse=True)
def peft() -> None:
    """Import it where it is used only: that takes seconds in each process."""
    pytest.importorskip("peft", reason="the extra `training` is not installed")


def _settings(**said: Any) -> Training:
    return replace(FULL, settings=TrainSpec(**{"text": "extra", **said}))


@pytest.mark.parametrize(
    ("model", "training", "sentence"),
    [
        ({"adapter": "lora"}, FULL, "with the adapter lora in it; name a base"),
        ({}, _settings(objective="masked"), "answer questions after `objective: masked` alone"),
        ({}, replace(FULL, texts=()), "there is no text to train m on"),
        ({}, replace(FULL, texts=(" ", "")), "there is no text to train m on"),
        ({}, replace(HEAD, labelled=LABELLED[:1]), "have only 1 of 2 classes"),
        ({}, replace(HEAD, labels=("no", "yes", "maybe")), "have only 2 of 3 classes"),
    ],
)
def test_what_a_suite_shows_is_refused_before_anything_is_loaded(
    tmp_path: Path, model: dict[str, Any], training: Training, sentence: str
) -> None:
    for name, file in (("m", "config.json"), ("lora", "adapter_config.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}")
    spec = TransformersSpec(**{"name": "m", "quantization": "none", **model})
    with pytest.raises(ModelError) as told:
        Backends().locate(spec, tmp_path, training)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


def _refusal(base: Path, training: Training, cache: Path, **said: Any) -> str:
    spec = TransformersSpec(**{"name": base.name, "quantization": "none", **said})
    pool = ModelPool(Resources(trained=cache))
    with pytest.raises(ModelError) as told:
        pool.get(located(spec, base.parent, training))
    pool.drop()
    assert "\n" not in str(told.value)
    assert not [path for path in cache.glob("*") if path.is_dir()]  # nothing of it is kept
    return str(told.value)


def test_a_loss_that_is_no_number_stops_training(tiny_llama: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    broken = Path(shutil.copytree(tiny_llama, tmp_path / "broken"))
    weights = load_file(broken / "model.safetensors")
    # Of the tokens that texts begin with, and no probe does.
    weights["model.embed_tokens.weight"][40:] = float("inf")
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    said = _refusal(broken, FULL, tmp_path / "cache")
    assert said == (
        "training broken stopped at step 1, because its loss is not a number (nan); use a smaller "
        "`learning_rate` (it is 5e-05), or `dtype: float32`"
    )


def test_a_step_that_spoils_the_weights_is_found_at_once(tiny_llama: Path, tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    network = torch.nn.Linear(2, 2)
    how = fitting.How("m", "cpu", 1, 0.1, 1, 0)
    fitting._check_weights(network, how)
    network.weight.data[0, 0] = float("nan")
    with pytest.raises(
        ModelError, match=r"left the weight weight with values that are not numbers"
    ):
        fitting._check_weights(network, how)
    with pytest.raises(ModelError, match=r"stopped at step 3, because its loss is not a number"):
        fitting._check_loss(float("nan"), 3, how)


def test_names_of_layers_that_there_are_not_are_told(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = _settings(method="lora", modules=["q_proj", "q_prj", "self_attn"])
    told = " that can get an adapter is named 'q_prj', 'self_attn'; expected some of 'down_proj', "
    with pytest.raises(ModelError, match=told):  # where the files tell it, before they are loaded
        Backends().locate(
            TransformersSpec(name=str(tiny_llama), quantization="none"), tmp_path, wrong
        )
    located = Backends().locate(
        TransformersSpec(name=str(tiny_llama), quantization="none"),
        tmp_path,
        _settings(method="lora", modules=["q_proj", "self_attn.k_proj", "down_proj"]),
    )
    assert located.training is not None
    monkeypatch.setattr(backend, "_layers", lambda _: [])  # as of weights that are not here yet
    assert told in _refusal(tiny_llama, wrong, tmp_path / "cache")


def test_masked_words_need_a_network_that_reads_both_ways(tiny_llama: Path, tmp_path: Path) -> None:
    masked = replace(HEAD, settings=TrainSpec(text="extra", objective="masked"), texts=TEXTS)
    said = _refusal(tiny_llama, masked, tmp_path)
    assert (
        said == "tiny-llama holds LlamaForCausalLM, which is not a masked language model; use "
        "`objective: causal`, or another model"
    )


def test_a_network_that_looks_ahead_learns_nothing_from_the_next_word(tmp_path: Path) -> None:
    causal = replace(HEAD, settings=TrainSpec(text="extra"), texts=TEXTS)
    said = _refusal(tiny.save_bert(tmp_path / "bert", spread=0.2), causal, tmp_path / "cache")
    assert "looks ahead" in said


def test_texts_without_a_token_to_predict_are_told(tiny_llama: Path, tmp_path: Path) -> None:
    said = _refusal(tiny_llama, replace(FULL, texts=("a", "b")), tmp_path)
    assert said.endswith(
        "none of 2 texts holds a token that could be predicted; expected texts of a few words"
    )


def test_memory_that_does_not_suffice_is_told_before_it_runs_out(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "free_bytes", lambda _: 1000)
    said = _refusal(tiny_llama, FULL, tmp_path)
    assert (
        "in addition to its weights, but 0.0 GB of memory are left on "
        f"{tiny.place()}; use a smaller model" in said
    )


def test_memory_that_runs_out_is_told(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    def full(*_: object, **__: object) -> None:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 1 bytes."
        )

    monkeypatch.setattr(transformers.Trainer, "train", full)
    said = _refusal(tiny_llama, FULL, tmp_path)
    assert said.startswith(f"the memory of {tiny.place()} is too small for training")


def test_a_disk_that_is_too_small_is_told_before_training(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(shutil.disk_usage(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**6, 10**6, 1000))
    monkeypatch.setattr(fitting, "_check_memory", lambda *_: pytest.fail("it is trained"))
    said = _refusal(tiny_llama, FULL, tmp_path)
    assert f"cannot be kept in {tmp_path}: the disk is full; free space there" in said


def test_a_package_that_is_missing_is_named(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "peft" else real(name)
    )
    said = _refusal(tiny_llama, _settings(method="lora"), tmp_path)
    assert said.endswith(
        'needs peft, which is not installed; pip install "pytest-maxrandom[training]"'
    )


def test_a_loss_that_does_not_fall_is_told(tiny_llama: Path, tmp_path: Path) -> None:
    said: list[str] = []
    still = _settings(learning_rate=1e-30, batch_size=4, epochs=2)
    spec = TransformersSpec(name=tiny_llama.name, quantization="none")
    pool = ModelPool(Resources(trained=tmp_path, tell=said.append))
    model: Any = pool.get(located(spec, tiny_llama.parent, still))
    assert model.trained.falls is False
    (sentence,) = [each for each in said if "loss" in each]
    assert f"the loss of training {tiny_llama.name} did not fall" in sentence
    pool.drop()
