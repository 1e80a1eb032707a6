"""The best prompt on the test set: what it reaches there, and what that may be called.

One prompt is tried there, so the baseline is that of one guesser. But a constant answer beats that
where the right answers are unbalanced, so they are shuffled as well, and the larger p-value counts.
One test set may be opened for many (model, prompt) pairs, so p is multiplied by their number: in
each run the claims that it confirms are right together.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.notation import count, equals, level, p_value
from pytest_maxrandom.prompts.formats import shown_order
from pytest_maxrandom.record import HeldOut
from pytest_maxrandom.stats.intervals import wilson
from pytest_maxrandom.stats.majority import majority_answer
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import STOP_AFTER, max_t_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.predictions import PromptPredictions
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.tasks.task import Example

_FEWEST, _MOST = 9_999, 999_999
"""Permutations; between them 20 for each time that the level goes into 1."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class _View:
    """What "the same answer" may mean.

    Attributes
    ----------
    codes : list of list of int
        Per example and choice its label.
    gold : list of set of int
        Per example the labels of its right choices.
    strata : list of int
        Per example the number of those that right answers are shuffled among.
    """

    codes: list[list[int]]
    gold: list[set[int]]
    strata: list[int]

    @property
    def least_p(self) -> float:
        """One over the number of ways in which the right answers can be shuffled."""
        sizes: dict[int, Counter[frozenset[int]]] = {}
        for stratum, right in zip(self.strata, self.gold, strict=True):
            sizes.setdefault(stratum, Counter())[frozenset(right)] += 1
        return math.exp(
            -sum(
                math.lgamma(of_one.total() + 1)
                - sum(math.lgamma(times + 1) for times in of_one.values())
                for of_one in sizes.values()
            )
        )


def held_out(
    predictions: PromptPredictions,
    *,
    openings: int,
    claims: int = 1,
    seen: int = 0,
    test_p: float | None = None,
) -> HeldOut:
    """Compare the best prompt's answers to the test set with guessers and with shuffled answers.

    Parameters
    ----------
    openings : int
        (model, prompt) pairs for which the test set was ever opened, this one included.
    claims : int
        Claims of the run that open the same test set if they pass. Where they are more, they count
        in place of the openings, so that p does not depend on which is tested first.
    seen : int
        Examples that stand in a validation set.
    test_p : float, optional
        What is claimed of p, which says how many permutations are needed.
    """
    examples, correct = predictions.examples, predictions.correct
    null = MaxRandomBaseline(len(examples), [example.chance for example in examples], t=1)
    low, high = wilson(correct, len(examples))
    p_standard = null.p_value(correct)
    tests = max(openings, claims)
    needed = math.ceil(20 * tests / test_p) if test_p else 0
    permuted = max(
        _permuted(view, predictions.chosen, min(max(needed, _FEWEST), _MOST))
        for view in _views(examples)
    )
    return HeldOut(
        n=len(examples),
        correct=correct,
        accuracy=correct / len(examples),
        low=low,
        high=high,
        standard_baseline=null.standard_baseline,
        p_standard=p_standard,
        majority_rate=_majority(predictions),
        permutation_p=permuted,
        p=min(1.0, tests * max(p_standard, permuted)),
        tests=tests,
        openings=openings,
        seen=seen,
    )


def unpassable(examples: Sequence[Example], test_p: float) -> str:
    """Say why no answers to a test set can have so small a p; empty where some can."""
    null = MaxRandomBaseline(len(examples), [example.chance for example in examples], t=1)
    least = max(null.p_value(len(examples)), *(view.least_p for view in _views(examples)))
    if least <= test_p * (1 + _ROUNDING):
        return ""
    return (
        f"even if all {count(len(examples))} answers on the test set are right, p is at least "
        f"{p_value(least)} there, and test_p is {level(test_p)}; set more examples aside (`test`), "
        "with different right answers"
    )


def hold_to(record: ClaimRecord, test_p: float, closed: str) -> None:
    """Let a claim fail whose test set does not confirm it.

    Parameters
    ----------
    closed : str
        Why the test set was not opened, if it was not.
    """
    if record.test is None:
        record.holds, record.passed = None, False
        record.message = f"test_p {level(test_p)} could not be tested, because {closed}"
    elif record.test.p is not None and record.test.p > test_p * (1 + _ROUNDING):
        record.holds, record.passed = False, False
        record.message = _missed(record.test, test_p)


def _missed(test: HeldOut, test_p: float) -> str:
    constant = ""
    if test.majority_rate is not None:
        constant = f" (always the same answer: {count(round(test.majority_rate * test.n))})"
    opened = f", times {count(test.tests)} openings," if (test.tests or 1) > 1 else ""
    return (
        f"{count(test.correct)} of {count(test.n)} correct on the test set{constant}: "
        f"p {equals(p_value(test.p, level=test_p))}{opened} is above {level(test_p)}"
    )


def _views(examples: Sequence[Example]) -> Iterator[_View]:
    """Yield labels as places as they are shown; and as texts, where examples share their choices.

    Right answers are shuffled among examples with as many choices; texts among examples with the
    same ones. Examples that share theirs with no other have nothing but places.
    """
    places = [[list(shown_order(e)).index(i) for i in range(len(e.choices))] for e in examples]
    sizes = [len(example.choices) for example in examples]
    yield _view(examples, places, sizes)
    offered = [tuple(sorted(example.choices)) for example in examples]
    shared = {each: -number for number, each in enumerate(_repeated(offered), 1)}
    if shared:
        texts = [
            [sorted(example.choices).index(text) for text in example.choices]
            if each in shared
            else of_example
            for example, each, of_example in zip(examples, offered, places, strict=True)
        ]
        yield _view(
            examples,
            texts,
            [shared.get(each, size) for each, size in zip(offered, sizes, strict=True)],
        )


def _view(examples: Sequence[Example], codes: list[list[int]], strata: list[int]) -> _View:
    gold = [{of[i] for i in e.right} for e, of in zip(examples, codes, strict=True)]
    return _View(codes, gold, strata)


def _repeated(values: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [value for value, times in Counter(values).items() if times > 1]


def _permuted(view: _View, chosen: Sequence[int], permutations: int) -> float:
    said = [codes[choice] for codes, choice in zip(view.codes, chosen, strict=True)]
    return max_t_test(
        np.array([said]),
        view.gold,
        list(map(len, view.codes)),
        strata=view.strata,
        permutations=permutations,
        stop_after=STOP_AFTER,
    ).p_value


def _majority(predictions: PromptPredictions) -> float | None:
    """Return the accuracy of the best constant answer; None where no two examples share one."""
    examples, form = predictions.examples, predictions.prompt.format
    rates = []
    texts = Counter(text for example in examples for text in set(example.choices))
    if max(texts.values()) > 1:
        rates.append(majority_answer({e.choices[i] for i in e.right} for e in examples).rate)
    if form.labels != "text" or form.layout.append_choices:
        places = ({shown_order(e).index(i) for i in e.right} for e in examples)
        rates.append(majority_answer(places).rate)
    return max(rates, default=None)
