"""What a server may take and give back: seconds and bytes of an answer, its depth, and no key.

A server is anybody's, whether it has a model or the comments of a forge. So an answer has one
deadline, however its bytes drip; it is unpacked as far as it may be long; and the key, which the
server was sent, is found again in it however it is written. This is the only module that knows how
urllib3 reads.
"""

from __future__ import annotations

import base64
import functools
import http.client
import io
import json
import re
import time
import weakref
import zlib
from contextlib import suppress
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from pytest_maxrandom.host.limits import limits, raised

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

_BETWEEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^][{}"]+', re.DOTALL)
_LEVELS = {91: 1, 123: 1, 93: -1, 125: -1}
_CONNECT = 10.0
"""Seconds at most in which a connection must stand."""
_ENCODED = 8
"""Letters from which on a key is looked for in base64 and in hexadecimal digits, too."""


class _Timed(io.RawIOBase):
    """The bytes of one answer, until its deadline: that of a socket is for each read alone."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._sock = raw, sock
        seconds = sock.gettimeout()
        self._until = None if seconds is None else time.monotonic() + seconds
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._begun and self._until is not None:
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
        self._begun = True
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Timed(self.fp.detach(), sock))


class _Http(HTTPConnection):
    response_class = _Answer


class _Https(HTTPSConnection):
    response_class = _Answer


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


def pool(proxy: str | None = None, **settings: Any) -> urllib3.PoolManager:
    """Return a pool of connections whose read timeout is that of a whole answer.

    Parameters
    ----------
    proxy : str, optional
        Address of what is asked in place of each server, as the environment names it.
    """
    if proxy is None:
        made = urllib3.PoolManager(**settings)
    else:
        at = urllib3.util.parse_url(proxy if "://" in proxy else f"http://{proxy}")
        said = urllib3.make_headers(proxy_basic_auth=unquote(at.auth)) if at.auth else None
        made = urllib3.ProxyManager(at._replace(auth=None).url, proxy_headers=said, **settings)
    made.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return made


class Server:
    """A server that is asked often, over connections that are kept, one request at a time on each.

    What a pool of urllib3 does besides takes the processor longer than all the rest of a request.
    So its connections are opened here, and what is said on them is written and read here.

    Parameters
    ----------
    scheme, host, port
        Of its address.
    """

    def __init__(self, scheme: str, host: str, port: int | None) -> None:
        self._opened = _Https if scheme == "https" else _Http
        self._host, self._port = host.strip("[]"), port
        self._name = host if port is None else f"{host}:{port}"
        self._idle: list[_Http | _Https] = []
        weakref.finalize(self, _close, self._idle)

    def asked(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: float,
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request, and return the answer and its body; redirects are not followed.

        Parameters
        ----------
        timeout : float
            Seconds in which the request must be sent, and then the whole answer be there.

        Raises
        ------
        Unusable
            As :func:`asked`.
        urllib3.exceptions.HTTPError, http.client.HTTPException, OSError
            If it does not come, or does not in time.
        """
        own = {"Host": self._name, "Accept-Encoding": "identity", **headers}
        if body is not None:
            own |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = "".join(f"{key}: {value}\r\n" for key, value in own.items())
        head = f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")
        connection = self._connected(timeout)
        kept = False
        try:
            if connection.sock.gettimeout() != timeout:
                connection.sock.settimeout(timeout)
            # A server may refuse a request, and close, before it has read all of it.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sock.sendall(head + (body or b""))  # each piece would wake the server
            response = _Answer(connection.sock, method=method)
            response.begin()
            raw = _unpacked(response.headers.get("Content-Encoding"), _body_of(response.read))
            if response.length:
                raise http.client.IncompleteRead(raw, response.length)
            kept = not response.will_close
            return response, raw
        finally:
            if kept:
                self._idle.append(connection)
            else:
                connection.close()

    def _connected(self, timeout: float) -> _Http | _Https:
        """Return a connection that the server has not closed, as far as is known."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                connection = self._idle.pop()
                if connection.is_connected:
                    return connection
                connection.close()
        connection = self._opened(self._host, self._port, timeout=min(_CONNECT, timeout))
        connection.connect()
        return connection


def _close(connections: list[_Http | _Https]) -> None:
    for connection in connections:
        connection.close()


server = cache(Server)
"""Returns the server at an address; all that ask it share its connections."""


class Unusable(Exception):
    """An answer may not be read; says why, after whose it is."""


def asked(
    pool: urllib3.PoolManager, method: str, url: str, **settings: Any
) -> tuple[urllib3.BaseHTTPResponse, bytes]:
    """Send a request, and return the answer and its body, unpacked; redirects are not followed.

    Raises
    ------
    Unusable
        If it is longer than it may be, or packed in a way that nobody asked for.
    urllib3.exceptions.HTTPError
        If it does not come in time.
    """
    response = pool.request(method, url, redirect=False, preload_content=False, **settings)
    try:
        raw = _body_of(functools.partial(response.read, decode_content=False))
        return response, _unpacked(response.headers.get("Content-Encoding"), raw)
    except BaseException:
        response.close()
        raise
    finally:
        response.release_conn()


def _body_of(read: Callable[[int], bytes]) -> bytes:
    """Return the bytes of an answer, and one more than it may be long at most."""
    most = limits().answer_mb * 1_000_000
    raw = b""
    while len(raw) <= most:  # that nothing more comes, and all came, is told by the last read
        if not (part := read(most + 1 - len(raw))):
            break
        raw += part
    return raw


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
    levels = map(_LEVELS.__getitem__, _BETWEEN.sub(b"", raw).replace(b'"', b""))
    if max(accumulate(levels), default=0) > limits().answer_depth:
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
