"""Searches that climb: guessers do not pass whatever they are told, and who knows still does.

A climb keeps its best prompt and answers some questions anew, which is all that a proposer without
knowledge can do. What it keeps depends on what it is told. Climbs begin with answers of their own,
or with those that follow the frequencies of the labels. Where no result can pass, a row says so;
what the same climbs would do if they were judged by t stands in a table of its own.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.opening import held_out
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Shuffle, permuted
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.stats.score_pairs import ScorePair
from pytest_maxrandom.stats.search import Feedback, Found, Look, Searched, prompts_of
from pytest_maxrandom.sweeps.predictions import PromptPredictions
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout
from tests.proof.scale import LEVEL, least, most, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

N = 200
CLAIM = Claim.of(None)
BY_UNION = replace(CLAIM, permutation_p=None, union_p=CLAIM.permutation_p)
RUNS = scaled(2000, 40)
FEW_RUNS = scaled(300, 30)
"""Where a share is not one of guessers that are judged by the rule."""
PROMPT = Prompt((), Format(Layout(append_choices=False)))
NONE_CAN = "none can pass"
FEEDBACK: tuple[Feedback, ...] = ("none", "accept", "improved", "score", "answers")


def climb(
    generator: np.random.Generator,
    gold: NDArray[np.int64],
    feedback: Feedback,
    steps: int,
    said: float = 0.5,
    best: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the answers of all prompts of a climb by a proposer that knows nothing.

    Parameters
    ----------
    said : float
        Share of its answers that are 0.
    best : array, optional
        The prompt that it goes on from; by default it begins with answers of its own.
    """
    tried = []
    if best is None:
        best = (generator.random(N) >= said).astype(np.int64)
        tried = [best]
    while len(tried) < steps:
        anew = np.flatnonzero(best != gold) if feedback == "answers" else np.arange(N)
        changed = best.copy()
        size = min(len(anew), int(generator.integers(5, 21)))
        places = generator.choice(anew, size, replace=False)
        changed[places] = generator.random(len(places)) >= said
        tried.append(changed)
        if feedback == "none" or (changed == gold).sum() > (best == gold).sum():
            best = changed
    return np.array(tried)


def best_of(tried: NDArray[np.int64], gold: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the answers of the best prompt."""
    found: NDArray[np.int64] = tried[(tried == gold).sum(axis=1).argmax()]
    return found


def labels(generator: np.random.Generator, said: float = 0.5) -> NDArray[np.int64]:
    """Return right answers of which a share is 0, in any order."""
    return generator.permutation(np.arange(N) >= round(said * N)).astype(np.int64)


def vote(
    generator: np.random.Generator, gold: NDArray[np.int64], feedback: Feedback, steps: int
) -> NDArray[np.int64]:
    """Return answers of their own, and a last prompt that answers as the majority of the good ones.

    The attack that fools whoever counts tries soonest (Blum and Hardt, "The Ladder", 2015).
    """
    tried = (generator.random((steps - 1, N)) >= 0.5).astype(np.int64)
    correct = (tried == gold).sum(axis=1)
    weights = correct - N / 2
    if feedback in ("accept", "improved"):
        weights = np.sign(np.diff(np.maximum.accumulate(correct), prepend=0)).astype(float)
    if feedback == "none":
        weights = np.ones(len(tried))
    last = (weights @ (2 * tried - 1) > 0).astype(np.int64)
    return np.vstack([tried, last])


@functools.cache
def guessers(prompts: int) -> Guessers:
    """Return the best of so many prompts that guess."""
    return Guessers.alike(N, Fraction(1, 2), prompts)


class Rule(NamedTuple):
    """By what a claim is judged after searches; they tried their prompts one after the other.

    Attributes
    ----------
    searches
        In their order.
    others
        Prompts that no search was told of, which come last.
    looks
        Those before.
    """

    searches: tuple[Searched, ...]
    others: int = 0
    looks: tuple[Look, ...] = ()

    @classmethod
    def of(
        cls, feedback: Feedback, steps: int, others: int = 0, looks: tuple[Look, ...] = ()
    ) -> Rule:
        """Return that of one search with a budget."""
        told_to_none = steps if feedback == "none" else 0
        return cls((Searched(feedback, steps, N, steps),), others + told_to_none, looks)

    @property
    def can_pass(self) -> bool:
        """Whether any result can, where no prompt was better than the first.

        The permutation p is then that of one prompt times their number, as in a union p.
        """
        prompts = self.prompts(Found(0, 0))
        return prompts is not None and BY_UNION.critical(guessers(prompts)) is not None

    def prompts(self, found: Found) -> int | None:
        """Return as the best of how many prompts one is judged."""
        return prompts_of(self.others, self.searches, looks=self.looks, found=found)

    def found(self, correct: NDArray[np.int64]) -> Found:
        """Return where the best prompt stands among what searches were told."""
        best, start, before, better = int(correct.argmax()), 0, 0, 0
        for one in self.searches:
            told = correct[start : start + one.steps]
            if start <= best < start + one.steps:
                told = told[: best - start]
            start += one.steps
            if one.feedback != "none" and len(told):
                before += len(told)
                better += len(np.unique(np.maximum.accumulate(told))) - 1
        return Found(before, better)


def passes(tried: NDArray[np.int64], gold: NDArray[np.int64], by: Rule | int) -> bool:
    """Judge the best of some prompts by a rule, or as the best of so many, as a claim is."""
    correct = (tried == gold).sum(axis=1)
    prompts = by if isinstance(by, int) else by.prompts(by.found(correct))
    if prompts is None:
        return False
    best = int(correct.argmax())
    if CLAIM.unmet(guessers(prompts), int(correct[best])):
        return False
    shuffle = Shuffle(tried, gold, [2] * N, np.ones(N, dtype=np.int64), None)
    return permuted_p_of_tree(shuffle, best, prompts) <= LEVEL


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_guessers_that_climb_do_not_pass(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    rule = Rule.of(feedback, steps)
    shares: list[float | str] = []
    for said in (0.5, 0.7):
        generator = np.random.default_rng([steps, round(10 * said)])
        found = 0
        for _ in range(RUNS if rule.can_pass else 0):
            gold = labels(generator, said)
            tried = climb(generator, gold, feedback, steps, said)
            found += passes(tried, gold, rule)
        assert found <= most(RUNS)
        shares.append(found / RUNS if rule.can_pass else NONE_CAN)
    measured("Climbs of guessers that pass", f"{feedback} | {steps}", *shares)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[1:])
def test_a_count_of_tries_alone_is_fooled_by_climbs(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """What the rules are for: the same climbs, judged as the best of t guessers."""
    generator, found, later = np.random.default_rng(steps), 0, 0
    for _ in range(FEW_RUNS):
        gold = labels(generator)
        tried = climb(generator, gold, feedback, steps)
        found += passes(tried, gold, steps)
        later += passes(best_of(tried, gold)[None], gold, 3)
    measured(
        "Climbs that would pass by t",
        f"{feedback} | {steps}",
        found / FEW_RUNS,
        later / FEW_RUNS,
    )
    if steps > 20 or feedback == "answers":
        assert min(found, later) > most(FEW_RUNS)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[1:])
def test_a_later_suite_of_three_prompts_is_judged_by_the_climb(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """The suite has the best prompt of a climb that another model may have made."""
    rule = Rule.of(feedback, steps, others=3)
    generator, found = np.random.default_rng(steps), 0
    for _ in range(RUNS if rule.can_pass else 0):
        gold = labels(generator)
        tried = climb(generator, gold, feedback, steps)
        best = Found(steps, rule.found((tried == gold).sum(axis=1)).better + 1)
        prompts = rule.prompts(best)
        found += prompts is not None and passes(best_of(tried, gold)[None], gold, prompts)
    assert found <= most(RUNS)
    share = found / RUNS if rule.can_pass else NONE_CAN
    measured("A suite after a climb", f"{feedback} | {steps}", share)


def flips(
    generator: np.random.Generator, gold: NDArray[np.int64], feedback: Feedback, steps: int
) -> NDArray[np.int64]:
    """Return a climb that answers each part of the questions the other way round once.

    Nothing learns more of a bit or of a rise: where it is kept, the part was wrong more often, and
    with as many steps as questions each is right in the end.
    """
    del feedback
    best = (generator.random(N) >= 0.5).astype(np.int64)
    tried = [best]
    for part in np.array_split(generator.permutation(N), steps - 1):
        changed = best.copy()
        changed[part] = 1 - changed[part]
        tried.append(changed)
        if (changed == gold).sum() > (best == gold).sum():
            best = changed
    return np.array(tried)


@pytest.mark.parametrize(("steps", "declared"), [(20, True), (50, True), (201, True), (50, False)])
@pytest.mark.parametrize("feedback", ["accept", "improved"])
@pytest.mark.parametrize("climbs", [climb, flips])
def test_a_climb_that_stops_where_it_would_pass_does_not(
    climbs: Callable[..., NDArray[np.int64]],
    feedback: Feedback,
    steps: int,
    declared: bool,
    measured: Measured,
) -> None:
    """A proposer that knows the rule, its weights and the accuracies that there can be.

    It asks for its verdict where that is best for it. Where it declared its budget, it pays for all
    of it.
    """
    generator, found = np.random.default_rng(5), 0
    runs = RUNS if (climbs, feedback) == (climb, "accept") else scaled(1000, 5)
    for _ in range(runs):
        gold = labels(generator)
        tried = climbs(generator, gold, feedback, steps)
        correct = (tried == gold).sum(axis=1)
        news = np.flatnonzero(np.diff(np.maximum.accumulate(correct), prepend=-1))
        for step in (news + 1).tolist():  # its best prompt is the last one then
            rule = Rule((Searched(feedback, step, N, steps if declared else None),))
            if passes(tried[:step], gold, rule):
                found += 1
                break
    named = f"{climbs.__name__} | {feedback} | {steps} | {'a budget' if declared else 'none'}"
    measured("Climbs that stop where they would pass", named, found / runs)
    assert found <= most(runs)


@pytest.mark.parametrize("rounds", [2, 3, 6])
@pytest.mark.parametrize("feedback", FEEDBACK[:3])
def test_verdicts_in_between_are_counted(
    feedback: Feedback, rounds: int, measured: Measured
) -> None:
    """A search that is begun again after each verdict, and goes on from its best prompt."""
    steps = 10 * rounds
    rule = Rule.of(feedback, steps, looks=tuple(Look(10 * k, N) for k in range(1, rounds)))
    assert rule.can_pass
    generator, found, by_t = np.random.default_rng(rounds), 0, 0
    for run in range(RUNS):
        gold = labels(generator)
        tried = climb(generator, gold, feedback, 10)
        for _ in range(rounds - 1):
            best = best_of(tried, gold)  # which the verdict tells
            # Each of the next ten is a change of it, or of the one before.
            more = [climb(generator, gold, "accept", 1, best=best) for _ in range(10)]
            if feedback != "none":
                more = [climb(generator, gold, feedback, 10, best=best)]
            tried = np.vstack([tried, *more])
        found += passes(tried, gold, rule)
        by_t += run < FEW_RUNS and passes(tried, gold, steps)
    shares = found / RUNS, by_t / FEW_RUNS
    measured("Searches begun again after verdicts, and by t", f"{feedback} | {rounds}", *shares)
    assert found <= most(RUNS)
    if rounds == 6:
        assert by_t > most(FEW_RUNS)


@pytest.mark.parametrize(
    "searches",
    [
        [("accept", 10)] * 2,
        [("accept", 5)] * 4,
        [("score", 3), ("accept", 10)],
        [("accept", 10), ("score", 3), ("none", 20)],
        [("accept", 10), ("answers", 3)],
    ],
)
def test_several_searches_go_on_from_each_other(
    searches: list[tuple[Feedback, int]], measured: Measured
) -> None:
    """By whatever names and feedback: each begins with the best prompt of all before."""
    given = tuple(Searched(feedback, steps, N, steps) for feedback, steps in searches)
    rule = Rule(given, sum(steps for feedback, steps in searches if feedback == "none"))
    generator, found, by_t = np.random.default_rng(len(searches)), 0, 0
    for run in range(RUNS):
        gold, tried = labels(generator), np.empty((0, N), dtype=np.int64)
        for feedback, steps in searches:
            best = best_of(tried, gold) if len(tried) else None
            tried = np.vstack([tried, climb(generator, gold, feedback, steps, best=best)])
        found += passes(tried, gold, rule)
        by_t += run < FEW_RUNS and passes(tried, gold, len(tried))
    shares = found / RUNS if rule.can_pass else NONE_CAN, by_t / FEW_RUNS
    named = ", ".join(f"{feedback} {steps}" for feedback, steps in searches)
    measured("Several searches, and by t", named, *shares)
    assert found <= most(RUNS)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[:4])
def test_guessers_that_vote_do_not_pass(feedback: Feedback, steps: int, measured: Measured) -> None:
    rule = Rule.of(feedback, steps)
    generator, found, by_t = np.random.default_rng(steps), 0, 0
    for run in range(RUNS):
        gold = labels(generator)
        tried = vote(generator, gold, feedback, steps)
        found += passes(tried, gold, rule)
        by_t += run < FEW_RUNS and passes(tried, gold, steps)
    share = found / RUNS if rule.can_pass else NONE_CAN
    measured(
        "Votes of guessers that pass, and by t", f"{feedback} | {steps}", share, by_t / FEW_RUNS
    )
    assert found <= most(RUNS)
    if feedback == "score":
        assert by_t > most(FEW_RUNS)


def vote_of(tried: NDArray[np.int64], gold: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what prompts answer together, each with the weight of its score (Blum and Hardt)."""
    weights = (tried == gold).sum(axis=1) - N / 2
    return np.asarray(weights @ (2 * tried - 1) > 0, dtype=np.int64)


@pytest.mark.parametrize("shown", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[:3])
@pytest.mark.parametrize("when", ["before", "in between"])
def test_who_reads_the_results_of_a_suite_does_not_pass(
    when: str, feedback: Feedback, shown: int, measured: Measured
) -> None:
    """The vote of what a suite tried is its first prompt, or else each of its ten is a new vote.

    In between, a tenth of the suite's prompts is run before each step, as changes of the best one.
    """
    rule = Rule.of(feedback, 10, looks=(Look(1, N),) * shown)
    generator, found, unpaid = np.random.default_rng(shown), 0, 0
    for run in range(RUNS if rule.can_pass else FEW_RUNS):
        gold, seen, tried = labels(generator), np.empty((0, N), dtype=np.int64), []
        if when == "before":
            seen = (generator.random((shown, N)) >= 0.5).astype(np.int64)
            voted = vote_of(seen, gold)
            tried = [voted, climb(generator, gold, feedback, 9, best=voted)]
        for _ in range(10 * (when != "before")):
            best = best_of(seen, gold) if len(seen) else None
            seen = np.vstack([seen, climb(generator, gold, "score", shown // 10, best=best)])
            tried.append(vote_of(seen, gold))
        found += passes(np.vstack(tried), gold, rule)
        unpaid += run < FEW_RUNS and passes(np.vstack(tried), gold, Rule.of(feedback, 10))
    share = found / RUNS if rule.can_pass else NONE_CAN
    named = f"{feedback} | {shown} {when}"
    measured("Searches that read a suite, and without paying", named, share, unpaid / FEW_RUNS)
    assert found <= most(RUNS)
    if shown == 200 and feedback == "none":
        assert unpaid > most(FEW_RUNS)


@pytest.mark.parametrize(
    ("feedback", "steps", "shown", "knows", "power"),
    [
        ("none", 50, 4, 0.7, 0.8), ("none", 50, 4, 0.75, 0.98), ("none", 50, 8, 0.75, 0.02),
        ("none", 50, 8, 0.8, 0.95), ("accept", 20, 4, 0.75, 0.9), ("accept", 20, 8, 0.75, 0.0),
        ("accept", 20, 8, 0.8, 0.5), ("accept", 50, 4, 0.75, 0.8), ("accept", 50, 8, 0.85, 0.98),
        ("improved", 20, 4, 0.8, 0.7), ("improved", 20, 8, 0.85, 0.7),
    ],
)  # fmt: skip
def test_who_knows_passes_after_a_small_suite(
    feedback: Feedback, steps: int, shown: int, knows: float, power: float, measured: Measured
) -> None:
    rule, generator = (
        Rule.of(feedback, steps, looks=(Look(1, N),) * shown),
        np.random.default_rng(8),
    )
    found = 0
    for _ in range(FEW_RUNS):
        gold = labels(generator)
        found += passes(np.where(generator.random((steps, N)) < knows, gold, 1 - gold), gold, rule)
    named = f"{feedback} | {steps} | {shown} | {knows}"
    measured("Power of searches after a suite", named, found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)


@pytest.mark.parametrize(
    ("feedback", "steps", "looks", "knows", "power"),
    [
        ("none", 200, 0, 0.75, 0.99),
        ("accept", 20, 0, 0.75, 0.95),
        ("accept", 20, 1, 0.75, 0.9),
        ("accept", 20, 0, 0.7, 0.9),
        ("accept", 50, 0, 0.7, 0.98),
        ("accept", 200, 0, 0.7, 0.84),
        ("improved", 20, 0, 0.75, 0.5),
        ("improved", 50, 0, 0.8, 0.5),
    ],
)
def test_who_knows_passes(
    feedback: Feedback, steps: int, looks: int, knows: float, power: float, measured: Measured
) -> None:
    rule = Rule.of(feedback, steps, looks=(Look(steps, N),) * looks)
    generator, found = np.random.default_rng(steps), 0
    for _ in range(FEW_RUNS):
        gold = labels(generator)
        tried = np.where(generator.random((steps, N)) < knows, gold, 1 - gold)
        found += passes(tried, gold, rule)
    measured("Power of searches", f"{feedback} | {steps} | {looks} | {knows}", found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)


def beats(
    tried: NDArray[np.bool_],
    incumbent: NDArray[np.bool_],
    by: Rule | int,
    groups: NDArray[np.int64] | None = None,
) -> bool:
    """Judge the best of some prompts beside an incumbent; both are right or wrong on each."""
    correct = tried.sum(axis=1)
    prompts = by if isinstance(by, int) else by.prompts(by.found(correct))
    if prompts is None:
        return False
    best = tried[int(correct.argmax())].astype(float)
    pair = ScorePair(best - incumbent, np.arange(N) if groups is None else groups)
    return bool(prompts * pair.p_greater(0, LEVEL / prompts) <= LEVEL)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK[1:3])
def test_climbs_that_are_no_better_than_the_incumbent_do_not_beat_it(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """All are right on .7; the incumbent is as lucky as anybody. By t alone climbs do beat it."""
    rule, generator = Rule.of(feedback, steps), np.random.default_rng(steps)
    found = by_t = 0
    right, said = np.zeros(N, dtype=np.int64), 0.7  # an answer of 0 is right
    for run in range(RUNS):
        incumbent = generator.random(N) < said
        tried = climb(generator, right, feedback, steps, said) == 0
        found += beats(tried, incumbent, rule)
        by_t += run < FEW_RUNS and beats(tried, incumbent, steps)
    measured("Climbs beside an incumbent", f"{feedback} | {steps}", found / RUNS, by_t / FEW_RUNS)
    assert found <= most(RUNS)
    if steps == 200:
        assert by_t > most(FEW_RUNS)


PASSAGES = np.arange(N) // 4
"""Four questions share a passage; their answers follow it in .7 of cases."""


def climb_of_passages(
    generator: np.random.Generator,
    gold: NDArray[np.int64],
    feedback: Feedback,
    steps: int,
    said: float,
) -> NDArray[np.int64]:
    """Return the answers of a climb that answers whole passages anew."""
    best = said_of_passages(generator, said)
    tried: list[NDArray[np.int64]] = []
    while len(tried) < steps:
        anew = generator.choice(N // 4, int(generator.integers(2, 7)), replace=False)
        changed = said_of_passages(generator, said)
        changed = np.where(np.isin(PASSAGES, anew), changed, best) if tried else best
        tried.append(changed)
        if feedback == "none" or (changed == gold).sum() > (best == gold).sum():
            best = changed
    return np.array(tried)


def said_of_passages(generator: np.random.Generator, said: float) -> NDArray[np.int64]:
    """Return answers, 0 to a share of questions, most as the others of their passage."""
    shared, own = generator.random(N // 4)[PASSAGES], generator.random(N)
    return (np.where(generator.random(N) < 0.7, shared, own) >= said).astype(np.int64)


@pytest.mark.parametrize("steps", [20, 50, 200])
@pytest.mark.parametrize("feedback", FEEDBACK)
def test_climbs_of_guessers_that_answer_passages_do_not_pass(
    feedback: Feedback, steps: int, measured: Measured
) -> None:
    """Right answers follow passages, and so do answers.

    A search that was told something passes by no result, unless it is beside an incumbent, whose
    test knows passages. One that was told nothing is judged by shuffling whole passages.
    """
    shares: list[float | str] = []
    for said in (0.5, 0.7):
        generator, found = np.random.default_rng([steps, round(10 * said)]), 0
        runs = scaled(1000, 10) if feedback == "none" else 1
        for _ in range(runs):
            gold = said_of_passages(generator, said)
            tried = climb_of_passages(generator, gold, feedback, steps, said)
            groups = [f"{each}" for each in PASSAGES]
            shuffle = Shuffle(tried, gold.tolist(), (2,) * N, (1,) * N, groups)
            if feedback == "none":
                correct = int((tried == gold).sum(axis=1).max())
                unmet = CLAIM.unmet(guessers(steps), correct)
                found += not unmet and permuted(shuffle, steps).p <= LEVEL
            else:
                assert permuted_p_of_tree(shuffle, 0, steps) == 1
        shares.append(found / runs if feedback == "none" else NONE_CAN)
        assert found <= most(runs)
    rule, generator, beside = Rule.of(feedback, steps), np.random.default_rng(steps), 0
    right = np.zeros(N, dtype=np.int64)
    can = rule.can_pass and feedback != "none"
    runs = scaled(1000, 20)
    for _ in range(runs if can else 0):
        incumbent = said_of_passages(generator, 0.7) == 0
        tried = climb_of_passages(generator, right, feedback, steps, 0.7)
        beside += beats(tried == 0, incumbent, rule, PASSAGES)
    measured(
        "Climbs on passages, and beside an incumbent",
        f"{feedback} | {steps}",
        *shares,
        beside / runs if can else "as any claim" if feedback == "none" else NONE_CAN,
    )
    assert beside <= most(runs)


@pytest.mark.parametrize(
    ("feedback", "steps", "knows", "power"),
    [("none", 200, 0.85, 0.6), ("accept", 20, 0.9, 0.9), ("accept", 200, 0.9, 0.4)],
)
def test_who_is_better_than_the_incumbent_beats_it(
    feedback: Feedback, steps: int, knows: float, power: float, measured: Measured
) -> None:
    rule, generator, found = Rule.of(feedback, steps), np.random.default_rng(steps), 0
    for _ in range(FEW_RUNS):
        tried = generator.random((steps, N)) < knows
        found += beats(tried, generator.random(N) < 0.7, rule)
    named = f"{feedback} | {steps} | {knows}"
    measured("Searches that are better than an incumbent", named, found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)


@pytest.mark.parametrize(("knows", "power"), [(0.5, None), (0.75, 0.99)])
def test_the_test_set_judges_what_was_told_of_answers(
    knows: float, power: float | None, measured: Measured
) -> None:
    """The best prompt of a climb on answers, on as many questions that nobody saw."""
    generator, found = np.random.default_rng(7), 0
    runs = RUNS if power is None else FEW_RUNS
    for _ in range(runs):
        gold = labels(generator)
        found += on_test_set(np.where(generator.random(N) < knows, gold, 1 - gold), gold) <= LEVEL
    measured("The test set after a search", f"answers | {knows}", found / runs)
    assert found <= most(runs) if power is None else found >= least(runs, power)


@pytest.mark.parametrize("openings", [10, 20])
def test_a_test_set_that_is_opened_again_decides_nothing(openings: int, measured: Measured) -> None:
    """A vote over what openings told: only the first one decides; p times openings is fooled."""
    generator, first, voted = np.random.default_rng(openings), 0, 0
    for run in range(RUNS):
        gold = labels(generator)
        tried = vote(generator, gold, "score", openings)
        first += on_test_set(tried[0], gold) <= LEVEL
        voted += run < FEW_RUNS and on_test_set(tried[-1], gold, openings=openings) <= LEVEL
    shares = first / RUNS, voted / FEW_RUNS
    measured("Test sets opened again: the first alone, p times openings", f"{openings}", *shares)
    assert first <= most(RUNS)
    assert voted > most(FEW_RUNS)


def on_test_set(answers: NDArray[np.int64], gold: NDArray[np.int64], openings: int = 1) -> float:
    """Return the p of a prompt on as many questions that nobody has seen."""
    examples = tuple(
        Example(f"e{i}", f"question {i}", ("Yes", "No"), (one,))
        for i, one in enumerate(gold.tolist())
    )
    chosen = tuple(answers.tolist())
    answered = PromptPredictions(PROMPT, examples, (), (), chosen, 0, ())
    p = held_out(answered, openings=openings).p
    assert p is not None
    return p
