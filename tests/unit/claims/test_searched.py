"""As how many tries prompts of searches and trained arms count."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.counting import ClaimsOfRun, counted_name
from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.claims.searched import found_in
from pytest_maxrandom.claims.tries import expected
from pytest_maxrandom.ledger.lines import Told
from pytest_maxrandom.stats.search import Feedback, Found
from pytest_maxrandom.suite.loader import Suite
from tests.unit.ledger.common import OWN, fill, ledger

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import Try


def told(feedback: Feedback, *correct: int, first: int = 0) -> dict[Try, Told]:
    """Return what a search is told of prompts with so many right answers, one after the other."""
    return {
        OWN.tried(f"p{first + place}"): Told(
            feedback, "me", 9, 10, each, int(each > max(correct[:place], default=-1))
        )
        for place, each in enumerate(correct)
    }


def _always(what: Told, before: dict[str, Told]) -> Told:
    assert all(each.by == what.by for each in before.values())
    return what


def test_a_prompt_stands_where_its_search_tried_it() -> None:
    climb = {"one": told("accept", 3, 2, 5, 5, 7, 1)}
    where = [found_in(climb, OWN.tried(f"p{place}")) for place in range(6)]
    assert where == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 2)]
    assert found_in(climb) == found_in(climb, OWN.tried("another")) == Found(6, 2)


def test_all_that_other_searches_were_told_counts() -> None:
    climbs = {"one": told("accept", 3, 5, 7), "other": told("improved", 1, 2, 4, first=3)}
    assert found_in(climbs, OWN.tried("p1")) == Found(1 + 3, 0 + 2)
    assert found_in(climbs, OWN.tried("p5")) == Found(3 + 2, 2 + 1)
    # In both, the other one counts as a whole.
    both = {"one": told("accept", 3, 5, 7), "other": told("accept", 7, 3, 5, first=2)}
    assert found_in(both, OWN.tried("p2")) in [Found(2 + 3, 1 + 0), Found(3 + 0, 2 + 0)]


def test_a_search_that_was_told_nothing_has_no_place_for_a_prompt() -> None:
    """Whether it comes first or last in the ledger."""
    blind, climb = told("none", 3, 5, 7), told("accept", 3, 5, 7)
    for searches in ({"a": blind, "b": climb}, {"a": climb, "b": blind}):
        assert found_in(searches, OWN.tried("p1")) == Found(1, 0)
    assert found_in({"a": blind}, OWN.tried("p1")) == Found(0, 0)


def test_of_copies_that_went_on_apart_each_better_prompt_counts(tmp_path: Path) -> None:
    """Both told one search of the same prompts, in orders of their own; git joins their lines."""
    joined = []
    for name, order in (("one", (1, 2, 3)), ("other", (3, 2, 1))):
        path = fill(tmp_path / name, range(1, 4))
        copy, best = ledger(tmp_path / name), -1
        for correct in order:
            what = Told("accept", "me", 3, 10, correct, int(correct > best))
            best = max(best, correct)
            assert copy.add_reply(OWN, f"p{correct}", "a" * 64, partial(_always, what))
        joined.append(path.read_text("ascii").splitlines())
    for first, last in ((0, 1), (1, 0)):
        lines = dict.fromkeys([*joined[first], *joined[last]])
        folder = tmp_path / f"joined{first}"
        folder.mkdir()
        (folder / path.name).write_text("\n".join(lines) + "\n", "ascii")
        searches = ledger(folder).searches
        assert found_in(searches).better == 2


HEAD = """\
models: [{name: ./model, quantization: none}]
tasks: [{name: sums, format: jsonl, path: sums.jsonl, validation: {max_examples: 10}}]
classify: {examples: 10}
allow_unpassable: true
arms:
  base: {}
"""
CHECK = "contamination: {base: base, extra: ARM, test: test}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"input": f"question {k}", "choices": ["even", "odd"], "answer": ("even", "odd")[k % 2]}
        for k in range(60)
    ]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return tmp_path


def counted(
    folder: Path, extra: str = "extra", rate: str = "0.001", check: str = CHECK
) -> tuple[list[PlannedClaim], dict[str, int]]:
    path = folder / "s.yaml"
    arms = f"  {extra}: {{train: {{text: extra, learning_rate: {rate}}}}}\n"
    arms += f"  test: {{train: {{text: scored, learning_rate: {rate}}}}}\n"
    path.write_text(HEAD + arms + check.replace("ARM", extra))
    suite = read_suite(path)
    assert isinstance(suite, Suite)
    claims = plan(suite)
    return claims, {claim.arm.name: expected(claim, ClaimsOfRun(claims)).t for claim in claims}


def test_each_arm_of_the_check_is_tried_once(folder: Path) -> None:
    assert counted(folder)[1] == {"base": 1, "extra": 1, "test": 1}


def test_neither_a_new_name_nor_new_settings_make_another_claim(folder: Path) -> None:
    first, other = counted(folder)[0], counted(folder, "more", "0.002")[0]
    assert [*map(counted_name, first)] == [*map(counted_name, other)]
    assert len({*map(counted_name, first)}) == 3
    assert [one.training.digest if one.training else "" for one in first[1:]] != [
        one.training.digest if one.training else "" for one in other[1:]
    ]


def test_arms_outside_the_check_count_together_because_the_best_may_be_chosen(
    folder: Path,
) -> None:
    assert set(counted(folder, check="")[1].values()) == {3}
