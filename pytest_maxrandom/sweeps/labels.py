"""Choices as labels: what "the same answer" means across examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from pytest_maxrandom.stats.clusters import named_clusters
from pytest_maxrandom.stats.compared import ordered, settled
from pytest_maxrandom.stats.exchanges import Exchange
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.sweeps.lettered import with_listed_texts
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.sweeps.recurring import recurring
from pytest_maxrandom.tasks.task import Example, share_choices

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet

T = TypeVar("T")

_MANY = 20
"""Examples from which on the label that is most often right is hardly so by accident."""


class Named(NamedTuple):
    """What labels are called."""

    names: tuple[str, ...]
    numbers: NDArray[np.int64]
    """By example and label the place of its name, shape (n, most choices + 2). The last two columns
    are of answers in which no choice could be read, and of what was not evaluated."""
    gold: tuple[frozenset[int], ...]
    """Per example the right ones."""


@dataclass(frozen=True)
class Labels:
    """The label of every choice of every example.

    Where all examples with m choices offer the same m texts (Yes/No, positive/negative), a label is
    a text. Else it is the place at which the choice is shown: texts that differ from example to
    example have nothing else in common, and the order of the file may tell the answer.
    """

    examples: tuple[Example, ...]
    """The validation set."""
    codes: tuple[tuple[int, ...], ...]
    """Per example and choice (in the order of the file): its label, 0 ... m - 1."""
    shared: bool
    """Whether labels are texts that all examples share."""
    strata: tuple[int, ...]
    """Per example a number: labels mean the same in examples with the same one, which can exchange
    their right answers."""
    things: bool = False
    """Whether labels are numbers of things that examples compare, the same wherever one recurs."""

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """Number of choices of each example, shape (n,)."""
        return tuple(map(len, self.codes))

    @cached_property
    def gold(self) -> tuple[frozenset[int], ...]:
        """Labels of the right choices of each example, shape (n,)."""
        return tuple(
            frozenset(codes[index] for index in example.right)
            for example, codes in zip(self.examples, self.codes, strict=True)
        )

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """The same as `codes`, shape (n, most choices + 1).

        The last column is one beyond all labels: of answers in which no choice could be read.
        """
        most, beyond = max(self.choices), 1 + max(map(max, self.codes))
        rows = [[*codes, *[beyond] * (most + 1 - len(codes))] for codes in self.codes]
        return np.array(rows, dtype=np.int64)

    @cached_property
    def named(self) -> Named | None:
        """What labels are called where that is not the same as what they are; None where it is."""
        if self.shared:
            return self._by_name()
        return self._by_usual() if any(stratum < 0 for stratum in self.strata) else None

    def _by_name(self) -> Named:
        """Give shared texts the same numbers, also where some examples have fewer of them."""
        names = tuple(sorted({text for example in self.examples for text in example.choices}))
        places = {name: place for place, name in enumerate(names)}
        number = self._numbers(len(names))
        gold = []
        for row, (example, codes) in enumerate(zip(self.examples, self.codes, strict=True)):
            for code, text in zip(codes, example.choices, strict=True):
                number[row, code] = places[text]
            gold.append(frozenset(places[example.choices[index]] for index in example.right))
        return Named(names, number, tuple(gold))

    def _by_usual(self) -> Named:
        """Give the text that is most often right among the same choices number 0 everywhere."""
        others = (f"choice {place}" for place in range(1, max(self.choices) + 1))
        names = ("the usual right answer among texts that recur", *others)
        table = self._numbers(len(names))
        table[:, : len(names) - 1] = range(1, len(names))
        for row, usual in zip(table, self.usual, strict=True):
            if usual is not None:
                row[usual] = 0
        rows = zip(table, self.gold, strict=True)
        return Named(names, table, tuple(frozenset(row[[*own]].tolist()) for row, own in rows))

    def _numbers(self, beyond: int) -> NDArray[np.int64]:
        """Return room for what each label is called instead, by example and label.

        An answer in which nothing was chosen is called `beyond`, and the last column, at
        NOT_EVALUATED from behind, stays what it is.
        """
        table = np.full((len(self.examples), max(self.choices) + 2), NOT_EVALUATED)
        table[:, -2] = beyond
        return table

    def meaningful(self, prompts: Sequence[Prompt]) -> bool:
        """Tell whether a model could give the same answer everywhere.

        It cannot where choices differ from example to example and are not even listed in an order.
        """
        recurring = any(stratum < 0 for stratum in self.strata)
        return (
            self.shared
            or recurring
            or any(prompt.format.layout.append_choices for prompt in prompts)
        )

    @cached_property
    def groups(self) -> tuple[str, ...] | None:
        """The cluster of each example, or its id where it has none; None where none has one."""
        names = [each.id for each in self.examples]
        return named_clusters(names, (each.cluster for each in self.examples))

    @property
    def exchange(self) -> Exchange:
        """How right answers can be exchanged."""
        offered = self.codes if self.things else None
        return Exchange(self.gold, self.strata, self.groups, offered)

    @property
    def arrangements(self) -> int:
        """In how many ways right answers can be shuffled."""
        return self.exchange.arrangements

    @cached_property
    def usual(self) -> tuple[int | None, ...]:
        """Per example the label that is most often right where the same texts recur.

        None where they recur in few examples: one of them is right most often by accident.
        """
        rights: dict[int, Counter[int]] = {}
        for stratum, right in zip(self.strata, self.gold, strict=True):
            rights.setdefault(stratum, Counter()).update(right)
        sizes = Counter(self.strata)
        return tuple(
            rights[stratum].most_common(1)[0][0]
            if stratum < 0 and sizes[stratum] >= _MANY
            else None
            for stratum in self.strata
        )

    def classes(self) -> list[int] | None:
        """Labels of the right choices, where all examples share their choices and have one right.

        Returns None where a class means different things in different examples.
        """
        if not self.shared or len(set(self.choices)) > 1 or any(len(r) > 1 for r in self.gold):
            return None
        return [next(iter(right)) for right in self.gold]

    def by_label(self, number: int, values: Sequence[T]) -> tuple[T, ...]:
        """Return values of one example's choices in the order of their labels."""
        pairs = zip(self.codes[number], values, strict=True)
        return tuple(value for _, value in sorted(pairs, key=lambda pair: pair[0]))


def label(examples: Sequence[Example], *, by_place: bool = False) -> Labels:
    """Give every choice its label.

    Parameters
    ----------
    by_place : bool
        Whether labels are places even where all examples share their choices.
    """
    return _label(tuple(examples), by_place)


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _label(examples: tuple[Example, ...], by_place: bool) -> Labels:
    shared = not by_place and share_choices(examples)
    coded = _by_text if shared else _by_place
    strata = tuple(len(example.choices) for example in examples)
    return Labels(examples, tuple(map(coded, examples)), shared, strata)


def _by_text(example: Example, texts: Collection[str] | None = None) -> tuple[int, ...]:
    """Order choices by their texts; where some texts count only, the others after them by place."""
    shown, choices = shown_order(example), example.choices

    def key(index: int) -> tuple[bool, str, int]:
        by_text = texts is None or choices[index] in texts
        return not by_text, choices[index] if by_text else "", shown.index(index)

    order = sorted(range(len(choices)), key=key)
    return tuple(order.index(index) for index in range(len(order)))


def _by_place(example: Example) -> tuple[int, ...]:
    order = list(shown_order(example))
    return tuple(order.index(index) for index in range(len(order)))


def label_by_text(examples: Sequence[Example]) -> Labels | None:
    """Give choices whose texts recur labels by these, and all others by their places.

    Where half of the questions offer Yes and No, and half True and False, a model may prefer to
    affirm; and where all offer None beside a choice of their own, to say None. Labels mean the same
    in examples that share their recurring texts; see `recurring`. Returns None where no text recurs
    in enough examples, or all examples share their choices.
    """
    return None if share_choices(examples) else _by_recurring(examples)


def _by_recurring(examples: Sequence[Example]) -> Labels | None:
    found = recurring([example.choices for example in examples])
    if found is None:
        return None
    pairs = zip(examples, found.texts, strict=True)
    codes = tuple(_by_text(example, texts) for example, texts in pairs)
    return Labels(tuple(examples), codes, shared=False, strata=found.strata)


def label_by_cluster(examples: Sequence[Example]) -> Labels | None:
    """Give the same choices of one cluster the same labels: their places in its first example.

    Who prefers some of them answers the cluster alike, wherever each example shows them. So must
    the right answers that a cluster has after a shuffle. Returns None where no cluster has examples
    with the same choices, or all examples share theirs.
    """
    if share_choices(examples):
        return None
    first: dict[tuple[str, tuple[str, ...]], dict[int, int]] = {}
    codes = []
    for example in examples:
        ranks, places = _by_text(example), _by_place(example)
        if example.cluster is not None:
            known = first.setdefault(
                (example.cluster, tuple(sorted(example.choices))),
                dict(zip(ranks, places, strict=True)),
            )
            places = tuple(known[rank] for rank in ranks)
        codes.append(places)
    if len(first) == sum(example.cluster is not None for example in examples):
        return None
    strata = tuple(len(example.choices) for example in examples)
    return Labels(tuple(examples), tuple(codes), shared=False, strata=strata)


def label_things(examples: Sequence[Example]) -> Labels | None:
    """Give things that examples compare ("which is larger, X or Y?") the same labels everywhere.

    Returns None where no things recur as `pytest_maxrandom.stats.compared.ordered` tells, or an
    example offers a text twice.
    """
    offered = [example.choices for example in examples]
    if share_choices(examples) or any(len(set(each)) < len(each) for each in offered):
        return None
    if not any(ordered([example.right for example in examples], offered)):
        return None
    number = {text: place for place, text in enumerate(dict.fromkeys(chain(*offered)))}
    codes = tuple(tuple(number[text] for text in each) for each in offered)
    return Labels(tuple(examples), codes, shared=False, strata=(0,) * len(offered), things=True)


def label_exchanged_texts(examples: Sequence[Example]) -> Labels | None:
    """Give choices labels as `label_by_text`, if right answers can be exchanged so.

    They cannot where right answers are those of an order of things.
    """
    things = label_things(examples)
    if things is not None and settled(things.gold, things.codes):
        return None
    return label_by_text(examples)


def label_told(examples: Sequence[Example]) -> list[Labels]:
    """Give letters whose texts the questions list labels by these, and by the things they compare.

    Who says "none of these" wherever that stands prefers no letter.
    """
    texts = with_listed_texts(examples)
    if texts is None or len({example.choices for example in texts}) == 1:
        return []  # letters are texts
    things = label_things(texts)
    found = None if things and settled(things.gold, things.codes) else _by_recurring(texts)
    return [
        replace(labels, examples=tuple(examples))
        for labels in (found, things)
        if labels is not None
    ]


def preferable(prompt_set: PromptSet) -> list[Labels]:
    """Return all that a model may prefer to answer.

    Texts that all examples share, and letters where a format writes them: whoever says A everywhere
    says one text here and another there, and the reverse. Else places, and texts that recur.
    """
    examples = prompt_set.validation
    found = label(examples)
    if not found.shared:
        by_text = label_exchanged_texts(examples)
        return [found] if by_text is None else [found, by_text]
    if any(prompt.format.labels != "text" for prompt in prompt_set.prompts):
        return [found, label(examples, by_place=True)]
    return [found]


def shuffled(prompt_set: PromptSet) -> list[Labels]:
    """Return all labels whose right answers are shuffled, first those of the reports."""
    examples = prompt_set.validation
    others = [label_by_cluster(examples), label_things(examples)]
    others += label_told(examples)
    return preferable(prompt_set) + [each for each in others if each is not None]


def label_words(form: Format, labels: Labels, m: int) -> tuple[str, ...] | None:
    """Return what answers with label 0, ..., m - 1; None where no words belong to the labels."""
    if form.labels != "text":
        return None if labels.shared else tuple(form.label(place) for place in range(m))
    if not labels.shared:
        return None
    return next(tuple(sorted(e.choices)) for e in labels.examples if len(e.choices) == m)


def common_words(formats: Iterable[Format], labels: Labels) -> tuple[str, ...] | None:
    """Return what answers with each label; None where formats have different words, or none."""
    words = {label_words(form, labels, max(labels.choices)) for form in formats}
    return words.pop() if len(words) == 1 else None
