"""Chances of several samples, against every way in which choices could be right."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.components import (
    Components,
    components,
    expected_of,
    more,
    more_of_examples,
)
from pytest_maxrandom.stats.permutation import max_t_of_credits, max_t_test
from pytest_maxrandom.stats.sample_chance import BestOfSamples, Kinds, earned_in_turn, law_of_right
from pytest_maxrandom.stats.samples import (
    UNREAD,
    Aggregate,
    profiles,
    voted,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


close = pytest.approx
HALF = Fraction(1, 2)


def score(how: str, samples: tuple[int, ...], right: set[int], j: int | None = None) -> Fraction:
    """Score samples as the definitions read."""
    hits = [each in right for each in samples]
    if how == "mean":
        return Fraction(sum(hits), len(hits))
    if how == "all":
        return Fraction(all(hits))
    draws = [*combinations(hits, j or len(hits))]
    return Fraction(sum(map(any, draws)), len(draws))


AGGREGATES = [
    Aggregate("mean", 4),
    Aggregate("pass", 4),
    Aggregate("pass", 4, 2),
    Aggregate("all", 4),
]


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize(("m", "right"), [(2, 1), (4, 1), (5, 2), (3, 2)])
def test_laws_agree_with_every_set_of_right_choices(
    aggregate: Aggregate, m: int, right: int
) -> None:
    everything = np.array([*product(range(m), repeat=4)])[None]
    spread = profiles(everything)
    kinds = Kinds.of(aggregate, spread, [m] * spread.shape[1], [right] * spread.shape[1])
    ways = [*map(set, combinations(range(m), right))]
    for samples, place in zip(everything[0].tolist(), kinds.places[0], strict=True):
        law: Counter[Fraction] = Counter()
        for own in ways:
            law[score(aggregate.how, tuple(samples), own, aggregate.asked)] += Fraction(
                1, len(ways)
            )  # type: ignore[assignment]
        found = {Fraction(s, aggregate.unit): p for s, p in kinds.laws[place].items()}
        assert found == law


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_a_rule_with_as_many_answers_earns_what_its_samples_do(aggregate: Aggregate) -> None:
    """Rules that say 0, 1, 2 and so on are scored as prompts are, whichever label is right."""
    everything = np.array([*product(range(4), repeat=4)])[None]
    spread = profiles(everything)[0]
    for right in range(5):
        turns = [[Fraction(turn == right) for turn in range(4)]] * len(spread)
        found = earned_in_turn(turns, aggregate, spread)
        for times, own in zip(spread.tolist(), found, strict=True):
            # By pass as often as the prompt, by all else the same each time, which earns most.
            by_pass = aggregate.how == "pass"
            given = times if by_pass else [4, 0, 0, 0]
            samples = tuple(turn for turn, many in enumerate(given) for _ in range(many))
            assert own == score(aggregate.how, samples, {right}, aggregate.asked)
            if not by_pass:
                said = tuple(turn for turn, many in enumerate(times) for _ in range(many))
                most_often = score(aggregate.how, said, {right}, aggregate.asked)
                assert right or own >= most_often
    drawn = [[Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]]
    [mixed] = earned_in_turn(drawn, Aggregate("pass", 4), np.array([[3, 1, 0, 0]]))
    assert mixed == HALF
    # What nobody could read is no answer; the rule gives one.
    [unread] = earned_in_turn(drawn, Aggregate("pass", 4), np.zeros((1, 4), dtype=np.int64))
    assert unread == Fraction(1, 6)
    assert earned_in_turn([*drawn, []], None, None) == [Fraction(1, 6), 0]


def test_pass_takes_d_of_m_and_all_takes_one_answer() -> None:
    labels = np.array([[[0, 0, 0], [0, 1, 1], [0, 1, 2], [3, 3, 0]]])
    spread = profiles(labels)
    of = {how: Kinds.of(Aggregate(how, 3), spread, [4] * 4, [1] * 4) for how in ("pass", "all")}
    assert of["pass"].chances() == [[Fraction(d, 4) for d in (1, 2, 3, 2)]]
    assert of["all"].chances() == [[Fraction(1, 4), 0, 0, 0]]


def test_what_nobody_can_read_is_never_right() -> None:
    spread = profiles(np.array([[[UNREAD, UNREAD, 0], [UNREAD] * 3]]))
    assert spread.tolist() == [[[1, 0, 0], [0, 0, 0]]]
    kinds = Kinds.of(Aggregate("pass", 3), spread, [2, 2], [1, 1])
    assert kinds.chances() == [[Fraction(1, 2), 0]]
    # More answers than choices: some of them are none.
    assert law_of_right((2, 1, 1), 2) == {2: Fraction(1, 2), 1: Fraction(1, 2)}


@pytest.mark.parametrize(("k", "j"), [(4, 2), (5, 3), (6, 6), (7, 1)])
def test_pass_at_is_the_share_of_draws_that_hold_a_right_sample(k: int, j: int) -> None:
    for c in range(k + 1):
        hits = [1] * c + [0] * (k - c)
        draws = [*combinations(hits, j)]
        credit = Aggregate("pass", k, j)
        found = Fraction(int(credit.credits(np.array(c))), credit.unit)
        assert found == Fraction(sum(map(any, draws)), len(draws))


def best_by_listing(
    samples: Sequence[Sequence[tuple[int, ...]]], m: int, aggregate: Aggregate, t: int
) -> tuple[float, dict[Fraction, float]]:
    """E[max] and P(max >= s) of guessers, each with right answers of its own, by listing all."""
    laws = []
    for row in samples:
        law: Counter[Fraction] = Counter()
        for right in product(range(m), repeat=len(row)):
            own = zip(row, right, strict=True)
            total = sum((score(aggregate.how, s, {r}, aggregate.asked) for s, r in own), Fraction())
            law[total / len(row)] += Fraction(1, m ** len(row))  # type: ignore[assignment]
        laws.append(law)
    points = sorted({point for law in laws for point in law})
    tails, expected = {}, 0.0
    below_last = 0.0
    for point in points:
        below = [float(sum(p for s, p in law.items() if s < point)) for law in laws]
        upto = [float(sum(p for s, p in law.items() if s <= point)) for law in laws]
        others = t - len(laws)
        tails[point] = 1 - math.prod(below) * min(below) ** others
        reached = math.prod(upto) * min(upto) ** others
        expected += float(point) * (reached - below_last)
        below_last = reached
    return expected, tails


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("t", [2, 7])
def test_best_of_guessers_agrees_with_every_way_to_be_right(aggregate: Aggregate, t: int) -> None:
    samples = [
        [(0, 0, 0, 0), (0, 1, 2, 2), (1, 1, 2, 2), (0, 0, 0, 2)],
        [(0, 1, 2, 0), (1, 1, 1, 1), (2, 2, 2, 2), (0, 2, 2, 2)],
    ]
    labels = np.array(samples)
    kinds = Kinds.of(aggregate, profiles(labels), [3] * 4, [1] * 4)
    best = BestOfSamples.of(kinds, aggregate.unit, t)
    expected, tails = best_by_listing(samples, 3, aggregate, t)
    assert best.expected == close(expected, abs=1e-12)
    for point, p in tails.items():
        assert best.p_value(float(point)) == close(p, abs=1e-12)
    # Each sample is right with 1/m, however alike the samples are.
    if aggregate.how == "mean":
        assert best.standard_baseline == close(1 / 3, abs=1e-12)
    above = best.p_standard(0.5, 0), best.p_standard(0.5, 1)
    assert best.union_p(0.5) == close(min(1, sum(above) + (t - 2) * max(above)), abs=1e-12)


def test_fine_scores_are_rounded_up_by_little() -> None:
    aggregate = Aggregate("pass", 20, 10)
    law = {int(aggregate.credits(np.array(c))): Fraction(1, 3) for c in (0, 2, 7)}
    kinds = Kinds([law], np.zeros((1, 3), dtype=np.intp))
    best = BestOfSamples.of(kinds, aggregate.unit, 1)
    totals = [sum(row) for row in product(law, repeat=3)]
    for total in set(totals):
        exact = sum(each >= total for each in totals) / len(totals)
        assert best.p_value(total / aggregate.unit / 3) >= exact - 1e-12
    mean = sum(law) / 3 / aggregate.unit
    assert best.standard_baseline == close(mean, abs=1e-12)
    assert mean <= best.expected <= mean + 1 / 4096


def test_votes_are_the_commonest_answer_and_ties_know_no_place() -> None:
    names = {0: "yes", 1: "no", 2: "maybe"}
    labels = np.array([[[0, 1, 1], [2, 2, 0], [0, 1, 2]]])
    ids = ["a", "b", "c"]
    found = voted(labels, lambda _, label: names[label], ids)
    assert found[0, :2].tolist() == [1, 2]
    # The same texts under other labels: the same text is taken.
    other = {2: "yes", 0: "no", 1: "maybe"}
    moved = np.array([[[2, 0, 0], [1, 1, 2], [2, 0, 1]]])
    again = voted(moved, lambda _, label: other[label], ids)
    assert [other[each] for each in again[0].tolist()] == [names[e] for e in found[0].tolist()]


def test_ties_of_a_vote_are_fair() -> None:
    """With ties to the first choice, gold 60 % first, guessers would be right in .55."""
    n = 4000
    labels = np.tile(np.array([0, 1]), (1, n, 1))
    said = voted(labels, lambda _, label: f"text {label}", [f"e{i}" for i in range(n)])
    gold = np.arange(n) >= 0.6 * n
    assert abs((said[0] == gold).mean() - 0.5) < 4 * math.sqrt(0.25 / n)


def test_what_cannot_be_read_has_no_vote_where_anything_can() -> None:
    labels = np.array([[[UNREAD, UNREAD, 0], [UNREAD] * 3]])
    assert voted(labels, lambda _, label: str(label), ["a", "b"]).tolist() == [[0, UNREAD]]


def test_permuted_credits_agree_with_every_permutation() -> None:
    rng = np.random.default_rng(0)
    labels, gold = rng.integers(0, 3, (2, 6, 4)), np.array([0, 0, 1, 1, 2, 0])
    aggregate = Aggregate("mean", 4)
    right = (labels[..., None] == np.arange(3)).sum(axis=2)
    test = max_t_of_credits(
        aggregate.credits(right), gold, unit=aggregate.unit, permutations=40_000
    )
    best = [
        max(np.mean(labels[p] == np.array(order)[:, None]) for p in range(2))
        for order in permutations(gold.tolist())
    ]
    observed = max(np.mean(labels[p] == gold[:, None]) for p in range(2))
    exact = np.mean([each >= observed - 1e-12 for each in best])
    assert test.best == close(observed)
    assert abs(test.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4


def test_one_sample_gives_the_test_of_single_answers() -> None:
    rng = np.random.default_rng(1)
    labels, gold = rng.integers(0, 3, (5, 30)), rng.integers(0, 3, 30)
    strata = np.arange(30) % 2
    right = (labels[..., None, None] == np.arange(3)).sum(axis=2)
    single = max_t_test(labels, gold, strata=strata, permutations=2000)
    several = max_t_of_credits(right, gold, strata=strata, permutations=2000)
    assert (several.p_value, several.best) == (single.p_value, single.best)
    assert np.array_equal(several.maxima, single.maxima)


def test_bad_credits_are_refused() -> None:
    with pytest.raises(ValueError, match="earned must be from 0 to 1, found 0 to 2"):
        max_t_of_credits(np.array([[[0, 2]]]), [0])
    with pytest.raises(ValueError, match="kinds must be from 0 to 1"):
        max_t_of_credits(np.array([[[0, 1]]]), [2])
    with pytest.raises(ValueError, match="a vote depends"):
        Aggregate("vote", 3).credits(np.array([1]))
    with pytest.raises(ValueError, match="a vote depends"):
        Aggregate("vote", 3).of_grades(np.array([[0.5]]))


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_grades_come_to_what_every_choice_of_samples_comes_to_on_average(
    aggregate: Aggregate,
) -> None:
    grades = np.round(np.random.default_rng(2).random((50, 4)), 1)
    found = aggregate.of_grades(grades)
    reduced: Any = {"mean": np.mean, "pass": np.max, "all": np.min}[aggregate.how]
    for own, score_of in zip(grades, found, strict=True):
        drawn = combinations(own, aggregate.j)
        assert score_of == close(np.mean([reduced(each) for each in drawn]))
    # What is right or wrong comes to the same in either way.
    right = (grades > 0.5).astype(float)
    earned = aggregate.credits(right.sum(axis=1).astype(int)) / aggregate.unit
    assert aggregate.of_grades(right) == close(earned)
    fewer = aggregate.of_fewer(1)
    assert fewer.of_grades(grades[:, :1]) == close(grades[:, 0])
    assert (fewer.credits(np.array([0, 1])) / fewer.unit).tolist() == [0, 1]


def test_both_components_are_unbiased_over_every_outcome() -> None:
    """Rates .2 or .9 with equal chance: between .1225, within (.16 + .09) / 2, by listing all."""
    rates, n, k = (0.2, 0.9), 2, 3
    between = within = variance = mean = 0.0
    for own in product(rates, repeat=n):
        for cells in product((0, 1), repeat=n * k):
            scores = np.array(cells).reshape(n, k)
            rows = zip(scores, own, strict=True)
            p = 0.5**n * np.prod([np.prod(np.where(row, r, 1 - r)) for row, r in rows])
            found = components(scores)
            between += p * found.between
            within += p * found.within
            mean += p * found.mean
            variance += p * found.mean**2
    assert between == close(0.1225)
    assert within == close(0.125)
    assert variance - mean**2 == close(0.1225 / n + 0.125 / (n * k))


def test_what_more_samples_and_more_examples_buy() -> None:
    rng = np.random.default_rng(0)
    rates = rng.choice([0.3, 0.8], 4000)
    found = components(rng.random((4000, 4)) < rates[:, None])
    assert found.error(100, 10**9) == close(found.of_data * np.sqrt(40), rel=1e-6)
    for n, k in ((50, 1), (50, 8), (200, 2)):
        truth = np.sqrt(0.0625 / n + 0.185 / (n * k))
        assert found.error(n, k) == close(truth, rel=0.05)
    assert found.of_data**2 + found.of_prediction**2 == close(found.error(4000, 4) ** 2)


def test_identical_samples_have_no_noise_of_prediction() -> None:
    found = components(np.tile([[1], [0], [1]], (1, 5)))
    assert (found.within, found.of_prediction) == (0, 0)
    assert found.between == close(1 / 3)


def test_more_of_either_is_told_beside_what_there_is() -> None:
    told = more(Components(n=100, k=4, mean=0.5, between=0.04, within=0.16))
    assert told["twice the samples"] == close(np.sqrt(0.04 / 100 + 0.16 / 800))
    assert told["any number of samples"] == close(0.02)
    assert told["twice the examples, half the samples"] == close(np.sqrt(0.0002 + 0.16 / 400))


@pytest.mark.parametrize(("one", "other", "k"), [(0.7, 2.0, 3), (3.0, 3.0, 8), (0.2, 0.1, 5)])
def test_any_and_all_of_more_samples_are_those_of_the_beta_binomial_law(
    one: float, other: float, k: int
) -> None:
    rates, law = stats.beta(one, other), stats.betabinom(k, one, other)
    found = Components(n=50, k=4, mean=rates.mean(), between=rates.var(), within=0.1)
    assert expected_of(found, "all", k) == close(law.pmf(k))
    assert expected_of(found, "pass", k) == close(1 - law.pmf(0))
    assert expected_of(Components(n=50, k=4, mean=0.5, between=-0.01, within=0.2), "all", k) is None


def test_a_share_of_examples_takes_more_examples() -> None:
    told = more_of_examples(0.3, 40)
    assert told["now"] == close(stats.binom(40, 0.3).std() / 40)
    assert told["twice the examples"] == close(stats.binom(80, 0.3).std() / 80)


def test_one_sample_shows_no_difference() -> None:
    with pytest.raises(ValueError, match=r"at least 2 of each, found \(5, 1\)"):
        components(np.ones((5, 1)))
