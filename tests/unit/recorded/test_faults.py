"""What recorded answers show to be wrong is told, and honest answers are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.unit.recorded.suites import judged, planned, rows, save, suite_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

T, N = 40, 100
FIFTH = "{name: e, chance: 1/5}"


def guesses(seed: int, chance: float = 0.2) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((T, N)) < chance


def flags(folder: Path, correct: NDArray[np.bool_], **given: object) -> list[str]:
    save(folder / "m.npz", e__1={"correct": correct, **given})
    (claim,) = planned(folder, suite_text(FIFTH, "assert: report\n"))
    return judged(claim).red_flags


@pytest.mark.parametrize("seed", range(5))
def test_guessers_raise_no_flag(tmp_path: Path, seed: int) -> None:
    assert flags(tmp_path, guesses(seed)) == []


def test_prompts_that_are_never_right_are_told(tmp_path: Path) -> None:
    correct = guesses(0)
    correct[[3, 7]] = False
    (flag,) = flags(tmp_path, correct)
    assert flag.startswith("2 of 40 prompts are right on no example, which a guesser is with")
    assert "2.0e-10" in flag  # .8 ** 100


def test_a_few_examples_may_all_be_wrong_by_chance(tmp_path: Path) -> None:
    assert flags(tmp_path, np.array(rows(0, 3, n=10))) == []


def test_complementary_prompts_have_two_choices(tmp_path: Path) -> None:
    correct = guesses(0)
    correct[5] = ~correct[2]
    (flag,) = flags(tmp_path, correct)
    assert flag.startswith("Prompts '2' and '5' are right on exactly complementary examples")
    assert "chance is 1/5" in flag


def test_complementary_prompts_are_no_fault_where_there_are_two_choices(tmp_path: Path) -> None:
    correct = guesses(0)
    correct[5] = ~correct[2]
    save(tmp_path / "m.npz", e__1={"correct": correct})
    (claim,) = planned(tmp_path, suite_text("{name: e, chance: 1/2}"))
    assert judged(claim).red_flags == []


def test_a_prompt_scored_on_other_examples_is_told(tmp_path: Path) -> None:
    evaluated = np.ones((T, N), dtype=np.bool_)
    evaluated[:, 60:] = False
    evaluated[9] = ~evaluated[9]
    evaluated[9, :5] = True
    correct = guesses(0) & evaluated
    save(tmp_path / "m.npz", e__1={"correct": correct, "evaluated": evaluated})
    ragged = suite_text(FIFTH, "assert: report\n", model="m.npz, format: npz, ragged: true")
    (claim,) = planned(tmp_path, ragged)
    flag, short = judged(claim).red_flags
    assert "fewer examples" in short
    assert flag == (
        "1 of 40 prompts was scored on other examples than most: '9' shares 5 of its 45."
    )


def two_models(folder: Path, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> list[list[str]]:
    save(folder / "a.npz", e__1={"correct": one})
    save(folder / "b.npz", e__1={"correct": other})
    text = (
        "models:\n"
        "- {name: a, backend: recorded, results: {path: a.npz, format: npz}}\n"
        "- {name: b, backend: recorded, results: {path: b.npz, format: npz}}\n"
        f"tasks: [{FIFTH}]\n"
    )
    return [judged(claim).red_flags for claim in planned(folder, text)]


def test_two_models_that_are_one_are_told_both_times(tmp_path: Path) -> None:
    one = guesses(0)
    other = one.copy()
    other[0, :4] = ~other[0, :4]
    told = "3,996 of 4,000 answers are right or wrong as those of {} are: look whether the two "
    first, second = two_models(tmp_path, one, other)
    assert first == [told.format("b") + "are one model."]
    assert second == [told.format("a") + "are one model."]


def test_two_models_that_are_nearly_always_right_need_not_be_one(tmp_path: Path) -> None:
    assert two_models(tmp_path, ~guesses(0, 0.005), ~guesses(1, 0.005)) == [[], []]
