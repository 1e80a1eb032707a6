"""Answers that are always the same label."""

from __future__ import annotations

import math
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.accident import UNLIKELY, of_several
from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.wording import of_prompts
from pytest_maxrandom.notation import accuracy, percent
from pytest_maxrandom.stats.majority import ConstantAnswer, majority_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.flags.seen import Seen

_NEARLY = 0.95
"""Share of the answers from which on one label is given to nearly every example."""
_OTHERWISE = 5
"""Examples with another right answer that such a prompt must have seen."""
_ROUNDING = 1e-12


def majority(seen: Seen) -> ConstantAnswer[int] | None:
    """Return the best constant answer to the best prompt's examples, or to all where none is best.

    Returns None where no label means the same everywhere.
    """
    if seen.gold is None or not seen.comparable:
        return None
    if seen.outcome is None:
        return majority_answer(seen.gold)
    return majority_answer(compress(seen.gold, seen.evaluated[seen.outcome.best]))


def best_is_majority(tried: Seen) -> Iterator[Flag]:
    """Find a claim that a constant answer would pass as well."""
    constant, outcome = majority(tried), tried.outcome
    if constant is None or outcome is None or not outcome.passed:
        return
    if (score := outcome.score) is not None:
        label = int(np.argmax(score.constants))
        # The same score, computed differently, may be off in the last digits.
        if score.constants[label] >= score.best - _ROUNDING:
            yield Flag(
                "majority",
                f"Always {_saying(tried, label)} has a {score.name} of "
                f"{accuracy(score.constants[label])}; the best prompt's is not above that.",
            )
        return
    if constant.correct * outcome.n >= outcome.correct * constant.n:
        yield Flag(
            "majority",
            f"Always {_saying(tried, constant.answer)} is right on {constant.correct} of "
            f"{constant.n} examples; the best prompt is not above that.",
        )


def _saying(tried: Seen, label: int) -> str:
    return f"saying {tried.labels[label]!r}" if tried.labels else "choosing the same place"


def constant_answers(tried: Seen) -> Iterator[Flag]:
    """Find prompts that give nearly every example one label, where others are right as well."""
    if tried.answers is None or tried.gold is None:
        return
    found: dict[int, tuple[int, float]] = {}
    for place, (answers, scored) in enumerate(zip(tried.answers, tried.evaluated, strict=True)):
        values, times = np.unique(answers[scored], return_counts=True)
        label, share = int(values[times.argmax()]), float(times.max() / scored.sum())
        if share < _NEARLY:
            continue
        otherwise = scored & np.array([label not in right for right in tried.gold])
        # One who knows would have said something else there.
        if otherwise.sum() >= _OTHERWISE and (answers[otherwise] == label).mean() >= _NEARLY:
            found[place] = label, share
    best = tried.outcome.best if tried.outcome else None
    if not found or (best not in found and 2 * len(found) <= len(tried.prompts)):
        return
    singles = [_by_accident(found[at][1], tried, int(tried.sizes[at])) for at in found]
    if of_several(singles, len(tried.prompts)).log_p > math.log(UNLIKELY):
        return
    shown = best if best in found else next(iter(found))
    assert shown is not None
    label, share = found[shown]
    name = repr(tried.labels[label]) if tried.labels else f"choice {label + 1}"
    which = "the best prompt" if shown == best else repr(tried.prompts[shown])
    # Without a result that passes nobody is misled; nor where the best prompt is above every
    # constant answer, if shuffled right answers tell that this is no accident.
    outcome = tried.outcome
    misleads = outcome is not None and outcome.passed
    if outcome is not None and outcome.permutation_p is not None:
        misleads &= not _is_above(tried)
    yield Flag(
        "constant_answers",
        f"{of_prompts(len(found), len(tried.prompts), 'gives', 'give')} nearly every example the "
        f"same answer, though others are right as well ({which} says {name} to {percent(share)}): "
        "look whether the model reads the questions.",
        mild=not misleads,
    )


def _is_above(tried: Seen) -> bool:
    """Tell whether the best prompt is above the best constant answer, whatever labels mean."""
    outcome = tried.outcome
    assert outcome is not None
    assert tried.gold is not None
    scored = compress(tried.gold, tried.evaluated[outcome.best])
    constant: ConstantAnswer[int] = majority_answer(scored)
    return outcome.correct * constant.n > constant.correct * outcome.n


def _by_accident(share: float, tried: Seen, n: int) -> float:
    """Bound the probability that a guesser gives one label to so many of n examples (Chernoff)."""
    chance = float(tried.chance)
    if share <= chance:
        return 1.0
    divergence = share * math.log(share / chance)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - chance))
    return min(1.0, math.exp(-n * divergence) / chance)
