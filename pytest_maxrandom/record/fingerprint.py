"""By what a model behind an address is known from another one under the same name."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

LARGEST_CHANGE = 0.25
"""Nats by which one log-likelihood may change between two requests: what bfloat16 leaves open, and
four times what the cache of a server was seen to change."""
_ALIKE = 0.01
"""Nats by which at most half of them change where the same weights are served twice."""
_LONG = 20.0
"""Nats of a log-likelihood beyond which noise grows with it, token by token."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a server answered to texts that tell models apart, and what it said of itself."""

    server: str
    """What it says that it is and serves."""
    when: str
    """UTC, ISO 8601: when it was asked."""
    values: list[float] = field(default_factory=list)
    """Log-likelihoods of fixed continuations, in nats; empty where it was asked for texts only."""
    tolerance: float = 0.0
    """Nats by which half of them may change while the weights are the same: what batches and
    kernels of such a server change; of one below -20, as many as a share of 20."""
    texts: list[str] = field(default_factory=list)
    """Of a server that was asked for texts only: their digests."""
    content: str = ""
    """SHA-256 (hex) of the model's files, where they are on this machine."""
    place: str = ""
    """Its address; empty where that is not kept."""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.place, self.server, f"asked {self.when}")))

    def change(self, now: Fingerprint) -> str:
        """Say by what a server that answers now is another model; empty if nothing shows that.

        Other weights move nearly all log-likelihoods, noise few of them, and by little. Texts say
        that only where none is the same: the likeliest token is another one where two are nearly
        as likely.
        """
        if self.content and now.content and self.content != now.content:
            return f"its file is {now.content[:12]}, and was {self.content[:12]} (SHA-256)"
        if apart := self.apart(now):
            half, largest = statistics.median(apart), max(apart)
            tolerance = max(self.tolerance, now.tolerance)
            if half > tolerance or largest > LARGEST_CHANGE:
                return (
                    f"log-likelihoods of the same texts differ by up to {largest:.2g} nats, half "
                    f"of them by {half:.2g} or more (of one model: at most {LARGEST_CHANGE:g} and "
                    f"{tolerance:g})"
                )
        elif self.texts and now.texts and not set(self.texts) & set(now.texts):
            return "none of the texts that it generates is that of before"
        return ""

    def is_alike(self, other: Fingerprint) -> bool:
        """Tell whether both are of the same weights, whatever they are called.

        That is more than that nothing tells them apart: it takes answers that no others give.
        """
        if self.change(other):
            return False
        if apart := self.apart(other):
            return statistics.median(apart) <= _ALIKE
        return bool(self.texts) and self.texts == other.texts

    def apart(self, other: Fingerprint) -> list[float]:
        """Return how far each log-likelihood is apart, in nats; of long ones, a share of that.

        Nothing is returned where they are not of the same texts: another version of this package
        asked for others, and of a server that only generates there are none.
        """
        if len(self.values) != len(other.values):
            return []
        return [
            abs(a - b) / max(1.0, abs(a) / _LONG)
            for a, b in zip(self.values, other.values, strict=True)
        ]

    def refusal(self, now: Fingerprint, what: str) -> str:
        """Say in one sentence that `what` is of another model than what answers now; or nothing."""
        change = self.change(now)
        return change and (
            f"{what} another model under the same name ({self}) than the one that answers now "
            f"({now}): {change}; serve the model of before, or write `revision: WORD` under the "
            "model, which makes this one a model of its own, while t counts the prompts of both"
        )
