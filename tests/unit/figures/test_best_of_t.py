"""The best of t against both baselines: what is drawn is what was computed."""

from __future__ import annotations

import pytest
from matplotlib.collections import LineCollection
from scipy.stats import binom

from pytest_maxrandom.figures.axes import FLOOR
from pytest_maxrandom.figures.best_of_t import figures
from pytest_maxrandom.record import BesideIncumbent
from tests.unit.figures import common
from tests.unit.reports import samples


def _segments(axes: object, label: str) -> list[float]:
    (lines,) = (
        each
        for each in axes.collections  # type: ignore[attr-defined]
        if isinstance(each, LineCollection) and each.get_label() == label
    )
    return [float(segment[0][1]) for segment in lines.get_segments()]


@pytest.mark.parametrize("models", [1, 2, 5])
def test_every_claim_stands_in_one_place(models: int) -> None:
    results = common.results(*common.grid([f"model {name}" for name in range(models)]))
    names = [result.claim for result in results]
    drawn = [figure for _, figure in figures(results)]
    assert common.claims_in(drawn, names) == sorted(names)


def test_values_and_baselines_are_those_of_scipy() -> None:
    claims = [samples.claim(best=best, n=60, t=20, shots=best) for best in (28, 33, 41)]
    [(_, figure)] = figures(common.results(*claims))
    upper, strip = figure.axes[:2]
    expected = common.expected_maximum(60, 0.5, 20)
    assert _segments(upper, "standard") == [0.5] * 3
    assert _segments(upper, "maximum") == pytest.approx([expected] * 3, rel=1e-12)
    bests = [value for line in upper.lines[:3] for value in common.data(line)]
    assert bests == [(0, 28 / 60), (1, 33 / 60), (2, 41 / 60)]
    tails = binom.sf([27, 32, 40], 60, 0.5)
    for label, values in (("p_standard", tails), ("p_max", 1 - (1 - tails) ** 20)):
        shown = [line for line in strip.lines if line.get_label() == label]
        heights = [y for line in shown for _, y in common.data(line)]
        assert heights == pytest.approx(values.tolist(), rel=1e-9)


def test_the_permutation_p_is_drawn_where_it_was_computed() -> None:
    bounds = {"permutation_p": 0.01}
    claims = [
        samples.claim(shots=1),
        samples.claim(shots=4, asserted=bounds, permutation_p=0.0313),
        samples.claim(shots=8, asserted=bounds, permutation_p=0.25),
    ]
    [(_, figure)] = figures(common.results(*claims))
    shown = [line for line in figure.axes[1].lines if line.get_label() == "permutation_p"]
    found = {(round(x), y) for line in shown for x, y in common.data(line)}
    assert found == {(1, 0.0313), (2, 0.25)}
    written = [text.get_text() for text in figure.axes[1].texts]
    assert any("permutation p" in text for text in written)
    # The level that it is compared with.
    assert any(text.endswith(" = .01") for text in written)


def test_a_p_value_below_the_axis_is_a_triangle_at_its_end() -> None:
    [(_, figure)] = figures(common.results(samples.claim(best=60, n=60)))
    shown = [line for line in figure.axes[1].lines if line.get_label() in ("p_max", "p_standard")]
    marks = {(line.get_marker(), y) for line in shown for _, y in common.data(line)}
    assert marks == {("v", FLOOR)}


def test_the_levels_of_all_claims_are_drawn_once_each() -> None:
    claims = [
        samples.claim(level=level, task=f"{level}-{again}")
        for level in (0.05, 0.01)
        for again in (0, 1)
    ]
    [(_, figure)] = figures(common.results(*claims))
    assert sorted(text.get_text() for text in figure.axes[1].texts if "=" in text.get_text()) == [
        "\N{GREEK SMALL LETTER ALPHA} = .01",
        "\N{GREEK SMALL LETTER ALPHA} = .05",
    ]


def test_verdicts_differ_in_their_marks_and_not_in_colour_only() -> None:
    claims = [samples.claim(best=best, n=60, t=20, shots=best) for best in (28, 33, 45)]
    [(_, figure)] = figures(common.results(*claims))
    marks = [line.get_marker() for line in figure.axes[0].lines[:3]]
    assert len(set(marks)) == 3


def test_few_claims_share_a_file_and_many_have_one_for_each_model() -> None:
    few = common.results(*common.grid(["a", "b"], [0, 4]))
    assert [name for name, _ in figures(few)] == ["best_of_t"]
    many = common.results(*common.grid(["a", "b"], range(9)))
    assert [name for name, _ in figures(many)] == ["best_of_t-a", "best_of_t-b"]


def test_many_claims_of_a_model_are_cut_between_tasks() -> None:
    claims = [
        samples.claim(task=f"task {task}", shots=shots) for task in range(20) for shots in (0, 1, 2)
    ]
    drawn = dict(figures(common.results(*claims)))
    assert list(drawn) == ["best_of_t-demo-nf4-1", "best_of_t-demo-nf4-2"]
    for figure in drawn.values():
        assert len(figure.axes[0].lines) >= 30
        shots = [text.get_text() for text in figure.axes[1].get_xticklabels()]
        assert shots == ["0", "1", "2"] * 10


def test_each_panel_states_its_model_with_n_and_t() -> None:
    [(_, figure)] = figures(common.results())
    titles = [axes.get_title(loc="left") for axes in figure.axes[::2]]
    assert titles == ["demo\nn = 40 to 80, t = 10 to 20", "other\nn = 40 to 80, t = 30 to 40"]


def test_what_runs_today_is_drawn_with_its_p_and_the_level_that_this_is_compared_with() -> None:
    found = BesideIncumbent(
        name="the plain prompt", digest="ab", model="m", model_digest=None, answers_digest=None,
        accuracy=0.61, difference=0.14, low=0.01, high=0.25, level=0.02, by=0.0, test="exact",
        of=20, n=60, units=60, candidates=20, alike=["p1"], needed=300, matters=0.05,
    )  # fmt: skip
    claims = [
        samples.claim(shots=1),
        samples.claim(shots=4, asserted={"incumbent_p": 0.02}, incumbent=found, incumbent_p=0.0123),
    ]
    [(_, figure)] = figures(common.results(*claims))
    upper, strip = figure.axes[:2]
    assert _segments(upper, "incumbent") == [0.61]
    shown = [line for line in strip.lines if line.get_label() == "incumbent_p"]
    assert [(round(x), y) for line in shown for x, y in common.data(line)] == [(1, 0.0123)]
    assert "incumbent" in [text.get_text() for text in upper.texts]
    written = " ".join(text.get_text() for text in strip.texts)
    assert "incumbent p" in written
    assert "= .02" in written
    [(_, without)] = figures(common.results(claims[0]))
    assert "incumbent" not in " ".join(
        text.get_text() for axes in without.axes for text in axes.texts
    )
