"""What makes an example, a validation set and a look the same as another."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.ledger.lines import Subject
    from pytest_maxrandom.tasks.task import Example

_SHORT = 16  # 64 bits: a million examples collide with probability 3e-8


def example_digest(example: Example) -> str:
    """First 16 digits of the SHA-256 of the content; the id does not count."""
    text = json.dumps(example.content)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_SHORT]


def set_digest(examples: Iterable[str]) -> str:
    """SHA-256 of the examples' digests; their order does not count."""
    return digest("set", *sorted(examples))


def examples_digest(examples: Iterable[Example]) -> str:
    """SHA-256 of a validation set; neither ids nor order count."""
    return set_digest(map(example_digest, examples))


def look_digest(subject: Subject, set_: str, prompts: Iterable[str]) -> str:
    """SHA-256 of what was compared: the same prompts again are the same look."""
    of = (subject.model, subject.quantization, subject.shots, subject.model_digest)
    return digest("look", set_, *of, subject.scoring, *sorted(set(prompts)))


def shared(these: Iterable[str], those: Iterable[str]) -> int:
    """Return how many examples two sets have in common, repeated ones as often as in both."""
    return (Counter(these) & Counter(those)).total()
