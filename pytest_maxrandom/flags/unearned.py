"""A claim that passes, and what passes as well without knowledge.

A label for every example, shuffled right answers, prompts that are all right on the same examples,
a heuristic, the choices without their question. Constant answers are left to `majority` and
`max_t`: shuffled right answers tell exactly, and with more power than signs, whether a prompt knows
more than a label. 24 of 24 right answers of which 20 are the same label differ from that label in
four.
"""

from __future__ import annotations

import math
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE
from pytest_maxrandom.flags.flag import UNLIKELY, Flag, of_several
from pytest_maxrandom.stats.majority import ConstantAnswer, majority_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.flag_input import FlagInput

_NEARLY = 0.95
"""Share of the answers from which on one label is given to nearly every example."""
_OTHERWISE = 5
"""Examples with another right answer that such a prompt must have seen."""
_ROUNDING = 1e-12
_ENOUGH = 5
"""Prompts from which on it says something that they agree."""
_ALIKE = 0.8
"""Cohen's kappa from which on two prompts are right on nearly the same examples, or on the others.

In the results of Yauney and Mimno (2024) that are above guessers the median prompt has .77 at most
with the best one, but .86 and more where the best one gives nearly all examples one label.
"""
_PLAIN = 0.8
"""Accuracy up to which a constant answer is a likely reason, whatever the task.

Above it, right answers would have to be more unbalanced than four to one, and prompts of a model
that is nearly always right agree as much.
"""
_LEVEL = 0.05
"""What the p-values of comparisons with heuristics and blank inputs are compared with."""


def majority(seen: FlagInput) -> ConstantAnswer[int] | None:
    """Return the best constant answer to the best prompt's examples, or to all where none is best.

    Returns None where no label means the same everywhere.
    """
    return _best_constant(seen, seen.gold) if seen.gold is not None and seen.comparable else None


def _best_constant(seen: FlagInput, gold: Sequence[frozenset[int]]) -> ConstantAnswer[int]:
    scored = seen.evaluated[seen.outcome.best] if seen.outcome else [True] * len(gold)
    return majority_answer(compress(gold, scored))


def best_is_majority(tried: FlagInput) -> Iterator[Flag]:
    """Find a claim that a constant answer would pass as well."""
    constant, outcome = majority(tried), tried.outcome
    if constant is None or outcome is None or not outcome.passed:
        return
    if (score := outcome.score) is not None:
        label = int(np.argmax(score.constants))
        case, reached = "score", {"score": score.name, "value": score.constants[label]}
        # The same score, computed differently, may be off in the last digits.
        as_good = score.constants[label] >= score.best - _ROUNDING
    else:
        label = constant.answer
        case, reached = "accuracy", {"correct": constant.correct, "n": constant.n}
        as_good = constant.correct * outcome.n >= outcome.correct * constant.n
    if as_good:
        yield Flag("majority", {"case": case, "label": _name(tried, label), **reached})


def _name(tried: FlagInput, label: int) -> str | None:
    """Return what a label is called; None where it is a place of choices."""
    if tried.labels:
        return tried.labels[label]
    beyond = tried.unread is not None and tried.choices and label >= max(tried.choices)
    return NO_CHOICE if beyond else None


def constant_answers(tried: FlagInput) -> Iterator[Flag]:
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
    # Without a result that passes nobody is misled; nor where the best prompt is above every
    # constant answer, if shuffled right answers tell that this is no accident.
    outcome = tried.outcome
    misleads = outcome is not None and outcome.passed
    if outcome is not None and outcome.permutation_p is not None:
        constant = _best_constant(tried, tried.gold)
        misleads &= outcome.correct * constant.n <= constant.correct * outcome.n
    parameters = {
        "told": len(found),
        "prompts": len(tried.prompts),
        "prompt": None if shown == best else tried.prompts[shown],
        "label": _name(tried, label),
        "place": label + 1,
        "share": share,
    }
    yield Flag("constant_answers", parameters, mild=not misleads)


def _by_accident(share: float, tried: FlagInput, n: int) -> float:
    """Bound the probability that a guesser gives one label to so many of n examples (Chernoff)."""
    chance = float(tried.chance)
    if share <= chance:
        return 1.0
    divergence = share * math.log(share / chance)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - chance))
    return min(1.0, math.exp(-n * divergence) / chance)


def not_confirmed(tried: FlagInput) -> Iterator[Flag]:
    """Find a best accuracy that is above guessers, but not above shuffled right answers."""
    outcome = tried.outcome
    if outcome is None or not outcome.passed:
        return
    if outcome.p_max is None or outcome.permutation_p is None:
        return
    if outcome.p_max <= outcome.level < outcome.permutation_p:
        parameters = {
            "p_max": outcome.p_max,
            "permutation_p": outcome.permutation_p,
            "level": outcome.level,
        }
        yield Flag("max_t", parameters)


def near_identical(tried: FlagInput) -> Iterator[Flag]:
    """Find a claim that passes by prompts that are right on nearly the same examples.

    If only right and wrong are known, one label for every example looks like that, and where right
    answers are unbalanced it is above chance.
    """
    outcome = tried.outcome
    if outcome is None or not outcome.passed or (outcome.p_max or 0) > outcome.level:
        return
    if tried.answers is not None and tried.gold is not None:
        return
    t = len(tried.prompts)
    if t < _ENOUGH or outcome.correct > _PLAIN * outcome.n:
        return
    kappas, apart = _agreement(tried, outcome.best)
    near = kappas >= _ALIKE
    if 2 * near.sum() <= t - 1:
        return
    differ = apart[near].mean()
    parameters = {
        "told": int(near.sum()),
        "prompts": t,
        "differing": float(differ),
        "reached": outcome.correct / outcome.n,
    }
    yield Flag("near_identical_prompts", parameters)


def _agreement(tried: FlagInput, best: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compare all prompts with the best one.

    Of two labels the other one is right where one is wrong, so that prompts count as alike too
    which are right on the other examples. One more difference is counted than there is, so that
    few examples say less.

    Returns
    -------
    Cohen's kappa, 0 of the best itself and where nothing is left to be explained, and the share of
    answers that differ, each of shape (t,).
    """
    both = (tried.evaluated & tried.evaluated[best]).astype(np.float64)
    sizes = np.maximum(both.sum(axis=1), 1)
    right, right_of_best = (
        (both * table).sum(axis=1) / sizes for table in (tried.correct, tried.correct[best])
    )
    same = (both * (tried.correct == tried.correct[best])).sum(axis=1)
    kappas = np.zeros_like(same)
    for agreeing, share in ((same, right), (both.sum(axis=1) - same, 1 - right)):
        chance = share * right_of_best + (1 - share) * (1 - right_of_best)
        beyond = agreeing / (sizes + 1) - chance
        kappa = np.divide(beyond, 1 - chance, where=chance < 1, out=np.zeros_like(chance))
        kappas = np.maximum(kappas, kappa)
    kappas[best] = 0.0
    return kappas, np.minimum(same, sizes - same) / sizes


def best_is_shortcut(tried: FlagInput) -> Iterator[Flag]:
    """Find a claim that a heuristic, or no question, would pass as well, or nearly so."""
    found, outcome = tried.compared, tried.outcome
    if found is None or outcome is None or not outcome.passed:
        return
    if (name := found.hardest) != "most_frequent":
        score = float(found.heuristics[name])
        shown = {"measure": found.measure, "score": score, "heuristic": name}
        if found.best <= found.heuristics[name]:
            yield Flag("heuristic", shown)
        elif found.heuristic_p > _LEVEL:
            yield Flag("near_heuristic", shown | {"p": found.heuristic_p, "level": _LEVEL})
    if found.choices_only is not None and found.choices_only_p is not None:
        shown = {"measure": found.measure, "score": float(found.choices_only)}
        if found.best <= found.choices_only:
            yield Flag("choices_only", shown)
        elif found.choices_only_p > _LEVEL and not found.one_label:
            yield Flag("near_choices_only", shown | {"p": found.choices_only_p, "level": _LEVEL})
