"""The chart shows every result beside its baselines, and no name can break its text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_maxrandom.reports.chart import MOST_BARS, MOST_CHARTS, charts, label
from pytest_maxrandom.reports.markdown import markdown
from tests.unit.reports.page import any_text, read
from tests.unit.reports.samples import claim, recorded, run, scored, several, untested
from tests.unit.reports.test_markdown import HOSTILE

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord

# In Mermaid 11 these end a text, name an entity or start a directive or a comment.
MEANINGFUL = set("\"'`#;%<>{}&\\|\n\r\t")
NUMBERS = r"\[((?:\d\.\d{3}(?:, )?)+)\]"
SOURCE = re.compile(
    r'%%\{init: \{"xyChart": \{"width": \d+, "height": \d+\}, "themeVariables": '
    r'\{"xyChart": \{"plotColorPalette": "#\w{6}, #\w{6}, #\w{6}"\}\}\}\}%%\n'
    r"xychart-beta horizontal\n"
    r'(?:    title "([^"\n]*)"\n)?'
    r'    x-axis \[("[^"\n]*"(?:, "[^"\n]*")*)\]\n'
    r'    y-axis "([^"\n]*)" 0 --> 1\n'
    rf"    bar {NUMBERS}\n    line {NUMBERS}\n    line {NUMBERS}"
)


def title(source: str) -> str | None:
    match = SOURCE.fullmatch(source)
    assert match, source
    return match[1]


def columns(source: str) -> tuple[list[str], str, list[list[float]]]:
    """Return the labels, the axis and the three lists of numbers of a chart."""
    match = SOURCE.fullmatch(source)
    assert match, source
    _, labels, axis, *numbers = match.groups()
    return (
        re.findall(r'"([^"]*)"', labels),
        axis,
        [[float(value) for value in column.split(", ")] for column in numbers],
    )


@given(any_text)
@example(HOSTILE)
@example('%%{init: {"theme": "dark"}}%%')
@example("a#quot;b")
def test_a_label_has_no_sign_that_means_something(name: str) -> None:
    shown = label(name)
    assert not MEANINGFUL & set(shown)
    for character in shown:
        category = unicodedata.category(character)
        assert category[0] in "LNM" or character in " _-.,()/+=[]\N{MIDDLE DOT}"
    assert len(shown) <= 41


@given(st.lists(any_text, min_size=2, max_size=6))
@settings(deadline=None)
def test_no_name_changes_the_structure_and_no_two_labels_are_the_same(names: list[str]) -> None:
    drawn = charts(run(*[claim(id=f"a::{name}", task=name, metric=name) for name in names]))
    assert drawn is not None
    labels, _, numbers = columns(drawn.sources[0])
    assert [len(column) for column in numbers] == [len(names)] * 3
    assert len(set(labels)) == len(labels) == len(names)


def test_bars_are_the_best_and_lines_the_baselines() -> None:
    drawn = charts(run(claim(best=41), scored(), recorded(best=25)))
    assert drawn is not None
    labels, axis, (best, highest, chance) = columns(drawn.sources[0])
    assert labels[0] == "1 weather[demo-nf4-4shot]"
    assert axis == "score"
    # By hand, as in test_markdown: 41/60, and E[max of 20]/60 = .62016 by SciPy.
    assert best == [0.683, 0.515, 0.417]
    assert highest == [0.620, 0.607, 0.620]
    assert chance == [0.500, 0.490, 0.500]


def test_the_axis_says_what_all_bars_measure() -> None:
    for record, axis in ((claim(), "accuracy"), (scored(), "macro-F1")):
        drawn = charts(run(record, record))
        assert drawn is not None
        assert columns(drawn.sources[0])[1] == axis


@given(st.integers(2, 400))
@settings(max_examples=20, deadline=None)
def test_every_result_is_drawn_once_as_far_as_there_is_room(number: int) -> None:
    drawn = charts(run(*[recorded(task=f"task {place}") for place in range(number)], untested()))
    assert drawn is not None
    labels = [name for source in drawn.sources for name in columns(source)[0]]
    assert labels == [f"task {place}, 4-shot" for place in range(drawn.shown)]
    assert drawn.claims == number
    sizes = [len(columns(source)[0]) for source in drawn.sources]
    assert max(sizes) <= MOST_BARS
    assert len(sizes) <= MOST_CHARTS
    assert drawn.shown == min(number, sum(sizes))
    assert number == drawn.shown or len(sizes) == MOST_CHARTS


def test_many_results_have_a_chart_for_each_model_and_suite_which_its_title_names() -> None:
    def of_suite(suite: str) -> list[ClaimRecord]:
        return [
            recorded(
                task=task, model=model, shots=shots, id=f"dir/{suite}::{task}[{model}-{shots}shot]"
            )
            for model in ("one", "two")
            for task in ("emoji_movie", "snarks", "winowhy", "hyperbaton")
            for shots in (1, 2, 4)
        ]

    alone = charts(run(*of_suite("a.yaml")))
    assert alone is not None
    assert list(map(title, alone.sources)) == ["one", "two"]
    both = charts(run(*of_suite("a.yaml"), *of_suite("b.yaml")))
    assert both is not None
    assert list(map(title, both.sources)) == [
        f"{model}, {suite}.yaml" for suite in "ab" for model in ("one", "two")
    ]
    for source in both.sources:
        assert columns(source)[0][:4] == [
            *(f"emoji_movie, {shots}-shot" for shots in (1, 2, 4)),
            "snarks, 1-shot",
        ]


def test_models_with_few_results_share_a_chart_and_are_named_in_it() -> None:
    for models in (2, 30):
        record = run(*[recorded(model=f"m{place}", task="x") for place in range(models)])
        drawn = charts(record)
        assert drawn is not None
        labels, _, _ = columns(drawn.sources[0])
        assert labels == [f"x, 4-shot, m{place}" for place in range(models)]
        assert title(drawn.sources[0]) is None


@pytest.mark.parametrize("claims", [[], [claim()], [claim(), untested()], [untested()] * 3])
def test_fewer_than_two_results_make_no_chart(claims: list[object]) -> None:
    record = run(*claims)  # type: ignore[arg-type]
    assert charts(record) is None
    assert "mermaid" not in markdown(record)


def test_the_report_shows_the_chart_with_its_key_and_says_what_is_left_out() -> None:
    text = markdown(run(*several(tasks=3)))
    assert text.count("```mermaid\n") == 1
    assert "Bars: the best prompt. Lines: the maximum random baseline on the right" in text
    assert "are drawn" not in text
    number = MOST_BARS * MOST_CHARTS + 8
    many = markdown(run(*[recorded(id=f"a::{place}") for place in range(number)]))
    assert many.count("```mermaid\n") == MOST_CHARTS
    assert " of 392 claims are drawn; the table has all of them." in many
    assert "7 more charts" in many
    blocks = [block for block in read(many).blocks if "xychart-beta" in block]
    assert len(blocks) == MOST_CHARTS
