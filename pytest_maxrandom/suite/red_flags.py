"""What a suite may say of red flags: which of them fail a claim."""

from __future__ import annotations

from typing import TypeAlias, get_args

from pytest_maxrandom.record.red_flags import RedFlagKind, Severity
from pytest_maxrandom.suite.base import Spec


class RedFlagsSpec(Spec):
    """What each red flag does to a claim: fail, warn (it is told), or ignore."""

    choices: Severity = "fail"
    """Choices per example that contradict a declared number, or chance."""
    complementary_prompts: Severity = "fail"
    """Two prompts that are right on exactly complementary examples, with more than two choices."""
    colliding_ids: Severity = "fail"
    """Example ids that stand for several examples."""
    other_examples: Severity = "fail"
    """Prompts that were scored on other examples than most, or on fewer than they should be."""
    cut_text: Severity = "fail"
    """Texts that were cut, or reach the model's context limit."""
    constant_scores: Severity = "fail"
    """Scores that do not depend on the example."""
    tied_scores: Severity = "fail"
    """Exactly tied or missing scores in more than a few examples."""
    never_right: Severity = "fail"
    """Prompts that are right on no example."""
    unsteady_prompts: Severity = "fail"
    """Prompts that are the same and answer otherwise."""
    identical_models: Severity = "fail"
    """Two models that give nearly the same answers."""
    label_mass: Severity = "warn"
    """Hardly any probability on the labels."""
    constant_answers: Severity = "warn"
    """Prompts that give nearly every example the same label."""
    majority: Severity = "warn"
    """A best prompt that is not above the best constant answer."""
    max_t: Severity = "warn"
    """A p_max that the max-T permutation test does not confirm."""
    repeated_prompts: Severity = "warn"
    """Fewer distinct prompts than asked."""
    unpassable: Severity = "warn"
    """A claim that no result can pass."""

    def severities(self) -> dict[RedFlagKind, Severity]:
        """Return what each kind does."""
        return {kind: getattr(self, kind) for kind in get_args(RedFlagKind)}


RedFlags: TypeAlias = Severity | RedFlagsSpec
"""One word for all kinds, or a word for each."""
