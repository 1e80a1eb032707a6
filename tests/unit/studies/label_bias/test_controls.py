"""Control texts list labels in all orders in the claim's own format, and ask nothing."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import pytest

from pytest_maxrandom.studies.label_bias.interactions import (
    CONTENT_FREE,
    content_free_examples,
    control_examples,
    control_prompt,
    no_base_rate_reason,
)
from pytest_maxrandom.suite.prompts import CounterfactualSpec
from pytest_maxrandom.sweeps.labels import label, label_words
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout

LAYOUT = Layout("Read.\n", "\nQuestion: ", "\nThe best answer choice is ", " ")
LETTERS = Format(LAYOUT, "parenthesized")
TEXTS = Format(LAYOUT)


def _examples(*counts: int) -> list[Example]:
    return [
        Example(f"e{i}", f"question {i}", tuple(f"{i} {c}" for c in range(m)), (i % m,))
        for i, m in enumerate(counts)
    ]


SENTIMENT = [
    Example(f"s{i}", f"film {i}", ("positive", "negative", "neutral"), (i % 3,)) for i in range(3)
]
PLACES = label(_examples(4, 4))
SHARED = label(SENTIMENT)


def _texts(form: Format, found: list[Example]) -> list[str]:
    return [control_prompt(form).context(example) for example in found]


def test_the_control_text_reads_as_in_the_paper_in_the_format_of_the_claim() -> None:
    found = control_examples(LETTERS, PLACES)
    assert _texts(LETTERS, found)[0] == (
        "Read.\n\nQuestion: Select an answer choice (A) choice (B) choice (C) choice (D) choice\n"
        "The best answer choice is "
    )
    assert {control_prompt(LETTERS).format.answers(example) for example in found} == {
        ("(A)", "(B)", "(C)", "(D)")
    }
    lines = Format(Layout(choice_prefix="\n"), "number")
    assert _texts(lines, control_examples(lines, PLACES))[1] == (
        "\nQ: Select an answer choice\n1. choice\n2. choice\n4. choice\n3. choice\nA: "
    )


@pytest.mark.parametrize("m", [2, 3, 4, 5, 7])
def test_labels_stand_in_all_orders_up_to_four_and_else_in_all_rotations(m: int) -> None:
    found = _texts(LETTERS, control_examples(LETTERS, label(_examples(m, m))))
    orders = [tuple(text[i - 1] for i in range(len(text)) if text[i] == ")") for text in found]
    letters = "ABCDEFG"[:m]
    if m <= 4:
        assert Counter(orders) == Counter(itertools.permutations(letters))
    else:
        assert len(orders) == m
        for place in range(m):
            assert sorted(order[place] for order in orders) == list(letters)


def test_each_number_of_choices_has_control_texts_of_its_own() -> None:
    found = control_examples(LETTERS, label(_examples(4, 2, 4, 3)))
    assert Counter(len(example.choices) for example in found) == {2: 2, 3: 6, 4: 24}
    assert len({example.id for example in found}) == 32


def test_texts_that_are_the_labels_are_listed_in_all_orders() -> None:
    found = control_examples(TEXTS, SHARED)
    texts = _texts(TEXTS, found)
    assert len(set(texts)) == 6
    assert (
        "Read.\n\nQuestion: Select an answer choice neutral positive negative\n"
        "The best answer choice is "
    ) in texts
    assert {example.choices for example in found} == {("negative", "neutral", "positive")}


def test_a_format_that_lists_nothing_has_one_control_text() -> None:
    silent = Format(Layout(append_choices=False))
    (found,) = control_examples(silent, SHARED)
    assert _texts(silent, [found]) == ["\nQ: Select an answer choice\nA: "]


def test_counterfactual_controls_keep_their_continuation() -> None:
    asked = Format(LAYOUT, "letter", CounterfactualSpec())
    assert control_prompt(asked).format.counterfactual == CounterfactualSpec()
    assert control_prompt(asked).digest != control_prompt(Format(LAYOUT, "letter")).digest


def test_the_control_texts_of_the_published_code_can_be_written() -> None:
    layout = Layout("", "", ". Of the answer choices above, the best answer choice is ", " ")
    form = Format(layout, "parenthesized")
    control = "Select an answer choice (A) choice (B) choice (D) choice (C) choice. "
    assert control + "Of the answer choices above, the best answer choice is " in _texts(
        form, control_examples(form, PLACES)
    )
    asked = dataclasses.replace(
        form,
        counterfactual=CounterfactualSpec(output_prefix=". Of the answer choices above, answer "),
    )
    assert control + "Of the answer choices above, answer " in _texts(
        asked, control_examples(asked, PLACES)
    )


def test_content_free_inputs_stand_after_the_prompts_own_demonstrations() -> None:
    (shown,) = _examples(2)
    prompt = Prompt((shown,), LETTERS)
    found = content_free_examples(LETTERS, PLACES)
    assert [example.input for example in found] == list(CONTENT_FREE) == ["N/A", "", "[MASK]"]
    assert prompt.context(found[0]) == (
        f"Read.\n{LETTERS.demonstration(shown)}\n"
        "\nQuestion: N/A (A) N/A (B) N/A (C) N/A (D) N/A\nThe best answer choice is "
    )
    assert {LETTERS.answers(example) for example in found} == {("(A)", "(B)", "(C)", "(D)")}


def test_texts_that_are_the_labels_stand_at_every_place_of_content_free_listings() -> None:
    found = content_free_examples(TEXTS, SHARED)
    assert Counter(example.input for example in found) == dict.fromkeys(CONTENT_FREE, 3)
    listings = [TEXTS.question(e).split("\n")[1].split()[-3:] for e in found if e.input == "N/A"]
    for column in zip(*listings, strict=True):
        assert sorted(column) == ["negative", "neutral", "positive"]
    silent = Format(Layout(append_choices=False))
    assert [silent.question(example) for example in content_free_examples(silent, SHARED)] == [
        "\nQ: N/A\nA: ",
        "\nQ: \nA: ",
        "\nQ: [MASK]\nA: ",
    ]


def test_choices_of_both_kinds_of_texts_stand_in_the_order_of_the_labels() -> None:
    for form, labels in ((LETTERS, PLACES), (TEXTS, SHARED)):
        words = label_words(form, labels, labels.choices[0])
        for found in (control_examples(form, labels), content_free_examples(form, labels)):
            for example in found:
                asked = control_prompt(form).format if found[0].id.startswith("control") else form
                assert asked.answers(example) == words
    first = SHARED.examples[0]
    words = label_words(TEXTS, SHARED, 3)
    assert words == SHARED.by_label(0, first.choices) == ("negative", "neutral", "positive")


def test_labels_without_words_of_their_own_have_no_probability() -> None:
    assert no_base_rate_reason(LETTERS, PLACES) is None
    assert no_base_rate_reason(TEXTS, SHARED) is None
    for form, labels, told in (
        (
            TEXTS,
            PLACES,
            "The answers are texts that differ from example to example, and a place in their list "
            "has no probability without a question.",
        ),
        (
            LETTERS,
            SHARED,
            "The answers are labels of places, and probabilities are asked of texts.",
        ),
    ):
        assert no_base_rate_reason(form, labels) == told
        assert label_words(form, labels, 4) is None
        assert control_examples(form, labels) == content_free_examples(form, labels) == []
    assert no_base_rate_reason(LETTERS, label(SENTIMENT, by_place=True)) is None
