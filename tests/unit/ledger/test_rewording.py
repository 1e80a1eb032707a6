"""Questions in other words are found, and other questions are not taken for them."""

from __future__ import annotations

import itertools
import json
import random
import sys
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.ledger.lines import related
from pytest_maxrandom.ledger.questions import normalised, question_digest, visible_text
from pytest_maxrandom.ledger.rewording import Earlier, changed
from pytest_maxrandom.tasks.task import Example
from tests.unit.ledger.templates import TEMPLATES, arithmetic, deduction, questions, tracking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


SAME = 0.5
"""Share of a set from which on it counts as the earlier one."""


def share(new: Sequence[Example], before: Sequence[Example]) -> float:
    """Of the new questions that stood there before, in these or other words."""
    known = {question_digest(each) for each in before}
    found = Earlier(before).reworded(new)
    assert len(set(found.values())) == len(found), "one to one"
    return (len(found) + sum(question_digest(each) in known for each in new)) / len(new)


def edited(examples: Sequence[Example], edit: Callable[[str], str]) -> list[Example]:
    return [replace(each, input=edit(each.input)) for each in examples]


def question(text: str, right: int = 0) -> Example:
    return Example("", text, ("yes", "no"), (right,))


ONE = question("Does the old clock in the tower of the church not strike before 12 on Sundays?")


@pytest.mark.parametrize(("old", "new"), [
    ("old", "ancient"),
    ("in the tower of the", "within that tower of a"),
    ("Does the old clock", "Tell me: does the old clock"),
    ("strike", "really strike, at all,"),
])  # fmt: skip
def test_up_to_three_words_may_differ(old: str, new: str) -> None:
    other = question(ONE.input.replace(old, new))
    assert other.input != ONE.input
    assert Earlier([ONE]).reworded([other]) == {question_digest(other): question_digest(ONE)}


@pytest.mark.parametrize("apostrophe", ["\u2019", "\u02bc"])
def test_another_apostrophe_is_no_other_negation(apostrophe: str) -> None:
    old = question("Doesn't the old clock in the tower strike before 12 on Sundays?")
    new = question(old.input.replace("'", apostrophe))
    assert Earlier([old]).reworded([new]) == {question_digest(new): question_digest(old)}


@pytest.mark.parametrize("other", [
    question(ONE.input.replace("12", "11")),
    question(ONE.input.replace("12", "noon")),
    question(ONE.input.replace(" not", "")),
    question(ONE.input.replace("Does", "Doesn't").replace(" not", "")),
    question(ONE.input.replace("old clock in the tower", "new bell in a house")),
    replace(ONE, input=f"Well, {ONE.input}", right=(1,)),
    replace(ONE, input=f"Well, {ONE.input}", choices=("yes", "never")),
])  # fmt: skip
def test_other_numbers_negations_answers_and_more_words_make_another_question(
    other: Example,
) -> None:
    assert Earlier([ONE]).reworded([other]) == {}


def test_of_a_few_words_others_are_another_question() -> None:
    assert Earlier([question("Is gold a metal?")]).reworded([question("Is iron an ore?")]) == {}


def test_what_was_there_before_is_no_other_question_in_new_words() -> None:
    near = question(ONE.input.replace("old", "ancient"))
    assert Earlier([ONE, near]).reworded([near]) == {}


def test_words_are_counted_as_they_are_by_hand() -> None:
    lots = random.Random(0)

    def slow(one: str, other: str) -> int:
        if not one or not other:
            return len(one) + len(other)
        same = slow(one[1:], other[1:]) + (one[0] != other[0])
        return min(same, slow(one[1:], other) + 1, slow(one, other[1:]) + 1)

    for _ in range(300):
        one, other = ("".join(lots.choices("abc", k=lots.randrange(6))) for _ in range(2))
        assert changed(one, other) == min(4, slow(one, other))


@pytest.mark.parametrize("made", [arithmetic, deduction, tracking])
def test_a_templated_task_in_other_words_is_found(made: Callable[[random.Random], Example]) -> None:
    before = questions(made, 100, 1)
    assert share(edited(before, lambda text: f"Think, then say: {text}"), before) > 0.9


@pytest.mark.parametrize("count", [40, 200, 300])
@pytest.mark.parametrize("made", TEMPLATES)
def test_halves_of_templated_tasks_stay_apart(
    made: Callable[[random.Random], Example], count: int
) -> None:
    both = questions(made, count, count)
    half = count // 2
    assert share(both[half:], both[:half]) < 0.1


def test_halves_stay_apart_where_each_question_has_its_nearest_one_in_the_other() -> None:
    for made in TEMPLATES:
        both = questions(made, 200, 7)
        by_words = sorted(both, key=lambda each: sorted(each.input.split()))
        assert share(by_words[1::2], by_words[::2]) < SAME / 2


@pytest.fixture(scope="module")
def real(data_dir: Path) -> dict[str, list[Example]]:
    files = sorted((data_dir / "bigbench").glob("*.json"))
    found = {}
    for file in files:
        rows = [
            (each["input"], each["target_scores"])
            for each in json.loads(file.read_text(encoding="utf-8"))["examples"]
        ]
        found[file.stem] = [
            Example(str(number), text, tuple(scores), right)
            for number, (text, scores) in enumerate(rows)
            if (right := tuple(i for i, one in enumerate(scores) if scores[one] == 1))
        ]
    return found


@pytest.mark.slow
def test_all_pairs_of_real_tasks_stay_apart(real: dict[str, list[Example]]) -> None:
    earlier = {name: Earlier(examples) for name, examples in real.items()}
    for one, other in itertools.permutations(real, 2):
        assert earlier[one].reworded(real[other]) == {}


@pytest.mark.slow
def test_halves_of_real_tasks_stay_apart(real: dict[str, list[Example]]) -> None:
    for examples in real.values():
        for seed in range(3):
            shuffled = random.Random(seed).sample(examples, len(examples))
            half = len(examples) // 2
            assert share(shuffled[half:], shuffled[:half]) < 0.8 * SAME
        half = len(examples) // 2
        assert share(examples[half:], examples[:half]) < 0.8 * SAME
        assert share(examples[1::2], examples[::2]) < 0.8 * SAME


def test_real_tasks_in_other_words_are_found_but_for_templates(
    real: dict[str, list[Example]],
) -> None:
    found = {
        name: share(edited(examples[:100], lambda text: f"Well, then: {text}"), examples)
        for name, examples in real.items()
    }
    # Its questions differ from each other in a word or two.
    assert found.pop("disambiguation_qa") < 0.1
    assert min(found.values()) > 0.9, found


def asked(text: str, choices: tuple[str, ...] = ("yes", "no"), right: int = 0) -> Example:
    return Example("id", text, choices, (right,))


NO_INK = {0x2065, 0x2800, *range(0xFFF0, 0xFFF9)}
"""Of other categories, but drawn as nothing: ignorable by default, and Braille without a dot."""


def test_no_character_that_shows_nothing_and_no_space_changes_a_text() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        shows_nothing = code in NO_INK or 0xE0000 <= code <= 0xE0FFF
        if shows_nothing or unicodedata.category(letter) in ("Cf", "Cc", "Zs", "Zl", "Zp"):
            assert normalised(f"so{letter}me text{letter}?") == "sometext", hex(code)


@pytest.mark.parametrize("text", [
    "Straße", "ΑΣ", "ﬁn", "Ⅷ", "e\u0301", "İ", "½ of 3", "ǅ", "ᾳ", "1 2  3", "?", "...", " ", "",
])  # fmt: skip
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
    assert normalised(text.upper()) == normalised(text.upper().lower().casefold())
    assert visible_text(visible_text(text)) == visible_text(text)


def test_space_tells_numbers_apart_and_nothing_else() -> None:
    assert normalised("1 2") != normalised("12")
    assert normalised("1  2") == normalised("1\u00a02") == normalised("1 \u200b 2")
    assert normalised("a part") == normalised("apart")


def test_closing_punctuation_does_not_count_unless_there_is_nothing_else() -> None:
    assert normalised("Is it so?") == normalised("Is it so") == normalised("Is it so ?!")
    assert normalised("?") != normalised("!")
    assert normalised("5 %") != normalised("5")
    assert normalised("What? No") != normalised("What No")


def test_a_question_is_its_text_its_choices_and_which_of_them_are_right() -> None:
    one = asked("Is it so?")
    assert question_digest(one) == question_digest(asked("is it so", ("NO", "Yes"), 1))
    assert question_digest(one) != question_digest(asked("Is it so?", right=1))
    assert question_digest(one) != question_digest(asked("Is it so?", ("yes", "no", "maybe")))
    assert question_digest(one) != question_digest(asked("Was it so?"))
    blank = Example("id", "It was", ("he", "she"), (0,), continuation=" who came.")
    other = Example("id", "It was", ("he", "she"), (0,), continuation=" who left.")
    assert question_digest(blank) != question_digest(other)


def test_sets_are_related_by_questions_where_they_are_known_and_by_examples_elsewhere() -> None:
    sets = {"old": ["e1", "e2"], "new": ["f1", "f2", "e2"], "apart": ["g1", "g2"]}
    known = {"f1": "q1", "f2": "q2", "e2": "q3", "h1": "q1", "h2": "q2"}
    assert related(sets, ["h1", "h2"]) == {}
    assert related(sets, ["h1", "h2"], known) == {"new": 2, "old": 0}
