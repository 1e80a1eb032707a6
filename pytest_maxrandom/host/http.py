"""What a server may take and give back: seconds and bytes of an answer, its depth, and no key.

A server is anybody's, whether it has a model or the comments of a forge. So an answer has one
deadline, however its bytes drip; it is unpacked as far as it may be long; and the key, which the
server was sent, is found again in it however it is written. urllib3 opens connections; what is said
on them is written and read here, in a third of the time that its pools take of the processor.
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
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from pytest_maxrandom.host.limits import limits, raised

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_STATUS = re.compile(r"HTTP/1\.(\d) +(\d{3})(?: .*)?")
_BETWEEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^][{}"]+', re.DOTALL)
_LEVELS = {91: 1, 123: 1, 93: -1, 125: -1}
_CONNECT = 10.0
"""Seconds at most in which a connection must stand."""
_PIECE = _LINE = 65_536
"""Bytes that are read at once, and those of a line at most."""
_LINES = 200
"""Headers at most."""
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
            answer, kept = _answer(_Incoming(connection.sock, timeout))
            return answer
        finally:
            if kept:
                self._idle.append(connection)
            else:
                connection.close()

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


class _Incoming:
    """The bytes of one answer, until its deadline: that of a socket is for each read alone."""

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock, self._until = sock, time.monotonic() + seconds
        self._read, self._begun = bytearray(), False

    @property
    def is_over(self) -> bool:
        """Whether all that came was taken."""
        return not self._read

    def line(self) -> str:
        """Return the next line.

        Raises
        ------
        http.client.HTTPException
            If there is none, or none that ends.
        """
        while (end := self._read.find(b"\n")) < 0:
            if len(self._read) > _LINE:
                raise HTTPException("a line does not end")
            begun = self._begun
            if not self._more():
                if begun:
                    raise HTTPException("the answer ends in the middle")
                raise RemoteDisconnected("the connection ends without an answer")
        line = self._read[:end].rstrip(b"\r").decode("latin-1")
        del self._read[: end + 1]
        return line

    def part(self, size: int) -> bytes:
        """Return so many bytes, or those before the server ends."""
        while len(self._read) < size and self._more():
            pass
        part = bytes(self._read[:size])
        del self._read[:size]
        return part

    def _more(self) -> bool:
        """Wait for more; return whether any came."""
        if self._begun:
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
        self._begun = True
        part = self._sock.recv(_PIECE)
        self._read += part
        return bool(part)


def _answer(incoming: _Incoming) -> tuple[Answer, bool]:
    """Return an answer, and whether more can be asked on its connection."""
    status, headers, kept = _head(incoming)
    while status < 200:
        status, headers, kept = _head(incoming)
    most = limits().answer_mb * 1_000_000
    length = headers.get("content-length", "")
    if status in (204, 304):
        raw = b""
    elif "chunked" in headers.get("transfer-encoding", "").casefold():
        raw = _chunks(incoming, most + 1)
    elif length.isdecimal():
        raw = incoming.part(min(int(length), most + 1))
        if len(raw) < min(int(length), most + 1):
            raise HTTPException(f"the answer ends after {len(raw):,} of {int(length):,} bytes")
    else:
        raw, kept = incoming.part(most + 1), False
    answer = Answer(status, headers, _unpacked(headers.get("content-encoding"), raw, most))
    return answer, kept and incoming.is_over


def _head(incoming: _Incoming) -> tuple[int, dict[str, str], bool]:
    """Return a status, headers, and whether the connection is kept."""
    if not (found := _STATUS.fullmatch(first := incoming.line())):
        raise BadStatusLine(first[:100])
    headers: dict[str, str] = {}
    for _ in range(_LINES):
        if not (line := incoming.line()):
            kept = found[1] != "0" and "close" not in headers.get("connection", "").casefold()
            return int(found[2]), headers, kept
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    raise HTTPException("too many headers")


def _chunks(incoming: _Incoming, most: int) -> bytes:
    """Return the bytes of chunks, as far as they may be many."""
    raw = bytearray()
    while len(raw) < most:
        try:
            size = int(incoming.line().partition(";")[0], 16)
        except ValueError:
            size = -1
        if size < 0:
            raise HTTPException("a chunk has no length")
        if not size:
            while incoming.line():  # what else is said of the answer
                pass
            break
        raw += incoming.part(min(size, most - len(raw)))
        if len(raw) < most and incoming.line():
            raise HTTPException("a chunk is longer than its length")
    return bytes(raw)


def _unpacked(packed: str | None, raw: bytes, most: int) -> bytes:
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
