"""A server's choices by each of three ways: the same numbers, and no more computed than by echo."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.replies import Read, Spent
from pytest_maxrandom.models.served.vllm import Vllm
from pytest_maxrandom.models.served.ways import Leg, costs, shared_length, walk
from tests.block_cache import BlockCache
from tests.hashed_model import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.served import FakeServer

WAYS = ("walk", "forced", "echo")


def examples(count: int, prompt: int, spans: Sequence[Sequence[int]]) -> list[list[Request]]:
    """Return the requests of examples of one prompt, whose choices have the given tokens.

    Parameters
    ----------
    prompt : int
        Tokens that all examples share; each has some 60 of its own after them.
    """
    draw = random.Random(prompt)
    before = [draw.randrange(100) for _ in range(prompt)]
    groups = []
    for number in range(count):
        own = random.Random(f"{prompt} {number}")
        context = (*before, *(own.randrange(100) for _ in range(60 + number % 7)), 200)
        groups.append([Request((*context, *span), len(context)) for span in spans])
    return groups


def choices(number: int, length: int, shared: int = 1) -> list[tuple[int, ...]]:
    """Return distinct choices which have their first tokens in common."""
    draw = random.Random(f"{number} {length}")
    first = [draw.randrange(100) for _ in range(shared)]
    return [
        (*first, 100 + choice, *draw.sample(range(100), length - shared - 1))
        for choice in range(number)
    ]


SHAPES: dict[str, Sequence[Sequence[int]]] = {
    "answers of one token": [(1,), (2,), (3,), (4,)],
    "labels in parentheses": [(101, 10 + choice, 102) for choice in range(5)],
    "answers of three tokens": choices(2, 3),
    "five sentences": choices(5, 14),
    "four spans of time": choices(4, 8),
    "one is a part of another": [(5, 6), (5, 6, 7), (8, 9, 10, 11)],
    "a token that comes twice": [(3, 4, 3, 4, 5), (3, 4, 4, 4, 6)],
}


def true(request: Request) -> float:
    return math.fsum(
        log_probabilities(request.ids[:at])[request.ids[at]]
        for at in range(request.start, len(request.ids))
    )


def asked(
    server: FakeServer, groups: list[list[Request]], way: str = "", block: int = 16
) -> tuple[Vllm, list[list[float]]]:
    """Ask for all examples of a prompt, the first alone, as a model does."""
    server.cache = BlockCache(block)
    dialect = Vllm(Endpoint(server.url), server.model)
    if way:
        dialect.way = way
    else:
        dialect.plan(groups, [])
    return dialect, [dialect.score(group).values for group in groups]


@pytest.mark.parametrize("shape", SHAPES)
def test_whichever_way_is_taken_the_numbers_are_the_same_to_the_last_bit(
    vllm: FakeServer, shape: str
) -> None:
    groups = examples(3, 50, SHAPES[shape])
    expected = [[true(request) for request in group] for group in groups]
    for way in WAYS:
        assert asked(vllm, groups, way)[1] == expected


@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_way_costs_is_what_the_server_computes(
    vllm: FakeServer, shape: str, block: int
) -> None:
    groups = examples(6, 150, SHAPES[shape])
    # A model whose logits lie near to each other can be made to say anything.
    vllm.logits = lambda values: values / 10
    asked(vllm, groups[:1], "forced", block)
    for way in WAYS:
        vllm.cache.computed = 0
        dialect = Vllm(Endpoint(vllm.url), vllm.model)
        dialect.way = way
        read = [dialect.score(group) for group in groups[1:]]
        computed = vllm.cache.computed
        assert sum(one.spent.tokens for one in read) == computed
        expected = costs(groups[1:], block, shared_length(groups))
        if way == "echo":
            assert computed == expected.echo
            continue
        led, lost = getattr(expected, way)
        assert led <= computed <= lost
        if way == "forced":
            assert computed == led
            assert not sum(one.strayed for one in read)
        vllm.cache = BlockCache(block)
        asked(vllm, groups[:1], "forced", block)


@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("prompt", [0, 10, 100, 330])
def test_never_more_is_computed_than_by_echo(
    vllm: FakeServer, shape: str, block: int, prompt: int
) -> None:
    groups = examples(20, prompt, SHAPES[shape])
    _, values = asked(vllm, groups, block=block)
    echo = sum(len(request.ids) for group in groups for request in group)
    assert vllm.cache.computed <= echo
    # A text that is hardly longer than a block is read nearly as a whole each time.
    if prompt >= (300 if block == 128 else 100) and shape in (
        "five sentences",
        "four spans of time",
    ):
        assert echo / vllm.cache.computed > 1.8
    assert values[0] == [true(request) for request in groups[0]]


def test_a_server_that_keeps_nothing_is_asked_to_echo(vllm: FakeServer) -> None:
    long, short = (examples(3, 100, SHAPES[shape]) for shape in list(SHAPES)[3::-3])
    vllm.cache = BlockCache(2**40)
    dialect = Vllm(Endpoint(vllm.url), vllm.model)
    assert dialect.plan(long, []) == "echo"
    # One request tells of all choices of one token.
    assert dialect.plan(short, []) == "walk"


def test_a_model_that_cannot_be_led_is_asked_in_another_way_from_the_next_prompt_on(
    vllm: FakeServer,
) -> None:
    # Logits so low that whatever is added to them leaves them below zero.
    vllm.logits = lambda values: values - 300
    groups = examples(12, 100, SHAPES["five sentences"])
    dialect, values = asked(vllm, groups, block=128)
    assert dialect.way == "forced"
    assert values == [[true(request) for request in group] for group in groups]
    assert dialect.plan(groups, [dialect.score(group) for group in groups]) == "echo"
    # Of a model that is seen to follow the choices by itself, that is learnt as well.
    dialect.way = "walk"
    assert dialect.plan(groups, [Read([], Spent(), leading=40, strayed=1)]) == "walk"


def test_a_walk_begins_again_only_where_it_was_not_led() -> None:
    """A server that generates the least token: of 1 2 3, 1 2 4 and 1 5, only 5 is left out."""
    legs: list[tuple[tuple[int, ...], int]] = []

    def ask(leg: Leg) -> Iterator[Any]:
        legs.append((leg.text, leg.steps))
        text = leg.text
        for _ in range(leg.steps):
            generated = min(set(leg.told) - set(text))
            yield dict.fromkeys(leg.told, -float(len(text))), generated
            text = (*text, generated)

    spans = [(0, 1, 2, 3), (0, 1, 2, 4), (0, 1, 5, 6)]
    walked = walk([Request(ids, 1) for ids in spans], ask)
    assert walked.values == [-6.0, -6.0, -6.0]
    assert legs == [((0,), 3), ((0, 1, 5), 1)]
    assert (walked.leading, walked.strayed) == (2, 0)
