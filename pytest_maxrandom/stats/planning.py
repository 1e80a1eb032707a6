"""Before any model is run: a baseline, or a plan, in plain numbers for a table or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.stats import sizes
from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.sizes import Mix


def _chance_key(chance: Fraction) -> str:
    return str(chance) if chance.denominator <= 10**6 else repr(float(chance))


def baseline_summary(
    n: int | None, chance: Chance, t: int, correct: int | None = None, alpha: float = 0.05
) -> dict[str, Any]:
    """Describe one baseline, and one result against it, in plain numbers.

    Parameters
    ----------
    n, chance, t
        As in `pytest_maxrandom.stats.maximum.MaxRandomBaseline`.
    correct
        Number correct of the best prompt, or None.
    alpha
        Level of the critical count.

    Returns
    -------
    summary
        Built-in numbers, strings and None only, ready for JSON. The keys from ``correct`` on
        are there only if ``correct`` is given.
    """
    return _summary(MaxRandomBaseline(n, chance, t), correct, alpha)


def _summary(baseline: MaxRandomBaseline, correct: int | None, alpha: float) -> dict[str, Any]:
    critical = baseline.critical_count(alpha)
    summary: dict[str, Any] = {
        "n": baseline.n,
        "t": baseline.t,
        "alpha": float(alpha),
        "chances": {_chance_key(p): size for p, size in baseline.chance_groups},
        "standard_baseline": baseline.standard_baseline,
        "max_random_baseline": baseline.expected_accuracy,
        "max_random_std": baseline.accuracy_std,
        "critical_count": critical,
        "critical_accuracy": None if critical is None else critical / baseline.n,
        "min_p": baseline.min_p,
    }
    if correct is not None:
        summary |= {
            "correct": whole_number("correct", correct, 0, baseline.n),
            "accuracy": int(correct) / baseline.n,
            "p_standard": baseline.p_standard(correct),
            "p_max": baseline.p_value(correct),
            "log_p_max": baseline.log_p_value(correct),
            "union_p": baseline.union_p(correct),
        }
    return summary


def plan(
    chance: Mix,
    n: int | None = None,
    t: int | None = None,
    *,
    below: float | None = None,
    true_accuracy: float | None = None,
    alpha: float = 0.05,
    powers: tuple[float, ...] = (0.8, 0.95),
) -> dict[str, Any]:
    """Answer every planning question that the given numbers pose.

    Parameters
    ----------
    chance
        One chance, or a mapping {choices: examples}; where ``n`` is another number of examples,
        the mapping is scaled to it.
    n, t
        Number of examples and of prompts; at least one of them.
    below
        Accuracy that the expected maximum is to stay at or below.
    true_accuracy
        Accuracy that the best prompt is hoped to have on fresh examples.
    alpha
        Level of the test p_max <= alpha.
    powers
        Probabilities of passing to plan for.

    Returns
    -------
    answers
        ``given`` (the question) and, as far as they are posed, from ``t``: ``smallest_n``,
        ``n_for_expected_maximum``, ``n_for_power``; from ``n``: ``largest_t``,
        ``largest_t_for_expected_maximum``, ``largest_t_for_power``; from both: ``baseline``
        (see `baseline_summary`), ``true_accuracy_for_power`` and ``power``. Powers are keys as
        strings. Built-in types only.

    Raises
    ------
    ValueError
        If neither ``n`` nor ``t`` is given, or a number is outside its domain.
    """
    if n is None and t is None:
        raise ValueError("plan needs n (examples) or t (prompts)")
    given = {"n": n, "t": t, "below": below, "true_accuracy": true_accuracy, "alpha": alpha}
    answers: dict[str, Any] = {"given": given}
    if t is not None:
        answers |= _plan_examples(chance, t, below, true_accuracy, alpha, powers)
    if n is not None:
        answers |= _plan_prompts(chance, n, below, true_accuracy, alpha, powers)
    if n is not None and t is not None:
        answers["baseline"] = _summary(sizes.baseline_for(n, chance, t), None, alpha)
        answers["true_accuracy_for_power"] = {
            str(target): sizes.true_accuracy_for_power(n, chance, t, target, alpha)
            for target in powers
        }
        if true_accuracy is not None:
            answers["power"] = sizes.power(n, chance, t, true_accuracy, alpha)
    return answers


def _plan_examples(
    chance: Mix,
    t: int,
    below: float | None,
    true_accuracy: float | None,
    alpha: float,
    powers: tuple[float, ...],
) -> dict[str, Any]:
    answers: dict[str, Any] = {"smallest_n": sizes.smallest_passable_n(chance, t, alpha)}
    if below is not None:
        answers["n_for_expected_maximum"] = sizes.examples_for_expected_maximum(below, chance, t)
    if true_accuracy is not None:
        answers["n_for_power"] = {
            str(target): sizes.examples_for_power(true_accuracy, chance, t, target, alpha)
            for target in powers
        }
    return answers


def _plan_prompts(
    chance: Mix,
    n: int,
    below: float | None,
    true_accuracy: float | None,
    alpha: float,
    powers: tuple[float, ...],
) -> dict[str, Any]:
    answers: dict[str, Any] = {"largest_t": sizes.largest_t(n, chance, n, alpha)}
    if below is not None:
        answers["largest_t_for_expected_maximum"] = sizes.largest_t_below(n, chance, below)
    if true_accuracy is not None:
        answers["largest_t_for_power"] = {
            str(target): sizes.largest_t_for_power(n, chance, true_accuracy, target, alpha)
            for target in powers
        }
    return answers
