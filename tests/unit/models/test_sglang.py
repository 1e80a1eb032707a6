"""A server of SGLang, as a fake written from its source: what is sent, read, and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.sglang import Sglang
from tests.hashed_model import encoded, log_probabilities
from tests.served import FakeServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTEXT = tuple(encoded("Is ice cold?"))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving("sglang") as running:
        yield running


def asked(server: FakeServer) -> Sglang:
    return Sglang(Endpoint(server.url, timeout=5), server.model)


def requests(*answers: str) -> list[Request]:
    return [Request((*CONTEXT, *answer.encode()), len(CONTEXT)) for answer in answers]


def test_choices_are_one_batch_that_begins_before_the_choice(server: FakeServer) -> None:
    found = asked(server).score(requests(" yes", " no"))
    ((path, body),) = server.bodies
    assert path == "/generate"
    assert body["input_ids"] == [[*CONTEXT, *b" yes"], [*CONTEXT, *b" no"]]
    # The cache is matched up to there, and the first entry is of a token that is not asked for.
    assert body["logprob_start_len"] == [len(CONTEXT) - 1] * 2
    for value, answer in zip(found.values, (b" yes", b" no"), strict=True):
        ids = [*CONTEXT, *answer]
        places = range(len(CONTEXT), len(ids))
        assert value == pytest.approx(sum(log_probabilities(ids[:at])[ids[at]] for at in places))


def test_choices_of_one_token_are_asked_for_after_one_text(server: FakeServer) -> None:
    found = asked(server).score(requests("B", "A", "B"))
    ((_, body),) = server.bodies
    assert body["input_ids"] == [*CONTEXT]
    assert body["token_ids_logprob"] == [ord("A"), ord("B")]
    expected = log_probabilities(CONTEXT)
    assert found.values == pytest.approx([expected[ord(letter)] for letter in "BAB"])


@pytest.mark.parametrize(("answers", "times"), [((" yes", " no"), 2), (("A", "B"), 1)])
def test_what_its_cache_has_is_not_counted_as_read(
    server: FakeServer, answers: tuple[str, ...], times: int
) -> None:
    whole = asked(server).score(requests(*answers)).spent.tokens
    server.faults["cached"] = 8
    assert asked(server).score(requests(*answers)).spent.tokens == whole - 8 * times


def test_log_probabilities_of_other_tokens_are_refused(server: FakeServer) -> None:
    server.faults["shifted"] = True
    with pytest.raises(ScoreError, match="each number may be that of another token"):
        asked(server).score(requests(" yes", " no"))


def test_weights_that_were_exchanged_are_another_model(server: FakeServer) -> None:
    before = asked(server).serving()
    assert before.told == {"root": "/models/the-model"}
    server.faults["weight_version"] = "step-2"
    assert asked(server).serving() != before


def test_a_server_of_another_kind_is_told() -> None:
    with serving("vllm") as other, pytest.raises(ModelError, match="/model_info"):
        asked(other).serving()


@pytest.mark.parametrize("answer", [{}, [], [{"meta_info": {}}] * 2, None, "text"])
def test_what_is_no_answer_is_refused_in_one_sentence(
    server: FakeServer, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Endpoint, "post", lambda *sent: answer)
    with pytest.raises(ScoreError) as refused:
        asked(server).score(requests(" yes", " no"))
    assert "\n" not in str(refused.value)
