"""Requests to a forge's interface: JSON both ways, repeated where that is safe.

`host/http.py` sends them, within its limits. What is hard is here: a 403 can be a rate limit or a
refusal, and a failed creation must be looked for before it is repeated.
"""

from __future__ import annotations

import json
import random
import re
import socket
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from time import sleep, time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from pytest_maxrandom.errors import ForgeError
from pytest_maxrandom.host.http import Key, Unusable, parsed, server
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PATIENCE = 300.0
"""Seconds that all waiting together may take."""
_MOST_FAILURES = 6
"""Of all requests together, until the forge is given up."""
_MOST_REDIRECTS = 5
_TIMEOUT = 30.0
"""Seconds in which a whole answer must be there."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TOKEN = re.compile(r"[!#-\[\]-~]+")  # what JSON writes as it is
_NEXT_PAGE = re.compile(r'<([^<>]*)>[^<>]*;\s*rel="?next"?\s*(?:[;,]|$)')
_LIMITS = ("secondary rate limit", "abuse detection mechanism")
"""How GitHub, and older GitHub Enterprise, name the limit that no header tells."""
_Value = TypeVar("_Value", str, int)


class UnsureError(ForgeError):
    """A request failed in a way that does not tell whether it was carried out."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered; a status from 500 on, or a rate limit, never leaves this module."""

    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    content: Any
    """The JSON, or None where a refusal had none."""

    @property
    def words(self) -> str:
        """The server's own words, as they are; empty if there are none."""
        said = self.content.get("message") if isinstance(self.content, dict) else None
        return str(said) if said else ""

    @property
    def message(self) -> str:
        """The server's own words, short and harmless: `` (its words)``, or nothing."""
        return f" ({shorten(visible(self.words), 200)})" if self.words else ""

    @property
    def is_limit(self) -> bool:
        """Whether it is a rate limit, not a refusal: both can be a 403 of GitHub's."""
        if self.status == 403:
            return (
                "retry-after" in self.headers
                or self.headers.get("x-ratelimit-remaining") == "0"
                or any(limit in self.words.lower() for limit in _LIMITS)
            )
        found = self.content if isinstance(self.content, dict) else {}
        errors = found.get("errors") if self.status == 200 else None  # so says GraphQL
        return self.status == 429 or (
            isinstance(errors, list)
            and any(isinstance(e, dict) and e.get("type") == "RATE_LIMITED" for e in errors)
        )

    @property
    def pause(self) -> float | None:
        """How many seconds the server asks to wait, if it does."""
        after = self.headers.get("retry-after", "")
        if (seconds := whole_number(after)) is not None:
            return float(seconds)
        now = _seconds(self.headers.get("date", "")) or time()
        if (then := _seconds(after)) is not None:
            return max(0.0, then - now)
        for prefix in ("x-ratelimit", "ratelimit"):
            reset = whole_number(self.headers.get(f"{prefix}-reset"))
            if self.headers.get(f"{prefix}-remaining") == "0" and reset is not None:
                return max(0.0, reset - now) + 1.0
        return None


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

    Raises
    ------
    ForgeError
        If the address or the token cannot be one.
    """

    def __init__(self, address: str, headers: Mapping[str, str], token: str) -> None:
        self.address = address.rstrip("/")
        self._origin = _origin(self.address)
        scheme, _, self.host = self._origin.partition("://")
        if scheme not in ("http", "https"):
            raise ForgeError(
                f"the address of the interface is {shorten(visible(address), 60)!r}, expected one "
                "such as https://api.github.com"
            )
        if scheme == "http" and urlsplit(address).hostname not in _LOOPBACK:
            raise ForgeError(
                f"{self.host}: a token is sent through https only; change http to https"
            )
        if not _TOKEN.fullmatch(token):  # http.client would refuse it too, and show it
            raise ForgeError(
                "the token in the environment holds a space, a line break or another character "
                "that no token has; copy it again"
            )
        self._headers = {**headers, "User-Agent": "pytest-maxrandom"}
        self._key = Key(token, secret=0)
        self._failures = 0
        self._waited = 0.0
        # Redirects are not followed here: they would send the token to any host.
        proxy = None if proxy_bypass(self.host) else getproxies().get(scheme)
        at = parse_url(self._origin)
        self._server = server(scheme, at.host or "", at.port, proxy)

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
            pause, limited = None, False
            try:
                answer = self._exchange(method, url, content)
            except Unusable as error:
                raise ForgeError(f"{self.host} {error}") from None
            except (HTTPError, HTTPException, OSError) as error:
                failure = f"{self.host}: no answer ({self._reason(error)})"
            else:
                pause, limited = answer.pause, answer.is_limit
                if limited:
                    failure = f"{self.host} allows no more requests at the moment"
                elif answer.status >= 500:
                    failure = f"{self.host} answers {answer.status}{answer.message} again and again"
                else:
                    return self._usable(answer)
            if pause is None:  # a lot keeps clients from coming back together
                pause = 2.0**self._failures * (60.0 if limited else random.uniform(1.0, 1.25))
            self._wait(failure, pause)
            if not repeatable and not limited:
                raise UnsureError(failure)

    def items(self, path: str, refused: Callable[[Answer], ForgeError]) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list, page after page; `refused` explains one that is not given.

        Raises
        ------
        ForgeError
            If a page is refused, is no list of objects, or refers back to an earlier one.
        """
        visited = set()
        following: str | None = path
        while following is not None:
            visited.add(following)
            answer = self.send("GET", following)
            if answer.status != 200:
                raise refused(answer)
            found = answer.content
            if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
                raise ForgeError(f"{self.host}: {path} is not a list; is it the right address?")
            yield from found
            link = _NEXT_PAGE.search(answer.headers.get("link", ""))  # RFC 8288
            following = link and link[1]
            if following in visited:
                raise ForgeError(f"{self.host}: the pages of {path} link to each other in a circle")

    def _exchange(self, method: str, url: str, content: object) -> Answer:
        """Send one request, following redirects on the same host.

        Elsewhere the token would be given away.
        """
        data = None if content is None else json.dumps(content).encode()
        for _ in range(_MOST_REDIRECTS):
            origin = _origin(url)
            if origin != self._origin:
                named = self._key.text.lower() in unquote(origin).lower()
                shown = "another host" if named else visible(origin) or "nowhere"
                raise ForgeError(
                    f"{self.host} refers to {shown}, where the token is not sent; is that the "
                    "address of the interface?"
                )
            path = parse_url(url).request_uri
            status, headers, body = self._server.asked(method, path, data, self._headers, _TIMEOUT)
            location = headers.get("location")
            # Only these keep the method; of the others, those to a GET do no harm.
            if not location or status not in ((301, 302, 307, 308) if data is None else (307, 308)):
                return Answer(status, headers, self._content(body))
            try:
                url = urljoin(url, location)
            except ValueError:
                url = ""
        raise ForgeError(f"{self.host}: more than {_MOST_REDIRECTS} redirects for one request")

    def _content(self, body: bytes) -> Any:
        """Read JSON, without the token that a server may have echoed; None if it is none."""
        try:
            return self._key.removed_from(parsed(body))
        except ValueError:
            return None

    def _usable(self, answer: Answer) -> Answer:
        if answer.status == 401:
            raise ForgeError(
                f"{self.host} does not know the token{answer.message}: it is mistyped, has "
                "expired, or belongs to another host"
            )
        if answer.status < 400 and not isinstance(answer.content, (dict, list)):
            raise ForgeError(
                f"{self.host} answers {answer.status}, but no JSON; "
                "is that the address of its interface?"
            )
        return answer

    def _reason(self, error: Exception) -> str:
        """Name a failure, and refuse what no repetition can mend."""
        cause: BaseException = error
        while isinstance(cause, HTTPError) and (deeper := cause.__cause__ or cause.__context__):
            cause = deeper
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            raise ForgeError(f"{self.host}: no such host; is that the address of the interface?")
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ForgeError(
                f"{self.host}: its certificate is not trusted ({cause.verify_message}); name the "
                "file of the authority that signed it in SSL_CERT_FILE"
            )
        if isinstance(cause, ssl.SSLError):
            raise ForgeError(f"{self.host}: no secure connection ({cause.reason or 'TLS failed'})")
        if isinstance(cause, TimeoutError):
            return f"nothing within {_TIMEOUT:g} seconds"
        return visible(getattr(cause, "strerror", None) or type(cause).__name__)

    def _wait(self, failure: str, pause: float) -> None:
        """Wait before the next request, unless it has been enough."""
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            raise ForgeError(f"{failure}; gave up after {self._failures} failures; try again later")
        if self._waited + pause > _PATIENCE:
            raise ForgeError(
                f"{failure}; with the {pause:,.0f} seconds until the next request it would wait "
                f"longer than {_PATIENCE:,.0f} seconds in all: run it again later"
            )
        self._waited += pause
        sleep(pause)


def value(content: Any, key: str, kind: type[_Value]) -> _Value:
    """Return a text, or a number, of an object in an answer, which may hold anything.

    Raises
    ------
    ForgeError
        If there is none.
    """
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, kind):
        name = "text" if kind is str else "number"
        raise ForgeError(f"the forge's answer has no {name} '{key}'; is it the right address?")
    return found


def whole_number(found: object) -> int | None:
    """Read a number of a reasonable size; None if it is none."""
    text = str(found)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL, without a user or a password; empty if it is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{'' if port is None else f':{port}'}" if host else ""
