"""Log-likelihoods equal those of the plainest loop: one text at a time, all logits, no padding."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.models.hf import loading
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.suite.models import TransformersSpec
from tests.unit.models.architectures import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Sequence

VOCABULARY = 120


def _requests() -> list[Request]:
    """Return texts of many lengths: alone, sharing a context, and differing in the last token."""
    rng = random.Random(0)
    found = []
    for length in (2, 3, 5, 9, 14, 23, 40):
        context = [rng.randrange(VOCABULARY) for _ in range(length - 1)]
        for extra in (1, 1, 2, 4):
            answer = [rng.randrange(VOCABULARY) for _ in range(extra)]
            found.append(Request((*context, *answer), length - 1))
        found.append(Request((*context, 0), max(1, length - 3)))
        found.append(Request((*context, 1, 0, 1), length - 1))
    return [*found, found[3]]


@cache
def _model(architecture: str) -> tuple[CausalModel, Any]:
    model = tiny.causal_model(architecture, VOCABULARY)
    return CausalModel(model, tiny.byte_level_tokenizer(), tiny.place()), model


@cache
def _reference(architecture: str) -> list[float]:
    """Score each request alone."""
    import torch

    _, model = _model(architecture)
    sums = []
    for request in _requests():
        with torch.inference_mode():
            ids = torch.tensor([request.ids], device=tiny.place())
            logits = model(input_ids=ids).logits[0].double()
        log_probabilities = logits.log_softmax(-1)
        span = range(request.start, len(request.ids))
        sums.append(sum(float(log_probabilities[i - 1, request.ids[i]]) for i in span))
    return sums


def _sums(architecture: str, requests: Sequence[Request]) -> list[float]:
    model, _ = _model(architecture)
    return list(model.score(requests).log_likelihoods)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("engine", "batch_tokens"),
    [
        ("auto", 100),
        *(pytest.param("auto", tokens, marks=pytest.mark.slow) for tokens in (1, 4096)),
        *(pytest.param("plain", tokens, marks=pytest.mark.slow) for tokens in (1, 100, 4096)),
    ],
)
def test_batches_of_any_size_change_nothing(
    architecture: str, engine: str, batch_tokens: int
) -> None:
    _, plain = _model(architecture)
    model = CausalModel(plain, tiny.byte_level_tokenizer(), tiny.place(), batch_tokens, engine)
    found = list(model.score(_requests()).log_likelihoods)
    assert found == pytest.approx(_reference(architecture), abs=1e-4)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_order_of_the_requests_changes_nothing(architecture: str) -> None:
    order = random.Random(1).sample(range(len(_requests())), len(_requests()))
    shuffled = [_requests()[index] for index in order]
    expected = [_reference(architecture)[index] for index in order]
    assert _sums(architecture, shuffled) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_is_known_as_causal_also_in_bfloat16(architecture: str) -> None:
    import torch

    _, model = _model(architecture)
    spec = TransformersSpec(name=architecture)
    loading.check_causal(spec, model, tiny.place())
    lowered = tiny.causal_model(architecture, VOCABULARY).to(torch.bfloat16)
    loading.check_causal(spec, lowered, tiny.place())


def test_the_reference_can_tell_requests_apart() -> None:
    """Else a wrong span or row would go unnoticed above."""
    distinct = dict(zip(_requests(), _reference("llama"), strict=True))
    values = sorted(distinct.values())
    assert min(b - a for a, b in itertools.pairwise(values)) > 1e-4
    assert max(values) - min(values) > 10


def test_what_is_asked_in_texts_is_what_is_scored_in_tokens() -> None:
    model = CausalModel(tiny.causal_model("llama", 700), tiny.byte_level_tokenizer(), tiny.place())
    questions = [Question("A: apple", (" stone", "s, lazy dog")), Question("B:", (" 12",))]
    rows = model.encode(questions)
    reply = model.ask(iter(questions))
    scored = model.score([request for row in rows for request in row])
    assert [one.tokens for one in reply.answers] == [
        tuple(len(request.ids) - request.start for request in row) for row in rows
    ]
    assert scored.log_likelihoods == [v for one in reply.answers for v in one.log_likelihoods]
    cost = (scored.tokens_forwarded, scored.trie_nodes)
    assert (reply.tokens_forwarded, reply.trie_nodes) == cost


def test_texts_that_differ_in_their_last_token_go_through_the_model_once() -> None:
    model, _ = _model("llama")
    requests = [Request((5, 6, 7, last), 3) for last in range(10)]
    assert model.score(requests).tokens_forwarded == 3


def test_equal_requests_have_equal_scores() -> None:
    model, _ = _model("llama")
    scores = model.score(_requests()).log_likelihoods
    assert _requests()[3] == _requests()[-1]
    assert scores[3] == scores[-1]


def test_nothing_to_score_is_no_error() -> None:
    model, _ = _model("llama")
    assert model.score([]).log_likelihoods == []
    assert model.ask([]).answers == ()


def test_the_same_requests_have_bitwise_equal_scores() -> None:
    model, _ = _model("gpt-neox")
    assert model.score(_requests()) == model.score(_requests())


def test_a_model_that_returns_no_finite_number_is_an_error() -> None:
    import torch

    model = tiny.causal_model("llama", VOCABULARY)
    with torch.no_grad():
        model.lm_head.weight[7] = float("nan")
    broken = CausalModel(model, tiny.byte_level_tokenizer(), tiny.place())
    with pytest.raises(ScoreError, match="not a finite number; try another dtype or quantization"):
        broken.score(_requests())


@pytest.mark.parametrize(
    ("architecture", "in_tokenizer", "expected"),
    [("gpt-2", None, 1024), ("gpt-2", 100, 100), ("opt", 10**7, 2048), ("bloom", None, None)],
)
def test_the_context_holds_the_less_of_what_model_and_tokenizer_state(
    architecture: str, in_tokenizer: int | None, expected: int | None
) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    if in_tokenizer is not None:
        tokenizer.model_max_length = in_tokenizer
    model = CausalModel(tiny.causal_model(architecture, VOCABULARY), tokenizer, tiny.place())
    assert model.context_length == expected
