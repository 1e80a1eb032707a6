"""Why a record fails, in one line, from its numbers alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pytest_maxrandom.claims.nulls import Guessers, Null
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.record import ClaimRecord, RedFlag
from pytest_maxrandom.reports.wording import failure
from tests.unit.reports.samples import claim, comparison, contamination, replicates

P05 = Claim(0.05, None)


def judged(told: Claim, null: Null, correct: int, **given: Any) -> ClaimRecord:
    record = claim(asserted=told.asserted(), message=None, critical_count=None)
    return judge(told, null, correct, **given).record(record)


def test_a_failing_claim_says_best_needed_p_t_n_and_its_reason_once() -> None:
    null = Guessers.alike(100, 0.5, 10)
    assert failure(judged(P05, null, 60)) == "best .600, needs .640 (p_max = .251; t = 10, n = 100)"
    assert failure(judged(Claim(0.05, "max_random"), null, 57)) == (
        "best .570, needs .640 (p_max = .638; t = 10, n = 100)"
    )
    assert failure(judged(Claim(None, "standard"), null, 50)) == (
        "best .500, needs .510 (standard baseline .500; t = 10, n = 100)"
    )
    assert failure(judged(Claim(None, "max_random"), null, 57)) == (
        "best .570, needs .580 (maximum random baseline .577; t = 10, n = 100)"
    )
    assert failure(judged(Claim(0.01, None), null, 64)) == (
        "best .640, needs .660 (p_max = .033, level .01; t = 10, n = 100)"
    )
    assert failure(judged(P05, null, 64)) is None


def test_what_is_needed_is_the_least_that_passes() -> None:
    for n, t in ((37, 1), (60, 20), (1000, 7)):
        null = Guessers.alike(n, 0.5, t)
        passing = [k for k in range(n + 1) if failure(judged(P05, null, k)) is None]
        said = str(failure(judged(P05, null, passing[0] - 1)))
        least = float(said.split("needs ")[1].split()[0])
        assert abs(least - passing[0] / n) < 0.001
        assert float(said.split(",")[0].split()[1]) < least


def test_what_is_reached_and_what_is_needed_are_written_apart() -> None:
    found = claim(n=9993, p_max=0.06, passed=False)
    found.best_correct, found.critical_count, found.best_accuracy = 6151, 6152, 6151 / 9993
    assert str(failure(found)).startswith("best .6155, needs .6156 (")


def test_a_p_value_just_above_its_bound_is_not_rounded_onto_it() -> None:
    found = judged(P05, Guessers.alike(61, 0.5, 5), 40)
    assert found.p_max is not None
    assert 0.05 < found.p_max < 0.0505
    assert "p_max = .050 is above" not in str(failure(found))


def test_a_single_prompt_is_told_as_t_1() -> None:
    said = failure(judged(P05, Guessers.alike(10, 0.5, 1), 3))
    assert said == "best .300, needs .900 (p_max = .945; t = 1, n = 10)"


def test_a_permutation_p_depends_on_the_answers() -> None:
    null = Guessers.alike(20, 0.5, 3)
    alone = failure(judged(Claim(permutation_p=0.05), null, 13, permutation_p=0.2))
    assert alone == "best .650; permutation p = .200 is above .05 (t = 3, n = 20)"
    mixed = failure(judged(Claim(0.05, permutation_p=0.05), null, 13, permutation_p=0.2))
    assert str(mixed).startswith("best .650, needs .800 (p_max = ")
    enough = failure(judged(Claim(0.05, permutation_p=0.05), null, 17, permutation_p=0.2))
    assert enough == (
        "best .850 reaches the .800 that p_max needs; permutation p = .200 is above .05 (t = 3, "
        "n = 20)"
    )
    unknown = failure(judged(Claim(permutation_p=0.05), null, 20))
    assert "could not be computed without predictions" in str(unknown)


def test_a_claim_that_no_count_can_pass_says_so() -> None:
    said = failure(judged(P05, Guessers.alike(4, Fraction(1, 2), 200), 4))
    assert said == "best 1.000; no accuracy can pass (p_max > .999; t = 200, n = 4)"


def test_a_test_that_a_claim_fails_as_well_is_no_way_out() -> None:
    """Where all references are alike, shuffling them changes nothing: p is 1."""
    told = Claim(None, "max_random", permutation_p=0.05)
    found = judged(told, Guessers.alike(100, 0.5, 10), 57, permutation_p=1.0)
    assert "claim `assert" not in str(failure(found))
    found.critical_count = None
    assert str(failure(found)).startswith("best .570; no accuracy can pass (")
    above = judged(told, Guessers.alike(100, 0.5, 10), 57, permutation_p=0.02)
    assert "claim `assert: {permutation_p: 0.05}`" in str(failure(above))


def test_red_flags_are_named_behind_the_numbers() -> None:
    record = claim(best=45, passed=False, levels={"p_max": 0.05, "permutation_p": 0.05})
    record.p_max, record.permutation_p = 0.01, 0.03
    record.red_flags = [
        RedFlag("tied_scores", "fail"), RedFlag("identical_models", "fail"),
        RedFlag("identical_models", "fail"), RedFlag("label_mass", "warn"),
    ]  # fmt: skip
    assert failure(record) == (
        "best .750 (p_max = .010, permutation p = .030; t = 20, n = 60); "
        "red flags: tied_scores, identical_models"
    )
    failed = judged(P05, Guessers.alike(100, 0.5, 10), 60)
    failed.red_flags = [RedFlag("choices", "fail")]
    assert str(failure(failed)).endswith("; t = 10, n = 100); red flag: choices")


def test_replicates_say_how_many_hold_and_how_many_are_asked_for() -> None:
    asserted = {"in_replicates": 0.9}
    assert failure(replicates(45, 40, 30, passed=False, asserted=asserted)) == (
        "passes in 1 of 3 replicates, needs 3 (in_replicates: 0.9); a single draw contradicts the "
        "majority in 1 of 3"
    )


def test_a_comparison_says_what_is_missing() -> None:
    given: dict[str, Any] = {"passed": False, "assertion_p": 0.061}
    worse = comparison(**given, asserted={"not_worse_than": -0.02, "level": 0.05})
    assert failure(worse) == (
        "nf4 - none = -.021, needs above -.020 (p = .061; 95 % interval -.041 to -.001; t = 20, "
        "n = 60, 20 replicates)"
    )
    better = comparison(0.0213, **given, replicates=1, asserted={"better": 0.0, "level": 0.05})
    assert failure(better) == (
        "nf4 - none = +.021 is above .000, but may be by chance (p = .061; 95 % interval +.001 to "
        "+.041; t = 20, n = 60): use more examples"
    )


def test_contamination_says_what_tuning_brings() -> None:
    assert failure(contamination("tuned on the text", passed=False)) == (
        "tuned on the text: extra is .081 above base (p .0012), and test is .052 above extra "
        "(p .0041), at level .05"
    )
    assert failure(contamination(boost=-0.012, boost_p=0.6)) == (
        "tuned on the scored text; other text teaches nothing: test is .052 above extra "
        "(p .0041), while extra is .012 below base (p .600), at level .05"
    )
    assert failure(contamination("cannot tell")) == (
        "cannot tell: extra is not shown to be better than base, nor test than extra, and without "
        "a boost that is no sign of anything; use more examples or replicates, or write "
        "`allow_inconclusive: true` (extra is .004 above base (p .383), and test is .003 below "
        "extra (p .611), at level .05)"
    )


def test_what_no_numbers_tell_keeps_its_message() -> None:
    told = "the budget of 20 prompts would be exceeded"
    assert failure(claim(passed=None, best_correct=None, message=told)) == told
    closed = "test_p .05 could not be tested, because --maxrandom-no-test keeps it closed"
    assert failure(claim(passed=False, holds=None, message=closed)) == closed
    strange = claim(best=41, message="41 is too few", asserted={"p_max": 0.05}, critical_count=None)
    strange.best_accuracy = "high"  # type: ignore[assignment]
    assert failure(strange) == "41 is too few"


def test_one_p_value_of_a_claim_is_named_once() -> None:
    null = Guessers.alike(20, 0.5, 3)
    for told in (P05, Claim(permutation_p=0.05), Claim(0.05, permutation_p=0.05)):
        said = str(failure(judged(told, null, 13, permutation_p=0.2)))
        assert said.count(" = .") == 1
        assert said.count("t = 3, n = 20") == 1
