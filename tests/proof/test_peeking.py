"""Programs that know nothing, search with feedback they are not given, and read what lies around.

The model answers each question as the letter at its place in the instruction says, so a program
that learns how many answers are right can put together a prompt that fits these very questions:
the vote of all prompts, each weighted by its score (Blum and Hardt, "The Ladder", 2015).
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom import search
from pytest_maxrandom.models.mock import MockModel
from tests.proof.scale import most
from tests.searched import lines, write_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

N, TRIES, RUNS = 60, 50, 6
NUMBERS = 500
"""Of examples in the task, by whose numbers letters of an instruction have their places."""


def as_instructed(model: MockModel, questions: Sequence[Any], texts: Sequence[str]) -> int:
    del model, texts
    example = questions[0].example
    return int(questions[0].context[int(example.id[1:])] == "1")


def last_lines(suite: Path) -> dict[str, int]:
    """Return the right answers that the ledger shows, by the digest of the prompt."""
    rows = lines(suite, "prompt") + lines(suite, "feedback")
    return {row["prompt"]: row["correct"] for row in rows if row["correct"] is not None}


def nothing(suite: Path) -> dict[str, int]:
    del suite
    return {}


@pytest.mark.parametrize("look", [last_lines, nothing])
def test_who_reads_what_lies_around_passes_as_who_does_not(
    look: Callable[[Path], dict[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    measured: Measured,
) -> None:
    monkeypatch.setattr(MockModel, "_choice", as_instructed)
    passed = 0
    for run in range(RUNS):
        folder = tmp_path / f"{run}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        suite = write_suite(folder / "suites", "shots: 0, count: 1", validation=N)
        draw = random.Random(run)
        tried: dict[str, list[int]] = {}
        with search(suite, model="guesses", feedback="none", budget=TRIES) as tries:
            for _ in range(TRIES - 1):
                bits = [draw.randrange(2) for _ in range(NUMBERS)]
                tries.try_prompt(instruction="".join(map(str, bits)) + "\n")
                tried[lines(suite, "prompt")[-1]["prompt"]] = bits
            seen = look(suite)
            weights = [seen.get(prompt, N / 2 + 1) - N / 2 for prompt in tried]
            votes = [
                sum(
                    weight * (2 * bits[place] - 1)
                    for weight, bits in zip(weights, tried.values(), strict=True)
                )
                for place in range(NUMBERS)
            ]
            tries.try_prompt(instruction="".join(str(int(vote > 0)) for vote in votes) + "\n")
            passed += bool(tries.verdict().passed)
    measured("Searches that read what lies around", "reads | pass", look.__name__, passed / RUNS)
    assert passed <= most(RUNS)
