"""Several samples of each answer, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import accuracy, count, percent
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from collections.abc import Mapping


def worth(record: Mapping[str, Any]) -> str:
    """Say what the samples of the best prompt are worth, and what a guesser with such ones is.

    It is given the fields of `pytest_maxrandom.record.Sampled`.
    """
    k = record["samples"]
    return _sentence(
        record,
        f"{accuracy(record['right'])} of its samples are right",
        f"pass@{k} is {accuracy(record['any_right'])}{_by_chance(record['any_by_chance'])}",
        f"all {k} are right on {accuracy(record['all_right'])}"
        f"{_by_chance(record['all_by_chance'])}",
    )


def grades(found: Mapping[str, Any]) -> str:
    """Say the same of samples that have scores, of which no guess has a chance."""
    return _sentence(
        found,
        f"the mean score of the best prompt's samples is {accuracy(found['right'])}",
        f"of the best sample of each example it is {accuracy(found['any_right'])}, of the worst "
        f"{accuracy(found['all_right'])}",
    )


def _sentence(record: Mapping[str, Any], right: str, *extremes: str) -> str:
    """Say how much the samples differ, as far as it is known, around what they are worth."""
    return clauses(
        f"Each example was asked {count(record['samples'])} times",
        record["different"] is not None
        and f"the best prompt gives {record['different']:.1f} different answers on average, and "
        f"{percent(record['alike'])} of the examples get the same one each time",
        right,
        record["noise_of_data"] is not None
        and f"its standard error is {accuracy(record['noise_of_data'])} of data (other examples) "
        f"and {accuracy(record['noise_of_prediction'])} of prediction (the same asked again)",
        *extremes,
    )


def _by_chance(value: float | None) -> str:
    return (
        "" if value is None else f" (a guesser with as many different answers: {accuracy(value)})"
    )
