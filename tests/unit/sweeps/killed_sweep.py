"""Sweep a small Llama in processes that share a store, or are killed; run by test_store_sweeps.

Usage: killed_sweep.py FOLDER KILLS. The model is made once and forked, because importing torch
takes longer than the sweep. Prints, as JSON, the kills, the sweeps that came to their end, the
prompts that were ever computed, and those that two processes computed which began together.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import tests.tiny as tiny
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.models.requests import Likelihoods, Request

CHOICES = [("apple", "stone"), ("Yes", "No", "True"), (" river", " dog, lazy fox", " é", "12")]
EXAMPLES = tuple(
    Example(f"q{i}", f"Which of these, {i}?", CHOICES[i % 3], (i % len(CHOICES[i % 3]),))
    for i in range(12)
)
TASK = Task("fruits", EXAMPLES, Layout(output_prefix="\nA: "))
PROMPTS = draw_prompts(
    TASK, EXAMPLES, PromptsSpec(shots=[2], count=40, demonstrations="leave_out"), 2
)
WORK = [(prompt, PROMPTS.scored(prompt)) for prompt in PROMPTS.prompts]


class Counting(CausalModel):
    """Writes a line to a file for every call."""

    log: Path

    def score(self, requests: Sequence[Request]) -> Likelihoods:
        """Score and tell."""
        with self.log.open("a") as file:
            file.write("called\n")
        return super().score(requests)


def made(log: Path) -> Counting:
    """Return a small random model, the same in every process."""
    model = Counting(tiny.causal_model("llama", 700), tiny.sentencepiece_tokenizer(), "cpu")
    model.log = log
    return model


def sweep(model: Counting, store: Path | None, result: Path) -> None:
    """Sweep, with or without a store, and write the exact numbers down."""
    opened = Store(store) if store else None
    found = run_sweep(
        jobs_of(WORK, "mean_logprob"),
        LocalExecutor(lambda: model),
        lambda *call: None,
        cache=Cache(opened, "llama", model.arithmetic) if opened else None,
    )
    if opened:
        assert opened.messages == []
        opened.close()
    rows = [
        [one.prompt.digest, [[v.hex() for v in row] for row in one.log_likelihoods], one.tokens,
         one.chosen, one.correct, one.ties]
        for one in found.predictions
    ]  # fmt: skip
    whole = result.with_suffix(".part")
    whole.write_text(json.dumps(rows))
    whole.rename(result)


def begun(action: Callable[[], None]) -> int:
    """Run something in a process, and return its id."""
    child = os.fork()
    if not child:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return child


def forked(action: Callable[[], None], kill_after: float | None = None) -> bool:
    """Run something in a process; return whether it came to its end."""
    child = begun(action)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def computed_together(model: Counting, folder: Path) -> int:
    """Sweep in two processes at the same time, and return how many prompts both computed."""
    model.log = folder / "together.log"
    results = [folder / f"together{number}.json" for number in range(2)]
    children = [begun(partial(sweep, model, folder / "together.db", result)) for result in results]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    for result in results:
        assert result.read_text() == (folder / "undisturbed.json").read_text()
    return len(model.log.read_text().splitlines())


def main(folder: Path, kills: int) -> None:
    """Sweep undisturbed, then with kills at random moments; a sweep that ends is begun anew."""
    model = made(folder / "undisturbed.log")
    started = time.perf_counter()
    undisturbed = folder / "undisturbed.json"
    assert forked(lambda: sweep(model, None, undisturbed))
    each = (time.perf_counter() - started) / len(WORK)
    together = computed_together(model, folder)
    model.log = folder / "killed.log"
    chance, killed, ended, whole = random.Random(0), 0, 0, False
    while not whole:
        store, result = folder / f"{ended}.db", folder / "killed.json"
        whole = killed == kills
        # Enough time for one prompt or two, so that most of a sweep is disturbed.
        after = None if whole else 0.005 + chance.uniform(0, 3 * each)
        if forked(partial(sweep, model, store, result), after):
            assert json.loads(result.read_text()) == json.loads(undisturbed.read_text())
            ended += 1
        else:
            killed += 1
    computed = len(model.log.read_text().splitlines())
    told = {"t": len(WORK), "kills": killed, "ended": ended, "computed": computed}
    print(json.dumps({**told, "together": together}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
