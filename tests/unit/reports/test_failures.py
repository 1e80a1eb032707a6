"""Why a record fails, in one line, from its numbers alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.record import ClaimRecord, RedFlag
from pytest_maxrandom.reports.wording import failure
from tests.unit.reports.samples import claim, comparison, contamination, replicates

if TYPE_CHECKING:
    from pytest_maxrandom.claims.nulls import Null

P05 = Claim(0.05, None)


def judged(told: Claim, null: Null, correct: int, **given: Any) -> ClaimRecord:
    record = claim(asserted=told.asserted(), message=None)
    judge(told, null, correct, **given).write_into(record)
    return record


def test_a_failing_claim_is_one_line_with_all_that_counts() -> None:
    null = Guessers.alike(100, 0.5, 10)
    assert failure(judged(P05, null, 60)) == (
        "best accuracy .600 (60/100), needs .640 (64/100); t = 10, n = 100; p_max = .251 is above "
        ".05; standard baseline .500, maximum random baseline .577"
    )
    assert failure(judged(Claim(0.05, "max_random"), null, 57)) == (
        "best accuracy .570 (57/100), needs .640 (64/100); t = 10, n = 100; p_max = .638 is above "
        ".05 and the result is not above the maximum random baseline; standard baseline .500, "
        "maximum random baseline .577"
    )
    said = str(failure(judged(Claim(None, "standard"), null, 50)))
    assert said.startswith("best accuracy .500 (50/100), needs .510 (51/100); t = 10, n = 100; ")
    assert ", but the result is not above the standard baseline; standard baseline" in said
    assert failure(judged(P05, null, 64)) is None


def test_a_p_value_just_above_its_bound_is_not_rounded_onto_it() -> None:
    found = judged(P05, Guessers.alike(61, 0.5, 5), 40)
    assert found.p_max is not None
    assert 0.05 < found.p_max < 0.0505
    assert "p_max = .050 is above" not in str(failure(found))


def test_a_permutation_p_depends_on_the_answers() -> None:
    null = Guessers.alike(20, 0.5, 3)
    alone = failure(judged(Claim(permutation_p=0.05), null, 13, permutation_p=0.2))
    assert str(alone).startswith("best accuracy .650 (13/20); t = 3, n = 20; p_max = ")
    assert ", but permutation p = .200 is above .05; " in str(alone)
    mixed = failure(judged(Claim(0.05, permutation_p=0.05), null, 13, permutation_p=0.2))
    assert str(mixed).startswith("best accuracy .650 (13/20), needs .800 (16/20) for p_max; t")
    assert str(mixed).count("p_max = ") == 1
    unknown = failure(judged(Claim(permutation_p=0.05), null, 20))
    assert "could not be computed without predictions" in str(unknown)


def test_a_claim_that_no_count_can_pass_says_so() -> None:
    said = failure(judged(P05, Guessers.alike(4, Fraction(1, 2), 200), 4))
    assert str(said).startswith(
        "best accuracy 1.000 (4/4), and no accuracy can pass; t = 200, n = 4"
    )


def test_red_flags_are_named_behind_the_numbers() -> None:
    record = claim(best=45, passed=False, levels={"p_max": 0.05, "permutation_p": 0.05})
    record.p_max, record.permutation_p = 0.01, 0.03
    record.red_flags = [
        RedFlag("tied_scores", "fail"), RedFlag("identical_models", "fail"),
        RedFlag("identical_models", "fail"), RedFlag("label_mass", "warn"),
    ]  # fmt: skip
    assert failure(record) == (
        "best accuracy .750 (45/60), t = 20, p_max = .010, permutation p = .030; "
        "red flags: tied_scores, identical_models"
    )
    failed = judged(P05, Guessers.alike(100, 0.5, 10), 60)
    failed.red_flags = [RedFlag("choices", "fail")]
    assert str(failure(failed)).endswith(", maximum random baseline .577; red flag: choices")


def test_replicates_say_how_many_hold_and_how_many_are_asked_for() -> None:
    asserted = {"in_replicates": 0.9}
    assert failure(replicates(45, 40, 30, passed=False, asserted=asserted)) == (
        "the claim passes in 1 of 3 replicates (.333), and in_replicates asks for 0.9, which is 3; "
        "a single draw contradicts the majority in 1 of 3"
    )


def test_a_comparison_says_what_is_missing() -> None:
    given: dict[str, Any] = {"passed": False, "assertion_p": 0.061}
    worse = comparison(**given, asserted={"not_worse_than": -0.02, "level": 0.05})
    assert failure(worse) == (
        "nf4 - none = -.021, 95 % interval -.041 to -.001, n = 60, t = 20 prompts, 20 replicates "
        "(.579 and .600): not_worse_than -0.02 has p .061, which is above .05; the difference "
        "itself is not above that"
    )
    better = comparison(0.0213, **given, replicates=1, asserted={"better": 0.0, "level": 0.05})
    assert failure(better) == (
        "nf4 - none = +.021, 95 % interval +.001 to +.041, n = 60, t = 20 prompts (.621 and .600): "
        "better 0 has p .061, which is above .05; the difference is above that, but could be by "
        "chance; use more examples"
    )


def test_contamination_says_what_tuning_brings() -> None:
    assert failure(contamination("tuned on the text", passed=False)) == (
        "tuned on the text: extra is +.081 above base (p .0012), and test is +.052 above extra "
        "(p .0041), at level .05"
    )
    assert failure(contamination("inconclusive", passed=False)) == (
        "inconclusive: extra is +.004 above base (p .383), so tuning on text of this kind shows no "
        "effect at level .05, and nothing can be said of 'test'; use more examples or replicates, "
        "or write `allow_inconclusive: true`"
    )


def test_what_no_numbers_tell_keeps_its_message() -> None:
    told = "the budget of 20 prompts would be exceeded"
    assert failure(claim(passed=None, best_correct=None, message=told)) == told
    closed = "test_p .05 could not be tested, because --maxrandom-no-test keeps it closed"
    assert failure(claim(passed=False, holds=None, message=closed)) == closed
    strange = claim(best=41, message="41 is too few", asserted={"p_max": 0.05}, critical_count=None)
    strange.critical_score = "high"  # type: ignore[assignment]
    assert failure(strange) == "41 is too few"


def test_one_p_value_of_a_claim_is_named_once() -> None:
    null = Guessers.alike(20, 0.5, 3)
    for told in (P05, Claim(permutation_p=0.05), Claim(0.05, permutation_p=0.05)):
        said = str(failure(judged(told, null, 13, permutation_p=0.2)))
        assert said.count("p_max =") == 1
        assert said.count("t = 3, n = 20") == 1
