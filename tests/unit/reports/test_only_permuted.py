"""A result that only shuffled right answers judge stands in every report, with its sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.csv import csv
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from tests.unit.claims.test_assessment import assessed, knowing, yes_no
from tests.unit.reports.opened import html
from tests.unit.reports.page import read
from tests.unit.reports.samples import run

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


@pytest.fixture(scope="module")
def judged() -> RunRecord:
    """One claim of macro-F1, of which there is no p_max."""
    record = assessed(yes_no("yyn" * 10), knowing, t=3, metric="macro_f1")
    assert (record.p_max, record.passed) == (None, True)
    assert record.permutation_p is not None
    record.outcome = "passed"
    return run(record)


def test_its_sentence_and_its_sources_are_disclosed(judged: RunRecord) -> None:
    for text in (disclosure(judged), html(judged), latex(judged)):
        said = " ".join(re.sub("<[^>]+>", "", text).split())
        assert "reaches a macro-F1 of 1.000 on" in said
        assert "the best of t random guessers on the same" in said.replace("$t$", "t")
        assert "p_max the probability" not in said
    sources = bibtex(judged)
    assert all(name in sources for name in ("Yauney", "Westfall", "Besag"))
    assert "Yauney" in read(disclosure(judged)).text


def test_it_is_quoted_drawn_and_in_the_table_of_the_comment(judged: RunRecord) -> None:
    top = read(markdown(judged)).text.partition("result")[0]
    assert (
        "t 0-shot: best macro-F1 1.000, needs .627 (permutation p = 1.0e-04; t = 3, n = 30)" in top
    )
    assert html(judged).count("<rect ") == 2
    (row,) = read(comment(judged)).body
    assert "1.000" in " ".join(row)
    (line,) = csv(judged).splitlines()[1:]
    assert "macro_f1" in line
