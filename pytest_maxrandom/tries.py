"""How many prompts were tried, and which of them count: the t of a claim."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.ledger import Subject
from pytest_maxrandom.ledger.base import COUNTED, Use
from pytest_maxrandom.ledger.digests import example_digest
from pytest_maxrandom.models.digest import model_digest
from pytest_maxrandom.models.registry import located

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from pytest_maxrandom.ledger import SetLedger, Try
    from pytest_maxrandom.ledger.lines import Row
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


def use_of(planned: PlannedClaim, folder: PurePosixPath, suite: str) -> Use:
    """Return what a claim is tested on, and what of a ledger counts for it.

    A model on the hub is known by its name, one in a folder by its content, too: a suite that is
    moved may name the folder otherwise. The folder is read only where a row is of another name.
    """
    examples = tuple(map(example_digest, planned.cell.prompt_set.validation))

    @functools.cache
    def digest() -> str | None:
        try:
            is_local = Path(located(planned.model, planned.base)[0]).is_dir()
            return subject_of(planned).model_digest if is_local else None
        except ModelError:
            return None

    def counts(row: Row) -> bool:
        if row["kind"] not in COUNTED:
            return False
        if planned.counted == "task":
            return True
        named = row["model"] == planned.model.name
        return row["shots"] == planned.cell.shots and (named or row["model_digest"] == digest())

    return Use(folder, f"{suite}::{planned.name}", examples, counts)
