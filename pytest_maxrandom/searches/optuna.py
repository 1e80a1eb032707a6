"""Optuna's studies as searches: each trial is a try, and its value is what the feedback tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import BudgetSpent, SearchError

try:
    from optuna import TrialPruned
except ImportError as error:
    raise SearchError(
        "Optuna is not installed; install it with `pip install 'pytest-maxrandom[optuna]'`"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optuna import Trial

    from pytest_maxrandom.searches.tries import Tries


def objective(
    tries: Tries, suggest: Callable[[Trial], Mapping[str, Any]]
) -> Callable[[Trial], float]:
    """Return what a study optimizes: ``study.optimize(objective(tries, suggest), n_trials=100)``.

    The study stops at the first new prompt that is beyond the budget of the search; this trial is
    pruned. A prompt that is suggested again, also in a study that is begun again, gets its reply
    again and costs nothing.

    Parameters
    ----------
    tries
        The search. A study sees the values of all trials: with `accept` and `improved` 0 of those
        that are not better than all before them, and of the others a value that rises, so that its
        best trial is the best prompt. `none` is for samplers that look at no value, such as
        `RandomSampler`.
    suggest
        Makes of a trial the arguments of `Tries.try_prompt`.
    """

    def value(trial: Trial) -> float:
        try:
            return tries(**suggest(trial))
        except BudgetSpent as error:
            trial.study.stop()
            raise TrialPruned(str(error)) from None

    return value
