"""Several requests under way at once, which never keep a process that is to end."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


def spread(
    ask: Callable[[_Asked], _Answer], asked: Iterable[_Asked], at_once: int
) -> Iterator[_Answer]:
    """Yield what a function returns for each of its arguments, in their order.

    Its threads end with the process: whoever interrupts it, or meets an error, waits for none.

    Parameters
    ----------
    at_once : int
        How many threads call it.
    """
    wanted = [(one, Future[_Answer]()) for one in asked]
    rest, taking, ended = iter(wanted), Lock(), Event()

    def work() -> None:
        while not ended.is_set():
            with taking:
                one, answer = next(rest, (None, None))
            if answer is None:
                return
            try:
                answer.set_result(ask(one))  # type: ignore[arg-type]
            except BaseException as error:
                answer.set_exception(error)

    for _ in range(min(at_once, len(wanted))):
        Thread(target=work, daemon=True).start()
    try:
        for _, answer in wanted:
            yield answer.result()
    finally:
        ended.set()
