"""The process in which math-verify compares answers: it may be ended, and imports nothing else.

Each line is a pair of texts as JSON, what was said and the reference. It is answered by two lines:
an empty one when it is taken up, which is after all that must be loaded, and what was found.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import sys
from typing import Any

_WORD, _COMMAND = re.compile("[A-Za-z]{2}"), re.compile(r"\\[A-Za-z]+")
_NEAR = 1e-6
"""Of the digits to which math-verify rounds."""
_PLACES = (0.7390851, 1.3246717, 2.2360679)
"""At which two formulas are compared first: most of those that differ do so there."""


@functools.lru_cache(maxsize=2**14)
def _parsed(text: str) -> tuple[Any, ...]:
    from math_verify import parse

    # As a formula words would be products of letters, in whatever order.
    is_formula = not _WORD.search(_COMMAND.sub("", text)) and "$" not in text
    is_formula &= "\\boxed" not in text
    return tuple(parse(f"${text}$" if is_formula else text, parsing_timeout=None))


@functools.lru_cache(maxsize=2**14)
def _values(text: str) -> tuple[complex, ...] | None:
    """Return the values of a formula at some places; None where it is none, or has no such ones."""
    import sympy

    parsed = _parsed(text)
    if not parsed or not isinstance(parsed[0], sympy.Expr):
        return None
    names = sorted(parsed[0].free_symbols, key=str)
    values = []
    for shift in _PLACES:
        at = {name: shift + place / 7 for place, name in enumerate(names)}
        try:
            values.append(complex(parsed[0].evalf(15, subs=at)))
        except (TypeError, ValueError, OverflowError):
            return None
    return tuple(values)


def _same(answer: str, reference: str) -> bool:
    from math_verify import verify

    one, other = _values(answer), _values(reference)
    if one is not None and other is not None:
        pairs = zip(one, other, strict=True)
        if any(abs(a - b) > 2 * _NEAR * max(1, abs(b)) for a, b in pairs):
            return False
    gold, target = list(_parsed(reference)), list(_parsed(answer))
    return bool(gold and target and verify(gold, target, timeout_seconds=None))


def main() -> None:
    """Answer until nobody asks."""
    logging.disable()
    _same("x", "x")  # math-verify loads much at its first comparison
    for line in sys.stdin:
        sys.stdout.write("\n")
        sys.stdout.flush()
        try:
            found = _same(*json.loads(line))
        except Exception:
            found = False
        sys.stdout.write(f"{int(found)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
