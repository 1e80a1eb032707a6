"""A pull request that compares its prompts with another incumbent."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.ci.comparison import weaker
from pytest_maxrandom.ci.stated import stated_in

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.ci.stated import Stated

TODAY = "{instruction: Be exact., matters: 0.05}"
RUN = """
models: [{name: m, backend: mock}]
tasks: [{name: sums, format: csv, path: sums.csv}]
prompts: {shots: 2, count: 5}
assert: {better_than: incumbent, by: 0.01}
incumbent: """
RECORDED = """
models: [{name: m, backend: recorded, results: {path: r.csv, format: table}}]
tasks: [{name: sums, chance: 1/2}]
assert: {better_than: incumbent}
incumbent: """


def stated(folder: Path, text: str) -> Stated:
    (folder / "eval_suites").mkdir(exist_ok=True)
    (folder / "eval_suites" / "suite.yaml").write_text(text)
    file = PurePosixPath("eval_suites/suite.yaml")
    found = stated_in(folder, [file], [file])
    assert not found.unread
    return found.claims[0]


@pytest.mark.parametrize(
    ("suite", "before", "now"),
    [
        (RUN, TODAY, "{instruction: Be exact., matters: 0.1}"),
        (RECORDED, "{prompt: p1}", "{prompt: p1, matters: 0.01}"),
    ],
)
def test_the_same_incumbent_is_no_weaker(tmp_path: Path, suite: str, before: str, now: str) -> None:
    assert [*weaker(stated(tmp_path, suite + now), stated(tmp_path, suite + before))] == []


@pytest.mark.parametrize(
    ("suite", "before", "now"),
    [
        (RUN, TODAY, "{instruction: Be wrong.}"),
        (RUN, TODAY, "{instruction: Be exact., model: {name: x, backend: mock, knows: 0}}"),
        (RUN, TODAY, "{instruction: Be exact., test: resampled}"),
        (RECORDED, "{prompt: p1}", "{prompt: p2}"),
        (RECORDED, "{prompt: p1}", "{prompt: p1, results: {path: bad.csv, format: table}}"),
    ],
)
def test_another_incumbent_or_test_is_told(
    tmp_path: Path, suite: str, before: str, now: str
) -> None:
    found = [*weaker(stated(tmp_path, suite + now), stated(tmp_path, suite + before))]
    assert found == ["incumbent"]


@pytest.mark.parametrize(
    ("suite", "incumbent"),
    [
        (RUN, "{answers: today.csv}"),
        (RECORDED, "{results: {path: today.csv, format: table}}"),
    ],
)
def test_other_answers_in_the_same_file_are_another_incumbent(
    tmp_path: Path, suite: str, incumbent: str
) -> None:
    (tmp_path / "eval_suites").mkdir()
    file = tmp_path / "eval_suites" / "today.csv"
    file.write_text("prompt,id,correct\np,a,1\n")
    before, same = stated(tmp_path, suite + incumbent), stated(tmp_path, suite + incumbent)
    assert [*weaker(same, before)] == []
    file.write_text("prompt,id,correct\np,a,0\n")
    assert [*weaker(stated(tmp_path, suite + incumbent), before)] == ["incumbent"]


def test_a_claim_about_no_incumbent_any_more_asserts_less(tmp_path: Path) -> None:
    before = stated(tmp_path, RUN + TODAY)
    now = stated(tmp_path, RUN.replace("better_than: incumbent, by: 0.01", "p_max: 0.05") + TODAY)
    assert [*weaker(now, before)] == ["asserts"]


def test_a_new_incumbent_of_a_claim_that_had_none_is_no_weakening(tmp_path: Path) -> None:
    now = stated(tmp_path, RUN + TODAY)
    before = stated(
        tmp_path, RUN.replace("better_than: incumbent, by: 0.01", "p_max: 0.05") + TODAY
    )
    assert "incumbent" not in [*weaker(now, before)]
