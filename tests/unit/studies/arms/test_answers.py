"""Recorded results of two arms are paired by prompts and examples, and nothing is dropped."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.studies.arms.answers import Unpaired, paired_sweeps


def sweep(name: str = "a", t: int = 3, n: int = 5, **changes: Any) -> Answers:
    generator = np.random.default_rng(len(name) * 100 + ord(name[0]))
    given = {
        "path": Path(f"{name}.npz"),
        "claim": f"t[{name}]",
        "model": name,
        "task": "t",
        "shots": 1,
        "prompts": tuple(f"p{k}" for k in range(t)),
        "examples": tuple(f"e{k}" for k in range(n)),
        "identities": tuple(f"p{k}" for k in range(t)),
        "demonstration_ids": tuple((f"d{k}",) for k in range(t)),
        "correct": generator.random((t, n)) < 0.5,
        "evaluated": np.ones((t, n), dtype=np.bool_),
        "chances": None,
    }
    return Answers(**{**given, **changes})


def reordered(each: Answers, rows: list[int], columns: list[int]) -> Answers:
    cells = np.ix_(rows, columns)
    return dataclasses.replace(
        each,
        prompts=tuple(each.prompts[row] for row in rows),
        identities=tuple(each.identities[row] for row in rows),
        demonstration_ids=tuple(each.demonstration_ids[row] for row in rows),
        examples=tuple(each.examples[column] for column in columns),
        correct=each.correct[cells],
        evaluated=each.evaluated[cells],
    )


@given(st.permutations(range(3)), st.permutations(range(5)))
def test_the_order_of_a_file_does_not_matter(rows: list[int], columns: list[int]) -> None:
    one, other = sweep("a"), sweep("b")
    expected = paired_sweeps(one, other)
    found = paired_sweeps(one, reordered(other, rows, columns))
    assert (found.first == expected.first).all()
    assert (found.second == expected.second).all()
    assert (expected.first == one.correct).all()
    assert (expected.second == other.correct).all()


def test_prompts_in_other_words_are_paired_by_their_ids_or_demonstrations() -> None:
    one = sweep("a")
    by_id = sweep("b", identities=("x", "y", "z"))
    assert (paired_sweeps(one, by_id).second == by_id.correct).all()
    by_shown = sweep("b", identities=("x", "y", "z"), prompts=("x", "y", "z"))
    turned = reordered(by_shown, [2, 0, 1], [0, 1, 2, 3, 4])
    assert (paired_sweeps(one, turned).second == by_shown.correct).all()


def test_cells_without_answer_are_no_answers() -> None:
    known = np.ones((3, 5), dtype=np.bool_)
    known[1, 2] = False
    one, other = (
        dataclasses.replace(sweep(name), evaluated=known, correct=sweep(name).correct & known)
        for name in "ab"
    )
    assert (paired_sweeps(one, other).evaluated == known).all()


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"t": 4}, {}, "prompt 'p3' is in a.npz (t[a]) only"),
        ({}, {"t": 4}, "prompt 'p3' is in b.npz (t[b]) only"),
        ({"n": 6}, {}, "example 'e5' is in a.npz (t[a]) only"),
        ({}, {"n": 7}, "example 'e5' is in b.npz (t[b]) only"),
        (
            {},
            {"demonstration_ids": (("d0",), ("other",), ("d2",))},
            "prompt 'p1' shows different demonstrations in b.npz (t[b]) and a.npz (t[a])",
        ),
        (
            {"identities": ("p0", "p1", "p2")},
            {"identities": ("p0", "p1", "changed")},
            "prompt 'p2' is in a.npz (t[a]) only",
        ),
    ],
)
def test_what_only_one_has_is_told(one: dict[str, Any], other: dict[str, Any], told: str) -> None:
    with pytest.raises(Unpaired) as caught:
        paired_sweeps(sweep("a", **one), sweep("b", **other))
    assert str(caught.value) == told


def test_an_answer_that_only_one_has_is_told() -> None:
    known = np.ones((3, 5), dtype=np.bool_)
    known[1, 2] = False
    other = dataclasses.replace(sweep("b"), evaluated=known, correct=sweep("b").correct & known)
    with pytest.raises(Unpaired, match=r"'p1' was evaluated on example 'e2' in a.npz .* only"):
        paired_sweeps(sweep("a"), other)


def test_clusters_may_stand_in_either_file_and_follow_their_examples() -> None:
    clusters = ("x", "x", "y", "y", "z")
    one, other = sweep("a"), sweep("b")
    assert paired_sweeps(one, other).clusters is None
    told = dataclasses.replace(one, clusters=clusters)
    assert paired_sweeps(told, other).clusters == clusters
    order = [4, 2, 0, 1, 3]
    turned = dataclasses.replace(
        reordered(other, [0, 1, 2], order), clusters=tuple(clusters[k] for k in order)
    )
    assert paired_sweeps(one, turned).clusters == clusters
    assert paired_sweeps(told, turned).clusters == clusters


def test_files_that_cluster_an_example_differently_cannot_be_paired() -> None:
    one = sweep("a", clusters=("x", "x", "y", "y", "z"))
    other = sweep("b", clusters=("x", "x", "x", "y", "z"))
    with pytest.raises(Unpaired, match=r"'e2' belongs to the cluster 'y' in a.npz .* and to 'x'"):
        paired_sweeps(one, other)
