"""Values in the answers of a forge, which may hold anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ForgeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message

    from pytest_maxrandom.ci.forges.http import Answer, Client


def pages(
    client: Client, path: str, following: Callable[[Message], str | None]
) -> Iterator[Answer]:
    """Read one page of a list after the other.

    A page that was refused is the last one, for the caller to explain.

    Raises
    ------
    ForgeError
        If a page is no list of objects, or refers back to an earlier one.
    """
    seen = set()
    next_path: str | None = path
    while next_path is not None:
        seen.add(next_path)
        answer = client.send("GET", next_path)
        refused = answer.status != 200
        if not refused and not _is_list_of_objects(answer.content):
            raise ForgeError(f"{client.host}: its list of {path} is none; is it the right address?")
        yield answer
        next_path = None if refused else following(answer.headers)
        if next_path in seen:
            raise ForgeError(f"{client.host}: the pages of {path} go round in a circle")


def text(content: Any, key: str) -> str:
    """Return a text of an object.

    Raises
    ------
    ForgeError
        If there is none.
    """
    value = content.get(key) if isinstance(content, dict) else None
    if not isinstance(value, str):
        raise ForgeError(f"the forge's answer has no text '{key}'; is it the right address?")
    return value


def integer(content: Any, key: str) -> int:
    """Return an integer of an object.

    Raises
    ------
    ForgeError
        If there is none.
    """
    value = content.get(key) if isinstance(content, dict) else None
    if not isinstance(value, int):
        raise ForgeError(f"the forge's answer has no number '{key}'; is it the right address?")
    return value


def _is_list_of_objects(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(item, dict) for item in content)
