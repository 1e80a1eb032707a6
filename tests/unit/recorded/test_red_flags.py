"""Recorded results with a fault are told, and honest ones are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.unit.recorded.suites import flags, planned, save, suite_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.flags import Flag

T, N = 40, 100
FIFTH = "{name: e, chance: 1/5}"


def guesses(seed: int, chance: float = 0.2) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((T, N)) < chance


def found(folder: Path, task: str = FIFTH, rest: str = "", **given: Any) -> list[Flag]:
    save(folder / "m.npz", e__1=given)
    (claim,) = planned(folder, suite_text(task, rest, model="m.npz, format: npz, ragged: true"))
    return flags(claim)


@pytest.mark.parametrize("seed", range(5))
def test_guessers_raise_no_flag(tmp_path: Path, seed: int) -> None:
    assert found(tmp_path, correct=guesses(seed)) == []


def test_faults_of_the_prompts_are_told(tmp_path: Path) -> None:
    correct, evaluated = guesses(0), np.ones((T, N), dtype=np.bool_)
    correct[3] = False
    correct[5] = ~correct[2]
    evaluated[7, 50:] = False
    demonstrations = np.arange(T).reshape(T, 1)
    demonstrations[9] = demonstrations[8]
    given: dict[str, Any] = {"evaluated": evaluated, "demonstration_ids": demonstrations}
    task = "{name: e, chance: 1/5, published: {n: 120, t: 40, chance: 1/5}}"
    told = found(tmp_path, task, correct=correct & evaluated, **given)
    assert [flag.kind for flag in told] == [
        "complementary_prompts",
        "colliding_ids",
        "other_examples",
        "unsteady_prompts",
        "never_right",
        "repeated_prompts",
    ]


def test_the_best_prompt_is_found_behind_prompts_that_repeat(tmp_path: Path) -> None:
    """The third prompt always says one choice, and is best; the second is the first again."""
    rng = np.random.default_rng(0)
    gold = np.arange(N) % 3
    gold[:60] = 1
    answers = rng.integers(3, size=(T, N))
    answers[1], answers[2] = answers[0], 1
    demonstrations = np.arange(T).reshape(T, 1)
    demonstrations[1] = 0
    right = answers == gold
    given: dict[str, Any] = {"answers": answers, "gold": gold, "demonstration_ids": demonstrations,
             "choice_texts": np.array([["1st", "2nd", "3rd"]] * N)}  # fmt: skip
    told = {flag.kind: flag for flag in found(tmp_path, "{name: e}", correct=right, **given)}
    assert told.keys() == {"constant_answers", "repeated_prompts"}
    constant = told["constant_answers"].parameters
    assert (constant["prompt"], constant["label"], constant["share"]) == (None, "2nd", 1.0)


def test_a_published_chance_that_the_rows_contradict_is_told(tmp_path: Path) -> None:
    task = "{name: e, published: {n: 100, t: 40, chance: 1/5}}"
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(2, size=(T, N)), rng.integers(2, size=N)
    given: dict[str, Any] = {"correct": answers == gold, "answers": answers, "gold": gold}
    for judge in ("published", "counted"):
        chosen = found(tmp_path, task, f"judge: {judge}\n", **given, choices=np.full(N, 2))
        assert "choices" in [flag.kind for flag in chosen]
    five = task.replace("1/5", "1/2")
    assert found(tmp_path, five, "judge: published\n", **given, choices=np.full(N, 2)) == []


def test_tied_scores_are_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = np.log(rng.dirichlet(np.ones(4), size=(T, N)))
    answers, gold = scores.argmax(axis=2), rng.integers(4, size=N)
    given: dict[str, Any] = {"correct": answers == gold, "answers": answers, "gold": gold}
    assert found(tmp_path, "{name: e}", **given, log_likelihoods=scores) == []
    scores[:, 50:] = scores[:, 50:, :1]
    (flag,) = found(tmp_path, "{name: e}", **given, log_likelihoods=scores)
    assert flag.kind == "tied_scores"
    assert (flag.parameters["told"], flag.parameters["answers"]) == (2000, 4000)


def test_of_a_published_maximum_only_the_claim_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("model,task,shots,n,t,best_correct,chance\nm,e,1,4,10,4,1/2\n")
    (claim,) = planned(
        tmp_path, suite_text("{name: e, assert: {p_max: 0.05}}", model="m.csv, format: summary")
    )
    assert [flag.kind for flag in flags(claim)] == ["unpassable"]


def two_models(
    folder: Path, one: NDArray[np.bool_], other: NDArray[np.bool_], name: str = "b"
) -> list[list[Flag]]:
    save(folder / "a.npz", e__1={"correct": one})
    save(folder / "b.npz", e__1={"correct": other})
    text = (
        "models:\n"
        "- {name: a, backend: recorded, results: {path: a.npz, format: npz}}\n"
        f"- {{name: {name}, backend: recorded, quantization: nf4,\n"
        "   results: {path: b.npz, format: npz, model: b}}\n"
        f"tasks: [{FIFTH}]\n"
    )
    claims = planned(folder, text)
    return [flags(claim, None, *claims) for claim in claims]


def test_two_models_that_are_one_are_told_both_times(tmp_path: Path) -> None:
    one = guesses(0)
    other = one.copy()
    other[0, :4] = ~other[0, :4]
    ((first,), (second,)) = two_models(tmp_path, one, other)
    assert first.kind == second.kind == "identical_models"
    for flag, name in ((first, "b"), (second, "a")):
        named = [flag.parameters[key] for key in ("case", "same", "answers", "other")]
        assert named == ["right", 3996, 4000, name]
        assert flag.parameters["by_chance"] == pytest.approx(0.2**2 + 0.8**2, abs=0.02)


def test_one_model_quantized_is_not_two(tmp_path: Path) -> None:
    assert two_models(tmp_path, guesses(0), guesses(0), name="a") == [[], []]


@pytest.mark.parametrize(("first", "told"), [("label: base", "lab/x (base)"), ("", "lab/x")])
def test_models_with_one_name_and_other_labels_are_compared(
    tmp_path: Path, first: str, told: str
) -> None:
    same = guesses(0)
    save(tmp_path / "a.npz", e__1={"correct": same})
    text = (
        "models:\n"
        f"- {{name: lab/x, {first + ',' if first else ''} backend: recorded,\n"
        "   results: {path: a.npz, format: npz, model: a}}\n"
        "- {name: lab/x, label: tuned, backend: recorded,\n"
        "   results: {path: a.npz, format: npz, model: a}}\n"
        f"tasks: [{FIFTH}]\n"
    )
    claims = planned(tmp_path, text)
    ((one,), (other,)) = (flags(claim, None, *claims) for claim in claims)
    assert one.kind == other.kind == "identical_models"
    assert (one.parameters["other"], other.parameters["other"]) == ("lab/x (tuned)", told)
