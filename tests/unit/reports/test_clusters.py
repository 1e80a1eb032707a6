"""Clusters in words, tables and in what changed."""

from __future__ import annotations

import csv as csv_module
import io
from dataclasses import replace

import pytest

from pytest_maxrandom.record import ClaimRecord, HeldOut
from pytest_maxrandom.reports import origins
from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.csv import csv
from pytest_maxrandom.reports.rendering import disclosure, latex
from tests.unit.reports.samples import claim, run


def clustered(clusters: int = 15, effective_n: float = 15.0) -> ClaimRecord:
    return replace(claim(), clusters=clusters, effective_n=effective_n)


@pytest.mark.parametrize(
    ("clusters", "effective_n", "said"),
    [
        (15, 15.0, "in 15 clusters, effective n 15.0"),
        (1, 1.0, "in 1 cluster, effective n 1.0"),
        (1200, 1034.46, "in 1,200 clusters, effective n 1,034.5"),
    ],
)
def test_clusters_are_said_with_what_n_is_worth(
    clusters: int, effective_n: float, said: str
) -> None:
    record = clustered(clusters, effective_n)
    assert origins.in_clusters(record) == said
    assert origins.clusters(record) == f"n = 60 examples {said}"
    assert origins.clusters(claim()) == ""


def test_the_disclosure_names_them_in_every_language() -> None:
    told = run(clustered())
    for text in (disclosure(told), latex(told)):
        assert "(in 15 clusters, effective n 15.0)" in text
        assert "kish" in text.lower()
    for text in (disclosure(run(claim())), latex(run(claim()))):
        assert "cluster" not in text
        assert "kish" not in text.lower()


def test_the_interval_on_a_test_set_says_what_it_counts() -> None:
    test = HeldOut(20, 15, 0.75, 0.4, 0.93, 0.5, 0.0207, 1, clusters=5, effective_n=5.0)
    said = origins.held_out(replace(claim(), test=test))
    assert "95 % interval .400 to .930 by the effective n (in 5 clusters, effective n 5.0))" in said
    assert "p = .021; 1 opening" in said
    alone = origins.held_out(replace(claim(), test=replace(test, clusters=None, effective_n=None)))
    assert "interval .400 to .930), compared with" in alone
    assert "p = .021; 1 opening" in alone


def test_the_table_has_columns_for_them() -> None:
    (row,) = csv_module.DictReader(io.StringIO(csv(run(clustered(15, 14.5)))))
    assert (row["clusters"], row["effective_n"]) == ("15", "14.5")
    (row,) = csv_module.DictReader(io.StringIO(csv(run(claim()))))
    assert (row["clusters"], row["effective_n"]) == ("", "")


def test_a_claim_that_states_none_any_more_is_weaker() -> None:
    (change,) = changes(run(claim()), run(clustered()))
    assert change.kind == "weakened"
    assert "clusters from 15 to none" in change.why
    (change,) = changes(run(clustered()), run(claim()))
    assert change.kind != "weakened"
