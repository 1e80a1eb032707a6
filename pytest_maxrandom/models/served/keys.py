"""Which key may be sent to which server, as the runner says."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ModelError

KEYS = "MAXRANDOM_API_KEYS"
"""Environment variable of the runner: which host may be sent the key in which variable."""
LOCAL = ("localhost", "127.0.0.1", "::1")
"""Hosts that are this machine, to which nothing has to be encrypted."""


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
            f"it; whoever runs the suite sets {KEYS}={parts.netloc}={name} outside the repository"
        )
    if parts.scheme != "https" and host not in LOCAL:
        raise ModelError(f"the key in {name} is not sent to {url} unencrypted; expected https")
    if not (key := os.environ.get(name, "").strip()):
        raise ModelError(f"the variable {name} that `api_key_env` names is not set")
    if not key.isascii() or not key.isprintable():  # a library's error would show it
        raise ModelError(
            f"the variable {name} that `api_key_env` names cannot hold a key: it has a line break, "
            "or a character outside ASCII"
        )
    return key
