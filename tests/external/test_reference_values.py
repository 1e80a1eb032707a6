"""All reference values of the maximum random baseline, computed elsewhere with 126 digits."""

from __future__ import annotations

import csv
import functools
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, str]


@functools.cache
def read(path: Path) -> list[Row]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def rows(data_dir: Path) -> list[Row]:
    return read(data_dir / "statistics" / "max_random_reference.csv")


@functools.cache
def single(kind: str, n: int, numerator: str, denominator: str, p_kind: str) -> MaxRandomBaseline:
    if kind != "binom":
        pairs = (pair.split(":") for pair in kind.strip("{}").split(","))
        return MaxRandomBaseline(n, {int(m): int(size) for m, size in pairs}, 1)
    chance = Fraction(int(numerator), int(denominator))
    return MaxRandomBaseline(n, chance if p_kind == "rational" else float(chance), 1)


def baseline(row: Row) -> MaxRandomBaseline:
    keys = ("p_num", "p_den", "p_kind")
    one = single(row["kind"], int(row["n"]), *(row[key] for key in keys))
    return one.with_t(int(row["t"]))


def test_the_table_is_complete(rows: list[Row]) -> None:
    assert len(rows) == 3957
    assert {row["quantity"] for row in rows} == {"Emax_over_n", "p_standard", "p_max"}


def test_expected_maxima_agree_to_fourteen_digits(rows: list[Row]) -> None:
    for row in rows:
        if row["quantity"] == "Emax_over_n":
            ratio = Decimal(baseline(row).expected_accuracy) / Decimal(row["value"])
            assert abs(ratio - 1) <= Decimal("1e-14"), row


def test_p_values_agree_to_twelve_digits_where_a_double_holds_them(rows: list[Row]) -> None:
    for row in rows:
        value = Decimal(row["value"])
        if row["quantity"] != "Emax_over_n" and value > Decimal("1e-290"):
            ask = baseline(row)
            p = ask.p_value if row["quantity"] == "p_max" else ask.p_standard
            assert abs(Decimal(p(int(row["k"]))) / value - 1) <= Decimal("2e-12"), row


def test_logarithms_of_p_values_agree_everywhere(rows: list[Row]) -> None:
    for row in rows:
        if row["quantity"] != "Emax_over_n":
            ask, value = baseline(row), Decimal(row["value"])
            best = ask if row["quantity"] == "p_max" else ask.with_t(1)
            found = Decimal(best.log_p_value(int(row["k"])))
            assert abs(found - value.ln()) <= Decimal("1e-10"), row
