"""Open answers as labels, which match references as their texts do."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.sweeps.open_answers import coded, labels_of_references
from pytest_maxrandom.sweeps.open_controls import controls, in_turn
from pytest_maxrandom.sweeps.open_roles import offer_of, role_of, strata_of
from pytest_maxrandom.tasks.references import Matching, Open, kind_of
from pytest_maxrandom.tasks.task import Example
from tests.unit.tasks.test_references import SQUAD, matched


def example(
    name: str, question: str, *references: str, tolerance: float = 0.0, kind: str = ""
) -> Example:
    how = Open(kind or kind_of(references[0]), tolerance)
    return Example.without_choices(name, question, references, how)


def test_labels_match_where_texts_do_for_every_answer_and_every_reference() -> None:
    generator = random.Random(3)
    texts = ["Paris", "paris.", "the Paris", "Rome", "1,000", "1000.0", "999.5", "12", "A", "a", ""]
    examples = [
        example(str(i), f"Question {i}?", *references, tolerance=tolerance, kind="any")
        for i, (references, tolerance) in enumerate(
            [
                (["Paris"], 0),
                (["Rome", "Roma"], 0),
                (["1000"], 0.5),
                (["999"], 0),
                (["12"], 2),
                (["11"], 0),
                (["A"], 0),
                (["The Paris", "12"], 0),
            ]
        )
    ]
    said = [{each.id: generator.choice([*texts, None]) for each in examples} for _ in range(40)]
    said[0].pop("3")
    found = coded(examples, said, SQUAD)
    assert found.said[0, 3] == -1
    for row, own in zip(found.said, said, strict=True):
        for place, answered in enumerate(examples):
            if answered.id not in own:
                continue
            text = own[answered.id]
            for other, asked in enumerate(examples):
                right = text is not None and matched(text, asked) is not None
                assert (row[place] in found.gold[other]) is right


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Which is larger, a cat or a horse?", ("a horse", "a cat")),
        ("Is it red, green, or blue? Answer:", ("blue", "green", "Is it red")),
        ("Was it 3.5 or 4.5?", ("4.5", "Was it 3.5")),
        ("What is it?", None),
    ],
)
def test_what_a_question_offers(question: str, items: tuple[str, ...] | None) -> None:
    offer = offer_of(question)
    assert (offer and offer.items) == items


def test_roles_tell_what_can_be_copied() -> None:
    roles = [
        role_of(each, SQUAD)
        for each in (
            example("1", "Which is larger, a cat or a horse?", "horse"),
            example("2", "Which is larger, a cat or a horse?", "the cat"),
            example("3", "Ann met Bob Hill. Who met Ann?", "Bob Hill"),
            example("4", "Ann has 1,200 pens and 3 cups. How many pens?", "1200"),
            example("5", "Ann has 12 pens and 3 cups. How many things?", "15"),
            example("6", "Is there no way?", "no"),
        )
    ]
    assert roles == [
        ("offered (2)", 0),
        ("offered (2)", 1),
        ("copied", None),
        ("copied", None),
        ("number", None),
        ("yes/no", None),
    ]
    assert strata_of(roles)[:2] == (strata_of(roles)[0],) * 2
    assert len({*strata_of(roles)}) == 5


def test_offered_answers_are_labelled_by_place_so_that_shuffles_meet_who_copies() -> None:
    pairs = [(f"Who won, A{i} or B{i}?", f"{'AB'[i % 2]}{i}") for i in range(8)]
    examples = [example(str(i), question, right) for i, (question, right) in enumerate(pairs)]
    first = {str(i): f"A{i}" for i in range(8)}
    right = {str(i): pairs[i][1] for i in range(8)}
    wrong = {str(i): "neither" for i in range(8)}
    found = coded(examples, [first, right, wrong], SQUAD)
    assert {*found.roles} == {"offered (2)"}
    assert hits(found.said, found.gold, np.arange(8)).sum(axis=1).tolist() == [4, 8, 0]
    # Who says the first one is as often right whatever is shuffled.
    for order in (np.arange(8)[::-1], np.roll(np.arange(8), 1)):
        assert hits(found.said[:1], found.gold, order).sum() == 4
    alike = coded(examples, [first], SQUAD, alike=True)
    assert hits(alike.said, alike.gold, np.roll(np.arange(8), 1)).sum() == 0


def test_references_are_known_before_answers_and_move_within_their_kind_alone() -> None:
    examples = [
        example("1", "Capital?", "Paris"),
        example("2", "Capital?", "the Paris"),
        example("3", "How many?", "1,000"),
        example("4", "How many?", "1000"),
        example("5", "How many?", "7"),
        example("6", "In Rome, where?", "Rome"),
    ]
    labels = labels_of_references(examples, SQUAD)
    assert labels.gold[0] == labels.gold[1]
    assert labels.gold[2] == labels.gold[3] != labels.gold[4]
    assert labels.arrangements == 3  # of 1000, 1000 and 7; nothing else can change


def test_what_repeats_its_question_is_copied_where_an_answer_need_only_hold_a_reference() -> None:
    includes = Matching(place="anywhere", numbers=False)
    offered = example("1", "Which is larger, a cat or a horse?", "a horse")
    assert role_of(offered, SQUAD).name == "offered (2)"
    assert role_of(offered, includes).name == "copied"
    assert role_of(example("2", "Who wrote Romeo?", "Rome"), SQUAD).name == "name"
    assert role_of(example("2", "Who wrote Romeo?", "Rome"), includes).name == "copied"
    found = coded([offered], [{"1": "a cat or a horse"}], includes)
    assert hits(found.said, found.gold, np.arange(1)).all()
    assert found.roles == ("copied",)


def test_controls_give_different_answers_in_turn_and_are_scored_like_prompts() -> None:
    """Answers of a control, written by hand, are right where it is said to be, by any rule."""
    cities = ["Rome"] * 4 + ["Oslo"] * 3 + ["Bonn"] * 2
    examples = [
        example(f"c{i}", f"Where, after 7 or so and 7, is {i}?", city)
        for i, city in enumerate(cities)
    ]
    examples += [
        example("n0", "Of 12, 30, 12 and 45 which is least odd?", "45"),
        example("n1", "Of 12, 30.0, 30 and 45 which is 30?", "30"),
        example("n2", "Is it seen by Ann Lee, Bob, Ann Lee, Cy?", "Cy"),
        example("o", "Is it red, green, or blue?", "green"),
    ]
    most = 3
    found = controls(examples, SQUAD, most)
    said: dict[str, dict[str, list[str]]] = {
        "commonest": {f"c{i}": ["Rome", "Oslo", "Bonn"] for i in range(len(cities))},
        "first_number": {"n0": ["12", "30", "45"], "n1": ["12", "30", "45"]},
        "last_number": {"n0": ["45", "12", "30"], "n1": ["30", "45", "12"]},
        "last_name": {"n2": ["Cy", "Ann Lee", "Bob"]},
        "first_name": {"n2": ["Ann Lee", "Bob", "Cy"]},
    }
    for name, texts in said.items():
        for each, place in zip(examples, found[name], strict=True):  # type: ignore[index]
            if each.id in texts:
                right = [matched(text, each) is not None for text in texts[each.id]]
                chances = [*in_turn(name, place, most)]  # type: ignore[arg-type]
                assert chances + [0] * (most - len(chances)) == right
    assert [*in_turn("offered", found["offered"][-1], most)] == [Fraction(1, 3)] * 3
    assert [*in_turn("offered", found["offered"][-1], 2)] == [Fraction(1, 3)] * 2
    alone = controls(examples, SQUAD)
    assert [place == 1 for place in alone["commonest"]][: len(cities)] == [True] * 4 + [False] * 5
    assert [place == 1 for place in alone["last_name"]] == [each.id == "n2" for each in examples]
