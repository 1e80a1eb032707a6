"""Long texts that examples share without a stated cluster."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, JudgedAnswers, find
from pytest_maxrandom.flags.texts import same_text
from tests.unit.flags.made import seen

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = "river stone cloud lamp paper green walk under seven north quiet glass".split()  # noqa: SIM905
HEADER = (
    "Read the following text with care, think about what it says and what it does not say, and "
    "then answer the question below with one of the choices that are listed. Take your time, and "
    "do not use any knowledge of your own: only the text counts here, even if it is wrong. "
)


def prose(number: int, length: int = 60) -> str:
    """Return a text of words that no other number has in the same order."""
    return " ".join(np.random.default_rng(number).choice(WORDS, size=length)) + "."


def about(inputs: Sequence[str], gold: Sequence[int], **more: object) -> JudgedAnswers:
    correct = np.random.default_rng(0).random((3, len(inputs))) < 0.5
    return seen(
        correct,
        inputs=tuple(inputs),
        copies=tuple([*inputs].index(each) for each in inputs),
        alphabetical=tuple(frozenset([label]) for label in gold),
        **more,
    )


def flags(inputs: Sequence[str], gold: Sequence[int], **more: object) -> list[Flag]:
    return find(about(inputs, gold, **more))


def kinds(inputs: Sequence[str], gold: Sequence[int], **more: object) -> list[str]:
    return [flag.kind for flag in flags(inputs, gold, **more)]


PASSAGES = [f"{prose(place // 4)} {prose(1000 + place, 8)}?" for place in range(100)]
FOLLOWING = [place // 4 % 2 for place in range(100)]
FREE = np.random.default_rng(3).integers(2, size=100).tolist()

SHARED = {
    "n": 100, "texts": 25, "alike": ["e0", "e1"], "characters": 200, "beyond_clusters": False
}  # fmt: skip


def test_passages_whose_right_answers_follow_them_fail_a_claim() -> None:
    (flag,) = flags(PASSAGES, FOLLOWING)
    worth = pytest.approx(25)
    assert flag == Flag("clustered_answers", {"case": "text", **SHARED, "worth": worth})


def test_passages_whose_right_answers_do_not_follow_them_are_told() -> None:
    (flag,) = flags(PASSAGES, FREE)
    assert flag == Flag("shared_text", {**SHARED, "worth": 25})


@pytest.mark.parametrize("frame", [HEADER, ""])
@pytest.mark.parametrize("behind", [HEADER[::-1], ""])
def test_what_all_inputs_share_is_no_cluster_and_hides_none(frame: str, behind: str) -> None:
    questions = [f"{frame}{prose(place, 8)}?{behind}" for place in range(100)]
    assert kinds(questions, FOLLOWING) == []
    texts = [f"{frame}{text}{behind}" for text in PASSAGES]
    assert kinds(texts, FOLLOWING) == ["clustered_answers"]


def test_a_frame_that_a_few_inputs_lack_is_one_all_the_same() -> None:
    questions = [f"{HEADER * (place % 10 > 0)}{prose(place, 8)}?" for place in range(100)]
    assert kinds(questions, FOLLOWING) == []


def test_a_short_frame_does_not_make_beginnings_long() -> None:
    frame = "Decide whether the sentence below makes sense to you, and say yes or no. " * 2
    starts = ["What did the man who lived by the river say to", "Where has the old woman gone with"]
    questions = [f"{frame}{starts[place % 2]} {prose(place, 8)}?" for place in range(100)]
    assert len(frame + starts[0]) < 200 + 20
    assert kinds(questions, [place % 2 for place in range(100)]) == []


def test_patterns_with_a_slot_are_no_clusters_whose_answers_follow() -> None:
    """Five wordings of one instruction, with right answers that do not depend on them."""
    wordings = [prose(place, 50) for place in range(5)]
    texts = [f"{wordings[place % 5]} Is {place} such a number?" for place in range(100)]
    failed = 0
    for seed in range(60):
        gold = np.random.default_rng(seed).integers(2, size=100).tolist()
        failed += "clustered_answers" in kinds(texts, gold)
    assert failed <= 1  # two or more of 60 at .001 each have a probability of .002


def test_two_versions_of_each_story_with_opposite_answers_fail_nothing() -> None:
    texts = [f"{prose(place // 2)} It {('did', 'did not')[place % 2]}." for place in range(100)]
    assert kinds(texts, [place % 2 for place in range(100)]) == ["shared_text"]


def test_stated_clusters_are_believed_as_far_as_they_go() -> None:
    right = tuple(f"p{place // 4}" for place in range(100))
    assert kinds(PASSAGES, FOLLOWING, clusters=right) == []
    coarser = tuple(f"p{place // 8}" for place in range(100))
    assert kinds(PASSAGES, FOLLOWING, clusters=coarser) == []
    each = tuple(f"p{place}" for place in range(100))
    (flag,) = flags(PASSAGES, FOLLOWING, clusters=each)
    assert flag.kind == "clustered_answers"
    assert flag.parameters["beyond_clusters"] is True
    some = tuple(f"p{place // 4}" if place < 90 else None for place in range(100))
    assert kinds(PASSAGES, FOLLOWING, clusters=some) == []


def test_copies_are_told_once() -> None:
    texts = [f"{prose(place // 4)} The same." for place in range(100)]
    assert kinds(texts, FOLLOWING) == ["repeated_examples"]


def test_a_few_that_share_a_text_are_worth_nearly_as_much() -> None:
    texts = [f"{prose(max(place, 4))} {prose(1000 + place, 8)}?" for place in range(100)]
    assert len(set(same_text(texts))) == 96
    assert kinds(texts, [int(place > 4) for place in range(100)]) == []


def test_a_text_that_is_short_or_cut_is_not_found_and_a_long_one_is_wherever_it_stands() -> None:
    for length, told in ((199, 0), (200, 1), (400, 1)):
        part = "".join(np.random.default_rng(7).choice([*"abcdefghij"], size=length))
        texts = [prose(place, 40) for place in range(10)]
        texts[3] = f"{part}#{prose(30, 20)}"
        texts[8] = f"{prose(8, 50)}|{part}"
        assert 10 - len(set(same_text(texts))) == told


def test_white_space_and_scripts_make_no_difference() -> None:
    text = prose(0)
    assert len(set(same_text([text, text.replace(" ", "\n  "), prose(1), prose(2), prose(3)]))) == 4
    rng = np.random.default_rng(0)
    chinese = ["".join(map(chr, rng.integers(0x4E00, 0x9FA5, size=300))) for _ in range(6)]
    mixed = [chinese[0] + "\U0001f600?", chinese[0] + "\ud800!", *chinese[1:]]
    assert len(set(same_text(mixed))) == 6


def test_texts_that_share_with_a_third_are_one() -> None:
    first, second = prose(1), prose(2)
    texts = [first, f"{first} {second}", second, *(prose(place) for place in range(10, 16))]
    assert sorted(Counter(same_text(texts)).values()) == [1] * 6 + [3]


def test_empty_and_few_texts_have_no_clusters() -> None:
    assert same_text([]) == []
    assert same_text([""]) == [0]
    assert len(set(same_text(["", "", "x"]))) == 3


OWN = [(f"Ann {place // 4}", f"Bob {place // 4}") for place in range(100)]
SHORT = [f"Who is {place}?" for place in range(100)]


def test_choices_that_recur_with_one_right_answer_fail_a_claim() -> None:
    (flag,) = flags(SHORT, FOLLOWING, offered=tuple(OWN))
    found = {"examples": 100, "n": 100, "alike": ["e0", "e1"], "worth": pytest.approx(25)}
    assert flag == Flag("clustered_answers", {"case": "choices", **found})


def test_passages_with_their_own_choices_are_told_once() -> None:
    assert kinds(PASSAGES, FOLLOWING, offered=tuple(OWN)) == ["clustered_answers"]


def test_choices_whose_right_answers_do_not_follow_them_fail_nothing() -> None:
    failed = 0
    for seed in range(60):
        gold = np.random.default_rng(seed).integers(2, size=100).tolist()
        failed += kinds(SHORT, gold, offered=tuple(OWN)) != []
    assert failed <= 1  # two or more of 60 at .001 each have a probability of .002
    opposite = [place % 2 for place in range(100)]
    assert kinds(SHORT, opposite, offered=tuple(OWN)) == []


def test_what_is_right_first_in_the_alphabet_follows_no_choices() -> None:
    """With three choices the third may be right, with two it cannot: that follows no set either."""
    sizes = [2 + place // 4 % 2 for place in range(100)]
    offered = tuple(
        tuple(f"{name}{place // 4}" for name in "abc"[:m]) for place, m in enumerate(sizes)
    )
    assert kinds(SHORT, [0] * 100, offered=offered) == []
    assert kinds(SHORT, [m - 1 for m in sizes], offered=offered) == []


@pytest.mark.parametrize("n", [2, 4, 100])
def test_choices_that_all_examples_or_many_share_are_no_clusters(n: int) -> None:
    shared = (("No", "Yes"),) * n
    for gold in ([1] * n, FREE[:n], [place // 4 % 2 for place in range(n)]):
        assert kinds(SHORT[:n], gold, offered=shared) == []
    half = (("No", "Yes"), ("False", "True")) * (n // 2)
    assert kinds(SHORT[:n], [place % 2 for place in range(n)], offered=half) == []


def test_clusters_that_hold_the_same_choices_whole_are_believed() -> None:
    for size in (4, 8):
        coarse = tuple(f"p{place // size}" for place in range(100))
        assert kinds(SHORT, FOLLOWING, offered=tuple(OWN), clusters=coarse) == []
    fine = tuple(f"p{place // 2}" for place in range(100))
    (flag,) = flags(SHORT, FOLLOWING, offered=tuple(OWN), clusters=fine)
    assert flag.kind == "clustered_answers"


def test_copies_with_the_same_choices_are_told_once() -> None:
    texts = [f"Who is {place // 4}?" for place in range(100)]
    assert kinds(texts, FOLLOWING, offered=tuple(OWN)) == ["repeated_examples"]
