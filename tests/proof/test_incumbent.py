"""Better than the incumbent: how many claims pass where no candidate is better, and where one is.

The best of t candidates nearly always has a higher score than an incumbent that is as good as each
of them. What is drawn here has a common part for each example, by which candidates and incumbent
answer alike; in clusters a further part is the same for whole clusters.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from pytest_maxrandom.claims.beside import IncumbentAnswers
from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
from pytest_maxrandom.claims.kept import of_answers
from pytest_maxrandom.claims.recorded_looks import beside_incumbent
from pytest_maxrandom.claims.scored import assess_scores
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.ledger import Named, SetLedger, Subject
from pytest_maxrandom.stats.incumbents import Rises, usual_test
from pytest_maxrandom.stats.score_pairs import ScorePair
from pytest_maxrandom.suite.incumbent import IncumbentSettings
from pytest_maxrandom.tasks.task import Example
from tests.proof.by_hand import mcnemar
from tests.proof.scale import affordable, most, scaled
from tests.unit.reports.samples import claim as sample

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

    Scores = NDArray[np.float64]
    Kind = Literal["right or wrong", "graded"]

pytestmark = pytest.mark.proof

RATE, LEVEL = 0.7, 0.05
RUNS, RESAMPLES = scaled(2000, 15), 499
TABLE = f"no candidate is better ({RUNS} runs)"
COLUMNS = "candidates | scores | t | n | exact | resampled"
CLUSTER = 4
ALIKE = {
    "independent": (0.0, 1),
    "rho .5": (0.5, 1),
    "rho .9": (0.9, 1),
    "clusters": (0.5, CLUSTER),
}


def drawn(
    generator: np.random.Generator, t: int, n: int, alike: str, kind: Kind, rates: Scores
) -> tuple[Scores, Scores, NDArray[np.int64]]:
    """Return candidates, the incumbent, and the number of each example's cluster."""
    rho, size = ALIKE[alike]
    groups = np.arange(n) // size
    units = int(groups[-1]) + 1
    shared = generator.standard_normal(units)[groups]
    own = generator.standard_normal((t + 1, n))
    if size > 1:
        own = (
            np.sqrt(0.5) * own + np.sqrt(0.5) * generator.standard_normal((t + 1, units))[:, groups]
        )
    latent = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
    above = latent - np.array([NormalDist().inv_cdf(1 - rate) for rate in rates])[:, None]
    scores = (above > 0).astype(float)
    if kind == "graded":
        scores = np.clip(above * 0.4 + 0.3, 0, 1).round(2)
    return scores[1:], scores[0], groups


def passes(
    candidates: Scores,
    incumbent: Scores,
    groups: NDArray[np.int64],
    test: str,
    by: float = 0.0,
    rank: int = 1,
) -> bool:
    """Tell whether the best candidate is found to be better than an incumbent of some rank."""
    differences, t = candidates - incumbent, len(candidates)
    there = ~np.isnan(differences)
    means = np.nanmean(differences, axis=1)
    best = int(means.argmax())
    if means[best] <= by:
        return False
    if test == "exact":
        pair = ScorePair(differences[best][there[best]], groups[there[best]])
        return t * rank * pair.p_greater(by, LEVEL / t / rank) <= LEVEL
    rises = Rises(differences, there, groups, RESAMPLES, 0)
    return rank * rises.p_greater(float(means[best]) - by) <= LEVEL


@pytest.mark.parametrize(
    ("t", "n"),
    affordable(
        itertools.product((1, 5, 20, 200), (60, 200, 1000)), lambda cell: math.prod(cell) > 12_000
    ),
)
@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
@pytest.mark.parametrize("alike", ALIKE)
def test_the_best_of_t_that_are_no_better_passes_in_five_of_a_hundred_runs(
    alike: str, kind: Kind, t: int, n: int, measured: Measured
) -> None:
    generator = np.random.default_rng(n + t)
    passed = {"exact": 0, "resampled": 0}
    rates = np.full(t + 1, RATE)
    for _ in range(RUNS):
        candidates, incumbent, groups = drawn(generator, t, n, alike, kind, rates)
        for test in passed:
            passed[test] += passes(candidates, incumbent, groups, test)
    shares = [passed[test] / RUNS for test in passed]
    measured(TABLE, COLUMNS, f"{alike} | {kind} | {t} | {n}", *shares)
    assert passed["exact"] <= most(RUNS)
    assert passed[usual_test(n // ALIKE[alike][1])] <= most(RUNS)


@pytest.mark.parametrize(("t", "n"), [*itertools.product((1, 5, 20), (20, 30, 40))])
@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
@pytest.mark.parametrize("alike", ALIKE)
def test_the_default_test_holds_its_level_with_few_examples_and_can_pass(
    alike: str, kind: Kind, t: int, n: int, measured: Measured
) -> None:
    """The least p is t / 2^units: that of a prompt which is always right, beside one that never is.

    Where that is above the level no result passes, which a suite is told before it is run.
    """
    generator, rates = np.random.default_rng([n, t, 4]), np.full(t + 1, RATE)
    units = n // ALIKE[alike][1]
    assert usual_test(units) == "exact"
    groups = np.arange(n) // ALIKE[alike][1]
    least = t * ScorePair(np.ones(n), groups).p_greater(0.0, LEVEL / t)
    if n % CLUSTER == 0 or units == n:  # else the last cluster is a smaller one
        assert least == pytest.approx(t / 2**units)
    passed = sum(passes(*drawn(generator, t, n, alike, kind, rates), "exact") for _ in range(RUNS))
    columns = "candidates | scores | t | n | pass the default test | the least p"
    row = f"{alike} | {kind} | {t} | {n}"
    shown = f"{min(1.0, least):.1e}"
    measured(f"few examples ({RUNS} runs)", columns, row, passed / RUNS, shown)
    assert passed <= most(RUNS)
    assert passed == 0 or least <= LEVEL


def test_candidates_scored_without_their_own_demonstrations_pass_no_more_often(
    measured: Measured,
) -> None:
    generator, passed = np.random.default_rng(5), {"exact": 0, "resampled": 0}
    for _ in range(RUNS):
        candidates, incumbent, groups = drawn(
            generator, 20, 200, "rho .5", "right or wrong", np.full(21, RATE)
        )
        for row in candidates:
            row[generator.choice(200, 4, replace=False)] = np.nan
        for test in passed:
            passed[test] += passes(candidates, incumbent, groups, test)
    shares = [passed[test] / RUNS for test in passed]
    measured(TABLE, COLUMNS, "leave-out | right or wrong | 20 | 200", *shares)
    assert max(passed.values()) <= most(RUNS)


def test_one_worse_and_noisier_candidate_and_a_margin_let_no_more_pass(measured: Measured) -> None:
    generator, passed = np.random.default_rng(6), {"exact": 0, "resampled": 0}
    # All but one are better by just the margin; that one is worse, and differs most.
    rates = np.array([0.7, 0.4, *[0.73] * 19])
    for _ in range(RUNS):
        candidates, incumbent, groups = drawn(generator, 20, 400, "rho .9", "right or wrong", rates)
        candidates[0] = (generator.random(400) < 0.4).astype(float)
        for test in passed:
            passed[test] += passes(candidates, incumbent, groups, test, by=0.03)
    shares = [passed[test] / RUNS for test in passed]
    measured(TABLE, COLUMNS, "by .03, one worse | right or wrong | 20 | 400", *shares)
    assert max(passed.values()) <= most(RUNS)


def test_the_luck_of_an_incumbent_makes_the_claim_harder(measured: Measured) -> None:
    generator, passed = np.random.default_rng(7), {"exact": 0, "resampled": 0}
    for _ in range(RUNS):
        scores, _, groups = drawn(
            generator, 40, 200, "independent", "right or wrong", np.full(41, RATE)
        )
        lucky = scores[int(scores[20:].mean(axis=1).argmax()) + 20]
        for test in passed:
            passed[test] += passes(scores[:20], lucky, groups, test)
    shares = [passed[test] / RUNS for test in passed]
    measured(TABLE, COLUMNS, "incumbent was the best of 20 | right or wrong | 20 | 200", *shares)
    assert max(passed.values()) <= max(1, most(RUNS) // 4)


@pytest.mark.parametrize("t", [5, 20])
@pytest.mark.parametrize("alike", ["independent", "rho .9"])
def test_an_incumbent_that_was_chosen_for_its_low_score_pays_for_its_rank(
    alike: str, t: int, measured: Measured
) -> None:
    """Of t equal prompts, the worst is named, or whichever passes most easily."""
    generator = np.random.default_rng([10, t])
    passed = dict.fromkeys(("worst, unpaid", "worst", "worst, resampled", "any"), 0)
    for _ in range(RUNS):
        others, one, groups = drawn(
            generator, t - 1, 200, alike, "right or wrong", np.full(t, RATE)
        )
        scores = np.vstack([others, one])
        means = scores.mean(axis=1)
        ranks = [1 + int((means > mean).sum()) for mean in means]
        worst = int(means.argmin())
        told = [
            passes(scores, own, groups, "exact", rank=rank)
            for own, rank in zip(scores, ranks, strict=True)
        ]
        passed["worst, unpaid"] += passes(scores, scores[worst], groups, "exact")
        passed["worst"] += told[worst]
        passed["worst, resampled"] += passes(
            scores, scores[worst], groups, "resampled", rank=ranks[worst]
        )
        passed["any"] += any(told)
    shares = [passed[name] / RUNS for name in passed]
    columns = " | ".join(["candidates | t | n", *passed])
    measured(f"a chosen incumbent ({RUNS} runs)", columns, f"{alike} | {t} | 200", *shares)
    assert max(passed["worst"], passed["any"], passed["worst, resampled"]) <= most(RUNS)


@pytest.mark.parametrize("of", ["prompts", "models"])
def test_twenty_incumbents_named_in_turn_pass_at_most_half_as_often_again_as_one(
    of: str, measured: Measured, tmp_path: Path
) -> None:
    """Beside prompts as good that nobody had tried, or one to as good models: any may be passed."""
    generator, tried, named, factors = np.random.default_rng(11), 5, 20, []
    subject, example = Subject("m", "d", "none", 0, "sum"), Example("a", "b", ("c", "d"), (0,))
    for place in range(named):
        ledger = SetLedger(tmp_path, f"run {place}", "task", [example])
        name, model = (f"old {place}", "") if of == "prompts" else ("old", f"model {place}")
        old = IncumbentAnswers(
            settings=IncumbentSettings(),
            name=name,
            digest=name,
            model="m",
            scores={},
            place=ledger.place_when_named(subject, Named(name, model)),
        )
        ledger.look(subject, ["p"], t=tried, n=1, best_correct=1, incumbent=Named(name, model))
        factors.append(old.factor)
    rates = np.full(tried + named, RATE)
    drawn_all = np.empty((RUNS, tried + named, 200))
    for scores in drawn_all:
        scores[:-1], scores[-1], _ = drawn(
            generator, tried + named - 1, 200, "independent", "right or wrong", rates
        )
    candidates, old_ones = drawn_all[:, :tried], drawn_all[:, tried:]
    best = candidates[np.arange(RUNS), candidates.sum(axis=2).argmax(axis=1)]
    p = tried * mcnemar(best[:, None], old_ones)
    told = p * factors <= LEVEL
    for run in range(scaled(10, 2)):
        groups = np.arange(200)
        assert told[run].tolist() == [
            passes(candidates[run], old, groups, "exact", rank=factor)
            for old, factor in zip(old_ones[run], factors, strict=True)
        ]
    passed = {
        "unpaid": int((p <= LEVEL).any(axis=1).sum()),
        "k (k + 1)": int(told.any(axis=1).sum()),
        "the first alone": int(told[:, 0].sum()),
    }
    shares = [each / RUNS for each in passed.values()]
    columns = " | ".join(["t | n", *passed])
    table = f"{named} {of} named as the incumbent in turn ({RUNS} runs)"
    measured(table, columns, f"{tried} | 200", *shares)
    assert passed["k (k + 1)"] <= most(RUNS, 1.5 * LEVEL)
    assert passed["the first alone"] <= most(RUNS)


def test_a_hundred_looks_at_recorded_answers_pass_in_a_twentieth_at_most(
    measured: Measured, tmp_path: Path
) -> None:
    """As the fixture counts them: by the ledger beside the test; the incumbent answers once.

    The ledger counts the looks of some runs, and the product judges each of these, as well as each
    that passes in any run; of the others McNemar's test tells, by SciPy.
    """
    generator, passed, one_level = np.random.default_rng(9), 0, 0
    runs, by_ledger = scaled(2000, 30), scaled(10, 1)
    claim, heading, rates = Claim(incumbent_p=LEVEL), sample(), np.full(501, RATE)
    levels = np.array([LEVEL / look / (look + 1) for look in range(1, 101)])
    for place in range(runs):
        scores, old, _ = drawn(generator, 500, 60, "independent", "right or wrong", rates)
        of_looks = scores.reshape(100, 5, 60)
        best = of_looks[np.arange(100), of_looks.sum(axis=2).argmax(axis=1)]
        p = 5 * mcnemar(best, old)
        told = p <= levels
        for look in range(100) if place < by_ledger else np.flatnonzero(told):
            answers = answers_of("scores", of_looks[look])
            incumbent = scores_beside("incumbent", old, answers)
            of_look = replace(claim, look=int(look) + 1)
            if place < by_ledger:
                kept, beside = of_answers(answers), tmp_path / str(place)
                assert kept is not None
                # The very same answers again are no further look.
                for _ in range(2):
                    counted = beside_incumbent(claim, heading, kept, incumbent, beside, "")
                    assert counted == of_look
            found = assess_scores(of_look, answers, 5, incumbent)
            assert found.passed == told[look]
            assert found.incumbent_p == pytest.approx(min(1.0, p[look]))
        passed += bool(told.any())
        one_level += bool((p <= LEVEL).any())
    columns = "t | n | the ledger's level | .05 each"
    table = f"a hundred looks at recorded answers ({runs} runs)"
    measured(table, columns, "5 | 60", passed / runs, one_level / runs)
    assert passed <= most(runs)


def test_resampled_finds_one_better_candidate_as_often_as_whites_test_by_hand(
    measured: Measured,
) -> None:
    """One of 200 candidates that answer much alike is better by .10."""
    generator, runs = np.random.default_rng(8), scaled(1000, 40)
    rates = np.array([RATE, RATE + 0.1, *[RATE] * 199])
    passed = {"exact": 0, "resampled": 0}
    by_hand = 0
    for _ in range(runs):
        candidates, incumbent, groups = drawn(
            generator, 200, 200, "rho .9", "right or wrong", rates
        )
        for test in passed:
            passed[test] += passes(candidates, incumbent, groups, test)
        differences = candidates - incumbent
        means = differences.mean(axis=1)
        counts = generator.multinomial(200, np.full(200, 1 / 200), RESAMPLES)
        highest = (counts @ differences.T / 200 - means).max(axis=1)
        by_hand += (1 + int((highest >= means.max() - 1e-12).sum())) / (1 + RESAMPLES) <= LEVEL
    shares = [passed["exact"] / runs, passed["resampled"] / runs, by_hand / runs]
    columns = "candidates | t | n | exact | resampled | White by hand"
    measured(f"one is better by .10 ({runs} runs)", columns, "rho .9 | 200 | 200", *shares)
    assert abs(passed["resampled"] - by_hand) <= 0.05 * runs
    assert passed["resampled"] >= passed["exact"]
