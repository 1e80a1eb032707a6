"""What a server may take and give back: seconds and bytes of an answer, its depth, and no key.

A server is anybody's, whether it has a model or the comments of a forge. So an answer has one
deadline, however its bytes drip; it is unpacked as far as it may be long; and the key, which the
server was sent, is found again in it however it is written. urllib3 opens connections, and h11
knows what is said on them; bytes are received here, because of the deadline.
"""

from __future__ import annotations

import base64
import json
import re
import time
import weakref
import zlib
from contextlib import suppress
from functools import cache
from http.client import HTTPException, RemoteDisconnected
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import h11
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from pytest_maxrandom.host.limits import limits, raised

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_BETWEEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^][{}"]+', re.DOTALL)
_LEVELS = {91: 1, 123: 1, 93: -1, 125: -1}
_CONNECT = 10.0
"""Seconds at most in which a connection must stand."""
_PIECE = _HEAD = 65_536
"""Bytes that are read at once, and those of all headers at most."""
_ENCODED = 8
"""Letters from which on a key is looked for in base64 and in hexadecimal digits, too."""


class Unusable(Exception):
    """An answer may not be read; says why, after whose it is."""


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes
    """Unpacked."""


class Server:
    """A server that is asked often, over connections that are kept, one request at a time on each.

    Parameters
    ----------
    proxy : str, optional
        Address of what is asked in its place, as the environment names it.
    """

    def __init__(self, scheme: str, host: str, port: int | None, proxy: str | None = None) -> None:
        self._scheme, self._host, self._port = scheme, host.strip("[]"), port
        self._name = host if port is None else f"{host}:{port}"
        self._proxy = None if proxy is None else _manager(proxy)
        self._idle: list[HTTPConnection] = []
        weakref.finalize(self, _close, self._idle)

    def asked(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: float,
    ) -> Answer:
        """Send a request, and return the answer; redirects are not followed.

        Parameters
        ----------
        timeout : float
            Seconds in which the request must be sent, and then the whole answer be there.

        Raises
        ------
        Unusable
            If it is longer than it may be, or packed in a way that nobody asked for.
        urllib3.exceptions.HTTPError, http.client.HTTPException, OSError
            If it does not come, or does not in time.
        """
        own = {"Host": self._name, "Accept-Encoding": "identity", **headers}
        if body is not None:
            own |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if self._proxy is not None and self._scheme == "http":
            path, own = f"http://{self._name}{path}", own | {**self._proxy.proxy_headers}
        protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD)
        request = h11.Request(method=method, target=path, headers=list(own.items()))
        events = (request, *([h11.Data(body)] if body else []), h11.EndOfMessage())
        connection = self._connected(timeout)
        try:
            # A server may refuse a request, and close, before it has read all of it.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sock.settimeout(timeout)
                sent = b"".join(protocol.send(event) or b"" for event in events)
                connection.sock.sendall(sent)  # each piece would wake the server
            status, answered, raw = _received(protocol, connection.sock, timeout)
        except h11.RemoteProtocolError as error:
            raise HTTPException(str(error)) from None
        finally:
            whole = protocol.our_state is protocol.their_state is h11.DONE
            if whole and not any(protocol.trailing_data):
                self._idle.append(connection)
            else:
                connection.close()
        return Answer(status, answered, _unpacked(answered.get("content-encoding"), raw))

    def _connected(self, timeout: float) -> HTTPConnection:
        """Return a connection that the server has not closed, as far as is known."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                connection = self._idle.pop()
                if connection.is_connected:
                    return connection
                connection.close()
        seconds, proxy = min(_CONNECT, timeout), self._proxy
        if proxy is None:
            kind = HTTPSConnection if self._scheme == "https" else HTTPConnection
            connection = kind(self._host, self._port, timeout=seconds)
        else:
            assert proxy.proxy is not None
            assert proxy.proxy.host is not None
            through = "https" in (self._scheme, proxy.proxy.scheme)
            connection = (HTTPSConnection if through else HTTPConnection)(
                proxy.proxy.host,
                proxy.proxy.port,
                timeout=seconds,
                proxy=proxy.proxy,
                proxy_config=proxy.proxy_config,
            )
            if self._scheme == "https":
                at = (self._host, self._port or 443, proxy.proxy_headers)
                connection.set_tunnel(*at, scheme=proxy.proxy.scheme or "http")
        connection.connect()
        return connection


server = cache(Server)
"""Returns the server at an address; all that ask it share its connections."""


def _manager(proxy: str) -> urllib3.ProxyManager:
    at = urllib3.util.parse_url(proxy if "://" in proxy else f"http://{proxy}")
    said = urllib3.make_headers(proxy_basic_auth=unquote(at.auth)) if at.auth else None
    return urllib3.ProxyManager(at._replace(auth=None).url, proxy_headers=said)


def _close(connections: list[HTTPConnection]) -> None:
    for connection in connections:
        connection.close()


def _received(
    protocol: h11.Connection, sock: socket.socket, seconds: float
) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body of the answer to what `protocol` was sent.

    The timeout of a socket is for each read alone, so it is lowered to what is left.
    """
    until, most = time.monotonic() + seconds, limits().answer_mb * 1_000_000
    head, raw, begun = None, bytearray(), False
    while True:
        event = protocol.next_event()
        if event is h11.NEED_DATA:
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError("timed out")
            sock.settimeout(left)
            part = sock.recv(_PIECE)
            if not (part or begun):
                raise RemoteDisconnected("the connection ends without an answer")
            begun = True
            protocol.receive_data(part)
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            raw += event.data
        if head is not None and (isinstance(event, h11.EndOfMessage) or len(raw) > most):
            break
    headers: dict[str, str] = {}
    for key, value in head.headers:
        name, text = key.decode("latin-1"), value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return head.status_code, headers, bytes(raw)


def _unpacked(packed: str | None, raw: bytes) -> bytes:
    most = limits().answer_mb * 1_000_000
    packed = (packed or "").strip().casefold()
    if packed in ("gzip", "x-gzip", "deflate"):
        try:
            raw = zlib.decompressobj(47).decompress(raw, most + 1)
        except zlib.error as error:
            raise Unusable(f"answers with damaged {packed}") from error
    elif packed not in ("", "identity"):
        raise Unusable("packs its answers as nobody asked for; expected plain JSON")
    if len(raw) > most:
        raise Unusable(
            f"answers with more than {most // 1_000_000:,} MB; if it should, {raised('answer_mb')}"
        )
    return raw


def parsed(raw: bytes) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is no JSON, or nested deeper than any server's answer.
    """
    most = limits().answer_depth
    if raw.count(b"[") + raw.count(b"{") > most:
        levels = map(_LEVELS.__getitem__, _BETWEEN.sub(b"", raw).replace(b'"', b""))
        if max(accumulate(levels), default=0) > most:
            raise ValueError("nested too deeply")
    return json.loads(raw)


class Key:
    """A key, which no message and no result may show.

    Parameters
    ----------
    text : str
        Printable ASCII.
    secret : int
        Letters from which on it is looked for in values, not in messages only: shorter ones may be
        words that a model writes.
    """

    def __init__(self, text: str, secret: int = 16) -> None:
        self.text = text
        self._secret = secret
        forms = ["".join(map(_ways, text))]
        if len(text) >= _ENCODED:
            forms += [f"(?i:{text.encode().hex()})", *map(re.escape, _in_base64(text.encode()))]
        self._found = re.compile("|".join(forms))

    def removed(self, text: str) -> str:
        """Return a text that may be shown, since a server may repeat what it was sent."""
        return self._found.sub("***", text)

    def removed_from(self, value: Any) -> Any:
        """Return a value of JSON that may be kept."""
        if len(self.text) < self._secret:
            return value
        if isinstance(value, str):
            return self.removed(value)
        if isinstance(value, list):
            return [self.removed_from(each) for each in value]
        if isinstance(value, dict):
            return {self.removed(key): self.removed_from(each) for key, each in value.items()}
        return value


def _ways(letter: str) -> str:
    """Return a pattern of the ways to write a letter: plainly, in JSON, in an address, in HTML."""
    digits = f"{ord(letter):02x}"
    return (
        rf"(?:\\*{re.escape(letter)}|%(?:25)*(?i:{digits})|\\+(?i:u00|x){{1}}(?i:{digits})"
        rf"|&\#0*{ord(letter)};|&\#[xX]0*(?i:{digits});)"
    )


def _in_base64(key: bytes) -> list[str]:
    """Return what of base64 a key alone determines, at each place at which it may begin."""
    found = []
    for before in range(3):
        text = base64.b64encode(bytes(before) + key).decode()
        core = text[(0, 2, 3)[before] : (before + len(key)) * 8 // 6]
        found += [core, core.translate(str.maketrans("+/", "-_"))]
    return found
