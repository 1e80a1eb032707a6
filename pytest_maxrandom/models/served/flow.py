"""How many requests are under way at once: as many as a server answers without being held up."""

from __future__ import annotations

import time
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")

FIRST, MOST = 8, 128
"""Requests under way at first, and at most, where nobody says how many."""
_ROUNDS = 3
"""Answers for each request under way, after which it is seen what more of them have brought."""
_GAIN = 1.1
"""By which factor twice as many requests must at least raise the answers in a second."""


class Flow:
    """A gate of what is asked of one server.

    Where nobody says how many requests are to be under way, there are twice as many each time, as
    long as that brings more answers in a second: then the server's queue is full. One that has too
    much to do (429, 503) is asked half as much, after as long as it says, and a little more with
    each answer then.

    Parameters
    ----------
    requests : int or None
        How many are to be under way.

    Attributes
    ----------
    window : float
        How many are under way at most.
    """

    def __init__(self, requests: int | None = None) -> None:
        self._most = requests or MOST
        self.window = float(requests or min(FIRST, self._most))
        self._grows = requests is None
        self._turn = Condition()
        self._running = 0
        self._alone = False
        self._until = 0.0
        self._answers, self._since = 0, 0.0
        self._rate: float | None = None

    def answered(self) -> None:
        """Note that a request was answered."""
        with self._turn:
            if self._alone:
                self._alone = False
                self._turn.notify_all()
            if not self._grows:
                if self.window < self._most:
                    self.window = min(self._most, self.window + 1 / self.window)
                    self._turn.notify()
                return
            self._answers += 1
            if self._answers >= _ROUNDS * self.window and self._running >= self.window:
                self._weigh(time.monotonic())

    def refused(self, seconds: float) -> None:
        """Note that a request was refused because there are too many, and for how long."""
        now = time.monotonic()
        with self._turn:
            if now >= self._until:  # else it was sent before the last refusal told anything
                self.window = max(1.0, self.window / 2)
                self._grows = False
            self._until = max(self._until, now + seconds)

    def spread(
        self, ask: Callable[[_Asked], _Answer], asked: Iterable[_Asked], *, alone: bool = False
    ) -> list[_Answer]:
        """Return what a function returns for each of its arguments, in their order.

        Its threads end with the process: whoever interrupts it, or meets an error, waits for none.

        Parameters
        ----------
        ask : callable
            Several threads call it, each with one request after the other.
        alone : bool
            Whether the first begins alone, until it has an answer: others then find what they share
            with it already read.
        """
        wanted = list(asked)
        rest, ended, over = iter(enumerate(wanted)), Event(), Event()
        answers: dict[int, _Answer] = {}
        failed: dict[int, BaseException] = {}

        def work() -> None:
            while (turn := self._next(rest, ended)) is not None:
                number, one = turn
                try:
                    answers[number] = ask(one)
                except BaseException as error:
                    failed[number] = error
                self._done()
                if failed or len(answers) == len(wanted):
                    over.set()

        self._answers, self._since, self._alone = 0, time.monotonic(), alone
        for _ in range(min(self._most, len(wanted))):
            Thread(target=work, daemon=True).start()
        try:
            if wanted:
                over.wait()
        finally:
            ended.set()
            with self._turn:
                self._turn.notify_all()
        if failed:
            raise failed[min(failed)]
        return [answers[number] for number in range(len(wanted))]

    def _next(self, rest: Iterator[tuple[int, _Asked]], ended: Event) -> tuple[int, _Asked] | None:
        """Wait for a turn, and return what is asked then; None where nothing is left."""
        with self._turn:
            while not ended.is_set():
                held = self._until - time.monotonic()
                if held <= 0 and self._running < (1 if self._alone else self.window):
                    if (turn := next(rest, None)) is None:
                        ended.set()
                        self._turn.notify_all()
                    else:
                        self._running += 1
                    return turn
                self._turn.wait(held if held > 0 else None)
        return None

    def _done(self) -> None:
        with self._turn:
            self._running -= 1
            self._turn.notify(self._most if self._alone else 1)
            self._alone = False

    def _weigh(self, now: float) -> None:
        """Compare the answers in a second with those of half as many requests."""
        rate = self._answers / max(now - self._since, 1e-9)
        self._answers, self._since = 0, now
        if self._rate is not None and rate < _GAIN * self._rate:
            self.window, self._grows = max(1.0, self.window / 2), False
            self._most = int(self.window)
        elif self.window >= self._most:
            self._grows = False
        else:
            self.window, self._rate = min(float(self._most), 2 * self.window), rate
            self._turn.notify_all()
