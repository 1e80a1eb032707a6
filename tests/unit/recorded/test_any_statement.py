"""Whatever a suite states of results: claims, or mistakes with lines, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.errors import SuiteError
from tests.unit.recorded.suites import judged, planned, save

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord, Published

numbers = st.one_of(
    st.integers(1, 12),
    st.integers(1, 10**9),
    st.dictionaries(st.sampled_from([0, 1, 2]), st.integers(1, 12), min_size=1, max_size=2),
)
chances = st.one_of(
    st.sampled_from(["1/2", "1/5", "2/3", 0.25, 1e-320]),
    st.floats(0, 1, exclude_min=True, exclude_max=True),
    st.dictionaries(st.integers(2, 5), st.integers(1, 8), min_size=1, max_size=3),
)
stated = st.fixed_dictionaries(
    {"chance": chances},
    optional={
        "n": st.integers(1, 8),
        "t": numbers,
        "published": st.fixed_dictionaries({"n": numbers, "t": numbers, "chance": chances}),
    },
)


def yaml(value: object) -> str:
    """Write in YAML's flow style, where keys may be numbers."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {yaml(item)}' for key, item in value.items())}}}"
    return json.dumps(value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("statements")


@st.composite
def sweeps(draw: st.DrawFn) -> dict[str, object]:
    """Draw up to five prompts on up to eight examples, some of them with gaps."""
    t, n = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    cells = st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=t, max_size=t)
    evaluated = np.array(draw(cells))
    evaluated[:, 0] = True
    if draw(st.booleans()):
        evaluated[:] = True
    correct = np.array(draw(cells)) & evaluated
    shown = draw(st.lists(st.integers(0, 2), min_size=t, max_size=t))
    return {
        "correct": correct,
        "evaluated": evaluated,
        "demonstration_ids": np.array(shown)[:, None],
    }


def check(numbers: ClaimRecord | Published) -> None:
    standard, maximum = numbers.standard_baseline, numbers.max_random_baseline
    one, best = numbers.p_standard, numbers.p_max
    assert standard is not None
    assert maximum is not None
    assert one is not None
    assert best is not None
    assert 0 <= standard <= maximum * (1 + 1e-12) <= 1 + 2e-12
    assert 0 <= one <= best * (1 + 1e-9) <= 1 + 2e-9


@given(sweeps(), stated, st.sampled_from(["counted", "published"]))
@settings(max_examples=150, deadline=None)
def test_any_statement_gives_a_claim_or_a_mistake(
    folder: Path, sweep: dict[str, object], task: dict[str, object], judge: str
) -> None:
    save(folder / "m.npz", e__1=sweep)
    text = (
        "models:\n- {name: m, backend: recorded,\n"
        "   results: {path: m.npz, format: npz, ragged: true}}\n"
        f"tasks:\n- {yaml({'name': 'e', **task})}\njudge: {judge}\nassert: report\n"
    )
    try:
        (claim,) = planned(folder, text)
    except SuiteError as error:
        for problem in error.problems:
            assert problem.line in (4, 5)
            assert "tasks[0]" in problem.message
        return
    record = judged(claim)
    assert record.verdict is not None
    check(record)
    if record.published is not None:
        check(record.published)
