"""Phrases that several red flags share."""

from __future__ import annotations

from pytest_maxrandom.notation import count


def of_prompts(part: int, whole: int, one: str, several: str) -> str:
    """Say how many prompts do something, with the verb that follows; starts a sentence.

    Examples
    --------
    >>> of_prompts(1, 40, "is", "are"), of_prompts(2, 40, "is", "are")
    ('1 of 40 prompts is', '2 of 40 prompts are')
    >>> of_prompts(1, 1, "is", "are")
    'The only prompt is'
    """
    if whole == 1:
        return f"The only prompt {one}"
    return f"{count(part)} of {count(whole)} prompts {one if part == 1 else several}"
