"""Clusters of unequal size that take each other's right answers, against all ways to do so."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from pytest_maxrandom.stats.clustered import FEWEST, cluster_test, exchangeable


def lift(answers: list[int], gold: list[int]) -> float:
    """Accuracy above its mean over all permutations of the right answers."""
    said = [(one, other) for one, other in zip(answers, gold, strict=True) if one >= 0]
    given, right = (Counter(each) for each in zip(*said, strict=True))
    expected = sum(given[label] * right[label] for label in given) / len(said)
    return (sum(one == other for one, other in said) - expected) / len(said)


def exact(predictions: list[list[int]], gold: list[int], clusters: str) -> tuple[float, int]:
    """Return the p-value of all ways to give clusters right answers, and how many differ."""
    members = {
        name: [at for at, own in enumerate(clusters) if own == name]
        for name in dict.fromkeys(clusters)
    }
    observed = max(lift(row, gold) for row in predictions)
    reached, seen, ways = 0, set(), 0
    for donors in permutations(members):
        arranged = [*gold]
        for taker, donor in zip(members, donors, strict=True):
            own = [gold[at] for at in members[donor]]
            for rank, at in enumerate(members[taker]):
                arranged[at] = own[rank % len(own)]
        reached += max(lift(row, arranged) for row in predictions) >= observed - 1e-12
        seen.add(tuple(arranged))
        ways += 1
    return reached / ways, len(seen)


def drawn(
    clusters: str, labels: int, seed: int, *, whole: bool = False
) -> tuple[list[list[int]], list[int]]:
    generator = np.random.default_rng(seed)
    gold = generator.integers(0, labels, len(clusters))
    if whole:
        gold = np.array([ord(name) % labels for name in clusters])
    knows = generator.random((3, len(clusters))) < 0.7
    said = np.where(knows, gold, generator.integers(0, labels, knows.shape))
    return said.tolist(), gold.tolist()


@pytest.mark.parametrize(
    "clusters", ["aabbccddee", "abbcccddddeeeee", "abbbcbddacee", "aaaaabcdef"]
)
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("whole", [False, True])
def test_the_p_value_is_that_of_all_arrangements(clusters: str, labels: int, whole: bool) -> None:
    predictions, gold = drawn(clusters, labels, 3, whole=whole)
    p, different = exact(predictions, gold, clusters)
    choices = [labels] * len(gold)
    test = cluster_test(predictions, gold, clusters, choices, permutations=20_000)
    assert test.p_value == pytest.approx(p, abs=5 * (p * (1 - p) / 20_000) ** 0.5 + 1e-4)
    assert test.best == pytest.approx(max(lift(row, gold) for row in predictions))
    assert test.ways.arrangements >= different
    if whole:
        assert test.ways.arrangements == different
    assert (test.ways.clusters, test.ways.fixed) == (len(set(clusters)), 0)


def test_prompts_may_leave_out_examples() -> None:
    clusters = "abbcccddddeeeee"
    predictions, gold = drawn(clusters, 2, 5)
    predictions[0][:2] = predictions[1][5:8] = [-1, -1, -1]
    predictions = [row[: len(gold)] for row in predictions]
    p, _ = exact(predictions, gold, clusters)
    test = cluster_test(predictions, gold, clusters, permutations=20_000)
    assert test.p_value == pytest.approx(p, abs=0.02)


def test_a_constant_answer_is_worth_nothing() -> None:
    _, gold = drawn("abbcccddddeeeee", 2, 1)
    test = cluster_test([[0] * 15, [1] * 15], gold, "abbcccddddeeeee", permutations=99)
    assert (test.best, test.p_value) == (0, 1)


def test_few_clusters_and_few_ways_tell_nothing() -> None:
    gold = [0] * 6 + [1] * 6
    four = cluster_test([gold], gold, "aaabbbccdddd", permutations=999)
    assert four.ways.clusters < FEWEST
    assert not four.ways.tells(0.9)
    names = np.repeat(np.arange(10), np.arange(1, 11)).tolist()
    one_other = [int(name == 9) for name in names]
    ten = cluster_test([one_other], one_other, names, permutations=999)
    # One of ten clusters has the other answer: who says so of one of them is right in ten.
    assert ten.ways.arrangements == 10
    assert ten.p_value == pytest.approx(0.1, abs=0.03)
    assert ten.ways.tells(0.1)
    assert not ten.ways.tells(0.05)


def test_who_knows_single_examples_passes() -> None:
    generator = np.random.default_rng(0)
    names = np.repeat(np.arange(10), [1, 2, 4, 7, 9, 11, 13, 15, 18, 20])
    gold = (generator.random(100) < 0.7).astype(int)
    said = np.where(generator.random((3, 100)) < 0.9, gold, 1 - gold)
    test = cluster_test(said, gold, names.tolist(), permutations=999)
    assert test.p_value == 0.001


def test_an_early_stop_keeps_the_p_value() -> None:
    predictions, gold = drawn("abbcccddddeeeee", 2, 4)
    whole = cluster_test(predictions, gold, "abbcccddddeeeee", permutations=9_999)
    early = cluster_test(predictions, gold, "abbcccddddeeeee", permutations=9_999, stop_after=200)
    assert early.exceedances == 200 < whole.exceedances
    assert early.p_value == pytest.approx(whole.p_value, rel=0.3)


def sizes(kinds: list[list[dict[int, list[int]]]]) -> list[list[int]]:
    return [[sum(map(len, each.values())) for each in kind] for kind in kinds]


def test_large_clusters_are_exchanged_by_themselves_where_enough_ways_are_left() -> None:
    two_large = [*range(38), *[-1] * 31, *[-2] * 31]
    assert sizes(exchangeable(two_large, [2] * 100)) == [[1] * 38, [31, 31]]
    few = np.repeat(np.arange(5), [1, 1, 9, 9, 9]).tolist()
    assert sizes(exchangeable(few, [2] * 29)) == [[1, 1, 9, 9, 9]]
    one_large = [*range(40), *[-1] * 31]
    assert sizes(exchangeable(one_large, [2] * 71)) == [[1] * 40 + [31]]


def test_right_answers_stay_in_their_stratum() -> None:
    clusters, strata = "aabbccddeeff", [2, 3] * 4 + [2] * 4
    assert sizes(exchangeable(clusters, strata)) == [[2] * 4, [2, 2]]
    gold = [at % 2 if many == 2 else 2 for at, many in enumerate(strata)]
    test = cluster_test([gold], gold, clusters, strata, permutations=99)
    # Label 2 is right in its stratum throughout, so it is worth nothing there.
    assert test.best == pytest.approx((8 - (6 * 6 + 2 * 2) / 8) / 12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"clusters": "aab"}, "clusters names 3 examples, the predictions 4"),
        ({"gold": [0, 1]}, "gold names 2 examples"),
        ({"choices": [2, 2, 2, 1]}, "gold of example 3 must be a choice from 0 to 0, found 1"),
        ({"predictions": [[-1] * 4]}, "prompt 0 was evaluated on no example"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], words: str) -> None:
    known = {"predictions": [[0, 1, 0, 1]], "gold": [0, 1, 0, 1], "clusters": "aabb"}
    with pytest.raises(ValueError, match=words):
        cluster_test(**(known | given))  # type: ignore[arg-type]
