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
from pytest_maxrandom.claims.searched import permuted_p_of_tree
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.stats.search import Feedback, Found, Look, Searched, prompts_of
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Layout
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
STEPS = "feedback | steps"
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
    columns = f"{STEPS} | labels 50/50 | labels 70/30"
    measured("Climbs of guessers that pass", columns, f"{feedback} | {steps}", *shares)


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
    columns, shares = f"{STEPS} | by t | a suite of 3", (found / FEW_RUNS, later / FEW_RUNS)
    measured("Climbs that would pass by t", columns, f"{feedback} | {steps}", *shares)
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
    measured("A suite after a climb", f"{STEPS} | pass", f"{feedback} | {steps}", share)


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
    columns = f"climb | {STEPS} | told before | pass"
    measured("Climbs that stop where they would pass", columns, named, found / runs)
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
    columns = "feedback | rounds | pass | by t"
    measured("Searches begun again after verdicts", columns, f"{feedback} | {rounds}", *shares)
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
    measured("Several searches", "searches | pass | by t", named, *shares)
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
    columns, shares = f"{STEPS} | pass | by t", (share, by_t / FEW_RUNS)
    measured("Votes of guessers that pass", columns, f"{feedback} | {steps}", *shares)
    assert found <= most(RUNS)
    if feedback == "score":
        assert by_t > most(FEW_RUNS)


def vote_of(tried: NDArray[np.int64], gold: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what prompts answer together, each with the weight of its score (Blum and Hardt)."""
    weights = (tried == gold).sum(axis=1) - N / 2
    voted: NDArray[np.int64] = (weights @ (2 * tried - 1) > 0).astype(np.int64)
    return voted


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
    columns = "feedback | prompts of the suite | when | pass | without paying"
    row, shares = f"{feedback} | {shown} | {when}", (share, unpaid / FEW_RUNS)
    measured("Searches that read a suite", columns, row, *shares)
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
    columns = f"{STEPS} | prompts of the suite | right on | pass"
    measured("Power of searches after a suite", columns, named, found / FEW_RUNS)
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
    columns = f"{STEPS} | looks | right on | pass"
    row = f"{feedback} | {steps} | {looks} | {knows}"
    measured("Power of searches", columns, row, found / FEW_RUNS)
    assert found >= least(FEW_RUNS, power)
