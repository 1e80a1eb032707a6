"""Curves of a held-out study, against counts of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_maxrandom.figures.holdout import drawable, figures
from pytest_maxrandom.studies.holdout import Study, Trials
from tests.unit.figures import common


def _trials(splits: int = 200) -> Trials:
    generator = np.random.default_rng(3)
    outcome = generator.random(splits) < 0.6
    score = (generator.normal(size=splits) + outcome).round(1)
    return Trials(
        above_standard=score > 0.1,
        above_maximum=score > 0.8,
        standard_score=score,
        maximum_score=np.where(score > 1.5, np.inf, score - 0.2 * outcome),
        test_above_chance=outcome,
    )


def test_the_area_under_the_curve_is_the_share_of_ordered_pairs() -> None:
    trials = _trials()
    [(_, figure)] = figures([Study("demo", trials, (60,), (20,))])
    for label, score in (
        ("F of one guesser", trials.standard_score),
        ("F of best guesser", trials.maximum_score),
    ):
        (line,) = (x for x in figure.axes[0].lines if str(x.get_label()).startswith(label))
        right, wrong = score[trials.test_above_chance], score[~trials.test_above_chance]
        ordered = np.mean(
            [(a > b) + 0.5 * (a == b) for a in right.tolist() for b in wrong.tolist()]
        )
        x, y = np.array(common.data(line)).T
        assert np.trapezoid(y, x) == pytest.approx(ordered)
        assert str(line.get_label()).endswith(f"AUROC {ordered:.3f}".replace(" 0.", " ."))


def test_marks_are_the_rates_of_the_prediction() -> None:
    trials = _trials()
    [(_, figure)] = figures([Study("demo", trials, (60,), (20,))])
    roc, pr = figure.axes
    outcome = trials.test_above_chance
    for name, said in (("standard", trials.above_standard), ("maximum", trials.above_maximum)):
        (on_roc,), (on_pr,) = (
            [x for x in axes.lines if str(x.get_label()).startswith(f"above {name} baseline")]
            for axes in (roc, pr)
        )
        [(wrong, right)] = common.data(on_roc)
        assert wrong == pytest.approx(said[~outcome].mean())
        assert right == pytest.approx(said[outcome].mean())
        [(recall, precision)] = common.data(on_pr)
        assert recall == right
        assert precision == pytest.approx(outcome[said].mean())


def test_the_precision_recall_curve_ends_at_the_share_of_successes() -> None:
    trials = _trials()
    [(_, figure)] = figures([Study("demo", trials, (60,), (20,))])
    (line,) = (x for x in figure.axes[1].lines if str(x.get_label()).startswith("F of one"))
    recall, precision = common.data(line)[0]
    assert recall == 1
    assert precision == pytest.approx(trials.test_above_chance.mean())


def test_each_row_names_its_model_with_n_t_and_the_number_of_trials() -> None:
    studies = [Study(f"model {number}", _trials(), (40, 60), (20,)) for number in range(4)]
    drawn = dict(figures(studies))
    assert list(drawn) == ["holdout-1", "holdout-2"]
    titles = [axes.get_title(loc="left") for f in drawn.values() for axes in f.axes[::2]]
    assert titles == [f"model {number}\nn = 40 to 60, t = 20; 200 trials" for number in range(4)]


def test_trials_that_all_end_alike_have_no_curve() -> None:
    trials = _trials()
    assert drawable(trials)
    for end in (True, False):
        alike = np.full(len(trials), end)
        assert not drawable(replace(trials, test_above_chance=alike))


def test_curves_that_lie_on_each_other_differ_in_width_and_style() -> None:
    [(_, figure)] = figures([Study("demo", _trials(), (60,), (20,))])
    one, best = (x for x in figure.axes[0].lines if str(x.get_label()).startswith("F of"))
    assert one.get_linewidth() > 2 * best.get_linewidth()
    assert one.get_linestyle() != best.get_linestyle()
