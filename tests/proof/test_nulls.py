"""Right answers that cannot be permuted one by one: how often guessers pass other tests of them."""

from __future__ import annotations

import itertools
import zlib
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.clustered import cluster_test
from pytest_maxrandom.stats.majority import View, chances_of_constants
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.orders import order_test
from tests.proof.nulls import (
    CLUSTERED,
    COMPARING,
    KINDS,
    KNOWING_CLUSTERED,
    SAME,
    clustered,
    compare,
    nearest,
    right_on,
)
from tests.proof.scale import LEVEL, WHOLE, affordable, most, scaled

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 60)
POWER_RUNS = scaled(500, 30)
ARRANGEMENTS = 99
"""Of each run: with the observed one 100, of which a p-value at the level counts 5."""
LABELS = [(2, 0.7), (4, 0.7), (2, 0.9), (4, 0.9), (2, 0.5), (4, 0.25)]


ORDERED = ("an order of its own each", "one order of all, with noise")
MAIN = ("follow their cluster", "follow it, prefer a rare label", "label frequencies")


def seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def clustered_share(
    name: str, clusters: int, labels: tuple[int, float], t: int, runs: int, follow: float
) -> tuple[float, float]:
    """Return the share of runs that pass, and of those in which nobody can tell."""
    generator = seeded(name, clusters, labels, t, follow)
    answer = {**CLUSTERED, **KNOWING_CLUSTERED}[name]
    passed = untold = 0
    for seed in range(runs):
        drawn = clustered(generator, clusters, *labels, follow=follow)
        answers = answer(generator, drawn, t)
        choices = np.full(len(drawn.gold), labels[0])
        names = drawn.clusters.tolist()
        test = cluster_test(
            answers, drawn.gold, names, choices, permutations=ARRANGEMENTS, seed=seed
        )
        told = test.ways.tells(LEVEL)
        untold += not told
        passed += told and test.p_value <= LEVEL
    return passed / runs, untold / runs


@pytest.mark.parametrize("name", CLUSTERED)
@pytest.mark.parametrize("clusters", [10, 40])
def test_clusters_of_unequal_size_help_no_guesser(
    name: str, clusters: int, measured: Measured
) -> None:
    highest = 0.0
    cells = [(labels, t) for labels in LABELS[:4] for t in (1, 10, 50)]
    cells += [(labels, 10) for labels in LABELS[4:]]
    if not WHOLE:
        cells = cells[1:6:3]
    elif name not in MAIN:
        cells = [cell for cell in cells if cell[1] == 10]
    if WHOLE:
        cells = affordable(
            cells, lambda cell: cell[1] == 50 or (clusters, cell[0][0], cell[1]) == (40, 4, 10)
        )
    for labels, t in cells:
        share, _ = clustered_share(name, clusters, labels, t, RUNS, 0.7)
        columns = "guessers | clusters | choices | largest label | t | pass"
        row = f"{name} | {clusters} | {labels[0]} | {labels[1]} | {t}"
        measured(f"type I, clusters of 1 to 20 ({RUNS} runs)", columns, row, share)
        highest = max(highest, share)
    assert highest <= most(RUNS) / RUNS


@pytest.mark.parametrize("follow", [0.0, 1.0])
@pytest.mark.parametrize("name", ["follow their cluster", "one label a cluster"])
def test_it_does_not_matter_how_far_right_answers_follow_the_cluster(
    name: str, follow: float, measured: Measured
) -> None:
    highest = 0.0
    cells = affordable(
        itertools.product((10, 40), LABELS[:4]), lambda cell: cell[0] == 40 and cell[1] != LABELS[0]
    )
    for clusters, labels in cells if WHOLE else cells[:1]:
        share, _ = clustered_share(name, clusters, labels, 10, RUNS, follow)
        columns = "guessers | clusters | choices | largest label | right answers that follow | pass"
        row = f"{name} | {clusters} | {labels[0]} | {labels[1]} | {follow}"
        table = f"type I, how far right answers follow, t = 10 ({RUNS} runs)"
        measured(table, columns, row, share)
        highest = max(highest, share)
    assert highest <= most(RUNS) / RUNS


@pytest.mark.parametrize("name", KNOWING_CLUSTERED)
@pytest.mark.parametrize("t", [1, 10])
def test_who_knows_passes_on_clusters_of_unequal_size(
    name: str, t: int, measured: Measured
) -> None:
    cells = [(labels, follow) for labels in LABELS for follow in (0.0, 0.7, 1.0)]
    for labels, follow in cells if WHOLE else [(LABELS[0], 0.7)]:
        share, untold = clustered_share(name, 10, labels, t, POWER_RUNS, follow)
        columns = (
            "who | choices | largest label | right answers that follow | t | pass | cannot tell"
        )
        row = f"{name} | {labels[0]} | {labels[1]} | {follow} | {t}"
        table = f"power, 10 clusters of 1 to 20 ({POWER_RUNS} runs)"
        measured(table, columns, row, share, untold)
        if name == "right on .9" and labels[1] <= 0.7 and follow < 1:
            assert share >= 0.9


def compared_share(
    name: str, kind: str, things: int, n: int, size: int, t: int, runs: int
) -> float:
    generator = seeded(name, kind, things, size, t)
    answer = COMPARING[name] if name in COMPARING else right_on(float(name))
    passed = 0
    for seed in range(runs):
        drawn = compare(generator, things, n, size, kind=kind)
        answers = answer(generator, drawn, t)
        test = order_test(
            answers, drawn.gold, drawn.offered.tolist(), permutations=ARRANGEMENTS, seed=seed
        )
        assert test is not None
        passed += test.p_value <= LEVEL
    return passed / runs


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("kind", KINDS)
def test_an_order_of_ones_own_helps_no_guesser(name: str, kind: str, measured: Measured) -> None:
    highest = 0.0
    cells = [((15, 100, 2), 10), ((15, 100, 3), 10)]
    if kind == KINDS[0]:
        cells += [((15, 100, 2), 1), ((15, 100, 3), 1), ((30, 400, 2), 1), ((30, 400, 2), 10)]
        dear = (((30, 400, 2), 1), ((30, 400, 2), 10), ((15, 100, 3), 1))
        cells = affordable(cells, lambda cell: cell in dear and name not in ORDERED)
    else:
        cells = affordable(cells, lambda cell: cell[0][2] == 3)
    for (things, n, size), t in cells if WHOLE else cells[:1]:
        share = compared_share(name, kind, things, n, size, t, RUNS)
        columns = "guessers | questions | things | n | in each | t | pass"
        row = f"{name} | {kind} | {things} | {n} | {size} | {t}"
        measured(f"type I, things that recur ({RUNS} runs)", columns, row, share)
        highest = max(highest, share)
    assert highest <= most(RUNS) / RUNS


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("which", ["the closest", "any"])
def test_a_third_choice_that_is_no_thing_helps_no_guesser(
    name: str, which: str, measured: Measured
) -> None:
    cells = affordable(
        [(0.2, 10), (0.0, 10), (0.5, 10), (0.2, 1), (0.0, 1)],
        lambda cell: cell not in ((0.2, 10), (0.0, 10)),
    )
    highest = 0.0
    for share, t in cells if WHOLE else cells[:2]:
        generator, passed = seeded("about the same", name, which, share, t), 0
        for seed in range(RUNS):
            drawn = compare(generator, 15, 100)
            gold = nearest(drawn, drawn.strength, share)
            if which == "any":
                gold = np.where(generator.random(100) < share, 15, drawn.gold)
            answers = np.array([SAME[name](generator, drawn, share) for _ in range(t)])
            offered = np.insert(drawn.offered, 2, 15, axis=1).tolist()
            test = order_test(answers, gold, offered, permutations=ARRANGEMENTS, seed=seed)
            assert test is not None
            assert test.things <= 15  # "about the same" is none
            passed += test.p_value <= LEVEL
        columns = "guessers | right of | share | t | pass"
        row = f"{name} | {which} | {share} | {t}"
        table = f'type I, pairs or "about the same" ({RUNS} runs)'
        measured(table, columns, row, passed / RUNS)
        highest = max(highest, passed / RUNS)
    assert highest <= most(RUNS) / RUNS


@pytest.mark.parametrize("accuracy", ["0.7", "0.8"])
def test_who_knows_the_order_passes(accuracy: str, measured: Measured) -> None:
    for things, n, t in [(15, 100, 1), (15, 100, 10), (30, 400, 1), (30, 400, 10)]:
        for kind in (KINDS[0], KINDS[2], KINDS[3]) if WHOLE else KINDS[:1]:
            share = compared_share(accuracy, kind, things, n, 2, t, POWER_RUNS)
            columns = "right on | questions | things | n | t | pass"
            row = f"{accuracy} | {kind} | {things} | {n} | {t}"
            measured(f"power, pairs of things ({POWER_RUNS} runs)", columns, row, share)
            if accuracy == "0.8":
                assert share >= 0.9


@pytest.mark.parametrize("t", [10, 50])
@pytest.mark.parametrize("majority", [0.7, 0.8])
@pytest.mark.parametrize(
    "answer",
    ["label frequencies", "nearly constant", "always affirms", "affirms in .9", "by place, .6"],
)
@pytest.mark.parametrize("sets", [1, 2])
def test_the_rate_of_constants_leaves_nothing_to_label_guessers(
    sets: int, answer: str, majority: float, t: int, measured: Measured
) -> None:
    runs, n = scaled(2000, 50), 100
    affirms = {
        "label frequencies": majority,
        "nearly constant": 0.97,
        "always affirms": 1.0,
        "affirms in .9": 0.9,
        "by place, .6": 0.5,
    }[answer]
    kinds = np.arange(n) % sets
    half = [Fraction(1, 2)] * n
    gold = np.empty(n, dtype=np.int64)
    for kind in range(sets):
        own = np.flatnonzero(kinds == kind)
        gold[own] = np.arange(len(own)) >= round(majority * len(own))
    passed = 0
    generator = seeded(sets, answer, majority, t)
    for _ in range(runs):
        places = generator.random(n) < 0.6  # whether the right answer is shown first
        by_text = View(
            [{(kind, each)} for kind, each in zip(kinds, gold, strict=True)], kinds.tolist()
        )
        by_place = View([{bool(each)} for each in places], [2] * n)
        chances = chances_of_constants(half, [by_text, by_place])
        if answer == "by place, .6":
            best = int((places == (generator.random((t, n)) < 0.6)).sum(axis=1).max())
        else:
            best = int((gold == (generator.random((t, n)) >= affirms)).sum(axis=1).max())
        passed += MaxRandomBaseline(n, chances, t).p_value(best) <= LEVEL
    share = passed / runs
    columns = "guessers | right to affirm | sets of labels | t | pass"
    row = f"{answer} | {majority} | {sets} | {t}"
    measured(f"type I, p_max with the rate of constants ({runs} runs)", columns, row, share)
    assert share <= most(runs) / runs
