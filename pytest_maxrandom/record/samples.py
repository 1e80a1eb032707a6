"""What is recorded of answers that were asked for several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_maxrandom.record.base import Count, Share


@dataclass(slots=True, kw_only=True)
class Sampled:
    """The samples of the answers of the best prompt, and what a guesser with such ones reaches."""

    samples: Count
    """Of each answer."""
    aggregate: Literal["mean", "vote", "pass", "all"]
    """What they come to: the share that is right, the commonest answer, whether any is right,
    whether all are. Of grades: their mean, the commonest answer, the best, the worst."""
    asked: Count | None = None
    """Of pass@j the number j of samples that are asked; None where all count."""
    right: Share
    """Share of its samples that are right, or their mean grade."""
    any_right: Share
    """Share of its examples with a right sample: pass@k. Of grades the mean of the best."""
    any_by_chance: Share | None = None
    """pass@k of a guesser who gives as many different answers to each example; None where it is not
    known what was answered, or of how many choices."""
    all_right: Share
    """Share of its examples of which all samples are right. Of grades the mean of the worst."""
    all_by_chance: Share | None = None
    """The same of a guesser whose samples are all alike where its are."""
    different: float | None = None
    """Different answers to an example, on average."""
    alike: Share | None = None
    """Share of its examples to which all samples are the same."""
    noise_of_data: float | None = None
    """Standard error of `right` that other examples would make, however often they are asked."""
    noise_of_prediction: float | None = None
    """Standard error of `right` that other samples of the same examples would make."""
    between: float | None = None
    """Variance of the examples' own rates, without bias; below 0 by luck."""
    within: float | None = None
    """Mean variance of a sample about its example's rate, without bias."""
