"""Fake servers, and the tokenizer of what they serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.models.served import endpoint
from tests.served import FakeServer, serving
from tests.unit.models.tokenizers import write_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask again at once, so that no test waits."""
    monkeypatch.setattr(endpoint, "BACKOFF", 0.001)


@pytest.fixture(params=["vllm", "sglang", "llama_cpp", "openai"])
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    with serving(request.param) as running:
        yield running


@pytest.fixture
def vllm() -> Iterator[FakeServer]:
    with serving("vllm") as running:
        yield running


@pytest.fixture(scope="session")
def word_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of what the fake servers serve."""
    return write_words(tmp_path_factory.mktemp("words"))
