"""What is found about labels, and from where on numbers about them say something.

Reports read it without NumPy.
"""

from typing import Literal

LabelFinding = Literal["knowledge", "label preference", "cannot tell"]

LITTLE_MASS = 0.01
"""Probability of all labels together, below which a model does not mean them."""
FEWEST_LABELS = 4
"""Labels of which a correlation is told; of 3 it has no interval."""
