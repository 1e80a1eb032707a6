"""Tokens that a server computes for choices of each kind: in the cheapest way, and by `echo`.

    python -m benchmarks.choices

The server is a fake one, which keeps whole blocks of what it has read as vLLM's scheduler does, and
samples in the order of vLLM's sampler; its model says anything, and follows no choice. What a real
one computes is compared by `make proof`. The questions are made here in the words of BIG-bench
Hard, which lists its options: navigate, logical deduction with five sentences as choices, and
temporal sequences.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.workloads import bpe
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import MODELS
from tests import hashed_model, served
from tests.block_cache import BlockCache

if TYPE_CHECKING:
    from collections.abc import Callable

    Example = tuple[str, tuple[str, ...]]

_CONCURRENCY = 8
_THINGS = (
    "raven",
    "blue jay",
    "quail",
    "falcon",
    "robin",
    "crow",
    "owl",
    "cardinal",
    "hummingbird",
)
_PLACES = ("the leftmost", "the second from the left", "the third from the left",
           "the second from the right", "the rightmost")  # fmt: skip
_NAMES = ("Tiffany", "Michael", "Linda", "Richard", "Anthony", "Betty", "Sean", "Leslie")
_DOINGS = ("walking in the garden", "getting a coffee at the cafe", "buying clothes at the mall",
           "reading at the library", "fixing their computer at the store")  # fmt: skip
_TURNS = ("Turn left.", "Turn right.", "Turn around.", "Take 3 steps forward.", "Take 7 steps.")


def navigate(draw: random.Random) -> Example:
    """Return a question with two choices of one token or two."""
    steps = " ".join(draw.choice(_TURNS) for _ in range(8))
    asked = "If you follow these instructions, do you return to the starting point?"
    return f"{asked} {steps}\nOptions:\n- Yes\n- No", (" Yes", " No")


def deduction(draw: random.Random) -> Example:
    """Return a question with five sentences as choices."""
    things = draw.sample(_THINGS, 5)
    said = " ".join(
        f"The {one} is to the {draw.choice(('left', 'right'))} of the {other}."
        for one, other in itertools.pairwise(things)
    )
    listed = ", ".join(f"a {thing}" for thing in things[:4])
    asked = (
        "The following paragraphs each describe a set of five objects arranged in a fixed order. "
        "The statements are logically consistent within each paragraph. On a branch, there are "
        f"five birds: {listed}, and a {things[4]}. {said}"
    )
    place = draw.choice(_PLACES)
    return _listing(asked, [f"The {thing} is {place}" for thing in draw.sample(things, 5)])


def temporal(draw: random.Random) -> Example:
    """Return a question with four spans of time."""
    name, hours = draw.choice(_NAMES), sorted(draw.sample(range(6, 23), 5))
    times = [f"{(hour - 1) % 12 + 1}{'am' if hour < 12 else 'pm'}" for hour in hours]
    said = "".join(
        f"{draw.choice(_NAMES)} saw {name} {draw.choice(_DOINGS)} from {one} to {other}.\n"
        for one, other in itertools.pairwise(times)
    )
    asked = (
        f"Today, {name} went to the museum. Between what times could they have gone?\nWe know "
        f"that:\n{name} woke up at {times[0]}.\n{said}The museum was closed after {times[-1]}.\n"
        f"Between what times could {name} have gone to the museum?"
    )
    return _listing(asked, [f"{one} to {other}" for one, other in itertools.pairwise(times)])


def _listing(asked: str, choices: list[str]) -> Example:
    """Return a question that lists its choices."""
    letters = zip("ABCDE", choices, strict=False)
    shown = "\n".join(f"({letter}) {choice}" for letter, choice in letters)
    return f"{asked}\nOptions:\n{shown}", tuple(f" {choice}" for choice in choices)


WORKLOADS: dict[str, tuple[Callable[[random.Random], Example], int, int]] = {
    "navigate, 2 choices": (navigate, 2, 80),
    "logical deduction, 5 sentences": (deduction, 2, 40),
    "temporal sequences, 4 spans": (temporal, 0, 40),
}
"""Questions, with their shots and how many of them are asked."""


def prompts(name: str, count: int) -> list[list[Question]]:
    """Return, for each of some prompts, its questions."""
    make, shots, examples = WORKLOADS[name]
    asked = [make(random.Random(f"{name} {number}")) for number in range(examples)]
    found = []
    for number in range(count):
        draw = random.Random(f"{name} prompt {number}")
        shown = [make(draw) for _ in range(shots)]
        before = "".join(f"Q: {text}\nA:{draw.choice(choices)}\n\n" for text, choices in shown)
        found.append([Question(f"{before}Q: {text}\nA:", choices) for text, choices in asked])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="*", default=[16, 32, 128])
    parser.add_argument("--prompts", type=int, default=2)
    arguments = parser.parse_args()
    loads = {name: prompts(name, arguments.prompts) for name in WORKLOADS}
    texts = [
        question.context + answer
        for load in loads.values()
        for asked in load
        for question in asked
        for answer in question.answers
    ]
    hashed_model.VOCABULARY = 8192
    fake: Any = served
    with tempfile.TemporaryDirectory() as made, served.serving("vllm") as server:
        tokenizer = bpe(texts)
        tokenizer.save_pretrained(made)
        fake.encoded = lambda text: tokenizer(text)["input_ids"]
        print("| block | choices | way | requests: ours | echo | tokens: ours | echo | fewer |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for block in arguments.blocks:
            for name, load in loads.items():
                server.cache = BlockCache(block)
                said: dict[str, Any] = {
                    "name": "m",
                    "backend": "vllm",
                    "url": server.url,
                    "tokenizer": made,
                }
                said |= {"served_model": server.model, "concurrency": _CONCURRENCY}
                model: Any = ModelPool().get(Backends().locate(MODELS.validate(said), Path()))
                model.context_length = None
                ours = sum(model.ask(asked).tokens_forwarded for asked in load)
                rows = [row for asked in load for row in model.encode(asked)]
                echo = sum(len(request.ids) for row in rows for request in row)
                print(
                    f"| {block} | {name} | {model.engine} | {server.cache.requests:,} | "
                    f"{sum(map(len, rows)):,} | {ours:,} | {echo:,} | {echo / ours:.1f} |"
                )


if __name__ == "__main__":
    main()
