"""Which right answers can be shuffled among which examples, and the max-T test of a claim by that.

Of a sweep `pytest_maxrandom.sweeps.labels` tells that, of recorded results that list their choices
`pytest_maxrandom.claims.listed`, and of others `pytest_maxrandom.claims.strata`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.flags.things import things_of
from pytest_maxrandom.record import Remark
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.stats.clustered import cluster_test
from pytest_maxrandom.stats.exchanges import Exchange
from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels
from pytest_maxrandom.stats.learnt import LearntChance, learnt_chance, mean_accuracies, mean_credits
from pytest_maxrandom.stats.metrics import LIFT
from pytest_maxrandom.stats.orders import OrderTest, order_test
from pytest_maxrandom.stats.permutation import (
    STOP_AFTER,
    max_t_of_all,
    max_t_of_credits,
    max_t_test,
    of_all,
    permutations_for,
)
from pytest_maxrandom.sweeps.predictions import PromptPredictions, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.sweeps.labels import Labels

_CELLS = 2**20
"""Numbers of samples, by example and label, that are counted at once."""


class Shuffle(NamedTuple):
    """Answers of distinct prompts, and which right answers can be exchanged.

    The fields are as `pytest_maxrandom.stats.permutation.max_t_test` takes them.
    """

    answers: ArrayLike
    gold: Gold
    choices: ArrayLike | None
    strata: Sequence[int] | NDArray[np.int64]
    groups: Sequence[str] | None
    offered: Sequence[Sequence[int]] | None = None
    """As `pytest_maxrandom.stats.orders.order_test` takes it, where labels are things that examples
    compare; else None."""
    is_open: bool = False
    """Whether right answers are references of examples without choices."""
    aggregate: Aggregate | None = None
    """What the samples come to, where each row is one: those of a prompt stand together."""

    @classmethod
    def of(cls, predictions: Sequence[PromptPredictions], labels: Labels) -> Shuffle:
        """Return how the right answers of a sweep can be shuffled."""
        said = labelled(predictions, labels)
        if labels.things:
            return cls(said, labels.gold, None, labels.strata, None, labels.codes)
        choices = labels.choices
        if any(each.unread for each in predictions):
            choices = (1 + max(choices),) * len(choices)  # what is no choice is a label as well
        return cls(said, labels.gold, choices, labels.strata, labels.groups)

    @classmethod
    def of_open(cls, answers: Answers) -> Shuffle:
        """Return how the references of open answers can be shuffled, samples kept together."""
        how = answers.aggregate if answers.aggregate and answers.aggregate.how != "vote" else None
        own = answers if how is None else answers.sampled
        assert own is not None
        assert own.open is not None
        said, gold, strata = own.open[:3]
        return cls(said, gold, None, strata, answers.groups, is_open=True, aggregate=how)

    def in_order(self, ids: Sequence[str]) -> Shuffle:
        """Return it with the examples in the order of their ids, where prompts leave some out.

        Files list examples as prompts meet them, so that those which the first leaves out come
        last: without an order of their own, other permutations would be drawn than in the run.
        """
        answers = np.asarray(self.answers)
        if not (answers == NOT_EVALUATED).any():
            return self
        order = sorted(range(len(ids)), key=lambda place: _natural(ids[place]))
        return Shuffle(
            answers[:, order],
            [self.gold[place] for place in order],
            None if self.choices is None else np.asarray(self.choices)[order],
            np.asarray(self.strata)[order],
            None if self.groups is None else [self.groups[place] for place in order],
            None if self.offered is None else [self.offered[place] for place in order],
            self.is_open,
            self.aggregate,
        )

    @property
    def exchange(self) -> Exchange:
        """How right answers can be exchanged."""
        return Exchange(self.gold, self.strata, self.groups, self.offered)

    @property
    def arrangements(self) -> int:
        """In how many ways right answers can be shuffled."""
        return self.exchange.arrangements


def _natural(name: str) -> list[str | int]:
    """Sort the numbers in names by their values."""
    parts = re.split("([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


class Permuted(NamedTuple):
    """The max-T test of a claim."""

    p: float
    """Of the best of all t prompts."""
    bound: float | None
    """What the best score must exceed, the other answers as they are, for a p-value of at most the
    level; infinity where none can. None where the test compares something else than the score, or
    too few draws tell that no score is enough."""
    notes: list[Remark]
    """What a reader must know of it."""
    learnt: LearntChance | None = None
    """What the best of t prompts reaches with shuffled right answers, of open answers."""


def permuted(
    shuffle: Shuffle, t: int, *, level: float = DEFAULT_LEVEL, metric: Metric = "accuracy"
) -> Permuted:
    """Test the best of t prompts by shuffling the right answers.

    Parameters
    ----------
    t : int
        All prompts, of which those at hand may be a part.
    level : float
        The smallest level that a p-value of the claim is compared with.
    metric : str
        What the best prompt is best in. Where prompts leave out their own demonstrations, accuracy
        counts beyond what the same answers are expected to reach on the examples that are left.
    """
    codes, by = np.asarray(shuffle.answers), shuffle.exchange.by
    k = 1 if shuffle.aggregate is None else shuffle.aggregate.samples
    n, others, notes = codes.shape[1], t - len(codes) // k, list[Remark]()
    if shuffle.aggregate is not None:
        kinds, earned = earned_of(shuffle, shuffle.aggregate)
        several = partial(
            max_t_of_credits,
            kinds=kinds,
            unit=shuffle.aggregate.unit,
            strata=shuffle.strata,
            groups=shuffle.groups,
        )
        p, whole, bound = of_all(several, earned, t, level)
        notes += _fixed(whole.fixed, n, shuffle)
    elif by == "orders":
        p, ordered, _ = of_all(partial(_order_test, shuffle), codes, t, level)
        bound = None
        if p > level:
            values = {"things": ordered.things, "compared": ordered.compared, "examples": n}
            notes.append(Remark("orders_exchanged", values))
    elif by == "clusters":
        tested = partial(
            cluster_test,
            gold=shuffle.gold,
            clusters=shuffle.groups or (),
            choices=shuffle.choices,
            strata=shuffle.strata,
        )
        p, clustered, _ = of_all(tested, codes, t, level)
        bound = None
        ways = clustered.ways
        values = {"clusters": ways.clusters, "examples": n, "fixed": ways.fixed}
        notes.append(Remark("clusters_exchanged", values))
    else:
        left_out = metric == "accuracy" and bool((codes == NOT_EVALUATED).any())
        p, test, bound_of_all = max_t_of_all(
            codes,
            shuffle.gold,
            shuffle.choices,
            t,
            level=level,
            statistic=LIFT if left_out else METRICS[metric].statistic,
            strata=shuffle.strata,
            groups=shuffle.groups,
        )
        bound = None if left_out else bound_of_all
        notes += _fixed(test.fixed, n, shuffle)
    if others > 0:
        notes.append(Remark("tries_without_answers", {"prompts": others}))
    return Permuted(p, bound, notes)


def permuted_open(shuffle: Shuffle, t: int, *, level: float = DEFAULT_LEVEL) -> Permuted:
    """Test the best of t prompts with open answers, and learn what guessers reach."""
    found = permuted(shuffle, t, level=level)
    return found._replace(learnt=learnt_by(shuffle, t, level=level))


def learnt_by(shuffle: Shuffle, t: int, *, level: float = DEFAULT_LEVEL) -> LearntChance:
    """Learn what guessers of open answers reach.

    Where clusters are of unequal size, or too few for a p-value at the level, references are
    exchanged one by one.
    """
    exchange = shuffle.exchange
    alone = exchange.by == "clusters" or exchange.few_clusters(level) is not None
    groups = None if alone else shuffle.groups
    strata: ArrayLike = shuffle.strata
    if (how := shuffle.aggregate) is None:
        codes = np.asarray(shuffle.answers)
        test_of = partial(max_t_test, gold=shuffle.gold)
        means = mean_accuracies(codes, shuffle.gold, strata=strata, groups=groups)
    else:
        kinds, codes = earned_of(shuffle, how)
        test_of = partial(max_t_of_credits, kinds=kinds, unit=how.unit)
        means = mean_credits(codes, kinds, how.unit, strata=strata, groups=groups)
    others = max(0, t - len(codes))
    exchanged = partial(
        test_of,
        strata=strata,
        groups=groups,
        permutations=permutations_for(level),
        stop_after=STOP_AFTER,
    )
    test = exchanged(codes)
    best_alone = exchanged(codes[[test.best_prompt]]) if others else None
    return learnt_chance(means, test, best_alone, others)


def _fixed(fixed: int, n: int, shuffle: Shuffle) -> Iterator[Remark]:
    """Say that right answers never move, where some do not."""
    if fixed:
        kind = "fixed_answers_of_clusters" if shuffle.groups else "fixed_answers"
        kind = "fixed_references" if shuffle.is_open else kind
        yield Remark(kind, {"examples": n, "fixed": int(fixed)})


def earned_of(
    shuffle: Shuffle, aggregate: Aggregate
) -> tuple[NDArray[np.int64], NDArray[np.integer[Any]]]:
    """Return which right answer each example has, and what samples score with any of them."""
    codes, gold = np.asarray(shuffle.answers), right_labels(shuffle.gold)
    distinct = {own: place for place, own in enumerate(dict.fromkeys(gold))}
    kinds = np.array([distinct[own] for own in gold])
    k, n = aggregate.samples, codes.shape[1]
    labels = 1 + max(int(codes.max()), *map(max, gold))
    small = np.int32 if aggregate.unit < 2**31 else np.int64
    earned = np.empty((len(codes) // k, n, len(distinct)), dtype=small)
    # Few prompts at a time: of many labels most are not said.
    for rows in _batches(len(earned), n * labels):
        own = codes[rows.start * k : rows.stop * k].reshape(len(rows), k, n)
        cells = (np.arange(len(rows))[:, None, None] * n + np.arange(n)) * labels + own
        counts = np.bincount(cells.ravel(), minlength=len(rows) * n * labels)
        counts = counts.reshape(len(rows), n, labels)
        for place, right in enumerate(distinct):
            scored = aggregate.credits(counts[..., [*right]].sum(axis=2))
            earned[rows.start : rows.stop, :, place] = scored
    return kinds, earned


def _batches(count: int, cells: int) -> Iterator[range]:
    """Yield so many rows in order, in ranges of few cells; each has at least one row."""
    size = max(1, _CELLS // cells)
    return (range(first, min(first + size, count)) for first in range(0, count, size))


def _order_test(
    shuffle: Shuffle, predictions: NDArray[np.int64], permutations: int, stop_after: int
) -> OrderTest:
    assert shuffle.offered is not None
    test = order_test(
        predictions,
        shuffle.gold,
        shuffle.offered,
        permutations=permutations,
        stop_after=stop_after,
    )
    assert test is not None, "what is compared was found before"
    return test


class NoPermutations(ValueError):
    """Why a permutation test means nothing, in one clause."""


def refuse_untold(results: Answers) -> None:
    """Refuse results that do not say which answers were given, or which are right.

    Raises
    ------
    NoPermutations
        Naming what is missing: nothing can be shuffled then.
    """
    told = {"which answers were given": results.answers, "which are right": results.gold}
    if missing := [what for what, known in told.items() if known is None]:
        raise NoPermutations(f"the results do not say {' and '.join(missing)}")


def beside_orders(
    shuffles: list[Shuffle] | NoPermutations, results: Answers
) -> list[Shuffle] | NoPermutations:
    """Return how right answers can be shuffled, with other orders of the things they compare.

    These take the place of others where right answers could not change, or are not known to.
    """
    things = things_of(results)
    if things is None or things.answers is None:
        return shuffles
    strata = [0] * len(things.offered)
    orders = Shuffle(things.answers, things.gold, None, strata, None, things.offered)
    if isinstance(shuffles, NoPermutations):
        return [orders] if results.clusters is None else shuffles
    return [*(each for each in shuffles if each.arrangements > 1), orders]
