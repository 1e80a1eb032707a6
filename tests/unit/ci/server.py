"""The part of GitHub's, and of GitLab's, interface that the command uses, on this machine."""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"
BOT = "github-actions[bot]"


@dataclass
class Reply:
    """What the server answers instead of what is right."""

    status: int
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    """Whether it does what was asked before it answers so."""
    raw: bytes | None = None
    drop: bool = False
    """Whether the connection ends without an answer."""
    drip: float = 0.0
    """Seconds between two letters of an answer that has no end."""


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Server:
    """Comments on pull request 7 of ``team/models``.

    ``failures[method]`` holds replies, and functions to call in between, in their order.
    """

    def __init__(self) -> None:
        self.prefix = ""
        self.page_size = 2
        self.user: str | None = None
        """Login of the token where it is a person's."""
        self.viewer: str | None = BOT
        self.graphql_errors: list[dict[str, Any]] | None = None
        self.writes_as = BOT
        self.comments: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.failures: dict[str, list[Reply | Callable[[], None] | None]] = defaultdict(list)
        self.requests: list[Request] = []
        self.port = 0
        self._lock = threading.Lock()
        self._next = 100

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def add(self, login: str, body: str) -> dict[str, Any]:
        self._next += 1
        made = {
            "id": self._next,
            "user": {"login": login},
            "body": body,
            "html_url": f"https://github.test/team/models/pull/7#issuecomment-{self._next}",
        }
        self.comments.append(made)
        return made

    def bodies(self, login: str = BOT) -> list[str]:
        return [c["body"] for c in self.comments if c["user"]["login"] == login]

    def asked(self, method: str) -> list[Request]:
        return [request for request in self.requests if request.method == method]

    def reply(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            waiting = self.failures[request.method]
            planned = waiting.pop(0) if waiting else None
            if callable(planned):
                planned()
                planned = None
            if planned is not None and not planned.after:
                return planned
            done = self.do(request)
            return done if planned is None else planned

    def do(self, request: Request) -> Reply:
        if TOKEN not in request.headers.get("Authorization", ""):
            return Reply(401, {"message": "Bad credentials"})
        split = urlsplit(request.path)
        if request.path == f"{self.prefix.removesuffix('/v3')}/graphql":
            viewer = None if self.viewer is None else {"viewer": {"login": self.viewer}}
            errors = {} if self.graphql_errors is None else {"errors": self.graphql_errors}
            return Reply(200, {"data": viewer} | errors)
        path = split.path.removeprefix(self.prefix)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        match request.method, path:
            case "GET", "/user":
                if self.user:
                    return Reply(200, {"login": self.user})
                return Reply(403, {"message": "Resource not accessible by integration"})
            case "GET", "/repos/team/models/pulls":
                return Reply(200, [pull for pull in self.pulls if matches(pull, query)])
            case "GET", "/repos/team/models/issues/7/comments":
                return self.page(split.path, int(query.get("page", 1)))
            case "POST", "/repos/team/models/issues/7/comments":
                return self._written(
                    lambda body: Reply(201, self.add(self.writes_as, body)), request
                )
        if request.method == "PATCH" and (
            match := re.fullmatch(r"/repos/team/models/issues/comments/(\d+)", path)
        ):
            found = [c for c in self.comments if c["id"] == int(match[1])]
            if found:
                return self._written(
                    lambda body: Reply(200, found[0].update(body=body) or found[0]), request
                )
        return Reply(404, {"message": "Not Found"})

    def page(self, path: str, page: int) -> Reply:
        start = (page - 1) * self.page_size
        rows = self.comments[start : start + self.page_size]
        headers = {}
        if start + self.page_size < len(self.comments):
            here = f"http://127.0.0.1:{self.port}{path}"
            last = -(-len(self.comments) // self.page_size)
            following = f'<{here}?page={page + 1}>; rel="next"'
            headers["Link"] = f'{following}, <{here}?page={last}>; rel="last"'
        return Reply(200, rows, headers)

    def _written(self, write: Callable[[str], Reply], request: Request) -> Reply:
        if len(request.body["body"]) > 65_536:
            return Reply(422, {"message": "Validation Failed"})
        return write(request.body["body"])


def matches(pull: dict[str, Any], query: dict[str, str]) -> bool:
    owner = pull["head"]["repo"]["full_name"].partition("/")[0]
    return query.get("head") == f"{owner}:{pull['head']['ref']}" and query.get("state") == "open"


@contextmanager
def serving(server: Server, certificate: tuple[Path, Path] | None = None) -> Iterator[Server]:
    """Serve until the block ends; with a certificate and its key, through TLS."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.title(): value for name, value in self.headers.items()}
            reply = server.reply(Request(self.command, self.path, headers, body))
            if reply.drop:
                self.close_connection = True
                return
            data = reply.raw if reply.raw is not None else json.dumps(reply.content).encode()
            self.send_response_only(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data) + 1000 * bool(reply.drip)))
            self.end_headers()
            for _ in range(1000 if reply.drip else 0):
                self.wfile.write(b" ")
                time.sleep(reply.drip)
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815

        def log_message(self, *_arguments: object) -> None:
            pass

    class Listening(ThreadingHTTPServer):
        def handle_error(self, *_arguments: object) -> None:
            """A client that leaves in the middle is what some tests are about."""

    listening = Listening(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        listening.socket = context.wrap_socket(
            listening.socket, server_side=True, do_handshake_on_connect=False
        )
    server.port = listening.server_address[1]
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
