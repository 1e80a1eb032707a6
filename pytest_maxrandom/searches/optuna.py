"""Optuna's studies as searches: each trial is a try, and its value is what the feedback tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optuna import Trial

    from pytest_maxrandom.searches.tries import Tries


def objective(
    tries: Tries, suggest: Callable[[Trial], Mapping[str, Any]]
) -> Callable[[Trial], float]:
    """Return what a study optimizes: ``study.optimize(objective(tries, suggest), n_trials=100)``.

    The study stops when the budget of the search is spent. A prompt that is suggested again is told
    again, and costs nothing.

    Parameters
    ----------
    tries
        The search. A study sees the values of all trials, so `feedback` is `score` for most
        samplers, and `none` for those that look at no value, such as `RandomSampler`.
    suggest
        Makes of a trial the arguments of `Tries.try_prompt`.
    """

    def value(trial: Trial) -> float:
        found = tries(**suggest(trial))
        if tries.left == 0:
            trial.study.stop()
        return found

    return value
