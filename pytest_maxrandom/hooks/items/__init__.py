"""What stands in a suite, as pytest items: one module for each kind."""
