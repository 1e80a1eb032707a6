"""What a sweep's predictions come to: labels, max-T, majority, metrics and adjusted p-values."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.claims.arms import Arm
from pytest_maxrandom.claims.assessment import best_of
from pytest_maxrandom.claims.condition import Condition
from pytest_maxrandom.claims.nulls import guessers, score_guessers
from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.claims.shortcuts import beside_shortcuts
from pytest_maxrandom.claims.verdict import EXACT, PERMUTED, Claim
from pytest_maxrandom.claims.views import result_of_sweep, views_of_sweep, with_shortcuts
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.record import ClaimRecord, SweepCost
from pytest_maxrandom.reports.gathering import adjust
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.metrics import BUILT_IN as METRICS
from pytest_maxrandom.stats.permutation import STOP_AFTER, max_t_test
from pytest_maxrandom.suite.claims import AssertSpec
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.spec import SuiteSpec
from pytest_maxrandom.suite.tasks import CsvSpec
from pytest_maxrandom.sweeps.labels import label, preferable
from pytest_maxrandom.sweeps.predictions import predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
from pytest_maxrandom.sweeps.sweep import Sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task, share_choices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.suite.claims import Metric


def example(number: int, choices: Sequence[str], right: str) -> Example:
    return Example(f"e{number}", f"question {number}", tuple(choices), (choices.index(right),))


def yes_no(golds: str) -> tuple[Example, ...]:
    """Return examples in which "y" or "n" is right, listed in either order."""
    orders = itertools.cycle([("Yes", "No"), ("No", "Yes")])
    words = {"y": "Yes", "n": "No"}
    return tuple(
        example(i, order, words[gold])
        for i, (gold, order) in enumerate(zip(golds, orders, strict=False))
    )


def assessed(
    examples: tuple[Example, ...],
    answers: Callable[[Example, int], int],
    *,
    t: int = 1,
    metric: Metric = "accuracy",
    claim: AssertSpec | None = None,
    listed: bool = False,
    letters: bool = False,
    family: int | None = None,
) -> ClaimRecord:
    """Judge a sweep in which prompt p answers an example with choice ``answers(example, p)``."""
    forms = [
        Format(
            Layout(task_prefix=f"prompt {p}", append_choices=listed or letters),
            "letter" if letters else "text",
        )
        for p in range(t)
    ]
    prompts = tuple(Prompt((), form) for form in forms)
    prompt_set = PromptSet(prompts, examples, "none", 0, t, ())
    done = []
    for place, prompt in enumerate(prompts):
        scores = [
            [
                # No two examples are alike to the model.
                Answer((-0.01 * number - (index != answers(each, place)),), (1,))
                for index in range(len(each.choices))
            ]
            for number, each in enumerate(examples)
        ]
        done.append(predict(prompt, examples, scores, "mean_logprob"))
    suite = SuiteSpec(
        models=[TransformersSpec(name="m")],
        tasks=[CsvSpec(name="t", format="csv", path="x")],
        prompts=PromptsSpec(count=200),
        metric=metric,
    )
    null = score_guessers(metric, prompt_set)
    made = Claim.of(claim, PERMUTED if metric == "macro_f1" else EXACT)
    planned = PlannedClaim(
        name="t[m]",
        line=1,
        base=Path(),
        backends=Backends(),
        model=suite.models[0],
        task="t",
        shots=0,
        condition=Condition(Task("t", examples), 0, prompt_set, guessers(prompt_set), null, ()),
        claim=replace(made, family=family) if family else made,
        xfail=None,
        marks=(),
        counted="claim",
        suite=suite,
        arm=Arm("m", None, suite.models[0], suite.prompts),
    )
    sweep = Sweep(tuple(done), SweepCost("cpu", "float32", 0, 0, 0.0))
    views = views_of_sweep(planned, sweep)
    best = done[best_of(views, metric)]
    shared = share_choices(examples)
    compared = beside_shortcuts(best, shared=shared, by_class=metric != "accuracy")
    result = result_of_sweep(planned, sweep, with_shortcuts(views, compared))
    record = result.record(planned.record("s::t[m]", "s"))
    word(record)
    return record


def always(text: str) -> Callable[[Example, int], int]:
    return lambda each, _: each.choices.index(text)


def knowing(each: Example, _: int) -> int:
    return each.right[0]


def test_labels_are_texts_where_all_examples_share_them() -> None:
    labels = label(yes_no("yynn"))
    assert labels.shared
    assert [*map(set, labels.gold)] == [{1}, {1}, {0}, {0}]  # No before Yes


def test_labels_are_places_as_shown_where_texts_differ() -> None:
    examples = tuple(example(i, [f"a{i}", f"b{i}", f"c{i}"], f"a{i}") for i in range(300))
    labels = label(examples)
    assert not labels.shared
    assert [*map(set, labels.gold)] == [{shown_order(each).index(0)} for each in examples]
    sizes = [sum(gold == {place} for gold in labels.gold) for place in range(3)]
    assert min(sizes) > 70  # the file has the right choice first in all of them


def test_a_constant_answer_passes_p_max_on_unbalanced_labels_but_not_max_t() -> None:
    examples = yes_no("y" * 70 + "n" * 30)
    record = assessed(examples, always("Yes"), t=10, claim=AssertSpec(permutation_p=0.05))
    assert record.best_correct == 70
    assert record.p_max is not None
    assert record.p_max < 0.001
    assert record.permutation_p == 1.0
    assert record.majority_rate == 0.7
    assert record.majority_p == pytest.approx(record.p_max)
    assert record.passed is False
    assert record.message is not None
    # Always the same answer is right on 70 of 100, however right answers are shuffled.
    assert record.message == "best .700, needs .710 (permutation p > .999; t = 10, n = 100)"
    assert assessed(examples, always("Yes"), t=10).passed is False  # by default
    fooled = assessed(examples, always("Yes"), t=10, claim=AssertSpec(p_max=0.05))
    assert (fooled.holds, fooled.passed) == (True, False)
    assert {flag.kind for flag in fooled.failing_flags} == {"constant_answers", "majority", "max_t"}
    majority = next(flag for flag in fooled.red_flags if flag.kind == "majority")
    assert majority.severity == "fail"
    assert [majority.parameters[key] for key in ("label", "correct", "n")] == ["Yes", 70, 100]


@pytest.mark.parametrize("golds", ["y" * 40, "yynn"])
def test_nothing_is_said_to_be_needed_where_no_result_can_pass(golds: str) -> None:
    """Right answers that can be shuffled in fewer ways than the level asks for tell nothing."""
    record = assessed(yes_no(golds), always("Yes"), claim=AssertSpec(permutation_p=0.05))
    assert (record.passed, record.critical_count) == (False, None)
    assert ", needs " not in str(record.message)
    assert "unpassable" in {flag.kind for flag in record.red_flags}


def affirming(golds: str) -> tuple[Example, ...]:
    """Return examples of which half offer Yes and No, and half True and False."""
    words = [("Yes", "No"), ("False", "True")]
    right = {"y": ("Yes", "True"), "n": ("No", "False")}
    return tuple(example(i, words[i % 2], right[gold][i % 2]) for i, gold in enumerate(golds))


def affirms(each: Example, _: int) -> int:
    return next(place for place, text in enumerate(each.choices) if text in ("Yes", "True"))


def test_who_prefers_one_of_each_pair_of_words_is_found_out() -> None:
    examples = affirming("y" * 140 + "n" * 60)
    by_place, by_set = preferable(_set(examples))
    assert (by_place.shared, by_set.shared) == (False, False)
    assert len(set(by_set.strata)) == 2
    record = assessed(examples, affirms, t=10)
    assert record.p_max is not None
    assert record.p_max < 1e-6
    assert (record.permutation_p, record.passed) == (1.0, False)
    only = assessed(examples, affirms, t=10, claim=AssertSpec(p_max=0.05))
    assert {"majority", "max_t"} <= {flag.kind for flag in only.failing_flags}
    (majority,) = (flag.parameters for flag in only.red_flags if flag.kind == "majority")
    assert majority["label"] == "the usual right answer among texts that recur"
    assert majority["correct"] == 140
    known = assessed(examples, knowing, t=10)
    assert (known.passed, known.permutation_p) == (True, 1e-4)


@pytest.mark.parametrize(
    ("offered", "constant"), [((), "None"), (("Yes", "No"), "Yes"), (("No",), "Yes")]
)
def test_who_prefers_a_text_that_recurs_beside_choices_of_the_examples_own_is_found_out(
    offered: tuple[str, ...], constant: str
) -> None:
    usual = np.random.default_rng(0).permutation(100) < 70
    texts = [(*dict.fromkeys((constant, *offered)), f"own {i}") for i in range(100)]
    examples = tuple(
        example(i, own, constant if often else own[1])
        for i, (own, often) in enumerate(zip(texts, usual, strict=True))
    )
    record = assessed(examples, always(constant), t=10)
    assert record.p_max is not None
    assert record.p_max < 0.01
    assert (record.permutation_p, record.passed) == (1.0, False)
    assert record.majority_rate == 0.7

    def nearly(each: Example, prompt: int) -> int:
        return each.right[0] if (int(each.id[1:]) + prompt) % 10 else 1 - min(1, each.right[0])

    assert assessed(examples, nearly, t=10).passed is True


def _set(examples: tuple[Example, ...]) -> PromptSet:
    return PromptSet((Prompt((), Format(Layout())),), examples, "none", 0, 1, ())


def test_choices_that_recur_in_few_examples_are_told_apart_by_place_only() -> None:
    few = tuple(example(i, [f"a{i // 4}", f"b{i // 4}"], f"a{i // 4}") for i in range(40))
    assert len(preferable(_set(few))) == 1


@pytest.mark.parametrize(
    "size", [2, *(pytest.param(size, marks=pytest.mark.slow) for size in (3, 4))]
)
def test_who_prefers_some_choices_fails_with_and_without_clusters(size: int) -> None:
    """Sets of choices recur with one right answer, and each prompt prefers one choice of a set."""
    passed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sets = [(f"a{number}", f"b{number}") for number in range(96 // size)]
        right = rng.integers(2, size=len(sets)).tolist()
        preferred = rng.integers(2, size=(10, len(sets)))
        asked = tuple(
            example(i, rng.permutation(sets[i // size]).tolist(), sets[i // size][right[i // size]])
            for i in range(len(sets) * size)
        )

        def prefers(each: Example, prompt: int, said: Any = preferred) -> int:
            number = int(each.id[1:]) // size
            return each.choices.index(f"{'ab'[said[prompt, number]]}{number}")

        unstated = assessed(asked, prefers, t=10)
        assert "clustered_answers" in {flag.kind for flag in unstated.failing_flags}
        assert not unstated.passed
        named = tuple(replace(each, cluster=each.choices[0][1:]) for each in asked)
        stated = assessed(named, prefers, t=10)
        assert "clustered_answers" not in {flag.kind for flag in stated.red_flags}
        passed += bool(stated.passed)
        if seed < 2:
            assert assessed(named, knowing, t=10).passed
    assert passed <= 4  # five or more of 20 at .05 have a probability of .003


def test_the_permutation_p_follows_the_metric() -> None:
    golds = "y" * 90 + "n" * 10
    examples = yes_no(golds)

    def finds_the_rare(each: Example, _: int) -> int:
        said = "No" if int(each.id[1:]) >= 72 else "Yes"  # all 10 No, and 18 Yes
        return each.choices.index(said)

    scored = assessed(examples, finds_the_rare, metric="macro_f1")
    rights = [1 if gold == "y" else 0 for gold in golds]
    said = [0 if i >= 72 else 1 for i in range(100)]
    test = max_t_test(
        [said], rights, statistic=METRICS["macro_f1"].statistic, stop_after=STOP_AFTER
    )
    assert scored.permutation_p == test.p_value
    assert scored.asserted == {"permutation_p": 0.05}
    assert (scored.p_max, scored.union_p, scored.p_standard) == (None, None, None)
    assert scored.passed is True


def test_a_constant_answer_passes_in_no_metric() -> None:
    examples = yes_no("y" * 90 + "n" * 10)
    for metric in ("accuracy", "balanced_accuracy", "macro_f1"):
        found = assessed(examples, always("Yes"), t=5, metric=metric)
        assert (found.permutation_p, found.passed) == (1.0, False), metric


def test_a_level_that_is_shared_needs_a_smaller_p() -> None:
    examples = yes_no("yn" * 50)
    claim = AssertSpec(p_max=0.05, permutation_p=0.05, family="suite")

    def right_on(many: int) -> Callable[[Example, int], int]:
        return lambda each, _: each.right[0] if int(each.id[1:]) < many else 1 - each.right[0]

    alone = assessed(examples, right_on(62), claim=claim)
    assert alone.passed is True
    shared = assessed(examples, right_on(62), claim=claim, family=20)
    assert shared.levels == {"p_max": 0.0025, "permutation_p": 0.0025}
    assert shared.passed is False
    assert shared.asserted == {"p_max": 0.05, "permutation_p": 0.05, "family": "suite"}


def first_shown(each: Example, _: int = 0) -> int:
    return shown_order(each)[0]


def test_words_that_are_listed_under_letters_may_be_preferred_and_so_may_letters() -> None:
    pool = yes_no("yn" * 100)
    at_a = [each for each in pool if first_shown(each) in each.right]
    at_b = [each for each in pool if first_shown(each) not in each.right]
    examples = (*at_a[:70], *at_b[:30])
    for answers, share in (
        (first_shown, 0.7),
        (always("Yes"), sum(each.choices[each.right[0]] == "Yes" for each in examples) / 100),
    ):
        record = assessed(examples, answers, t=10, letters=True)
        assert record.best_accuracy == share
        assert record.permutation_p == 1.0
        assert record.majority_rate == 0.7
        assert "constant_answers" in [flag.kind for flag in record.red_flags]
    unbalanced = (*yes_no("y" * 70 + "n" * 30),)
    record = assessed(unbalanced, always("Yes"), t=10, letters=True)
    assert (record.permutation_p, record.majority_rate) == (1.0, 0.7)
    known = assessed(examples, knowing, t=10, letters=True)
    assert known.permutation_p == pytest.approx(1e-4)
    assert [flag.kind for flag in known.red_flags] == ["repeated_prompts"]  # of 200 asked for


def test_a_preference_is_told_of_words_and_of_letters_and_all_else_once() -> None:
    pool = yes_no("yn" * 200)
    yes_is_a = [each for each in pool if each.choices[first_shown(each)] == "Yes"]
    record = assessed((*yes_is_a[:100],), always("Yes"), t=10, letters=True)
    told = [(flag.kind, flag.parameters.get("label")) for flag in record.red_flags]
    assert told.count(("constant_answers", "A")) == 1
    assert told.count(("constant_answers", "Yes")) == 1
    assert [kind for kind, _ in told].count("repeated_prompts") == 1


def test_the_first_of_equally_good_prompts_wins() -> None:
    def answers(each: Example, prompt: int) -> int:
        return each.right[0] if prompt in (1, 3) else 1 - each.right[0]

    record = assessed(yes_no("yyn" * 4), answers, t=4)
    assert record.correct_counts == [0, 12, 0, 12]
    assert record.best_prompt is not None
    assert (record.best_prompt.index, record.best_prompt.tied_with) == (1, 1)


def test_a_knowing_model_passes_every_kind_of_claim() -> None:
    every = AssertSpec(p_max=0.01, union_p=0.01, permutation_p=0.01, beats="max_random")
    record = assessed(yes_no("yyn" * 20), knowing, t=5, claim=every)
    assert (record.passed, record.message) == (True, None)
    assert record.permutation_p == 1 / 10_000
    assert record.union_p == pytest.approx(5 * 0.5**60)


def test_where_texts_differ_and_are_not_listed_there_is_no_constant_answer() -> None:
    examples = tuple(example(i, [f"a{i}", f"b{i}"], f"a{i}") for i in range(20))
    assert assessed(examples, knowing).majority_rate is None
    listed = assessed(examples, knowing, listed=True)
    first = sum(shown_order(each)[0] == 0 for each in examples)
    assert listed.majority_rate == max(first, 20 - first) / 20


def test_the_union_p_is_held_to_its_bound() -> None:
    record = assessed(
        yes_no("yn" * 8), lambda each, p: each.right[0] if each.id != "e0" else 1 - each.right[0],
        t=200, claim=AssertSpec(union_p=0.05),
    )  # fmt: skip
    bound = 200 * Fraction(17, 2**16)  # 15 or 16 of 16 right
    assert record.union_p == pytest.approx(float(bound))
    assert (record.passed, record.critical_count) == (False, 16)


def test_balanced_accuracy_chooses_another_prompt_and_another_baseline() -> None:
    examples = yes_no("y" * 30 + "n" * 10)
    half = {each.id for each in examples if each.choices[each.right[0]] == "No"}

    def answers(each: Example, prompt: int) -> int:
        # Prompt 0 says Yes everywhere; prompt 1 knows every No, and two thirds of Yes.
        if prompt == 0:
            return each.choices.index("Yes")
        knows = each.id in half or int(each.id[1:]) % 3 > 0
        return each.right[0] if knows else 1 - each.right[0]

    plain = assessed(examples, answers, t=2)
    balanced = assessed(examples, answers, t=2, metric="balanced_accuracy")
    assert plain.best_prompt is not None
    assert balanced.best_prompt is not None
    assert (plain.best_prompt.index, plain.best_correct) == (0, 30)
    assert (balanced.best_prompt.index, balanced.best_correct) == (1, 30)
    assert balanced.best_score == pytest.approx((20 / 30 + 10 / 10) / 2)
    assert balanced.standard_baseline == pytest.approx(0.5)
    assert (balanced.max_random_baseline_error, balanced.critical_count) == (0, None)
    assert balanced.critical_score is not None


def test_macro_f1_is_simulated_and_says_with_what_error() -> None:
    record = assessed(yes_no("yyn" * 10), knowing, t=3, metric="macro_f1")
    assert (record.best_score, record.passed) == (1.0, True)
    assert record.max_random_baseline_error is not None
    assert 0 < record.max_random_baseline_error < 0.01
    assert 0.3 < (record.standard_baseline or 0) < 0.5
    failing = assessed(yes_no("yyn" * 10), always("No"), t=3, metric="macro_f1")
    assert failing.message is not None
    assert "permutation p > .999" in failing.message
    assert failing.critical_score is not None
    assert failing.critical_score > 0.25  # which is that of the constant answer
    assert "p_max" not in failing.message


def test_p_values_are_adjusted_for_the_claims_of_a_run() -> None:
    def claim(name: str, p: float | None, **asserted: float) -> ClaimRecord:
        record = ClaimRecord(
            id=name, suite="s", line=1, task="t", model="m", quantization="nf4", shots=0,
            asserted=asserted or {"p_max": 0.05},
        )  # fmt: skip
        record.p_max = p
        return record

    claims = [claim("a", 0.01), claim("b", 0.04), claim("c", None), claim("d", 0.03)]
    adjust(claims, "holm")
    assert [c.adjusted_p for c in claims] == pytest.approx([0.03, 0.06, None, 0.06])
    adjust(claims, "bh")
    assert [c.adjusted_p for c in claims] == pytest.approx([0.03, 0.04, None, 0.04])
    other = claim("e", 0.5, permutation_p=0.05)
    other.permutation_p = 0.002
    adjust([other], "holm")
    assert other.adjusted_p == 0.002
    only_reported = claim("g", 0.001)
    only_reported.asserted = {}
    several = claim("h", 0.0006, p_max=0.05, union_p=0.001)
    several.union_p = 0.00061
    adjust([only_reported, several], "holm")
    assert only_reported.adjusted_p is None
    assert several.adjusted_p == pytest.approx(0.0305)
    untouched = claim("f", 0.5)
    adjust([untouched], "none")
    assert untouched.adjusted_p is None
