"""Whether the model behind an address is still the one whose prompts were counted and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject
    from pytest_maxrandom.models.registry import ModelPool
    from pytest_maxrandom.record import Fingerprint


def fingerprint_of(planned: PlannedClaim, pool: ModelPool) -> Fingerprint | None:
    """Return by what a claim's model is known again, where it is behind an address.

    Raises
    ------
    ModelError
        If its server is not there, or does not pass a check.
    """
    generates = SCORERS[planned.suite.scoring].generates
    return pool.fingerprint(planned.located, generates=generates)


def check_server(
    planned: PlannedClaim, pool: ModelPool, ledger: SetLedger, subject: Subject
) -> None:
    """Refuse a server with another model than the one whose prompts the ledger counts.

    What is known of the model is written to the ledger with its first prompt, so that a store that
    was lost, or another machine, forgets nothing.

    Raises
    ------
    ModelError
        In one sentence that names both.
    """
    if (now := fingerprint_of(planned, pool)) is None:
        return
    known = ledger.served(subject.model_digest)
    for before in known:
        if wrong := before.refusal(now, f"{ledger.path.name} counts prompts of"):
            raise ModelError(wrong)
    # One that was asked for texts tells nothing of log-likelihoods, nor the other way round.
    if not any(bool(before.values) == bool(now.values) for before in known):
        ledger.serve(subject, now)
