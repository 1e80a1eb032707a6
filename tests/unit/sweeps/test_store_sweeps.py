"""A sweep with a store computes nothing twice, and whatever stops it, its numbers stay the same."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, Scored, jobs_of, scored_digest
from pytest_maxrandom.sweeps.rows import ModelAnswers
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, Sweep, is_stored, run_sweep, stored_sweep
from pytest_maxrandom.tasks.task import Example
from tests.unit.sweeps import killed_sweep
from tests.unit.sweeps.killed_sweep import WORK, made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.sweeps.predictions import PromptPredictions


FEW = jobs_of(WORK[:4], "mean_logprob")


def _never() -> Model:
    raise AssertionError("the model was loaded")


def _cache(store: Store, arithmetic: Arithmetic | None = None) -> Cache:
    return Cache(store, "llama", arithmetic or _arithmetic())


@cache
def _arithmetic() -> Arithmetic:
    return made(Path(os.devnull)).arithmetic


def _run(cache: Cache, jobs: Sequence[Job] = FEW, **said: Any) -> Sweep:
    return run_sweep(jobs, LocalExecutor(lambda: made(Path(os.devnull))), cache=cache, **said)


def test_a_second_run_loads_no_model_and_finds_the_same(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "results.db")) as store:
        first = _run(_cache(store))
    told: list[PromptPredictions] = []
    with closing(Store(tmp_path / "results.db")) as store:
        second = run_sweep(FEW, LocalExecutor(_never), cache=_cache(store), finished=told.append)
    assert second.predictions == first.predictions
    assert tuple(told) == first.predictions
    assert (first.engine.reused, second.engine.reused) == (0, 4)
    assert second.engine.reused_seconds == first.engine.seconds
    assert (second.engine.requests, second.engine.tokens_forwarded) == (0, 0)
    for name in ("device", "dtype", "engine", "engine_reason", "closest"):
        assert getattr(second.engine, name) == getattr(first.engine, name)


@pytest.mark.parametrize("other", [{"model_digest": "other"}, {"forced_engine": "plain"}])
def test_nothing_is_reused_for_another_model_or_engine(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    with closing(Store(tmp_path / "results.db")) as store:
        _run(_cache(store))
        assert _run(replace(_cache(store), **other)).engine.reused == 0


def test_nothing_is_reused_for_another_prompt(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "results.db")) as store:
        _run(_cache(store))
        assert _run(_cache(store), jobs_of(WORK[4:8], "mean_logprob")).engine.reused == 0


ELSEWHERE = Arithmetic("another processor", "torch", {"torch": "1"})


def test_results_of_another_arithmetic_are_never_mixed_into_a_sweep(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "results.db")) as store:
        here, there = _cache(store), _cache(store, ELSEWHERE)
        begun = _run(here, FEW[:2])
        assert begun.engine.arithmetic == _arithmetic()
        # As if two prompts had been computed elsewhere, and the other two are to be computed here.
        for job, stored in zip(FEW, here.read(FEW[:2]).values(), strict=False):
            there.write(job, replace(stored, cost=replace(stored.cost, arithmetic=ELSEWHERE)))
        elsewhere = stored_sweep(FEW[:2], there)
        assert elsewhere is not None
        assert elsewhere.engine.arithmetic == ELSEWHERE
        assert here.read(FEW).keys() == there.read(FEW).keys() == {0, 1}
        # What was foretold is wrong: only what the loaded model's arithmetic gave is read.
        whole = _run(there)
        assert whole.engine.reused == 2
        assert whole.engine.arithmetic == _arithmetic()
        assert is_stored(FEW, here)
        assert not is_stored(FEW, there)


class Backwards(LocalExecutor):
    """Gives what was asked last first, as other machines may."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Scored]]:
        sent = [pickle.loads(pickle.dumps(job)) for job in jobs]
        return super().run(sent[::-1])


def test_results_in_any_order_are_told_at_once_and_shown_in_the_order_of_the_prompts(
    tmp_path: Path,
) -> None:
    told: list[PromptPredictions] = []
    shown: list[tuple[int, ...]] = []
    with closing(Store(tmp_path / "results.db")) as store:
        _run(_cache(store), jobs_of(WORK[1:2], "mean_logprob"))
        found = run_sweep(
            FEW,
            Backwards(lambda: made(Path(os.devnull))),
            lambda *call: shown.append(call),
            cache=_cache(store),
            finished=told.append,
        )
        assert found.engine.reused == 1
        assert is_stored(FEW, _cache(store))
    expected = run_sweep(FEW, LocalExecutor(lambda: made(Path(os.devnull))))
    assert found.predictions == expected.predictions
    order = [one.prompt.digest for one in found.predictions]
    assert [one.prompt.digest for one in told] == [order[number] for number in (1, 3, 2, 0)]
    assert sorted(told, key=lambda one: order.index(one.prompt.digest)) == list(found.predictions)
    assert shown == [(0, 4, 0), (1, 4, 0), (2, 4, 1), (3, 4, 2), (4, 4, 3)]


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

    with closing(Store(tmp_path / "results.db")) as store:
        with pytest.raises(OSError, match="gone"):
            _run(_cache(store), finished=fail)
        assert _run(_cache(store)).engine.reused == 0


def test_an_interruption_leaves_all_that_was_finished(tmp_path: Path) -> None:
    done: list[PromptPredictions] = []

    def interrupt(one: PromptPredictions) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(one)

    with closing(Store(tmp_path / "results.db")) as store:
        with pytest.raises(KeyboardInterrupt):
            _run(_cache(store), finished=interrupt)
        again = _run(_cache(store))
        assert again.engine.reused == 2
        assert again.predictions[:2] == tuple(done)


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


@pytest.mark.slow
def test_two_processes_on_one_suite_do_the_work_once(in_processes: dict[str, int]) -> None:
    assert in_processes["together"] == in_processes["t"]


@pytest.mark.slow
def test_fifty_kills_at_random_moments_change_nothing(in_processes: dict[str, int]) -> None:
    assert in_processes["kills"] == 50
    needed = in_processes["t"] * in_processes["ended"]
    assert needed <= in_processes["computed"] <= needed + in_processes["kills"]


def of_model(name: str, codes: bytes = b"01", questions: str = "q") -> ModelAnswers:
    return ModelAnswers(questions, name, f"digest of {name}", "cpu", codes)


def told(store: Store, questions: str = "q") -> dict[str, bytes]:
    found = store.answered(questions)
    assert all(each.is_sound for each in found)
    return {each.name: each.codes for each in found}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens one file again and again; what is open at the end is closed."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Store(tmp_path / "store.db")))


def test_what_other_processes_add_and_change_of_answers_is_known(
    opened: Callable[[], Store],
) -> None:
    one, other = opened(), opened()
    one.put_answers(of_model("a"))
    one.put_answers(of_model("a", questions="others"))
    assert told(other) == {"a": b"01"}
    other.put_answers(of_model("b"))
    one.put_answers(of_model("a", b"11"))  # the last row, and one before
    assert told(one) == told(other) == {"a": b"11", "b": b"01"}
    other.put_answers(of_model("b", b"10"))
    assert told(one) == told(other) == {"a": b"11", "b": b"10"}
    assert told(one, "others") == {"a": b"01"}


def test_answers_are_written_again_where_the_store_has_lost_or_changed_them(
    tmp_path: Path, opened: Callable[[], Store]
) -> None:
    store = opened()
    store.put_answers(of_model("a"))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE answers SET codes = ?", (b"00",))
    assert not opened().answered("q")[0].is_sound
    other = opened()
    other.put_answers(of_model("a", b"00"))
    assert told(opened()) == {"a": b"00"}
    for each in tmp_path.glob("store.db*"):
        each.unlink()
    store.put_answers(of_model("a"))
    assert told(store) == told(opened()) == {"a": b"01"}


def test_answers_to_many_questions_are_read_again_where_not_all_are_kept(
    opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_maxrandom.sweeps.store._MOST_KEPT", 5)
    store = opened()
    for questions in "pqr" * 2:
        for name in "ab":
            store.put_answers(of_model(name, name.encode() * 2, questions))
    assert all(told(store, each) == {"a": b"aa", "b": b"bb"} for each in "pqr")
