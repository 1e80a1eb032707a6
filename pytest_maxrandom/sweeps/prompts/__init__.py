"""Prompts: how they are written, and which t of them a sweep tries."""
