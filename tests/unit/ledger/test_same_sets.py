"""Validation sets are the same if half of their examples are, or are through chains of sets."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.ledger import (
    SetLedger,
    examples_digest,
)
from tests.notes import sentences
from tests.unit.ledger.common import (
    OTHER,
    OWN,
    examples,
    fill,
    ledger,
    rows,
    tries,
)

if TYPE_CHECKING:
    from pathlib import Path


def changed(name: str) -> list[Any]:
    one = examples()[0]
    by: dict[str, dict[str, Any]] = {
        "text": {"input": "something else"},
        "choices": {"choices": ("yes", "no", "never")},
        "order of choices": {"choices": ("no", "yes", "maybe")},
        "gold": {"right": (2,)},
    }
    return [replace(one, **by[name]), *examples()[1:]]


def test_neither_name_nor_order_nor_ids_make_another_validation_set(tmp_path: Path) -> None:
    path = fill(tmp_path)
    same = [replace(example, id=f"new-{example.id}") for example in reversed(examples())]
    renamed = ledger(tmp_path, same, "another name")
    assert renamed.path == path
    assert renamed.tries(OWN) == tries(range(5))
    assert sentences(renamed.notes(OWN)) == ()
    renamed.evaluated(OWN, "p9", 10, 1)
    assert list(tmp_path.glob("*.jsonl")) == [path]
    assert len(rows(path, "set")) == 1


@pytest.mark.parametrize("what", ["text", "choices", "order of choices", "gold"])
def test_a_set_with_one_example_edited_is_the_same_set_and_says_so(
    tmp_path: Path, what: str
) -> None:
    path = fill(tmp_path)
    edited = ledger(tmp_path, changed(what))
    assert edited.tries(OWN) == tries(range(5))
    (note,) = sentences(edited.notes(OWN))
    assert "shares 9 of 10 examples" in note
    assert note.startswith("5 of the prompts")
    edited.evaluated(OWN, "p9", 10, 1)
    assert edited.path != path
    assert ledger(tmp_path).tries(OWN) == tries({0, 1, 2, 3, 4, 9})


def test_a_claim_without_earlier_tries_is_told_nothing_about_earlier_sets(tmp_path: Path) -> None:
    fill(tmp_path)
    assert sentences(ledger(tmp_path, examples(1, 11)).notes(OTHER)) == ()


@pytest.mark.parametrize(("first", "same"), [(4, True), (5, True), (6, False), (10, False)])
def test_sets_are_the_same_if_they_share_half_of_their_examples(
    tmp_path: Path, first: int, same: bool
) -> None:
    fill(tmp_path)
    moved = ledger(tmp_path, examples(first, first + 10))
    assert moved.tries(OWN) == (tries(range(5)) if same else set())
    assert bool(sentences(moved.notes(OWN))) == same


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_small_edits_stays_the_same_set_whatever_the_order_of_its_files(
    tmp_path: Path, seed: int
) -> None:
    steps = list(range(0, 40, 4))  # each shares 6 of 10 with the next, 2 with the one after
    random.Random(seed).shuffle(steps)
    for step in steps:
        fill(tmp_path, range(step, step + 1), examples(step, step + 10))
    for step in steps:
        found = ledger(tmp_path, examples(step, step + 10))
        assert found.tries(OWN) == tries(set(steps))


def test_all_edited_at_once_is_another_set_though_a_chain_would_have_led_there(
    tmp_path: Path,
) -> None:
    fill(tmp_path, range(1), examples(0, 10))
    assert ledger(tmp_path, examples(8, 18)).tries() == set()
    fill(tmp_path, range(1, 2), examples(4, 14))
    assert ledger(tmp_path, examples(8, 18)).tries() == tries({0, 1})


@pytest.mark.parametrize(("before", "now"), [(10, 20), (20, 10), (10, 200)])
def test_more_or_fewer_examples_of_the_same_are_the_same_set(
    tmp_path: Path, before: int, now: int
) -> None:
    fill(tmp_path, range(5), examples(0, before))
    resized = ledger(tmp_path, examples(0, now))
    assert resized.tries(OWN) == tries(range(5))
    assert f"shares {min(before, now)} of {now} examples" in sentences(resized.notes(OWN))[0]


def test_repeated_examples_count_as_often_as_both_sets_hold_them(tmp_path: Path) -> None:
    fill(tmp_path, range(5), examples(0, 1) * 10)
    assert ledger(tmp_path, examples(0, 1) * 2 + examples(1, 9)).tries() == set()
    assert ledger(tmp_path, examples(0, 1) * 5 + examples(1, 6)).tries() == tries(range(5))


def test_what_siblings_tried_is_in_the_ledger_and_does_not_count(tmp_path: Path) -> None:
    fill(tmp_path, range(5))
    fill(tmp_path, range(3, 8), of=examples(5, 15))
    digest = examples_digest(examples(5, 15))
    left_out = {digest: {"p3", "p4", "p5", "p6"}}
    one = SetLedger(
        tmp_path, "run", "emoji", examples(), lambda name: left_out.get(name, frozenset())
    )
    # p3 and p4 were tried on the own set as well.
    assert one.tries(OWN) == one.tries() == tries({0, 1, 2, 3, 4, 7})
    assert any(note.startswith("1 of the prompts") for note in sentences(one.notes(OWN)))
    assert ledger(tmp_path).tries(OWN) == tries(range(8))


def test_sets_are_not_the_same_because_only_siblings_lie_between_them(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    fill(tmp_path, range(2, 4), of=examples(5, 15))
    fill(tmp_path, range(4, 6), of=examples(10, 20))
    between = examples_digest(examples(5, 15))
    assert ledger(tmp_path).tries(OWN) == tries(range(6))

    def counted(*siblings: str) -> object:
        left_out = {between: frozenset(siblings)}
        return SetLedger(
            tmp_path, "run", "emoji", examples(), lambda name: left_out.get(name, frozenset())
        ).tries(OWN)

    assert counted("p2", "p3") == tries(range(2))
    # What else was tried there makes the three sets one.
    assert counted("p2") == tries({0, 1, 3, 4, 5})
