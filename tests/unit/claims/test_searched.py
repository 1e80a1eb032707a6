"""Where a prompt stands among what searches were told, from what the ledger has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.searched import found_in
from pytest_maxrandom.ledger.lines import Told
from pytest_maxrandom.stats.search import Found
from tests.unit.ledger.common import OWN, fill, ledger

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.ledger import Try
    from pytest_maxrandom.stats.search import Feedback


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
