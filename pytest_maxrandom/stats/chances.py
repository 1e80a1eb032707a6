"""What a user may give as the chance of one guess, and its one exact internal form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Rational, Real
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Chance: TypeAlias = (
        float | Fraction | Mapping[int, int] | Sequence[float | Fraction] | NDArray[np.floating]
    )

Groups: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Pairs (chance of a correct guess, number of examples with it), ascending by chance."""

_MOST_ODDS = 10**300
_ROUNDED = Fraction(1, 200)


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Check that ``value`` is an integer within limits and return it as an ``int``.

    NumPy integers and floats without a fractional part count as integers, booleans do not.

    Raises
    ------
    TypeError
        If ``value`` is no integer.
    ValueError
        If it lies outside ``least`` to ``most``.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} must be an integer, found {value!r} ({type(value).__name__})")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, found {number}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, found {number}")
    return number


def integers(
    name: str, values: ArrayLike, dimensions: int, *, narrow: bool = False
) -> NDArray[Any]:
    """Check that an array holds integers, has so many dimensions and is not empty; return it.

    It returns one of int64, but a narrow one as it is if it has signs.

    Raises
    ------
    TypeError, ValueError
        If it does not.
    """
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, found an array of {array.dtype}")
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(
            f"{name} must have {dimensions} dimension(s), none empty, found shape {array.shape}"
        )
    return array if narrow and array.dtype.kind == "i" else array.astype(np.int64)


def proportion(name: str, value: object) -> float:
    """Check that ``value`` is a real number from 0 to 1 and return it as a ``float``.

    Raises
    ------
    TypeError
        If ``value`` is no real number.
    ValueError
        If it is NaN or outside [0, 1].
    """
    return float(_probability(name, value))


def _probability(name: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, float | Real):
        raise TypeError(f"{name} must be a number, found {value!r} ({type(value).__name__})")
    real: float | Fraction
    if isinstance(value, Rational) and not isinstance(value, float):
        real = Fraction(value)
    else:
        real = float(value)
    if not 0 <= real <= 1:
        raise ValueError(f"{name} must be a probability from 0 to 1, found {value!r}")
    return Fraction(real)


def _chance(value: object) -> Fraction:
    exact = _probability("chance", value)
    right, wrong = exact.numerator, exact.denominator - exact.numerator
    if right and wrong and max(right, wrong) > _MOST_ODDS * min(right, wrong):
        raise ValueError(
            f"chance {value!r} lies closer to 0 or 1 than 1e-300, which no double can resolve; "
            "use exactly 0 or 1"
        )
    return exact


def _grouped(pairs: Iterable[tuple[Fraction, int]]) -> Groups:
    sizes: Counter[Fraction] = Counter()
    for chance, size in pairs:
        sizes[chance] += size
    # To compare the fractions themselves would take most of the time.
    return tuple(
        sorted(
            ((chance, size) for chance, size in sizes.items() if size),
            key=lambda group: (float(group[0]), group[0].numerator),
        )
    )


def chance_groups(chance: Chance, n: int | None = None) -> Groups:
    """Bring a chance of any accepted form into groups of equal exact chance.

    Parameters
    ----------
    chance
        One probability for all ``n`` examples (float or Fraction; a float stands for its exact
        binary value), a mapping {number of choices: number of examples}, or one probability
        for each example (sequence or one-dimensional array).
    n
        Number of examples; may be None where ``chance`` tells it, and must agree if given.

    Raises
    ------
    TypeError, ValueError
        If ``chance`` has another form, holds something that is no probability, has no example,
        or disagrees with ``n``.
    """
    examples = None if n is None else whole_number("n", n, 1)
    if isinstance(chance, str | bytes | set | frozenset):
        raise TypeError(
            "chance must be a probability, a mapping {choices: examples} or a sequence of "
            f"probabilities, found {type(chance).__name__}"
        )
    if isinstance(chance, Mapping):
        groups = _grouped(
            (
                Fraction(1, whole_number("number of choices in chance", choices, 1)),
                whole_number(f"number of examples with {choices} choices in chance", size, 0),
            )
            for choices, size in chance.items()
        )
    elif isinstance(chance, Iterable) and getattr(chance, "ndim", True):
        groups = _grouped((_chance(value), size) for value, size in Counter(chance).items())
    else:
        single = _chance(chance)
        if examples is None:
            raise ValueError("n is needed where chance is a single probability")
        return ((single, examples),)
    total = sum(size for _, size in groups)
    if total == 0:
        raise ValueError("chance names no example; n must be at least 1")
    if examples is not None and total != examples:
        raise ValueError(f"chance names {total} examples, but n is {examples}")
    return groups


def mean_chance(groups: Groups) -> float:
    """Mean chance over the examples of ``groups``, to within a unit in the last place."""
    if len(groups) == 1:
        return float(groups[0][0])
    total = math.fsum(float(chance) * size for chance, size in groups)
    return total / sum(size for _, size in groups)


def mean_of(groups: Groups) -> Fraction:
    """Return the exact mean chance."""
    total = sum((chance * size for chance, size in groups), Fraction())
    return total / sum(size for _, size in groups)


def choices_of(right: int, chance: Fraction) -> int:
    """Return of how many choices a guess is right with this chance, where `right` of them are.

    The nearest whole number: a chance that somebody wrote may be rounded.

    Examples
    --------
    >>> choices_of(2, Fraction(2, 5)), choices_of(1, Fraction("0.167"))
    (5, 6)
    """
    return round(right / chance)


def is_share(right: int, chance: Fraction) -> bool:
    """Whether `right` of a whole number of choices give this chance, to two decimals.

    Examples
    --------
    >>> is_share(1, Fraction("0.17")), is_share(3, Fraction("0.3")), is_share(1, Fraction("0.3"))
    (True, True, False)
    """
    return abs(Fraction(right, choices_of(right, chance)) - chance) <= _ROUNDED
