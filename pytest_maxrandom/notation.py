"""How numbers, and the parts of a claim, are written; what was not computed is a dash."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NONE = "-"

P_VALUES = {
    "p_max": "p_max",
    "union_p": "union p",
    "permutation_p": "permutation p",
    "baseline_p": "baseline p",
    "control_p": "control p",
    "incumbent_p": "incumbent p",
}
"""How p-values are written, by their names in a suite."""
BASELINES = {"max_random": "the maximum random baseline", "standard": "the standard baseline"}
"""What a result may be claimed to be above."""
_SMALLEST = 300
"""Beyond 1e-300 only the power of ten of a bound is shown."""
_LEAST = 1e-4
"""A smaller share is that of few among many thousands, and its digits say nothing."""
_NEARLY_ONE = 0.9995
"""From here on a probability would be rounded to 1, which it need not be."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A part of a claim that is not met, or cannot be.

    Attributes
    ----------
    part : str
        "beats", or the name of a p-value.
    p, level : float or None
        Its p-value, and the level that this is above.
    baseline : str or None
        What the result is not above: "max_random" or "standard".
    arrangements : int or None
        In how many ways the right answers can be shuffled, where these are too few.
    """

    part: str
    p: float | None = None
    level: float | None = None
    baseline: str | None = None
    arrangements: int | None = None

    def parameters(self) -> dict[str, Any]:
        """Return it as builtin types, for a record."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        """Say it in a clause."""
        if self.baseline is not None:
            return f"the result is not above {BASELINES[self.baseline]}"
        name = P_VALUES[self.part]
        if self.p is not None and self.level is not None:
            shown = p_value(self.p, level=self.level)
            return f"{name} {equals(shown)} is above {level(self.level)}"
        if self.arrangements is None:
            paired = ("baseline_p", "control_p", "incumbent_p")
            lacking = "the answers of both" if self.part in paired else "predictions"
            return f"the {name} could not be computed without {lacking}"
        if self.arrangements == 1:
            return f"the {name} is 1, because all right answers that could be shuffled are the same"
        return (
            f"the {name} is at least 1/{self.arrangements}, because the right answers can be "
            f"shuffled in {self.arrangements} ways only"
        )


def accuracy(value: float | None, decimals: int = 3) -> str:
    """Write an accuracy, another score, or a baseline.

    Examples
    --------
    >>> accuracy(0.5767798), accuracy(1.0), accuracy(None), accuracy(0.5767798, 4)
    ('.577', '1.000', '-', '.5768')
    """
    if value is None or not math.isfinite(value):
        return NONE
    return _without_zero(f"{value:.{decimals}f}")


def accuracies(values: Sequence[float]) -> str:
    """Write the range of some accuracies.

    Examples
    --------
    >>> accuracies([0.25, 0.5767798]), accuracies([0.53331, 0.53334])
    ('.250 to .577', '.533')
    """
    return " to ".join(dict.fromkeys(map(accuracy, (min(values), max(values)))))


def signed(value: float | None, decimals: int = 3) -> str:
    """Write a difference of accuracies with its sign; one that is rounded to zero has none.

    Examples
    --------
    >>> signed(0.0213), signed(-0.0204), signed(-0.0004), signed(None)
    ('+.021', '-.020', '.000', '-')
    """
    size = accuracy(None if value is None else abs(value), decimals)
    if value is None or size == NONE or not float(size):
        return size
    return f"{'+' if value > 0 else '-'}{size}"


def apart(difference: float | None) -> str:
    """Write how one score stands beside another, whose name follows.

    Examples
    --------
    >>> apart(0.0213), apart(-0.0204), apart(-0.0004)
    ('.021 above', '.020 below', 'level with')
    """
    written = signed(difference)
    if difference is None:
        return f"{written} above"
    if not float(written):
        return "level with"
    return f"{written[1:]} {'above' if difference > 0 else 'below'}"


def p_value(value: float | None, log_p: float | None = None, level: float | None = None) -> str:
    """Write a probability with two significant digits, or three decimals from .1 on.

    Parameters
    ----------
    value : float or None
        The probability; may have underflowed to 0 where `log_p` is given.
    log_p : float, optional
        Its natural logarithm, for far tails.
    level : float, optional
        What it is compared with: digits are added until both still compare as they do.

    Examples
    --------
    >>> p_value(0.0313), p_value(0.9761), p_value(2.13e-05), p_value(0.0, log_p=-1000)
    ('.031', '.976', '2.1e-05', '< 1e-300')
    >>> p_value(1.0), p_value(0.0501, level=0.05)
    ('> .999', '.0501')
    """
    if value is None or math.isnan(value):
        return NONE
    if value < 10.0**-_SMALLEST:
        return "0" if value == 0 and log_p is None else f"< 1e-{_SMALLEST}"
    if value >= _NEARLY_ONE:
        return "> .999"
    shown = _rounded(value, 2)
    if level is not None and value != level:
        for digits in range(3, 17):
            if (float(shown) > level) == (value > level) and float(shown) != level:
                break
            shown = _rounded(value, digits)
    return shown


def equals(shown: str) -> str:
    """Put a sign between a name and a p-value that is written, unless it begins with one.

    Examples
    --------
    >>> equals(".04"), equals("> .999")
    ('= .04', '> .999')
    """
    return shown if shown[0] in "<>" else f"= {shown}"


def level(value: float) -> str:
    """Write what a probability is compared with: as it was given, a share of that rounded.

    Examples
    --------
    >>> level(0.05), level(0.0125), level(1e-05), level(0.05 / 24)
    ('.05', '.0125', '1e-05', '.002083')
    """
    given = float(f"{value:.6g}") == value
    return _without_zero(str(value) if given else f"{value:.4g}")


def count(value: int | None) -> str:
    """Write a count with separated thousands.

    Examples
    --------
    >>> count(12345), count(None)
    ('12,345', '-')
    """
    return NONE if value is None else f"{value:,}"


def tries(number: float) -> str:
    """Write as the best of how many prompts one is judged, which a search makes many.

    Examples
    --------
    >>> tries(1816), tries(1.1e11)
    ('1,816', '1.1e+11')
    """
    return count(int(number)) if number < 1e9 else f"{number:.1e}"


def chances(chance: Fraction | Mapping[int, int] | Mapping[Fraction, int]) -> str:
    """Write a chance, or the number of examples with each; an integer is a number of choices.

    Examples
    --------
    >>> chances(Fraction(1, 4)), chances({2: 50}), chances({2: 50, 6: 20})
    ('1/4', '1/2', '1/6 for 20 examples, 1/2 for 50 examples')
    """
    if isinstance(chance, Fraction):
        return str(chance)
    parts = {
        Fraction(1, key) if isinstance(key, int) else key: many for key, many in chance.items()
    }
    if len(parts) == 1:
        return str(next(iter(parts)))
    return ", ".join(f"{one} for {many} examples" for one, many in sorted(parts.items()))


def share(part: int | None, whole: int | None) -> str:
    """Write a count out of a total.

    Examples
    --------
    >>> share(29, 100)
    '29/100'
    """
    return f"{NONE if part is None else part}/{NONE if whole is None else whole}"


def duration(seconds: float) -> str:
    """Write how long something takes.

    Examples
    --------
    >>> duration(4.4), duration(61), duration(3725)
    ('4 s', '1 min 01 s', '1 h 02 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def percent(part: float) -> str:
    """Write a share of many.

    Examples
    --------
    >>> percent(0.5762), percent(0.0042), percent(1.0), percent(0.00002), percent(0.0)
    ('57.6 %', '0.42 %', '100 %', 'under 0.01 %', '0 %')
    """
    return f"{100 * part:.3g} %" if part == 0 or part >= _LEAST else "under 0.01 %"


def span(values: list[int]) -> str:
    """Write the range of some counts.

    Examples
    --------
    >>> span([200, 20, 200]), span([60, 60]), span([])
    ('20 to 200', '60', '-')
    """
    if not values:
        return NONE
    low, high = min(values), max(values)
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _rounded(value: float, digits: int) -> str:
    if value < 0.001:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(value))
    return _without_zero(f"{value:.{max(3, decimals)}f}")


def _without_zero(shown: str) -> str:
    return shown.removeprefix("0") if shown.startswith("0.") else shown
