"""Prompts through a model or out of the store, and the answers that this gives."""
