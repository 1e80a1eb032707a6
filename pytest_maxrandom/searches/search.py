"""A search for a good prompt by a program: each try is counted, and the verdict is valid for it.

::

    from pytest_maxrandom import search

    with search("eval_suites/snarks.yaml", task="snarks", feedback="accept", budget=20) as tries:
        print(tries.outlook)
        while tries.left:
            better = tries.try_prompt(instruction=propose())
        record = tries.verdict()

A search is given what its `feedback` says and nothing else. That decides as the best of how many
prompts its best one is judged: see `pytest_maxrandom.stats.search`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path  # noqa: TC003 the annotation of a dataclass's field
from typing import TYPE_CHECKING, get_args

from pytest_maxrandom.errors import SearchError, did_you_mean
from pytest_maxrandom.host import STORE
from pytest_maxrandom.models.base import EngineName
from pytest_maxrandom.searches.tried import Tried
from pytest_maxrandom.searches.tries import Tries, file_of
from pytest_maxrandom.stats.search import Feedback
from pytest_maxrandom.studies.plan import plan_file, sweeps_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from pytest_maxrandom.claims.planned import PlannedClaim

_SEVERAL = {"task": "tasks", "model": "models", "shots": "numbers of shots"}
_NAMES = {"task": attrgetter("task"), "model": attrgetter("arm.name"), "shots": attrgetter("shots")}
_NAME = re.compile(r"(?=.*\S)[^\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]{1,200}")


def search(
    suite: str | PathLike[str],
    *,
    task: str | None = None,
    model: str | None = None,
    shots: int | None = None,
    feedback: Feedback = "accept",
    budget: int | None = None,
    by: str = "python",
    store: str | PathLike[str] | None = None,
    engine: EngineName = "auto",
) -> Tries:
    """Begin a search for a prompt, or go on with it.

    Parameters
    ----------
    suite
        Suite file; its task, model, scoring and claim are those of the search.
    task, model, shots
        Which of the suite's; needed where it has several.
    feedback
        What the search learns of each prompt, and is given: none, accept (one bit: better than the
        best so far), improved (accuracy where it is), score (accuracy) or answers (per example). A
        proposer that sees validation examples in any other way needs answers.
    budget
        Distinct prompts that may be tried, declared now. Without one, what is tried is judged at
        the end of the doubling of its number.
    by
        Who proposes the prompts. The same name with the same feedback and budget on the same
        examples is the same search, and gets the same replies as before.
    store
        File that keeps results; ``.maxrandom/results.db`` in the current folder if not given.
    engine
        How choices are scored.

    Returns
    -------
    Tries
        Closed at the end of a ``with`` block.

    Raises
    ------
    SuiteError
        With all the mistakes of the suite.
    SearchError
        If an argument names nothing in it, or is outside its domain.
    LedgerError, ModelError
        If the ledger or the model's files cannot be read.
    """
    path = file_of("suite", suite)
    how = How(feedback, budget, by, file_of("store", STORE if store is None else store), engine)
    planned = _chosen(path, claims_of(path), task=task, model=model, shots=shots)
    return how.begin(planned, path)


@dataclass(frozen=True, slots=True)
class How:
    """How a search goes on, whichever claim it is for; see `search`.

    Raises
    ------
    SearchError
        If something is outside its domain.
    """

    feedback: Feedback
    budget: int | None
    by: str
    store: Path
    engine: EngineName = "auto"

    def __post_init__(self) -> None:
        for key, value, known in (
            ("feedback", self.feedback, get_args(Feedback)),
            ("engine", self.engine, get_args(EngineName)),
        ):
            if value not in known:
                near = did_you_mean(str(value), known)
                listed = ", ".join(known)
                raise SearchError(f"{key}: found {value!r}, expected one of {listed}{near}")
        if self.budget is not None and (type(self.budget) is not int or self.budget < 1):
            raise SearchError(
                f"budget: found {self.budget!r}, expected a whole number from 1 on, or None"
            )
        if not isinstance(self.by, str) or not _NAME.fullmatch(self.by):
            raise SearchError(
                f"by: found {self.by!r}, expected a name of who proposes prompts, on one line"
            )
        if self.store.is_dir():
            raise SearchError(f"store: found the folder {self.store}, expected the name of a file")

    def begin(self, planned: PlannedClaim, path: Path) -> Tries:
        """Begin a search for the prompts of a claim, or go on with it."""
        tried = Tried(planned, self.feedback, self.budget, self.by, self.store, self.engine)
        return Tries(tried, path)


def claims_of(path: Path) -> list[PlannedClaim]:
    """Return the claims of a suite that prompts can be searched for.

    Raises
    ------
    SuiteError
        With all the mistakes of the suite.
    SearchError
        If there is no such file, or no model to search with.
    """
    if not path.is_file():
        raise SearchError(f"there is no suite file {path}")
    claims = [each for each in sweeps_of(plan_file(path)) if not each.replicate]
    if not claims:
        raise SearchError(f"{path}: its results are recorded, so there is no model to search with")
    if any(each.aggregate for each in claims):
        raise SearchError(
            f"{path}: `generation: samples` asks each prompt several times, and a search is told "
            "of one answer to each example; search without `samples`"
        )
    known = [each for each in claims if not each.condition.task.is_open]
    if not known:
        raise SearchError(
            f"{path}: its tasks have no choices, and what a search has to reach is not known there "
            "before all its answers are; let the suite try prompts (`prompts: {instructions: "
            "[...]}`), each of which counts"
        )
    return known


def _chosen(path: Path, claims: Sequence[PlannedClaim], **wanted: str | int | None) -> PlannedClaim:
    """Return the one claim of a suite that is meant."""
    for key, value in wanted.items():
        named = _NAMES[key]
        names = list(dict.fromkeys(str(named(each)) for each in claims))
        listed = ", ".join(names)
        if value is None and len(names) > 1:
            raise SearchError(f"{path} has several {_SEVERAL[key]}; give `{key}`: {listed}")
        if value is not None and str(value) not in names:
            near = did_you_mean(str(value), names)
            raise SearchError(f"{path}: {key}: found {value!r}, expected one of {listed}{near}")
        claims = [each for each in claims if value is None or str(named(each)) == str(value)]
    return claims[0]
