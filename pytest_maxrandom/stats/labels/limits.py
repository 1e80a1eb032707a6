"""From where on numbers about labels say something; reports read it without NumPy."""

LITTLE_MASS = 0.01
"""Probability of all labels together, below which a model does not mean them."""
FEWEST_LABELS = 4
"""Labels of which a correlation is told; of 3 it has no interval."""
