"""Ways in which a claim's labels are asked for, and all the texts that each of them needs.

A presentation is an example with an order of its choices; the natural one is that of the claim. In
texts that ask for a label without asking anything choice i of an example is label i, so results
stand in the order of the labels; their right answers mean nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.labels.priors import held_back
from pytest_maxrandom.sweeps.executor import Job, jobs_of
from pytest_maxrandom.sweeps.labels import Labels, common_words, label_words, preferable
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_as, shown_order
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.task import Example, share_choices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import Interaction
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet


def unmovable(form: Format, examples: Sequence[Example]) -> str | None:
    """Say in one sentence why right answers cannot stand at other labels; None where they can.

    Labels of a format's own (letters, numbers) are given to places, so any choice can have any of
    them. Where texts answer, what can be moved is the place in the list.
    """
    if form.labels != "text":
        return None
    if share_choices(examples):
        return "Label words that are the answer cannot be remapped."
    if not form.layout.append_choices:
        return "Choices that are not listed have no place that a right answer could be moved to."
    return None


def placements(example: Example) -> tuple[Example, ...]:
    """Return the example with its right answer at each place, and all else in the order it had.

    One of them is the natural one. Of several right answers the file's first is moved; the others
    are treated like distractors, and still count as right.
    """
    right = example.right[0]
    rest = [index for index in shown_order(example) if index != right]
    return tuple(
        shown_as(example, (*rest[:to], right, *rest[to:])) for to in range(len(example.choices))
    )


def rotations(example: Example) -> tuple[Example, ...]:
    """Return the example with its choices rotated under fixed labels, itself first.

    So every choice has every label once (PriDe's cyclic permutations, Zheng et al. 2023,
    arXiv 2309.03882).
    """
    order = shown_order(example)
    return tuple(shown_as(example, (*order[by:], *order[:by])) for by in range(len(order)))


def further(presentations: Iterable[Example]) -> list[Example]:
    """Return the distinct presentations that are not natural: what is left to be scored.

    Those of one example stand side by side, so that one call of a model sees what they share.
    """
    of_example: dict[str, dict[Example, None]] = {}
    for one in presentations:
        if one.order is not None:
            of_example.setdefault(one.id, {})[one] = None
    return [one for found in of_example.values() for one in found]


CONTENT_FREE = ("N/A", "", "[MASK]")
"""Inputs of contextual calibration (Zhao et al. 2021, arXiv 2102.09690)."""

_SELECT, _CHOICE = "Select an answer choice", "choice"
"""The words of the control text of arXiv 2406.11634."""
_ALL_ORDERS = 4
"""Labels of which all orders are written, at most; of more, the rotations."""


def no_base_rate_reason(form: Format, labels: Labels) -> str | None:
    """Say in one sentence why labels have no probability without a question; None: they have."""
    if form.labels == "text" and not labels.shared:
        return (
            "The answers are texts that differ from example to example, and a place in their list "
            "has no probability without a question."
        )
    if form.labels != "text" and labels.shared:
        return "The answers are labels of places, and probabilities are asked of texts."
    return None


def control_prompt(form: Format) -> Prompt:
    """Return the prompt of control texts in a format: its instruction, without demonstrations.

    The texts bring their own listing, because labels stand in orders in which no example has them.
    """
    layout = dataclasses.replace(form.layout, append_choices=False)
    return Prompt((), Format(layout, "text", form.counterfactual))


def control_examples(form: Format, labels: Labels) -> list[Example]:
    """Return ``Select an answer choice (A) choice (B) choice ...`` in a format, in many orders.

    These are all orders of up to 4 labels and the rotations of more (arXiv 2406.11634), for each
    number of choices that examples have; one text where a format lists no choices. Empty where
    :func:`no_base_rate_reason` says why.
    """
    controls = []
    for m, words in _words(form, labels):
        orders = list(itertools.permutations(range(m)) if m <= _ALL_ORDERS else _rotations(m))
        texts = dict.fromkeys(_SELECT + _listing(form, words, order) for order in orders)
        controls += [
            Example(f"control {m} {number}", text, words, (0,))
            for number, text in enumerate(texts, 1)
        ]
    return controls


def content_free_examples(form: Format, labels: Labels) -> list[Example]:
    """Return examples whose input says nothing, for the demonstrations of any prompt in a format.

    Where labels are listed, what they stand for says nothing either. Texts that all examples share
    are listed in their rotations, so that none has a place of its own. Empty where
    :func:`no_base_rate_reason` says why.
    """
    examples: list[Example] = []
    for m, words in _words(form, labels):
        own = form.labels != "text"
        turned = not own and form.layout.append_choices
        orders = list(_rotations(m)) if turned else [tuple(range(m))]
        for text, order in itertools.product(CONTENT_FREE, orders):
            name = f"content-free {m} {len(examples)}"
            examples.append(Example(name, text, (text,) * m if own else words, (0,), order))
    return examples


def _words(form: Format, labels: Labels) -> Iterator[tuple[int, tuple[str, ...]]]:
    for m in sorted(set(labels.choices)):
        if (words := label_words(form, labels, m)) is not None:
            yield m, words


def _listing(form: Format, words: tuple[str, ...], order: tuple[int, ...]) -> str:
    if not form.layout.append_choices:
        return ""
    content = words if form.labels == "text" else (_CHOICE,) * len(words)
    return "".join(form.listed(words[place], content[place]) for place in order)


def _rotations(m: int) -> Iterator[tuple[int, ...]]:
    for by in range(m):
        yield (*range(by, m), *range(by))


def interaction_of(scoring: Scoring) -> Interaction:
    """Return how a claim with this scoring asks."""
    return "counterfactual" if SCORERS[scoring].states_choices else "cloze"


@dataclass(frozen=True, kw_only=True)
class InteractionPlan:
    """One way of asking for the labels of a claim."""

    interaction: Interaction
    own: bool
    """Whether it is the claim's: its prompts are then the claim's tries."""
    scoring: Scoring
    asked: PromptSet
    """The claim's prompts, as they ask in this way."""
    spec: LabelBiasSpec

    @classmethod
    def of(
        cls, claim: PlannedClaim, interaction: Interaction, spec: LabelBiasSpec
    ) -> InteractionPlan:
        """Return a way of asking for what a claim asks for."""
        scoring, prompt_set = claim.suite.scoring, claim.condition.prompt_set
        own = interaction == interaction_of(scoring)
        if not own and interaction == "counterfactual":
            scoring = "counterfactual"
            prompt_set = prompt_set.asked(claim.suite.counterfactual)
        elif not own:
            scoring, prompt_set = "mean_logprob", prompt_set.asked(None)
        return cls(interaction=interaction, own=own, scoring=scoring, asked=prompt_set, spec=spec)

    @cached_property
    def labels(self) -> Labels:
        """The labels of the validation set: places where a format writes labels of its own."""
        return preferable(self.asked)[-1]

    @cached_property
    def formats(self) -> list[Format]:
        """The formats of the prompts, each once."""
        return list(dict.fromkeys(prompt.format for prompt in self.asked.prompts))

    @cached_property
    def no_base_rate_reason(self) -> str | None:
        """Why the labels have no probability without a question, in one sentence."""
        if SCORERS[self.scoring].generates:
            return "Answers are generated, so that labels have no probability."
        reasons = (no_base_rate_reason(form, self.labels) for form in self.formats)
        return next(filter(None, reasons), None)

    @cached_property
    def unmovable(self) -> str | None:
        """Why right answers cannot stand at other labels, in one sentence."""
        reasons = (unmovable(form, self.asked.validation) for form in self.formats)
        return next(filter(None, reasons), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the labels are called: by their words, unless formats have different ones."""
        places = range(1, max(self.labels.choices) + 1)
        words = common_words(self.formats, self.labels)
        return words or tuple(f"place {place}" for place in places)

    @cached_property
    def held(self) -> frozenset[str]:
        """Ids of the examples that PriDe holds back; none where it is not asked for."""
        if "pride" not in self.spec.calibration:
            return frozenset()
        ids = [example.id for example in self.labels.examples]
        back = held_back(ids, self.labels.choices, seed=self.spec.seed)
        return frozenset(name for name, held in zip(ids, back, strict=True) if held)

    @cached_property
    def natural(self) -> list[Job]:
        """The prompts with their examples as they are."""
        return jobs_of(self.asked.pairs, self.scoring)

    @cached_property
    def moved(self) -> list[Job]:
        """The further placements of right answers; none where they stay where they are."""
        if self.spec.check == "recall":
            return []
        return self._shown({e.id: further(placements(e)) for e in self.asked.validation})

    @cached_property
    def control(self) -> list[Job]:
        """The control texts, once for each format."""
        if self.spec.base_rate != "control":
            return []
        texts = [
            (control_prompt(form), control_examples(form, self.labels)) for form in self.formats
        ]
        return jobs_of(texts, self._base_rate)

    @cached_property
    def content_free(self) -> list[Job]:
        """The prompts with inputs that say nothing."""
        needed = self.spec.base_rate == "content_free" or "contextual" in self.spec.calibration
        if not needed:
            return []
        inputs = {form: content_free_examples(form, self.labels) for form in self.formats}
        texts = [(prompt, inputs[prompt.format]) for prompt in self.asked.prompts]
        return jobs_of(texts, self._base_rate)

    @cached_property
    def rotated(self) -> list[Job]:
        """The prompts with the held-back examples' choices in further rotations."""
        if not self.held:
            return []
        back = (example for example in self.asked.validation if example.id in self.held)
        return self._shown({example.id: further(rotations(example)) for example in back})

    @property
    def _base_rate(self) -> Scoring:
        """How labels without a question are scored: by their whole probability."""
        return SCORERS[self.scoring].base_rate

    def _shown(self, presentations: Mapping[str, Sequence[Example]]) -> list[Job]:
        """Return the prompts with other presentations of their examples, the same ones for all."""
        shown = [
            (prompt, [one for example in examples for one in presentations.get(example.id, ())])
            for prompt, examples in self.asked.pairs
        ]
        return jobs_of(shown, self.scoring)

    @property
    def sweeps(self) -> list[list[Job]]:
        """All that is put through the model."""
        parts = [self.natural, self.moved, self.control, self.content_free, self.rotated]
        return [jobs for jobs in parts if jobs]
