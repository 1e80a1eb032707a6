"""What a model has written is read by a rule that is written down."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.answers import Unread
from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.suite.prompts import GenerationSpec
from pytest_maxrandom.sweeps.lettered import listed
from pytest_maxrandom.sweeps.named_choices import choices_named
from pytest_maxrandom.sweeps.predictions import predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout

LETTERS = ("A", "B", "C")
PLACES = ("New York", "New York City", "a dog")
WORDS = ("positive", "negative")
NUMBERS, COUNTS = ("1", "2", "3"), ("2", "3", "4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # It is the label or the text, whatever stands at its ends.
        ("B", 1), ("b", 1), (" B.", 1), ("(B)", 1), ("**B**", 1), ("b)\n", 1), ('"B!"', 1),
        ("New York", 0), ("new york.", 0), ("“New York City”", 1), ("a dog", 2),
        # It begins with it, as whole words; the longest counts.
        ("B. because I say so", 1), ("B) New York, or not", 1), ("New York City, not York", 1),
        ("New York is a city", 0), ("A or B", 0), ("B-side", None), ("Because", None),
        # It is the only one that occurs.
        ("The answer is (B).", 1), ("Answer: B", 1), ("It must be New  York\nCity!", 1),
        ("Either B or C", None), ("B, and its text is A", 1), ("I say B, New York City", 1),
        # A letter is a label among words in its own case only: "a" is a word.
        ("a cat", None), ("I like a cat and a big dog", None), ("That is a dog", 2),
        ("The answer is b", None), ("A cat", 0),
        # Nothing is.
        ("", None), ("?", None), ("42", None), ("none of them", None),
    ],
)  # fmt: skip
def test_letters_before_texts(text: str, said: int | None) -> None:
    assert choices_named(text, LETTERS, PLACES) == ({said} if said is not None else set())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Positive", {0}), ("negative, I think", {1}), ("That's negative.", {1}),
        ("neither positive nor negative", set()), ("not positive", {0}), ("positively", set()),
        ("positive, not negative", {0}),
    ],
)  # fmt: skip
def test_words_that_are_the_answer(text: str, said: set[int]) -> None:
    assert choices_named(text, WORDS, WORDS) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [("2", {1}), ("4", {2}), ("The answer is 4", {2}), ("2.5", set()), ("-2", set()),
     ("2,000", set()), ("2.", {1}), ("12", set())],
)  # fmt: skip
def test_a_label_comes_before_a_text_that_looks_like_it(text: str, said: set[int]) -> None:
    assert choices_named(text, NUMBERS, COUNTS) == said


def test_choices_that_are_nothing_but_brackets_are_told_apart() -> None:
    brackets = (") ]", "] )", "")
    assert choices_named(" ] )\n", brackets, brackets) == {1}
    assert choices_named("", brackets, brackets) == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("New York", set()), ("It is New York", set()), ("New York.", {0}), ("New York C", {0}),
        ("New York City", {1}), ("A", {0}), ("a dog", {2}), ("I say A", {0}),
    ],
)  # fmt: skip
def test_a_text_that_is_cut_where_another_goes_on_from_it_is_none(
    text: str, said: set[int]
) -> None:
    assert choices_named(text, LETTERS, PLACES, cut=True) == said


def test_a_number_that_is_cut_may_be_a_longer_one() -> None:
    numbers = ("2", "21", "3")
    assert choices_named("2", numbers, numbers, cut=True) == set()
    assert choices_named("2", numbers, numbers) == {0}
    assert choices_named("21", numbers, numbers, cut=True) == {1}
    # A label of its own is whole.
    assert choices_named("2", ("1", "2", "3"), ("7", "21", "22"), cut=True) == {1}


def test_choices_with_one_text_are_not_told_apart() -> None:
    assert choices_named("fig", ("fig", "Fig", "date"), ("fig", "Fig", "date")) == {0, 1}


AROUND = st.text(alphabet=" \n\"'()[]*", max_size=4)
NAME = st.text(alphabet=string.ascii_lowercase + " ", min_size=2, max_size=12).filter(
    lambda name: len(name.replace(" ", "")) > 1
)


@given(names=st.lists(NAME, min_size=2, max_size=5), before=AROUND, after=AROUND, data=st.data())
def test_a_name_with_anything_around_it_is_that_choice(
    names: list[str], before: str, after: str, data: st.DataObject
) -> None:
    names = list({" ".join(name.split()): None for name in names})
    name = data.draw(st.sampled_from(names))
    case = data.draw(st.sampled_from([str.lower, str.upper, str.title]))
    found = choices_named(before + case(name) + "." + after, names, names)
    assert found == {names.index(name)}


@given(text=st.text(max_size=60), data=st.data())
def test_any_text_names_choices_or_none_and_order_decides_nothing(
    text: str, data: st.DataObject
) -> None:
    names = data.draw(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=4))
    order = data.draw(st.permutations(range(len(names))))
    found = choices_named(text, names, names)
    turned = choices_named(text, [names[i] for i in order], [names[i] for i in order])
    assert {order[place] for place in turned} == found


EXAMPLE = Example("e", "Which?", PLACES, (1,))


def read(text: str, finish: str = "stop", **how: Any) -> tuple[int | None, Unread]:
    form = Format(Layout(choice_prefix="\n"), "letter", generation=GenerationSpec(**how))
    prompt = Prompt((), form)
    said = Answer((), (), text=text, finish=finish)  # type: ignore[arg-type]
    found = predict(prompt, [EXAMPLE], [[said]], "generate")
    assert (found.texts, found.finishes) == ((text,), (finish,))
    assert (found.log_likelihoods, found.tokens, found.ties) == (((),), ((),), 0)
    return found.chosen[0], found.unread_why[0]


def test_what_cannot_be_read_is_cut_or_is_refused_is_no_choice() -> None:
    letter = Format(Layout(choice_prefix="\n"), "letter").answers(EXAMPLE)[1]
    assert read(letter) == (1, Unread.NOT)
    assert read("hm") == (None, Unread.UNREADABLE)
    assert read("Let me think about", "length") == (None, Unread.CUT)
    # What names a choice before it is cut is read.
    assert read(f"{letter}, because it", "length") == (1, Unread.NOT)
    assert read("New York", "length") == (None, Unread.CUT)
    assert read("so: New York!", "length", pattern="so: ([^!]*)") == (0, Unread.NOT)
    assert read("so: New York", "length", pattern="so: ([^!]*)") == (None, Unread.CUT)
    assert read(f"{letter}", "refused") == (None, Unread.REFUSED)


def test_of_a_pattern_the_first_group_is_read() -> None:
    pattern = r"(?i)answer is (.*)"
    assert read("New York? No. The answer is New York City.", pattern=pattern)[0] == 1
    assert read("New York City", pattern=pattern) == (None, Unread.UNREADABLE)
    assert read("<think>New York</think> a dog", pattern=r"(?s)</think>(.*)")[0] == 2
    assert read("x", pattern="(y)?x") == (None, Unread.UNREADABLE)


def test_a_model_that_gives_no_text_is_told() -> None:
    form = Format(Layout(), generation=GenerationSpec())
    with pytest.raises(ScoreError, match="the model gave no text"):
        predict(Prompt((), form), [EXAMPLE], [[Answer((-1.0,), (1,))]], "generate")


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("Which?\nA. one\nB. two words\nC. 3\nD. four\nAnswer:", ("one", "two words", "3", "four")),
        ("Which?\n(A) one\n(B) two\n(C) three\n(D) four", ("one", "two", "three", "four")),
        ("Which? (A) one (B) two (C) three (D) four", ("one", "two", "three", "four")),
        ("Which?\n A) one\n B) two\n C) three\n D) four", ("one", "two", "three", "four")),
        ("A. a\nB. b\nC. c\nD. d\nAnswer: A\n\nA. w\nB. x\nC. y\nD. z", ("w", "x", "y", "z")),
        ("A. over\ntwo lines\nB. b\nC. c\nD. d", ("over\ntwo lines", "b", "c", "d")),
        ("Which of A. and B.?", None),
        ("A. one\nB. two\nC. three", None),
        ("A. one\nB.  \nC. three\nD. four", None),
    ],
)
def test_a_question_tells_what_its_letters_stand_for(
    text: str, texts: tuple[str, ...] | None
) -> None:
    assert listed(text, 4) == texts
