"""Verdicts, rendered: Markdown, JSON, and rows for the terminal.

What words a record returns one phrase of plain text, or an empty one where nothing was recorded.
"""
