"""A sweep with a store computes nothing twice, and whatever stops it, its numbers stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.store import Key, open_store
from pytest_maxrandom.sweeps.sweep import Sweep, is_stored, run_sweep, scored_digest, stored_sweep
from pytest_maxrandom.tasks.task import Example
from tests.unit.sweeps import killed_sweep
from tests.unit.sweeps.killed_sweep import WORK, made

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.store import Store
    from pytest_maxrandom.sweeps.sweep import Work

FEW = WORK[:4]


def _never() -> Model:
    raise AssertionError("the model was loaded")


def _run(store: Store, log: Path, work: Work = FEW, **said: object) -> Sweep:
    arguments = {"store": store, "model_digest": "llama", **said}
    return run_sweep(work, lambda: made(log), "mean_logprob", lambda *call: None, **arguments)  # type: ignore[arg-type]


def test_a_second_run_loads_no_model_and_finds_the_same(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "results.db")) as store:
        first = _run(store, tmp_path / "log")
    told: list[PromptPredictions] = []
    with closing(open_store(tmp_path / "results.db")) as store:
        second = run_sweep(
            FEW,
            _never,
            "mean_logprob",
            lambda *call: None,
            store=store,
            model_digest="llama",
            finished=told.append,
        )
    assert second.predictions == first.predictions
    assert tuple(told) == first.predictions.prompts
    assert (first.engine.reused, second.engine.reused) == (0, 4)
    assert second.engine.reused_seconds == first.engine.seconds
    assert (second.engine.requests, second.engine.tokens_forwarded) == (0, 0)
    for name in ("device", "dtype", "engine", "engine_reason", "closest"):
        assert getattr(second.engine, name) == getattr(first.engine, name)


@pytest.mark.parametrize(
    "other", [{"model_digest": "other"}, {"forced_engine": "plain"}, {"work": WORK[4:8]}]
)
def test_nothing_is_reused_for_another_model_engine_or_prompt(
    tmp_path: Path, other: dict[str, object]
) -> None:
    with closing(open_store(tmp_path / "results.db")) as store:
        _run(store, tmp_path / "log")
        assert _run(store, tmp_path / "log", **other).engine.reused == 0  # type: ignore[arg-type]


ELSEWHERE = Arithmetic("another processor", "torch", {"torch": "1"})


def test_results_of_another_arithmetic_are_never_mixed_into_a_sweep(tmp_path: Path) -> None:
    found = made(tmp_path / "log").arithmetic
    with closing(open_store(tmp_path / "results.db")) as store:
        begun = _run(store, tmp_path / "log", FEW[:2], arithmetic=found)
        assert begun.engine.arithmetic == found
        # As if two prompts had been computed elsewhere, and the other two are to be computed here.
        for key, stored in store.get(_keys_of(FEW, found)).items():
            cost = replace(stored.cost, arithmetic=ELSEWHERE)
            store.put(key._replace(arithmetic=ELSEWHERE.digest), replace(stored, cost=cost))
        elsewhere = stored_sweep(FEW[:2], "mean_logprob", store, "llama", "auto", ELSEWHERE)
        assert elsewhere is not None
        assert elsewhere.engine.arithmetic == ELSEWHERE
        store_of = {key: store.get([key]) for key in _keys_of(FEW, found)}
        assert [len(each) for each in store_of.values()] == [1, 1, 0, 0]
        # What was foretold is wrong: only what the loaded model's arithmetic gave is read.
        whole = _run(store, tmp_path / "log", FEW, arithmetic=ELSEWHERE)
        assert whole.engine.reused == 2
        assert whole.engine.arithmetic == found
        assert is_stored(FEW, "mean_logprob", store, "llama", "auto", found)
        assert not is_stored(FEW, "mean_logprob", store, "llama", "auto", ELSEWHERE)


def _keys_of(work: Work, arithmetic: Arithmetic) -> list[Key]:
    return [
        Key(
            "llama",
            scored_digest(prompt.format, examples),
            prompt.digest,
            "mean_logprob",
            arithmetic=arithmetic.digest,
        )
        for prompt, examples in work
    ]


def test_the_digest_of_what_is_scored_is_of_content_and_order_not_ids() -> None:
    prompt = WORK[0][0]
    one = Example("a", "Which?", ("x", "y"), (0,))
    two = Example("b", "Where?", ("x", "y"), (0,))

    def of(*examples: Example) -> str:
        return scored_digest(prompt.format, examples)

    assert of(one, two) != of(two, one) != of(one)
    changed = [("Which ?", ("x", "y"), (0,)), ("Which?", ("x", "yy"), (0,)),
               ("Which?", ("x", "y"), (1,)), ("Which?", ("x", "y", "z"), (0,))]  # fmt: skip
    assert len({of(Example("a", *content)) for content in changed} | {of(one)}) == 5


def test_a_new_prompt_is_told_before_it_is_stored(tmp_path: Path) -> None:
    def fail(one: PromptPredictions) -> None:
        raise OSError("the ledger is gone")

    with closing(open_store(tmp_path / "results.db")) as store:
        with pytest.raises(OSError, match="gone"):
            _run(store, tmp_path / "log", finished=fail)
        assert _run(store, tmp_path / "log").engine.reused == 0


def test_an_interruption_leaves_all_that_was_finished(tmp_path: Path) -> None:
    done: list[PromptPredictions] = []

    def interrupt(one: PromptPredictions) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(one)

    with closing(open_store(tmp_path / "results.db")) as store:
        with pytest.raises(KeyboardInterrupt):
            _run(store, tmp_path / "log", finished=interrupt)
        again = _run(store, tmp_path / "log")
        assert again.engine.reused == 2
        assert again.predictions.prompts[:2] == tuple(done)


@pytest.fixture(scope="module")
def in_processes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What is counted of sweeps in processes that share a store, or are killed."""
    folder = tmp_path_factory.mktemp("processes")
    done = subprocess.run(
        [sys.executable, "-m", killed_sweep.__name__, str(folder), "50"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_two_processes_on_one_suite_do_the_work_once(in_processes: dict[str, int]) -> None:
    assert in_processes["together"] == in_processes["t"]


def test_fifty_kills_at_random_moments_change_nothing(in_processes: dict[str, int]) -> None:
    assert in_processes["kills"] == 50
    needed = in_processes["t"] * in_processes["ended"]
    assert needed <= in_processes["computed"] <= needed + in_processes["kills"]
