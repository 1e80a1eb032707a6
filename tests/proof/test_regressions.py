"""Losses that were planted, and none: how often a comparison with a base calls a claim worse.

The base's answers are drawn once for each run, or anew for each look; those of the head have the
same probability for each example, less what was planted. Examples differ in how easy they are.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.record import Recorded
from pytest_maxrandom.record.packed import KeptAnswers
from pytest_maxrandom.reports.recorded_looks import count_looks
from pytest_maxrandom.reports.regressions import Asserted, regressions
from pytest_maxrandom.stats.judged_losses import chosen, judged, look_share
from pytest_maxrandom.stats.losses import power_of_not_worse, power_of_worse
from pytest_maxrandom.stats.regressions import Change
from tests.proof.by_hand import mcnemar
from tests.proof.scale import LEVEL, affordable, most, scaled
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.record import RunRecord
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 60)
LOOKS = 100
SELDOM, GAIN = 1 / 11, 0.5
RIGHT = 0.7
_STRICTLY_SAME = 0.05
"""Share of answers that change to either side though nothing is worse."""


def drawn(random: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Draw answers of which the share RIGHT is right."""
    return (random.random(shape) < RIGHT).astype(np.float64)


def changed(
    random: np.random.Generator, base: NDArray[np.float64], loss: float
) -> NDArray[np.float64]:
    """Let a share of answers change to either side, and the loss on top."""
    gain = _STRICTLY_SAME
    up = random.random(base.shape) < gain / (1 - RIGHT)
    down = random.random(base.shape) < (gain + loss) / RIGHT
    return np.where(base == 1, np.where(down, 0.0, 1.0), np.where(up, 1.0, 0.0))


def alarms(worse: list[list[float]], look: int = 1) -> float:
    """Return in how many runs any claim is called worse, whatever is shown besides."""
    found = [
        any(each.shown == "worse" for each in judged(ps, [1.0] * len(ps), [look] * len(ps), LEVEL))
        for ps in worse
    ]
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("n", "tasks"),
    affordable(itertools.product((100, 500, 2000), (1, 10, 50)), lambda cell: cell == (2000, 50)),
)
def test_an_unchanged_run_alarms_in_a_twentieth_at_most(
    measured: Measured, n: int, tasks: int
) -> None:
    """Both are drawn from the same distribution, for each of several tasks."""
    random = np.random.default_rng([n, tasks])
    worse = [
        [Change(drawn(random, n), drawn(random, n)).p_worse() for _ in range(tasks)]
        for _ in range(RUNS)
    ]
    share = alarms(worse)
    measured("An unchanged run", "n | tasks | worse", f"{n} | {tasks}", share)
    assert share <= most(RUNS) / RUNS


@pytest.mark.parametrize("kind", ["prompts", "clusters", "graded", "leave out", "skewed"])
def test_means_over_prompts_clusters_and_graded_scores_keep_the_level(
    measured: Measured, kind: str
) -> None:
    random = np.random.default_rng([3, len(kind)])
    n, t = 60, 10
    worse = []
    for _ in range(RUNS):
        easy = random.beta(2, 1, n)
        clusters = None
        sides = [(random.random((t, n)) < easy).astype(float) for _ in range(2)]
        if kind == "clusters":
            clusters = [place // 5 for place in range(n)]
            shared = [np.repeat(random.normal(0, 0.3, n // 5), 5) for _ in range(2)]
            sides = [
                (random.random((t, n)) < np.clip(easy + each, 0, 1)).astype(float)
                for each in shared
            ]
        elif kind == "graded":
            sides = [random.beta(4 * easy + 0.1, 4 * (1 - easy) + 0.1, (t, n)) for _ in range(2)]
        elif kind == "leave out":
            for side in sides:
                side[np.arange(t), :] = np.where(
                    np.arange(n) % t == np.arange(t)[:, None], np.nan, side
                )
        elif kind == "skewed":  # a few gains make up for many small losses, or are not seen
            gains = random.random(n) < SELDOM
            head = np.where(gains, 0.5 + GAIN, 0.5 - GAIN * SELDOM / (1 - SELDOM))
            sides = [np.full((1, n), 0.5), head[None]]
        base, head = sides
        worse.append([Change(base, head, clusters).p_worse()])
    share = alarms(worse)
    measured("An unchanged run, n = 60, t = 10", "answers | worse", kind, share)
    assert share <= most(RUNS) / RUNS


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize(("base_of", "head_of"), [(1, 1), (20, 1), (200, 1), (20, 20), (200, 200)])
def test_a_base_that_was_the_best_of_many_is_not_called_better(
    measured: Measured, n: int, base_of: int, head_of: int
) -> None:
    """All prompts are equally good; the best of each side are compared."""
    random = np.random.default_rng([n, base_of, head_of])
    plain, paid = [], []
    for _ in range(RUNS):
        best = []
        for t in (base_of, head_of):
            answers = drawn(random, t, n)
            best.append(answers[np.argmax(answers.sum(axis=1))])
        plain.append(Change(*best).p_worse())
        paid.append([chosen(plain[-1], 1, base_of)])
    uncorrected, share = float(np.mean(np.array(plain) <= LEVEL)), alarms(paid)
    columns = "n | base is the best of | head is the best of | McNemar | corrected"
    measured("A lucky base", columns, f"{n} | {base_of} | {head_of}", uncorrected, share)
    assert share <= most(RUNS) / RUNS
    if base_of >= 20 and head_of == 1:
        assert uncorrected > 0.15  # what is paid for is no small thing


@pytest.mark.parametrize("tasks", [1, 10, 50])
@pytest.mark.parametrize("n", [100, 500, 2000])
@pytest.mark.parametrize("loss", [0.02, 0.03, 0.05])
def test_a_planted_loss_is_found_as_often_as_the_plan_says(
    measured: Measured, n: int, tasks: int, loss: float
) -> None:
    """One of the tasks lost; of the others nothing is known, so it has Holm's least level."""
    random = np.random.default_rng([n, tasks, round(1000 * loss)])
    level = LEVEL * look_share(1) / tasks
    found = []
    for _ in range(RUNS):
        base = drawn(random, n)
        p = Change(base, changed(random, base, loss)).p_worse()
        found.append(judged([p, *[1.0] * (tasks - 1)], [1.0] * tasks, [1] * tasks, LEVEL)[0].shown)
    share = found.count("worse") / RUNS
    power = power_of_worse(n, loss, 2 * _STRICTLY_SAME, level)
    columns = "loss | n | tasks | found | planned"
    measured("A planted loss", columns, f"{loss} | {n} | {tasks}", share, power)
    assert abs(share - power) <= 4 * np.sqrt(power * (1 - power) / RUNS) + 0.005


@pytest.mark.parametrize("margin", [-0.02, -0.05])
@pytest.mark.parametrize("n", [100, 500])
def test_a_loss_of_the_margin_is_called_not_worse_in_a_twentieth_at_most(
    measured: Measured, n: int, margin: float
) -> None:
    random = np.random.default_rng([n, round(-100 * margin)])
    false: list[bool] = []
    true: list[bool] = []
    for _ in range(RUNS):
        base = drawn(random, n)
        for shown, loss in ((false, -margin), (true, 0.0)):
            shown.append(Change(base, changed(random, base, loss)).p_not_worse(margin) <= LEVEL)
    power = power_of_not_worse(n, 2 * _STRICTLY_SAME, margin, LEVEL)
    columns = "margin | n | a loss of the margin | no loss | planned"
    shares = *map(np.mean, (false, true)), power
    measured("Called not worse", columns, f"{margin} | {n}", *shares)
    assert np.mean(false) <= most(RUNS) / RUNS
    assert abs(np.mean(true) - power) <= 4 * np.sqrt(power * (1 - power) / RUNS) + 0.005


@pytest.mark.parametrize("base", ["once", "anew"])
@pytest.mark.parametrize("n", affordable([200, 1000], lambda n: n == 1000))
def test_a_hundred_looks_together_alarm_in_a_twentieth_at_most(
    measured: Measured, n: int, base: str
) -> None:
    random = np.random.default_rng([n, len(base)])
    alarmed, one_level = 0, 0
    for _ in range(RUNS):
        before = drawn(random, n)
        ps = []
        for _ in range(LOOKS):
            if base == "anew":
                before = drawn(random, n)
            ps.append(Change(before, drawn(random, n)).p_worse())
        looks = range(1, LOOKS + 1)
        shown = [
            judged([p], [1.0], [look], LEVEL)[0].shown for p, look in zip(ps, looks, strict=True)
        ]
        alarmed += "worse" in shown
        one_level += min(ps) <= LEVEL
    share = alarmed / RUNS
    columns = "n | base drawn | shared level | one level each"
    measured("A hundred looks", columns, f"{n} | {base}", share, one_level / RUNS)
    assert share <= most(RUNS) / RUNS
    assert one_level / RUNS > 0.2


@pytest.mark.parametrize("base", ["once", "anew"])
def test_a_hundred_comparisons_of_recorded_results_alarm_in_a_twentieth_at_most(
    measured: Measured, base: str, tmp_path: Path
) -> None:
    """As `maxrandom diff` counts them: by the ledger beside the suite.

    It counts, and compares, those of some runs, in each of which it finds the same; of the others
    McNemar's test tells, by SciPy.
    """
    random = np.random.default_rng([7, len(base)])
    runs, by_ledger = scaled(2000, 30), scaled(10, 1)
    heads, bases = np.empty((runs, LOOKS, 200)), np.empty((runs, LOOKS, 200))
    for heads_of, bases_of in zip(heads, bases, strict=True):
        heads_of[:] = drawn(random, LOOKS, 200)
        bases_of[:] = drawn(random, LOOKS, 200) if base == "anew" else drawn(random, 200)
    ps = mcnemar(bases, heads)
    counted, losses = (
        np.zeros((by_ledger, LOOKS), dtype=int),
        np.zeros((by_ledger, LOOKS), dtype=bool),
    )
    asserted = Asserted(not_worse_than=-0.02)
    known = replace(claim(), id="r.yaml::r", recorded=Recorded("r.csv", "table"), tries=None, t=1)

    def recorded(answers: NDArray[np.float64]) -> RunRecord:
        row = "".join(map(str, answers.astype(int)))
        kept = KeptAnswers(("p",), tuple(map(str, range(200))), (row,))
        return run(replace(known, answers=kept.packed()))

    for place in range(by_ledger):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "r.yaml").write_text("")
        for look in range(LOOKS):
            before, now = recorded(bases[place, look]), recorded(heads[place, look])
            count_looks(before, now, folder, "a run")
            counted[place, look] = now.claims[0].different_answers
            [one] = regressions(before, now, "main", asserted).claims
            if ps[place, look] < LEVEL:
                assert one.p_worse == pytest.approx(ps[place, look])
            losses[place, look] = one.loss == "worse"
        # The very same answers again are no look, and no alarm.
        count_looks(now, now, folder, "a run")
        assert now.claims[0].different_answers == counted[place, -1]
        assert regressions(now, now, "main", asserted).claims[0].loss == "the same"
    assert (counted == counted[0]).all()
    worse = ps <= LEVEL * np.array([look_share(int(look)) for look in counted[0]])
    assert (losses == worse[:by_ledger]).all()
    alarmed = int(worse.any(axis=1).sum())
    one_level = int((ps <= LEVEL / 2).any(axis=1).sum())
    columns = "n | base drawn | the ledger's level | .025 each"
    table = "A hundred comparisons of recorded results"
    measured(table, columns, f"200 | {base}", alarmed / runs, one_level / runs)
    assert alarmed <= most(runs)


def test_the_same_answers_never_alarm() -> None:
    answers = drawn(np.random.default_rng(0), 3, 50)
    assert Change(answers, answers).p_worse() == 1.0
