"""Where a key goes, and where it stands in no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import MODELS
from tests.models import located
from tests.served import FakeServer, serving
from tests.unit.models.servers import QUESTIONS, WRITTEN, generating, loaded

pytestmark = pytest.mark.usefixtures("patience")


def allow(
    monkeypatch: pytest.MonkeyPatch, hosts: str = "127.0.0.1=MY_KEY", key: str = "s3cret"
) -> None:
    """Let a key go to some hosts."""
    monkeypatch.setenv("MY_KEY", key)
    monkeypatch.setenv("MAXRANDOM_API_KEYS", hosts)


def test_a_key_goes_to_a_host_that_the_runner_allows(
    server: FakeServer, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, hosts="a.example=OTHER, 127.0.0.1=MY_KEY")
    loaded(server, word_tokenizer, api_key_env="MY_KEY").ask(QUESTIONS)
    assert set(server.keys) == {"Bearer s3cret"}


@pytest.mark.parametrize(
    "allowed", ["", "127.0.0.1=OTHER", "a.example=MY_KEY", "127.0.0.1:9=MY_KEY"]
)
def test_no_other_host_is_sent_anything(
    vllm: FakeServer, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    allow(monkeypatch, hosts=allowed)
    with pytest.raises(ModelError, match="because the runner does not allow it") as refused:
        loaded(vllm, api_key_env="MY_KEY")
    assert not vllm.bodies
    assert "s3cret" not in str(refused.value)


def test_a_key_does_not_travel_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    allow(monkeypatch, hosts="a.example=MY_KEY")
    spec = MODELS.validate(
        {"name": "m", "backend": "vllm", "url": "http://a.example", "api_key_env": "MY_KEY"}
    )
    with pytest.raises(ModelError, match=r"is not sent to http://a\.example unencrypted"):
        ModelPool().get(located(spec, Path()))


@pytest.mark.parametrize("key", ["two\nlines", "naïve"])
def test_what_no_header_takes_is_told_without_showing_it(
    vllm: FakeServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    allow(monkeypatch, key=key)
    with pytest.raises(ModelError, match=r"MY_KEY .* cannot hold a key") as refused:
        loaded(vllm, api_key_env="MY_KEY")
    assert key not in str(refused.value)


def test_a_key_stands_in_no_text_that_a_server_writes(
    vllm: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-0123456789abcdef"
    allow(monkeypatch, key=key)
    vllm.says = lambda prompt: (f"your key is {key}", "stop")
    (answer, *_) = generating(vllm, api_key_env="MY_KEY").ask(WRITTEN).answers
    assert answer.text == "your key is ***"


def test_a_key_follows_no_redirect_and_stands_in_no_message(
    vllm: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch)
    with serving("vllm") as other:
        vllm.faults["redirect"] = other.url
        with pytest.raises(ModelError, match="redirects to"):
            loaded(vllm, api_key_env="MY_KEY")
        assert not other.bodies
    vllm.faults.clear()
    vllm.faults["refuse"] = True
    with pytest.raises(ModelError) as refused:
        loaded(vllm, api_key_env="MY_KEY")
    assert "bad key Bearer ***" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://me:pw@h:1", "an address without user and password"),
        ("h:8000", "the address of a server"),
        ("http://h:99999", "the address of a server"),
        ("http://[h", "the address of a server"),
        ("http://h?key=x", "an address without"),
    ],
)
def test_an_address_is_an_address(url: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        MODELS.validate({"name": "m", "backend": "vllm", "url": url})
