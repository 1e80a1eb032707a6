"""A claim that would pass, or nearly, without the knowledge: by a heuristic, or blank inputs.

Constant answers are left to `majority` and `max_t`: shuffled right answers tell exactly, and with
more power than signs, whether a prompt knows more than a label. 24 of 24 right answers of which 20
are the same label differ from that label in four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.notation import equals, p_value

if TYPE_CHECKING:
    from pytest_maxrandom.flags.kind import Parts

_LEVEL = 0.05
"""What the p-values of comparisons with heuristics and blank inputs are compared with."""
_RULE = "Always choosing {heuristic:heuristic} has {measure:measure} of {score:accuracy}"
_BLANK = "With blank inputs the best prompt has {measure:measure} of {score:accuracy}"
_NEAR = "above that, but the lead may be chance (sign-flip p {sign_flip}, above {level:level})."
_PARTS_OF_NEAR: Parts = {"sign_flip": lambda of: equals(p_value(of["p"], level=of["level"]))}


class _Reached(NamedTuple):
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


def _by_heuristic(judged: JudgedAnswers) -> _Reached | None:
    """Return what the hardest heuristic reaches, unless that is a constant answer."""
    found = judged.compared
    if not judged.passing or found is None or (name := found.hardest) == "most_frequent":
        return None
    score = found.heuristics[name]
    parameters = {"measure": found.measure, "score": float(score), "heuristic": name}
    return _Reached(parameters, found.best > score, found.heuristic_p)


def _by_choices(judged: JudgedAnswers) -> _Reached | None:
    """Return what the best prompt reaches with blank inputs, where it was asked so."""
    found = judged.compared
    if not judged.passing or found is None:
        return None
    if (score := found.choices_only) is None or (p := found.choices_only_p) is None:
        return None
    return _Reached({"measure": found.measure, "score": float(score)}, found.best > score, p)


def _heuristic(judged: JudgedAnswers) -> Found:
    found = _by_heuristic(judged)
    if found is not None and not found.above:
        yield Flag("heuristic", found.parameters)


HEURISTIC = RedFlagKind(
    kind="heuristic",
    rank=200,
    topic="knowledge",
    default="fail",
    description="A best prompt that is not above a heuristic, such as the longest choice.",
    sentences=f"{_RULE}; the best prompt's is not above that.",
    brief="no better than a rule that needs no knowledge",
    brief_of="no better than {heuristic:heuristic}",
    remedy="remove what the rule reads from the choices",
    check=_heuristic,
)


def _near_heuristic(judged: JudgedAnswers) -> Found:
    found = _by_heuristic(judged)
    if found is not None and found.near:
        yield Flag("near_heuristic", found.near)


NEAR_HEURISTIC = RedFlagKind(
    kind="near_heuristic",
    rank=210,
    topic="knowledge",
    default="warn",
    description="A best prompt whose lead over the best heuristic may be chance.",
    sentences=f"{_RULE}; the best prompt's is {_NEAR}",
    brief="hardly better than a rule that needs no knowledge",
    brief_of="hardly better than {heuristic:heuristic}",
    remedy="take more examples",
    check=_near_heuristic,
    parts=_PARTS_OF_NEAR,
)


def _choices_only(judged: JudgedAnswers) -> Found:
    found = _by_choices(judged)
    if found is not None and not found.above:
        yield Flag("choices_only", found.parameters)


CHOICES_ONLY = RedFlagKind(
    kind="choices_only",
    rank=220,
    topic="knowledge",
    default="fail",
    description="A best prompt that is not above itself with blank inputs (`shortcuts: "
    "[choices_only]`).",
    sentences=f"{_BLANK}, and with the questions it is no better: check what else gives the right "
    "choices away.",
    brief="no better with the question than without",
    remedy="look what tells right choices from wrong ones",
    check=_choices_only,
)


def _near_choices_only(judged: JudgedAnswers) -> Found:
    found = _by_choices(judged)
    constant = judged.compared is not None and judged.compared.one_label
    if found is not None and found.near and not constant:
        yield Flag("near_choices_only", found.near)


NEAR_CHOICES_ONLY = RedFlagKind(
    kind="near_choices_only",
    rank=230,
    topic="knowledge",
    default="warn",
    description="A best prompt whose lead over itself with blank inputs may be chance.",
    sentences=f"{_BLANK}; with the questions it is {_NEAR}",
    brief="hardly better with the question than without",
    remedy="take more examples",
    check=_near_choices_only,
    parts=_PARTS_OF_NEAR,
)
