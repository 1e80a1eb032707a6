"""What computes a number is foretold without loading, and is what the loaded model says."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.hf import arithmetic, devices
from pytest_maxrandom.models.hf.arithmetic import foretold, processor
from pytest_maxrandom.models.hf.devices import Processors
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located
from tests.tiny import save_llama

if TYPE_CHECKING:
    from pathlib import Path

H100, A100 = "NVIDIA H100 (compute capability 9.0)", "NVIDIA A100 (compute capability 8.0)"


def _spec(**said: Any) -> TransformersSpec:
    return TransformersSpec.model_validate({"name": "m", "device": "cpu", **said})


@pytest.mark.parametrize("quantization", ["none", "nf4", "fp4", "int8"])
def test_what_is_foretold_is_what_is_found(
    tiny_llama: Path, quantization: str, kernels: str
) -> None:
    spec = _spec(quantization=quantization)
    found = load(spec, str(tiny_llama)).arithmetic
    assert found == foretold(spec)
    assert ("avx512_bf16" in found.kernels) == (
        kernels == "native" and quantization in ("nf4", "fp4")
    )
    assert found.versions["torch"] == version("torch")
    assert ("bitsandbytes" in found.versions) == (quantization != "none")


def test_before_bitsandbytes_is_imported_the_processor_tells(tiny_llama: Path) -> None:
    import torch
    from bitsandbytes.nn import modules

    code = (
        "import sys\n"
        "from pytest_maxrandom.models.hf.arithmetic import foretold\n"
        "from pytest_maxrandom.suite.models import TransformersSpec\n"
        "print('avx512_bf16' in foretold(TransformersSpec(name='m', device='cpu')).kernels)\n"
        "print({'torch', 'transformers', 'bitsandbytes'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # A build of torch for GPUs is asked whether there is one, where the processor has the kernels.
    asked = torch.version.cuda is not None and "avx512_bf16" in arithmetic.processor()
    assert done == [str(bool(modules.has_avx512bf16())), "{'torch'}" if asked else "set()"]


@pytest.mark.parametrize("gpus", [[], [H100]])
def test_beside_a_gpu_no_layer_is_packed_for_the_processor(
    gpus: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its library is that of GPUs there, which has no kernels of processors."""
    monkeypatch.delitem(sys.modules, "bitsandbytes.nn.modules", raising=False)
    monkeypatch.setattr(arithmetic, "_read_processor", lambda: "a processor with avx512_bf16")
    monkeypatch.setattr(devices, "visible_kinds", lambda: gpus)
    kernels = foretold(_spec(quantization="nf4")).kernels
    assert ("avx512_bf16" in kernels) == (not gpus)


def test_batches_threads_and_the_engine_are_no_part_of_it(tiny_llama: Path) -> None:
    import torch

    spec = _spec(quantization="none")
    plain = Resources(engine="plain", batch_tokens=64)
    found = {load(spec, str(tiny_llama), None, plain).arithmetic.digest}
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(before + 1)
        found.add(load(spec, str(tiny_llama)).arithmetic.digest)
    finally:
        torch.set_num_threads(before)
    assert found == {foretold(spec).digest}


@pytest.mark.parametrize(
    "changed",
    [
        {"processor": "other"},
        {"kernels": "other"},
        {"versions": {"torch": "2"}},
        {"versions": {"torch": "1", "peft": "1"}},
    ],
)
def test_processor_kernels_and_each_version_are_told_apart(changed: dict[str, Any]) -> None:
    said: dict[str, Any] = {"processor": "p", "kernels": "k", "versions": {"torch": "1"}}
    assert Arithmetic(**said).digest != Arithmetic(**{**said, **changed}).digest


def test_libraries_that_are_kept_from_kernels_compute_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)  # where the whole run has it
    before = processor()
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    assert processor() == f"{before}, ATEN_CPU_CAPABILITY=default"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"device": "auto"}, H100),
        ({"device": "cuda"}, H100),
        ({"device": "cuda:1"}, A100),
        ({"device_map": "auto", "device": "auto"}, f"{A100} and {H100}"),
        ({"device": "cpu"}, None),
    ],
)
def test_a_gpu_is_known_by_its_kind(
    said: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "visible_kinds", lambda: [H100, A100, H100])
    found = foretold(_spec(**said))
    assert found.processor == (expected or processor())
    assert expected is None or found.kernels == arithmetic.GENERIC


def test_without_a_device_a_model_goes_to_gpus_of_one_kind_only() -> None:
    """Else the same suite would be computed otherwise whenever another GPU happens to be free."""
    names = ["arithmetic A", "arithmetic B", "arithmetic C"]
    processors = [Processors(1, 3, names, [H100, A100, H100]) for _ in range(2)]
    try:
        taken = [each.take(_spec(device="auto")) for each in processors]
        assert sorted(place[""] for place in taken if isinstance(place, dict)) == [
            "cuda:0",
            "cuda:2",
        ]
    finally:
        for each in processors:
            each.release()


def test_the_pool_tells_what_was_found_of_a_model_that_was_loaded(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Arithmetic("elsewhere", "none", {})
    monkeypatch.setattr("pytest_maxrandom.models.hf.transformers.foretold", lambda *said: wrong)
    spec = TransformersSpec(name=tiny_llama.name, quantization="none", device="cpu")
    pool = ModelPool()
    assert pool.identity(located(spec, tiny_llama.parent)).arithmetic == wrong
    pool.get(located(spec, tiny_llama.parent))
    assert pool.identity(located(spec, tiny_llama.parent)).arithmetic == foretold(spec)


@pytest.mark.parametrize(("hidden", "inner"), [(48, 80), (64, 80)])
def test_layers_that_cannot_be_packed_are_not_called_packed(
    tmp_path: Path, kernels: str, hidden: int, inner: int
) -> None:
    """64 inputs are a block, 48 are none: there all layers stay on the generic path."""
    save_llama(tmp_path, hidden=hidden, inner=inner)
    model = load(_spec(quantization="nf4", dtype="float32"), str(tmp_path))
    packed = kernels == "native" and hidden == 64
    assert ("packed" in model.arithmetic.kernels) == packed
    assert model.dtype == ("bfloat16" if packed else "float32")
