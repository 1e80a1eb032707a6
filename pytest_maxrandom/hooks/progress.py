"""A line for each model at work, where a person is watching: prompts done, rate, time left.

What is counted is what the sweeps of a process tell, wherever it was computed, and what a cluster
computes of sweeps that come later. Workers of pytest-xdist send what they count to the process that
has the terminal.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.hooks.tally import State, Tally, text

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Iterable, Mapping

    from pytest_maxrandom.claims.planned import PlannedClaim


def say(config: pytest.Config, sentence: str) -> None:
    """Write a sentence on a line of its own, also where tests' output is captured."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None or capture is None:  # a worker of pytest-xdist
        return
    board = _board(config)
    board.hide()
    with capture.global_and_fixture_disabled():
        reporter.ensure_newline()
        reporter.write_line(f"maxrandom: {sentence}")
        reporter.flush()


def begin_claim(config: pytest.Config, claim: PlannedClaim) -> None:
    """Take note of the claim whose model is loaded next, and perhaps trained."""
    _board(config).begin(claim)


def tell_training(config: pytest.Config, step: int, steps: int, loss: float | None) -> None:
    """Show how far a training is, and its loss, where a person is watching."""
    _board(config).train(step, steps, loss)


_SAVE, _RESTORE, _DOWN, _ERASE = "\0337", "\0338", "\033D", "\033[K"
_INTERVAL = 0.2
_CHANNEL = "maxrandom_progress"
_BOARD = pytest.StashKey["Board"]()


class Board:
    """The lines of all models at work, below pytest's own; a plugin where there is a terminal.

    The cursor is saved before and restored after each writing, so that pytest's idea of where it
    stands in the line stays true. The lines are taken away before pytest writes.
    """

    def __init__(self, config: pytest.Config) -> None:
        worker: Mapping[str, Any] = getattr(config, "workerinput", {})
        self._channel = worker.get(_CHANNEL)
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        self._tallies: dict[str, Tally] = {}
        self._states: dict[tuple[str, str], State] = {}
        self._lock = threading.RLock()
        self._turn = ""
        self._trainings: dict[str, str] = {}
        self._lines = 0
        self._shown = 0.0
        self.is_seen = self._reporter is not None and self._capture is not None and self._watched()
        if self.is_seen:
            config.pluginmanager.register(self, "maxrandom_progress")

    def tally(self, claim: PlannedClaim, run: Iterable[PlannedClaim]) -> Tally:
        """Return what counts the prompts of a claim's model."""
        model = claim.arm.name
        if model not in self._tallies:
            prompts: dict[Hashable, int] = {
                one: len(one.condition.prompt_set.prompts) for one in run if one.arm.name == model
            }
            self._tallies[model] = Tally(model, prompts)
        return self._tallies[model]

    def tell(self, tally: Tally, *, at_once: bool) -> None:
        """Show what this process counts, or send it to the one that can."""
        if not (self.is_seen or self._channel):
            return
        now = time.monotonic()
        if not at_once and now - self._shown < _INTERVAL:
            return
        state = tally.state()
        if self._channel is None:
            self.take("", state)
            return
        self._shown = now
        try:
            self._channel.send(tuple(state))
        except OSError:  # the controller has gone
            self._channel = None

    def take(self, process: str, state: State) -> None:
        """Show what a process counts."""
        with self._lock:
            self._states[process, state.model] = state
            self._show()

    def begin(self, claim: PlannedClaim) -> None:
        """Take note of the claim whose model may be trained next in this process."""
        replicate = f", replicate {claim.replicate + 1}" if claim.replicate else ""
        self._turn = f"{claim.arm.name} on {claim.task}{replicate}"

    def train(self, step: int, steps: int, loss: float | None) -> None:
        """Show a training of this process below the lines of models; nothing when it is done."""
        if not (self.is_seen or self._channel):
            return
        shown = "" if loss is None else f", loss {loss:#.3g}"
        text = f"training {self._turn}: {step}/{steps} steps{shown}" if step < steps else ""
        if self._channel is None:
            self.take_training("", text)
            return
        try:
            self._channel.send(text)
        except OSError:  # the controller has gone
            self._channel = None

    def take_training(self, process: str, text: str) -> None:
        """Show a training of a process; nothing where the text is empty."""
        with self._lock:
            self._trainings[process] = text
            self._show()

    def listen(self, node: Any) -> None:
        """Let a worker of pytest-xdist tell what it counts."""
        name, channel = node.gateway.id, node.gateway.newchannel()

        def take(told: str | tuple[Any, ...]) -> None:
            if isinstance(told, str):
                self.take_training(name, told)
            else:
                self.take(name, State(*told))

        channel.setcallback(take)
        node.workerinput[_CHANNEL] = channel

    def hide(self) -> None:
        """Take the lines away."""
        with self._lock:
            self._write([])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, object, object]:
        """Keep out of the way while pytest writes."""
        return (yield from self._apart())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self) -> Generator[None, object, object]:
        """Keep out of the way while pytest writes."""
        return (yield from self._apart())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self) -> Generator[None, object, object]:
        """Keep out of the way while pytest writes."""
        return (yield from self._apart())

    @pytest.hookimpl(wrapper=True, tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> Generator[None, object, object]:
        """Expect nothing more of a worker that has gone."""
        with self._lock:
            gone = [key for key in self._states if key[0] == node.gateway.id]
            for key in gone:
                self._states[key] = self._states[key]._replace(at_work=False)
            self._trainings.pop(node.gateway.id, None)
        return (yield from self._apart())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Show nothing after the last test, whatever still comes."""
        self.hide()
        self.is_seen = False

    def _apart(self) -> Generator[None, object, object]:
        with self._lock:
            self.hide()
            found = yield
            self._show()
        return found

    def _show(self) -> None:
        if not self.is_seen:
            return
        self._shown = time.monotonic()
        models = dict.fromkeys(state.model for state in self._states.values() if state.at_work)
        texts = [
            text([state for state in self._states.values() if state.model == model])
            for model in models
        ]
        texts += filter(None, self._trainings.values())
        room = max(1, shutil.get_terminal_size().lines - 3)
        if len(texts) > room:
            texts[room - 1 :] = [f"and {len(texts) - room + 1} more models"]
        self._write(texts)

    def _write(self, texts: list[str]) -> None:
        """Write lines below pytest's, and nothing where older ones stand."""
        if not (lines := max(len(texts), self._lines)):
            return
        assert sys.__stdout__ is not None
        width = self._reporter._tw.fullwidth - 1
        texts = [f"  {one}"[:width] for one in texts]
        self._lines = len(texts)
        texts += [""] * (lines - len(texts))
        with self._capture.global_and_fixture_disabled():
            self._reporter.flush()
            # Moving down first lets the terminal scroll before the cursor's place is saved.
            sys.__stdout__.write(
                f"{_DOWN * lines}\033[{lines}A{_SAVE}"
                + "".join(f"\r\n{one}{_ERASE}" for one in texts)
                + _RESTORE
            )
            sys.__stdout__.flush()

    def _watched(self) -> bool:
        with self._capture.global_and_fixture_disabled():
            return sys.__stdout__ is not None and sys.__stdout__.isatty()


def _board(config: pytest.Config) -> Board:
    if _BOARD not in config.stash:
        config.stash[_BOARD] = Board(config)
    return config.stash[_BOARD]


def listen(node: Any) -> None:
    """Let a worker of pytest-xdist tell how far it is, where somebody sees it."""
    board = _board(node.config)
    if board.is_seen:
        board.listen(node)


class Progress:
    """Counts the prompts of a claim's sweeps, and of the checks that go with it, for its model.

    Parameters
    ----------
    claim : PlannedClaim
        Whose own prompts the first sweep runs.
    run : iterable of PlannedClaim
        All that the session runs.
    """

    _further = count(-1, -1)

    def __init__(
        self, config: pytest.Config, claim: PlannedClaim, run: Iterable[PlannedClaim]
    ) -> None:
        self.claim = claim
        self._board = _board(config)
        self._tally = self._board.tally(claim, run)
        self._sweeps: list[Hashable] = []

    def __enter__(self) -> Progress:
        self._tally.turns += 1
        self._board.begin(self.claim)
        return self

    def __exit__(self, *exception: object) -> None:
        for sweep in self._sweeps:
            self._tally.end(sweep)
        self._tally.turns -= 1
        self._board.tell(self._tally, at_once=True)

    def __call__(self, done: int, total: int, computed: int) -> None:
        """Show that `done` of `total` prompts are finished, `computed` of them not by the store."""
        if not self._sweeps:
            self._sweeps.append(self.claim)
        elif not done and self._tally.is_whole(self._sweeps[-1]):
            self._sweeps.append(next(self._further))
        self._tally.told(self._sweeps[-1], done, total, computed, time.monotonic())
        self._board.tell(self._tally, at_once=not done or done == total)
