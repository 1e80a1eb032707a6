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

LabelFinding = Literal["knowledge", "label preference", "cannot tell"]

LITTLE_MASS = 0.01
"""Probability of all labels together, below which a model does not mean them."""
FEWEST_LABELS = 4
"""Labels of which a correlation is told; of 3 it has no interval."""
