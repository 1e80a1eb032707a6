"""Right answers are moved to every label, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.studies.label_bias.interactions import (
    further,
    placements,
    rotations,
    unmovable,
)
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.prompts.formats import Format, Labels, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout, Task

SKY = Example("sky", "What color is the sky?", ("blue", "green", "red"), (0,))
FORM = Format(Layout(choice_prefix="\n"), "parenthesized")


@st.composite
def examples(draw: st.DrawFn) -> Example:
    m = draw(st.integers(2, 6))
    right = draw(st.sets(st.integers(0, m - 1), min_size=1, max_size=m - 1))
    choices = tuple(f"choice {number}" for number in range(m))
    return Example(draw(st.text(max_size=3)), "?", choices, tuple(sorted(right)))


def place(example: Example) -> int:
    """Where the right answer is listed; of several, the file's first."""
    return shown_order(example).index(example.right[0])


def _others(example: Example) -> list[int]:
    return [index for index in shown_order(example) if index != example.right[0]]


@given(examples())
def test_the_right_answer_stands_at_each_label_once_and_the_others_keep_their_order(
    example: Example,
) -> None:
    found = placements(example)
    assert len(found) == len(example.choices)
    for number, one in enumerate(found):
        assert sorted(shown_order(one)) == list(range(len(example.choices)))
        assert shown_order(one)[number] == example.right[0]
        assert place(one) == number
        assert _others(one) == _others(example)


@given(examples())
def test_one_placement_is_the_example_as_it_is(example: Example) -> None:
    natural = [one for one in placements(example) if one == example]
    assert natural == [placements(example)[place(example)]]
    assert FORM.question(natural[0]) == FORM.question(example)


@given(examples())
def test_moving_twice_is_moving_once(example: Example) -> None:
    found = placements(example)
    for one in found:
        assert placements(one) == found


@given(examples())
def test_a_placement_is_the_same_example_of_the_same_task(example: Example) -> None:
    for one in placements(example):
        assert (one.id, one.content, one.chance) == (example.id, example.content, example.chance)
        assert Task("t", (one,)).digest == Task("t", (example,)).digest


def test_a_moved_answer_reads_so_and_is_answered_with_its_new_label() -> None:
    """By itself the example lists green, blue, red."""
    assert [FORM.question(one).removeprefix("\nQ: What color is the sky?") for one in
            placements(SKY)] == [
        "\n(A) blue\n(B) green\n(C) red\nA: ",
        "\n(A) green\n(B) blue\n(C) red\nA: ",
        "\n(A) green\n(B) red\n(C) blue\nA: ",
    ]  # fmt: skip
    assert [FORM.answers(one) for one in placements(SKY)] == [
        ("(A)", "(B)", "(C)"),
        ("(B)", "(A)", "(C)"),
        ("(C)", "(A)", "(B)"),
    ]
    assert [FORM.demonstration(one)[-3:] for one in placements(SKY)] == ["(A)", "(B)", "(C)"]
    texts = Format(Layout(choice_prefix="\n"))
    first = placements(SKY)[0]
    assert texts.question(first).endswith("?\nblue\ngreen\nred\nA: ")
    assert texts.answers(first) == SKY.choices


def test_of_several_right_answers_the_files_first_is_moved_and_all_stay_right() -> None:
    both = Example("b", "?", ("w1", "r1", "w2", "r2"), (1, 3))
    for number, one in enumerate(placements(both)):
        assert shown_order(one)[number] == 1
        (gold,) = label([one], by_place=True).gold
        assert gold == {number, shown_order(one).index(3)}


@given(st.lists(examples(), min_size=1, max_size=5, unique_by=lambda example: example.id))
def test_labels_are_the_places_at_which_choices_are_shown(found: list[Example]) -> None:
    presented = [one for example in found for one in placements(example)]
    labels = label(presented, by_place=True)
    assert not labels.shared
    for number, one in enumerate(presented):
        assert labels.by_label(number, range(len(one.choices))) == shown_order(one)
        assert place(one) in labels.gold[number]


@given(examples())
def test_rotations_give_every_choice_every_label_once(example: Example) -> None:
    found = rotations(example)
    assert found[0] == example
    columns = zip(*(shown_order(one) for one in found), strict=True)
    assert all(sorted(column) == list(range(len(example.choices))) for column in columns)
    following = {(a, b) for a, b in pairwise((*shown_order(example), shown_order(example)[0]))}
    for one in found:
        assert set(pairwise(shown_order(one))) <= following
        assert one.content == example.content


def _many(count: int, m: int = 4) -> list[Example]:
    return [Example(f"e{i}", "?", tuple("abcdef"[:m]), (i % m,)) for i in range(count)]


def test_what_is_left_to_score_is_all_but_the_natural_each_once_and_side_by_side() -> None:
    found = _many(20)
    everywhere = [one for example in found for one in placements(example)]
    left = further([*everywhere, *everywhere[::-1]])
    assert Counter(left) == Counter(set(everywhere) - set(found))
    assert [one.id for one in left] == [example.id for example in found for _ in range(3)]
    some = further(everywhere[i] for i in range(0, len(everywhere), 3))
    assert set(some) < set(left)
    runs = [name for name, _ in groupby(one.id for one in some)]
    assert len(runs) == len(set(runs))


YES_NO = [Example(f"y{i}", f"{i}?", ("yes", "no")[:: 1 - 2 * (i % 2)], (0,)) for i in range(2)]
OTHERS = [SKY, Example("sum", "1 + 1?", ("one", "two"), (1,)), *YES_NO]


@pytest.mark.parametrize(
    ("labels", "layout", "of", "told"),
    [
        ("letter", {}, OTHERS, None),
        ("number", {}, YES_NO, None),
        ("text", {}, OTHERS, None),
        ("text", {}, YES_NO, "Label words that are the answer cannot be remapped."),
        (
            "text",
            {"append_choices": False},
            YES_NO,
            "Label words that are the answer cannot be remapped.",
        ),
        (
            "text",
            {"append_choices": False},
            OTHERS,
            "Choices that are not listed have no place that a right answer could be moved to.",
        ),
    ],
)
def test_what_cannot_be_moved_is_told_in_one_sentence(
    labels: Labels, layout: dict[str, Any], of: list[Example], told: str | None
) -> None:
    form = Format(Layout(**layout), labels)
    assert unmovable(form, of) == told
    texts = {(Prompt((), form).context(one), form.answers(one)) for one in placements(of[0])}
    if layout and labels == "text":
        assert len(texts) == 1
    else:
        assert len(texts) == len(of[0].choices)
