"""Before any model is run: examples that a claim needs, prompts it bears, what it can detect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, first_count
from pytest_maxrandom.stats.chances import chance_groups, mean_chance, proportion, whole_number
from pytest_maxrandom.stats.counts import binomial_tail
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from typing import Any

    from pytest_maxrandom.stats.chances import Groups

    Mix = float | Fraction | Mapping[int, int] | Sequence[Fraction]
    """One chance; a mapping {choices: examples} that is scaled to other n; or n chances."""

POWERS = (0.8, 0.95)
"""Probabilities of passing to plan for."""
MOST_EXAMPLES = 10_000_000
"""Searches for a number of examples end here."""


def mix_for(chance: Mix, n: int) -> Groups:
    """Return groups of ``n`` examples whose chances are mixed as in ``chance``.

    A mapping {choices: examples} is scaled to ``n`` by largest remainders.
    """
    if not isinstance(chance, Mapping):
        return chance_groups(chance, n)
    groups = chance_groups(chance)
    total = sum(size for _, size in groups)
    shares = [Fraction(size * n, total) for _, size in groups]
    sizes = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(groups)), key=lambda g: sizes[g] - shares[g])
    for place in by_remainder[: n - sum(sizes)]:
        sizes[place] += 1
    return tuple((p, size) for (p, _), size in zip(groups, sizes, strict=True) if size)


def baseline_for(n: int, chance: Mix, t: int) -> MaxRandomBaseline:
    """Return the baseline of ``n`` examples with the mix of chances of ``chance``."""
    return MaxRandomBaseline.of_groups(mix_for(chance, whole_number("n", n, 1)), t)


def fewest_examples(holds: Callable[[int], bool]) -> int | None:
    """Smallest n for which the monotone ``holds`` is true, or None up to `MOST_EXAMPLES`."""
    high = 1
    while not holds(high):
        if high == MOST_EXAMPLES:
            return None
        high = min(2 * high, MOST_EXAMPLES)
    return first_count(high // 2 + 1, high, holds)


def examples_for_expected_maximum(below: float, chance: Mix, t: int) -> int | None:
    """Fewest examples for which the best of ``t`` guessers is expected at ``below`` or less.

    Parameters
    ----------
    below
        Accuracy, more than the chance of one guess.
    chance
        One chance, or a mapping {choices: examples} that is scaled.
    t
        Number of prompts.

    Returns
    -------
    n
        None where more than ten million would be needed.

    Raises
    ------
    ValueError
        If ``below`` is not above the chance of one guess.
    """
    limit = proportion("below", below)
    standard = _standard(chance)
    if limit <= standard and t > 1:
        raise ValueError(
            f"below must be above the chance of one guess, {standard:.6g}, found {below!r}: "
            "the best of several guessers is above it for every n"
        )
    return fewest_examples(lambda n: baseline_for(n, chance, t).expected_accuracy <= limit)


def _standard(chance: Mix) -> float:
    n = None if isinstance(chance, Mapping | Sequence) else 1
    return mean_chance(chance_groups(chance, n))


def smallest_passable_n(chance: Mix, t: int, alpha: float = 0.05) -> int | None:
    """Fewest examples on which any result of ``t`` prompts can have p_max <= ``alpha``."""
    level = proportion("alpha", alpha)
    return fewest_examples(lambda n: baseline_for(n, chance, t).min_p <= level)


def power(n: int, chance: Mix, t: int, true_accuracy: float, alpha: float = 0.05) -> float:
    """Probability that one prompt of ``true_accuracy`` alone reaches the critical count.

    The other t - 1 prompts may pass by luck as well (with probability at most ``alpha``), so
    this is the share of passes that the good prompt earns.
    """
    accuracy = proportion("true_accuracy", true_accuracy)
    count = baseline_for(n, chance, t).critical_count(alpha)
    return 0.0 if count is None else binomial_tail(count, n, accuracy)


def true_accuracy_for_power(
    n: int, chance: Mix, t: int, target: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Find the true accuracy that one prompt needs to pass with probability ``target``.

    Returns None where no result can pass.
    """
    wanted = proportion("target", target)
    count = baseline_for(n, chance, t).critical_count(alpha)
    if count is None:
        return None
    # Forty halvings of [0, 1]: the answer is good to 1e-12.
    steps = 2**40
    return first_count(0, steps, lambda k: binomial_tail(count, n, k / steps) >= wanted) / steps


def examples_for_power(
    true_accuracy: float, chance: Mix, t: int, target: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Fewest examples from which on one prompt of ``true_accuracy`` passes with ``target`` power.

    Power is a saw-tooth in n, because the critical count is an integer: some fewer examples
    may do as well, but the next larger number would not.

    Returns
    -------
    n
        None where more than ten million would be needed.

    Raises
    ------
    ValueError
        If ``true_accuracy`` is not above the chance of one guess.
    """
    accuracy, wanted = proportion("true_accuracy", true_accuracy), proportion("target", target)
    standard = _standard(chance)
    if accuracy <= standard:
        raise ValueError(
            f"true_accuracy must be above the chance of one guess, {standard:.6g}, "
            f"found {true_accuracy!r}"
        )

    def enough(n: int) -> bool:
        return power(n, chance, t, accuracy, alpha) >= wanted

    fewest = fewest_examples(enough)
    if fewest is None:
        return None
    # One more correct answer to reach costs as much power as 2 / gap more examples bring.
    reach = min(1000, 8 + math.ceil(4 / (accuracy - standard)))
    return 1 + max((n for n in range(fewest, fewest + reach) if not enough(n)), default=fewest - 1)


def largest_t(n: int, chance: Mix, correct: int, alpha: float = 0.05) -> int:
    """Most prompts for which ``correct`` of ``n`` still has p_max <= ``alpha``; 0 if none.

    With ``correct`` = n this is the largest t for which any result can pass. Answers end at
    10**18.
    """
    level = proportion("alpha", alpha)
    return _most_prompts(n, chance, lambda baseline: baseline.p_value(correct) <= level)


def largest_t_below(n: int, chance: Mix, below: float) -> int:
    """Most prompts whose guessed best is expected at ``below`` or less; 0 if not even one."""
    limit = proportion("below", below)
    return _most_prompts(n, chance, lambda baseline: baseline.expected_accuracy <= limit)


def _most_prompts(n: int, chance: Mix, holds: Callable[[MaxRandomBaseline], bool]) -> int:
    """Return the last t for which something holds that ends as t grows; 0 if there is none."""
    single = baseline_for(n, chance, 1)
    return first_count(0, MOST_GUESSERS, lambda t: not holds(single.with_t(t + 1)))


def largest_t_for_power(
    n: int, chance: Mix, true_accuracy: float, target: float = 0.8, alpha: float = 0.05
) -> int:
    """Most prompts for which one prompt of ``true_accuracy`` passes with ``target`` power."""
    accuracy, wanted = proportion("true_accuracy", true_accuracy), proportion("target", target)
    examples = whole_number("n", n, 1)
    unlikely = first_count(0, examples + 1, lambda k: binomial_tail(k, examples, accuracy) < wanted)
    return largest_t(examples, chance, max(0, unlikely - 1), alpha)


def baseline_summary(
    baseline: MaxRandomBaseline, correct: int | None = None, alpha: float = 0.05
) -> dict[str, Any]:
    """Describe one baseline, and one result against it, in plain numbers.

    Parameters
    ----------
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
    critical = baseline.critical_count(alpha)
    summary: dict[str, Any] = {
        "n": baseline.n,
        "t": baseline.t,
        "alpha": float(alpha),
        "chances": {
            str(p) if p.denominator <= 10**6 else repr(float(p)): size
            for p, size in baseline.chance_groups
        },
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
    answers: dict[str, Any] = {
        "given": {"n": n, "t": t, "below": below, "true_accuracy": true_accuracy, "alpha": alpha}
    }

    def for_powers(answer: Callable[[float], object]) -> dict[str, object]:
        return {str(target): answer(target) for target in POWERS}

    if t is not None:
        answers["smallest_n"] = smallest_passable_n(chance, t, alpha)
        if below is not None:
            answers["n_for_expected_maximum"] = examples_for_expected_maximum(below, chance, t)
        if true_accuracy is not None:
            answers["n_for_power"] = for_powers(
                lambda target: examples_for_power(true_accuracy, chance, t, target, alpha)
            )
    if n is not None:
        answers["largest_t"] = largest_t(n, chance, n, alpha)
        if below is not None:
            answers["largest_t_for_expected_maximum"] = largest_t_below(n, chance, below)
        if true_accuracy is not None:
            answers["largest_t_for_power"] = for_powers(
                lambda target: largest_t_for_power(n, chance, true_accuracy, target, alpha)
            )
    if n is not None and t is not None:
        answers["baseline"] = baseline_summary(baseline_for(n, chance, t), alpha=alpha)
        answers["true_accuracy_for_power"] = for_powers(
            lambda target: true_accuracy_for_power(n, chance, t, target, alpha)
        )
        if true_accuracy is not None:
            answers["power"] = power(n, chance, t, true_accuracy, alpha)
    return answers
