"""Claims in words: what they say, what became of them, and what it would have taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from pytest_maxrandom.record import BesideIncumbent, ClaimRecord, Remark
from pytest_maxrandom.reports import incumbent, phrases, quantities
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.headlines import headline
from tests.unit.reports.samples import claim, run, scored, untested

BOTH = {"p_max": 0.05, "permutation_p": 0.05}


@pytest.mark.parametrize(
    ("asserted", "phrase"),
    [
        ({"p_max": 0.05}, "p_max is at most .05"),
        ({"beats": "standard"}, "the best accuracy is above the standard baseline"),
        (
            {"p_max": 0.01, "beats": "max_random"},
            "p_max is at most .01, and the best accuracy is above the maximum random baseline",
        ),
        (BOTH, "p_max and permutation p are at most .05"),
        (
            {"p_max": 0.05, "union_p": 0.01, "permutation_p": 0.05},
            "p_max and permutation p are at most .05, and union p is at most .01",
        ),
        ({"union_p": 0.0125}, "union p is at most .0125"),
        ({"permutation_p": 0.05}, "permutation p is at most .05"),
        ({"later": 3}, "later is 3"),
    ],
)
def test_a_claim_is_said_in_words(asserted: dict[str, Any], phrase: str) -> None:
    assert phrases.claimed(claim(asserted=asserted)) == phrase


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"family": "suite"}, ".05 shared by the suite's claims"),
        ({"looks": "spend"}, ".05 spent per doubling of t"),
        (
            {"family": "suite", "looks": "spend"},
            ".05 shared by the suite's claims, and spent per doubling of t",
        ),
    ],
)
def test_a_level_says_what_it_is_a_share_of(keys: dict[str, Any], words: str) -> None:
    record = claim(asserted=BOTH | keys, levels=dict.fromkeys(BOTH, 0.05 / 24))
    assert phrases.claimed(record) == f"p_max and permutation p are at most .002083 ({words})"


@pytest.mark.parametrize(
    ("asserted", "critical", "phrase"),
    [
        ({"p_max": 0.05}, 42, "at least 42 of 60 correct"),
        (
            {"p_max": 0.05},
            None,
            "no number of correct answers can pass with n = 60 and t = 20",
        ),
        (
            {"permutation_p": 0.05},
            None,
            "permutation p at most .05, which depends on the answers, not on their number",
        ),
        (
            {"p_max": 0.05, "permutation_p": 0.05},
            42,
            "at least 42 of 60 correct for p_max; the permutation p depends on the answers",
        ),
        (
            {"p_max": 0.05, "beats": "max_random", "permutation_p": 0.05},
            42,
            "at least 42 of 60 correct for p_max and beating the maximum random baseline; "
            "the permutation p depends on the answers",
        ),
        ({}, None, ""),
    ],
)
def test_what_would_have_passed_is_told(
    asserted: dict[str, Any], critical: int | None, phrase: str
) -> None:
    record = claim(best=41, asserted=asserted, permutation_p=0.2, critical_count=critical)
    assert phrases.needed(record) == phrase


@pytest.mark.parametrize(
    ("parts", "critical", "phrase"),
    [
        (
            ["permutation_p", "beats"],
            42,
            "at least 42 of 60 correct for permutation p and beating the maximum random baseline, "
            "the other answers as they are",
        ),
        (
            ["permutation_p", "beats"],
            None,
            "no number of correct answers can pass with n = 60 and t = 20",
        ),
        (  # where the test compares something else than the score
            ["beats"],
            42,
            "at least 42 of 60 correct for beating the maximum random baseline; the permutation p "
            "depends on the answers",
        ),
        ([], None, ""),  # what cannot be told
    ],
)
def test_what_the_default_claim_needs_is_told_as_far_as_it_is_known(
    parts: list[str], critical: int | None, phrase: str
) -> None:
    record = claim(
        best=41,
        asserted={"permutation_p": 0.05, "beats": "max_random"},
        permutation_p=0.2,
        critical_count=critical,
        critical_parts=parts,
        cannot_tell=None if parts else Remark("only_right_and_wrong"),
    )
    assert phrases.needed(record) == phrase


def test_another_metric_needs_a_score() -> None:
    assert phrases.needed(scored()) == "a macro-F1 of at least .6666"
    hopeless = scored("balanced_accuracy", critical_score=None)
    assert phrases.needed(hopeless) == "no balanced accuracy can pass with n = 60 and t = 20"


@pytest.mark.parametrize("key", ["p_max", "union_p", "permutation_p"])
def test_each_p_value_is_shown_on_its_side_of_its_level(key: str) -> None:
    above: dict[str, Any] = {key: 0.05001}
    assert quantities.shown_p(claim(**above, asserted={key: 0.05}), key) == ".05001"
    assert quantities.shown_p(claim(**above, asserted={key: 0.1}), key) == ".050"
    assert quantities.shown_p(untested(), key) == "-"
    assert ".05001" in phrases.guessing(claim(**above, asserted={key: 0.05}))


def test_a_bound_of_a_p_value_is_no_equation() -> None:
    assert quantities.p_is(claim(p_max=1.0), "p_max") == "p_max > .999"
    assert quantities.p_is(claim(p_max=0.0, log_p_max=-2000.0), "p_max") == "p_max < 1e-300"
    assert quantities.p_is(claim(p_max=0.25), "p_max") == "p_max = .250"


@pytest.mark.parametrize(
    ("asserted", "name", "shown"),
    [
        ({"p_max": 0.05}, "", ".010"),
        ({"beats": "max_random"}, "", ".010"),
        ({"union_p": 0.05}, "union p", ".020"),
        ({"p_max": 0.05, "permutation_p": 0.05}, "permutation p", ".030"),
        ({"p_max": 0.01, "permutation_p": 0.1}, "", ".010"),
    ],
)
def test_the_p_value_nearest_to_failing_its_level_decides(
    asserted: dict[str, Any], name: str, shown: str
) -> None:
    record = claim(p_max=0.01, union_p=0.02, permutation_p=0.03, asserted=asserted)
    assert (phrases.decisive_name(record), phrases.decisive_p(record)) == (name, shown)
    assert phrases.decided_by(record) == (f"{name} = {shown}" if name else "")


def test_what_was_not_tested_was_decided_by_nothing() -> None:
    record = untested(asserted={"permutation_p": 0.05})
    assert (phrases.decisive_name(record), phrases.decisive_p(record)) == ("", "-")


def test_every_p_value_is_named_with_what_it_means() -> None:
    record = claim(p_max=0.03, union_p=0.031, permutation_p=0.2, p_standard=0.0015)
    assert phrases.guessing(record) == (
        "p_max = .030 (best of 20 independent guessers); union p = .031 (for any dependence "
        "between prompts, if each is right with chance 1/m); permutation p = .200 (right answers "
        "shuffled); p of one guesser = .0015 (ignores t)"
    )
    worst = claim(p_max=1.0, union_p=None, p_standard=0.9999)
    assert phrases.guessing(worst).endswith("p of one guesser > .999 (ignores t)")


def test_the_permutation_p_is_of_whatever_metric_is_judged() -> None:
    record = scored(union_p=None, p_standard=None, asserted={"permutation_p": 0.05})
    assert phrases.guessing(record) == (
        "p_max = .912 (best of 20 independent guessers, Monte Carlo error .0012); "
        "permutation p = .412 (right answers shuffled)"
    )
    assert phrases.decided_by(record) == "permutation p = .412"
    assert phrases.claimed(record) == "permutation p is at most .05"


@pytest.mark.parametrize("error", [0.0, 9.9e-7, None])
def test_a_negligible_monte_carlo_error_is_not_told(error: float | None) -> None:
    record = scored(p_max_error=error, max_random_baseline_error=error)
    assert "Monte Carlo" not in phrases.guessing(record) + phrases.scored(record)


def test_a_score_is_told_beside_baselines_of_its_metric() -> None:
    assert phrases.scored(scored()) == (
        "macro-F1; .515 of the best prompt, which has 38 of 60 correct; one guesser .490, "
        "best of 20 guessers .607, Monte Carlo error 4.0e-04"
    )
    assert phrases.scored(claim()) == ""
    assert quantities.best_value(scored()) == 0.5151
    assert quantities.best_value(claim(best=45)) == 0.75


@pytest.mark.parametrize(
    ("record", "phrase"),
    [
        (claim(majority_p=0.9), "an accuracy of .517 at best, p_max .900"),
        (
            claim(best=31, majority_rate=31 / 60),
            "an accuracy of .517 at best; that of the best prompt, .517, is not above it",
        ),
        (
            scored(majority_rate=0.7, majority_p=0.01),
            "an accuracy of .700 at best, p_max .010 of that accuracy; "
            "that of the best prompt, .633, is not above it",
        ),
    ],
)
def test_a_constant_answer_is_compared_by_accuracy(record: ClaimRecord, phrase: str) -> None:
    assert phrases.majority(record) == phrase


def test_an_adjusted_p_value_is_told_among_several_on_its_side_of_the_level() -> None:
    one, two = claim(adjusted_p=0.0501), claim(adjusted_p=0.2)
    assert phrases.adjusted(one, run(one, two)) == ".0501 (Holm, 2 claims)"
    assert phrases.adjusted(two, run(one, two, adjustment="bh")) == (
        ".200 (Benjamini and Hochberg, 2 claims)"
    )
    assert phrases.adjusted(one, run(one, untested())) == ""


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", None])
def test_a_claim_that_ended_badly_has_a_reason(
    outcome: Literal["failed", "error", "skipped"] | None,
) -> None:
    told = untested(outcome=outcome, message="the disk is full")
    assert phrases.finding(told) == "the disk is full"
    assert phrases.finding(untested(outcome=outcome, message=None)) == "no reason was recorded"


def test_an_unexpected_pass_says_what_to_do() -> None:
    record = claim(outcome="xpassed", xfail="too hard")
    assert phrases.finding(record) == (
        "passes, but was expected to fail (too hard): remove its xfail"
    )
    unexplained = claim(outcome="xpassed")
    assert phrases.finding(unexplained) == "passes, but was expected to fail: remove its xfail"


def test_what_was_not_recorded_has_no_phrase() -> None:
    empty = untested(asserted={})
    silent = (
        phrases.claimed,
        phrases.needed,
        phrases.guessing,
        phrases.majority,
        phrases.result,
        phrases.scored,
    )
    assert {phrase(empty) for phrase in silent} == {""}


PROMPTS = [f"p{place}" for place in range(20)]


def test_who_passes_beside_the_incumbent_alone_is_told_by_how_much() -> None:
    found = BesideIncumbent(
        name="the plain prompt", digest="ab", model="m", model_digest=None, answers_digest=None,
        accuracy=0.7, difference=0.05, low=0.0003, high=0.14, level=0.05, by=0.0, test="exact",
        of=20, n=60, units=60, candidates=20, alike=PROMPTS, needed=300, matters=0.05,
    )  # fmt: skip
    asserted = {"better_than": "incumbent", "by": 0.0, "incumbent_p": 0.05}
    passed = claim(incumbent=found, incumbent_p=0.03, asserted=asserted)
    told = headline(passed)
    assert told.found.endswith(" is .050 above the incumbent's .700")
    assert told.numbers.startswith("incumbent p = .030; interval > .000 to +.140; t = ")
    below = claim(incumbent=replace(found, low=-0.0003), incumbent_p=0.06)
    assert "interval .000 to" in incumbent.shortfall(below, "incumbent")[1]
    worse = claim(incumbent=replace(found, difference=-0.02, by=0.01), incumbent_p=0.9)
    assert incumbent.shortfall(worse, "incumbent")[0] == (
        "is .020 below the incumbent's .700, and must be more than .010 above it"
    )
    alike = claim(incumbent=replace(found, difference=0.0), incumbent_p=1.0)
    assert incumbent.shortfall(alike, "incumbent")[0] == (
        "is level with the incumbent's .700, and must be above it"
    )
    assert "all 20 prompts may be the best" in incumbent.compared(passed)
    untold = "nobody counts looks here, so whoever looks again at other answers errs more often"
    assert untold in incumbent.compared(replace(passed, tries=None))
    looked = replace(found, look=2, level=0.05 / 6)
    assert "look 2 at recorded answers: it has .008333 of the level .05, and the next one at" in (
        incumbent.compared(replace(passed, tries=None, incumbent=looked))
    )
    several = claim(incumbent=replace(found, alike=["p3", "p7"]), incumbent_p=0.03)
    assert "2 of 20 prompts cannot be told from the best" in incumbent.compared(several)
    assert incumbent.alike(several) == "p3, p7"
    many = replace(found, candidates=300, alike=PROMPTS * 6)
    assert incumbent.alike(claim(incumbent=many)).endswith(
        "p19 and 20 more, which the JSON report names"
    )


@pytest.mark.parametrize(
    ("of", "luck"),
    [
        (20, "but that may be luck: its interval must begin above .000"),
        (1.1e11, "but that may be luck of a search, which a test set need not pay for: its"),
    ],
)
def test_who_fails_beside_the_incumbent_is_told_of_luck_and_of_what_pays_for_no_search(
    of: float, luck: str
) -> None:
    found = BesideIncumbent(
        name="the plain prompt", digest="ab", model="m", model_digest=None, answers_digest=None,
        accuracy=0.7, difference=0.05, low=-0.04, high=0.14, level=0.05, by=0.0, test="exact",
        of=of, n=60, units=60, candidates=20, alike=PROMPTS, needed=300, matters=0.05,
    )  # fmt: skip
    told, _ = incumbent.shortfall(claim(incumbent=found, incumbent_p=0.3), "incumbent")
    newly = comment(run(claim(incumbent=found, incumbent_p=0.03)), run(claim(best=38)))
    assert "newly passes**: the best prompt is .050 above the plain prompt, model m (.700;" in newly
    assert luck in told
    assert f"best of {'20' if of == 20 else '1.1e+11'} prompts" in incumbent.compared(
        claim(incumbent=found, incumbent_p=0.3)
    )
