"""Letters of texts that questions list: whoever prefers a text prefers no letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.sweeps.lettered import listed
from pytest_maxrandom.tasks.task import Example
from tests.unit.claims.test_assessment import assessed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.record import ClaimRecord

LETTERS = ("A", "B", "C", "D")
N = 60
NONE = "none of these"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("Which?\nA. one\nB. two words\nC. 3\nD. four\nAnswer:", ("one", "two words", "3", "four")),
        ("Which?\n(A) one\n(B) two\n(C) three\n(D) four", ("one", "two", "three", "four")),
        ("Which? (A) one (B) two (C) three (D) four", ("one", "two", "three", "four")),
        ("Which?\n A) one\n B) two\n C) three\n D) four", ("one", "two", "three", "four")),
        ("A. a\nB. b\nC. c\nD. d\nAnswer: A\n\nA. w\nB. x\nC. y\nD. z", ("w", "x", "y", "z")),
        ("A. over\ntwo lines\nB. b\nC. c\nD. d", ("over\ntwo lines", "b", "c", "d")),
        ("Which of A. and B.?", None),
        ("A. one\nB. two\nC. three", None),
        ("A. one\nB.  \nC. three\nD. four", None),
    ],
)
def test_a_question_tells_what_its_letters_stand_for(
    text: str, texts: tuple[str, ...] | None
) -> None:
    assert listed(text, 4) == texts


def question(number: int, texts: list[str], right: int) -> Example:
    shown = "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=True))
    return Example(f"e{number}", f"question {number}{shown}", LETTERS, (right,))


def judged(seed: int, share: float, knows: float = 0.0) -> ClaimRecord:
    """Judge who often says "none of these", which is right to 40 %, whatever its letter is."""
    generator = np.random.default_rng(seed)
    examples, answers = [], np.empty((10, N), dtype=np.int64)
    for number in range(N):
        order: NDArray[np.int64] = generator.permutation(4)  # of its texts, NONE the first
        texts = [NONE if place == 0 else f"own {number} {place}" for place in order]
        right = 0 if number < 0.4 * N else generator.integers(1, 4)
        said = np.where(generator.random(10) < share, 0, generator.integers(1, 4, 10))
        said = np.where(generator.random(10) < knows, right, said)
        letter = np.argsort(order)
        examples.append(question(number, texts, int(letter[right])))
        answers[:, number] = letter[said]
    return assessed(
        tuple(examples), lambda each, prompt: int(answers[prompt, int(each.id[1:])]), t=10
    )


def test_who_says_none_wherever_it_stands_is_found_out() -> None:
    """By letters alone nearly all would pass."""
    passed = sum(bool(judged(seed, 0.9).passed) for seed in range(30))
    assert passed < 7  # Binomial: 1.5 expected, 7 is reached with probability .0004


def test_who_knows_passes_where_none_may_be_said() -> None:
    assert all(judged(seed, 0.3, knows=0.6).passed for seed in range(5))


def test_who_prefers_a_letter_is_found_out() -> None:
    generator = np.random.default_rng(5)
    passed = 0
    for _ in range(20):
        right = np.where(generator.random(N) < 0.6, 1, generator.integers(0, 4, N))
        said = np.where(generator.random((10, N)) < 0.9, 1, generator.integers(0, 4, (10, N)))
        examples = tuple(
            question(number, [f"{number} {letter}" for letter in LETTERS], int(right[number]))
            for number in range(N)
        )

        def answer(each: Example, prompt: int, said: NDArray[np.int64] = said) -> int:
            return int(said[prompt, int(each.id[1:])])

        passed += bool(assessed(examples, answer, t=10).passed)
    assert passed < 5  # Binomial: 1 expected, 5 is reached with probability .003
