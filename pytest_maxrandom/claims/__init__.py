"""One claim from its plan to its record."""
