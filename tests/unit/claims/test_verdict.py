"""What is said of the best of t prompts, compared with enumeration in exact fractions."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from pytest_maxrandom.claims.nulls import Guessers, guessers
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.record import ClaimRecord, Remark
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.suite.claims import AssertSpec
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
from pytest_maxrandom.tasks.task import Example, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

P05 = Claim(0.05, None)
FORM = Format(Layout())
CHANCES = [Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(1, 4)]


def counts(chances: list[Fraction]) -> list[Fraction]:
    """Return P(k right) for k = 0 .. n, by multiplying out all n guesses."""
    masses = [Fraction(1)]
    for chance in chances:
        missed = [mass * (1 - chance) for mass in [*masses, Fraction(0)]]
        hit = [mass * chance for mass in [Fraction(0), *masses]]
        masses = [a + b for a, b in zip(missed, hit, strict=True)]
    return masses


def exact(rows: list[list[Fraction]]) -> tuple[list[Fraction], Fraction]:
    """Return P(best >= k) for k = 0 .. n, and the expected best accuracy, of one guesser a row."""
    n = len(rows[0])
    below = [
        math.prod((sum(counts(row)[:k], Fraction()) for row in rows), start=Fraction(1))
        for k in range(n + 1)
    ]
    reached = [1 - mass for mass in below]
    return reached, sum(reached[1:], Fraction()) / n


def examples_with(chances: list[Fraction]) -> tuple[Example, ...]:
    return tuple(
        Example(
            f"e{place}",
            f"question {place}",
            tuple(f"choice {index}" for index in range(chance.denominator)),
            tuple(range(chance.numerator)),
        )
        for place, chance in enumerate(chances)
    )


def prompt_set(chances: list[Fraction], shown: Sequence[tuple[int, ...]]) -> PromptSet:
    """Return a leave-one's-own-out prompt set with these demonstrations."""
    examples = examples_with(chances)
    prompts = tuple(Prompt(tuple(examples[i] for i in own), FORM) for own in shown)
    return PromptSet(prompts, examples, "leave_out", len(examples), len(prompts), ())


@pytest.mark.parametrize("t", [1, 2, 5])
@pytest.mark.parametrize(
    "chances", [[Fraction(1, 2)] * 6, [Fraction(1, 3)] * 4 + [Fraction(1, 2)] * 3]
)
def test_numbers_of_equal_guessers_are_those_of_enumeration(
    chances: list[Fraction], t: int
) -> None:
    n = len(chances)
    reached, expected = exact([chances] * t)
    single, chance = exact([chances])
    null = Guessers.alike(n, chances, t)
    assert (null.n, null.t, null.chance) == (n, t, chance)
    for correct in range(n + 1):
        found = judge(P05, null, correct)
        assert (found.n, found.t, found.best_correct) == (n, t, correct)
        assert found.best_accuracy == correct / n
        assert found.standard_baseline == float(chance)
        assert found.max_random_baseline == pytest.approx(float(expected), rel=1e-13)
        assert found.p_max == pytest.approx(float(reached[correct]), rel=1e-13)
        assert found.log_p_max == pytest.approx(math.log(reached[correct]), abs=1e-13)
        assert found.p_standard == pytest.approx(float(single[correct]), rel=1e-13)
        bound = min(Fraction(1), t * single[correct])
        assert found.union_p == pytest.approx(float(bound), rel=1e-13)


def test_prompts_that_leave_out_their_own_have_each_their_own_guesser() -> None:
    chances = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)]
    shown = [(0, 1), (1, 0), (3, 2), (4, 0), (2, 4)]
    rows = [[c for place, c in enumerate(chances) if place not in own] for own in shown]
    reached, expected = exact(rows)
    null = guessers(prompt_set(chances, shown))
    assert (null.n, null.t) == (3, 5)
    assert null.chance == sum(map(sum, rows), Fraction(0)) / 15
    for correct, best in itertools.product(range(4), range(5)):
        found = judge(P05, null, correct, best)
        assert found.max_random_baseline == pytest.approx(float(expected), rel=1e-13)
        assert found.p_max == pytest.approx(float(reached[correct]), rel=1e-13)
        own, _ = exact([rows[best]])
        assert found.p_standard == pytest.approx(float(own[correct]), rel=1e-13)


def test_prompts_with_demonstrations_from_outside_have_equal_guessers() -> None:
    chances = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)]
    outside = examples_with([Fraction(1, 2)] * 9)[3:]
    prompts = tuple(Prompt((each,), FORM) for each in outside)
    null = guessers(PromptSet(prompts, examples_with(chances), "outside", 6, 6, ()))
    reached, expected = exact([chances] * 6)
    assert (null.n, null.t, null.chance) == (3, 6, sum(chances) / 3)
    assert null.best.expected_accuracy == pytest.approx(float(expected), rel=1e-13)
    assert [null.best.p_value(k) for k in range(4)] == pytest.approx([float(p) for p in reached])


def test_few_kinds_of_guessers_stand_for_any_number_of_prompts() -> None:
    pairs = list(itertools.permutations(range(30), 2))
    null = guessers(prompt_set([Fraction(1, 2)] * 15 + [Fraction(1, 3)] * 15, pairs))
    assert null.t == len(pairs) == len(null.kinds)
    assert set(null.kinds) == {0, 1, 2}


@pytest.mark.parametrize("m", [2, 3, 5, 6, 7, 10, 49])
def test_to_equal_a_baseline_is_not_to_beat_it(m: int) -> None:
    """One guesser at chance 1/m on m n examples expects n right; for most m no float is 1/m."""
    for n in (1, 3, 7, 100):
        null = Guessers.alike(m * n, Fraction(1, m), 1)
        for beats in ("max_random", "standard"):
            claim = Claim(None, beats)
            assert not judge(claim, null, n).passed
            assert judge(claim, null, n + 1).passed
            assert claim.critical(null) == n + 1


def test_mixed_chances_are_compared_exactly_too() -> None:
    chances = [Fraction(1, 3)] * 6 + [Fraction(1, 7)] * 14
    null = Guessers.alike(20, chances, 1)
    assert null.chance == Fraction(4, 20)
    assert judge(Claim(None, "standard"), null, 4).passed is False
    assert judge(Claim(None, "max_random"), null, 4).passed is False
    assert judge(P05, null, 4).verdict == "at standard"


@pytest.mark.parametrize("chance", [0.2, Fraction(1, 5), [0.2] * 60])
def test_a_result_that_equals_chance_is_at_standard(chance: Any) -> None:
    """12 of 60 at .200, also where chance is a float, which is a little above 1/5."""
    found = [judge(P05, Guessers.alike(60, chance, 20), right).verdict for right in (11, 12, 13)]
    assert found == ["below standard", "at standard", "between baselines"]


@pytest.mark.parametrize("t", [1, 2, 7])
def test_the_standing_is_between_from_above_chance_to_the_expected_maximum(t: int) -> None:
    chances = [Fraction(1, 4)] * 8
    _, expected = exact([chances] * t)
    for correct in range(9):
        accuracy = Fraction(correct, 8)
        standing = "between baselines"
        if accuracy < Fraction(1, 4):
            standing = "below standard"
        if accuracy == Fraction(1, 4):
            standing = "at standard"
        if accuracy > expected:
            standing = "above maximum"
        found = judge(P05, Guessers.alike(8, chances, t), correct)
        assert found.verdict == standing, correct


claims = st.builds(
    Claim,
    st.one_of(st.none(), st.floats(1e-9, 0.999), st.sampled_from([0.05, 0.5, 1e-300])),
    st.sampled_from([None, "max_random", "standard"]),
)


@st.composite
def nulls(draw: st.DrawFn) -> Guessers:
    """Equal guessers, or guessers that each leave out their own examples."""
    chances = draw(st.lists(st.sampled_from(CHANCES), min_size=2, max_size=30))
    t = draw(st.integers(1, 200))
    if draw(st.booleans()):
        return Guessers.alike(len(chances), chances, t)
    places = st.integers(0, len(chances) - 1)
    return guessers(prompt_set(chances, draw(st.lists(st.tuples(places), min_size=1, max_size=9))))


@given(claims, nulls())
@settings(deadline=None, max_examples=200)
def test_the_critical_count_is_the_fewest_that_passes(claim: Claim, null: Guessers) -> None:
    assume(claim != Claim(None, None))
    passing = [k for k in range(null.n + 1) if judge(claim, null, k).passed]
    critical = claim.critical(null)
    assert critical == (passing[0] if passing else None)
    assert passing == list(range(null.n + 1))[null.n + 1 - len(passing) :]


@given(nulls(), st.data())
@settings(deadline=None)
def test_a_claim_of_two_parts_holds_if_both_hold(null: Guessers, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, null.n))
    both = judge(Claim(0.2, "max_random"), null, correct).passed
    parts = [
        judge(part, null, correct).passed for part in (Claim(0.2, None), Claim(None, "max_random"))
    ]
    assert both == all(parts)


@pytest.mark.parametrize("m", [2, 3, 6, 12, 20, 32, 49])
def test_p_max_at_its_bound_passes(m: int) -> None:
    """One guess at chance 1/m is right with probability 1/m, which for most m no float is."""
    null = Guessers.alike(1, Fraction(1, m), 1)
    for bound, passes in ((1 / m, True), (1 / m * (1 - 1e-9), False)):
        claim = Claim(bound, None)
        assert judge(claim, null, 1).passed == passes
        assert claim.critical(null) == (1 if passes else None)


def test_a_permutation_p_has_no_critical_count() -> None:
    null = Guessers.alike(20, 0.5, 3)
    alone = judge(Claim(permutation_p=0.05), null, 13, permutation_p=0.2)
    assert (alone.passed, alone.critical_count) == (False, None)
    assert judge(Claim(permutation_p=0.05), null, 20).passed is False  # it is not known


def test_a_claim_that_no_count_can_pass_has_no_critical_count() -> None:
    found = judge(P05, Guessers.alike(4, Fraction(1, 2), 200), 4)
    assert (found.passed, found.critical_count) == (False, None)


def test_what_cannot_be_told_neither_passes_nor_fails() -> None:
    why = Remark("only_right_and_wrong")
    for correct in (0, 50, 100):
        found = judge(Claim.of(None, untold=why), Guessers.alike(100, Fraction(1, 2), 10), correct)
        assert (found.passed, found.holds, found.cannot_tell) == (None, None, why)
        assert (found.critical_count, found.critical_parts) == (None, [])
        named = Claim.of(AssertSpec(p_max=0.05), untold=why)  # what is claimed by name is judged
        assert judge(named, Guessers.alike(100, Fraction(1, 2), 10), correct).passed is not None


@given(
    n=st.integers(4, 40), t=st.integers(1, 30), level=st.floats(0.01, 0.2),
    seed=st.integers(0, 99), knows=st.floats(0, 1),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_critical_count_is_the_least_that_passes_with_the_other_answers_as_they_are(
    n: int, t: int, level: float, seed: int, knows: float
) -> None:
    rng = np.random.default_rng(seed)
    gold = rng.integers(2, size=n)
    answers = np.where(rng.random((t, n)) < knows, gold, rng.integers(2, size=(t, n)))
    test = max_t_test(answers, gold, permutations=199, seed=seed)
    claim, null = Claim(permutation_p=level, beats="max_random"), Guessers.alike(n, 0.5, t)
    found = judge(
        claim, null, round(test.best * n), permutation_p=test.p_value, bound=test.bound(level)
    )
    assert found.passed is not None
    least = found.critical_count
    assert found.passed == (least is not None and round(test.best * n) >= least)


def test_far_tails_have_a_logarithm() -> None:
    found = judge(P05, Guessers.alike(2000, Fraction(1, 4), 200), 2000)
    assert found.p_max == 0.0
    assert found.log_p_max == pytest.approx(math.log(200) + 2000 * math.log(0.25), rel=1e-12)


def test_a_suite_that_asserts_nothing_claims_no_luck_and_more_than_the_best_guesser_expects() -> (
    None
):
    usual = Claim(permutation_p=0.05, beats="max_random")
    assert Claim.of(None) == Claim.of(AssertSpec()) == usual
    assert Claim.of(AssertSpec(beats="standard")) == Claim(None, "standard")
    assert Claim.of(AssertSpec(p_max=0.01, beats="max_random")) == Claim(0.01, "max_random")


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        (P05, {"p_max": 0.05}),
        (Claim(None, "standard"), {"beats": "standard"}),
        (Claim(0.1, "max_random"), {"p_max": 0.1, "beats": "max_random"}),
    ],
)
def test_a_claim_is_recorded_as_the_suite_writes_it(
    claim: Claim, written: dict[str, float | str]
) -> None:
    assert claim.asserted() == written


def test_examples_shown_from_outside_do_not_count_as_left_out() -> None:
    left_out = prompt_set([Fraction(1, 2)] * 3, [(0,), (1,)])
    assert guessers(left_out).n == 2
    assert guessers(replace(left_out, regime="outside")).n == 3


def test_a_record_keeps_its_heading_and_takes_what_was_found() -> None:
    heading = ClaimRecord(
        id="s.yaml::q[m-0shot]",
        suite="s.yaml",
        line=3,
        task="q",
        model="m",
        quantization="nf4",
        shots=0,
        asserted={"p_max": 0.05},
        backend="mock",
        scoring="likelihood",
        clusters=7,
        holds=True,
        notes=[Remark("published_numbers")],
    )
    before = asdict(heading)
    found = judge(Claim(), Guessers.alike(20, Fraction(1, 2), 3), 12)
    record = replace(found, holds=None).noted(Remark("counts_only")).record(heading)
    assert asdict(heading) == before
    assert [note.kind for note in record.notes] == ["published_numbers", "counts_only"]
    assert record.clusters == 7, "what was not found out leaves what was known"
    assert record.holds is None, "but whether it holds is found out, or nobody knows"
    changed = {name for name, value in asdict(record).items() if value != before[name]}
    assert {"n", "t", "best_correct", "p_max", "verdict", "passed"} <= changed
    assert not changed & {"id", "suite", "line", "task", "model", "asserted", "scoring"}
