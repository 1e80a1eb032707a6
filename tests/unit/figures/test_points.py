"""The increase of each task, and normalized scores against p-values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scipy.stats import beta

from pytest_maxrandom.figures import best_of_t, curves, points
from pytest_maxrandom.figures.axes import FLOOR
from tests.unit.figures import common
from tests.unit.reports import samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox


def test_each_task_shows_the_increase_of_each_of_its_claims() -> None:
    claims = common.grid()
    [(_, figure)] = points.increase_figures(common.results(*claims))
    tasks = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert tasks == ["weather", "emoji_movie", "snarks"]  # ascending n, so descending increase
    for axes, model in zip(figure.axes, ("demo", "other"), strict=True):
        drawn = sorted(
            (tasks[round(y)], str(line.get_label()), x)
            for line in axes.lines
            if str(line.get_label()).endswith("-shot")
            for x, y in common.data(line)
        )
        expected = sorted(
            (claim.task, f"{claim.shots}-shot", claim.max_random_baseline - 0.5)
            for claim in claims
            if claim.model == model
        )
        assert drawn == expected


def test_shots_differ_in_their_marks() -> None:
    results = common.results(*common.grid(shots=(0, 1, 2, 4, 8)))
    [(_, figure)] = points.increase_figures(results)
    marks = [
        line.get_marker()
        for line in figure.axes[0].lines
        if str(line.get_label()).endswith("-shot")
    ]
    assert len(set(marks)) == len(marks) == 5


def test_more_than_forty_tasks_fill_another_file() -> None:
    claims = [samples.claim(task=f"task {number}", best=40) for number in range(41)]
    drawn = list(points.increase_figures(common.results(*claims)))
    assert [name for name, _ in drawn] == ["increase-1", "increase-2"]
    marks = [
        point
        for _, figure in drawn
        for line in figure.axes[0].lines
        if line.get_label() == "4-shot"
        for point in common.data(line)
    ]
    assert len(marks) == 41


def test_normalized_scores_stand_beside_p_values() -> None:
    claims = [samples.claim(best=best, n=60, shots=best) for best in (24, 36, 42, 60)]
    results = common.results(*claims)
    [(_, figure)] = points.normalized_figures(results)
    for claim, result in zip(claims, results, strict=True):
        [(x, y)] = common.data(common.labelled(figure.axes[0], result.claim))
        assert x == pytest.approx(((claim.best_correct or 0) - 30) / 30)
        assert claim.p_max is not None
        assert y == pytest.approx(max(claim.p_max, FLOOR))


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return the names beside marks, and where they stand."""
    return [
        (text.get_text(), text.get_window_extent())
        for axes in common.panels(figure)
        for text in axes.texts
        if "-shot" in text.get_text() or "more" in text.get_text()
    ]


def test_each_mark_of_a_small_panel_has_its_name_and_those_on_each_other_have_all() -> None:
    claims = [samples.claim(best=best, task=name) for name, best in
              (("a", 60), ("b", 60), ("c", 31), ("d", 40))]  # fmt: skip
    [(_, figure)] = points.normalized_figures(common.results(*claims))
    assert sorted(name for name, _ in boxes(figure)) == [
        "a, 4-shot\nb, 4-shot", "c, 4-shot", "d, 4-shot",
    ]  # fmt: skip


@pytest.mark.parametrize("many", [3, 12, 40])
def test_no_name_lies_on_another_or_outside_of_its_panel(many: int) -> None:
    claims = [
        samples.claim(best=36 + 3 * (place % 8), task=f"task_{place}") for place in range(many)
    ]
    [(_, figure)] = points.normalized_figures(common.results(*claims))
    found = [box for _, box in boxes(figure)]
    assert len(found) >= min(many, 6)
    for place, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[:place])
        assert any(
            axes.bbox.contains(box.x0, box.y0) and axes.bbox.contains(box.x1, box.y1)
            for axes in common.panels(figure)
        )


def test_normalized_intervals_end_at_normalized_accuracies() -> None:
    [result] = common.results(samples.claim(best=45, n=60, t=20))
    [(_, figure)] = points.normalized_figures([result])
    ends = common.data(common.labelled(figure.axes[0], f"interval of {result.claim}"))
    # Clopper and Pearson, below at a 20th of .05; chance is .5.
    low, high = beta.ppf(0.05 / 20, 45, 16), beta.ppf(0.95, 46, 15)
    assert [x for x, _ in ends] == pytest.approx([2 * low - 1, 2 * high - 1])


def test_every_claim_stands_in_the_panel_of_its_model() -> None:
    results = common.results(*common.grid([f"model {number}" for number in range(11)]))
    drawn = list(points.normalized_figures(results))
    assert [name for name, _ in drawn] == ["normalized-1", "normalized-2"]
    names = [result.claim for result in results]
    assert common.claims_in([figure for _, figure in drawn], names) == sorted(names)
    titles = [axes.get_title(loc="left") for _, f in drawn for axes in common.panels(f)]
    assert [title.splitlines()[0] for title in titles] == [
        f"model {number}" for number in range(11)
    ]
    assert all("n = " in title and "t = " in title for title in titles)


def test_suites_about_the_same_things_have_panels_of_their_own() -> None:
    claims = [
        replace(claim, id=f"suites/{suite}.yaml::{claim.task}[{claim.model}-{claim.shots}shot]")
        for suite in ("one", "two")
        for claim in common.grid()
    ]
    results = common.results(*claims)
    for family in (points.increase_figures, points.normalized_figures):
        titles = [
            axes.get_title(loc="left").splitlines()[:2]
            for _, figure in family(results)
            for axes in common.panels(figure)
        ]
        assert titles == [
            [model, f"{suite}.yaml"] for suite in ("one", "two") for model in ("demo", "other")
        ]
    panels = curves.panels_of(results)
    assert [len({result.suite for result in panel.results}) for panel in panels] == [1] * 6
    names = [name for name, _ in best_of_t.figures(results)]
    assert names == [
        f"best_of_t-{model}-{suite}.yaml" for suite in ("one", "two") for model in ("demo", "other")
    ]
    alone = common.results(*claims[: len(claims) // 2])
    assert {result.suite for result in alone} == {""}
