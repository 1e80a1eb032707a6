"""What the machine gives: locks between processes, and git."""
