"""Requests under way follow the server: more while that brings more answers, fewer when refused."""

from __future__ import annotations

import threading
import time

import pytest

from pytest_maxrandom.models.served import endpoint
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.flow import FIRST, MOST, Flow
from tests.served import serving


class Simulated:
    """A server that takes so many requests at once, each for a second of a clock of its own."""

    def __init__(self, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_once = at_once
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def answer(self, flow: Flow, rounds: int) -> None:
        """Answer all that is under way, so many times."""
        for _ in range(rounds):
            under_way = int(flow.window)
            flow._running = under_way
            for _ in range(under_way):
                self.now += 1 / min(self.at_once, under_way)
                flow.answered()


@pytest.mark.parametrize(
    ("at_once", "settles"), [(1, 8), (8, 8), (16, 16), (64, 64), (10_000, MOST)]
)
def test_requests_are_as_many_as_bring_more_answers(
    at_once: int, settles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = Flow()
    assert flow.window == FIRST
    server = Simulated(at_once, monkeypatch)
    server.answer(flow, 60)
    assert flow.window == settles
    server.answer(flow, 60)
    assert flow.window == settles


def test_a_number_that_is_given_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = Flow(3)
    Simulated(1, monkeypatch).answer(flow, 60)
    assert flow.window == 3


def test_a_refusal_halves_them_once_for_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = Flow(16)
    server = Simulated(100, monkeypatch)
    flow.refused(5)
    assert flow.window == 8
    server.now += 4
    flow.refused(5)  # sent before anything was known
    assert flow.window == 8
    server.now += 6
    flow.refused(0)
    assert flow.window == 4
    server.answer(flow, 3)
    assert 6 <= flow.window <= 8
    server.answer(flow, 100)
    assert flow.window == 16
    for _ in range(9):
        flow.refused(1)
        server.now += 2
    assert flow.window == 1


def test_no_more_are_under_way_and_all_come_in_their_order() -> None:
    flow, lock = Flow(4), threading.Lock()
    under_way, most = 0, 0

    def ask(number: int) -> int:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.001)
        with lock:
            under_way -= 1
        return -number

    assert list(flow.spread(ask, range(100))) == [-number for number in range(100)]
    assert most <= 4
    assert list(flow.spread(ask, [])) == []


def test_the_others_begin_once_the_first_has_an_answer() -> None:
    flow, begun = Flow(4), []

    def ask(number: int) -> int:
        begun.append(number)
        if number == 0:
            time.sleep(0.01)
            assert begun == [0]
            flow.answered()
            while len(begun) < 4:  # though it goes on itself
                time.sleep(0.001)
        return number

    assert list(flow.spread(ask, range(10), alone=True)) == list(range(10))


def test_an_error_ends_the_others() -> None:
    asked: list[int] = []

    def ask(number: int) -> int:
        asked.append(number)
        if number == 3:
            raise ValueError("no third one")
        return number

    with pytest.raises(ValueError, match="no third one"):
        list(Flow(1).spread(ask, range(100_000)))
    assert len(asked) < 100_000


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_has_too_much_to_do_is_asked_less(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "BACKOFF", 0.001)
    with serving("vllm") as server:
        at = Endpoint(server.url, requests=8)
        server.faults["statuses"] = [(status, {"Retry-After": "0"})]
        assert at.get("/version") == {"version": server.version}
        assert 4 <= at.flow.window < 5
        assert len(server.bodies) == 2


def test_all_models_of_a_server_share_its_connections() -> None:
    with serving("vllm") as server:
        for _ in range(5):
            assert Endpoint(server.url).get("/version") == {"version": server.version}
        assert len(server.clients) == 1
