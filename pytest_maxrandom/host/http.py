"""What a server may take and give back: seconds and bytes of an answer, its depth, and no key.

A server is anybody's, whether it has a model or the comments of a forge. So an answer has one
deadline, however its bytes drip; it is unpacked as far as it may be long; and the key, which the
server was sent, is found again in it however it is written. This is the only module that knows how
urllib3 reads.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import re
import time
import zlib
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from pytest_maxrandom.host.limits import limits, raised

if TYPE_CHECKING:
    import socket

_BETWEEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^][{}"]+', re.DOTALL)
_LEVELS = {91: 1, 123: 1, 93: -1, 125: -1}
_CONNECTIONS = 1000
"""Connections to one server that are kept."""
_ENCODED = 8
"""Letters from which on a key is looked for in base64 and in hexadecimal digits, too."""


class _Timed(io.RawIOBase):
    """The bytes of one answer, until its deadline: that of a socket is for each read alone."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._sock = raw, sock
        seconds = sock.gettimeout()
        self._until = None if seconds is None else time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._until is not None:
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
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


@cache
def connections() -> urllib3.PoolManager:
    """Return the connections of this process to all servers, which are asked once each time.

    A redirect could lead a key elsewhere, and a server that was gone may be another.
    """
    never = urllib3.Retry(
        total=None,
        connect=0,
        read=0,
        redirect=False,
        status=0,
        other=0,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    return pool(num_pools=100, maxsize=_CONNECTIONS, retries=never)


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
    most = limits().answer_mb * 1_000_000
    response = pool.request(method, url, redirect=False, preload_content=False, **settings)
    try:
        raw = b""
        while len(raw) <= most:  # that nothing more comes, and all came, is told by the last read
            if not (part := response.read(most + 1 - len(raw), decode_content=False)):
                break
            raw += part
        packed = response.headers.get("Content-Encoding", "").strip().casefold()
        if packed in ("gzip", "x-gzip", "deflate"):
            try:
                raw = zlib.decompressobj(47).decompress(raw, most + 1)
            except zlib.error as error:
                raise Unusable(f"answers with damaged {packed}") from error
        elif packed not in ("", "identity"):
            raise Unusable("packs its answers as nobody asked for; expected plain JSON")
        if len(raw) > most:
            raise Unusable(
                f"answers with more than {most // 1_000_000:,} MB; if it should, "
                f"{raised('answer_mb')}"
            )
    except BaseException:
        response.close()
        raise
    finally:
        response.release_conn()
    return response, raw


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
