"""What a server may take of a machine, and what of a key it can have stored."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.openai import OpenAI
from tests.served import FakeServer, serving, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


KEY = "sk-A/b+c9.Zz_0123456789"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving("openai") as running:
        yield running


@pytest.fixture
def keyed(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The server, asked with a key."""
    host = server.url.removeprefix("http://")
    monkeypatch.setenv("MAXRANDOM_API_KEYS", f"{host}=OUR_KEY")
    monkeypatch.setenv("OUR_KEY", KEY)
    return Endpoint(server.url, key_name="OUR_KEY", timeout=2)


def answer(body: bytes, *headers: str) -> Callable[[Any], None]:
    """Return what writes an answer as it is, after which its connection ends."""
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return lambda out: out.write("\r\n".join([*head, "", ""]).encode() + body)


@pytest.mark.parametrize("part", ["head", "body", "chunks"])
def test_an_answer_has_one_deadline_however_it_drips(server: FakeServer, part: str) -> None:
    begin = {
        "head": b"HTTP/1.1 200 OK\r\nX-Long: ",
        "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    }[part]
    dripped = 0

    def drip(out: Any) -> None:
        nonlocal dripped
        out.write(begin)
        for _ in range(400):
            dripped += 1
            out.write(b"1\r\n \r\n" if part == "chunks" else b" ")
            out.flush()
            time.sleep(0.05)

    server.faults["raw"] = drip
    with pytest.raises(ModelError, match=r"did not answer in 0\.3 s"):
        Endpoint(server.url, timeout=0.3).get("/v1/models")
    assert dripped < 200  # of the 20 s that the server would have liked


@pytest.mark.parametrize("packed", ["gzip", "deflate", "identity"])
def test_an_answer_is_unpacked_as_far_as_it_may_be_long(
    server: FakeServer, packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAXRANDOM_LIMITS", "answer_mb=1")
    ways: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes
    }  # fmt: skip
    pack = ways[packed]
    for size, fits in ((900_000, True), (1_100_000, False)):
        body = pack(b'{"data": ' + b" " * size + b"1}")
        server.faults["raw"] = answer(body, f"Content-Encoding: {packed}")
        at = Endpoint(server.url, timeout=5)
        if fits:
            assert at.get("/v1/models") == {"data": 1}
        else:
            with pytest.raises(ModelError, match=r"more than 1 MB.*MAXRANDOM_LIMITS=answer_mb"):
                at.get("/v1/models")
    server.faults.clear()
    assert at.get("/v1/models")["data"]  # its connections are as they were


def test_a_connection_that_another_model_left_is_no_server_that_is_gone(
    server: FakeServer,
) -> None:
    """All models share the connections to a server, which closes those that nobody uses."""
    assert Endpoint(server.url, timeout=5).get("/v1/models")["data"]
    closed = 0

    def close(out: Any) -> None:  # in the middle of the next request on that connection
        nonlocal closed
        closed += 1
        server.faults.clear()

    server.faults["raw"] = close
    later = Endpoint(server.url, timeout=5)
    assert later.get("/v1/models")["data"]
    assert (closed, later.broken) == (1, False)


def test_packing_that_nobody_asked_for_is_told(server: FakeServer) -> None:
    for headers, body in (("br", b"{}"), ("gzip", b"{}"), ("gzip, gzip", b"{}")):
        server.faults["raw"] = answer(body, f"Content-Encoding: {headers}")
        with pytest.raises(ModelError, match=r"nobody asked for|damaged gzip"):
            Endpoint(server.url, timeout=5).get("/v1/models")


@pytest.mark.parametrize("status", ["200 OK", "400 No"])
def test_brackets_without_end_are_a_sentence(server: FakeServer, status: str) -> None:
    for body in (b"[" * 200_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000):
        ends = f"Content-Length: {len(body)}\r\nConnection: close"
        head = f"HTTP/1.1 {status}\r\n{ends}\r\n\r\n".encode()
        server.faults["raw"] = lambda out, head=head, body=body: out.write(head + body)
        with pytest.raises(ModelError) as caught:
            Endpoint(server.url, timeout=5).get("/v1/models")
        assert len(str(caught.value)) < 500
    # Brackets within a text that a model writes are no levels.
    server.faults["raw"] = answer(json.dumps({"text": '["[{' * 1000}).encode())
    assert Endpoint(server.url, timeout=5).get("/")["text"] == '["[{' * 1000


@pytest.mark.parametrize("way", [*written("")])
def test_a_key_that_a_server_repeats_is_kept_nowhere(
    server: FakeServer, keyed: Endpoint, way: str
) -> None:
    text = written(KEY)[way]
    told = json.dumps({"data": [f"so: {text} !"], f"x{text}": 1})
    for body in (told.encode(), told.replace("\\\\u", "\\u").encode()):
        server.faults["raw"] = answer(body)
        kept = json.dumps(keyed.get("/"))
        assert kept.count("***") == 2
        for one in written(KEY).values():
            assert one.strip("=") not in kept
    ends = f"Content-Length: {len(text)}\r\nConnection: close"
    refusal = f"HTTP/1.1 400 No\r\n{ends}\r\n\r\n{text}".encode()
    server.faults["raw"] = lambda out: out.write(refusal)
    with pytest.raises(ModelError) as caught:
        keyed.get("/")
    assert text not in str(caught.value)
    assert "***" in str(caught.value)


def test_other_texts_are_kept_as_they_are(server: FakeServer, keyed: Endpoint) -> None:
    texts = [KEY[:-1], KEY[1:], base64.b64encode(KEY[:12].encode()).decode(), "100%25 of \\u0041"]
    server.faults["raw"] = answer(json.dumps(texts).encode())
    assert keyed.get("/") == texts


def test_a_list_of_tokens_that_is_shifted_is_refused(server: FakeServer) -> None:
    at = Endpoint(server.url, timeout=5)
    ids = (256, 65, 66, 67)
    right = OpenAI(at, "the-model").score([Request(ids, 2)]).values
    (reply,) = (at.post("/v1/completions", body) for _, body in server.bodies[-1:])
    told = reply["choices"][0]["logprobs"]["token_logprobs"]
    assert right == [pytest.approx(told[2] + told[3])]
    for shifted in (told[1:], [*told[1:], -1.0]):
        reply["choices"][0]["logprobs"]["token_logprobs"] = shifted
        server.faults["raw"] = answer(json.dumps(reply).encode())
        with pytest.raises(ScoreError, match="first token"):
            OpenAI(at, "the-model").score([Request(ids, 2)])
