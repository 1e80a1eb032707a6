"""The demo's report and comment are read in seconds: few words are unfolded, the verdict first."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.notation import accuracy
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.phrases import best_interval
from pytest_maxrandom.reports.rendering import disclosure, markdown
from pytest_maxrandom.reports.results import load
from tests.unit.reports.page import folded, read, words_unfolded

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

ROOT = Path(__file__).parents[2]
URL = "https://github.test/team/models/actions/runs/1"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """The demo, run anew on its own model."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "eval_suites/demo", folder / "eval_suites/demo")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "eval_suites"]
    done = subprocess.run(
        [*command, "--maxrandom-json=report.json", "--maxrandom-report=report.md"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = load(folder / "report.json")
    assert markdown(found) == (folder / "report.md").read_text(encoding="utf-8")
    return found


def test_at_most_300_words_of_the_report_are_unfolded(demo: RunRecord) -> None:
    text = markdown(demo)
    assert len(words_unfolded(text)) <= 300
    assert text.startswith("### ✅ maxrandom: 4 of 7 claims pass, 3 fail as expected; ")


def test_at_most_150_words_of_the_comment_on_seven_claims_are_unfolded(demo: RunRecord) -> None:
    for base in (None, demo):
        text = comment(
            demo,
            base,
            key="gate",
            report=URL,
            page=f"{URL}/artifacts/2",
            branch="main",
            commit="c0ffee",
        )
        assert len(words_unfolded(text)) <= 150
        assert text.startswith("### ✅ maxrandom · gate: 4 of 7 claims pass, ")


def test_the_table_discloses_n_and_t_of_each_claim_and_is_the_only_one_unfolded(
    demo: RunRecord,
) -> None:
    above = markdown(demo).partition("<details>")[0]
    (table,) = read(above).tables
    n, t = (table[0].index(name) for name in ("n", "t"))
    assert sorted((row[n], row[t]) for row in table[1:]) == sorted(
        (str(claim.n), str(claim.t)) for claim in demo.claims
    )
    text = folded(comment(demo), f"{len(demo.claims)} claims, with n and t")
    assert read(text).tables == [table]


def test_the_reason_of_a_failing_claim_stands_in_the_first_three_lines(demo: RunRecord) -> None:
    (sums,) = (claim for claim in demo.claims if claim.task == "digit_sum")
    known = (sums.outcome, sums.xfail)
    sums.outcome, sums.xfail = "failed", None
    try:
        title, reason = read(comment(demo, key="gate")).text.split("\n\n")[:2]
    finally:
        sums.outcome, sums.xfail = known
    assert title.strip().startswith("❌ maxrandom · gate: 1 of 7 claims fails, 4 pass")
    assert reason.strip().startswith(
        "❌ digit_sum 4-shot: best .550, needs .600 (permutation p > .999; t = 10, n = 60); "
        'always says "odd"'
    )
    # .600, 36 of 60, is the least that exceeds what the best of ten guessers is expected to reach.
    expected = float((1 - stats.binom.cdf(np.arange(60), 60, 1 / 2) ** 10).sum())
    assert 35 < expected < 36


def test_both_ends_of_each_interval_are_shown_and_the_lower_is_that_of_the_details(
    demo: RunRecord,
) -> None:
    told = {row[1]: row[2] for row in read(markdown(demo)).tables[0][1:]}
    for claim in demo.claims:
        low, high = best_interval(claim) or (0.0, 0.0)
        assert claim.new_questions is not None
        assert low == pytest.approx(claim.new_questions.low, abs=1e-9)
        ends = f"{accuracy(low)}\N{EN DASH}{accuracy(high)}"
        assert told[f"{claim.task}{claim.shots}-shot"].endswith(ends)


def test_what_a_paper_needs_is_told_only_where_it_is_asked_for(demo: RunRecord) -> None:
    assert "For a paper" not in markdown(demo)
    assert "Yauney and Mimno, 2024" in disclosure(demo)
    details = folded(markdown(demo), "7 claims in detail")
    assert details.count("On new questions:") == 7
    assert details.count("Looks:") == 7
