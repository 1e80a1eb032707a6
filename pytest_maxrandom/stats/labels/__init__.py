"""Labels: whether answers follow the question or the label, and how that would look by chance.

===========  ==================================================================
``scores``   recalls, Nvr-X scores, placements of right answers
``null``     the best of t guessers who are put through the same
``finding``  knowledge, label preference, or cannot tell
``priors``   what a model thinks of the labels anyway, and scores without that
===========  ==================================================================

Reports read what stands here without NumPy.
"""

from typing import Literal

from pytest_maxrandom.stats.multiplicity import above

LabelFinding = Literal["knowledge", "label preference", "cannot tell"]

LITTLE_MASS = 0.01
"""Probability of all labels together, below which a model does not mean them."""
FEWEST_LABELS = 4
"""Fewest labels for which a correlation is reported; with 3 it has no interval."""
_PREFERRING = 10
"""How much more a score must show where a label preference is established."""


def needed(preference_p: float, level: float) -> float:
    """Return what the last p-value of a score may be at most where it shows knowledge."""
    return level if above(preference_p, level) else level / _PREFERRING
