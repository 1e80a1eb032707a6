"""Arms that are trained: the loss is the network's own, the base stays, and seeds reproduce."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import QuestionError
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.hf import devices
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.training import LabelledText, Training
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec
from tests.models import located
from tests.targets import some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)

TEXTS = tuple(f"{text} {number}" for number in range(4) for text in tiny.TEXT)
LABELLED = tuple(
    LabelledText(f"{number} {'yes it rains' if label else 'no stone at all'}", label)
    for number in range(8)
    for label in (0, 1)
)
HEAD = ClassifySpec(batch_size=4, epochs=4, learning_rate=2e-3)
DROPPED = ("attn_pdrop", "embd_pdrop", "resid_pdrop")
QUESTION = Question("Which of these is a fruit? A:", (" apple", " stone", " river"))


@pytest.fixture(scope="module", autouse=True)
def peft() -> None:
    """Import it where it is used only: that takes seconds in each process."""
    pytest.importorskip("peft", reason="the extra `training` is not installed")


def _settings(**said: Any) -> TrainSpec:
    usual = {"text": "extra", "batch_size": 4, "epochs": 4, "learning_rate": 2e-3}
    return TrainSpec(**{**usual, **said})


FULL = Training(_settings(), TEXTS)
LORA = Training(_settings(method="lora"), TEXTS)
QLORA = Training(_settings(method="qlora"), TEXTS)
# A mask leaves few words to predict in a step, so the loss needs more of them to fall by more than
# noise. With the other arms' settings a head on these weights falls by 2 % only, within noise too.
MASKED = Training(
    _settings(objective="masked", epochs=24, learning_rate=5e-3),
    TEXTS,
    ClassifySpec(batch_size=4, epochs=12, learning_rate=5e-3),
    LABELLED,
    ("no", "yes"),
)
CLASSIFY = Training(None, (), HEAD, LABELLED, ("no", "yes"))
BOTH = replace(CLASSIFY, settings=FULL.settings, texts=TEXTS)
ARMS = {
    "lora": ("llama", "none", LORA),
    "qlora": ("llama", "nf4", QLORA),
    "full": ("gpt2", "none", FULL),
    "masked and a head": ("bert", "none", MASKED),
    "a head": ("bert", "none", CLASSIFY),
    "causal and a head": ("gpt2", "none", BOTH),
    "lora and a head": ("llama", "none", replace(BOTH, settings=LORA.settings)),
}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases")
    tiny.save_llama(folder / "llama")
    config = tiny.save(folder / "gpt2", "gpt-2") / "config.json"
    said = json.loads(config.read_text())
    config.write_text(json.dumps({**said, **dict.fromkeys(DROPPED, 0.0)}))
    tiny.save_bert(folder / "bert")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trained")


@contextmanager
def loaded(
    base: Path, name: str, quantization: str, arm: Training, cache: Path, **said: Any
) -> Iterator[Any]:
    spec = TransformersSpec.model_validate({"name": name, "quantization": quantization})
    pool = ModelPool(Resources(trained=cache, **said))
    yield pool.get(located(spec, base, arm))
    pool.drop()


def _files(folder: Path) -> dict[str, str]:
    return {path.name: file_digest(path) for path in folder.iterdir()}


def _weights(cache: Path) -> dict[str, str]:
    """Return the digests of what was trained, by the entries."""
    return {path.parent.name: file_digest(path) for path in cache.glob("*/*.safetensors")}


@pytest.mark.parametrize("arm", some(ARMS, ["qlora", "full", "a head"]))
def test_losses_fall_and_the_base_stays_as_it_was(bases: Path, cache: Path, arm: str) -> None:
    name, quantization, training = ARMS[arm]
    before = _files(bases / name)
    with loaded(bases, name, quantization, training, cache) as model:
        found = model.trained
        assert found.falls
        assert found.losses[found.pretraining_steps :] or training.classify is None
        assert found.text_digest == training.text_digest
        spec = TransformersSpec.model_validate({"name": name, "quantization": quantization})
        assert model.arithmetic == Backends().identify(located(spec, bases, training)).arithmetic
    assert _files(bases / name) == before


@pytest.mark.parametrize(
    "arm",
    some(("lora", "causal and a head", "qlora", "masked and a head"), ["lora"]),
)
def test_a_seed_gives_the_same_weights_again_and_another_one_others(
    bases: Path, cache: Path, tmp_path: Path, arm: str
) -> None:
    name, quantization, training = ARMS[arm]
    with loaded(bases, name, quantization, training, cache):
        pass  # where the test above has trained it, it is kept
    for folder, seed in (("same", training.seed), ("other", training.seed + 1)):
        arm_of = replace(training, seed=seed)
        with loaded(bases, name, quantization, arm_of, tmp_path / folder) as model:
            assert not model.trained.from_cache
    first, same, other = map(_weights, (cache, tmp_path / "same", tmp_path / "other"))
    assert same.items() <= first.items()
    assert same
    assert not set(same.values()) & set(other.values())


def test_chance_of_others_is_left_alone(bases: Path, tmp_path: Path) -> None:
    import random

    import numpy as np
    import torch

    def drawn() -> tuple[Any, ...]:
        return random.random(), np.random.rand(), float(torch.rand(1))

    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(5)
    expected = drawn()
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(5)
    with loaded(bases, "gpt2", "none", CLASSIFY, tmp_path):
        assert drawn() == expected
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("arm", ["lora", "full"])
def test_the_first_loss_is_that_of_a_plain_forward(bases: Path, tmp_path: Path, arm: str) -> None:
    """Before the first step nothing has changed: a new adapter is zero."""
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name, method = ARMS[arm][0], arm
    only = {} if method == "full" else {"dropout": 0.0}
    settings = _settings(method=method, batch_size=len(TEXTS), epochs=1, **only)
    with loaded(bases, name, "none", Training(settings, TEXTS), tmp_path) as model:
        (found,) = model.trained.losses
        tokens = model.trained.tokens
    network = AutoModelForCausalLM.from_pretrained(bases / name).eval()
    tokenizer = AutoTokenizer.from_pretrained(bases / name)
    total, count = 0.0, 0
    for text in TEXTS:
        ids = torch.tensor(tokenizer(text).input_ids)
        with torch.no_grad():
            logits = network(ids[None]).logits[0]
        total += float(cross_entropy(logits[:-1].double(), ids[1:], reduction="sum"))
        count += len(ids) - 1
    assert found == pytest.approx(total / count, rel=1e-5)
    assert tokens == count + len(TEXTS)


def test_the_loss_of_a_head_is_its_cross_entropy(bases: Path, tmp_path: Path) -> None:
    # A rate that changes nothing: the head that is kept is the one that training began with.
    still = HEAD.model_copy(update={"learning_rate": 1e-30, "batch_size": 16, "epochs": 1})
    training = replace(CLASSIFY, classify=still)
    with loaded(bases, "gpt2", "none", training, tmp_path) as model:
        answers = model.ask([Question(each.text, ("no", "yes")) for each in LABELLED]).answers
        (found,) = model.trained.losses
    right = [
        answer.log_likelihoods[each.label] for answer, each in zip(answers, LABELLED, strict=True)
    ]
    assert found == pytest.approx(-sum(right) / len(right), rel=1e-5)


@pytest.mark.parametrize("arm", ["masked and a head", "causal and a head", "lora and a head"])
def test_a_head_answers_as_transformers_does_with_the_same_weights(
    bases: Path, cache: Path, arm: str
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    name, quantization, training = ARMS[arm]
    asked = [*TEXTS[:5], "yes", "it rains again and again, naïve café!"]
    with loaded(bases, name, quantization, training, cache, batch_tokens=50) as model:
        reply = model.ask([Question(text, ("yes", "no")) for text in asked])
        swapped = model.ask([Question(text, ("no", "yes")) for text in asked])
        assert model.engine == "plain"
    (folder,) = [
        path.parent
        for path in cache.glob("*/trained.json")
        if json.loads(path.read_text())["training"]["digest"] == training.digest
    ]
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert network.config.id2label == {0: "no", 1: "yes"}
    for text, answer, other in zip(asked, reply.answers, swapped.answers, strict=True):
        with torch.no_grad():
            logits = network(**tokenizer(text, return_tensors="pt")).logits[0]
        expected = logits.double().log_softmax(-1).tolist()
        assert answer.log_likelihoods == pytest.approx(expected[::-1], abs=1e-4)
        assert other.log_likelihoods == pytest.approx(expected, abs=1e-4)
        assert answer.tokens == (1, 1)


def test_what_a_head_was_trained_on_it_knows(bases: Path, cache: Path) -> None:
    long = replace(CLASSIFY, classify=HEAD.model_copy(update={"epochs": 15}))
    with loaded(bases, "gpt2", "none", long, cache) as model:
        answers = model.ask([Question(each.text, ("no", "yes")) for each in LABELLED]).answers
        said = [each.log_likelihoods.index(max(each.log_likelihoods)) for each in answers]
        assert said == [each.label for each in LABELLED]
        with pytest.raises(QuestionError, match=r"offers 'maybe', but the classification head"):
            model.check([Question("yes", ("maybe", "no"))])


def test_a_text_that_is_cut_is_counted_and_told(bases: Path, tmp_path: Path) -> None:
    short = HEAD.model_copy(update={"max_length": 6, "epochs": 1})
    training = replace(CLASSIFY, classify=short)
    with loaded(bases, "bert", "none", training, tmp_path) as model:
        lengths = [len(tiny.word_tokenizer()(each.text).input_ids) for each in LABELLED]
        assert model.trained.cut == sum(length > 6 for length in lengths) > 0
        assert model.trained.tokens == sum(min(length, 6) for length in lengths)
        long, brief = model.ask(
            [Question("stone river apple " * 9, ("no", "yes")), Question("yes", ("no", "yes"))]
        ).answers
        assert (long.fills_context, brief.fills_context) == (True, False)


@pytest.mark.slow
def test_the_pooler_of_the_base_outlives_masked_words(
    bases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that predicts masked words has none, and all arms begin with the base's."""
    from safetensors.torch import load_file

    taken: list[Any] = []
    take = devices.Processors.take

    def counted(processors: devices.Processors, spec: TransformersSpec) -> Any:
        taken.append(spec)
        return take(processors, spec)

    monkeypatch.setattr(devices.Processors, "take", counted)
    still = HEAD.model_copy(update={"learning_rate": 1e-30, "epochs": 1})
    with loaded(bases, "bert", "none", replace(MASKED, classify=still), tmp_path):
        pass
    # To pretrain, to train the head (on a GPU two networks share its one lock), and to ask.
    assert len(taken) == 3
    kept = [load_file(path) for path in tmp_path.glob("*/model.safetensors")]
    (weights,) = [each for each in kept if "classifier.weight" in each]
    (further,) = [each for each in kept if "classifier.weight" not in each]
    base = load_file(bases / "bert" / "model.safetensors")
    pooler, word = "bert.pooler.dense.weight", "bert.embeddings.word_embeddings.weight"
    assert weights[pooler].equal(base[pooler])
    assert weights[word].equal(further[word])
    assert not weights[word].equal(base[word])


def test_progress_tells_each_step_with_its_loss(bases: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int, float | None]] = []
    with loaded(
        bases, "llama", "none", LORA, tmp_path, training=lambda *step: told.append(step)
    ) as model:
        losses, steps = model.trained.losses, model.trained.steps
    assert told[0] == (0, steps, None)
    assert [loss for _, _, loss in told[1:]] == list(losses)
    assert [step for step, _, _ in told[1:]] == list(range(1, steps + 1))


def test_a_trained_arm_answers_as_its_weights_do_in_transformers(bases: Path, cache: Path) -> None:
    import peft
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with loaded(bases, *ARMS["lora"], cache) as model:
        (answer,) = model.ask([QUESTION]).answers
    with loaded(bases, "llama", "none", replace(LORA, seed=9), cache) as model:
        assert model.ask([QUESTION]).answers[0].log_likelihoods != answer.log_likelihoods
    (folder,) = [
        path.parent
        for path in cache.glob("*/trained.json")
        if json.loads(path.read_text())["training"]["digest"] == LORA.digest
    ]
    network = AutoModelForCausalLM.from_pretrained(bases / "llama")
    merged = peft.PeftModel.from_pretrained(network, folder).merge_and_unload().eval()
    tokenizer = AutoTokenizer.from_pretrained(bases / "llama")
    before = len(tokenizer(QUESTION.context).input_ids)
    for text, found in zip(QUESTION.answers, answer.log_likelihoods, strict=True):
        ids = torch.tensor(tokenizer(QUESTION.context + text).input_ids)
        with torch.no_grad():
            scores = merged(ids[None]).logits[0].double().log_softmax(-1)
        expected = sum(float(scores[place - 1, ids[place]]) for place in range(before, len(ids)))
        assert found == pytest.approx(expected, abs=1e-3)


_KILLED = """
import pathlib, sys, time
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.unit.models.test_training import BOTH

base, cache, last = *map(pathlib.Path, sys.argv[1:3]), int(sys.argv[3])
begun = 0

def tell(step, steps, loss):
    global begun
    begun += step == 0
    if begun == last and step == 3:
        print("at it", flush=True)
        time.sleep(600)

pool = ModelPool(Resources(trained=cache, training=tell))
spec = TransformersSpec(name="gpt2", quantization="none")
pool.get(pool.backends.locate(spec, base, BOTH))
"""


@pytest.mark.slow
@pytest.mark.parametrize("training", [1, 2])
def test_who_is_killed_goes_on_after_what_was_finished(
    bases: Path, cache: Path, tmp_path: Path, training: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, bases, tmp_path, str(training)],
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "at it\n"
        other.kill()
    begun: list[int] = []
    with loaded(
        bases, "gpt2", "none", BOTH, tmp_path, training=lambda step, *_: begun.append(step)
    ) as model:
        resumed = model.trained
    assert not resumed.from_cache
    assert begun.count(0) == 3 - training  # further pretraining that was finished is read
    with loaded(bases, "gpt2", "none", BOTH, cache) as model:
        assert model.trained.losses == resumed.losses
    assert len(_weights(tmp_path)) == 2
    assert _weights(tmp_path).items() <= _weights(cache).items()
