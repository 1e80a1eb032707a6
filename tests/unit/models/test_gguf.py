"""Models in GGUF files answer as the same weights in transformers do, in this process."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.stored_files as files
from pytest_maxrandom.errors import ModelError, PromptTooLong
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.gguf import _chosen
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import GgufSpec, TransformersSpec
from tests import tiny
from tests.gguf_files import quantize_gguf, read_gguf, types_of, write_gguf
from tests.models import located

DEMO = Path(__file__).parents[3] / "eval_suites" / "demo"
NEAR = 0.02  # nats: the cache of keys and values is in float16
PER_ROOT = 0.01
"""Nats, by the square root of the tokens: what float16 rounds is another amount at each token."""
QUANTIZED = 0.08
"""The same of files that are quantized: llama.cpp rounds to 8 bits what goes into layers, too."""
WORDS = ("apple", "stone", "river", "fruit", "and", "the", "which", "quick", "lazy", "positive")
QUESTIONS = [
    Question(f"Which of these is a fruit? Number {number}. A:", (" apple", " stone", " apple 12"))
    for number in range(6)
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> Path:
    return write_gguf(tiny_llama, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def _needed() -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama_cpp is not installed")


def _loaded(file: Path, tokenizer: Path | None = None, **said: Any) -> Any:
    _needed()
    if tokenizer is not None:
        said["tokenizer"] = str(tokenizer)
    return ModelPool().get(located(GgufSpec(name=file.name, **said), file.parent))


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


def _long(words: int) -> list[Question]:
    """Return questions with choices of some words, which are as many tokens and more."""
    rng = np.random.default_rng(words)
    return [
        Question(
            f"Which is right? Number {number}. A:",
            tuple(" " + " ".join(rng.choice(WORDS, words)) for _ in range(3)),
        )
        for number in range(4)
    ]


def _roots(model: Any, questions: list[Question]) -> np.ndarray[Any, Any]:
    """Return the square roots of the tokens of each choice."""
    return np.sqrt([count for one in model.ask(questions).answers for count in one.tokens])


@pytest.mark.parametrize("words", [1, 10, 40])
def test_long_choices_differ_by_the_root_of_their_tokens(demo: Any, words: int) -> None:
    spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
    questions = _long(words)
    here = load(spec, str(DEMO / "demo-llama"))
    apart = np.abs(np.subtract(_sums(demo, questions), _sums(here, questions)))
    assert (apart <= PER_ROOT * _roots(here, questions)).all()
    # The tolerance is no more than what it is for.
    assert apart.max() > PER_ROOT / 20


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose rows hold whole blocks of each type, with scores as near as trained ones."""
    folder = tmp_path_factory.mktemp("wide")
    return tiny.save_llama(folder / "llama", hidden=256, inner=512, spread=0.05)


@pytest.mark.parametrize("words", [10, 40])
def test_more_bits_are_nearer_to_the_whole_model(wide: Path, tmp_path: Path, words: int) -> None:
    """That is the model before it was written as a file, in transformers."""
    _needed()
    spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
    asked = _long(words)
    whole = np.array(_sums(load(spec, str(wide)), asked))
    file = write_gguf(wide, tmp_path / "m.gguf")
    apart = {
        kind: np.abs(np.array(_sums(_loaded(quantize_gguf(file, kind), wide), asked)) - whole)
        for kind in ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q2_K")
    }
    means = [each.mean() for each in apart.values()]
    assert means == sorted(means)
    # Rounding to 4 bits moves a log-likelihood by some hundredth of it.
    assert 0.005 < (apart["Q4_K_M"] / np.abs(whole)).max() < 0.02


@pytest.mark.parametrize("kind", ["Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_NL", "Q2_K"])
def test_quantized_weights_are_those_of_the_file(wide: Path, tmp_path: Path, kind: str) -> None:
    _needed()
    import torch

    whole = write_gguf(wide, tmp_path / "m.gguf")
    file = quantize_gguf(whole, kind)
    model = _loaded(file, wide)
    assert model.quantized == f"GGUF, {kind}"
    asked = [*QUESTIONS, *_long(10)]
    here, roots = np.array(_sums(model, asked)), _roots(model, asked)
    truth, before = (
        [
            value
            for question in asked
            for value in files.log_likelihoods(wide, weights, question.context, question.answers)
        ]
        for weights in (
            {name: torch.tensor(each) for name, each in read_gguf(wide, one).items()}
            for one in (file, whole)
        )
    )
    assert (np.abs(here - truth) <= QUANTIZED * roots).all()
    # They are not those of the whole model.
    assert kind in ("Q8_0", "Q6_K") or not (np.abs(here - before) <= QUANTIZED * roots).all()


def test_a_file_holds_the_types_that_its_name_says(wide: Path, tmp_path: Path) -> None:
    """Of a width that 256 does not divide, llama.cpp takes other types without a word."""
    _needed()
    file = quantize_gguf(write_gguf(wide, tmp_path / "m.gguf"), "Q4_K_M")
    types = types_of(file)
    matrices = {name: kind for name, kind in types.items() if not name.endswith("norm.weight")}
    assert set(types.values()) - set(matrices.values()) == {"F32"}
    assert set(matrices.values()) == {"Q4_K", "Q6_K"}
    assert {matrices[f"blk.{number}.attn_q.weight"] for number in (0, 1)} == {"Q4_K"}


def test_file_and_quantization_are_told(file: Path, tiny_llama: Path) -> None:
    model = _loaded(file, tiny_llama)
    assert model.revision == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert model.quantized == "GGUF, F32"
    assert model.context_length == 512
    assert (
        Backends().identify(located(GgufSpec(name=file.name), file.parent)).arithmetic
        == model.arithmetic
    )


def test_a_longer_text_makes_room_and_one_beyond_the_context_is_refused(
    file: Path, tiny_llama: Path
) -> None:
    model = _loaded(file, tiny_llama)
    with pytest.raises(PromptTooLong, match=r"the model's context holds 512; use fewer shots"):
        model.check([Question("stone " * 600, (" a",))])
    spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
    long = [Question("Which is a fruit? stone " * 30, (" apple", " river"))]
    assert _sums(model, long) == pytest.approx(_sums(load(spec, str(tiny_llama)), long), abs=NEAR)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("chat", [True, False])
def test_lengths_are_those_of_the_loaded_model(
    tmp_path: Path, tiny_llama: Path, own: bool, chat: bool
) -> None:
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}go: "
    folder = Path(shutil.copytree(tiny_llama, tmp_path / "llama"))
    (folder / "chat_template.jinja").write_text(template)
    file = write_gguf(folder, tmp_path / "m.gguf", template=template)
    said: dict[str, Any] = {"chat": chat} | ({} if own else {"tokenizer": str(folder)})
    model = _loaded(file, **said)
    spec = GgufSpec(name=file.name, **said)
    known = Backends().lengths(located(spec, tmp_path))
    assert known is not None
    assert known.limit == model.context_length == 512
    texts = ["stone stone stone", "Which is a fruit? " * 20 + "Which?"]
    # One of them would not fit with one token more.
    for text, length in zip(texts, known.tokens(texts), strict=True):
        model.context_length = length + 1
        model.check([Question(text, (), generation=Generation(max_tokens=1))])
        model.context_length = length
        with pytest.raises(PromptTooLong):
            model.check([Question(text, (), generation=Generation(max_tokens=1))])


class TestSplitFiles:
    @pytest.fixture
    def parts(self, tiny_llama: Path, tmp_path: Path) -> list[Path]:
        write_gguf(tiny_llama, tmp_path / "m.gguf", split=8)
        found = sorted(tmp_path.glob("*.gguf"))
        assert [part.name for part in found][::2] == [
            "m-00001-of-00003.gguf", "m-00003-of-00003.gguf"
        ]  # fmt: skip
        return found

    def test_they_are_one_model(
        self, parts: list[Path], tiny_llama: Path, truth: list[float]
    ) -> None:
        model = _loaded(parts[0], tiny_llama)
        assert _sums(model) == pytest.approx(truth, abs=NEAR)
        told = "+".join(hashlib.sha256(part.read_bytes()).hexdigest() for part in parts)
        assert model.revision == f"sha256:{told}"

    def test_each_part_tells_who_it_is(self, parts: list[Path]) -> None:
        spec = GgufSpec(name=parts[0].name)
        before = Backends().identify(located(spec, parts[0].parent)).digest
        raw = parts[2].read_bytes()
        parts[2].write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
        assert Backends().identify(located(spec, parts[0].parent)).digest != before

    @pytest.mark.parametrize(
        ("named", "message"),
        [
            (
                1,
                (
                    "m-00002-of-00003.gguf is a later part of a split model; expected "
                    "m-00001-of-00003.gguf"
                ),
            ),
            (0, "m-00001-of-00003.gguf lacks its other parts: 'm-00002-of-00003.gguf'"),
        ],
    )
    def test_all_are_needed_and_the_first_is_named(
        self, parts: list[Path], named: int, message: str
    ) -> None:
        if not named:
            parts[1].unlink()
        with pytest.raises(ModelError) as caught:
            Backends().locate(GgufSpec(name=parts[named].name), parts[0].parent)
        assert str(caught.value) == message


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    weights = DEMO / "demo-llama"
    return _loaded(write_gguf(weights, tmp_path_factory.mktemp("demo") / "d.gguf"), weights)


class TestGeneratedAnswers:
    """Texts of a trained model, which leaves no doubt about the likeliest token."""

    TEXTS = tuple(f"\nQ: {text}?\nA: " for text in ("Is ice cold", "Who is old", "What is red"))

    def asked(self, how: Generation) -> list[Question]:
        return [Question(text, ("",), generation=how) for text in (*self.TEXTS, self.TEXTS[0][:9])]

    @pytest.mark.parametrize("how", [Generation(24), Generation(24, ("?",)), Generation(1)])
    def test_they_are_those_of_transformers(self, demo: Any, how: Generation) -> None:
        spec = TransformersSpec(name="m", quantization="none", device="cpu", dtype="float32")
        truth = load(spec, str(DEMO / "demo-llama")).ask(self.asked(how))
        reply = demo.ask(self.asked(how))
        assert reply.answers == truth.answers
        assert reply.trie_nodes == truth.trie_nodes
        assert reply.tokens_forwarded < truth.tokens_forwarded

    def test_a_token_that_ends_a_text_is_no_part_of_it(
        self, demo: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (whole, *_) = demo.ask(self.asked(Generation(4))).answers
        (first, *_) = demo.ask(self.asked(Generation(1))).answers
        seen: list[int] = []

        def ends(token: int) -> bool:
            seen.append(token)
            return len(seen) == 2

        monkeypatch.setattr(demo._reader.tokens, "ends", ends)
        (answer,) = demo.ask(self.asked(Generation(4))[:1]).answers
        assert (answer.text, answer.finish) == (first.text, "stop")
        assert whole.finish == "length"

    def test_drawn_tokens_are_the_same_in_any_company(self, demo: Any) -> None:
        questions = self.asked(Generation(12, (), 3.0))
        together = demo.ask(questions).answers
        assert demo.ask(questions[::-1]).answers == together[::-1]
        assert tuple(demo.ask([question]).answers[0] for question in questions) == together
        assert together != demo.ask(self.asked(Generation(12))).answers

    @pytest.mark.parametrize("temperature", [1.0, 0.5])
    def test_tokens_are_drawn_as_often_as_they_are_likely(self, temperature: float) -> None:
        chances = np.array([0.5, 0.3, 0.2, 1e-12])
        drawn = [_chosen(np.log(chances), temperature, place) for place in np.arange(0, 1, 1e-3)]
        expected = chances ** (1 / temperature)
        counts = np.bincount(drawn, minlength=4) / len(drawn)
        assert counts == pytest.approx(expected / expected.sum(), abs=2e-3)

    def test_what_does_not_fit_is_refused_with_what_is_written(self, demo: Any) -> None:
        length = demo.context_length
        with pytest.raises(PromptTooLong, match=rf"followed by up to {length} more, but the model"):
            demo.check(self.asked(Generation(length)))


class TestChat:
    TEMPLATE = (
        "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content|trim }}\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant] {% endif %}"
    )

    @pytest.mark.parametrize("own", [True, False])
    def test_messages_are_put_into_the_template(self, tmp_path: Path, own: bool) -> None:
        folder = tmp_path / "chat"
        shutil.copytree(DEMO / "demo-llama", folder)
        (folder / "chat_template.jinja").write_text(self.TEMPLATE)
        file = write_gguf(folder, tmp_path / "c.gguf", template=self.TEMPLATE if own else "")
        model = _loaded(file, None if own else folder, chat=True)
        spec = TransformersSpec(
            name="m", quantization="none", device="cpu", dtype="float32", chat=True
        )
        truth = load(spec, str(folder))
        assert model.chat == truth.chat == ("<s>[user] ", "\n[assistant] ")
        questions = [Question("Is ice cold?", (" yes", " no")), Question(" Is it old? ", (" no",))]
        assert _sums(model, questions) == pytest.approx(_sums(truth, questions), abs=NEAR)
        # A second token for the beginning would be one more.
        asked = [dataclasses.replace(questions[0], generation=Generation(1))]
        assert model.ask(asked).tokens_forwarded == truth.ask(asked).trie_nodes

    def test_a_file_without_a_template(self, file: Path) -> None:
        with pytest.raises(ModelError, match=r"^tiny.gguf has no chat template; remove `chat: tr"):
            _loaded(file, chat=True)

    def test_a_model_in_its_template_is_another_one(self, file: Path) -> None:
        specs = (GgufSpec(name=file.name), GgufSpec(name=file.name, chat=True))
        assert len({Backends().identify(located(spec, file.parent)).digest for spec in specs}) == 2


def test_the_same_file_elsewhere_is_the_same_model(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "other.gguf")
    paths = (file, tmp_path / "other.gguf")
    found = {
        Backends().identify(located(GgufSpec(name=path.name), path.parent)).digest for path in paths
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [("no.gguf", "does not exist (relative to the suite)"), ("a.txt", "is not a GGUF file")],
)
def test_what_is_no_file_of_gguf(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "a.txt").write_text("GGU")
    with pytest.raises(ModelError) as caught:
        Backends().locate(GgufSpec(name=name), tmp_path)
    assert str(caught.value) == f"{name} {reason}; expected a file such as ./m.gguf"


def test_a_damaged_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(file.read_bytes()[:5000])
    with pytest.raises(
        ModelError, match=r"^llama.cpp cannot load cut.gguf: it ends within its header; download"
    ):
        _loaded(tmp_path / "cut.gguf")


def test_without_the_package(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    spec = GgufSpec(name=file.name)
    backends = Backends()
    with pytest.raises(ModelError) as caught:
        backends.of(spec).load(backends.locate(spec, file.parent), Resources())
    assert str(caught.value) == (
        f'{file.name} needs llama_cpp, which is not installed; pip install "pytest-maxrandom[gguf]"'
    )
