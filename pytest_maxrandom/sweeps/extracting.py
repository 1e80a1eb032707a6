"""What of a generated answer is read: by a pattern of the suite, or by the filters of lm-eval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.host.limits import limits, raised

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from pytest_maxrandom.tasks.references import Filter

_NOTHING = "[invalid]"
"""What filters of lm-eval return, unless told otherwise, where they find nothing."""


def found(pattern: str, text: str) -> re.Match[str] | None:
    """Return where a pattern is first found in what a model wrote.

    The package `regex` reads what Python's `re` does, and can be told to give up. Where it does,
    there is no reading at all: an answer must not be wrong on a slow machine alone.

    Raises
    ------
    ScoreError
        If that takes too long, or the package is missing.
    """
    return _by_regex(  # type: ignore[no-any-return]
        lambda regex, seconds: regex.search(pattern, text, flags=regex.VERSION0, timeout=seconds),
        f"`generation: pattern: {pattern}`",
        text,
    )


def _by_regex(look: Callable[[Any, float], Any], what: str, text: str) -> Any:
    try:
        import regex
    except ImportError:
        raise ScoreError(
            f"{what.partition(':')[0].strip('`')} needs the package regex to read answers, which "
            "is not installed; `pip install regex`"
        ) from None
    seconds = limits().pattern_seconds
    try:
        return look(regex, seconds)
    except TimeoutError:
        raise ScoreError(
            f"{what} takes more than {seconds} s on an answer of {len(text):,} characters; write "
            f"it without repetitions within repetitions, or {raised('pattern_seconds')}"
        ) from None


def filtered(text: str, filters: tuple[Filter, ...]) -> str | None:
    """Return what the filters of a task of lm-evaluation-harness leave of an answer.

    Returns
    -------
    str or None
        None where they find nothing, and no other text is to stand for that.
    """
    for each in filters:
        settings = dict(each.settings)
        match each.name:
            case "regex":
                one = _matched(text, **settings)
                if one is None:
                    return None
                text = one
            case "remove_whitespace":
                text = text.strip()
            case "lowercase":
                text = text.lower()
            case "uppercase":
                text = text.upper()
    return text


def _matched(
    text: str,
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
    group_select: int = 0,
    fallback: str = _NOTHING,
) -> str | None:
    """Do what the filter `regex` of lm-evaluation-harness does; None for its usual fallback."""
    every = _by_regex(
        lambda regex, seconds: regex.findall(
            regex_pattern, text, flags=regex.VERSION0, timeout=seconds
        ),
        f"`regex_pattern: {regex_pattern}`",
        text,
    )
    nothing = None if fallback == _NOTHING else fallback
    if not every:
        return nothing
    match = every[group_select]
    if isinstance(match, tuple):
        groups = [group for group in match if group]
        match = groups[0] if groups else nothing
    return None if match is None else str(match).strip()
