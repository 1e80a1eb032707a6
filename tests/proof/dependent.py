"""Examples that depend on each other, which nobody declares, and prompts that know nothing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom import MaxRandomBaseline
from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.assessment import View, assess
from pytest_maxrandom.claims.publication import alike
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.flags import KINDS, JudgedAnswers
from pytest_maxrandom.record.result import Result
from pytest_maxrandom.stats.permutation import max_t_test, permutations_for
from tests.proof.nulls import Compared, compare, right_on
from tests.proof.scale import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Labels = NDArray[np.int64]
    Draw = Callable[[np.random.Generator, int], "Untold"]

N = 100
HALF = Fraction(1, 2)
WORDS = np.array([f"word{place}" for place in range(400)])
PLACES = np.arange(N)


class Untold(NamedTuple):
    """Answers, right answers and the texts of examples, where they have any."""

    answers: Labels
    gold: Labels
    inputs: tuple[str, ...] | None = None


def markov(generator: np.random.Generator, k: int, stays: float) -> Labels:
    """Return k rows that keep their label with this probability from example to example."""
    changes = generator.random((k, N)) >= stays
    changes[:, 0] = generator.random(k) < 0.5
    return np.asarray(changes.cumsum(axis=1) % 2)


def in_runs(stays: float) -> Draw:
    def draw(generator: np.random.Generator, t: int) -> Untold:
        *answers, gold = markov(generator, t + 1, stays)
        return Untold(np.array(answers), gold)

    return draw


SORTED = (PLACES >= N // 2).astype(np.int64)


def runs_beside_sorted(generator: np.random.Generator, t: int) -> Untold:
    return Untold(markov(generator, t, 0.9), SORTED)


def one_switch(generator: np.random.Generator, t: int) -> Untold:
    """Each prompt switches once, somewhere, in the direction of the file."""
    at = generator.integers(0, N + 1, (t, 1))
    return Untold((at <= PLACES).astype(np.int64), SORTED)


def drifting(generator: np.random.Generator, t: int) -> Untold:
    """Each prompt, and what is right, says one label more and more often, or less and less."""
    slopes = generator.uniform(-1, 1, (t + 1, 1))
    share = 0.5 + slopes * (PLACES - N / 2) / N
    *answers, gold = (generator.random((t + 1, N)) < share).astype(np.int64)
    return Untold(np.array(answers), gold)


def alternating(generator: np.random.Generator, t: int) -> Untold:
    """Labels take turns, but for some of them."""
    turns = (PLACES + generator.integers(0, 2, (t + 1, 1))) % 2
    *answers, gold = np.where(generator.random((t + 1, N)) < 0.15, 1 - turns, turns)
    return Untold(np.array(answers), gold)


def passages(size: int, follow: float) -> Draw:
    """Passages stand one after the other; answers, and what is right, are alike in most of them."""

    def draw(generator: np.random.Generator, t: int) -> Untold:
        own = generator.integers(0, 2, (t + 1, N))
        shared = generator.integers(0, 2, (t + 1, N))[:, PLACES // size]
        *answers, gold = np.where(generator.random((t + 1, N)) < follow, shared, own)
        return Untold(np.array(answers), gold)

    return draw


PASSAGES = {
    f"passages of {size}, {100 * follow:.0f} % follow": passages(size, follow)
    for size, follow in ((4, 1), (4, 0.7), (10, 0.7))
}
"""The same, of questions that share a passage."""


IN_ORDER: dict[str, Draw] = {
    "runs, .7": in_runs(0.7),
    "runs, .9": in_runs(0.9),
    "runs, .9, beside sorted gold": runs_beside_sorted,
    "one switch, beside sorted gold": one_switch,
    "drift": drifting,
    "alternate": alternating,
}
"""Right answers follow the order of the file, and so do answers."""


def texts(generator: np.random.Generator, groups: Labels) -> tuple[str, ...]:
    """Return a text of twelve words for each example; in a group, one of them differs."""
    words = generator.choice(WORDS, (N, 12))[groups]
    words[:, 0] = generator.choice(WORDS, N)
    return tuple(map(" ".join, words.tolist()))


def copied(size: int, share: float, *, told: bool, follow: float = 1.0) -> Draw:
    """Return groups of near-copies; answers, and what is right, are alike in most of them."""

    def draw(generator: np.random.Generator, t: int) -> Untold:
        groups = np.where(share * N > PLACES, PLACES // size, PLACES)
        groups = groups[generator.permutation(N)]
        own = generator.integers(0, 2, (t + 1, N))
        shared = generator.integers(0, 2, (t + 1, N))[:, groups]
        *answers, gold = np.where(generator.random((t + 1, N)) < follow, shared, own)
        return Untold(np.array(answers), gold, texts(generator, groups) if told else None)

    return draw


COPIES: dict[str, Draw] = {
    f"{100 * share:.0f} % in groups of {size}, {'texts' if told else 'answers alone'}": copied(
        size, share, told=told
    )
    for told in (True, False)
    for size, share in ((2, 0.2), (2, 0.6), (4, 0.4))
} | {"60 % in groups of 4, of which 80 % follow, texts": copied(4, 0.6, told=True, follow=0.8)}
"""Near-copies that nobody declares."""


def knowing(chance: float, gold: Callable[[np.random.Generator], Labels]) -> Draw:
    """Return prompts that are right with this probability, independently."""

    def draw(generator: np.random.Generator, t: int) -> Untold:
        right = gold(generator)
        knows = generator.random((t, N)) < chance
        return Untold(np.where(knows, right, 1 - right), right)

    return draw


def knowing_copies(generator: np.random.Generator, t: int) -> Untold:
    """Near-copies, on which each prompt is right by itself."""
    untold = copied(4, 0.4, told=True)(generator, t)
    knows = generator.random((t, N)) < 0.7
    return untold._replace(answers=np.where(knows, untold.gold, 1 - untold.gold))


KNOWING: dict[str, Draw] = {
    "know .7, sorted gold": knowing(0.7, lambda _: SORTED),
    "know .7, gold in runs, .9": knowing(0.7, lambda generator: markov(generator, 1, 0.9)[0]),
    "know .7, gold in no order": knowing(0.7, lambda generator: generator.permutation(SORTED)),
    "know .7, 40 % near-copies in groups of 4": knowing_copies,
}
"""Those who know, and must not be accused."""


def asked_of_pairs(*words: str) -> Draw:
    """Ask which of 15 things is larger, yes or no; each prompt has an order of its own."""

    def draw(generator: np.random.Generator, t: int) -> Untold:
        drawn = compare(generator, 15, N)
        return _yes_or_no(drawn, drawn.own(generator, t), words)

    return draw


def knowing_pairs(generator: np.random.Generator, t: int) -> Untold:
    """Each prompt is right on .8 of such questions."""
    drawn = compare(generator, 15, N)
    return _yes_or_no(drawn, right_on(0.8)(generator, drawn, t), ("larger",))


def _yes_or_no(drawn: Compared, said: Labels, words: tuple[str, ...]) -> Untold:
    asked = PLACES % len(words)
    answers, gold = ((each == drawn.offered[:, 0]) != (asked == 1) for each in (said, drawn.gold))
    inputs = tuple(
        f"Is {WORDS[one]} {words[by]} than {WORDS[other]}?"
        for by, (one, other) in zip(asked.tolist(), drawn.offered.tolist(), strict=True)
    )
    return Untold(answers.astype(np.int64), gold.astype(np.int64), inputs)


PAIRS: dict[str, Draw] = {
    "pairs of 15 things, yes or no": asked_of_pairs("larger"),
    "the same, half of them asked the opposite": asked_of_pairs("larger", "smaller"),
}
"""Things that are compared in the questions' texts."""
KNOWING["know .8 of pairs, yes or no"] = knowing_pairs

NEW = ("ordered_answers", "near_copies", "compared_things")


class Verdict(NamedTuple):
    """Whether the default claim passes without the red flags of dependence, and with them."""

    before: bool
    after: bool


def verdict(untold: Untold) -> Verdict:
    """Judge the default claim about two choices each by its p-value and these red flags.

    It takes a small part of the time of `whole_verdict`, whose answer is the same.
    """
    t, n = untold.answers.shape
    correct = untold.answers == untold.gold
    best = int(correct.sum(axis=1).argmax())
    if correct[best].sum() <= n * max_random(n, t):
        return Verdict(before=False, after=False)
    # With so many exceedances p is above the level, however many more were drawn.
    permutations = permutations_for(LEVEL)
    enough = round(LEVEL * (permutations + 1))
    test = max_t_test(
        untold.answers,
        untold.gold,
        np.full(n, 2),
        permutations=permutations,
        stop_after=enough,
    )
    if test.exceedances >= enough:
        return Verdict(before=False, after=False)
    passed = Result(
        t=t,
        levels={"permutation_p": LEVEL},
        holds=True,
        passed=True,
        standard_baseline=float(HALF),
        max_random_baseline=max_random(n, t),
        best=best,
        best_correct=int(correct[best].sum()),
        n=n,
        permutation_p=test.p_value,
    )
    judged = JudgedAnswers(read=_read(untold), t=t, chance=HALF, comparable=True, result=passed)
    found = any(not flag.mild for kind in NEW for flag in KINDS[kind].check(judged))
    return Verdict(before=True, after=not found)


@cache
def max_random(n: int, t: int) -> float:
    return MaxRandomBaseline(n=n, chance=HALF, t=t).expected_accuracy


def whole_verdict(untold: Untold) -> Verdict:
    """Judge it as a suite that claims nothing by name does, with all red flags."""
    t, n = untold.answers.shape
    read = _read(untold)
    null = alike(read, HALF, t)
    assert read.gold is not None
    shuffle = Shuffle(untold.answers, read.gold, [2] * n, [2] * n, None)
    view = View(read=read, t=t, chance=HALF, comparable=True, shuffles=[shuffle])
    result = assess(Claim.of(None), null, null.best, [view])
    failing = {flag.kind for flag in result.red_flags if flag.severity == "fail"}
    # What cannot be told is so however many other red flags fail it.
    cannot_tell = any(flag.parameters.get("case") == "untold" for flag in result.red_flags)
    told = not cannot_tell and failing.isdisjoint(NEW)
    return Verdict(bool(result.holds), bool(result.holds) and told)


def _read(untold: Untold) -> Answers:
    t, n = untold.answers.shape
    names = tuple(map(str, range(max(t, n))))
    known: dict[str, Any] = {} if untold.inputs is None else {"inputs": untold.inputs}
    return Answers(
        model="m",
        shots=0,
        prompts=names[:t],
        identities=names[:t],
        examples=names[:n],
        correct=untold.answers == untold.gold,
        evaluated=np.ones((t, n), dtype=np.bool_),
        answers=untold.answers,
        gold=tuple(frozenset([label]) for label in untold.gold.tolist()),
        labels=("no", "yes"),
        choices=(2,) * n,
        **known,
    )
