"""Ways in which a claim's labels are asked for, and all the texts that each of them needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.prompts.formats import Counterfactual
from pytest_maxrandom.stats.labels.priors import held_back
from pytest_maxrandom.studies.label_bias.controls import (
    content_free_examples,
    control_examples,
    control_prompt,
)
from pytest_maxrandom.studies.label_bias.placements import further, placements, rotations
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.labels import common_words, preferable
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.prompts.formats import Format
    from pytest_maxrandom.prompts.sampling import PromptSet
    from pytest_maxrandom.record import Interaction
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.suite.spec import Scoring
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.tasks.task import Example


def formats_of(prompt_set: PromptSet) -> list[Format]:
    """Return the formats of a prompt set, each once."""
    return list(dict.fromkeys(prompt.format for prompt in prompt_set.prompts))


def interaction_of(scoring: Scoring) -> Interaction:
    """Return how a claim with this scoring asks."""
    return "counterfactual" if SCORERS[scoring].states_choices else "cloze"


@dataclass(frozen=True, kw_only=True)
class InteractionPlan:
    """One way of asking for the labels of a claim.

    Attributes
    ----------
    own : bool
        Whether it is the claim's: its prompts are then the claim's tries.
    asked : PromptSet
        The claim's prompts, as they ask in this way.
    """

    interaction: Interaction
    own: bool
    scoring: Scoring
    asked: PromptSet
    spec: LabelBiasSpec

    @classmethod
    def of(
        cls, claim: PlannedClaim, interaction: Interaction, spec: LabelBiasSpec
    ) -> InteractionPlan:
        """Return a way of asking for what a claim asks for."""
        scoring, prompt_set = claim.suite.scoring, claim.cell.prompt_set
        own = interaction == interaction_of(scoring)
        if not own and interaction == "counterfactual":
            scoring = "counterfactual"
            prompt_set = prompt_set.asked(Counterfactual.of(claim.suite.counterfactual))
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
        return formats_of(self.asked)

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
