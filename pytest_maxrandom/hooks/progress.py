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
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_maxrandom.notation import duration

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Iterable, Mapping

    from pytest_maxrandom.claims.counting import ClaimsOfRun
    from pytest_maxrandom.claims.planned import PlannedClaim

    _Message = str | list[str] | tuple[Any, ...]

_SAVE, _RESTORE, _DOWN, _ERASE = "\0337", "\0338", "\033D", "\033[K"
_INTERVAL = 0.2
_CHANNEL, _SHOWN = "maxrandom_progress", "maxrandom_progress_shown"
_BOARD = pytest.StashKey["Board"]()


class State(NamedTuple):
    """How far one process is with a model, in what a channel between processes takes."""

    model: str
    expected: int
    """Prompts of all claims that are selected; the same in all processes."""
    more: int
    """Prompts beyond these that were begun, less those that a decided sweep left out."""
    done: int
    computed: int
    """Prompts that are finished, and how many of them the store did not have."""
    seconds: float
    """That sweeps took."""
    at_work: bool
    """Whether it is the turn of one of its claims, or a sweep of it runs ahead of that."""


class Tally:
    """Counts the prompts of one model in one process.

    Parameters
    ----------
    expected : mapping of hashable to int
        How many prompts each claim has that is selected.

    Attributes
    ----------
    turns : int
        Of how many claims it is the turn.
    """

    def __init__(self, model: str, expected: Mapping[Hashable, int]) -> None:
        self._model = model
        self._expected = expected
        self._total: dict[Hashable, int] = {}
        self._done: dict[Hashable, int] = {}
        self._computed: dict[Hashable, int] = {}
        self._running: set[Hashable] = set()
        self._seconds = 0.0
        self._last = 0.0
        self.turns = 0

    def update(self, sweep: Hashable, done: int, total: int, computed: int, now: float) -> None:
        """Take what a sweep tells; one that is read again is finished already."""
        if self._running:
            self._seconds += now - self._last
        self._last = now
        self._total[sweep] = total
        self._done[sweep] = max(done, self._done.get(sweep, 0))
        self._computed[sweep] = max(computed, self._computed.get(sweep, 0))
        if done < total:
            self._running.add(sweep)
        else:
            self._running.discard(sweep)

    def end(self, sweep: Hashable) -> None:
        """Know that nothing more comes of a sweep, whether it is whole or not."""
        self._running.discard(sweep)
        self._total[sweep] = self._done[sweep]

    def is_whole(self, sweep: Hashable) -> bool:
        """Tell whether a sweep has all of its prompts."""
        return self._done[sweep] == self._total[sweep]

    def state(self) -> State:
        """Return what there is to tell."""
        more = sum(total - self._expected.get(sweep, 0) for sweep, total in self._total.items())
        return State(
            self._model,
            sum(self._expected.values()),
            more,
            sum(self._done.values()),
            sum(self._computed.values()),
            self._seconds,
            self.turns > 0 or bool(self._running),
        )


def text(states: Iterable[State]) -> str:
    """Return the line of a model, from what each process counts."""
    states = list(states)
    total = max(state.expected for state in states) + sum(state.more for state in states)
    done = min(total, sum(state.done for state in states))
    found = f"{states[0].model}: {done}/{total} prompts"
    rate = sum(
        state.computed / state.seconds for state in states if state.at_work and state.seconds
    )
    return f"{found}, {_rate(rate)}, {duration((total - done) / rate)} left" if rate else found


def _rate(prompts: float) -> str:
    if prompts < 0.1:
        return f"{60 * prompts:.2g}/min"
    return f"{prompts:.0f}/s" if prompts >= 10 else f"{prompts:.1f}/s"


class Board:
    """The lines of all models at work, below pytest's own; a plugin where there is a terminal.

    The cursor is saved before and restored after each writing, so that pytest's idea of where it
    stands in the line stays true. The lines are taken away before pytest writes.
    """

    def __init__(self, config: pytest.Config) -> None:
        worker: Mapping[str, Any] = getattr(config, "workerinput", {})
        self._channel, self._is_shown = worker.get(_CHANNEL), worker.get(_SHOWN, False)
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        self._tallies: dict[str, Tally] = {}
        self._states: dict[tuple[str, str], State] = {}
        self._lock = threading.RLock()
        self._turn = ""
        self._trainings: dict[str, str] = {}
        self._sentences: set[str] = set()
        self._lines = 0
        self._shown = 0.0
        self.is_seen = self._reporter is not None and self._capture is not None and self._watched()
        if self.is_seen:
            config.pluginmanager.register(self, "maxrandom_progress")

    def tally(self, claim: PlannedClaim, run: ClaimsOfRun) -> Tally:
        """Return what counts the prompts of a claim's model."""
        model = claim.arm.name
        if model not in self._tallies:
            prompts: dict[Hashable, int] = {
                one: len(one.condition.prompt_set.prompts) for one in run.of_arm(model)
            }
            self._tallies[model] = Tally(model, prompts)
        return self._tallies[model]

    def tell(self, tally: Tally, *, at_once: bool) -> None:
        """Show what this process counts, or send it to the one that can."""
        if not (self.is_seen or self._is_shown):
            return
        now = time.monotonic()
        if at_once or now - self._shown >= _INTERVAL:
            self._shown = now
            self._pass_on(tuple(tally.state()))

    def take(self, process: str, message: _Message) -> None:
        """Show what a process counts (a `State`), or the line of its training, empty at its end.

        The one sentence of a list is written, whether somebody watches or not.
        """
        with self._lock:
            if isinstance(message, list):
                self.say(*message)
            elif isinstance(message, str):
                self._trainings[process] = message
            else:
                state = State(*message)
                self._states[process, state.model] = state
            self._show()

    def begin(self, claim: PlannedClaim) -> None:
        """Take note of the claim whose model may be trained next in this process."""
        replicate = f", replicate {claim.replicate + 1}" if claim.replicate else ""
        self._turn = f"{claim.arm.name} on {claim.task}{replicate}"

    def train(self, step: int, steps: int, loss: float | None) -> None:
        """Show a training of this process below the lines of models; nothing when it is done."""
        shown = "" if loss is None else f", loss {loss:#.3g}"
        at = f"training {self._turn}: {step}/{steps} steps{shown}"
        self._pass_on(at if step < steps else "")

    def say(self, sentence: str) -> None:
        """Write a sentence on a line of its own, or let the process do so that can."""
        if self._channel is not None:
            self._pass_on([sentence])
            return
        with self._lock:
            # Workers say the same of what they share.
            if self._reporter is None or self._capture is None or sentence in self._sentences:
                return
            self._sentences.add(sentence)
            self.hide()
            with self._capture.global_and_fixture_disabled():
                self._reporter.ensure_newline()
                self._reporter.write_line(f"maxrandom: {sentence}")
                self._reporter.flush()

    def _pass_on(self, message: _Message) -> None:
        if self._channel is None:
            self.take("", message)
            return
        try:
            self._channel.send(message)
        except OSError:  # the controller has gone
            self._channel = None

    def listen(self, node: Any) -> None:
        """Let a worker of pytest-xdist say something, and what it counts where somebody sees it."""
        channel = node.gateway.newchannel()
        channel.setcallback(partial(self.take, node.gateway.id))
        node.workerinput |= {_CHANNEL: channel, _SHOWN: self.is_seen}

    def hide(self) -> None:
        """Take the lines away."""
        with self._lock:
            self._write([])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, object, object]:
        """Keep out of the way while pytest writes."""
        with self._lock:
            self.hide()
            found = yield
            self._show()
        return found

    pytest_runtest_logreport = pytest_runtest_logfinish = pytest_runtest_logstart

    @pytest.hookimpl(wrapper=True, tryfirst=True, optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> Generator[None, object, object]:
        """Expect nothing more of a worker that has gone."""
        with self._lock:
            for key in [key for key in self._states if key[0] == node.gateway.id]:
                self._states[key] = self._states[key]._replace(at_work=False)
            self._trainings.pop(node.gateway.id, None)
        return (yield from self.pytest_runtest_logstart())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Show nothing after the last test, whatever still comes."""
        self.hide()
        self.is_seen = False

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


def board(config: pytest.Config) -> Board:
    """Return the lines of a process; one that has no terminal sends them to the one that has."""
    if _BOARD not in config.stash:
        config.stash[_BOARD] = Board(config)
    return config.stash[_BOARD]


def say(config: pytest.Config, sentence: str) -> None:
    """Write a sentence on a line of its own, also where tests' output is captured."""
    board(config).say(sentence)


class Progress:
    """Counts the prompts of a claim's sweeps, and of the checks that go with it, for its model.

    Parameters
    ----------
    claim : PlannedClaim
        Whose own prompts the first sweep runs.
    run : ClaimsOfRun
        All that the session runs.
    """

    _further = count(-1, -1)

    def __init__(self, config: pytest.Config, claim: PlannedClaim, run: ClaimsOfRun) -> None:
        self.claim = claim
        self._board = board(config)
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
        self._tally.update(self._sweeps[-1], done, total, computed, time.monotonic())
        self._board.tell(self._tally, at_once=not done or done == total)
