"""The best prompt compared with what needs no knowledge: is it right more often than that?

Heuristics are fixed rules: the longest choice, the most frequent label, and so on.
Questions and choices that people write have such traces (Gururangan et al. 2018, arXiv 1803.02324;
Poliak et al. 2018, arXiv 1805.01042). A rule that leaves several choices of an example guesses one
of them, and its expected result counts, as an exact fraction.

Scores are sums over the examples in exact fractions, so that "not above" is no matter of rounding.
Whether more is more than chance is a paired matter: the signs of the examples' differences are
flipped (`pytest_maxrandom.stats.differences`), one-sided.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from math import comb, lcm
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_maxrandom.flags.kind import Compared
from pytest_maxrandom.sweeps.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from pytest_maxrandom.record import HeuristicName
    from pytest_maxrandom.record.claim import Measure
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

    Values = Sequence[Fraction]

_WORD = re.compile(r"\w+")


def _places(example: Example) -> list[int]:
    """Return at which place each choice is shown."""
    order = shown_order(example)
    return [order.index(index) for index in range(len(order))]


def _shared_words(example: Example) -> list[int]:
    """Count the different words of each choice that stand in the question, whatever their case."""
    asked = {*_WORD.findall(example.text.casefold())}
    return [len(asked.intersection(_WORD.findall(text.casefold()))) for text in example.choices]


class Heuristic(NamedTuple):
    """A fixed rule that takes a choice."""

    words: str
    """Which one it takes."""
    about: Literal["labels", "texts", "places", "references", "questions"]
    """What it looks at; without choices that is references, or what stands in the question."""
    rule: Callable[[Example], Sequence[int]] | None = None
    """Returns a number for each choice of an example, of which the highest is taken; None where
    the label is taken that is right most often, and where there are no choices
    (`pytest_maxrandom.claims.open_answers`)."""

    def description(self, order: str = "as shown") -> str:
        """Say which choice it takes, of those that are ordered so."""
        return f"{self.words} {order}" if self.about == "places" else self.words


HEURISTICS: Mapping[HeuristicName, Heuristic] = {
    "most_frequent": Heuristic("the most frequent label", "labels"),
    "longest": Heuristic(
        "the longest choice", "texts", lambda example: [*map(len, example.choices)]
    ),
    "shortest": Heuristic(
        "the shortest choice", "texts", lambda example: [-len(text) for text in example.choices]
    ),
    "first": Heuristic(
        "the first choice", "places", lambda example: [-place for place in _places(example)]
    ),
    "last": Heuristic("the last choice", "places", _places),
    "most_shared_words": Heuristic(
        "the choice with most words of the question", "texts", _shared_words
    ),
    "commonest": Heuristic("the commonest reference of each kind", "references"),
    "offered": Heuristic("one of the answers that the question offers", "questions"),
    "first_number": Heuristic("the first number of the question", "questions"),
    "last_number": Heuristic("the last number of the question", "questions"),
    "first_name": Heuristic("the first name in the question", "questions"),
    "last_name": Heuristic("the last name in the question", "questions"),
}
"""In the order in which they are reported; of equally good ones the first counts."""
OF_OPEN = tuple(
    name for name, each in HEURISTICS.items() if each.about in ("references", "questions")
)
"""Those of tasks without choices: the controls."""


def blanked(examples: Sequence[Example]) -> list[Example]:
    """Return the examples without their questions: what is right then is right by the choices.

    Demonstrations, instruction, the words around question and answer, the choices and their order
    stay.
    """
    return [replace(example, input="") for example in examples]


def beside_shortcuts(
    best: PromptPredictions,
    blank: PromptPredictions | None = None,
    *,
    shared: bool,
    by_class: bool,
) -> Compared:
    """Compare a sweep's best prompt with heuristics, and with itself when inputs are blank.

    `shared` says whether labels are texts, because examples share their choices, and `by_class`
    whether the claim's metric is about classes.
    """
    examples, listed = best.examples, best.prompt.format.layout.append_choices
    how = best.aggregate
    if how is not None and how.how == "pass":
        rules = _rules_of_pass(best, how, shared=shared, listed=listed)
    else:
        rules = _rules_of(examples, shared=shared, listed=listed, by_class=by_class)
    found = _compared(
        exact(best.scores, how),
        rules,
        None if blank is None else exact(blank.scores, how),
        [(each.cluster, each.cluster or each.id) for each in examples],
        "balanced_accuracy" if by_class else _measure(how),
    )
    return found if blank is None else replace(found, one_label=_one_label(blank, shared, listed))


def _one_label(answered: PromptPredictions, shared: bool, listed: bool) -> bool:
    """Tell whether all answers are the same text, or the same place of what is shown."""
    pairs = [*zip(answered.examples, answered.chosen, strict=True)]
    texts = {None if choice is None else example.choices[choice] for example, choice in pairs}
    places = {
        None if choice is None else shown_order(example).index(choice) for example, choice in pairs
    }
    return (shared and len(texts) == 1) or (listed and len(places) == 1)


def exact(scores: Sequence[float], aggregate: Aggregate | None) -> list[Fraction]:
    """Return scores of examples as the fractions that they are, of right answers or of samples."""
    unit = 1 if aggregate is None else aggregate.unit
    return [_share(round(score * unit), unit) for score in scores]


def _measure(aggregate: Aggregate | None) -> Measure:
    return "pass" if aggregate is not None and aggregate.how == "pass" else "accuracy"


def compare(
    scores: Sequence[Fraction | bool],
    rules: Mapping[HeuristicName, Values],
    blank: Sequence[bool] | None = None,
    *,
    classes: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    aggregate: Aggregate | None = None,
) -> Compared:
    """Compare the best prompt with heuristics and with itself without inputs.

    Parameters
    ----------
    scores : sequence of Fraction or bool
        Whether it is right on each of its n examples, or what its samples come to, from 0 to 1.
    rules : dict of str to sequence of Fraction
        How probably each heuristic is.
    blank : sequence of bool, optional
        Whether it is right with blank inputs.
    classes : sequence, optional
        Class of each example, where the claim's metric is about classes. Scores are then balanced
        accuracies: macro-F1 is no mean over examples, and of accuracy is not what was chosen for.
    clusters : sequence, optional
        What examples that belong together have in common. Signs are flipped of whole clusters.
    aggregate : Aggregate, optional
        What samples come to, in these scores.
    """
    return _compared(
        scores,
        _Rules.of(rules, classes or [0] * len(scores)),
        blank,
        range(len(scores)) if clusters is None else clusters,
        _measure(aggregate) if classes is None else "balanced_accuracy",
    )


class _Rules(NamedTuple):
    """What heuristics reach, in whole parts of a score of 1: exact, and faster than fractions."""

    whole: int
    """Parts of a score of 1."""
    weights: Sequence[int]
    """Those of each example."""
    values: Mapping[HeuristicName, Sequence[int]]
    """Per rule what it gets of these."""
    scores: Mapping[HeuristicName, Fraction]
    hardest: HeuristicName
    """The one that reaches most; the first of several."""

    @classmethod
    def of(cls, rules: Mapping[HeuristicName, Values], classes: Sequence[Hashable]) -> _Rules:
        """Return what rules reach in the mean over classes of their right share."""
        sizes = Counter(classes)
        parts = lcm(*sizes.values(), *(own.denominator for each in rules.values() for own in each))
        whole = len(sizes) * parts**2
        weights = [whole // (len(sizes) * sizes[each]) for each in classes]
        values = {
            name: [
                weight * own.numerator // own.denominator
                for weight, own in zip(weights, each, strict=True)
            ]
            for name, each in rules.items()
        }
        scores = {name: Fraction(sum(each), whole) for name, each in values.items()}
        return cls(whole, weights, values, scores, max(scores, key=scores.__getitem__))

    def reached(self, scores: Sequence[Fraction | bool]) -> list[Fraction | int]:
        """Return what one who has these scores gets of each example."""
        return [weight * own for weight, own in zip(self.weights, scores, strict=True)]


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _rules_of(
    examples: tuple[Example, ...], *, shared: bool, listed: bool, by_class: bool
) -> _Rules:
    classes = [each.choices[each.right[0]] if by_class else "" for each in examples]
    return _Rules.of(heuristics(examples, shared=shared, listed=listed), classes)


def _rules_of_pass(
    best: PromptPredictions, aggregate: Aggregate, *, shared: bool, listed: bool
) -> _Rules:
    """Return what rules reach that give as many different answers as a prompt."""
    import numpy as np

    from pytest_maxrandom.stats.sample_chance import earned_in_turn
    from pytest_maxrandom.stats.samples import UNREAD, profiles

    rows = [[UNREAD if c is None else c for c in each.chosen] for each in best.samples]
    [spread] = profiles(np.array(rows, dtype=np.int64).T[np.newaxis])
    turns = heuristics_in_turn(best.examples, shared=shared, listed=listed, most=aggregate.samples)
    earned = {name: earned_in_turn(own, aggregate, spread) for name, own in turns.items()}
    return _Rules.of(earned, [""] * len(best.examples))


def _compared(
    scores: Sequence[Fraction | bool],
    rules: _Rules,
    blank: Sequence[Fraction | bool] | None,
    clusters: Sequence[Hashable],
    measure: Measure,
) -> Compared:
    # Reports read the words of heuristics without NumPy.
    from pytest_maxrandom.stats.differences import sign_flip

    own = rules.reached(scores)
    without = None if blank is None else rules.reached(blank)

    def p_above(values: Sequence[Fraction | int]) -> float:
        sums: dict[Hashable, Fraction | int] = defaultdict(int)
        for unit, mine, other in zip(clusters, own, values, strict=True):
            sums[unit] += mine - other
        # No sign changes what is equal.
        differences = [float(value / rules.whole) for value in sums.values() if value]
        return sign_flip(differences).p_greater() if differences else 1.0

    return Compared(
        measure=measure,
        best=Fraction(sum(own), rules.whole),
        heuristics=rules.scores,
        heuristic_p=p_above(rules.values[rules.hardest]),
        choices_only=None if without is None else Fraction(sum(without), rules.whole),
        choices_only_p=None if without is None else p_above(without),
    )


def heuristics(
    examples: Sequence[Example], *, shared: bool, listed: bool
) -> dict[HeuristicName, Values]:
    """Return how probably each rule is right on each example.

    The arguments are as of `heuristics_in_turn`.
    """
    turns = heuristics_in_turn(examples, shared=shared, listed=listed)
    return {name: tuple(own[0] for own in each) for name, each in turns.items()}


def heuristics_in_turn(
    examples: Sequence[Example], *, shared: bool, listed: bool, most: int = 1
) -> dict[HeuristicName, Sequence[Values]]:
    """Return how probably each answer of a rule is right that gives several to each example.

    The longest choice, then the next one, and so on; of several right ones the first counts.

    Parameters
    ----------
    examples : sequence of Example
        At least one.
    shared : bool
        Whether labels are texts, because examples share their choices; else they are places.
    listed : bool
        Whether choices are shown in an order. Where they are not nobody sees a place, and rules
        about places are left out.
    most : int
        Answers to each example at most.
    """
    turns: dict[HeuristicName, Sequence[Values]] = {}
    for name, heuristic in HEURISTICS.items():
        if name in OF_OPEN:
            continue
        if heuristic.rule is None:
            if shared or listed:
                turns[name] = _most_frequent(examples, shared=shared, most=most)
        elif heuristic.about == "texts" or listed:
            numbers = map(heuristic.rule, examples)
            turns[name] = [
                _turns(own, [own[index] for index in each.right], most)
                for own, each in zip(numbers, examples, strict=True)
            ]
    return turns


def _most_frequent(examples: Sequence[Example], *, shared: bool, most: int) -> Sequence[Values]:
    """Take the labels that are right most often, whether or not an example has them."""
    labels = [each.choices if shared else _places(each) for each in examples]
    gold = [
        {own[index] for index in each.right} for own, each in zip(labels, examples, strict=True)
    ]
    times = Counter(right for rights in gold for right in rights)
    return [_turns([*times.values()], [times[right] for right in rights], most) for rights in gold]


def _turns(numbers: Sequence[int], right: Sequence[int], most: int) -> Values:
    """Take what has the highest number, then the next; of several one by lot.

    Return how probably the first right one is taken first, second and so on, `most` times at most.
    """
    chances: list[Fraction] = []
    tied, right_ones = Counter(numbers), Counter(right)
    for number in sorted(tied, reverse=True):
        size, rights = tied[number], right_ones[number]
        for before in range(min(size, most - len(chances))):
            later = comb(size - before - 1, rights - 1) if rights else 0
            chances.append(_share(later, comb(size, rights)))
        if rights or len(chances) == most:
            break
    return chances


@cache
def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole)
