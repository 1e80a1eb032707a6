"""What a suite may say of red flags: which of them fail a claim."""

from __future__ import annotations

from typing import TypeAlias

from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind, Severity
from pytest_maxrandom.suite.base import Spec


class RedFlagsSpec(Spec):
    """What each red flag does to a claim: fail, warn (it is told), or ignore."""

    choices: Severity = DEFAULTS["choices"]
    """Choices per example that contradict a declared number, or chance."""
    complementary_prompts: Severity = DEFAULTS["complementary_prompts"]
    """Two prompts that are right on exactly complementary examples, with more than two choices."""
    colliding_ids: Severity = DEFAULTS["colliding_ids"]
    """Example ids that stand for several examples."""
    repeated_examples: Severity = DEFAULTS["repeated_examples"]
    """Examples that are copies of others, so that n is less than it seems."""
    clustered_answers: Severity = DEFAULTS["clustered_answers"]
    """Examples that share a long text and no stated cluster, whose right answers follow it."""
    shared_text: Severity = DEFAULTS["shared_text"]
    """Examples that share a long text and no stated cluster."""
    other_examples: Severity = DEFAULTS["other_examples"]
    """Prompts that were scored on other examples than most, or on fewer than they should be."""
    cut_text: Severity = DEFAULTS["cut_text"]
    """Texts that were cut, or reach the model's context limit."""
    constant_scores: Severity = DEFAULTS["constant_scores"]
    """Scores that do not depend on the example."""
    tied_scores: Severity = DEFAULTS["tied_scores"]
    """Exactly tied or missing scores in more than a few examples."""
    never_right: Severity = DEFAULTS["never_right"]
    """Prompts that are right on no example."""
    unsteady_prompts: Severity = DEFAULTS["unsteady_prompts"]
    """Prompts that are the same and answer otherwise."""
    identical_models: Severity = DEFAULTS["identical_models"]
    """Two models that give nearly the same answers."""
    near_identical_prompts: Severity = DEFAULTS["near_identical_prompts"]
    """Prompts that are all right on the same examples, where no labels tell that from constant
    answers."""
    label_mass: Severity = DEFAULTS["label_mass"]
    """Hardly any probability on the labels."""
    constant_answers: Severity = DEFAULTS["constant_answers"]
    """Prompts that give nearly every example the same label."""
    majority: Severity = DEFAULTS["majority"]
    """A best prompt that is not above the best constant answer."""
    max_t: Severity = DEFAULTS["max_t"]
    """A p_max that the max-T permutation test does not confirm."""
    heuristic: Severity = DEFAULTS["heuristic"]
    """A best prompt that is not above a heuristic, such as the longest choice."""
    choices_only: Severity = DEFAULTS["choices_only"]
    """A best prompt that is not above itself with blank inputs (`shortcuts: [choices_only]`)."""
    near_heuristic: Severity = DEFAULTS["near_heuristic"]
    """A best prompt that is above the best heuristic by no more than chance allows."""
    near_choices_only: Severity = DEFAULTS["near_choices_only"]
    """A best prompt that is above itself with blank inputs by no more than chance allows."""
    repeated_prompts: Severity = DEFAULTS["repeated_prompts"]
    """Fewer distinct prompts than asked."""
    unpassable: Severity = DEFAULTS["unpassable"]
    """A claim that no result can pass."""

    def over(self, whole: Severity | RedFlagsSpec) -> RedFlagsSpec:
        """Return these, and of the kinds that are not named here what is said of a whole suite."""
        said = dict.fromkeys(DEFAULTS, whole) if isinstance(whole, str) else whole.named()
        return RedFlagsSpec(**{**said, **self.named()})

    def named(self) -> dict[RedFlagKind, Severity]:
        """Return what each kind does that is named."""
        return {kind: getattr(self, kind) for kind in DEFAULTS if kind in self.model_fields_set}

    def severities(self) -> dict[RedFlagKind, Severity]:
        """Return what each kind does."""
        return {kind: getattr(self, kind) for kind in DEFAULTS}


RedFlags: TypeAlias = Severity | RedFlagsSpec
"""One word for all kinds, or a word for each."""
