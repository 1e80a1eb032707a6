"""What a server says of itself and of a model, and whether it is still the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.base import Identity
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server says of itself and of the model.

    Attributes
    ----------
    server, version : str
        Its software.
    model : str
        The name under which it serves the model.
    told : mapping of str to str
        What it tells of the model besides: its file, its size, its parameters. Two servers that
        tell the same of a name serve the same model, as far as they tell.
    context_length : int or None
        The longest text in tokens.
    """

    server: str
    version: str
    model: str
    told: Mapping[str, str] = field(default_factory=dict)
    context_length: int | None = None


def identity_of(serving: Serving, *, chat: bool = False) -> Identity:
    """Return what determines a served model's numbers, as far as the server tells.

    The address is no part of it: the same model at another one is the same. That prompts are put
    into a chat template is.
    """
    told = [part for key, value in sorted(serving.told.items()) for part in (key, _last(value))]
    model = digest("served", _last(serving.model), *told, *(["chat"] if chat else []))
    # The server does not say what its processors are.
    arithmetic = Arithmetic(
        f"a server of {serving.server}", "its own kernels", {serving.server: serving.version}
    )
    return Identity(model, arithmetic, model)


def same_server(server: str, before: Serving, now: Serving) -> None:
    """Refuse a server that says of itself what it did not say before.

    Raises
    ------
    ModelError
        In one sentence.
    """
    if now != before:
        raise ModelError(
            f"the server at {server} came back changed: now {_said(now)}, before {_said(before)}; "
            "its answers since then are not used"
        )


def _said(serving: Serving) -> str:
    told = "".join(f", {key} {value}" for key, value in serving.told.items())
    return f"{serving.server} {serving.version} with {serving.model}{told}"


def _last(name: str) -> str:
    """Return the last part of a path, since the same model has another one on another machine."""
    return PurePosixPath(name).name if name.startswith("/") else name
