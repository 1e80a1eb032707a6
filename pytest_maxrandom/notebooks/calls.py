"""Judge results that are in memory, and read reports."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.in_memory import Said, claims_in_memory, only, planned_in_memory
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.notebooks.judged import JudgedClaim, Report
from pytest_maxrandom.record import BestModelsRecord, ClaimRecord, RunRecord
from pytest_maxrandom.record.packed import pack
from pytest_maxrandom.recorded.tables.memory import NAMED
from pytest_maxrandom.reports.gathering import adjust, versions
from pytest_maxrandom.reports.page.cells import of_answers
from pytest_maxrandom.reports.results import load
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.arms.all_models import (
    PlannedBestModels,
    evidence_of,
    record_best_models,
)
from pytest_maxrandom.studies.arms.plan import plan_comparisons

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from os import PathLike

    from pytest_maxrandom.claims.recorded_claims import RecordedClaim


def judge(
    results: Any,
    *,
    prompt: str | None = None,
    example: str | None = None,
    prediction: str | Sequence[str] | None = None,
    gold: str | None = None,
    reference: str | None = None,
    kind: str | None = None,
    input: str | None = None,  # noqa: A002 - as the key of a suite
    correct: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    judge: str | None = None,
    choices: str | int | Sequence[str] | None = None,
    cluster: str | None = None,
    sample: str | None = None,
    model: str | None = None,
    task: str | None = None,
    shots: str | int | None = None,
    t: int | None = None,
    chance: float | str | Fraction | Mapping[int, int] | None = None,
    claim: Mapping[str, Any] | str | None = None,
    metric: str = "accuracy",
    aggregate: str | Mapping[str, int] | None = None,
    incumbent: str | None = None,
    control: str | None = None,
    scoring: str | None = None,
    exact_match: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    ragged: bool = False,
) -> JudgedClaim:
    """Judge the best of t prompts by their answers, as a suite of recorded results would.

    Parameters
    ----------
    results : data frame, mapping or list of mappings
        A row for each prompt and example: a data frame of pandas, polars or pyarrow, a mapping of
        names to columns, or a list of rows. In a mapping, arrays of shape (prompts, examples), or
        with a third axis for samples, hold a cell for each answer instead, and arrays of shape
        (examples,) beside them what belongs to an example.
    prompt, example, prediction, gold, correct, score, judge, cluster, sample : str, optional
        The columns, if they are called otherwise. `correct` (0 or 1), `score` (from 0 to 1, perhaps
        with its `judge`), or `prediction` and `gold`, the answer and the right one, are needed.
        `sample` tells several answers of a prompt to an example apart. Where a row is an example,
        `prediction`, `correct` or `score` is the list of columns that hold one prompt each, and no
        other column names prompts.
    reference, kind, input : str, optional
        The columns of free answers, if they are called otherwise: the right one, or a list of its
        spellings; what kind of text it is, told by rule if not given; and the question, which is
        read where its column is named, and without which the default claim cannot tell.
    choices : str, int or sequence of str, optional
        The column with the number of choices or their list; or the number or the list itself,
        where all questions share it.
    model, task : str, optional
        A column, or else the name itself, for reports.
    shots : str or int, optional
        A column, or the number of demonstrations itself; 0 if not given.
    t : int, optional
        How many prompts were ever tried, if that is more than the results hold.
    chance : float, str, Fraction or mapping, optional
        The chance of one guess, such as "1/4", where no choices tell it.
    claim : mapping or "report", optional
        What is claimed, as below `assert` in a suite: ``{"p_max": 0.05}``. By default the
        permutation p is at most .05, and the best prompt is above the maximum random baseline.
    metric : str
        What prompts are best in.
    aggregate : str or mapping, optional
        What several samples come to: "mean" (by default), "vote", "pass", "all" or ``{"pass": k}``.
    incumbent, control : str, optional
        The prompt that runs today, for ``claim={"better_than": "incumbent"}``, and a blank or
        constant one, for ``claim={"control_p": 0.05}``.
    scoring : str, optional
        How free answers are compared with their references: "exact_match" (by default), or "f1".
    exact_match : mapping, optional
        When a free answer is a reference, as in a suite: ``{"normalise": ["case"]}``.
    tolerance : float, optional
        By how much a number in a free answer may be off.
    ragged : bool
        Whether prompts may have been scored on different numbers of examples.

    Raises
    ------
    ValueError
        In one sentence, if an argument is wrong, or the results hold several claims.
    RecordedError
        In one sentence with the row, if results cannot be read or contradict themselves.

    Examples
    --------
    >>> from pytest_maxrandom import judge
    >>> said = [["yes", "no", "yes", "no"] * 10, ["yes", "no", "no", "no"] * 10]
    >>> rows = [
    ...     {"prompt": p, "example": e, "prediction": each, "gold": "yes" if e % 2 == 0 else "no"}
    ...     for p, row in enumerate(said) for e, each in enumerate(row)
    ... ]
    >>> judge(rows, choices=["yes", "no"]).passed
    True
    """
    said = dict(locals())
    del said["results"]
    return _report([only(claims_in_memory(results, Said.of(said)))]).claims[0]


def judge_each(results: Any, *, compare: str | None = None, **said: Any) -> Report:
    """Judge every model, task and number of shots in some results; see `judge`.

    Their p-values are adjusted for their number (Holm), as those of a run are.

    Parameters
    ----------
    compare : "all", optional
        Also tell which of the models may be the best, each at its best prompt; it stands in
        ``report()``, and in ``record.best_models``.

    Raises
    ------
    TypeError
        If an argument is none of `judge`.
    ValueError, RecordedError
        As `judge` does.
    """
    if compare is None:
        return _report(claims_in_memory(results, Said.of(said)))
    if compare != "all":
        raise ValueError(f"compare: found {compare!r}, expected 'all'; a suite compares two models")
    suite, planned = planned_in_memory(results, Said.of(said), compare=compare)
    try:
        compared = plan_comparisons(suite, planned)
    except SuiteError as error:
        raise ValueError("; ".join(each.message for each in error.problems)) from None
    claims = [each for each in planned if each.evidence is not None]
    return _report(claims, [each for each in compared if isinstance(each, PlannedBestModels)])


def read_report(path: str | PathLike[str]) -> Report:
    """Read what ``pytest --maxrandom-json`` or ``maxrandom gate`` wrote.

    Raises
    ------
    ReportError
        If it is no report, or cannot be read.
    """
    return Report(load(Path(path)))


def _report(claims: Sequence[RecordedClaim], compared: Sequence[PlannedBestModels] = ()) -> Report:
    records = [_record(claim, claims) for claim in claims]
    run = RunRecord(
        claims=records,
        best_models=[_best_models(each) for each in compared if not each.missing],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
    )
    adjust(run.claims, run.adjustment)
    cells = {}
    for claim, record in zip(claims, records, strict=True):
        assert claim.evidence is not None
        if (found := of_answers(claim.evidence.results, texts=True)) is not None:
            cells[record.id] = pack(found)
    return Report(run, cells)


def _record(claim: RecordedClaim, known: Sequence[RecordedClaim]) -> ClaimRecord:
    """Return the worded record of a claim, with what became of it."""
    heading = claim.record(f"{NAMED}::{claim.name}", str(NAMED))
    record = result_of_recorded(claim, known).record(heading)
    word(record)
    untold = record.cannot_tell is not None
    record.outcome = "cannot tell" if untold else "passed" if record.passed else "failed"
    return record


def _best_models(planned: PlannedBestModels) -> BestModelsRecord:
    """Return what is found of all models on one task."""
    record = planned.record(f"{NAMED}::{planned.task}::{planned.name}", str(NAMED))
    known = {name: evidence_of(claim) for name, claim in planned.arms}
    tried = {name: each.t for name, each in known.items()}
    record_best_models(planned, record, [each.results for each in known.values()], tried)
    record.outcome = "passed"
    return record
