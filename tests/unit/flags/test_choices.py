"""How many choices there are, by what is declared and by what the answers show."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import answered, seen

T, N = 40, 100
FIFTH = Fraction(1, 5)


def guesses(chance: float = 0.2) -> np.ndarray:
    return np.random.default_rng(0).random((T, N)) < chance


def test_a_declared_chance_that_is_not_that_of_the_examples_is_told() -> None:
    given = {"choices": (2,) * N, "chance": FIFTH}
    assert find(seen(guesses(), **given, declared_chance=Fraction(1, 2))) == []
    (flag,) = find(seen(guesses(), **given, declared_chance=FIFTH))
    assert flag.kind == "choices"
    assert flag.parameters == {
        "case": "chance",
        "choices": [2, 2],
        "chance": "1/2",
        "stated": "1/5",
    }


def test_a_mean_chance_may_be_rounded() -> None:
    given = {"choices": (3, 4, 4, 4, 5) * 20, "chance": FIFTH}  # mean .25667
    assert find(seen(guesses(), **given, declared_chance=Fraction(257, 1000))) == []
    (flag,) = find(seen(guesses(), **given, declared_chance=Fraction(1, 4)))
    assert flag.parameters["chance"] == pytest.approx(0.25667, abs=1e-5)
    assert (flag.parameters["choices"], flag.parameters["stated"]) == ([3, 5], "1/4")


def test_a_mix_of_chances_does_not_tell_which_example_has_which() -> None:
    rng = np.random.default_rng(0)
    choices = np.array([2, 6] * 50)
    answers, gold = rng.integers(choices, size=(T, N)), rng.integers(choices).tolist()
    mix = {2: 50, 6: 50}  # 1/3 on average
    given: dict[str, Any] = {"m": 6, "chance": Fraction(1, 3), "declared_chance": mix}
    assert find(answered(answers, gold, **given)) == []
    assert find(answered(answers, gold, **given, choices=tuple(choices.tolist()))) == []
    (flag,) = find(answered(answers, gold, **given, choices=(2, 3, 6, 6) * 25))
    assert flag.parameters["stated"] == {"1/2": 50, "1/6": 50}


def test_several_right_choices_are_counted_in_the_chance() -> None:
    gold = (frozenset([0, 1]),) * N
    given = {"choices": (4,) * N, "gold": gold, "declared_chance": Fraction(1, 2)}
    assert find(seen(guesses(), chance=Fraction(1, 2), **given)) == []


def test_more_labels_in_an_example_than_there_are_said_to_be_choices_are_told() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(4, size=(T, N)), rng.integers(4, size=N).tolist()
    assert find(answered(answers, gold, declared_chance=Fraction(1, 4))) == []
    (flag,) = find(answered(answers, gold, declared_chance=Fraction(1, 2)))
    more = {"told": 100, "examples": 100, "labels": 4}
    assert flag == Flag("choices", {"case": "more", **more, "stated": "1/2"})


def test_a_mean_chance_says_nothing_of_one_example() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(4, size=(T, N)), rng.integers(4, size=N).tolist()
    assert find(answered(answers, gold, declared_chance=Fraction(3, 10))) == []


def test_answers_that_are_nowhere_right_may_be_no_choices() -> None:
    """Such as "none", where no answer was found in a text."""
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(3, size=(T, N)), rng.integers(2, size=N).tolist()
    assert find(answered(answers, gold, m=3, declared_chance=Fraction(1, 2))) == []


def test_fewer_labels_than_there_are_said_to_be_choices_are_told() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(2, size=(T, N)), rng.integers(2, size=N).tolist()
    given = {"chance": Fraction(1, 2), "m": 5}
    assert find(answered(answers, gold, **given, declared_chance=Fraction(1, 2))) == []
    (flag,) = find(answered(answers, gold, **given, declared_chance=FIFTH))
    fewer = {"case": "fewer", "labels": 2, "examples": 100}
    assert flag == Flag("choices", {**fewer, "stated": "1/5"})
    few = answered(answers[:, :5], gold[:5], **given, declared_chance=FIFTH)
    assert find(few) == []


@pytest.mark.parametrize(("given", "said", "told"), [(2, 5, "fewer"), (4, 2, "more"),
                         (2, 2, ""), (4, 4, "")])  # fmt: skip
def test_numbers_of_choices_that_the_results_say_are_compared_with_the_answers(
    given: int, said: int, told: str
) -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(given, size=(T, N)), rng.integers(given, size=N).tolist()
    numbers: dict[str, Any] = {"chance": Fraction(1, said), "choices": (said,) * N, "m": 5}
    found = find(answered(answers, gold, **numbers, choices_counted=True))
    assert [flag.kind for flag in found if flag.kind == "choices"] == ["choices"] * bool(told)
    assert not told or found[0].parameters["case"] == told
    assert not told or found[0].parameters["choices"] == [said, said]
    # Where the choices themselves are there, some of them may never be right.
    assert "choices" not in [flag.kind for flag in find(answered(answers, gold, **numbers))]


def test_more_choices_than_one_example_has_are_told_where_they_differ() -> None:
    rng = np.random.default_rng(0)
    choices = np.array([2, 4] * 50)
    answers, gold = rng.integers(choices, size=(T, N)), rng.integers(choices).tolist()
    stated: dict[str, Any] = {"chance": Fraction(3, 8), "choices_counted": True}
    assert find(answered(answers, gold, **stated, choices=tuple(choices.tolist()))) == []
    (flag,) = find(answered(answers, gold, **stated, choices=tuple(choices[::-1].tolist())))
    more = {"told": 50, "examples": 100, "labels": 4}
    assert flag.parameters == {"case": "more", **more, "choices": [2, 4]}


def test_letters_that_an_example_does_not_have_are_none_of_its_choices() -> None:
    """Such as an E to a question with three choices, where others have seven."""
    rng = np.random.default_rng(0)
    choices = np.array([3, 5, 7] * 30)
    answers, gold = rng.integers(choices, size=(T, 90)), rng.integers(choices).tolist()
    stray = rng.random((T, 90)) < 0.05
    answers[stray] = rng.integers(7, size=stray.sum())
    stated: dict[str, Any] = {"chance": Fraction(71, 315), "choices_counted": True, "m": 7}
    assert find(answered(answers, gold, **stated, choices=tuple(choices.tolist()))) == []
    wrong = tuple(np.full(90, 3).tolist())
    assert [flag.kind for flag in find(answered(answers, gold, **stated, choices=wrong))] == [
        "choices"
    ]


@pytest.mark.parametrize(("stated", "strays", "told"), [(4, 0.0, False), (4, 0.1, False),
                         (2, 0.0, True), (2, 0.1, True)])  # fmt: skip
def test_generated_answers_may_be_choices_of_other_examples(
    stated: int, strays: float, told: bool
) -> None:
    rng = np.random.default_rng(0)
    own = np.array([rng.choice(30, 4, replace=False) for _ in range(N)])
    gold = own[:, 0].tolist()
    answers = np.take_along_axis(own.T, rng.integers(4, size=(T, N)), 0)
    stray = rng.random((T, N)) < strays
    answers[stray] = rng.integers(30, size=stray.sum())
    numbers: dict[str, Any] = {"chance": Fraction(1, 4), "choices": (stated,) * N, "labels": ()}
    found = find(answered(answers, gold, **numbers, comparable=False, choices_counted=True))
    assert [flag.kind for flag in found] == ["choices"] * told


def test_right_answers_that_all_stand_first_do_not_tell_how_many_choices_there_are() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(2, size=(T, N)), [0] * N
    stated: dict[str, Any] = {"choices": (4,) * N, "chance": Fraction(1, 4)}
    found = find(answered(answers, gold, **stated, choices_counted=True))
    assert "choices" not in [flag.kind for flag in found]


def test_a_rounded_chance_is_that_of_whole_choices() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(5, size=(T, N)), rng.integers(5, size=N).tolist()
    for declared in (Fraction(1, 3), Fraction(33, 100)):
        (flag,) = find(answered(answers, gold, m=5, declared_chance=declared))
        assert flag.parameters["labels"] == 5


def test_complementary_prompts_have_two_choices() -> None:
    correct = guesses()
    correct[5] = ~correct[2]
    (flag,) = find(seen(correct, chance=FIFTH))
    assert (flag.kind, flag.parameters["prompts"]) == ("complementary_prompts", ["2", "5"])
    assert flag.parameters["chance"] == "1/5"
    assert find(seen(correct, chance=Fraction(1, 2))) == []


def test_complementary_prompts_that_leave_out_their_demonstrations_are_compared_where_they_can_be(
) -> None:  # fmt: skip
    correct, evaluated = guesses(), np.ones((T, N), dtype=np.bool_)
    correct[5] = ~correct[2]
    for row in range(T):
        evaluated[row, [row, row + T]] = False
    given: dict[str, Any] = {"chance": FIFTH, "evaluated": evaluated, "shots": 2}
    (flag,) = find(seen(correct & evaluated, **given))
    assert (flag.kind, flag.parameters["prompts"]) == ("complementary_prompts", ["2", "5"])
    both = evaluated[2] & evaluated[5]
    shares = sorted(correct[row, both].mean() for row in (2, 5))
    assert flag.parameters["accuracies"] == pytest.approx(shares)
    correct[5, 70] = correct[2, 70]  # both were scored on it
    assert find(seen(correct & evaluated, **given)) == []


def test_prompts_that_share_few_examples_are_complementary_by_accident() -> None:
    correct, evaluated = guesses(), np.ones((T, N), dtype=np.bool_)
    correct[5] = ~correct[2]
    evaluated[2, 52:], evaluated[5, :45] = False, False
    given: dict[str, Any] = {"chance": FIFTH, "evaluated": evaluated, "shots": 55}
    assert find(seen(correct & evaluated, **given)) == []


def test_a_few_examples_are_complementary_by_accident() -> None:
    few = np.array([[True, False, False, True], [False, True, True, False]])
    assert find(seen(few, chance=FIFTH)) == []


def test_a_prompt_that_is_always_right_and_one_that_never_is_are_no_constant_answers() -> None:
    correct = guesses()
    correct[5], correct[2] = True, False
    assert [flag.kind for flag in find(seen(correct, chance=FIFTH))] == ["never_right"]


def test_complementary_prompts_say_nothing_of_examples_that_show_more_choices() -> None:
    """Of five choices only two may ever be right."""
    rng = np.random.default_rng(0)
    gold = rng.integers(2, size=N)
    answers = rng.integers(5, size=(T, N))
    answers[2], answers[5] = 0, 1
    right = answers == gold
    scores = np.log(rng.dirichlet(np.ones(5), size=(T, N)))
    stated = {"chance": FIFTH, "choices": (5,) * N}
    kinds = [flag.kind for flag in find(seen(right, **stated))]
    assert kinds == ["complementary_prompts"]  # a stated number may be wrong
    assert find(seen(right, **stated, log_likelihoods=scores)) == []
    gold[:10] = 2
    answers[5, :10] = 2
    told = find(answered(answers, gold.tolist(), m=5, chance=FIFTH))
    assert "complementary_prompts" not in [flag.kind for flag in told]


def unknown_gold(answers: np.ndarray, gold: np.ndarray, declared: Fraction) -> list[Flag]:
    """Return the flags of kind `choices` where only right and wrong are known of the answers."""
    given: dict[str, Any] = {"answers": answers, "labels": tuple("ABCDE"), "chance": declared}
    found = find(seen(answers == gold, **given, declared_chance=declared))
    return [flag for flag in found if flag.kind == "choices"]


def test_fewer_labels_are_told_where_one_of_them_is_always_right() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(2, size=(T, N)), rng.integers(2, size=N)
    assert unknown_gold(answers, gold, Fraction(1, 2)) == []
    (flag,) = unknown_gold(answers, gold, FIFTH)
    fewer = {"case": "fewer_given", "labels": 2, "examples": 100}
    assert flag.parameters == {**fewer, "stated": "1/5"}
    assert unknown_gold(answers[:, :12], gold[:12], FIFTH) == []  # (2/5)**12 is above 1e-6
    assert unknown_gold(answers[:1], gold, FIFTH) == []  # one prompt gives each example one


def test_a_model_that_says_two_of_five_labels_only_does_not_contradict_five() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(2, size=(T, N)), rng.integers(5, size=N)
    assert unknown_gold(answers, gold, FIFTH) == []


def test_more_labels_than_choices_are_told_without_the_right_answers() -> None:
    rng = np.random.default_rng(0)
    answers, gold = rng.integers(4, size=(T, N)), rng.integers(4, size=N)
    assert unknown_gold(answers, gold, Fraction(1, 4)) == []
    (flag,) = unknown_gold(answers, gold, Fraction(1, 2))
    more = {"case": "more", "told": 100, "examples": 100, "labels": 4}
    assert flag.parameters == {**more, "stated": "1/2"}
