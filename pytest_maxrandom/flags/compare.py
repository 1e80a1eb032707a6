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
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, get_args

from pytest_maxrandom.record.claim import HeuristicName, Measure, Shortcuts
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.sweeps.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

    Values = Sequence[Fraction]

_ORDER: tuple[HeuristicName, ...] = get_args(HeuristicName)
"""In which heuristics are reported; of equally good ones the first counts."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Compared:
    """What the best prompt reaches, and what is reached without knowledge.

    Attributes
    ----------
    measure : {"accuracy", "balanced_accuracy"}
        What all of it is.
    best : Fraction
        The best prompt's.
    heuristics : dict of str to Fraction
        That of each heuristic, at least one.
    heuristic_p : float
        Of "the best prompt is above the hardest of them".
    choices_only, choices_only_p : Fraction, float
        The same with blank inputs; None where the prompt was not asked so.
    one_label : bool
        Whether it gives all of these the same label.
    """

    measure: Measure
    best: Fraction
    heuristics: Mapping[HeuristicName, Fraction]
    heuristic_p: float
    choices_only: Fraction | None = None
    choices_only_p: float | None = None
    one_label: bool = False

    @property
    def hardest(self) -> HeuristicName:
        """The heuristic that reaches most; the first of several."""
        return max(self.heuristics, key=self.heuristics.__getitem__)

    def record(self) -> Shortcuts:
        """Return the numbers as reports show them."""
        return Shortcuts(
            measure=self.measure,
            best=float(self.best),
            heuristic=self.hardest,
            heuristic_score=float(self.heuristics[self.hardest]),
            heuristic_p=self.heuristic_p,
            heuristics={name: float(score) for name, score in self.heuristics.items()},
            choices_only=None if self.choices_only is None else float(self.choices_only),
            choices_only_p=self.choices_only_p,
        )


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

    Parameters
    ----------
    shared : bool
        Whether labels are texts, because examples share their choices.
    by_class : bool
        Whether the claim's metric is about classes.
    """
    examples, listed = best.examples, best.prompt.format.layout.append_choices
    found = compare(
        _right(best),
        heuristics(examples, shared=shared, listed=listed),
        None if blank is None else _right(blank),
        classes=[example.choices[example.right[0]] for example in examples] if by_class else None,
        clusters=[(each.cluster, each.cluster or each.id) for each in examples],
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


def _right(answered: PromptPredictions) -> list[bool]:
    pairs = zip(answered.chosen, answered.examples, strict=True)
    return [choice in example.right for choice, example in pairs]


def compare(
    right: Sequence[bool],
    rules: Mapping[HeuristicName, Values],
    blank: Sequence[bool] | None = None,
    *,
    classes: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
) -> Compared:
    """Compare the best prompt with heuristics and with itself without inputs.

    Parameters
    ----------
    right : sequence of bool
        Whether it is right on each of its n examples.
    rules : dict of str to sequence of Fraction
        How probably each heuristic is.
    blank : sequence of bool, optional
        Whether it is right with blank inputs.
    classes : sequence, optional
        Class of each example, where the claim's metric is about classes. Scores are then balanced
        accuracies: macro-F1 is no mean over examples, and of accuracy is not what was chosen for.
    clusters : sequence, optional
        What examples that belong together have in common. Signs are flipped of whole clusters.
    """
    own = [Fraction(each) for each in right]
    weights = _weights(classes or [0] * len(own))
    units = range(len(own)) if clusters is None else clusters

    def score(values: Values) -> Fraction:
        pairs = zip(weights, values, strict=True)
        return sum((weight * value for weight, value in pairs), Fraction())

    def p_above(values: Values) -> float:
        sums: dict[Hashable, Fraction] = defaultdict(Fraction)
        for unit, weight, mine, other in zip(units, weights, own, values, strict=True):
            sums[unit] += weight * (mine - other)
        # No sign changes what is equal.
        differences = [float(value) for value in sums.values() if value]
        return sign_flip(differences).p_greater() if differences else 1.0

    scores = {name: score(values) for name, values in rules.items()}
    hardest = max(scores, key=scores.__getitem__)
    without = None if blank is None else [Fraction(each) for each in blank]
    return Compared(
        measure="accuracy" if classes is None else "balanced_accuracy",
        best=score(own),
        heuristics=scores,
        heuristic_p=p_above(rules[hardest]),
        choices_only=None if without is None else score(without),
        choices_only_p=None if without is None else p_above(without),
    )


def _weights(classes: Sequence[Hashable]) -> list[Fraction]:
    """Return what each example adds to the mean over classes of the share that is right."""
    sizes = Counter(classes)
    return [Fraction(1, len(sizes) * sizes[each]) for each in classes]


def heuristics(
    examples: Sequence[Example], *, shared: bool, listed: bool
) -> dict[HeuristicName, Values]:
    """Return how probably each rule is right on each example.

    Parameters
    ----------
    examples : sequence of Example
        At least one.
    shared : bool
        Whether labels are texts, because examples share their choices; else they are places.
    listed : bool
        Whether choices are shown in an order. Where they are not nobody sees a place, and rules
        about places are left out.
    """
    places = [_places(example) for example in examples]
    found: dict[HeuristicName, Values] = {
        "longest": _most(examples, [[*map(len, each.choices)] for each in examples]),
        "shortest": _most(examples, [[-len(text) for text in each.choices] for each in examples]),
        "most_shared_words": _most(examples, map(_shared_words, examples)),
    }
    if listed:
        found["first"] = _most(examples, [[-place for place in each] for each in places])
        found["last"] = _most(examples, places)
    if shared or listed:
        labels = [each.choices for each in examples] if shared else places
        # Whether or not an example has the label.
        gold = [
            {own[index] for index in each.right} for own, each in zip(labels, examples, strict=True)
        ]
        times = Counter(right for rights in gold for right in rights)
        most = {name for name, count in times.items() if count == max(times.values())}
        found["most_frequent"] = tuple(_share(len(most & rights), len(most)) for rights in gold)
    return {name: found[name] for name in _ORDER if name in found}


def _most(examples: Sequence[Example], numbers: Iterable[Sequence[int]]) -> Values:
    """Take the choice with the highest number; of several each as often."""
    found = []
    for example, of_choices in zip(examples, numbers, strict=True):
        most = max(of_choices)
        right = sum(of_choices[index] == most for index in example.right)
        found.append(_share(right, of_choices.count(most)))
    return tuple(found)


@cache
def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole)


def _places(example: Example) -> list[int]:
    """Return at which place each choice is shown."""
    order = shown_order(example)
    return [order.index(index) for index in range(len(order))]


def _shared_words(example: Example) -> list[int]:
    """Count the different words of each choice that stand in the question, whatever their case."""
    asked = {*_WORD.findall(example.text.casefold())}
    return [len(asked.intersection(_WORD.findall(text.casefold()))) for text in example.choices]
