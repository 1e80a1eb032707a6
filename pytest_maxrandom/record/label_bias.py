"""What is recorded of a label-bias check, in plain builtin types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_maxrandom.record.base import Amount, Count, Difference, Share
from pytest_maxrandom.record.cost import SweepCost
from pytest_maxrandom.record.designs import DesignRecord
from pytest_maxrandom.stats.labels import LabelFinding

LabelCheck = Literal["recall", "move", "redraw"]
BaseRate = Literal["off", "control", "content_free"]
Interaction = Literal["cloze", "counterfactual"]
Calibration = Literal["contextual", "pride"]
Doubt = Literal["fails", "cannot tell", "guessed"]
"""Why a claim's best accuracy shows no knowledge: the claim fails, or cannot be told; or it does
neither, and who knows nothing reaches that accuracy as well."""


@dataclass(slots=True)
class LabelRow:
    """One label, as the prompt with the highest accuracy treats it."""

    label: str
    """A, B, ... or a text that all examples share as a choice."""
    gold: Count
    """Presentations whose right answer has the label; with several right answers, each counts."""
    recall: Share | None
    """Share of those that are answered with it; None if there are none."""
    predicted: Share
    """Share of all answers that are this label."""
    base_rate: Share | None = None
    """Probability of the label without a question, normalised over the labels; mean over the
    control texts."""


@dataclass(slots=True)
class Calibrated:
    """The best of the t prompts when the labels' prior is taken out of the scores."""

    method: Calibration
    """contextual: of content-free inputs (Zhao et al. 2021); pride: of a held-back share of the
    examples with their choices rotated (Zheng et al. 2023)."""
    n: Count
    """Examples of the best prompt, without those held back."""
    best_correct: Count
    best_accuracy: Share
    plain_accuracy: Share
    """Highest accuracy of a prompt on the same examples, with uncalibrated probabilities."""
    max_random_baseline: Share
    p_max: Share
    prior: dict[str, Share] = field(default_factory=dict)
    """By label, for the best prompt after calibration, at the largest number of choices that has a
    prior."""


@dataclass(slots=True)
class InteractionBias:
    """The labels in one way of asking: cloze, or counterfactual."""

    interaction: Interaction
    n: Count
    """Examples of the most accurate prompt."""
    t: Count
    best_prompt: str
    """Digest of the prompt with the highest accuracy over all presentations."""
    best_accuracy: Share
    labels: list[LabelRow]
    rstd: Share
    """Standard deviation of its recalls (RStd, Zheng et al. 2023)."""
    score: Share
    """Highest Nvr-X score of the t prompts: (sum of recalls - largest)/(m - 1), or least accuracy
    over the redraws (arXiv 2406.11634)."""
    score_prompt: str
    """Digest of the prompt that has it."""
    score_baseline: Share
    """What the best of t random guessers is expected to reach in that score. If examples are shown
    in several orders, the guessers are of the kind that is harder to beat: those who guess each
    order anew, or those who keep to one choice of each example."""
    score_baseline_error: Share
    """Monte Carlo standard error; 0 where nothing was simulated."""
    p_value: Share
    """P(the best of t such guessers scores as high)."""
    p_error: Share
    preference_p: Share
    """P(a model without label preference that is as accurate as `best_prompt` spreads its answers
    over the labels as unevenly)."""
    permutation_p: Share | None = None
    """P(the best of the t prompts scores as high when right answers are shuffled among examples
    with as many choices), times t over the prompts at hand where these are fewer; None but for
    recall."""
    by_content: bool = False
    """Whether these guessers keep to one choice of each example, wherever it is listed."""
    base_rate_mass: Share | None = None
    """Probability of all labels together without a question, mean over the control texts."""
    r: Difference | None = None
    """Pearson correlation of base rate and recall over the labels; None below 4 labels."""
    r_low: Difference | None = None
    r_high: Difference | None = None
    """Fisher's 95 % interval of it; None also if base rates or recalls have only two values."""
    calibrated: list[Calibrated] = field(default_factory=list)
    finding: LabelFinding | None = None
    """The finding of this way of asking; None until it is concluded."""


@dataclass(slots=True, kw_only=True)
class LabelBiasRecord(DesignRecord):
    """Does the best prompt know answers, or prefer a label?"""

    claim: str
    """Id of the claim that this is about."""
    task: str
    model: str
    quantization: str
    shots: Count
    check: LabelCheck
    """recall: accuracy by gold label as the examples are; move: every right answer at every label;
    redraw: right answers redrawn among all labels but one."""
    base_rate: BaseRate
    seed: int
    asserted: dict[str, Any]
    """{"above_random": 0.05}: the level of the p-values; empty where nothing is asserted."""
    interactions: list[InteractionBias] = field(default_factory=list)
    doubt: Doubt | None = None
    """Why the best accuracy of the claim shows no knowledge, whatever is found of its labels; None
    where it does. guessed: nothing is claimed, and p_max or the permutation p is above the level of
    the check; or a red flag warns that a constant answer, or shuffled right answers, do as well."""
    finding: LabelFinding | None = None
    sentence: str | None = None
    """The finding, with the numbers behind it."""
    engine: SweepCost | None = None
    """What the check cost beyond the claim's own sweep; None if that was nothing."""
    sweeps: Amount | None = None
    """That cost in tokens, in units of the claim's own sweep; None if it was nothing."""
