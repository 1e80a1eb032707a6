"""From answers, as labels, to a record: scores, p-values, and what they say together."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest

from pytest_maxrandom.record import (
    Doubt,
    InteractionBias,
    LabelBiasRecord,
    LabelRow,
    RedFlag,
    Remark,
)
from pytest_maxrandom.record.result import Result
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.labels.null import move_baseline
from pytest_maxrandom.stats.labels.priors import BaseRates
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.studies.label_bias.conclude import (
    add_base_rates,
    doubt,
    record_finding,
    reduce as reduce_answers,
)
from pytest_maxrandom.suite.claims import LabelBiasSpec
from tests.unit.studies.label_bias.made import made_answers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.record import Interaction, LabelFinding

    Made = tuple[Answers, NDArray[np.int64] | None]

N, M = 60, 4


def asked(answers: NDArray[np.int64]) -> Made:
    """Answers to N examples, as many of each right label."""
    return made_answers(answers, [i % M for i in range(N)], "ABCD")


def reduce(
    made: Made, interaction: Interaction, spec: LabelBiasSpec, t: int, **more: bool
) -> InteractionBias:
    answers, moved = made
    return reduce_answers(answers, interaction, spec, t, moved=moved, **more)


def spec(**said: object) -> LabelBiasSpec:
    return LabelBiasSpec.model_validate(said)


def record(level: float | None = 0.05) -> LabelBiasRecord:
    return LabelBiasRecord(
        id="x", suite="s", line=1, claim="c", task="t", model="m", quantization="none", shots=0,
        check="recall", base_rate="off", seed=0,
        asserted={} if level is None else {"above_random": level},
    )  # fmt: skip


def concluded(record: LabelBiasRecord, found: list[InteractionBias]) -> None:
    record_finding(record, found)
    word(record)


def sentence_of(bias: InteractionBias, finding: LabelFinding) -> str:
    told = record()
    bias.finding = finding
    concluded(told, [bias])
    return str(told.sentence)


def knowing(share: float, t: int = 3, seed: int = 0) -> NDArray[np.int64]:
    """Answers, shape (t, n, m), that are right in a share of all presentations, else guesses."""
    generator = np.random.default_rng(seed)
    knows = generator.random((t, N, M)) < share
    return np.where(knows, np.arange(M), generator.integers(0, M, (t, N, M)))


@pytest.mark.parametrize("check", ["recall", "move", "redraw"])
def test_who_knows_passes_and_who_says_one_label_scores_nothing(check: str) -> None:
    natural = np.arange(N) % M
    for answers, kind in ((knowing(0.7), "knowledge"), (knowing(0) * 0 + 2, "label preference")):
        given = answers[:, np.arange(N), natural] if check == "recall" else answers
        found = reduce(asked(given), "cloze", spec(check=check), 3)
        assert found.finding == kind
        assert (found.p_value <= 0.05) is (kind == "knowledge")
        if kind == "label preference":
            assert (found.score, found.p_value) == (0, 1)


def test_who_prefers_contents_is_compared_with_guessers_who_keep_to_a_choice() -> None:
    """One choice of each example wherever it stands: right at all labels, or at none."""
    generator = np.random.default_rng(0)
    right = generator.random((10, N)) < 1 / M
    # Elsewhere than where the right answer is shown, as a distractor is.
    wrong = (np.arange(M) + 1 + generator.integers(0, M - 1, (10, N, M))) % M
    answers = np.where(right[:, :, None], np.arange(M), wrong)
    found = reduce(asked(answers), "cloze", spec(check="move"), 10)
    assert found.by_content
    # Right at all labels or at none: the score is an accuracy.
    expected = MaxRandomBaseline(N, 1 / M, 10).expected_accuracy
    assert found.score_baseline == pytest.approx(expected, abs=0.002)


def test_the_most_accurate_prompt_is_shown_and_the_best_score_is_tested() -> None:
    natural = np.arange(N) % M
    accurate, even = natural.copy(), natural.copy()
    accurate[natural == 3] = 0  # 45 right: recalls 1, 1, 1, 0
    even[:18] = (even[:18] + 1) % M  # 42 right, in all labels alike
    found = reduce(asked(np.stack([even, accurate])), "cloze", spec(), 2)
    assert found.best_prompt == "p1"
    assert found.best_accuracy == 45 / 60
    assert [row.recall for row in found.labels] == [1, 1, 1, 0]
    assert found.score_prompt == "p0"
    recalls = [(even[natural == x] == x).mean() for x in range(M)]
    assert found.score == pytest.approx((sum(recalls) - max(recalls)) / 3)


def test_base_rates_are_correlated_with_recalls() -> None:
    natural = np.arange(N) % M
    known = np.arange(N) // M % 5 < np.array([3, 1, 4, 2])[natural]
    answers = np.where(known, natural, (natural + 1) % M)
    found = reduce(asked(answers[None]), "cloze", spec(), 1)
    rates = np.array([0.4, 0.1, 0.2, 0.3])
    add_base_rates(found, BaseRates(rates, np.array(0.01)))
    recalls = np.array([row.recall for row in found.labels], dtype=np.float64)
    r = np.corrcoef(rates, recalls)[0, 1]
    assert found.r == pytest.approx(r)
    assert found.r_low == pytest.approx(np.tanh(np.arctanh(r) - 1.959964), abs=1e-6)
    assert found.r_high == pytest.approx(np.tanh(np.arctanh(r) + 1.959964), abs=1e-6)
    assert [row.base_rate for row in found.labels] == rates.tolist()
    assert found.base_rate_mass == 0.01


def test_what_is_asserted_must_hold_in_every_way_of_asking() -> None:
    natural = np.arange(N) % M
    good = reduce(asked(natural[None]), "cloze", spec(), 1)
    poor = reduce(asked(natural[None] * 0), "counterfactual", spec(), 1)
    both = record()
    concluded(both, [good, poor])
    assert both.passed is False
    assert both.finding == "label preference"
    assert both.message is not None
    assert both.message.startswith("counterfactual: Nvr-X score .000, best guesser .211 (p > ")
    assert "cloze" not in both.message
    assert both.sentence is not None
    assert both.sentence.startswith("Cloze: Knowledge: ")
    assert "Counterfactual: Label preference: " in both.sentence
    one = record()
    concluded(one, [good])
    assert (one.passed, one.finding, one.message) == (True, "knowledge", None)
    nothing = record(level=None)
    concluded(nothing, [good, poor])
    assert (nothing.passed, nothing.message) == (True, None)


def test_knowledge_in_one_way_alone_is_no_finding() -> None:
    natural = np.arange(N) % M
    good = reduce(asked(natural[None]), "cloze", spec(), 1)
    guesses = np.random.default_rng(3).integers(0, M, (1, N))
    poor = reduce(asked(guesses), "counterfactual", spec(), 1)
    assert poor.finding == "cannot tell"
    both = record()
    concluded(both, [good, poor])
    assert both.finding == "cannot tell"


def rare(answers: NDArray[np.int64], seldom: int = 10) -> Made:
    """Answers to 100 questions with two labels, of which B is the right one `seldom` times."""
    return made_answers(answers, [int(i < seldom) for i in range(100)], "AB")


def test_who_knows_the_rare_label_is_found_to() -> None:
    generator = np.random.default_rng(0)
    gold = (np.arange(100) < 10).astype(np.int64)
    knows = generator.random((10, 100)) < 0.7
    answers = np.where(knows, gold, generator.integers(0, 2, (10, 100)))
    found = reduce(rare(answers), "cloze", spec(), 10)
    assert found.finding == "knowledge"
    assert found.permutation_p is not None
    assert found.permutation_p < 0.001


def lucky() -> Made:
    """Answers that guessers do not explain, and shuffled right answers do.

    B, which is right 5 times, is said 40 times, and 4 of these are right.
    """
    answers = np.zeros((1, 100), dtype=np.int64)
    answers[0, [*range(4), *range(60, 96)]] = 1
    return rare(answers, 5)


def test_the_test_that_fails_is_named() -> None:
    found = reduce(lucky(), "cloze", spec(level=0.07), 1)
    assert found.permutation_p is not None
    assert found.p_value < 0.07 < found.permutation_p
    assert found.finding != "knowledge"
    told = record(level=0.07)
    concluded(told, [found])
    assert (told.passed, told.finding) == (False, found.finding)
    assert told.message is not None
    assert told.message.count(" is above .07") == 1
    assert re.search(r"p with shuffled right answers = \S+ is above \.07", told.message)
    assert "p with shuffled right answers = " in str(told.sentence)


def test_prompts_that_are_not_at_hand_count_in_the_permutation_p_too() -> None:
    one, three = (reduce(lucky(), "cloze", spec(), t).permutation_p for t in (1, 3))
    assert one is not None
    assert three == pytest.approx(min(1.0, 3 * one))


@pytest.mark.parametrize("check", ["move", "redraw"])
def test_moved_right_answers_are_not_shuffled(check: str) -> None:
    assert reduce(asked(knowing(0.7)), "cloze", spec(check=check), 3).permutation_p is None


@pytest.mark.parametrize("level", [0.04, 0.05])
def test_a_check_passes_exactly_where_no_p_value_is_said_to_be_above_its_level(
    level: float,
) -> None:
    """Also where a p-value is its level but for rounding."""
    natural = np.arange(N) % M
    good = reduce(asked(natural[None]), "cloze", spec(), 1)
    finds: list[tuple[float, LabelFinding]] = [
        (level, "knowledge"),
        (level * (1 + 1e-14), "knowledge"),
        (level * 1.0001, "cannot tell"),
    ]
    for p, kind in finds:
        told = record(level)
        bias = replace(good, p_value=p, permutation_p=p, finding=kind)
        concluded(told, [bias])
        assert told.passed is (kind == "knowledge")
        assert ("is above" in str(told.message)) is not told.passed


def of_moved(score: float, *, preference_p: float) -> InteractionBias:
    """The best of 10 prompts on 100 examples with every right answer at every label."""
    baseline = move_baseline([4] * 100, 10, by_content=True)
    return InteractionBias(
        interaction="cloze", n=100, t=10, best_prompt="p", best_accuracy=0.5, rstd=0.0, score=score,
        labels=[
            LabelRow(name, 100, recall, share)
            for name, recall, share in zip(
                "ABCD", (0.5, score, score, score), (0.4, 0.2, 0.2, 0.2), strict=True
            )
        ],
        score_prompt="p", score_baseline=baseline.expected, score_baseline_error=0.0,
        p_value=baseline.p_value(score), p_error=0.0, by_content=True, preference_p=preference_p,
    )  # fmt: skip


def test_a_sentence_has_the_numbers_that_the_finding_comes_from() -> None:
    said = sentence_of(of_moved(0.45, preference_p=0.4), "knowledge")
    assert said.startswith(
        "Knowledge: the best of t = 10 prompts reaches an Nvr-X score of .450 on n = 100 examples, "
        "and the best of as many random guessers who keep to one choice of each example .318 on "
        "average (p = "
    )
    assert said.endswith("; recalls .450 (B) to .500 (A).")
    said = sentence_of(of_moved(0.45, preference_p=0.001), "knowledge")
    assert "; but 40 % of the answers of the most accurate prompt are 'A', more than " in said
    said = sentence_of(of_moved(0.31, preference_p=0.01), "label preference")
    assert "), and 40 % of the answers of the most accurate prompt are 'A'" in said
    assert "(p = .010)" in said
    said = sentence_of(of_moved(0.31, preference_p=0.4), "cannot tell")
    assert said.endswith("spread over the labels as guesses may be (p = .400).")


def leaning(hits: int) -> NDArray[np.int64]:
    """Answers of one prompt that says A most often, and each other label `hits` times rightly."""
    gold, answers = np.arange(N) % M, np.zeros(N, dtype=np.int64)
    for label in range(M):
        own = np.flatnonzero(gold == label)
        answers[own[: hits + 2]] = ([label] * hits + [x for x in (1, 2, 3) if x != label])[
            : hits + 2
        ]
    return answers[None]


def test_a_score_above_guessers_is_no_knowledge_where_the_claim_fails() -> None:
    """A label is preferred (p 5e-5), and the score was enough to be called knowledge."""
    found = reduce(asked(leaning(5)), "cloze", spec(), 1, claim_holds=False)
    assert found.preference_p < 1e-4
    assert found.permutation_p is not None
    assert max(found.p_value, found.permutation_p) < 0.05
    told = record()
    told.doubt = "fails"
    concluded(told, [found])
    assert (told.finding, told.passed) == ("cannot tell", False)
    assert told.sentence is not None
    assert "; but the claim itself fails, and " in told.sentence
    assert told.message is not None
    assert told.message.endswith(": cannot tell, since the claim itself fails")
    assert reduce(asked(leaning(5)), "cloze", spec(), 1).finding == "knowledge"


@pytest.mark.parametrize("why", get_args(Doubt))
def test_a_claim_is_said_to_fail_only_where_it_does(why: Doubt) -> None:
    """Neither where nothing is claimed, nor where it cannot be told, nor where a flag warns."""
    knows = asked(np.tile(np.arange(N) % M, (2, 1)))
    found = reduce(knows, "cloze", spec(), 2, claim_holds=False)
    told = record()
    told.doubt = why
    concluded(told, [found])
    for text in (told.sentence, told.message):
        assert text is not None
        assert ("the claim itself fails" in text) is (why == "fails")
        assert "but ." not in text
    assert re.search(r"(?<!right); but \S.*\.$", str(told.sentence))


@pytest.mark.parametrize(
    ("numbers", "asserts", "expected"),
    [
        ({"holds": True}, True, None),
        ({"holds": False}, True, "fails"),
        ({"holds": None, "cannot_tell": Remark("only_right_and_wrong")}, True, "cannot tell"),
        ({"holds": True, "red_flags": [RedFlag("majority", "fail")]}, True, "fails"),
        ({"holds": True, "red_flags": [RedFlag("majority", "warn")]}, True, "guessed"),
        ({"holds": True, "p_max": 0.0, "red_flags": [RedFlag("max_t", "warn")]}, False, "guessed"),
        ({"holds": True, "red_flags": [RedFlag("tied_scores", "fail")]}, True, None),
        ({"holds": True, "p_max": 0.04, "permutation_p": 0.04}, False, None),
        ({"holds": True, "p_max": 0.06}, False, "guessed"),
        ({"holds": True, "p_max": 0.04, "permutation_p": 0.06}, False, "guessed"),
        # In a metric in which a constant answer scores more than guesses there is no p_max.
        ({"holds": True, "permutation_p": 0.04}, False, None),
        ({"holds": True, "permutation_p": 0.06}, False, "guessed"),
        ({"holds": True}, False, "guessed"),
    ],
)
def test_why_a_claim_shows_no_knowledge(
    numbers: dict[str, Any], asserts: bool, expected: str | None
) -> None:
    result = Result(n=60, t=2, levels={}, passed=True, **numbers)
    assert doubt(result, 0.05, asserts=asserts) == expected


def test_what_knowledge_must_show_beside_a_preference_is_said() -> None:
    baseline = move_baseline([4] * 100, 10, by_content=True)
    scores = [score / 100 for score in range(30, 60)]
    score = next(each for each in scores if 0.005 < baseline.p_value(each) <= 0.05)
    bias = of_moved(score, preference_p=5e-5)
    said = sentence_of(bias, "cannot tell")
    assert said.startswith("Cannot tell: ")
    assert said.endswith(
        "; but 40 % of the answers of the most accurate prompt are 'A', more than guessing and "
        "knowing explain (p = 5.0e-05), for which the last p shows knowledge from .005 on."
    )
    told = record()
    concluded(told, [bias])
    assert re.search(
        r"\(p = \.0\d+ is above \.005; t = 10, n = 100\): cannot tell$", str(told.message)
    )


def test_where_the_claim_cannot_be_told_neither_can_its_labels_unless_one_is_preferred() -> None:
    why = Remark("few_clusters", {"clusters": 4, "ways": 6, "level": 0.05})
    knows = reduce(asked(np.tile(np.arange(N) % M, (2, 1))), "cloze", spec(), 2, claim_holds=False)
    assert knows.finding == "cannot tell"
    told = record()
    record_finding(told, [knows], why)
    word(told)
    assert (told.passed, told.cannot_tell is not None) == (None, True)
    assert told.message is not None
    assert told.message.startswith("cannot tell, as the claim itself cannot: right ")
    preferred = reduce(asked(np.zeros((2, N), dtype=np.int64)), "cloze", spec(), 2)
    found = record()
    record_finding(found, [preferred], why)
    assert (found.finding, found.passed, found.cannot_tell) == ("label preference", False, None)
    reported = record(None)
    record_finding(reported, [knows], why)
    assert reported.passed is True
