"""What is sent to a server and what comes back: keys, retries, and refusals in one sentence."""

from __future__ import annotations

import json
import math
import re
import ssl
import time
from http.client import HTTPException
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import urllib3

from pytest_maxrandom.errors import ModelError, quoted
from pytest_maxrandom.host import http
from pytest_maxrandom.host.data import refused_address
from pytest_maxrandom.models.served.flow import Flow
from pytest_maxrandom.models.served.keys import LOCAL, key_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BUSY, _GONE = (429,), (502, 503, 504)
"""What a server says for a while: that it has too much to do, or that its model is not there."""
_RETRIED = (*_BUSY, *_GONE, 500)
_FULL = (429, 503)
"""What it may say because it is asked too much at once."""
_TRIES = 6
"""How often a request is sent at most to a server that fails at it, or was never reached."""
_BROKEN = (urllib3.exceptions.HTTPError, HTTPException, OSError)
"""What is raised where no answer comes, or no whole one."""
_CLOSED = (HTTPException, ConnectionError)
"""The same where a server ends a connection that stood."""
BACKOFF = 0.5
"""Seconds of the first pause; each is twice as long as the one before."""
_LONGEST_PAUSE = 10.0
IDLE = 5.0
"""Seconds without a request in which a server may have been started again unnoticed."""
_INTERFACE = re.compile(r"/v1(/(chat/completions|completions|models))?/*$")
"""How an address ends that goes on to the programming interface, or to one of its paths."""


class Endpoint:
    """A server at an address, which is asked by any number of threads.

    What a server refuses for a while (429, 5xx) is asked again, after as long as it says. Where it
    cannot be reached any more, it is waited for, and `broken` says that it may be another since.
    So it may be where nothing was asked for a while, since connections are made again unnoticed.

    Parameters
    ----------
    url : str
        Address of the server, with or without the ``/v1`` of its programming interface, or a path
        of that, such as ``/v1/chat/completions``.
    key_name : str or None
        Environment variable with the key, which is sent only where :func:`key_for` finds it.
    timeout : float
        Seconds that an answer may take, and that a server that is gone or busy is waited for.
    requests : int or None
        How many are to be under way at once; None leaves it to what the server answers.
    tell : callable
        Called with a sentence when a server that is gone is waited for.

    Attributes
    ----------
    broken : bool
        Whether the server may be another than it was when this was last set to False.
    flow : Flow
        What spreads requests over threads.

    Raises
    ------
    ModelError
        If the key must not be sent, or is not there.
    """

    def __init__(
        self,
        url: str,
        *,
        key_name: str | None = None,
        timeout: float = 600,
        requests: int | None = 1,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.url = _INTERFACE.sub("", url).rstrip("/")
        self.broken = False
        self._last: float | None = None
        self.flow = Flow(requests)
        self._timeout = timeout
        self._tell = tell
        self._telling, self._told, self._back = Lock(), math.inf, 0.0
        self._key = http.Key(key_for(self.url, key_name)) if key_name else None
        self._headers = {"User-Agent": "pytest-maxrandom"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key.text}"
        parts = urllib3.util.parse_url(self.url)
        self._path = parts.path or ""
        self._server = http.server(parts.scheme or "http", parts.host or "", parts.port)

    def __str__(self) -> str:
        return self.url

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine, as far as its address says."""
        return urlsplit(self.url).hostname in LOCAL

    def get(self, path: str) -> Any:
        """Return what stands at a path.

        Raises
        ------
        ModelError
            As :meth:`post`.
        """
        return self._json("GET", path, None)

    def text(self, path: str) -> str:
        """Return the text that stands at a path, which may be in no form.

        Raises
        ------
        ModelError
            As :meth:`post`.
        """
        return self._without_key(self._request("GET", path, None))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send JSON, and return the JSON that comes back.

        Raises
        ------
        Refused
            If the server refuses what is asked of it.
        ModelError
            If it cannot be reached, redirects, or sends something else; in one sentence.
        """
        return self._json("POST", path, body)

    def _json(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        raw = self._request(method, path, body)
        try:
            found = http.parsed(raw)
            return found if self._key is None else self._key.removed_from(found)
        except ValueError:
            shown = self._quoted(raw)
            message = f"{self.url}{path} answers with {shown}, which is not JSON; expected the "
            raise ModelError(
                f"{message}address of a server of the kind that `backend` says"
            ) from None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> bytes:
        sent = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        began, pause, tries = time.monotonic(), BACKOFF, 0
        reached = self._last is not None
        if self._last is not None and began - self._last > IDLE:
            self.broken = True
        while True:
            tries, asked = tries + 1, time.monotonic()
            try:
                at, headers = self._path + path, self._headers
                answer = self._server.asked(method, at, sent, headers, self._timeout)
            except http.Unusable as error:
                self._last = time.monotonic()
                raise ModelError(f"the server at {self.url} {error}") from None
            except _BROKEN as error:
                refusal: ModelError = self._unreachable(error, time.monotonic() - began)
                # The first request may meet a connection that another model's requests left, and
                # that the server has closed.
                left = not reached and tries == 1 and isinstance(error, _CLOSED)
                self.broken |= not left
                wait, asked_again, full = pause, reached or left, False
            else:
                self._last = time.monotonic()
                status = answer.status
                if status < 300:
                    self.flow.answered()
                    self._tell_of(gone=False, asked=asked)
                    return answer.body
                refusal = self._refusal(path, answer)
                self.broken |= status in _GONE
                wait, full = max(pause, _wait_of(answer)), status in _FULL
                waited_for = reached and status != 500
                asked_again = status in _RETRIED and (waited_for or tries < _TRIES)
            if not asked_again or time.monotonic() - began + wait > self._timeout:
                raise refusal from None
            if full:
                self.flow.refused(wait)
            if self.broken:
                self._tell_of(gone=True, asked=asked)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _tell_of(self, *, gone: bool, asked: float) -> None:
        """Tell once that the server is gone, until it answers what was asked since.

        What other threads asked before may come back, or fail, at any time.
        """
        with self._telling:
            if gone and self._told == math.inf and asked > self._back:
                self._told = time.monotonic()
                self._tell(f"the server at {self.url} is gone; waiting for it")
            elif not gone and asked > self._told:
                self._told, self._back = math.inf, time.monotonic()

    def _unreachable(self, error: Exception, waited: float) -> ModelError:
        if isinstance(error, TimeoutError):
            return ModelError(
                f"the server at {self.url} did not answer in {self._timeout:g} s; raise `timeout`, "
                "or lower `concurrency`"
            )
        if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
            return ModelError(
                f"the server at {self.url} speaks no https; write the address with http"
            )
        why = " ".join(str(error).rpartition(": ")[2].split()) or type(error).__name__
        why = self._without_key(why)
        if isinstance(error, HTTPException) and not isinstance(error, ConnectionError):
            return ModelError(
                f"the server at {self.url} gives no whole answer of HTTP ({why}); "
                "correct `url`, or look into its log"
            )
        since = f" and did not come back in {waited:.0f} s" if self._last is not None else ""
        return ModelError(
            f"the server at {self.url} cannot be reached{since} ({why}); start it, or correct `url`"
        )

    def _refusal(self, path: str, answer: http.Answer) -> ModelError:
        """Say what a status other than 200 means."""
        status = answer.status
        sentence = self._quoted(_sentence(answer.body), 300)
        if status < 400:
            target = self._without_key(_origin(answer.headers.get("location", "")))
            return ModelError(
                f"the server at {self.url} redirects to {target}, where neither keys nor questions "
                "are sent; write the final address as `url`"
            )
        if status in (401, 403):
            sent = (
                "the server does not accept the key in `api_key_env`"
                if self._key
                else ("name the variable with the key as `api_key_env`")
            )
            return Refused(status, f"the server at {self.url} refuses access ({sentence}); {sent}")
        if status in _RETRIED:
            way_out = "lower `concurrency`" if status in _BUSY else "look into its log"
            if (wait := _wait_of(answer)) > self._timeout:
                way_out = f"it asks to wait {wait:.0f} s, longer than `timeout` allows; wait"
            return Refused(
                status,
                f"the server at {self.url} answered {status} again and again: {sentence}; "
                f"{way_out}, or raise `timeout`",
            )
        if status in (404, 405):
            return Refused(
                status,
                f"the server at {self.url} answers {path} with {status} ({sentence}); correct "
                "`url`, or `backend` if it is a server of another kind",
            )
        message = f"the server at {self.url} refuses {path} ({status}): {sentence}"
        return Refused(status, message, _code(answer.body))

    def _quoted(self, text: str | bytes, limit: int = 60) -> str:
        """Return what a server said, as far as it may be shown.

        A suite may name any address that the runner reaches, so a gate shows only what comes from
        a host that the workflow names.
        """
        if self._key is None and refused_address(f"{self.url}/"):
            return f"a text that a gate shows only with `--allow-path {self.url}`"
        return quoted(self._without_key(text), limit)

    def _without_key(self, text: str | bytes) -> str:
        """Return a text that may be shown, since a server may repeat what it was sent."""
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return self._key.removed(shown) if self._key else shown


class Refused(ModelError):
    """A server refuses what is asked of it.

    Attributes
    ----------
    status : int
        Of HTTP.
    code : str or None
        What an interface such as OpenAI's calls the reason.
    """

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        self.status = status
        self.code = code
        super().__init__(message)


def _wait_of(answer: http.Answer) -> float:
    """Return the seconds for which a server asks before it is asked again."""
    try:
        said = answer.headers.get("retry-after")
        return urllib3.Retry().parse_retry_after(said) if said else 0.0
    except urllib3.exceptions.InvalidHeader:
        return 0.0


def _origin(url: str) -> str:
    """Return where a redirect leads, without what may be secret: its path, and who asks."""
    try:
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
        scheme = f"{parts.scheme}://" if parts.scheme else ""
        return f"{scheme}{parts.hostname}{port}" if parts.hostname else "another path"
    except ValueError:
        return "elsewhere"


def _code(raw: bytes) -> str | None:
    """Return what a refusal calls its reason."""
    try:
        return str(json.loads(raw)["error"]["code"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _sentence(raw: bytes) -> str:
    """Return the sentence in a server's refusal."""
    try:
        found = json.loads(raw)
        for step in ("error", "message", "detail"):
            found = found.get(step, found) if isinstance(found, dict) else found
        return " ".join(str(found).split())
    except (ValueError, RecursionError):
        found = raw.decode("utf-8", "replace")
    return " ".join(str(found).split())
