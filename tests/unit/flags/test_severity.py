"""What a suite lets red flags do to a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from pytest_maxrandom.claims.assessment import with_red_flags
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.flags import KINDS, Flag
from pytest_maxrandom.suite.claims import AssertSpec, RedFlags, claimed

if TYPE_CHECKING:
    from pytest_maxrandom.record.result import Result

FAILING = {
    "choices", "complementary_prompts", "colliding_ids", "repeated_examples", "other_examples",
    "cut_text", "constant_scores", "tied_scores", "never_right", "unsteady_prompts",
    "identical_models", "constant_answers", "majority", "max_t", "clustered_answers",
    "heuristic", "choices_only", "near_identical_prompts", "near_copies", "ordered_answers",
    "compared_things",
}  # fmt: skip


def result(*, holds: bool) -> Result:
    return judge(Claim(p_max=0.05), Guessers.alike(20, 0.5, 1), 20 if holds else 10)


def test_every_kind_has_a_severity_and_those_that_mislead_fail() -> None:
    assert {each.kind for each in KINDS.values() if each.default == "fail"} == FAILING
    assert {KINDS[kind].default for kind in KINDS.keys() - FAILING} == {"warn"}


def test_a_claim_that_sets_none_has_the_defaults_and_one_that_asserts_nothing_none_that_fails(
) -> None:  # fmt: skip
    assert Claim.of(None).severities() == KINDS.defaults()
    assert set(Claim.of("report").severities().values()) == {"warn"}
    assert Claim.of(None).deviations() == Claim.of("report").deviations() == {}


def test_red_flags_alone_leave_the_claim_as_it_is() -> None:
    claim = Claim.of(AssertSpec(red_flags={"majority": "warn", "tied_scores": "fail"}))
    assert claim.asserted() == {"permutation_p": 0.05, "beats": "max_random"}
    assert claim.severities() == {**KINDS.defaults(), "majority": "warn"}
    assert claim.deviations() == {"majority": "warn"}
    other = Claim.of(AssertSpec(beats="standard", red_flags="warn"))
    assert other.asserted() == {"beats": "standard"}
    assert other.deviations() == dict.fromkeys(FAILING, "warn")


def test_a_task_sets_kinds_one_by_one_over_what_its_suite_says() -> None:
    suite = AssertSpec(red_flags={"majority": "warn", "max_t": "warn"})
    task = AssertSpec(p_max=0.01, red_flags={"max_t": "ignore", "cut_text": "fail"})
    both = Claim.of(claimed(task, suite))
    assert both.deviations() == {"majority": "warn", "max_t": "ignore"}
    assert both.asserted() == {"p_max": 0.01}
    warned = AssertSpec(red_flags="warn")
    assert Claim.of(claimed(task, warned)).severities() == {
        **dict.fromkeys(KINDS, "warn"), "max_t": "ignore", "cut_text": "fail"
    }  # fmt: skip
    assert claimed(warned, suite) == warned
    assert claimed(AssertSpec(beats="standard"), warned) == AssertSpec(
        beats="standard", red_flags="warn"
    )


def test_a_task_that_names_red_flags_only_claims_what_its_suite_does() -> None:
    suite = AssertSpec(p_max=0.001, count="task", in_replicates=0.9, red_flags="warn")
    task = AssertSpec(red_flags={"majority": "fail"})
    both = claimed(task, suite)
    assert isinstance(both, AssertSpec)
    assert Claim.of(both).asserted() == {"p_max": 0.001}
    assert (both.count, both.in_replicates) == ("task", 0.9)
    assert Claim.of(both).severities() == {**dict.fromkeys(KINDS, "warn"), "majority": "fail"}


@pytest.mark.parametrize("other", [None, "report"])
def test_without_a_claim_of_both_that_of_the_task_counts(other: Literal["report"] | None) -> None:
    spec = AssertSpec(p_max=0.01)
    assert claimed(spec, other) == spec
    assert claimed(other, spec) == (other or spec)


def test_flags_are_written_with_those_that_fail_first_and_without_the_ignored() -> None:
    claim = Claim.of(AssertSpec(red_flags={"max_t": "ignore"}))
    found = [
        Flag("label_mass"), Flag("tied_scores", {"case": "b"}), Flag("max_t"),
        Flag("identical_models", {"other": "d"}), Flag("identical_models", {"other": "e"}),
    ]  # fmt: skip
    made = with_red_flags(result(holds=True), claim, found)
    assert [(flag.kind, flag.severity, flag.parameters) for flag in made.red_flags] == [
        ("tied_scores", "fail", {"case": "b"}),
        ("identical_models", "fail", {"other": "d"}),
        ("identical_models", "fail", {"other": "e"}),
        ("label_mass", "warn", {}),
    ]
    assert (made.holds, made.passed) == (True, False)


@pytest.mark.parametrize("holds", [True, False])
def test_flags_that_are_told_change_no_verdict(holds: bool) -> None:
    made = with_red_flags(result(holds=holds), Claim.of(None), [Flag("label_mass")])
    assert made.passed is holds


def test_a_mild_flag_warns_unless_the_suite_names_its_kind() -> None:
    mild, plain = Flag("constant_answers", mild=True), Flag("constant_answers")
    claim = Claim.of(AssertSpec(red_flags={"majority": "warn"}))
    assert (claim.severity(mild), claim.severity(plain)) == ("warn", "fail")
    both: list[RedFlags] = ["fail", {"constant_answers": "fail"}]
    for flags in both:
        assert Claim.of(AssertSpec(red_flags=flags)).severity(mild) == "fail"
    ignored = AssertSpec(red_flags={"constant_answers": "ignore"})
    assert Claim.of(ignored).severity(mild) == "ignore"
