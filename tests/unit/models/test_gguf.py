"""Models in GGUF files answer as the same weights in transformers do, in this process."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import tests.stored_files as files
from pytest_maxrandom.errors import ModelError, PromptTooLong
from pytest_maxrandom.models.base import Question, Resources
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.registry import ModelPool, backend_of, identify, locate
from pytest_maxrandom.suite.models import GgufSpec, TransformersSpec
from tests.gguf_files import write_gguf

if TYPE_CHECKING:
    from pathlib import Path

NEAR = 0.02  # nats: the cache of keys and values is in float16
QUESTIONS = [
    Question(f"Which of these is a fruit? Number {number}. A:", (" apple", " stone", " apple 12"))
    for number in range(6)
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> Path:
    return write_gguf(tiny_llama, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def _loaded(file: Path, tokenizer: Path | None = None) -> Any:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama_cpp is not installed")
    said: dict[str, Any] = {} if tokenizer is None else {"tokenizer": str(tokenizer)}
    return ModelPool().get(GgufSpec(name=file.name, **said), file.parent)


def _sums(model: Any, questions: list[Question] = QUESTIONS) -> list[float]:
    return [value for one in model.ask(questions).answers for value in one.log_likelihoods]


@pytest.fixture(scope="module")
def truth(tiny_llama: Path) -> list[float]:
    spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
    return _sums(load(spec, str(tiny_llama)))


@pytest.mark.parametrize("own", [True, False])
def test_log_likelihoods_are_those_of_transformers(
    file: Path, tiny_llama: Path, truth: list[float], own: bool
) -> None:
    model = _loaded(file, None if own else tiny_llama)
    assert _sums(model) == pytest.approx(truth, abs=NEAR)
    assert _sums(model, QUESTIONS[::-1])[-3:] == pytest.approx(truth[:3], abs=NEAR)


def test_each_distinct_token_is_read_once_and_the_order_changes_nothing(
    file: Path, tiny_llama: Path
) -> None:
    model = _loaded(file, tiny_llama)
    reply = model.ask(QUESTIONS)
    assert reply.tokens_forwarded == reply.trie_nodes
    alone = [model.ask([one]) for one in QUESTIONS]
    assert sum(one.tokens_forwarded for one in alone) > 2 * reply.tokens_forwarded
    assert model.ask(QUESTIONS) == reply


def test_eight_bits_are_those_of_the_file(tiny_llama: Path, tmp_path: Path) -> None:
    import gguf
    import torch
    from safetensors.numpy import load_file

    model = _loaded(write_gguf(tiny_llama, tmp_path / "q8.gguf", eight_bits=True), tiny_llama)
    assert model.quantized == "GGUF, Q8_0"
    kind = gguf.GGMLQuantizationType.Q8_0
    weights = {
        name: torch.tensor(
            gguf.quants.dequantize(gguf.quants.quantize(each, kind), kind)
            if each.ndim > 1
            else each
        )
        for name, each in load_file(tiny_llama / "model.safetensors").items()
    }
    for question in QUESTIONS:
        context, answers = question.context, question.answers
        truth = files.log_likelihoods(tiny_llama, weights, context, answers)
        # llama.cpp rounds to 8 bits what goes into such layers, too.
        assert _sums(model, [question]) == pytest.approx(truth, abs=0.25)


def test_file_and_quantization_are_told(file: Path, tiny_llama: Path) -> None:
    model = _loaded(file, tiny_llama)
    assert model.revision == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert model.quantized == "GGUF, F32"
    assert model.context_length == 512
    assert identify(GgufSpec(name=file.name), file.parent).arithmetic == model.arithmetic


def test_a_longer_text_makes_room_and_one_beyond_the_context_is_refused(
    file: Path, tiny_llama: Path
) -> None:
    model = _loaded(file, tiny_llama)
    with pytest.raises(PromptTooLong, match=r"the model's context holds 512; use fewer shots"):
        model.check([Question("stone " * 600, (" a",))])
    spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
    long = [Question("Which is a fruit? stone " * 30, (" apple", " river"))]
    assert _sums(model, long) == pytest.approx(_sums(load(spec, str(tiny_llama)), long), abs=NEAR)


def test_the_same_file_elsewhere_is_the_same_model(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "other.gguf")
    paths = (file, tmp_path / "other.gguf")
    found = {identify(GgufSpec(name=path.name), path.parent).digest for path in paths}
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no.gguf", "is not there (relative to the suite)"), ("a.txt", "is no GGUF file")],
)
def test_what_is_no_file_of_gguf(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "a.txt").write_text("GGU")
    with pytest.raises(ModelError) as caught:
        locate(GgufSpec(name=name), tmp_path)
    assert str(caught.value) == f"{name} {reason}; expected a file such as ./m.gguf"


def test_a_damaged_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(file.read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"^llama.cpp cannot load cut.gguf: it is damaged, or of"):
        _loaded(tmp_path / "cut.gguf")


def test_without_the_package(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    spec = GgufSpec(name=file.name)
    with pytest.raises(ModelError) as caught:
        backend_of(spec).load(locate(spec, file.parent), Resources())
    assert str(caught.value) == (
        f'{file.name} needs llama_cpp, which is not installed; pip install "pytest-maxrandom[gguf]"'
    )
