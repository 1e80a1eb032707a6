"""Labels of one token are scored by what a server says of the likeliest tokens."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.served.labels import label
from pytest_maxrandom.suite.models import MODELS
from tests.hashed_model import encoded, log_probabilities
from tests.models import located
from tests.served import FakeServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {"five_likeliest": (False, 5), "messages_only": (True, 20), "ollama": (True, 20)}


@pytest.fixture(params=list(KINDS))
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    with serving(request.param) as running:
        yield running


def said(server: FakeServer, **keys: Any) -> Any:
    chat, most = KINDS[server.dialect]
    given = {"name": "m", "backend": "openai", "url": server.url, "timeout": 5.0, "chat": chat}
    return MODELS.validate(
        given | {"served_model": server.model, "top_logprobs": most, "concurrency": 2} | keys
    )


def asked(server: FakeServer, texts: int = 3) -> list[Question]:
    """Return questions whose labels are among the likeliest tokens after them."""
    questions = []
    for number in range(texts):
        text = f"{number}: A or B?\nAnswer:"
        values = log_probabilities(encoded(text))
        likeliest = np.argsort(values)[::-1][: KINDS[server.dialect][1]]
        letters = [chr(token) for token in likeliest if 33 <= token < 127][:2]
        questions.append(Question(text, tuple(f" {letter}" for letter in letters)))
    return [question for question in questions if len(question.answers) == 2]


def test_labels_have_the_log_probabilities_of_their_tokens(server: FakeServer) -> None:
    questions = asked(server, 12)
    assert len(questions) >= 3
    model = ModelPool().get(located(said(server), Path()))
    reply = model.ask(questions)
    for question, answer in zip(questions, reply.answers, strict=True):
        values = log_probabilities(encoded(question.context))
        expected = [values[ord(each.strip())] for each in question.answers]
        assert answer.log_likelihoods == pytest.approx(expected)
        assert answer.tokens == (1, 1)
    assert model.engine == "labels"
    # One request for each text, whatever the number of its choices.
    paths = [path for path, body in server.bodies if body and body["max_tokens"] == 1]
    assert len(paths) == 2 * 8 + len(questions)


def test_a_label_that_is_not_among_them_is_refused(server: FakeServer) -> None:
    text = "0: A or B?\nAnswer:"
    least = int(np.argmin(log_probabilities(encoded(text))[33:127])) + 33
    with pytest.raises(ScoreError) as refused:
        ModelPool().get(located(said(server), Path())).ask(
            [Question(text, (f" {chr(least)}", " no"))]
        )
    assert f"is not among the {KINDS[server.dialect][1]} likeliest tokens" in str(refused.value)
    assert "`labels: letter`" in str(refused.value)


def test_a_label_is_read_with_and_without_a_space() -> None:
    told = {"A": math.log(0.3), " A": math.log(0.2), "B": math.log(0.1)}
    assert label("x", told, " A") == pytest.approx(math.log(0.5))
    assert label("x", told, "B") == pytest.approx(math.log(0.1))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"zero": True}, "do not add up to at most 1"),
        ({"order": True}, "log-likelihoods that differ by"),
    ],
)
def test_a_server_that_is_not_right_is_refused(
    server: FakeServer, fault: dict[str, Any], told: str
) -> None:
    server.faults |= fault
    with pytest.raises(ModelError, match=told):
        ModelPool().get(located(said(server), Path())).ask(asked(server))


def test_another_model_is_noticed(server: FakeServer) -> None:
    prints = []
    for seed in ("", "", "other"):
        server.seed = seed
        found = ModelPool().get(located(said(server), Path())).fingerprint(generates=False)
        assert found is not None
        prints.append(found)
    one, again, other = prints
    assert not one.change(again)
    assert "log-likelihoods of the same texts differ" in one.change(other)


def test_what_is_stored_of_labels_is_of_no_choice(server: FakeServer) -> None:
    identities = [
        Backends().identify(located(said(server, **keys), Path())) for keys in ({}, GENERATES)
    ]
    assert identities[0].digest != identities[1].digest
    assert identities[0].tried_digest == identities[1].tried_digest


GENERATES = {"top_logprobs": None}


def test_a_tokenizer_is_of_no_use() -> None:
    with pytest.raises(ValueError, match="nothing uses `tokenizer`; remove one of the two"):
        MODELS.validate(
            {"name": "m", "backend": "openai", "url": "http://h:1", "top_logprobs": 5,
             "tokenizer": "./t"}
        )  # fmt: skip
