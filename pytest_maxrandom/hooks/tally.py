"""Counts of the prompts of each model in each process, and the line that tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.notation import duration

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping


class State(NamedTuple):
    """How far one process is with a model, in what a channel between processes takes.

    Attributes
    ----------
    expected : int
        Prompts of all claims that are selected; the same in all processes.
    more : int
        Prompts beyond these that were begun, less those that a decided sweep left out.
    done, computed : int
        Prompts that are finished, and how many of them the store did not have.
    seconds : float
        That sweeps took.
    at_work : bool
        Whether it is the turn of one of its claims, or a sweep of it runs ahead of that.
    """

    model: str
    expected: int
    more: int
    done: int
    computed: int
    seconds: float
    at_work: bool


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

    def told(self, sweep: Hashable, done: int, total: int, computed: int, now: float) -> None:
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
