"""Base rates against recalls: each label stands where its numbers are, with its name beside it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings, strategies as st
from matplotlib.text import Annotation, Text

from pytest_maxrandom.figures import style
from pytest_maxrandom.figures.catalogue import of_run, write_all, write_run
from pytest_maxrandom.figures.label_bias import base_rates, figures, panels_of
from tests.unit.figures import common
from tests.unit.reports import samples

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from pytest_maxrandom.record import InteractionBias

GPT2 = ((0.98, 0.01, 0.01, 0.01), (0.244, 0.157, 0.151, 0.129))
LLAMA3 = ((0.64, 0.56, 0.66, 0.46), (0.262, 0.216, 0.206, 0.182))
"""Recalls and base rates of A to D, from arXiv 2406.11634."""


def asked(recalls: tuple[float, ...], rates: tuple[float | None, ...]) -> InteractionBias:
    made = samples.interaction(*recalls)
    for row, rate in zip(made.labels, rates, strict=True):
        row.base_rate = rate
    return made


def drawn(*interactions: InteractionBias) -> Figure:
    record = samples.run(label_bias=[samples.label_bias(*interactions)])
    [(_, figure)] = figures(panels_of(record)[0])
    return figure


def marks(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each marker."""
    return {
        str(line.get_marker()): common.data(line)
        for line in axes.lines
        if line.get_marker() not in ("None", "", None)
    }


def lines(axes: Axes) -> list[list[float]]:
    """Return the heights of each line."""
    drawn_lines = (line for line in axes.lines if line.get_linestyle() != "None")
    return [[height for _, height in common.data(line)] for line in drawn_lines]


def boxes(axes: Axes) -> dict[str, Bbox]:
    """Return where the letters of each text in a panel are, without lines that lead to them."""
    return {text.get_text(): Text.get_window_extent(text) for text in axes.texts}


@pytest.mark.parametrize(("recalls", "rates"), [GPT2, LLAMA3])
def test_a_mark_stands_at_the_base_rate_and_the_recall_of_each_label(
    recalls: tuple[float, ...], rates: tuple[float, ...]
) -> None:
    [axes] = common.panels(drawn(asked(recalls, rates)))
    assert marks(axes) == {"o": list(zip(rates, recalls, strict=True))}
    texts = [text for text in axes.texts if isinstance(text, Annotation)]
    names = {text.get_text(): text.xy for text in texts if len(text.get_text()) == 1}
    assert names == dict(zip("ABCD", zip(rates, recalls, strict=True), strict=True))


def test_chance_is_a_line_and_r_stands_in_the_panel() -> None:
    [axes] = common.panels(drawn(asked(*GPT2)))
    assert lines(axes) == [[0.25, 0.25]]
    assert "r = +.97\n95 %: -.13 to +1.00" in boxes(axes)


def test_chance_is_the_claims_where_the_run_has_the_claim() -> None:
    claim = samples.claim(standard_baseline=0.325)
    record = samples.run(claim, label_bias=[samples.label_bias(asked(*GPT2))])
    [(_, figure)] = figures(panels_of(record)[0])
    assert lines(figure.axes[0]) == [[0.325, 0.325]]


def test_r_is_not_told_of_fewer_than_four_labels() -> None:
    [axes] = common.panels(drawn(asked((0.7, 0.5), (0.6, 0.4))))
    assert set(boxes(axes)) == {"A", "B"}


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.98, 1.0]), st.floats(0.01, 0.4)),
        min_size=2,
        max_size=6,
    )
)
@example(points=[(0.0, 0.25), (0.0, 0.125), (0.98, 0.25), (0.98, 0.125)])
@settings(deadline=None, max_examples=30)
@pytest.mark.slow
def test_names_touch_neither_each_other_nor_a_mark_nor_the_edge(
    points: list[tuple[float, float]],
) -> None:
    with style.applied():
        recalls, rates = zip(*points, strict=True)
        [axes] = common.panels(drawn(asked(recalls, rates)))
        found = list(boxes(axes).values())
        for one, other in itertools.combinations(found, 2):
            assert not one.overlaps(other)
        spots = axes.transData.transform(list(zip(rates, recalls, strict=True)))
        for box in found:
            assert axes.bbox.x0 <= box.x0
            assert box.x1 <= axes.bbox.x1
            assert axes.bbox.y0 <= box.y0
            assert box.y1 <= axes.bbox.y1
            assert not any(box.contains(x, y) for x, y in spots)


def test_without_base_rates_labels_stand_beside_each_other_with_their_shares() -> None:
    [axes] = common.panels(drawn(asked((0.5, 0.9, 0.1), (None, None, None))))
    assert marks(axes)["o"] == [(0, 0.5), (1, 0.9), (2, 0.1)]
    shares = marks(axes)["D"]
    assert [place for place, _ in shares] == [0, 1, 2]
    assert sum(share for _, share in shares) == pytest.approx(1)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["A", "B", "C"]


def test_a_label_that_is_never_right_has_no_mark() -> None:
    made = samples.interaction(0.5, None, 0.6)
    [axes] = common.panels(drawn(made))
    assert len(marks(axes)["o"]) == 2
    assert lines(axes) == [[1 / 3, 1 / 3]]


def test_each_way_of_asking_of_each_check_has_a_panel_with_n_and_t() -> None:
    moved = replace(asked(*LLAMA3), interaction="counterfactual")
    record = samples.run(
        label_bias=[
            samples.label_bias(asked(*GPT2), model="GPT-2", quantization="none"),
            samples.label_bias(asked(*LLAMA3), moved, task="facts", check="move"),
        ]
    )
    [(name, figure)] = figures(panels_of(record)[0])
    assert name == "label_bias"
    assert [axes.get_title(loc="left") for axes in common.panels(figure)] == [
        "weather, 4-shot\nGPT-2\nrecall, cloze\nn = 100, t = 10",
        "facts, 4-shot\ndemo (nf4)\nmove, cloze\nn = 100, t = 10",
        "facts, 4-shot\ndemo (nf4)\nmove, counterfactual\nn = 100, t = 10",
    ]


def test_many_panels_are_cut_into_files() -> None:
    record = samples.run(
        label_bias=[
            samples.label_bias(task=f"t{place}", id=f"s.yaml::t{place}::label_bias")
            for place in range(13)
        ]
    )
    found = dict(figures(panels_of(record)[0]))
    assert list(found) == ["label_bias-1", "label_bias-2"]
    assert sum(len(common.panels(figure)) for figure in found.values()) == 13


def test_letters_are_large_dark_and_within_the_paper() -> None:
    names = ("an uncommonly long label", "$\\frac{$", "中\n文", "<b>")
    made = [asked(*GPT2), asked((0.5, 0.4, 0.3, 0.2), (None,) * 4)]
    for each in made:
        for row, name in zip(each.labels, names, strict=True):
            row.label = name
    for group in ([made[0]], [made[1]], made * 3):
        figure = base_rates(panels_of(samples.run(label_bias=[samples.label_bias(*group)]))[0])
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert min(float(text.get_fontsize()) for text in texts) >= 7
        box = figure.get_tightbbox()
        assert box.x0 > -0.02
        assert box.y0 > -0.02
        assert box.x1 < figure.get_figwidth() + 0.02 <= 7.22
        assert box.y1 < figure.get_figheight() + 0.02


def test_a_run_draws_its_checks_and_names_those_without_a_result(tmp_path: Path) -> None:
    untold = replace(samples.label_bias(task="broken"), interactions=[])
    record = samples.run(samples.claim(), label_bias=[samples.label_bias(), untold])
    written = write_all([of_run(record).only(["label_bias"])], tmp_path)
    assert {path.name for path in written.files} >= {"label_bias.svg", "label_bias.png"}
    assert written.notes == [
        "label_bias: left out without a result: broken[demo-nf4-4shot]::label_bias"
    ]
    assert "label_bias" not in of_run(samples.run(samples.claim())).families


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        record = samples.run(label_bias=[samples.label_bias(asked(*GPT2))])
        written = write_run(record, tmp_path / name)
        contents.append([path.read_bytes() for path in written.files])
    assert contents[0] == contents[1]
