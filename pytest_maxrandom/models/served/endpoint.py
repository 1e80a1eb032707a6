"""What is sent to a server and what comes back: keys, retries, and refusals in one sentence."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ModelError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse

KEYS = "MAXRANDOM_API_KEYS"
"""Environment variable of the runner: which host may be sent the key in which variable."""
_RETRIED = (429, 500, 502, 503, 504)
BACKOFF = 0.5
"""Seconds of the first pause; each is twice as long as the one before."""
_LONGEST_PAUSE = 10.0
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Endpoint:
    """A server at an address, which is asked by any number of threads.

    What a server refuses for a while (429, 5xx) is asked again, after as long as it says. Where it
    cannot be reached any more, it is waited for, and `broken` says that it may be another since.

    Parameters
    ----------
    url : str
        Address of the server, with or without the ``/v1`` of its programming interface.
    key_name : str or None
        Environment variable with the key, which is sent only where :func:`key_for` finds it.
    timeout : float
        Seconds that an answer may take, and that a server that is gone is waited for.
    connections : int
        Requests that are under way at once, at most.

    Attributes
    ----------
    broken : bool
        Whether a connection has failed since this was last set to False.

    Raises
    ------
    ModelError
        If the key must not be sent, or is not there.
    """

    def __init__(
        self, url: str, *, key_name: str | None = None, timeout: float = 600, connections: int = 1
    ) -> None:
        try:
            import urllib3
        except ImportError:
            raise ModelError(
                "a model behind a server needs urllib3, which is not installed; "
                'pip install "pytest-maxrandom[served]"'
            ) from None
        self.url = url.rstrip("/").removesuffix("/v1")
        self.broken = False
        self._reached = False
        self._timeout = timeout
        self._key = key_for(self.url, key_name) if key_name else None
        self._headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._pool = urllib3.PoolManager(
            maxsize=connections,
            block=True,
            headers={"User-Agent": "pytest-maxrandom"},
            timeout=urllib3.Timeout(connect=min(10, timeout), read=timeout),
            # A lost connection is another matter, since the server may be another afterwards.
            retries=urllib3.Retry(
                total=None,
                connect=0,
                read=0,
                other=0,
                redirect=False,
                status=5,
                status_forcelist=_RETRIED,
                allowed_methods=None,
                backoff_factor=BACKOFF,
                raise_on_status=False,
                retry_after_max=int(timeout),
            ),
        )

    def __str__(self) -> str:
        return self.url

    def get(self, path: str) -> Any:
        """Return what stands at a path.

        Raises
        ------
        ModelError
            As :meth:`post`.
        """
        return self._json("GET", path, None)

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
            return json.loads(raw)
        except ValueError:
            shown = quoted(self._without_key(raw))
            message = f"{self.url}{path} answers with {shown}, which is no JSON; expected the "
            raise ModelError(
                f"{message}address of a server of the kind that `backend` says"
            ) from None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> bytes:
        from urllib3.exceptions import HTTPError

        headers = {**self._pool.headers, **self._headers}
        began, pause = time.monotonic(), BACKOFF
        while True:
            try:
                response = self._pool.request(method, self.url + path, json=body, headers=headers)
                break
            except HTTPError as error:
                self.broken = True
                gone = time.monotonic() - began
                if not self._reached or gone + pause > self._timeout:
                    raise ModelError(self._unreachable(error, gone)) from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._reached = True
        if response.status >= 300:
            raise self._refusal(path, response)
        return bytes(response.data)

    def _unreachable(self, error: Exception, waited: float) -> str:
        reason = getattr(error, "reason", None) or error
        why = " ".join(str(reason).rpartition(": ")[2].split()) or type(error).__name__
        since = f" and did not come back in {waited:.0f} s" if self._reached else ""
        return (
            f"the server at {self.url} cannot be reached{since} ({self._without_key(why)}); start "
            "it, or correct `url`"
        )

    def _refusal(self, path: str, response: BaseHTTPResponse) -> ModelError:
        """Say what a status other than 200 means."""
        status = response.status
        said = quoted(self._without_key(_said(response.data)), 300)
        if status < 400:
            target = urlsplit(response.headers.get("Location", "")).hostname or "elsewhere"
            return ModelError(
                f"the server at {self.url} sends requests on to {target}, where neither a key nor "
                "a question follows; write the address itself as `url`"
            )
        if status in (401, 403):
            sent = (
                "the key in `api_key_env` is not valid there"
                if self._key
                else ("name the variable with its key by `api_key_env`")
            )
            return Refused(status, f"the server at {self.url} refuses access ({said}); {sent}")
        if status in _RETRIED:
            return Refused(
                status, f"the server at {self.url} answered {status} time and again: {said}"
            )
        return Refused(status, f"the server at {self.url} refuses {path} ({status}): {said}")

    def _without_key(self, text: str | bytes) -> str:
        """Return a text that may be shown, since a server may repeat what it was sent."""
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return shown.replace(self._key, "***") if self._key else shown


class Refused(ModelError):
    """A server refuses what is asked of it.

    Attributes
    ----------
    status : int
        Of HTTP.
    """

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def key_for(url: str, name: str) -> str:
    """Return the key of a server, if the runner allows that it is sent there.

    A suite comes with a pull request and may name any address and any variable. So what is sent
    where is said outside of the repository, as ``MAXRANDOM_API_KEYS=HOST=VARIABLE,HOST:PORT=...``.

    Raises
    ------
    ModelError
        If that is not allowed, the variable is not set, or the connection is not encrypted.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    allowed = {
        tuple(part.strip() for part in pair.rsplit("=", 1))
        for pair in os.environ.get(KEYS, "").split(",")
        if "=" in pair
    }
    if not {(host, name), (parts.netloc, name)} & allowed:
        raise ModelError(
            f"the key in {name} is not sent to {parts.netloc}, because the runner does not allow "
            f"it; who runs the suite sets {KEYS}={parts.netloc}={name} outside of the repository"
        )
    if parts.scheme != "https" and host not in _LOCAL:
        raise ModelError(f"the key in {name} is not sent to {url} unencrypted; expected https")
    if not (key := os.environ.get(name, "").strip()):
        raise ModelError(f"the variable {name} that `api_key_env` names is not set")
    return key


def _said(raw: bytes) -> str:
    """Return the sentence in a server's refusal."""
    try:
        found = json.loads(raw)
        for step in ("error", "message"):
            found = found.get(step, found) if isinstance(found, dict) else found
    except ValueError:
        found = raw.decode("utf-8", "replace")
    return " ".join(str(found).split())
