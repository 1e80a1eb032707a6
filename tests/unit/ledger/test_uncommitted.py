"""What of a ledger no commit has: the prompts that another machine would try as if for the first
time, and sets whose count begins anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.watch import Watch
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.ledger import FOLDER
from pytest_maxrandom.ledger.history import Commit
from pytest_maxrandom.ledger.uncommitted import uncommitted
from pytest_maxrandom.record import Tries, ValidationSet
from tests.repositories import begin_repository, commit, git
from tests.unit.ledger.common import OWN, examples, fill, ledger, rows
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path


def test_prompts_are_told_until_they_are_committed(tmp_path: Path) -> None:
    folder = tmp_path / "suites" / FOLDER
    fill(folder, range(3))
    assert uncommitted([folder]) == {}  # no checkout: nobody would commit it
    git(tmp_path, "init", "--quiet")
    assert uncommitted([folder]) == {folder: 3}
    commit(tmp_path)
    assert uncommitted([folder]) == {}
    fill(folder, range(5))
    assert uncommitted([folder, tmp_path / FOLDER]) == {folder: 2}
    (tmp_path / ".gitignore").write_text("*.jsonl\n")
    assert uncommitted([folder]) == {folder: 2}


def test_right_answers_that_follow_are_no_further_prompts(tmp_path: Path) -> None:
    folder = tmp_path / "suites" / FOLDER
    made = ledger(folder)
    made.begun(OWN, {"one": 10, "other": 10})
    git(tmp_path, "init", "--quiet")
    assert uncommitted([folder]) == {folder: 2}
    commit(tmp_path)
    made.evaluated(OWN, "one", 10, 3)
    made.evaluated(OWN, "third", 10, 3)
    made.write()
    assert len(rows(made.path, "prompt")) == 4
    assert uncommitted([folder]) == {folder: 1}


def _restarted(path: Path, root: Path) -> list[str]:
    (digest,) = {row["set"] for row in rows(path, "set")}
    (made,) = {row["model_digest"] for row in rows(path, "prompt")}
    of = claim(task="emoji", model="tiny", shots=4, model_digest=made)
    of = replace(
        of,
        validation=ValidationSet(10, 10, 0, 0, {"1/3": 10}, digest=digest),
        tries=Tries(5, 5, 5, "claim", 1, 0.05, holds=True),
    )
    found = Watch(Commit(repository(root), "HEAD")).restarted(run(of), root)
    return [each.kind for each in found]


def test_a_set_of_other_examples_begins_anew_and_a_changed_one_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "eval_suites" / "demo" / FOLDER
    fill(folder, of=examples(0, 10))
    begin_repository(tmp_path)
    for first, anew in ((1, False), (8, True)):
        path = fill(folder, of=examples(first, first + 10))
        assert _restarted(path, tmp_path) == (["restarted"] if anew else [])


def test_a_small_set_that_is_related_does_not_stand_for_a_larger_one(tmp_path: Path) -> None:
    folder = tmp_path / "eval_suites" / "demo" / FOLDER
    fill(folder, range(5), of=examples(0, 10))
    fill(folder, range(2), of=examples(20, 30))
    begin_repository(tmp_path)
    assert _restarted(fill(folder, of=examples(21, 31)), tmp_path) == ["restarted"]
