"""Optuna's studies: each distinct prompt is counted once, and the budget ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom import search
from tests.searched import lines

if TYPE_CHECKING:
    from pathlib import Path

optuna = pytest.importorskip("optuna")


@pytest.mark.parametrize("feedback", ["score", "accept", "none"])
def test_a_study_is_counted(suite: Path, feedback: Any) -> None:
    from pytest_maxrandom.searches.optuna import objective

    suggested = set()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with search(suite, model="knows", feedback=feedback, budget=6, by="optuna") as tries:
        ids = sorted(tries.demonstrations)

        def suggest(trial: Any) -> dict[str, Any]:
            words = trial.suggest_categorical("words", ["Think. ", "Add. ", "Take care. "])
            first = trial.suggest_int("first", 0, 2)
            suggested.add((words, first))
            return {"instruction": words, "demonstrations": [ids[first], ids[first + 1]]}

        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=3)
        )
        study.optimize(objective(tries, suggest), n_trials=60)
        assert tries.left == 0
        record = tries.verdict()
    # The study stopped at the first prompt beyond the budget.
    assert (record.t, len(suggested)) == (6, 7)
    assert [trial.state.name for trial in study.trials if trial.value is None] == ["PRUNED"]
    assert {row["by"] for row in lines(suite, "feedback")} == {"optuna"}
    assert len({row["prompt"] for row in lines(suite, "prompt")}) == 6
    if feedback == "score":
        assert study.best_value == record.best_accuracy
    if feedback == "none":
        assert {trial.value for trial in study.trials[:-1]} == {0.0}


@pytest.mark.parametrize("feedback", ["score", "accept"])
def test_a_study_that_is_begun_again_is_told_the_same(suite: Path, feedback: Any) -> None:
    from pytest_maxrandom.searches.optuna import objective

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    told, judged = [], []
    for seed in (1, 1, 2):
        with search(suite, model="knows", feedback=feedback, budget=5, by="optuna") as tries:
            ids = sorted(tries.demonstrations)

            def suggest(trial: Any, ids: list[str] = ids) -> dict[str, Any]:
                first = trial.suggest_int("first", 0, 30)
                return {"demonstrations": ids[first : first + 2]}

            study = optuna.create_study(
                direction="maximize", sampler=optuna.samplers.RandomSampler(seed=seed)
            )
            study.optimize(objective(tries, suggest), n_trials=60)
            told.append([trial.value for trial in study.trials])
            judged.append(tries.verdict())
    assert told[0] == told[1]
    # Another study meets the spent budget at once, and what was tried is judged all the same.
    assert told[2] == [None]
    assert {each.best_correct for each in judged} == {judged[0].best_correct}
    assert {each.t for each in judged} == {5}
