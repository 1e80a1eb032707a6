"""Searches: prompts that a program proposes, each counted, and what the best of them is worth."""
