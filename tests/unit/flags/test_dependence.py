"""Claims that pass because examples depend on each other, which nobody declared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.assessment import with_red_flags
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.flags import KINDS, Flag, JudgedAnswers
from pytest_maxrandom.reports.remarks import worded as worded_remark
from pytest_maxrandom.stats.clustered import cluster_test
from pytest_maxrandom.stats.permutation import max_t_test
from tests.unit.flags.made import answered, result, worded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.stats.arranged import ArrangementTest

N, T = 100, 10
PLACES = np.arange(N)
SORTED = (PLACES >= N // 2).astype(np.int64)


def found(kind: str, judged: JudgedAnswers) -> list[Flag]:
    return [*KINDS[kind].check(judged)]


def passing(answers: np.ndarray, gold: np.ndarray, **given: Any) -> JudgedAnswers:
    correct = (answers == gold).sum(axis=1)
    best = int(correct.argmax())
    judged = result(int(correct[best]), N, best=best)
    return answered(answers, gold.tolist(), m=2, choices=(2,) * N, result=judged, **given)


def in_sections(seed: int = 0) -> np.ndarray:
    """Return prompts that answer ten examples after each other alike."""
    return np.random.default_rng(seed).integers(0, 2, (T, N // 10))[:, PLACES // 10]


def knowing(gold: np.ndarray, chance: float = 0.7) -> np.ndarray:
    return np.where(np.random.default_rng(1).random((T, N)) < chance, gold, 1 - gold)


def test_answers_in_sections_beside_sorted_right_answers_fail_a_claim() -> None:
    (flag,) = found("ordered_answers", passing(in_sections(), SORTED))
    assert flag.parameters["changes"] == 1
    assert flag.parameters["p"] > 0.05
    assert "name it with `columns: {cluster: ...}`" in worded(flag)
    assert KINDS["ordered_answers"].default == "fail"


def test_who_knows_beside_sorted_right_answers_is_not_accused() -> None:
    assert found("ordered_answers", passing(knowing(SORTED), SORTED)) == []


def test_answers_in_sections_matter_only_where_right_answers_are() -> None:
    free = np.random.default_rng(2).permutation(SORTED)
    assert found("ordered_answers", passing(in_sections(), free)) == []


def test_sections_that_are_named_are_not_told() -> None:
    clusters = tuple(str(place // 10) for place in PLACES)
    judged = passing(in_sections(), SORTED, clusters=clusters)
    assert found("ordered_answers", judged) == []


@pytest.mark.parametrize("sizes", [(10,) * 10, (4, 8, 12, 14, 12, 6, 10, 14, 8, 12)])
def test_who_knows_less_in_later_sections_passes_once_these_are_named(sizes: Sequence[int]) -> None:
    sections = np.repeat(np.arange(10), sizes)
    chances = np.array([1, 1, 1, 1, 0.95, 0.95, 0.9, 0.8, 0.75, 0.65])[sections]
    accused = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        knows = random.random((T, N)) < chances
        # What one prompt does not know, most others do not know either.
        knows[1:] = np.where(random.random((T - 1, N)) < 0.7, knows[0], knows[1:])
        answers = np.where(knows, SORTED, 1 - SORTED)
        accused += len(found("ordered_answers", passing(answers, SORTED)))
        clusters = tuple(map(str, sections.tolist()))
        assert found("ordered_answers", passing(answers, SORTED, clusters=clusters)) == []
        exchange: dict[str, Any] = {
            "gold": SORTED,
            "choices": np.full(N, 2),
            "strata": np.full(N, 2),
        }
        if len(set(sizes)) == 1:
            test: ArrangementTest = max_t_test(answers, groups=clusters, **exchange)
        else:
            test = cluster_test(answers, clusters=clusters, **exchange)
        assert test.p_value <= 0.05
    assert accused


def test_a_claim_that_fails_by_its_numbers_has_no_such_flag() -> None:
    judged = passing(in_sections(), SORTED)
    assert judged.result is not None
    failing = replace(judged, result=replace(judged.result, passed=False))
    assert found("ordered_answers", failing) == []


GROUPS = np.where(PLACES < 60, PLACES // 6, PLACES)


def groups_alike(
    seed: int, t: int, groups: np.ndarray = GROUPS
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return answers, right answers and texts that are alike in groups, of six by default."""
    random = np.random.default_rng(seed)
    *answers, gold = random.integers(0, 2, (t + 1, N))[:, groups]
    words = random.integers(0, 500, (N, 12))[groups]
    words[:, 3] = random.integers(0, 500, N)
    return np.array(answers), gold, tuple(" ".join(f"w{word}" for word in row) for row in words)


@pytest.mark.parametrize(("case", "t"), [("texts", 10), ("copies", 40)])
def test_near_copies_fail_a_claim_that_depends_on_them(case: str, t: int) -> None:
    answers, gold, texts = groups_alike(3, t)
    given = {"inputs": texts} if case == "texts" else {}
    (flag,) = found("near_copies", passing(answers, gold, **given))
    told = {key: flag.parameters[key] for key in ("case", "examples", "groups", "alike")}
    assert told == {"case": case, "examples": 60, "groups": 10, "alike": ["e0", "e1"]}
    assert "name it with `columns: {cluster: ...}`" in worded(flag)
    clusters = tuple(map(str, GROUPS.tolist()))
    assert found("near_copies", passing(answers, gold, clusters=clusters, **given)) == []


PAIRS = np.where(PLACES < 60, PLACES // 2, PLACES)


def test_ten_prompts_tell_that_there_are_copies_and_the_claim_cannot_be_told() -> None:
    answers, gold, _ = groups_alike(3, T, PAIRS)
    judged = passing(answers, gold)
    (flag,) = found("near_copies", judged)
    assert (flag.parameters["case"], flag.untold) == ("untold", "copies_untold")
    assert flag.parameters["p"] > 0.05
    assert "it cannot be told which" in worded(flag)
    assert judged.result is not None
    claim = Claim.of(None)
    verdict = with_red_flags(judged.result, claim, [flag])
    assert (verdict.passed, verdict.holds) == (None, True)
    assert verdict.cannot_tell is not None
    assert "name what belongs together" in worded_remark(verdict.cannot_tell).text
    waved = replace(claim, red_flags={"near_copies": "warn"})
    assert with_red_flags(judged.result, waved, [flag]).passed
    free = np.random.default_rng(2).permutation(gold)
    assert found("near_copies", passing(answers, free)) == []


def test_as_many_examples_alike_as_by_accident_are_warned_of() -> None:
    alike = 0
    for seed in range(200):
        answers, gold, _ = groups_alike(seed, T, PLACES)
        # Right answers that some examples have in common with those that are answered alike.
        first = {column: place for place, column in reversed([*enumerate(map(tuple, answers.T))])}
        gold = gold[[first[column] for column in map(tuple, answers.T)]]
        flags = found("near_copies", passing(answers, gold))
        assert all(flag.mild and flag.parameters["case"] == "accident" for flag in flags)
        alike += len(flags)
    assert alike


@pytest.mark.parametrize("t", [5, 10, 30])
def test_who_knows_beside_constant_answers_is_not_accused(t: int) -> None:
    gold = np.random.default_rng(2).permutation(SORTED)
    answers = np.tile(gold, (t, 1))
    answers[: max(1, 3 * t // 10)] = 1
    assert found("near_copies", passing(answers, gold)) == []
    slips = np.random.default_rng(3).random((t, N)) < 0.05
    slips[: max(1, 3 * t // 10)] = False
    assert found("near_copies", passing(np.where(slips, 1 - answers, answers), gold)) == []


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_one_latent_order_of_all_examples_makes_no_copies(noise: float) -> None:
    random, accused = np.random.default_rng(4), 0
    for _ in range(20):
        gold = random.permutation(SORTED)
        level = 1.5 * gold + random.normal(size=N) + noise * random.normal(size=(T, N))
        answers = (level > random.normal(0.75, 0.7, (T, 1))).astype(np.int64)
        accused += len(found("near_copies", passing(answers, gold)))
    assert accused == 0


def test_near_copies_help_nobody_who_knows_each_by_itself() -> None:
    _, gold, texts = groups_alike(3, T)
    assert found("near_copies", passing(knowing(gold), gold, inputs=texts)) == []
    assert found("near_copies", passing(knowing(gold), gold)) == []


def test_questions_from_one_pattern_are_no_copies() -> None:
    answers, gold, _ = groups_alike(3, T)
    texts = tuple(f"Is the sum of {place} and {3 * place + 1} even?" for place in PLACES)
    assert found("near_copies", passing(answers, gold, inputs=texts)) == []


def test_a_strong_model_answers_many_examples_alike_and_is_not_accused() -> None:
    random = np.random.default_rng(4)
    gold = random.integers(0, 2, N)
    hard = random.beta(2, 0.5, N)
    answers = np.where(random.random((50, N)) < hard, gold, 1 - gold)
    assert found("near_copies", passing(answers, gold)) == []


def test_as_many_copies_as_there_may_be_are_told() -> None:
    groups = np.arange(1_200) // 2
    random = np.random.default_rng(5)
    *answers, gold = random.integers(0, 2, (41, 600))[:, groups]
    # The first prompt knows as many pairs as a claim needs that counts each example.
    answers[0] = np.where(groups < 30, gold, answers[0])
    correct = int((answers[0] == gold).sum())
    judged = answered(
        np.array(answers), gold.tolist(), m=2, choices=(2,) * 1_200, result=result(correct, 1_200)
    )
    assert not any(flag.mild for flag in found("near_copies", judged))
    assert found("near_copies", judged)[0].parameters["groups"] == 600
