"""Looks at recorded answers that are compared with others: the ledger counts them.

Nobody counts the prompts of recorded results. But whoever records anew what they answer to the same
examples, and compares that with the incumbent or with an earlier run, looks again. The same answers
again are the same look.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.ledger import FOLDER, SIMULATED, Named, SetLedger, Subject
from pytest_maxrandom.tasks.references import Open
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.record import ClaimRecord, Remark
    from pytest_maxrandom.record.packed import KeptAnswers


class RecordedLooks(NamedTuple):
    """What the ledger knows of a claim about recorded answers, once they are looked at."""

    answers: int
    """How many different answers were looked at on these examples."""
    beside: int
    """How often such, or other answers of an incumbent, were compared with one."""
    warnings: list[Remark]


def look_at(
    claim: ClaimRecord,
    answers: Sequence[KeptAnswers],
    beside: Path,
    run: str,
    incumbent: str | None = None,
) -> RecordedLooks:
    """Write down that answers of a claim are compared, and return how often that happened.

    Parameters
    ----------
    claim : ClaimRecord
        Its id, task and shots name it. Its examples are known by their ids.
    answers : sequence of KeptAnswers
        Those that are looked at, the earlier ones first; at least one.
    beside : Path
        The folder of its suite, or test, beside which the ledger stands.
    run : str
        Names the session in what is written.
    incumbent : str, optional
        Digest of the answers that they are compared with, where that is an incumbent.

    Raises
    ------
    LedgerError
        If the ledger cannot be read.
    """
    name = claim.id.partition("::")[2].removeprefix(f"{claim.task}[")
    model = name.removesuffix(f"-{claim.shots}shot]")
    # Other answers are another look, as those of another revision of a model are.
    subjects = [
        Subject(model, each.digest, claim.quantization, claim.shots, claim.scoring)
        for each in answers
    ]
    examples = [
        Example.without_choices(each, f"{claim.task}\n{each}", (), Open("recorded"))
        for each in answers[-1].examples
    ]
    folder = beside / (SIMULATED if claim.simulated else FOLDER)
    ledger = SetLedger(folder, run, claim.task, examples)
    for subject, answers_of_one in zip(subjects, answers, strict=True):
        right = (
            sum(float(cell) for cell in row if cell not in ("-", None))
            for row in answers_of_one.rows
        )
        ledger.look(
            subject,
            answers_of_one.prompts,
            t=max(claim.t or 1, len(answers_of_one.prompts)),
            n=len(answers_of_one.examples),
            best_correct=int(max(right)),
            answers=answers_of_one.digest,
            incumbent=None if incumbent is None else Named(incumbent),
        )
    return RecordedLooks(
        ledger.different_answers(subjects[-1]),
        ledger.different_comparisons(subjects[-1]),
        ledger.problems,
    )


def beside_incumbent(
    claim: Claim,
    heading: ClaimRecord,
    answers: KeptAnswers,
    incumbent: IncumbentAnswers,
    beside: Path,
    run: str,
) -> Claim:
    """Count a look beside the incumbent, and return the claim with the level that it leaves.

    `heading` is that of the claim, and gets what is told of the ledger; the others are as of
    `look_at`.
    """
    other = incumbent.answers_digest or incumbent.digest
    found = look_at(heading, [answers], beside, run, other)
    heading.different_answers = found.answers
    heading.warnings += found.warnings
    return replace(claim, look=found.beside)
