"""One model is in memory at a time, and items that share it load it once."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import LockError, ModelError
from pytest_maxrandom.host.machine import held
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.hf import devices, loading as backend
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located

if TYPE_CHECKING:
    from pathlib import Path


def _spec(name: str, **said: str) -> TransformersSpec:
    return TransformersSpec.model_validate({"name": name, "quantization": "none", **said})


def test_the_model_at_hand_is_used_again(tiny_llama: Path) -> None:
    pool = ModelPool()
    first = pool.get(located(_spec(tiny_llama.name), tiny_llama.parent))
    assert pool.get(located(_spec(tiny_llama.name, label="other name"), tiny_llama.parent)) is first
    assert pool.get(located(_spec(f"{tiny_llama.parent.name}/{tiny_llama.name}"),
                    tiny_llama.parent.parent)) is first  # fmt: skip
    assert (
        pool.get(located(_spec(tiny_llama.name, dtype="bfloat16"), tiny_llama.parent)) is not first
    )


def _networks() -> int:
    """How many models are in memory."""
    return sum(type(thing).__name__ == "LlamaForCausalLM" for thing in gc.get_objects())


def test_a_dropped_model_leaves_the_memory_at_once(tiny_llama: Path) -> None:
    gc.collect()
    before = _networks()
    pool = ModelPool()
    pool.get(located(_spec(tiny_llama.name), tiny_llama.parent))
    gc.collect()
    assert _networks() == before + 1
    gc.disable()
    try:
        pool.drop()
        assert _networks() == before
    finally:
        gc.enable()


def test_the_pool_says_how_choices_are_scored(tiny_llama: Path) -> None:
    for engine in ("plain", "rows", "packed"):
        pool = ModelPool(Resources(engine=engine, batch_tokens=100))
        assert pool.get(located(_spec(tiny_llama.name), tiny_llama.parent)).engine == engine


def _is_free(gpu: str) -> bool:
    try:
        with held("gpu", gpu, timeout=0):
            return True
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    "error",
    [ModelError("no"), LockError("no"), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_a_model_that_was_not_loaded_leaves_its_gpu_to_others(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    gpu = f"a GPU of {monkeypatch}"
    seen = []

    def check(*_: object) -> None:
        seen.append(_is_free(gpu))
        raise error

    monkeypatch.setattr(devices, "_visible_gpus", lambda: [gpu])
    monkeypatch.setattr(backend, "_check_device", check)
    pool = ModelPool()
    for _ in range(2):
        with pytest.raises(type(error)):
            pool.get(located(_spec(tiny_llama.name), tiny_llama.parent))
        assert _is_free(gpu)
    # What was refused is refused again; what went wrong otherwise is tried again.
    assert seen == [False] * (1 if isinstance(error, ModelError) else 2)


def test_a_model_that_memory_does_not_hold_is_refused_with_the_way_out(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import transformers

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nSee ...")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
    for said, where in (
        ({"device": "cpu"}, "`device: cpu`"),
        ({"device_map": "balanced"}, "all GPUs together"),
    ):
        with pytest.raises(ModelError) as caught:
            ModelPool().get(located(_spec(tiny_llama.name, **said), tiny_llama.parent))
        assert str(caught.value) == (
            f"{tiny_llama.name} cannot be loaded: the memory of {where} cannot hold it; use a "
            "stronger quantization, a smaller model, or with several GPUs `device_map: auto`"
        )


def test_workers_share_the_cores(tiny_llama: Path) -> None:
    import torch

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        ModelPool(Resources(workers=10**6)).get(located(_spec(tiny_llama.name), tiny_llama.parent))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_a_refused_model_takes_the_place_of_the_one_before(tiny_llama: Path) -> None:
    pool = ModelPool()
    pool.get(located(_spec(tiny_llama.name), tiny_llama.parent))
    for _ in range(2):
        with pytest.raises(ModelError, match="the device `gpu`"):
            pool.get(located(_spec(tiny_llama.name, device="gpu"), tiny_llama.parent))


@pytest.mark.parametrize("key", ["quantization", "dtype", "device", "device_map", "revision"])
def test_models_that_are_loaded_otherwise_are_not_shared(tmp_path: Path, key: str) -> None:
    folder = tiny.save(tmp_path / "model", "gpt-2")
    others = {"quantization": "nf4", "dtype": "bfloat16", "device": "cpu", "device_map": "auto"}
    other = {**others, "revision": "v2"}[key]
    said = _spec(folder.name, **{key: other})
    assert (
        Backends().locate(said, tmp_path).key != Backends().locate(_spec(folder.name), tmp_path).key
    )
