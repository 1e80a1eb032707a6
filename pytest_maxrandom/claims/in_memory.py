"""Claims about results that are in memory, without a suite file: a data frame, or arrays."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.errors import SuiteError, did_you_mean, listed
from pytest_maxrandom.recorded.guesses import guess
from pytest_maxrandom.recorded.names import NAMED
from pytest_maxrandom.recorded.tables import memory
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.recorded.tables.table import columns_of, sweeps_of
from pytest_maxrandom.suite.loader import RecordedSuite, suite_of
from pytest_maxrandom.suite.mistakes import worded
from pytest_maxrandom.suite.positions import Document
from pytest_maxrandom.suite.recorded import OwnColumns, TableColumns, TableResults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.recorded_claims import RecordedClaim
    from pytest_maxrandom.suite.recorded import RecordedModelSpec

_PLACES = re.compile(r"^(?:tasks\[\d+\]|models\[\d+\](?:\.results(?:\.columns)?)?)[.:]\s*")
"""Where in a suite a mistake would be, which is in no suite here."""
_NO_CHANCE = "give `chance`, such as 1/4"
_FEW_LABELS = 10
_ROLES = [role for role in TableColumns.model_fields if role not in OwnColumns.model_fields]
"""Columns that an argument can name and nothing else; of others it may also be the value."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the caller says of results in memory; see `pytest_maxrandom.judge`."""

    prompt: str | None = None
    example: str | None = None
    prediction: str | Sequence[str] | None = None
    gold: str | None = None
    reference: str | None = None
    kind: str | None = None
    input: str | None = None
    correct: str | Sequence[str] | None = None
    score: str | Sequence[str] | None = None
    judge: str | None = None
    choices: str | int | Sequence[str] | None = None
    cluster: str | None = None
    sample: str | None = None
    model: str | None = None
    task: str | None = None
    shots: str | int | None = None
    t: int | None = None
    chance: float | str | Fraction | Mapping[int, int] | None = None
    claim: Mapping[str, Any] | str | None = None
    metric: str = "accuracy"
    aggregate: str | Mapping[str, int] | None = None
    incumbent: str | None = None
    control: str | None = None
    scoring: str | None = None
    exact_match: Mapping[str, Any] | None = None
    tolerance: float | None = None
    ragged: bool = False

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Said:
        """Return what somebody says in arguments.

        Raises
        ------
        TypeError
            If one is none of these.
        """
        names = [each.name for each in fields(cls)]
        for name in said.keys() - names:
            raise TypeError(
                f"there is no argument {name!r}{did_you_mean(name, names)} (arguments: "
                f"{', '.join(names)})"
            )
        return cls(**said)


def claims_in_memory(results: Any, said: Said) -> list[RecordedClaim]:
    """Return the claims about results, as a suite of recorded results would have them.

    See `planned_in_memory`.
    """
    return [each for each in planned_in_memory(results, said)[1] if each.evidence is not None]


def planned_in_memory(
    results: Any, said: Said, **more: Any
) -> tuple[RecordedSuite, list[RecordedClaim]]:
    """Return a suite of results, with what is planned in it: also what has no results.

    `more` are further keys of the suite.

    Raises
    ------
    RecordedError
        In one sentence, if the results cannot be read or contradict themselves.
    ValueError
        With all that is wrong with what is said of them.
    """
    table = memory.Table(results)
    answers = _answers(table, said)
    models, tasks = (
        list(dict.fromkeys(getattr(each, name) for each in answers)) for name in ("model", "task")
    )
    try:
        suite = suite_of(memory.NAMED, Document(_suite(said, models, tasks) | more))
        assert isinstance(suite, RecordedSuite)
        return suite, plan_recorded(suite, _Read(answers))
    except SuiteError as error:
        told = (_sentence(each.message, answers[0]) for each in error.problems)
        raise ValueError("; ".join(told)) from None


def only(claims: Sequence[RecordedClaim]) -> RecordedClaim:
    """Return the claim of results that hold one.

    Raises
    ------
    ValueError
        If they hold several.
    """
    if len(claims) > 1:
        raise ValueError(
            f"the results hold {len(claims)} claims: {listed([each.name for each in claims], 4)}; "
            "judge_each(...) judges all of them, or choose the rows of one"
        )
    return claims[0]


class _Read:
    """Results of models that were read already."""

    def __init__(self, answers: Sequence[Answers]) -> None:
        self._answers = answers

    def of(self, model: RecordedModelSpec) -> list[Answers]:
        return [each for each in self._answers if each.model == model.name]


def _answers(table: memory.Table, stated: Said) -> list[Answers]:
    columns = {role: _named(getattr(stated, role)) for role in _ROLES}
    constants: dict[str, Any] = {}
    if isinstance(stated.choices, str):
        columns["choices"] = stated.choices
    elif stated.choices is not None:
        constants["choices"] = memory.constant_choices(stated.choices)
    meant: dict[str, Any] = {"model": "model", "task": "task", "shots": 0}
    for role in meant:
        value = getattr(stated, role)
        if isinstance(value, str) and value in table.header:
            columns[role] = value
        elif value is not None:
            if isinstance(value, str) and role == "shots":
                raise ValueError(
                    f"shots: there is no column {value!r}, found {listed(table.header)}"
                    f"{did_you_mean(value, table.header)}"
                )
            meant[role], columns[role] = value, ""
    _check_columns(table, columns, constants)
    names = ("scoring", "exact_match", "tolerance")
    compared = {key: value for key in names if (value := getattr(stated, key)) is not None}
    if compared and (columns["reference"] or "reference") not in table.header:
        raise ValueError(f"{next(iter(compared))} is about free answers; name their `reference`")
    keys = {"path": "results", "format": "table", "columns": columns, "ragged": stated.ragged}
    keys |= compared
    try:
        spec = TableResults.model_validate(keys)
    except ValidationError as error:
        raise ValueError(worded(error, keys, TableResults).replace("columns.", "")) from None
    return sweeps_of(table.rows(columns_of(spec), constants), spec, Meant(**meant))


def _named(column: str | Sequence[str] | None) -> str | list[str] | None:
    return column if column is None or isinstance(column, str) else [*column]


def _check_columns(
    table: memory.Table, columns: Mapping[str, str | list[str] | None], constants: Mapping[str, Any]
) -> None:
    """Say all columns that are missing at once, and which they seem to be.

    Raises
    ------
    ValueError
        If there are any.
    """
    header = table.header
    wide = any(isinstance(name, list) for name in columns.values())
    needed = [] if wide else ["prompt", "example"]
    of_role = {role: _several(columns[role] or role) for role in _ROLES if columns[role] != ""}
    known = {role for role, names in of_role.items() if {*names} <= {*header}}
    if known.isdisjoint(("correct", "score")):
        needed += ["prediction"] if "reference" in known else ["prediction", "gold"]
    named = [role for role, name in columns.items() if name and not {*_several(name)} <= {*header}]
    missing = [*dict.fromkeys([*named, *(role for role in needed if role not in known)])]
    if not missing:
        return
    said = {role: name for role, name in columns.items() if role in known or name == ""}
    guessed = guess(table.rows({name: (name, False) for name in header}), said).columns
    hints = [
        f"{role}={guessed[role].named!r}"
        for role in NAMED
        if role in guessed and role not in (*said, *constants)
        if guessed[role].column != role
    ]
    noun = "columns" if missing[1:] else "column"
    asked = [name for role in missing for name in _several(columns.get(role) or role)]
    wrong = listed([name for name in asked if name not in header])
    seems = f"; by names and content it may be {', '.join(hints)}" if hints else ""
    raise ValueError(
        f"there {'are' if missing[1:] else 'is'} no {noun} {wrong} for {', '.join(missing)}; "
        f"found {listed(header)}{seems}"
    )


def _several(name: str | list[str]) -> list[str]:
    return [name] if isinstance(name, str) else name


def _suite(stated: Said, models: Sequence[str], tasks: Sequence[str]) -> dict[str, Any]:
    """Return what a suite would say."""
    results = {"path": str(memory.NAMED), "format": "table"}
    chance: Any = stated.chance
    if isinstance(chance, Fraction):
        chance = f"{chance.numerator}/{chance.denominator}"
    of_task = {
        key: value for key, value in (("t", stated.t), ("chance", chance)) if value is not None
    }
    return {
        "models": [
            {"name": name, "backend": "recorded", "results": results, "if_missing": "not asked"}
            for name in models
        ],
        "tasks": [{"name": name, **of_task} for name in tasks],
        "metric": stated.metric,
        # Who asks in a notebook is shown the numbers of a few examples, too.
        "allow_unpassable": True,
        **({} if stated.claim is None else {"assert": stated.claim}),
        **({} if stated.aggregate is None else {"aggregate": stated.aggregate}),
        **{
            role: {"prompt": prompt}
            for role in ("incumbent", "control")
            if (prompt := getattr(stated, role)) is not None
        },
    }


def _sentence(message: str, read: Answers) -> str:
    """Write a mistake of a suite in the words of a call."""
    told = re.sub(r"(^|`)assert\b", r"\1claim", _PLACES.sub("", message))
    if _NO_CHANCE not in told:
        return told
    right = sorted({read.labels[label] for each in read.gold or () for label in each})
    few = "; or `reference` in place of `gold`, if there are no choices" if right else ""
    if 1 < len(right) <= _FEW_LABELS:
        few = f"; the right answers are {listed(right)}"
    return told.replace(_NO_CHANCE, f"give `choices` (4, or their list) or `chance` (1/4){few}")
