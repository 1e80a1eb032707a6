"""What the best prompt's answers to a test set are called, compared with exact probabilities."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scipy.stats import binom, binomtest, hypergeom

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.opening import confirmed, held_out, out_of_reach
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import ClaimRecord, HeldOut, Remark
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.reports.samples import claim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def questions(golds: str, choices: Sequence[str] = ("Yes", "No")) -> tuple[Example, ...]:
    """Return examples in which choice 0 ("y") or 1 is right, listed in either order in the file."""
    orders = itertools.cycle([tuple(choices), (*choices[1::-1], *choices[2:])])
    return tuple(
        Example(f"{choices}{i}", f"question {i}", order, (order.index(choices[gold != "y"]),))
        for i, (gold, order) in enumerate(zip(golds, orders, strict=False))
    )


def answered(
    examples: tuple[Example, ...], choose: Callable[[Example], int], *, letters: bool = False
) -> PromptPredictions:
    layout = Layout(append_choices=letters)
    prompt = Prompt((), Format(layout, "letter" if letters else "text"))
    scores = [
        [Answer((-0.1 - (index != choose(each)),), (1,)) for index in range(len(each.choices))]
        for each in examples
    ]
    return predict(prompt, examples, scores, "mean_logprob")


def opened(
    examples: tuple[Example, ...],
    choose: Callable[[Example], int],
    *,
    openings: int = 1,
    letters: bool = False,
    test_p: float | None = None,
) -> HeldOut:
    predictions = answered(examples, choose, letters=letters)
    return held_out(predictions, openings=openings, seen=0, test_p=test_p)


def saying(*texts: str) -> Callable[[Example], int]:
    return lambda each: next(i for i, text in enumerate(each.choices) if text in texts)


def first_shown(each: Example) -> int:
    return shown_order(each)[0]


def knowing(each: Example) -> int:
    return each.right[0]


def some_wrong(each: Example) -> int:
    """Wrong in every sixth question."""
    wrong = int(each.input.split()[1]) % 6 == 0
    return 1 - each.right[0] if wrong else each.right[0]


def test_a_constant_answer_is_not_confirmed_by_unbalanced_labels() -> None:
    found = opened(questions("y" * 35 + "n" * 15), saying("Yes"))
    assert found.p_standard == pytest.approx(binom.sf(34, 50, 0.5))
    assert found.p_standard < 0.004
    assert found.majority_rate == 0.7
    assert (found.permutation_p, found.p) == (1.0, 1.0)


def test_always_affirming_is_not_confirmed_where_half_of_the_questions_have_other_words() -> None:
    examples = questions("y" * 35 + "n" * 15) + questions("y" * 35 + "n" * 15, ("True", "False"))
    found = opened(examples, saying("Yes", "True"))
    assert found.p_standard < 1e-4
    assert found.p == 1.0


def test_always_the_same_letter_is_not_confirmed() -> None:
    asked = tuple(Example(f"e{i}", f"question {i}", (f"a{i}", f"b{i}"), (0,)) for i in range(80))
    first = [each for each in asked if first_shown(each) == 0][:30]
    second = [each for each in asked if first_shown(each) == 1][:8]
    found = opened((*first, *second), first_shown, letters=True)
    assert found.p_standard < 0.001
    assert found.majority_rate == pytest.approx(30 / 38)
    assert found.p == 1.0


@pytest.mark.parametrize(("yes", "no"), [(35, 15), (25, 25), (40, 10)])
def test_shuffling_has_the_exact_probability_of_the_hypergeometric_distribution(
    yes: int, no: int
) -> None:
    found = opened(questions("y" * yes + "n" * no), some_wrong)
    said = answered(questions("y" * yes + "n" * no), some_wrong)
    said_yes = sum(
        choice is not None and each.choices[choice] == "Yes"
        for each, choice in zip(said.examples, said.chosen, strict=True)
    )
    # With c right answers, (c + said_yes - no) / 2 of the yes are said where yes is right.
    common = (found.correct + said_yes - no) // 2
    exact = hypergeom.sf(common - 1, 50, yes, said_yes)
    assert found.permutation_p is not None
    error = math.sqrt(exact * (1 - exact) / 10_000)
    assert found.permutation_p == pytest.approx(exact, abs=4 * error + 2e-4)
    assert found.p == max(found.p_standard, found.permutation_p)


def test_knowledge_is_confirmed_and_each_opening_costs() -> None:
    examples = questions("y" * 14 + "n" * 6)
    once, often = opened(examples, knowing), opened(examples, knowing, openings=30)
    assert once.p is not None
    assert once.p < 0.001
    assert often.p == pytest.approx(30 * once.p)
    assert once.low == pytest.approx(binomtest(20, 20).proportion_ci(method="wilson").low)
    assert (once.correct, once.accuracy, once.majority_rate) == (20, 1.0, 0.7)


def test_claims_that_may_open_a_test_set_in_one_run_count_from_the_first_of_them_on() -> None:
    predictions = answered(questions("y" * 14 + "n" * 6), knowing)
    ps = {held_out(predictions, openings=openings, claims=20).p for openings in (1, 7, 20)}
    assert len(ps) == 1
    assert ps.pop() == pytest.approx(20 * (held_out(predictions, openings=1).p or 0))
    assert (held_out(predictions, openings=30, claims=20).tests) == 30


def test_texts_that_no_two_examples_share_are_confirmed_by_places() -> None:
    examples = tuple(
        Example(f"e{i}", f"question {i}", (f"a{i}", f"b{i}", f"c{i}"), (i % 3,)) for i in range(20)
    )
    found = opened(examples, knowing)
    assert found.p is not None
    assert found.p < 0.001
    assert found.majority_rate is None


def test_more_permutations_are_drawn_where_many_openings_need_them() -> None:
    found = opened(questions("yn" * 20), knowing, openings=20, test_p=0.001)
    assert found.p is not None
    assert found.p <= 0.001


@pytest.mark.parametrize(
    ("golds", "least"),
    [("yyn", 1 / 3), ("yynn", 1 / 6), ("yyyyy", 1), ("yyynnn", 1 / 20), ("ynynynyn", 1 / 70)],
)
def test_a_test_set_that_is_too_small_or_too_uniform_cannot_confirm(
    golds: str, least: float
) -> None:
    examples = questions(golds)
    assert f"even if all {len(golds)} answers" in out_of_reach(examples, least * 0.99)
    reached = opened(examples, knowing).p
    assert reached is not None
    assert reached > least * 0.8
    assert out_of_reach(examples, reached * 1.25) == ""
    if reached < 1:
        assert out_of_reach(examples, reached * 0.8)


def confirmed_claim(test: HeldOut | None, *notes: Remark) -> ClaimRecord:
    """Return the record of a claim that holds on its validation set, held to its test set."""
    heading = claim(best=45, asserted={"test_p": 0.05})
    result = judge(Claim(test_p=0.05), Guessers.alike(60, 0.5, 1), 45).noted(*notes)
    record = confirmed(replace(result, test=test), 0.05).record(heading)
    word(record)
    return record


def test_a_claim_fails_with_the_numbers_of_its_test_set() -> None:
    test = opened(questions("y" * 35 + "n" * 15), saying("Yes"), openings=2)
    record = confirmed_claim(test)
    assert (record.holds, record.passed) == (False, False)
    assert record.message == (
        "35 of 50 correct on the test set (always the same answer: 35): p > .999, times 2 "
        "openings, is above .05"
    )


def test_a_claim_whose_test_set_stays_closed_is_not_shown_to_hold() -> None:
    record = confirmed_claim(None)
    assert (record.holds, record.passed) == (None, False)
    assert record.message == (
        "test_p .05 could not be tested, because --maxrandom-no-test keeps the test set closed"
    )


def test_a_claim_whose_test_set_could_not_be_noted_says_so() -> None:
    record = confirmed_claim(None, Remark("test_not_opened"))
    assert record.message == (
        "test_p .05 could not be tested, because the opening of the test set could not be written "
        "to the ledger"
    )


def test_a_claim_holds_that_its_test_set_confirms() -> None:
    record = confirmed_claim(opened(questions("y" * 14 + "n" * 6), knowing))
    assert (record.holds, record.passed, record.message) == (True, True, None)
