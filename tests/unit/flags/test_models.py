"""Results of two models that are those of one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, JudgedAnswers, find
from pytest_maxrandom.flags.kinds.identical_models import candidates, compact
from tests.unit.flags.made import answered, seen

T, N, M = 40, 100, 4


def gold() -> list[int]:
    golds: list[int] = np.random.default_rng(7).integers(M, size=N).tolist()
    return golds


def answers(seed: int, knowledge: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((T, N)) < knowledge, gold(), rng.integers(M, size=(T, N)))


def flags_of_two(one: np.ndarray, other: np.ndarray, **given: Any) -> list[Flag]:
    second = answered(other, gold(), model="b", **given)
    found = find(answered(one, gold(), model="a", others=(second,), **given))
    return [flag for flag in found if flag.kind == "identical_models"]


def test_answers_of_one_model_under_two_names_are_told() -> None:
    one = answers(0)
    other = one.copy()
    other[0, :4] = (other[0, :4] + 1) % M
    (flag,) = flags_of_two(one, other)
    named = [flag.parameters[name] for name in ("case", "same", "answers", "other")]
    assert named == ["labels", 3996, 4000, "b"]
    # Of a quarter of the labels each, given the right one: .475**2 + 3 * .175**2
    by_chance = 0.475**2 + 3 * 0.175**2
    assert flag.parameters["by_chance"] == pytest.approx(by_chance, abs=0.015)


def test_independent_models_are_two() -> None:
    assert flags_of_two(answers(0), answers(1)) == []


def test_models_that_resemble_each_other_are_two() -> None:
    """They differ in a tenth of what independent models do."""
    one = answers(0)
    other = np.where(np.random.default_rng(5).random((T, N)) < 0.1, answers(1), one)
    assert flags_of_two(one, other) == []


@pytest.mark.parametrize("knowledge", [0.9, 0.99, 0.999])
def test_models_that_know_are_two(knowledge: float) -> None:
    assert flags_of_two(answers(0, knowledge), answers(1, knowledge)) == []


def test_models_that_miss_the_same_hard_examples_are_two() -> None:
    one, other = answers(0, 1.0), answers(1, 1.0)
    one[:, 3] = other[:, 3] = (one[:, 3] + 1) % M
    assert flags_of_two(one, other) == []


def test_models_that_always_say_one_label_are_two() -> None:
    assert flags_of_two(np.zeros((T, N), int), np.zeros((T, N), int)) == []


def test_models_that_say_the_label_that_each_prompt_favours_are_two() -> None:
    favoured = np.tile(np.arange(T)[:, np.newaxis] % M, (1, N))
    assert flags_of_two(favoured, favoured.copy()) == []


def suggested(
    seed: int, labels: str, *, t: int = 40, deviating: float = 0.01
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return answers of two models that know nothing, and what is right, 70 to 30.

    Each prompt suggests one label, which both say but now and then, each at examples of its own.
    """
    rng = np.random.default_rng(seed)
    golds: list[int] = rng.permutation(np.repeat([0, 1], [140, 60])).tolist()
    favoured = {"one": np.zeros(t, int), "mixed": rng.integers(2, size=t), "lone": np.eye(t)[0]}
    said = [
        np.where(rng.random((t, 200)) < deviating, rng.integers(2, size=(t, 200)), each)
        for each in 2 * [favoured[labels].astype(int)[:, np.newaxis]]
    ]
    return said[0], said[1], golds


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", ["one", "mixed", "lone"])
@pytest.mark.parametrize("t", [1, 2, 40])
def test_models_that_nearly_always_say_what_a_prompt_suggests_are_two(
    seed: int, labels: str, t: int
) -> None:
    """Also where only right and wrong are known, which rows and columns alone do not explain."""
    one, other, golds = suggested(seed, labels, t=t)
    pairs = {
        "answers": [answered(each, golds, m=2, model=name) for name, each in
                    (("a", one), ("b", other))],
        "right and wrong": [seen(each == golds, model=name, chance=Fraction(1, 2)) for name, each in
                            (("a", one), ("b", other))],
    }  # fmt: skip
    for known, (first, second) in pairs.items():
        kinds = [flag.kind for flag in find(replace(first, others=(second.read,)))]
        assert "identical_models" not in kinds, known


def test_models_that_deviate_at_the_same_examples_are_two() -> None:
    """What is odd of an example shows in all prompts, not in the same prompt only."""
    rng = np.random.default_rng(1)
    golds = rng.integers(2, size=200).tolist()
    odd = rng.random(200) < 0.06
    one = np.where(odd, 1 - np.arange(T)[:, np.newaxis] % 2, np.arange(T)[:, np.newaxis] % 2)
    other = np.where(rng.random(one.shape) < 0.0005, 1 - one, one)
    for first, second in (
        (answered(one, golds, m=2), answered(other, golds, m=2, model="b")),
        (seen(one == golds), seen(other == golds, model="b")),
    ):
        kinds = [flag.kind for flag in find(replace(first, others=(second.read,)))]
        assert "identical_models" not in kinds


def test_right_and_wrong_of_one_model_are_told_though_some_prompts_suggest_labels() -> None:
    """Half of the prompts tell nothing; .2 % of the cells differ, as in a published pair."""
    one = suggested(0, "mixed")[0]
    golds = np.array(suggested(0, "mixed")[2])
    rng = np.random.default_rng(2)
    one[::2] = np.where(rng.random((20, 200)) < 0.7, golds, 1 - golds)
    other = np.where(rng.random(one.shape) < 0.002, 1 - one, one)
    half = Fraction(1, 2)
    second = seen(other == golds, model="b", chance=half)
    (flag,) = find(seen(one == golds, others=(second,), chance=half))
    assert flag.kind == "identical_models"


def test_another_model_is_told_once_however_often_its_results_are_read() -> None:
    one = answers(0)
    twice = tuple(answered(one, gold(), model="b", t=t) for t in (T, T + 60))
    part = answered(one[:, :90], gold()[:90], model="b", examples=tuple(f"e{i}" for i in range(90)))
    third = answered(one, gold(), model="c")
    found = find(answered(one, gold(), others=(*twice, part, third)))
    assert [flag.parameters["other"] for flag in found] == ["b", "c"]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_weights_with_a_little_noise_are_one_though_they_are_often_right(
    seed: int,
) -> None:
    """Of two choices .2 % change; nine of ten are right, some examples always and some seldom."""
    rng = np.random.default_rng(seed)
    golds = rng.integers(2, size=200)
    right = rng.random((200, 200)) < rng.beta(0.9, 0.1, size=200)
    one = np.where(right, golds, 1 - golds)
    other = np.where(rng.random(one.shape) < 0.002, 1 - one, one)
    assert right.mean() == pytest.approx(0.9, abs=0.03)
    second = answered(other, golds.tolist(), m=2, model="b")
    found = find(answered(one, golds.tolist(), m=2, model="a", others=(second,)))
    assert "identical_models" in [flag.kind for flag in found]


def test_wrong_answers_that_differ_tell_models_apart() -> None:
    """Right on the same examples; else each says what it likes."""
    one = answers(0)
    wrong = one != gold()
    shifts = np.random.default_rng(3).integers(1, M, (T, N))
    other = np.where(wrong, (np.array(gold()) + shifts) % M, one)
    assert flags_of_two(one, other) == []
    right = [seen(each == gold(), model=name) for each, name in ((one, "a"), (other, "b"))]
    (flag,) = find(seen(right[0].answers.correct, model="a", others=(right[1],)))
    named = [flag.parameters[name] for name in ("case", "same", "answers")]
    assert named == ["right", 4000, 4000]


def test_labels_are_compared_by_name() -> None:
    one = answers(0)
    renumbered = answered(M - 1 - one, (M - 1 - np.array(gold())).tolist(), model="b",
                          labels=tuple("DCBA"))  # fmt: skip
    assert [f.kind for f in find(answered(one, gold(), others=(renumbered,)))] == [
        "identical_models"
    ]
    renamed = answered(one, gold(), model="b", labels=tuple("DCBA"))
    assert find(answered(one, gold(), others=(renamed,))) == []


def test_only_shared_prompts_and_examples_count() -> None:
    one, order = answers(0), np.random.default_rng(0).permutation(N)
    moved = answered(
        one[::-1][:, order],
        np.array(gold())[order].tolist(),
        model="b",
        identities=tuple(f"id {place}" for place in range(T))[::-1],
        examples=tuple(f"e{place}" for place in order),
    )
    assert [f.kind for f in find(answered(one, gold(), others=(moved,)))] == ["identical_models"]
    strangers = answered(one, gold(), model="b", identities=tuple(f"x{p}" for p in range(T)))
    assert find(answered(one, gold(), others=(strangers,))) == []


def test_a_few_equal_answers_say_nothing() -> None:
    few = {"examples": tuple(f"e{place}" for place in range(5))}
    one = answered(answers(0)[:2, :5], gold()[:5], **few)
    assert find(answered(answers(0)[:2, :5], gold()[:5], model="b", others=(one,), **few)) == []


def test_one_prompt_with_many_examples_is_enough() -> None:
    one = answers(0)[:1]
    assert len(flags_of_two(one, one.copy())) == 1


def test_the_same_name_is_the_same_model() -> None:
    same: JudgedAnswers = answered(answers(0), gold(), model="a")
    assert find(answered(answers(0), gold(), model="a", others=(same,))) == []


def test_cells_that_only_one_was_scored_on_do_not_count() -> None:
    one = answers(0)
    other = one.copy()
    other[:, ::2] = -1
    (flag,) = flags_of_two(one, other)
    assert (flag.parameters["same"], flag.parameters["answers"]) == (2000, 2000)


def scored(name: str, scores: np.ndarray, **given: Any) -> JudgedAnswers:
    return answered(np.nan_to_num(scores, nan=-np.inf).argmax(axis=2), gold(), model=name,
                    log_likelihoods=scores, **given)  # fmt: skip


def alike(one: np.ndarray, other: np.ndarray) -> list[Flag]:
    found = find(scored("a", one, others=(scored("b", other),)))
    return [flag for flag in found if flag.kind == "identical_models"]


def knowing(seed: int) -> np.ndarray:
    """Return scores of which those of the right answers are always the highest."""
    scores = np.random.default_rng(seed).normal(-6, 1, size=(T, N, M))
    np.put_along_axis(scores, np.tile(np.array(gold())[:, np.newaxis], (T, 1, 1)), -0.1, 2)
    return scores


def test_models_that_are_always_right_are_one_if_their_scores_are_equal() -> None:
    one = knowing(0)
    other = one.copy()
    other[0, :4] += 1e-12
    assert alike(one, knowing(1)) == []
    parameters = {"case": "scores", "same": 3996, "answers": 4000, "other": "b"}
    assert alike(one, other) == [Flag("identical_models", parameters)]


def test_models_with_a_fifth_of_the_scores_in_common_are_two() -> None:
    one, other = knowing(0), knowing(1)
    other[:, :20] = one[:, :20]
    assert alike(one, other) == []


@pytest.mark.parametrize("three", [0, 30])
def test_answers_of_models_that_are_always_right_written_as_scores_are_those_of_two(
    three: int,
) -> None:
    hard = np.where(np.arange(M) == np.array(gold())[:, np.newaxis], 1.0, 0.0)
    hard[:three][np.array(gold())[:three] != M - 1, M - 1] = np.nan
    hard = np.tile(hard, (T, 1, 1))
    assert alike(hard, hard.copy()) == []


def test_scores_that_are_always_the_same_are_those_of_two() -> None:
    constant = np.tile([-1.0, -2.0, -3.0, -4.0], (T, N, 1))
    assert alike(constant, constant.copy()) == []


def test_examples_that_were_not_scored_are_not_compared() -> None:
    one = knowing(0)
    one[:, 50:] = np.nan
    (flag,) = alike(one, one.copy())
    assert (flag.parameters["same"], flag.parameters["answers"]) == (2000, 2000)


GOLD = np.random.default_rng(7).integers(0, 4, 60)


def is_found(one: np.ndarray, other: np.ndarray) -> bool:
    of_other = answered(other, GOLD.tolist(), model="other")
    judged = answered(one, GOLD.tolist(), others=(of_other,))
    return any(flag.kind == "identical_models" for flag in find(judged))


def passes(one: np.ndarray, other: np.ndarray) -> bool:
    own, others = (answered(each, GOLD.tolist()).read for each in (one, other))
    return bool(candidates(own, [others]))


@pytest.mark.parametrize("constant", [0, 3])
def test_who_is_found_identical_passes(constant: int) -> None:
    found, generator = 0, np.random.default_rng(constant)
    for changed in [*range(12)] * 4:
        one = generator.integers(0, 4, (6, 60))
        one[:constant] = 2  # what two models always say tells nothing of them
        other = one.copy()
        cells = generator.choice(one.size, changed, replace=False)
        other.flat[cells] = (other.flat[cells] + 1) % 4
        if is_found(one, other):
            found += 1
            assert passes(one, other)
    assert found >= 12


def test_of_models_that_answer_for_themselves_none_passes() -> None:
    generator = np.random.default_rng(1)
    models = [generator.integers(0, 4, (5, 60)) for _ in range(40)]
    assert not any(passes(models[0], other) for other in models[1:])


def test_what_cannot_be_compared_cheaply_passes() -> None:
    right = np.eye(4, dtype=bool)
    other = seen(right, examples=("a", "b", "c", "d")).read
    assert candidates(seen(~right).read, [other]) == [other]


def test_equal_answers_have_equal_codes_however_many_there_are() -> None:
    codes = np.array([[-1, 0, 126, 127, 400]])
    assert compact(codes).tolist() == [[-1, 0, 126, 0, 400 % 127]]
