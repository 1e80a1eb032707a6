"""What a forge, or the way to it, can refuse: one sentence each, a way out, and never the token."""

from __future__ import annotations

import base64
import gzip
import select
import shutil
import socket
import socketserver
import subprocess
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.served import written
from tests.unit.ci.server import TOKEN, Reply, Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.ci.conftest import Job

LIMITED = {"X-RateLimit-Remaining": "0"}
NOW = {"Date": "Sat, 01 Jan 2000 00:00:00 GMT"}
IN_90_SECONDS = {"X-RateLimit-Reset": "946684890"}


def refused(job: Job) -> str:
    assert job.comment() == 2
    assert job.out == ""
    return job.err


@pytest.mark.parametrize(
    ("reply", "least", "most"),
    [
        (Reply(429, headers={"Retry-After": "12"}), 12, 12),
        (Reply(403, headers={"Retry-After": "12"}), 12, 12),
        (Reply(429, headers={**NOW, "Retry-After": "Sat, 01 Jan 2000 00:01:30 GMT"}), 90, 90),
        (Reply(403, headers={**NOW, **LIMITED, **IN_90_SECONDS}), 91, 91),
        (Reply(429, headers={"RateLimit-Remaining": "0", "RateLimit-Reset": "9"}), 1, 1),
        (Reply(403, {"message": "You have exceeded a secondary rate limit."}), 60, 60),
        (Reply(403, {"message": f"{'x' * 300} abuse detection mechanism"}), 60, 60),
        (Reply(429, headers={"Retry-After": "soon"}), 60, 60),
        (Reply(500), 1, 1.25),
        (Reply(502, raw=b"<html>Bad gateway</html>"), 1, 1.25),
        (Reply(503, headers={"Retry-After": "7"}), 7, 7),
        (Reply(0, drop=True), 1, 1.25),
    ],
)
def test_limits_and_failures_are_waited_for_as_long_as_the_forge_asks(
    pull_request: Job, github: Server, reply: Reply, least: float, most: float
) -> None:
    github.failures["GET"] = [None, reply]  # the first asks who it is
    assert pull_request.comment() == 0
    (slept,) = pull_request.slept
    assert least <= slept <= most
    assert len(github.bodies()) == 1


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_limited_write_is_written_once_the_limit_is_over(
    pull_request: Job, github: Server, method: str
) -> None:
    github.viewer = None
    limited = Reply(403, {"message": "limit"}, {"Retry-After": "3"})
    github.failures["POST"] = [None, limited]
    github.failures["PATCH"] = [limited]
    assert pull_request.comment() == 0
    if method == "PATCH":
        pull_request.set(GITHUB_RUN_ID=21)
        assert pull_request.comment() == 0
        assert pull_request.out.startswith("updated")
    assert len(github.bodies()) == 1
    assert set(pull_request.slept) == {3.0}


def test_a_limit_that_lasts_too_long_is_not_waited_for(pull_request: Job, github: Server) -> None:
    reset = {"X-RateLimit-Reset": "946688400"}
    github.failures["GET"] = [Reply(403, {"message": "x"}, {**NOW, **LIMITED, **reset})]
    error = refused(pull_request)
    assert f"127.0.0.1:{github.port} allows no more requests at the moment; " in error
    assert "longer than 300 seconds in all: run it again later" in error
    assert pull_request.slept == []


def test_all_waiting_together_has_an_end(pull_request: Job, github: Server) -> None:
    github.failures["GET"] = [Reply(429, headers={"Retry-After": "110"})] * 9
    assert "longer than 300 seconds in all" in refused(pull_request)
    assert pull_request.slept == [110.0, 110.0]


def test_a_forge_that_keeps_failing_is_given_up(pull_request: Job, github: Server) -> None:
    github.failures["GET"] = [Reply(500, {"message": "boom"})] * 50
    assert refused(pull_request) == (
        f"maxrandom comment: 127.0.0.1:{github.port} answers 500 (boom) again and again; gave up "
        "after 6 failures; try again later\n"
    )
    assert len(github.requests) == 6
    assert 31 <= sum(pull_request.slept) <= 31 * 1.25


def test_creations_that_keep_failing_are_given_up(pull_request: Job, github: Server) -> None:
    github.viewer = None
    github.failures["POST"] = [None, *[Reply(500)] * 50]
    assert "gave up after 6 failures" in refused(pull_request)
    assert github.comments == []


def test_a_missing_permission_is_said_with_the_way_out(pull_request: Job, github: Server) -> None:
    github.viewer = None
    github.failures["POST"] = [None, Reply(403, {"message": "Resource not accessible"})]
    assert refused(pull_request) == (
        f"maxrandom comment: 127.0.0.1:{github.port} refuses to write comments on pull request 7 "
        "of team/models: 403 (Resource not accessible); give the job 'permissions: pull-requests: "
        "write', and comment on pull requests of forks, whose jobs never get it, from a "
        "workflow_run workflow\n"
    )


def test_a_locked_conversation_is_not_said_to_lack_a_permission(
    pull_request: Job, github: Server
) -> None:
    locked = {"message": "Unable to create comment because issue is locked."}
    github.failures["POST"] = [None, Reply(403, locked)]
    error = refused(pull_request)
    assert error.endswith("issue is locked.); its conversation is locked: unlock it\n")


def test_a_pull_request_that_is_not_there_is_said(pull_request: Job) -> None:
    assert pull_request.comment("--pull-request", 8) == 2
    assert "pull request 8 of team/models: 404 (Not Found); there is none, or" in pull_request.err


def test_an_unknown_token_is_said(pull_request: Job) -> None:
    pull_request.set(GITHUB_TOKEN="ghs_other")
    error = refused(pull_request)
    assert "does not know the token (Bad credentials)" in error
    assert "ghs_other" not in error


@pytest.mark.parametrize("token", [f"{TOKEN}\n", f"{TOKEN} x", f"{TOKEN}\u00e9", f"\r{TOKEN}"])
def test_a_token_that_is_none_is_not_shown(pull_request: Job, github: Server, token: str) -> None:
    pull_request.set(GITHUB_TOKEN=token)
    assert "the token in the environment holds a space, a line break" in refused(pull_request)
    assert github.requests == []


def test_what_a_forge_echoes_does_not_bring_the_token_out(
    pull_request: Job, github: Server
) -> None:
    message = f"no such token: {TOKEN}\x1b[31m\n::error::{'x' * 5000}"
    github.failures["GET"] = [None, Reply(422, {"message": message})]
    error = refused(pull_request)
    assert r"422 (no such token: ***\x1b[31m\n::error::xxx" in error
    assert len(error) < 400


def test_an_escaped_echo_does_not_bring_the_token_out(pull_request: Job, github: Server) -> None:
    escaped = "".join(f"\\u{ord(character):04x}" for character in TOKEN)
    raw = f'{{"message": "no such token: {escaped}"}}'.encode()
    assert TOKEN.encode() not in raw
    github.failures["GET"] = [None, Reply(422, raw=raw)]
    assert "422 (no such token: ***)" in refused(pull_request)


@pytest.mark.parametrize(
    "host", [f"{TOKEN}.evil.test", TOKEN.upper(), "".join(f"%{ord(c):02x}" for c in TOKEN)]
)
@pytest.mark.parametrize("header", ["Location", "Link"])
def test_a_host_with_the_token_in_it_is_not_shown(
    pull_request: Job, github: Server, host: str, header: str
) -> None:
    away = f"https://{host}/x"
    github.failures["GET"] = [
        Reply(302, headers={"Location": away})
        if header == "Location"
        else Reply(200, {"login": "robin"}),
        Reply(200, [], {"Link": f'<{away}>; rel="next"'}),
    ]
    error = refused(pull_request)
    assert "refers to another host, where the token is not sent" in error
    assert TOKEN not in error.lower()


def test_no_token_is_needed_to_be_told_that_there_is_none(pull_request: Job) -> None:
    pull_request.environment.delenv("GITHUB_TOKEN")
    assert "GITHUB_TOKEN is needed here" in refused(pull_request)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(200, raw=b"<html>Please log in</html>"), "answers 200, but no JSON; is that the"),
        (Reply(200, {"not": "a list"}), ": /repos/team/models/issues/7/comments?per"),
        (Reply(200, [5]), ": /repos/"),
        (Reply(200, [{"id": "x", "user": {"login": "y"}}]), "has no number 'id'"),
    ],
)
def test_an_answer_of_something_else_is_said(
    pull_request: Job, github: Server, reply: Reply, said: str
) -> None:
    github.failures["GET"] = [None, reply]
    assert said in refused(pull_request)
    assert pull_request.slept == []


def test_pages_that_go_round_in_a_circle_end(pull_request: Job, github: Server) -> None:
    first = f"{github.url}/repos/team/models/issues/7/comments?per_page=100"
    link = {"Link": f'<{first}>; rel="next"'}
    github.failures["GET"] = [None, Reply(200, [], link), Reply(200, [], link)]
    assert "link to each other in a circle" in refused(pull_request)


def test_a_token_is_not_sent_to_another_host(pull_request: Job, github: Server) -> None:
    with serving(Server()) as other:
        away = f"http://localhost:{other.port}/user"
        for reply in (
            Reply(302, headers={"Location": away}),
            Reply(307, {"message": "moved"}, {"Location": away}),
        ):
            github.failures["GET"] = [reply]
            assert (
                f"refers to http://localhost:{other.port}, where the token is not sent"
                in refused(pull_request)
            )
        github.failures["GET"] = [None, Reply(200, [], {"Link": f'<{away}>; rel="next"'})]
        assert f"refers to http://localhost:{other.port}" in refused(pull_request)
        assert other.requests == []


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://[", "//h:x/", "gopher:x"])
def test_a_redirect_to_no_host_is_not_followed(
    pull_request: Job, github: Server, location: str
) -> None:
    github.failures["GET"] = [Reply(302, headers={"Location": location})]
    assert "where the token is not sent" in refused(pull_request)
    assert len(github.requests) == 1


def test_a_renamed_repository_is_followed(pull_request: Job, github: Server) -> None:
    comments = "/repos/team/models/issues/7/comments"
    pull_request.set(GITHUB_REPOSITORY="team/old")
    github.failures["GET"] = [None, Reply(301, {"message": "Moved"}, {"Location": comments})]
    github.viewer = None
    github.failures["POST"] = [None, Reply(307, {"message": "Moved"}, {"Location": comments})]
    assert pull_request.comment() == 0
    assert len(github.bodies()) == 1


def test_redirects_without_an_end_are_left(pull_request: Job, github: Server) -> None:
    github.failures["GET"] = [Reply(302, headers={"Location": "/user"})] * 9
    assert "more than 5 redirects" in refused(pull_request)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://forge.invalid/api/v3", "forge.invalid: no"),
        ("http://forge.invalid", "forge.invalid: a token is sent through https only"),
        ("ftp://forge.invalid", "the address of the interface is 'ftp://forge.invalid'"),
        ("forge.invalid", "the address of the interface is 'forge.invalid'"),
        ("https://user:secret@forge.invalid", "forge.invalid: no"),
        ("https://[::1", "the address of the interface is"),
    ],
)
def test_an_address_that_leads_nowhere_is_said(pull_request: Job, address: str, said: str) -> None:
    pull_request.set(GITHUB_API_URL=address)
    error = refused(pull_request)
    assert said in error
    assert "secret" not in error


def test_a_host_that_does_not_listen_is_said(pull_request: Job) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    pull_request.set(GITHUB_API_URL=f"http://127.0.0.1:{port}")
    assert f"127.0.0.1:{port}: no answer (Connection refused); gave up" in refused(pull_request)


def test_a_host_without_tls_is_said(pull_request: Job, github: Server) -> None:
    pull_request.set(GITHUB_API_URL=f"https://127.0.0.1:{github.port}")
    error = refused(pull_request)
    assert f"127.0.0.1:{github.port}: no secure connection (" in error
    assert pull_request.slept == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_that_is_not_trusted_is_said_and_can_be_trusted(
    pull_request: Job, github: Server
) -> None:
    key, certificate = pull_request.folder / "key.pem", pull_request.folder / "certificate.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    output = ["-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *names, *output]
    subprocess.run(command, check=True, capture_output=True)
    with serving(Server(), (certificate, key)) as server:
        pull_request.set(GITHUB_API_URL=f"https://127.0.0.1:{server.port}")
        error = refused(pull_request)
        assert f"127.0.0.1:{server.port}: its certificate is not trusted (self" in error
        assert "SSL_CERT_FILE" in error
        assert server.requests == []
        pull_request.set(SSL_CERT_FILE=str(certificate))
        assert pull_request.comment() == 0
        assert len(server.bodies()) == 1
        with tunnel() as (proxy, asked):
            pull_request.set(https_proxy=f"http://robin:p%40ss@127.0.0.1:{proxy}", GITHUB_RUN_ID=21)
            assert pull_request.comment() == 0
        assert pull_request.out.startswith("updated")
        login = base64.b64encode(b"robin:p@ss")
        assert asked[0].startswith(b"CONNECT 127.0.0.1:%d " % server.port)
        assert b"basic " + login.lower() in asked[0].lower()
        assert TOKEN.encode() not in b"".join(asked)


@contextmanager
def tunnel() -> Iterator[tuple[int, list[bytes]]]:
    """Run a proxy until the block ends; yield its port, and what it reads."""
    read: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            read.append(asked := self.request.recv(65_536))
            host, _, port = asked.split()[1].decode().partition(":")
            with socket.create_connection((host, int(port))) as server:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                ways = {self.request: server, server: self.request}
                while ready := select.select([*ways], [], [])[0]:
                    if not (part := ready[0].recv(65_536)):
                        break
                    read.append(part if ready[0] is self.request else b"")
                    ways[ready[0]].sendall(part)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,)).start()
        yield proxy.server_address[1], read
        proxy.shutdown()


def test_a_proxy_of_the_environment_is_asked_in_the_forge_s_place(
    pull_request: Job, github: Server
) -> None:
    forge = "http://localhost:9"
    pull_request.set(
        GITHUB_API_URL=forge, http_proxy=f"http://robin:p%40ss@127.0.0.1:{github.port}"
    )
    pull_request.comment()
    assert github.requests[0].path.startswith(f"{forge}/")
    login = base64.b64encode(b"robin:p@ss").decode()
    assert github.requests[0].headers["Proxy-Authorization"] == f"Basic {login}"
    pull_request.set(no_proxy="localhost")
    assert "localhost:9: no answer (Connection refused); gave up" in refused(pull_request)


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_is_read_as_far_as_it_may_be_long(
    pull_request: Job, github: Server, packed: bool
) -> None:
    pull_request.set(MAXRANDOM_LIMITS="answer_mb=1")
    body = b"[" + b" " * 1_100_000 + b"]"
    reply = Reply(200, raw=body)
    if packed:
        reply = Reply(200, None, {"Content-Encoding": "gzip"}, raw=gzip.compress(body))
    github.failures["GET"] = [None, reply]
    error = refused(pull_request)
    assert f"127.0.0.1:{github.port} answers with more than 1 MB; " in error
    assert "MAXRANDOM_LIMITS=answer_mb=..." in error
    assert pull_request.slept == []


def test_an_answer_without_end_has_an_end(
    pull_request: Job, github: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_maxrandom.ci.http._TIMEOUT", 0.2)
    github.failures["GET"] = [None, *[Reply(200, raw=b"[]", drip=0.02)] * 9]
    error = refused(pull_request)
    assert "no answer (nothing within 0.2 seconds); gave up after 6 failures" in error


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"message":' * 5_000 + b"1" + b"}" * 5_000])
def test_brackets_without_end_are_no_json(pull_request: Job, github: Server, body: bytes) -> None:
    github.failures["GET"] = [None, Reply(200, raw=body)]
    assert "answers 200, but no JSON" in refused(pull_request)


@pytest.mark.parametrize("way", [*written("")])
def test_an_echo_in_another_writing_does_not_bring_the_token_out(
    pull_request: Job, github: Server, way: str
) -> None:
    text = written(TOKEN)[way]
    github.failures["GET"] = [None, Reply(422, {"message": f"so: {text} !"})]
    error = refused(pull_request)
    assert "422 (so: " in error
    assert "***" in error
    assert text.strip("=") not in error
