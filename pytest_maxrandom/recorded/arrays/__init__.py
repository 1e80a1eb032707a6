"""NumPy archives of answers, or of which were right."""
