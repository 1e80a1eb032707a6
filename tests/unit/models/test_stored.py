"""Files that are quantized already give the numbers of their own weights, or are refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import tests.stored_files as files
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.arithmetic import foretold
from pytest_maxrandom.models.hf.stored import of_files, read
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.suite.models import TransformersSpec
from tests.tiny import place, save_llama

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.models.hf.causal import CausalModel

CONTEXT = "Which of these is a fruit? A:"
ANSWERS = (" apple", " stone", " river", " dog", " 12")
EXACT = 1e-3  # nats, in float32
NEEDS = "{} is not installed"
_VERIFIED = (
    "bitsandbytes, compressed-tensors (symmetric packed integers of 4 or 8 bits), torchao "
    "(Int8WeightOnlyConfig), GPTQ or AWQ (gemm)"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose layers all methods can quantize."""
    return save_llama(tmp_path_factory.mktemp("models") / "base", hidden=128, inner=256)


def _needs(*names: str) -> None:
    for name in names:
        if importlib.util.find_spec(name) is None:
            pytest.skip(NEEDS.format(name))


def _load(folder: Path, **said: Any) -> CausalModel:
    spec = {"quantization": "stored", "device": "cpu", **said}
    return load(TransformersSpec(name=folder.name, **spec), str(folder))


def _sums(model: CausalModel) -> list[float]:
    return list(model.ask([Question(CONTEXT, ANSWERS)]).answers[0].log_likelihoods)


def _truth(base: Path, folder: Path) -> list[float]:
    """Score with the weights put back by hand, which must not be those that were quantized."""
    from safetensors.torch import load_file

    sums = files.log_likelihoods(base, files.plain(folder), CONTEXT, ANSWERS)
    before = load_file(base / "model.safetensors")
    first = files.log_likelihoods(base, before, CONTEXT, ANSWERS)
    assert max(abs(a - b) for a, b in zip(sums, first, strict=True)) > 0.02
    return sums


def _refusal(folder: Path, **said: Any) -> str:
    with pytest.raises(ModelError) as caught:
        _load(folder, **said)
    message = str(caught.value)
    assert "\n" not in message
    return message


def _check_foretold(folder: Path, model: CausalModel) -> None:
    spec = TransformersSpec(name=folder.name, quantization="stored", device="cpu")
    assert foretold(spec, of_files(spec, str(folder))) == model.arithmetic


def test_torchao(base: Path, tmp_path: Path) -> None:
    _needs("torchao")
    folder = files.save_torchao(base, tmp_path / "ao")
    model = _load(folder)
    assert _sums(model) == pytest.approx(_truth(base, folder), abs=EXACT)
    assert model.quantized == "torchao Int8WeightOnlyConfig, 8 bits"
    assert (model.dtype, model.engine) == ("float32", "packed")
    assert model.arithmetic.kernels == "torchao"
    assert "torchao" in model.arithmetic.versions
    _check_foretold(folder, model)


@pytest.mark.parametrize("group", [files.GROUP, None])
@pytest.mark.parametrize("bits", [4, 8])
def test_compressed_tensors(base: Path, tmp_path: Path, bits: int, group: int | None) -> None:
    _needs("compressed_tensors")
    folder = files.save_compressed(base, tmp_path / "ct", bits, group)
    model = _load(folder)
    sums = _sums(model)
    assert sums == pytest.approx(_truth(base, folder), abs=EXACT)
    assert sums == _sums(model)  # the first forward puts the weights back
    assert model.quantized == f"compressed-tensors pack-quantized, {bits} bits"
    assert (model.dtype, model.engine) == ("float32", "packed")
    assert model.arithmetic.kernels == "compressed-tensors"
    _check_foretold(folder, model)


@pytest.mark.parametrize(
    ("kind", "bits", "noise"), [("nf4", 4, 0.25), ("fp4", 4, 0.25), ("int8", 8, 0.5)]
)
def test_bitsandbytes(
    base: Path, tmp_path: Path, kind: str, bits: int, noise: float, kernels: str
) -> None:
    """bitsandbytes computes in bfloat16 where it packs, and rounds what goes into 8-bit layers."""
    folder = files.save_bitsandbytes(base, tmp_path / "bnb", kind)
    model = _load(folder)
    assert _sums(model) == pytest.approx(
        _truth(base, folder), abs=EXACT if kernels == "generic" and bits == 4 else noise
    )
    assert model.quantized == f"bitsandbytes {kind}, {bits} bits"
    _check_foretold(folder, model)
    assert _load(folder, quantization=kind).quantized == model.quantized


SCORE = """
import json, sys
from pathlib import Path
from tests.unit.models.test_stored import _check_foretold, _load, _sums
folder = Path(sys.argv[1])
model = _load(folder, **json.loads(sys.argv[2]))
_check_foretold(folder, model)
print(json.dumps([_sums(model), model.quantized, model.dtype, model.engine]))
"""


def _elsewhere(folder: Path, **said: Any) -> Any:
    """Score in a process of its own: gptqmodel changes other libraries where it is imported."""
    command = [sys.executable, "-c", SCORE, str(folder), json.dumps(said)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("bits", "said"),
    [
        (4, {}),
        (8, {}),
        (4, {"desc_act": True}),
        (4, {"checkpoint_format": "gptq_v2"}),
    ],
)
def test_gptq(base: Path, tmp_path: Path, bits: int, said: dict[str, Any]) -> None:
    _needs("gptqmodel", "optimum")
    folder = files.save_packed(base, tmp_path / "gptq", "gptq", bits, **said)
    sums, quantized, dtype, engine = _elsewhere(folder)
    # Scales are stored in float16, and weights are put back in it.
    assert sums == pytest.approx(_truth(base, folder), abs=0.02)
    form = " gptq_v2" if said.get("checkpoint_format") else ""
    assert quantized == f"gptq{form}, {bits} bits"
    assert (dtype, engine) == ("float32", "packed")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of width 256, of which each group of 32 has its scale."""
    folder = tmp_path_factory.mktemp("models") / "wide"
    return save_llama(folder, hidden=256, inner=512, spread=0.05)


@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_files_hold_packed_integers_that_are_near_the_whole_model(
    wide: Path, tmp_path: Path, method: str
) -> None:
    """All layers are quantized, and log-likelihoods are the whole model's but for the rounding."""
    from safetensors.torch import load_file

    folder = files.save_packed(wide, tmp_path / method, method)
    stored, whole = (load_file(each / "model.safetensors") for each in (folder, wide))
    layers = [name.removesuffix(".weight") for name in whole if name.endswith("_proj.weight")]
    assert len(layers) == 2 * 7
    for layer in layers:
        outer, inner = whole[f"{layer}.weight"].shape
        packed, scales = stored[f"{layer}.qweight"], stored[f"{layer}.scales"]
        assert (str(packed.dtype), str(scales.dtype)) == ("torch.int32", "torch.float16")
        # Eight weights of 4 bits in each integer, and a scale for each 32 of them.
        assert packed.numel() * 8 == outer * inner
        assert tuple(scales.shape) == (inner // 32, outer)
        assert f"{layer}.weight" not in stored
    long = tuple(f"{answer} and the quick brown fox jumps over it" for answer in ANSWERS)
    for answers in (ANSWERS, long):
        here, there = (
            files.log_likelihoods(wide, weights, CONTEXT, answers)
            for weights in (files.plain(folder), whole)
        )
        apart = [abs(a - b) for a, b in zip(here, there, strict=True)]
        assert EXACT < max(apart) < 0.1 * max(map(abs, there))


@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_long_choices_of_a_wide_model(wide: Path, tmp_path: Path, method: str) -> None:
    _needs("gptqmodel", "optimum")
    folder = files.save_packed(wide, tmp_path / method, method)
    sums, quantized, *_ = _elsewhere(folder, dtype="float32" if method == "gptq" else "float16")
    assert sums == pytest.approx(_truth(wide, folder), abs=0.05)
    assert quantized == ("gptq, 4 bits" if method == "gptq" else "awq gemm, 4 bits")


@pytest.mark.parametrize(("dtype", "noise"), [("float16", 0.05), ("bfloat16", 0.25)])
def test_awq(base: Path, tmp_path: Path, dtype: str, noise: float) -> None:
    _needs("gptqmodel")
    folder = files.save_packed(base, tmp_path / "awq", "awq")
    sums, quantized, computed, _ = _elsewhere(folder, dtype=dtype)
    assert sums == pytest.approx(_truth(base, folder), abs=noise)
    assert (quantized, computed) == ("awq gemm, 4 bits", dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_another_dtype_is_near(base: Path, tmp_path: Path, dtype: str) -> None:
    _needs("torchao")
    folder = files.save_torchao(base, tmp_path / "ao")
    model = _load(folder, dtype=dtype)
    assert model.dtype == dtype
    assert _sums(model) == pytest.approx(_truth(base, folder), abs=0.25)


def test_files_that_are_not_quantized(base: Path) -> None:
    assert _refusal(base) == (
        "the files of base are not quantized, but the suite says `quantization: stored`; write "
        "`none`, or `nf4`, `fp4` or `int8` to quantize them on loading"
    )


FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
INT8 = {"default": {"_type": "Int8WeightOnlyConfig", "_data": {"group_size": None}}}
INT4 = {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}
PACKED = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 32}


def _groups(form: str = "pack-quantized", **said: Any) -> dict[str, Any]:
    weights = PACKED | {key: said.pop(key) for key in list(said) if key in (*PACKED, "actorder")}
    group = {"weights": weights, "targets": ["Linear"], **said}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"0": group}}


@pytest.mark.parametrize(
    ("said", "text", "verified"),
    [
        (FP8, "fp8, 8 bits", False),
        ({"quant_method": "mxfp4"}, "mxfp4, 4 bits", False),
        ({"quant_method": "hqq", "nbits": 3}, "hqq, 3 bits", False),
        ({"quant_method": "quanto"}, "quanto", False),
        ({}, "an unknown format", False),
        ({"quant_method": "auto-round", "bits": 2}, "auto-round, 2 bits", False),
        (
            {"quant_method": "torchao", "quant_type": INT8},
            "torchao Int8WeightOnlyConfig, 8 bits",
            True,
        ),
        (
            {"quant_method": "torchao", "quant_type": INT4},
            "torchao Int4WeightOnlyConfig, 4 bits",
            False,
        ),
        ({"quant_method": "torchao", "quant_type": "autoquant"}, "torchao autoquant", False),
        (_groups(), "compressed-tensors pack-quantized, 4 bits", True),
        (_groups(num_bits=8), "compressed-tensors pack-quantized, 8 bits", True),
        (_groups(num_bits=2), "compressed-tensors pack-quantized, 2 bits", False),
        (_groups(symmetric=False), "compressed-tensors pack-quantized, 4 bits", False),
        (_groups(actorder="group"), "compressed-tensors pack-quantized, 4 bits", False),
        (
            _groups(input_activations={"num_bits": 8}),
            "compressed-tensors pack-quantized, 4 bits",
            False,
        ),
        (
            _groups("float-quantized", num_bits=8, type="float"),
            "compressed-tensors float-quantized, 8 bits",
            False,
        ),
        ({"quant_method": "gptq", "bits": 4}, "gptq, 4 bits", True),
        ({"quant_method": "gptq", "bits": 3}, "gptq, 3 bits", False),
        (
            {"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"},
            "gptq marlin, 4 bits",
            False,
        ),
        ({"quant_method": "awq", "bits": 4, "version": "GEMM"}, "awq gemm, 4 bits", True),
        ({"quant_method": "awq", "bits": 4, "version": "gemv"}, "awq gemv, 4 bits", False),
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "bitsandbytes nf4, 4 bits", True),
    ],
)
def test_what_files_say_of_themselves(said: dict[str, Any], text: str, verified: bool) -> None:
    found = read({"quantization_config": said})
    assert found is not None
    assert (found.text, found.verified) == (text, verified)


def test_a_method_that_was_never_verified(base: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(base, tmp_path / "fp")
    files.configure(folder, **FP8)
    assert _refusal(folder) == (
        "the files of fp are quantized in a format whose numbers were never verified (fp8, 8 "
        f"bits); use files of {_VERIFIED}, or write `unverified: true`, which every report shows"
    )
    assert _refusal(folder, quantization="nf4") == (
        "the files of fp are already quantized (fp8, 8 bits), but the suite says `quantization: "
        "nf4`; write `quantization: stored`, or name files that are not quantized"
    )


def test_unverified_loads_it_all_the_same(base: Path, tmp_path: Path) -> None:
    if place() != "cpu":
        pytest.importorskip("kernels", reason="with a GPU, FP8 is computed by kernels of its own")
    folder, weights = files.save_fp8(base, tmp_path / "fp")
    model = _load(folder, unverified=True)
    assert model.quantized == "fp8, 8 bits"
    truth = files.log_likelihoods(base, weights, CONTEXT, ANSWERS)
    assert _sums(model) == pytest.approx(truth, abs=0.25)  # here, where FP8 is put back


@pytest.mark.parametrize(
    ("method", "said", "without", "extra"),
    [
        ("gptq, 4 bits", {"quant_method": "gptq", "bits": 4}, "gptqmodel and optimum", "gptq"),
        ("awq gemm, 4 bits", {"quant_method": "awq", "bits": 4}, "gptqmodel", "gptq"),
        (
            "compressed-tensors pack-quantized, 4 bits",
            _groups(),
            "compressed_tensors",
            "stored",
        ),
        (
            "torchao Int8WeightOnlyConfig, 8 bits",
            {"quant_method": "torchao", "quant_type": INT8},
            "torchao",
            "stored",
        ),
    ],
)
def test_a_package_that_is_not_installed(
    base: Path,
    tmp_path: Path,
    method: str,
    said: dict[str, Any],
    without: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find, absent = importlib.util.find_spec, without.split(" and ")

    def installed(name: str, package: str | None = None) -> Any:
        return None if name in absent else find(name, package)

    folder = shutil.copytree(base, tmp_path / "m")
    files.configure(folder, **said)
    monkeypatch.setattr(importlib.util, "find_spec", installed)
    assert _refusal(folder) == (
        f"the files of m are already quantized ({method}), which needs {without}, not installed "
        f'here; pip install "pytest-maxrandom[{extra}]"'
    )


def _with(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_weights_that_are_not_what_the_configuration_says(base: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(base, tmp_path / "claims")
    said = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
    files.configure(folder, **said)
    message = _refusal(folder)
    assert message.startswith("claims contradicts its config.json: the weight model.layers.0.")
    assert message.endswith(" is not quantized, but `quantization_config` says that it is")


def test_scales_that_nothing_reads(base: Path, tmp_path: Path) -> None:
    _needs("compressed_tensors")
    folder = files.save_compressed(base, tmp_path / "ct")
    key = "model.layers.0.mlp.up_proj"
    _with(
        folder,
        lambda weights: weights.update(
            {f"{key}.weight_g_idx": weights[f"{key}.weight_scale"].clone(),
             f"{key}.bias": weights[f"{key}.weight_scale"][:, 0].clone()}
        ),
    )  # fmt: skip
    assert _refusal(folder) == (
        f"ct contradicts its config.json: there is no place for {key}.weight_g_idx (1 of its "
        "weights have none), so its layers are not quantized as `quantization_config` says"
    )


def test_an_adapter_was_verified_on_bitsandbytes_alone(base: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(base, tmp_path / "m")
    files.configure(folder, **_groups())
    assert _refusal(folder, adapter="./lora").startswith(
        "the adapter ./lora on the files of m, which are already quantized (compressed-tensors "
        "pack-quantized, 4 bits), was never verified; use weights that bitsandbytes quantizes"
    )


def test_the_digest_knows_how_files_are_quantized(base: Path, tmp_path: Path) -> None:
    from pytest_maxrandom.models.hf.hub import model_digest

    spec = TransformersSpec(name="m", quantization="stored")
    folder = shutil.copytree(base, tmp_path / "m")
    found = set()
    for bits in (4, 8):
        files.configure(folder, quant_method="gptq", bits=bits)
        found.add(model_digest(spec, str(folder)))
    assert len(found) == 2
    unverified = spec.model_copy(update={"unverified": True})
    assert model_digest(unverified, str(folder)) in found


@pytest.mark.parametrize("text", ["", "[]", '{"quantization_config": []}'])
def test_a_configuration_that_cannot_be_read_is_told_where_it_is_loaded(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "config.json").write_text(text)
    spec = TransformersSpec(name="m", quantization="stored")
    assert of_files(spec, str(tmp_path)) is None
    assert json.dumps(foretold(spec, None).kernels) == '"torch"'
