"""Requests to a forge's interface: JSON both ways, repeated where that is safe.

The standard library sends them: it knows proxies and certificates, so the job that holds a token
that can write installs nothing more. What is hard is beyond a library's retries anyway: a 403 can
be a rate limit or a refusal, and a failed creation must be looked for before it is repeated.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from pytest_maxrandom.ci.forges.waits import asked_for, exponential, is_limited
from pytest_maxrandom.errors import ForgeError
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from email.message import Message

PATIENCE = 300.0
"""Seconds that all waiting together may take."""
_MOST_FAILURES = 6
"""Of all requests together, until the forge is given up."""
_MOST_REDIRECTS = 5
_TIMEOUT = 30.0
"""Seconds in which a server must say something."""
_MOST_BYTES = 64 * 2**20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")


class UnsureError(ForgeError):
    """A request failed in a way that does not tell whether it was carried out."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered; a status from 500 on, or a rate limit, never comes this far."""

    status: int
    headers: Message
    content: Any
    """The JSON, or None where a refusal had none."""

    @property
    def said(self) -> str:
        """The server's own words, as they are; empty if there are none."""
        said = self.content.get("message") if isinstance(self.content, dict) else None
        return str(said) if said else ""

    @property
    def message(self) -> str:
        """The server's own words, short and harmless: `` (its words)``, or nothing."""
        return f" ({shorten(visible(self.said), 200)})" if self.said else ""


class Client:
    """Sends requests to one interface.

    Parameters
    ----------
    address : str
        Where the interface begins, such as ``https://api.github.com``.
    headers : mapping of str to str
        Sent with every request.
    token : str
        What is secret in `headers`; no message ever holds it.
    sleep : callable
        Waits for some seconds.

    Raises
    ------
    ForgeError
        If the address or the token cannot be one.
    """

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str],
        token: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address.rstrip("/")
        self.host = _host(self.address)
        if not token or not (token.isascii() and token.isprintable()) or " " in token:
            # http.client would refuse it too, and show it.
            raise ForgeError(
                "the token in the environment holds a space, a line break or another character "
                "that no token has; copy it again"
            )
        self._headers = {
            **headers,
            "User-Agent": "pytest-maxrandom",
            "Content-Type": "application/json; charset=utf-8",
        }
        self._token = token
        self._sleep = sleep
        self._failures = 0
        self._waited = 0.0
        self._opener = urllib.request.build_opener(_AsAnswered)

    def send(
        self, method: str, path: str, content: object = None, *, repeatable: bool = True
    ) -> Answer:
        """Send a request until there is an answer.

        Parameters
        ----------
        method, path : str
            `path` follows the address, or is a whole URL on the same host.
        content : object, optional
            Sent as JSON.
        repeatable : bool
            Whether it may be carried out twice. Otherwise only a request that was certainly not
            carried out is sent again.

        Raises
        ------
        UnsureError
            If a request that is not `repeatable` failed, after the wait that is due.
        ForgeError
            If there is no answer in the end.
        """
        url = path if "://" in path else f"{self.address}{path}"
        while True:
            try:
                status, headers, body = self._exchange(method, url, content)
            except (OSError, http.client.HTTPException) as error:
                self._give_up_if_final(error)
                failure = f"{self.host}: no answer ({_reason(error)})"
                self._back_off(failure, exponential(self._failures))
                if not repeatable:
                    raise UnsureError(failure) from None
                continue
            # Nothing that a server echoes, however written, can bring the token into a message.
            answer = Answer(status, headers, _parsed(body, self._token))
            limited = is_limited(status, headers, answer.content)
            if not limited and status < 500:
                return self._usable(answer)
            if limited:
                failure = f"{self.host} allows no more requests at the moment"
                pause = asked_for(headers)
                self._back_off(failure, 60.0 * 2**self._failures if pause is None else pause)
                continue
            failure = f"{self.host} answers {status}{answer.message} again and again"
            pause = asked_for(headers)
            self._back_off(failure, exponential(self._failures) if pause is None else pause)
            if not repeatable:
                raise UnsureError(failure)

    def _exchange(self, method: str, url: str, content: object) -> tuple[int, Message, bytes]:
        """Send one request, following redirects on the same host.

        Elsewhere the token would be given away.
        """
        data = None if content is None else json.dumps(content).encode()
        for _ in range(_MOST_REDIRECTS):
            if _origin(url) != _origin(self.address):
                raise ForgeError(
                    f"{self.host} refers to {self._shown(_origin(url))}, where the token is not "
                    "sent; is that the address of the interface?"
                )
            if not (url.isascii() and url.isprintable()) or " " in url:
                raise ForgeError(
                    f"{self.host} refers to an address with a space or another character that no "
                    "address has; is that the address of the interface?"
                )
            request = urllib.request.Request(url, data, self._headers, method=method)
            with self._opener.open(request, timeout=_TIMEOUT) as response:
                status, headers = int(response.status), response.headers
                body = response.read(_MOST_BYTES + 1)
            if len(body) > _MOST_BYTES:
                raise ForgeError(f"{self.host}: its answer is longer than {_MOST_BYTES:,} bytes")
            location = headers.get("Location")
            # Only these keep the method; of the others, those to a GET do no harm.
            if not location or status not in ((301, 302, 307, 308) if data is None else (307, 308)):
                return status, headers, body
            url = _joined(url, location)
        raise ForgeError(f"{self.host}: more than {_MOST_REDIRECTS} redirects for one request")

    def _shown(self, origin: str) -> str:
        """Show where a server refers to, unless that holds the token."""
        if self._token.lower() in unquote(origin).lower():
            return "another host"
        return origin or "nowhere"

    def _usable(self, answer: Answer) -> Answer:
        if answer.status == 401:
            raise ForgeError(
                f"{self.host} does not know the token{answer.message}: it is mistyped, expired or "
                "of another host"
            )
        if answer.status < 400 and not isinstance(answer.content, (dict, list)):
            raise ForgeError(
                f"{self.host} answers {answer.status}, but no JSON; "
                "is that the address of its interface?"
            )
        return answer

    def _give_up_if_final(self, error: Exception) -> None:
        """Refuse what no repetition can mend."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            raise ForgeError(f"{self.host}: no such host; is that the address of the interface?")
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ForgeError(
                f"{self.host}: its certificate is not trusted ({cause.verify_message}); name the "
                "file of the authority that signed it in SSL_CERT_FILE"
            )
        if isinstance(cause, ssl.SSLError):
            raise ForgeError(f"{self.host}: no secure connection ({cause.reason or 'TLS failed'})")

    def _back_off(self, failure: str, pause: float) -> None:
        """Wait before the next request, unless it has been enough."""
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            raise ForgeError(
                f"{failure}; given up after {self._failures} failures, try again later"
            )
        if self._waited + pause > PATIENCE:
            raise ForgeError(
                f"{failure}; with the {pause:,.0f} seconds until the next request it would wait "
                f"longer than {PATIENCE:,.0f} seconds in all: run it again later"
            )
        self._waited += pause
        self._sleep(pause)


class _AsAnswered(urllib.request.HTTPErrorProcessor):
    """Hands every answer back; urllib would follow redirects, and send the token to any host."""

    def http_response(self, request: object, response: Any) -> Any:
        return response

    https_response = http_response


def next_page(headers: Message) -> str | None:
    """Return the URL of the next page from a ``Link`` header (RFC 8288)."""
    for target, parameters in _LINK.findall(headers.get("Link", "")):
        given = (parameter.strip(" \t,") for parameter in parameters.split(";"))
        if any(parameter in ('rel="next"', "rel=next") for parameter in given):
            return str(target)
    return None


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL; nothing if it is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    where = "" if port is None else f":{port}"
    return visible(f"{parts.scheme}://{host}{where}") if host else ""


def _host(address: str) -> str:
    """Check an address and name its host, without a user or a password in it."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ForgeError(
            f"the address of the interface is {shorten(visible(address), 60)!r}, expected one "
            "such as https://api.github.com"
        )
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise ForgeError(f"{host}: a token is sent through https only; change http to https")
    return host if port is None else f"{host}:{port}"


def _parsed(body: bytes, token: str) -> Any:
    """Read JSON, without the token in it; None if it is none."""
    try:
        return _without(token, json.loads(body))
    except (ValueError, RecursionError):
        return None


def _without(token: str, value: Any) -> Any:
    """Leave a token out of all texts of a JSON value."""
    if isinstance(value, str):
        return value.replace(token, "***")
    if isinstance(value, list):
        return [_without(token, item) for item in value]
    if isinstance(value, dict):
        return {key: _without(token, item) for key, item in value.items()}
    return value


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"nothing within {_TIMEOUT:g} seconds"
    words = getattr(cause, "strerror", None)
    return visible(words or type(cause).__name__)
