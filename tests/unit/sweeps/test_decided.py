"""A sweep that is decided, and then computed to its end, is the whole sweep."""

from __future__ import annotations

import os
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.sweeps.decided import DecidedSweep, is_decided, run_decided
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.parts import Parts
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, Sweep, is_stored, run_sweep
from tests.goals import Goal
from tests.unit.sweeps.killed_sweep import WORK, made

if TYPE_CHECKING:
    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.sweeps.predictions import PromptPredictions

JOBS = jobs_of(WORK[:6], "mean_logprob")
N = len(JOBS[0].examples)


@cache
def _model() -> Model:
    return made(Path(os.devnull))


def _never() -> Model:
    raise AssertionError("the model was loaded")


@cache
def _whole() -> Sweep:
    return run_sweep(JOBS, LocalExecutor(_model))


def _run(cache: Cache, goal: Goal, model: Any = _model, **said: Any) -> DecidedSweep | Sweep:
    return run_decided(JOBS, goal, LocalExecutor(model), cache=cache, **said)


def _chosen(sweep: Sweep) -> list[Any]:
    return [each.chosen for each in sweep.predictions]


def test_cells_are_all_examples_in_an_order_that_prompts_share() -> None:
    orders = []
    for job in JOBS:
        begun = Parts().begin(job)
        orders.append([each.id for each in begun.rest().examples])
        assert sorted(orders[-1]) == sorted(each.id for each in job.examples)
        # Prompts leave out their own examples; the others stand in one order.
        both = set(orders[0]) & set(orders[-1])
        assert [each for each in orders[0] if each in both] == [
            each for each in orders[-1] if each in both
        ]
    assert orders[0] != [each.id for each in JOBS[0].examples]


@pytest.mark.parametrize("above", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_what_is_left_is_computed_and_nothing_twice(tmp_path: Path, above: int) -> None:
    best = max(each.correct for each in _whole().predictions)
    told: list[PromptPredictions] = []
    with closing(Store(tmp_path / "r.db")) as store:
        cache = Cache(store, "llama", _model().arithmetic)
        goal = Goal(min(N, best + above))
        assert not is_decided(JOBS, goal, cache)
        first = _run(cache, goal, finished=told.append)
        assert isinstance(first, DecidedSweep)
        assert not first.passes
        assert tuple(told) == first.sweep.predictions
        assert first.at_most < goal.least
        assert first.at_least <= best <= first.at_most
        assert first.scored < N * len(JOBS)
        assert is_decided(JOBS, goal, cache)
        assert not is_stored(JOBS, cache)
        again = _run(cache, goal, _never)
        assert isinstance(again, DecidedSweep)
        assert again.sweep.predictions == first.sweep.predictions
        assert (again.sweep.engine.requests, again.sweep.engine.reused) == (0, len(JOBS))
        rest = run_sweep(JOBS, LocalExecutor(_model), cache=cache)
        assert is_stored(JOBS, cache)
    assert _chosen(rest) == _chosen(_whole())
    for one, other in zip(rest.predictions, _whole().predictions, strict=True):
        for left, right in zip(one.log_likelihoods, other.log_likelihoods, strict=True):
            assert left == pytest.approx(right, abs=1e-3)
    requests = first.sweep.engine.requests + rest.engine.requests
    assert requests == _whole().engine.requests


@pytest.mark.parametrize("fresh", [False, True])
def test_a_count_that_is_reached_is_not_enough_where_labels_count(
    tmp_path: Path, fresh: bool
) -> None:
    best = max(each.correct for each in _whole().predictions)
    with closing(Store(tmp_path / "r.db")) as store:
        cache = Cache(store, "llama", _model().arithmetic)
        found = _run(cache, Goal(best), fresh=fresh)
        assert isinstance(found, Sweep)
        assert _chosen(found) == _chosen(_whole())
        assert found.engine.requests == _whole().engine.requests
        assert is_stored(JOBS, cache)
        enough = _run(cache, Goal(best, passes=True), _never)
    assert isinstance(enough, DecidedSweep)
    assert enough.passes
    assert enough.at_least >= best
