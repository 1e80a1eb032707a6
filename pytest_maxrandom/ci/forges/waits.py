"""When a server wants the next request, from what it says and from how often it failed."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from email.message import Message

_LIMITS = ("secondary rate limit", "abuse detection mechanism")
"""How GitHub, and older GitHub Enterprise, name the limit that no header tells."""


def is_limited(status: int, headers: Message, content: Any) -> bool:
    """Tell a rate limit from a refusal: both can be a 403 of GitHub's.

    GraphQL answers 200 even then, and says it in its list of errors.

    Parameters
    ----------
    content : object
        The answer's JSON, if any.
    """
    if status == 429:
        return True
    found = content if isinstance(content, dict) else {}
    if status == 403:
        message = str(found.get("message")).lower()
        return (
            "Retry-After" in headers
            or headers.get("X-RateLimit-Remaining") == "0"
            or any(limit in message for limit in _LIMITS)
        )
    errors = found.get("errors") if status == 200 else None
    return isinstance(errors, list) and any(
        isinstance(error, dict) and error.get("type") == "RATE_LIMITED" for error in errors
    )


def asked_for(headers: Message) -> float | None:
    """Return how many seconds the server asks to wait, if it does."""
    after = headers.get("Retry-After", "")
    if after.isascii() and after.isdigit():
        return float(after)
    now = _date(headers.get("Date", "")) or time.time()
    if (then := _date(after)) is not None:
        return max(0.0, then - now)
    for prefix in ("X-RateLimit", "RateLimit"):
        reset = headers.get(f"{prefix}-Reset", "")
        if headers.get(f"{prefix}-Remaining") == "0" and reset.isascii() and reset.isdigit():
            return max(0.0, float(reset) - now) + 1.0
    return None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def exponential(failures: int) -> float:
    """Seconds to wait after so many failures; a lot keeps clients from coming back together."""
    return 2.0**failures * random.uniform(1.0, 1.25)
