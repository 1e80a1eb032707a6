"""Models behind fake servers, as tests load them, and what they are asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.models.questions import Generation, Question, Reply
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import MODELS
from tests.hashed_model import likelihood
from tests.models import located

if TYPE_CHECKING:
    from pytest_maxrandom.models.base import Model
    from tests.served import FakeServer

QUESTIONS = [
    Question(
        f"{number}: larger, {number} or {number + 3}?", (f" {number}", f" {number + 3}", " no")
    )
    for number in range(3)
]
EXACT = [[likelihood(q.context, answer) for answer in q.answers] for q in QUESTIONS]
WRITTEN = [
    Question(f"{number}: how much is that?{' ' * number}", ("x",), generation=Generation(9, ("~",)))
    for number in range(3)
]


def specified(server: FakeServer, tokenizer: Path | None = None, **keys: Any) -> Any:
    given = {"name": "m", "backend": server.dialect, "url": server.url, "timeout": 5.0}
    given |= {"served_model": server.model, "concurrency": 2}
    return MODELS.validate(given | ({"tokenizer": str(tokenizer)} if tokenizer else {}) | keys)


def loaded(server: FakeServer, tokenizer: Path | None = None, **keys: Any) -> Model:
    return ModelPool().get(located(specified(server, tokenizer, **keys), Path()))


def told(reply: Reply) -> list[list[float]]:
    return [list(answer.log_likelihoods) for answer in reply.answers]


def generating(server: FakeServer, tokenizer: Path | None = None, **keys: Any) -> Model:
    return ModelPool().get(located(specified(server, tokenizer, **keys), Path()), generates=True)
