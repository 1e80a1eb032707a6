"""What a passing claim's best prompt is compared with: a heuristic, or itself with blank inputs.

Constant answers are left to `majority` and `max_t`: shuffled right answers tell exactly, and with
more power than signs, whether a prompt knows more than a label. 24 of 24 right answers of which 20
are the same label differ from that label in four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.notation import equals, p_value

if TYPE_CHECKING:
    from pytest_maxrandom.flags.kind import JudgedAnswers, Parts

_LEVEL = 0.05
"""What the p-values of comparisons with heuristics and blank inputs are compared with."""
RULE = "Always choosing {heuristic:heuristic}{then} has {measure:measure} of {score:accuracy}"
PARTS_OF_RULE: Parts = {
    "then": lambda of: (
        " (then the next, for as many different answers)" if of["measure"] == "pass" else ""
    )
}
BLANK = "With blank inputs the best prompt has {measure:measure} of {score:accuracy}"
NEAR = "above that, but the lead may be chance (sign-flip p {sign_flip}, above {level:level})."
PARTS_OF_NEAR: Parts = {"sign_flip": lambda of: equals(p_value(of["p"], level=of["level"]))}


class Reached(NamedTuple):
    """What a passing claim's best prompt is compared with."""

    parameters: dict[str, Any]
    above: bool
    """Whether the best prompt is above it."""
    p: float
    """Of that."""

    @property
    def near(self) -> dict[str, Any] | None:
        """The parameters where the best prompt is above it and that may be chance, else None."""
        if not self.above or self.p <= _LEVEL:
            return None
        return self.parameters | {"p": self.p, "level": _LEVEL}


def by_heuristic(judged: JudgedAnswers) -> Reached | None:
    """Return what the hardest heuristic reaches, unless that is a constant answer."""
    found = judged.compared
    if not judged.passing or found is None or (name := found.hardest) == "most_frequent":
        return None
    score = found.heuristics[name]
    parameters = {"measure": found.measure, "score": float(score), "heuristic": name}
    return Reached(parameters, found.best > score, found.heuristic_p)


def by_choices(judged: JudgedAnswers) -> Reached | None:
    """Return what the best prompt reaches with blank inputs, where it was asked so."""
    found = judged.compared
    if not judged.passing or found is None:
        return None
    if (score := found.choices_only) is None or (p := found.choices_only_p) is None:
        return None
    return Reached({"measure": found.measure, "score": float(score)}, found.best > score, p)
