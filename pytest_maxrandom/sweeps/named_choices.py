"""What a model has written, read as one of the choices of an example: a rule, and nothing else.

The rule, in this order:

1. A text that is the label or the text of a choice is that choice.
2. So is one that begins with it, as whole words; of several the longest.
3. Else the only choice of which the label or the text occurs in it, as whole words.
4. Else nothing is chosen.
5. Nor is a choice whose text ends an answer that was cut there, where the text of another one goes
   on from it: "New York" may have been about to be "New York City".

Case, spaces, quotes, brackets and closing punctuation at both ends do not count. A label of one
letter counts within other words in its own case only, since "a" is a word. Where choices have
labels, a choice's text that looks like the label of another one does not count.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2212", "''\"\"-")
_AROUND = " \"'`*_«»„()[]{}<>"
_CLOSING = ".,;:!?…。"
_BEFORE = r"(?<!\w)(?<!\w[-./,'])(?<!-)"
_AFTER = r"(?!\w|[-./,:']\w)"


def choices_named(
    text: str, labels: Sequence[str], texts: Sequence[str], *, cut: bool = False
) -> frozenset[int]:
    """Return which choices a text names by the rule above.

    Parameters
    ----------
    labels : sequence of str
        What answers with each choice; where choices have no labels, their texts.
    texts : sequence of str
        The text of each choice.
    cut : bool
        Whether the text was cut at its end: it then names none that may go on as another choice.

    Returns
    -------
    frozenset of int
        One place, or none; several if choices have the same text.
    """
    found = _named(text, tuple(labels), tuple(texts))
    if cut and _goes_on(text, found, tuple(labels), tuple(texts)):
        return frozenset()
    return found


@functools.lru_cache(maxsize=10_000)
def _named(text: str, labels: tuple[str, ...], texts: tuple[str, ...]) -> frozenset[int]:
    # First with all that it has at its ends, since a choice may be nothing but brackets.
    for shorn in (_spaced, _bare):
        whole = shorn(text).casefold()
        if whole and (found := _names(labels, texts, shorn).get(whole)):
            return found
    names, left = _names(labels, texts, _bare), _spaced(text)
    begun = _bare(text)
    by_length = sorted(names, key=len, reverse=True)
    patterns = {name: _pattern(name, labels + texts) for name in by_length}
    for name, pattern in patterns.items():
        if pattern.match(begun):
            return names[name]
    occurring: set[frozenset[int]] = set()
    for name, pattern in patterns.items():
        # What a longer name has taken is no occurrence of a shorter one.
        left, times = pattern.subn(" \0 ", left)
        if times:
            occurring.add(names[name])
    return occurring.pop() if len(occurring) == 1 else frozenset()


def _goes_on(
    text: str, chosen: frozenset[int], labels: tuple[str, ...], texts: tuple[str, ...]
) -> bool:
    """Tell whether a text may have been cut within the text of another choice."""
    names, end = _names(labels, texts, _bare), _spaced(text).casefold()
    # Where choices have labels, whoever begins with one does not go on with a text.
    own = [name for name in _names((), texts, _bare) if names[name] == chosen]
    return any(
        end.endswith(name) and longer.startswith(name) and names[longer] != chosen
        for name in own
        for longer in names
    )


@functools.lru_cache(maxsize=10_000)
def _names(
    labels: tuple[str, ...], texts: tuple[str, ...], shorn: Callable[[str], str]
) -> Mapping[str, frozenset[int]]:
    """Return which choices each name stands for; labels come before texts."""
    names: dict[str, frozenset[int]] = {}
    for known in (labels, texts):
        places: dict[str, set[int]] = {}
        for place, name in enumerate(known):
            places.setdefault(shorn(name).casefold(), set()).add(place)
        names = {name: frozenset(own) for name, own in places.items() if name} | names
    return names


def _spaced(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split())


def _bare(text: str) -> str:
    """Return a text without what does not count at its ends."""
    return _spaced(text).strip(_AROUND).rstrip(_CLOSING + _AROUND)


@functools.lru_cache(maxsize=10_000)
def _pattern(name: str, written: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a name among other words, given how names are written."""
    own = next(bare for bare in map(_bare, written) if bare.casefold() == name)
    exact = len(own) == 1 and own.isalpha()
    flags = re.NOFLAG if exact else re.IGNORECASE
    return re.compile(_BEFORE + re.escape(own) + _AFTER, flags)
