"""What a claim about recorded results is judged by."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.listed import shuffles_of_lists
from pytest_maxrandom.claims.nulls import Guessers, Null
from pytest_maxrandom.claims.open_tasks import follows_only
from pytest_maxrandom.claims.publication import of_examples
from pytest_maxrandom.claims.samples import (
    guessers_of_samples,
    scored_by_samples,
    shuffles_of_samples,
)
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle, beside_orders
from pytest_maxrandom.claims.strata import by_places, strata
from pytest_maxrandom.claims.verdict import APPROXIMATE, COUNTED, EXACT, PERMUTED
from pytest_maxrandom.flags.things import choice_of
from pytest_maxrandom.record import Published, Remark
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.majority import View, chances_of_constants
from pytest_maxrandom.sweeps.labels import label, label_by_text
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.recorded import Chance


_ALWAYS_RIGHT = "constant answers are right on all examples"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a claim is judged by."""

    read: Answers
    results: Answers
    """As they were read, where prompts may repeat; and of distinct prompts."""
    null: Guessers | None
    """The guessers that they are compared with; None where no guess has a chance, as of scores."""
    t: int
    """Number of prompts that were tried."""
    n: int
    """Number of examples that the claim is about."""
    stated: tuple[str, ...]
    """Which of n, t and chance were not counted in the results."""
    chances: tuple[Fraction, ...] | None
    """Per example the chance of one guess, where it is known of each."""
    declared_n: int | None
    """Number of examples that a publication states; what the suite itself states would have been
    refused if it were not what was found."""
    declared_chance: Chance | None
    """Chance that is stated."""
    notes: tuple[Remark, ...]
    """What a reader must know."""
    published: Published | None = None
    """The verdict of a publication."""
    chance: Fraction | None = None
    """Mean chance of one guess, all choices alike, where that of `null` is another."""
    of_best: tuple[Remark, ...] = ()
    """Which prompt is the best."""
    score_null: Null | None = None
    """The guessers in the metric of the claim, of open answers, or those who gave the same samples;
    None where each answer is right or wrong, and is that of one sample or a vote."""

    @cached_property
    def shuffles(self) -> list[Shuffle] | NoPermutations:
        """How right answers can be shuffled, or why that is not known.

        Where there are several ways, the largest p-value counts.
        """
        if self.results.open is not None:
            return [Shuffle.of_open(self.results)]
        if self.null is None:
            return NoPermutations("no guess has a chance")
        if scored_by_samples(self.results):
            return shuffles_of_samples(self.results, self._ways)
        return self._ways(self.results)

    def _ways(self, results: Answers) -> list[Shuffle] | NoPermutations:
        return beside_orders(self._shuffles(results), results)

    def _shuffles(self, results: Answers) -> list[Shuffle] | NoPermutations:
        try:
            if results.offered is not None:
                return shuffles_of_lists(results)
            views = strata(results, self.chances)
        except NoPermutations as reason:
            return reason
        answers, gold = results.answers, results.gold
        assert answers is not None
        assert gold is not None
        return [Shuffle(answers, gold, None, view, results.groups) for view in views]

    @property
    def untestable(self) -> str | None:
        """Why there is no permutation p; None where there is one."""
        return str(self.shuffles) if isinstance(self.shuffles, NoPermutations) else None

    @property
    def usual(self) -> tuple[Mapping[str, Any], Remark | None]:
        """What is claimed by default, and why that can neither pass nor fail."""
        results = self.results
        if self.null is None:
            return EXACT, Remark("no_guessers")
        if results.open is not None:
            return EXACT, self._untold_of_open
        if self.score_null is not None and self.score_null.only_permuted:
            return PERMUTED, None
        if self.constants is not None:
            return COUNTED, None
        why = self.untestable or self.unchanged
        if self._rates is not None:
            return EXACT, self._untold_of_one(self.unchanged or _ALWAYS_RIGHT)
        if results.clusters is not None and why is not None:
            return EXACT, self._untold_of_clusters(why)
        if results.gold is None:
            return EXACT, Remark("only_right_and_wrong")
        if results.answers is None:
            return EXACT, self._untold_of_gold
        if self.unchanged is not None:
            return EXACT, self._untold_of_one(self.unchanged)
        if why is not None:
            return EXACT, Remark("not_permutable", {"why": why})
        if self.by_places:
            return EXACT, Remark("only_places")
        return (EXACT if results.evaluated.all() else APPROXIMATE), None

    def _untold_of_one(self, why: str) -> Remark:
        """Why results show no knowledge whose right answers are known without the question."""
        assert self.results.gold is not None
        # Where one label is right everywhere it is as good as any prompt, whatever is claimed.
        always = bool(frozenset.intersection(*self.results.gold))
        return Remark("one_right_answer" if always else "not_permutable", {"why": why})

    @property
    def _untold_of_gold(self) -> Remark:
        """Why right answers alone, without those that were given, show no knowledge."""
        # Constant answers take the place of those that were given where choices are listed, but of
        # no samples: see `constants`.
        no_help = self.results.offered is not None or scored_by_samples(self.results)
        return Remark("answers_not_given" if no_help else "choices_unlisted")

    def _untold_of_clusters(self, why: str) -> Remark:
        """Why examples in clusters show no knowledge: p_max takes examples for independent."""
        if self.results.gold is None:
            return Remark("only_right_and_wrong_of_clusters")
        if self.results.answers is None:
            return Remark("answers_not_given_of_clusters")
        return Remark("not_permutable_of_clusters", {"why": why})

    @property
    def _untold_of_open(self) -> Remark | None:
        """Why open answers can show no knowledge; None where they can."""
        results = self.results
        assert results.open is not None
        if not results.open.asked:
            return Remark("questions_not_told")
        if not results.evaluated.all():
            return Remark("open_left_out")
        return follows_only(results.open.roles, Shuffle.of_open(results).arrangements)

    @property
    def by_places(self) -> bool:
        """Whether right answers are shuffled by letters or numbers whose texts nobody tells."""
        return self.untestable is None and by_places(self.results, self.chances)

    @cached_property
    def arrangements(self) -> int | None:
        """In how many ways right answers can be shuffled at least; None where that is not known."""
        if isinstance(self.shuffles, NoPermutations):
            return None
        return min(each.arrangements for each in self.shuffles)

    @property
    def unchanged(self) -> str | None:
        """Why right answers stay the same however they are shuffled; None where they do not."""
        if self.arrangements != 1 or self.results.clusters is not None:
            return None
        return "all right answers that could be shuffled are the same"

    @property
    def constants(self) -> tuple[Fraction, ...] | None:
        """Per example the chance of a guess that is as good as the best constant answer.

        None where a permutation p can be computed; where it is not known what constant answers
        there are: without right answers, lists of choices, or where clusters are declared; or where
        constant answers are right on all examples, so that nothing can be better.
        """
        return None if self._rates is None or min(self._rates) == 1 else self._rates

    @cached_property
    def _rates(self) -> tuple[Fraction, ...] | None:
        """Those of constant answers, also where they are always right."""
        results = self.results
        if scored_by_samples(results):
            return None
        known = self.untestable is not None or self.unchanged is not None
        if not known or results.clusters is not None or type(self.null) is not Guessers:
            return None
        return _of_constants(results, self.chances)

    def by_samples(self) -> Evidence:
        """Return the evidence by guessers who gave the same samples as the prompts.

        Raises
        ------
        NoSamples
            Where these cannot be told.
        """
        if not scored_by_samples(self.results) or (
            type(self.null) is not Guessers and self.results.open is None
        ):
            return self
        null = guessers_of_samples(self.results, self.chances, self.t)
        return replace(self, score_null=null)

    def by_constants(self) -> Evidence:
        """Return the evidence by guessers who are as good as constant answers."""
        assert self.constants is not None
        rates = self.constants
        values = {
            "why": self.untestable or self.unchanged,
            "rates": [float(min(rates)), float(max(rates))],
        }
        return replace(
            self,
            null=of_examples(replace(self.results, chances=rates), self.t),
            chance=None if self.null is None else self.null.chance,
            notes=(*self.notes, Remark("constants", values)),
        )

    @property
    def clusters(self) -> tuple[int | None, float | None]:
        """Number of clusters of the best prompt's examples, and what these are worth at least."""
        if self.results.clusters is None:
            return None, None
        return summary(compress(self.results.clusters, self.results.evaluated[self.results.best]))

    @property
    def mix(self) -> dict[str, int]:
        """Number of the best prompt's examples by chance; empty where it is not known."""
        own = self.chances or ()
        if self.results.prompts:
            own = tuple(compress(own, self.results.evaluated[self.results.best]))
        mix = Counter(own)
        return {str(chance): mix[chance] for chance in sorted(mix, reverse=True)}


def of_best(results: Answers, values: Sequence[float]) -> tuple[Remark, ...]:
    """Return which of the prompts is the best, by its value of the metric; of none nothing."""
    if not results.prompts:
        return ()
    tied = values.count(max(values))
    named = {"prompt": results.prompts[values.index(max(values))]}
    if tied > 1:
        return (Remark("first_best_prompt", {**named, "tied": tied}),)
    return (Remark("best_prompt", named),)


def _of_constants(
    results: Answers, chances: Sequence[Fraction] | None
) -> tuple[Fraction, ...] | None:
    """Return per example the rate of the best constant answer, where that is above the chance.

    None where one of these is not known. Choices must be listed in the results, and right answers
    known.
    """
    gold, offered = results.gold, results.offered
    if gold is None or offered is None or chances is None:
        return None
    listed = [
        (choices, {choice_of(results.labels, label, choices) for label in right})
        for choices, right in zip(offered, gold, strict=True)
    ]
    if any(None in right for _, right in listed):
        return None
    examples = [
        Example(
            id=str(number),
            input="",
            choices=choices,
            right=tuple(at for at, text in enumerate(choices) if text in right),
            order=tuple(range(len(choices))),
        )
        for number, (choices, right) in enumerate(listed)
    ]
    return chances_of_constants(chances, _views(examples))


def _views(examples: Sequence[Example]) -> Iterator[View]:
    found = label(examples), label(examples, by_place=True), label_by_text(examples)
    return (View(each.gold, each.strata) for each in found if each is not None)
