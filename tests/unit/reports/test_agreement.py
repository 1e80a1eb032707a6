"""Verdicts are counted as in Table 1 of the paper, and each stands in the grid once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.record import STANDINGS, ClaimRecord, Standing
from pytest_maxrandom.reports.agreement import MOST_COLUMNS, Counts, agreement
from pytest_maxrandom.reports.rendering import latex, markdown
from tests.unit.reports.opened import html
from tests.unit.reports.page import folded, read
from tests.unit.reports.samples import claim, recorded, run, several, untested

VERDICTS: tuple[Standing, ...] = (*STANDINGS,)

some_claims = st.lists(
    st.builds(
        lambda task, model, shots, verdict: recorded(
            task=f"task {task}",
            model=f"model {model}",
            shots=shots,
            verdict=verdict,
            id=f"a::{task} {model} {shots}",
        ),
        st.integers(1, 4),
        st.integers(1, 8),
        st.sampled_from([0, 1, 2, 10]),
        st.sampled_from([*VERDICTS, None]),
    ),
    max_size=40,
)


@given(some_claims)
@settings(deadline=None)
def test_every_verdict_is_counted_and_stands_in_the_grid_once(claims: list[ClaimRecord]) -> None:
    judged = [claim for claim in claims if claim.verdict is not None]
    found = agreement(run(*claims))
    cells = {(claim.task, claim.model, claim.shots) for claim in judged}
    tasks, columns = {cell[0] for cell in cells}, {cell[1:] for cell in cells}
    assert bool(found) == (
        len(tasks) > 1 and len(columns) > 1 and len(cells) > max(len(tasks), len(columns))
    )
    if not found:
        return
    [found_all] = found
    in_grid = Counter(
        (task, *column, verdict)
        for columns_of_grid in found_all.grids
        for task, cells_of_task in found_all.rows.items()
        for column in columns_of_grid
        for verdict in cells_of_task.get(column, ())
    )
    assert in_grid == Counter((c.task, c.model, str(c.shots), c.verdict) for c in judged)
    total = found_all.counts[-1]
    assert (total.kind, total.total) == ("all", len(judged))
    for kind, attribute in (("model", "model"), ("shots", "shots")):
        for row in found_all.counts:
            if row.kind == kind:
                of = Counter(c.verdict for c in judged if str(getattr(c, attribute)) == row.of)
                assert (row.above_maximum, row.between, row.below) == (
                    of["above maximum"],
                    of["between baselines"] + of["at standard"],
                    of["below standard"],
                )
                assert row.total == sum(of[verdict] for verdict in VERDICTS)
    shown = {row.of for row in found_all.counts if row.kind == "model"}
    assert shown == {claim.model for claim in judged}
    by_shots = {row.of for row in found_all.counts if row.kind == "shots"}
    distinct = {str(claim.shots) for claim in judged}
    assert by_shots == (distinct if len(distinct) > 1 else set())


@given(some_claims)
@settings(deadline=None)
def test_columns_of_a_model_stand_together_from_few_shots_to_many(
    claims: list[ClaimRecord],
) -> None:
    found = agreement(run(*claims))
    if not found:
        return
    grids = found[0].grids
    columns = [column for grid in grids for column in grid]
    models = list(dict.fromkeys(model for model, _ in columns))
    assert columns == sorted(columns, key=lambda one: (models.index(one[0]), int(one[1])))
    assert max(map(len, grids)) <= MOST_COLUMNS


# Published totals (arXiv 2404.13020, Table 1): six models, and three of them.
@pytest.mark.parametrize(
    ("above_maximum", "between", "total", "flipped"),
    [(199, 56, 288, "22.0 %"), (36, 4, 48, "10.0 %"), (32, 10, 48, "23.8 %"), (0, 0, 5, "-")],
)
def test_the_share_of_flipped_results_is_the_papers(
    above_maximum: int, between: int, total: int, flipped: str
) -> None:
    counts = Counts("", "all", above_maximum, between, total - above_maximum - between)
    assert counts.above_standard == above_maximum + between
    assert counts.total == total
    assert counts.flipped == flipped


def test_the_report_shows_the_counts_and_the_grid_with_signs_and_words() -> None:
    claims = [
        recorded(task=task, model=model, id=f"a::{task}{model}", verdict=verdict)
        for (task, model), verdict in zip(
            [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")], VERDICTS, strict=True
        )
    ]
    _, counts, grid = read(markdown(run(*claims))).tables[:3]
    assert counts[1:] == [
        ["a", "2", "1", "1", "50.0 %", "0", "2"],
        ["b", "1", "0", "1", "100.0 %", "1", "2"],
        ["all", "3", "1", "2", "66.7 %", "1", "4"],
    ]
    assert grid == [
        ["task", "a4 shots", "b4 shots"],
        ["x", "●\xa0above", "◐\xa0between"],
        ["y", "◔\xa0at standard", "○\xa0below"],
    ]


def test_counts_and_grids_are_folded_and_whole() -> None:
    text = folded(markdown(run(*several(tasks=41))), "Agreement of the two baselines")
    _, grid = read(text).tables
    assert len(grid) == 42
    wide = markdown(run(*several(models=7, tasks=2)))
    _, first, second = read(folded(wide, "Agreement of the two baselines")).tables
    assert [len(first[0]), len(second[0])] == [MOST_COLUMNS + 1, 3]


def of_suite(suite: str, verdicts: tuple[Standing, ...]) -> list[ClaimRecord]:
    cells = [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")]
    return [
        recorded(task=task, model=model, id=f"{suite}::{task}[{model}]", verdict=verdict)
        for (task, model), verdict in zip(cells, verdicts, strict=True)
    ]


def test_suites_about_the_same_things_are_counted_each_by_itself() -> None:
    first = of_suite("suites/one.yaml", VERDICTS)
    second = of_suite("suites/two.yaml", ("below standard",) * 4)
    record = run(*first, *second)
    found = agreement(record)
    assert [each.suite for each in found] == ["one.yaml", "two.yaml"]
    assert [each.counts[-1].total for each in found] == [4, 4]
    assert [each.counts[-1].below for each in found] == [1, 4]
    assert all(len(cell) == 1 for e in found for row in e.rows.values() for cell in row.values())
    tables = read(folded(markdown(record), "Agreement of the two baselines")).tables
    assert [tables[place][-1][-1] for place in (0, 2)] == ["4", "4"]
    assert "Of `one.yaml`:" in markdown(record)
    page = html(record)
    assert page.count("<h2>Agreement of the two baselines</h2>") == 1
    assert page.count("<code>two.yaml</code>: ") == 2
    tex = latex(record)
    assert r"\caption{\texttt{two.\allowbreak{}yaml}: Agreement of the standard" in tex
    assert tex.count(r"\label{tab:maxrandom-agreement-") == 2


def test_suites_about_different_things_are_counted_together() -> None:
    first = of_suite("one.yaml", VERDICTS)
    second = [replace(each, model="c", id=f"two.yaml::{each.id}") for each in first[::2]]
    found = agreement(run(*first, *second))
    assert [(each.suite, each.counts[-1].total) for each in found] == [("", 6)]


@pytest.mark.parametrize("claims", [[], [claim()], [untested()] * 4, several(tasks=1)])
def test_nothing_to_compare_shows_no_table(claims: list[ClaimRecord]) -> None:
    assert agreement(run(*claims)) == []
    assert "Agreement of the two" not in markdown(run(*claims))
