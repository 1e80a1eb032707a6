"""A best prompt that is no better than what needs no knowledge of the questions.

Constant answers are left to `majority` and `max_t`: shuffled right answers tell exactly, and with
more power than signs, whether a prompt knows more than a label. 24 of 24 right answers of which 20
are the same label differ from that label in four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.heuristics import NAMES
from pytest_maxrandom.notation import accuracy, equals, level, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.flags.seen import Seen

_LEVEL = 0.05


def best_is_heuristic(tried: Seen) -> Iterator[Flag]:
    """Find a claim that a heuristic would pass as well, or nearly so."""
    found = _compared(tried)
    if found is None or found.hardest == "most_frequent":
        return
    name = found.hardest
    score = found.heuristics[name]
    rule = f"Always choosing {NAMES[name]} has {_of(found)} of {accuracy(float(score))}"
    if found.best <= score:
        yield Flag("heuristic", f"{rule}; the best prompt's is not above that.")
    elif found.heuristic_p > _LEVEL:
        yield Flag(
            "near_heuristic",
            f"{rule}; the best prompt's is above that by no more than chance allows "
            f"({_p(found.heuristic_p)}).",
        )


def best_is_choices_only(tried: Seen) -> Iterator[Flag]:
    """Find a best prompt that is as good, or nearly so, without the questions."""
    found = _compared(tried)
    if found is None or found.choices_only is None or found.choices_only_p is None:
        return
    score = accuracy(float(found.choices_only))
    blank = f"With blank inputs the best prompt has {_of(found)} of {score}"
    if found.best <= found.choices_only:
        yield Flag(
            "choices_only",
            f"{blank}, and with the questions none above that: look what else tells right choices "
            "from wrong ones.",
        )
    elif found.choices_only_p > _LEVEL and not found.one_label:
        yield Flag(
            "near_choices_only",
            f"{blank}; with the questions it is above that by no more than chance allows "
            f"({_p(found.choices_only_p)}).",
        )


def _compared(tried: Seen) -> Compared | None:
    """Return what there is to compare, where a claim holds."""
    return tried.compared if tried.outcome is not None and tried.outcome.passed else None


def _of(found: Compared) -> str:
    return "a balanced accuracy" if found.balanced else "an accuracy"


def _p(p: float) -> str:
    return f"sign-flip p {equals(p_value(p, level=_LEVEL))}, above {level(_LEVEL)}"
