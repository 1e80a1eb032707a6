"""How many prompts were tried, and which of them count: the t of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.ledger import Subject
from pytest_maxrandom.models.digest import model_digest
from pytest_maxrandom.models.registry import located

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.ledger import SetLedger, Try
    from pytest_maxrandom.plan import PlannedClaim


def count_tries(
    planned: PlannedClaim, run: Iterable[PlannedClaim], ledger: SetLedger, subject: Subject
) -> tuple[int, int]:
    """Return how many tries there are of a claim, and of any, on its examples.

    Parameters
    ----------
    run : iterable of PlannedClaim
        What the session is about, the claim's siblings left out: what it is about to try counts.
    ledger : SetLedger
        Of the claim's examples.
    subject : Subject
        The claim's.
    """
    claim = {*ledger.tries(subject), *own_tries(planned, subject)}
    task = {*ledger.tries(), *claim}
    for other in run:
        same = _claim_key(other) == _claim_key(planned)
        if not (same or planned.counted == "task") or not _share_examples(other, planned, ledger):
            continue
        try:
            tries = own_tries(other, subject_of(other))
        except ModelError:  # and so none of its prompts will be tried
            continue
        # Another suite may have the same replicates.
        siblings = ledger.siblings_on(other.cell.prompt_set.validation)
        tries = {tried for tried in tries if tried.prompt not in siblings}
        task |= tries
        if same:
            claim |= tries
    return len(claim), len(task)


def _share_examples(other: PlannedClaim, planned: PlannedClaim, ledger: SetLedger) -> bool:
    examples = other.cell.prompt_set.validation
    return other.base == planned.base and (
        examples == planned.cell.prompt_set.validation or ledger.is_about(examples)
    )


def subject_of(planned: PlannedClaim) -> Subject:
    """Return what the ledger knows a claim by.

    Raises
    ------
    ModelError
        If the model's files cannot be read.
    """
    model = planned.model
    return Subject(
        model=model.name,
        model_digest=model_digest(model, *located(model, planned.base)),
        quantization=model.quantization,
        shots=planned.cell.shots,
        scoring=planned.suite.scoring,
    )


def are_siblings(one: PlannedClaim, other: PlannedClaim) -> bool:
    """Tell whether two claims are different replicates of one suite."""
    same = one.design is not None and one.design is other.design
    return same and one.replicate != other.replicate


def _claim_key(planned: PlannedClaim) -> tuple[str, int]:
    """Return what is the same claim, whatever the revision of its model."""
    return planned.model.name, planned.cell.shots


def own_tries(planned: PlannedClaim, subject: Subject) -> set[Try]:
    """Return what a claim tries by itself."""
    prompts = planned.cell.prompt_set.prompts
    return {subject.tried(prompt.digest) for prompt in prompts}
