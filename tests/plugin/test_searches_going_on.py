"""A search that stops goes on, and several of them, and suites, count each other's tries."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.stats.search import Feedback, likely_better
from tests.plugin.search_suite import N, begun, claims, judged_as, replies, write
from tests.searched import lines

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.searches.replies import Reply


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    return write(pytester.path)


def test_a_later_suite_is_not_judged_by_t(pytester: pytest.Pytester, suite: Path) -> None:
    before = claims(pytester)
    assert before["knows"]["searched"] is None
    assert before["knows"]["critical_count"] < 125
    with begun(suite, "accept") as tries:
        better = sum(map(bool, replies(tries))) - 1
    found = claims(pytester)
    for model, own in (("knows", 20), ("guesses", 0)):
        # What the search was told may have chosen the suite's prompts, whichever model told it.
        claim = found[model]
        assert claim["t"] == 3 + own
        if model == "guesses" or claim["best_prompt"]["text"].startswith("Later"):
            assert claim["searched"]["possible"] == judged_as(20, better, 3)
        assert claim["critical_count"] > 130
        assert "test tried 20 prompts (feedback `accept`, budget 20)" in str(claim["notes"])
    pytester.runpytest_inprocess("--maxrandom-report=r.md")
    assert "test tried 20 prompts" in (pytester.path / "r.md").read_text()
    assert main(["comment", "r.json", "--dry-run", "--out", "comment.md"]) == 0
    comment = (pytester.path / "comment.md").read_text()
    assert "test tried 20 prompts (feedback `accept`, budget 20); what was learned" in comment


@pytest.mark.parametrize("feedback", ["none", "accept"])
def test_a_suite_after_the_end_of_a_search_may_come_from_its_results(
    pytester: pytest.Pytester, suite: Path, feedback: Feedback
) -> None:
    """They can be read from then on; the search itself could not, so its verdict is as before."""
    with begun(suite, feedback, budget=4) as tries:
        replies(tries, 4)
        before = tries.verdict()
    assert main(["search", "close", str(suite)]) == 0
    with begun(suite, feedback, budget=4) as tries:
        replies(tries, 4)
        after = tries.verdict()
    assert (after.searched, after.p_max) == (before.searched, before.p_max)
    claim = claims(pytester, "-k", "guesses")["guesses"]
    assert claim["searched"]["possible"] >= (N + 1) ** 4
    assert "(feedback `score`, budget 4)" in str(claim["notes"])


def test_a_search_goes_on_where_it_stopped(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "accept") as tries:
        first = replies(tries, 12)
        assert (tries.t, tries.left) == (12, 8)
    with begun(suite, "accept") as tries:
        assert (tries.t, tries.left) == (12, 8)
        assert replies(tries, 12) == first
        assert (tries.t, tries.left) == (12, 8)
        # What comes then is compared with all that was tried before.
        with begun(suite, "score", by="another") as other:
            scores = [score for score in replies(other) if isinstance(score, float)]
        later = [tries.try_prompt(instruction=f"Try {step}. ") for step in range(12, 20)]
        best = max(scores[:12])
        assert later[0] == (scores[12] > best)
        with pytest.raises(SearchError, match=r"^the budget of 20 prompts is spent; "):
            tries.try_prompt(instruction="One more. ")
    rows = lines(suite, "feedback")
    assert len([row for row in rows if row["by"] == "test"]) == 20
    assert {row["feedback"] for row in rows} == {"accept", "score"}
    # The other search tried the same prompts, which count once; those that it was not the first to
    # try have a second line with their right answers.
    rows = lines(suite, "prompt")
    assert len({row["prompt"] for row in rows}) == 20
    assert len(rows) == 20 + 12


def test_a_verdict_ends_a_search_and_a_second_one_counts_it(
    pytester: pytest.Pytester, suite: Path
) -> None:
    with begun(suite, "accept", budget=4) as tries:
        replies(tries, 3)
        first = tries.verdict()
        again = tries.verdict()
        assert first.searched == again.searched
        with pytest.raises(SearchError, match=r"^the search is over since its verdict, which told"):
            tries.try_prompt(instruction="More. ")
    with begun(suite, "accept", budget=4) as tries:
        replies(tries, 4)
        second = tries.verdict()
    assert first.searched is not None
    assert second.searched is not None
    assert first.searched.possible in [judged_as(4, better) for better in (0, 1)]
    # The first verdict told which of three prompts is best, and how good it is.
    assert second.searched.possible in [judged_as(4, i) * (N + 1) * 3 for i in range(3)]
    assert (first.correct_counts, second.correct_counts) == ([], [])
    assert second.tries is not None
    assert second.tries.look == 2


def test_all_prompts_are_judged_in_whichever_run_they_were_tried(
    pytester: pytest.Pytester, suite: Path
) -> None:
    with begun(suite, "accept", budget=6) as tries:
        replies(tries, 6)
    with begun(suite, "accept", budget=6) as tries:
        record = tries.verdict()
        assert record.prompts is not None
        assert (record.t, record.prompts.asked) == (6, 6)
        assert not [flag for flag in record.red_flags if flag.kind == "repeated_prompts"]
    shutil.rmtree(tries._tried.session.results.parent)
    with begun(suite, "accept", budget=6) as tries:
        with pytest.raises(
            SearchError, match=r"^there is nothing to judge: the store .* the 6 pro"
        ):
            tries.verdict()
        replies(tries, 2)
        left = tries.verdict()
    assert "4 of the 6 prompts that the search tried are not judged" in str(left.notes)
    assert left.searched is not None
    assert record.searched is not None
    # The same are searched for, and the verdict before was seen.
    assert record.searched.possible in [judged_as(6, better) for better in range(4)]
    assert left.searched.possible in [judged_as(6, i) * (N + 1) * 6 for i in range(4)]


def test_a_search_on_a_part_of_the_examples_counts(pytester: pytest.Pytester, suite: Path) -> None:
    other = suite.with_name("other.yaml")
    other.write_text(suite.read_text().replace("max_examples: 200", "max_examples: 60, seed: 1"))
    with begun(other, "answers") as tries:
        replies(tries, 1)
        told = {example.id for example in tries._tried.validation}
    with begun(suite, "accept") as tries:
        shared = told & {example.id for example in tries._tried.validation}
        assert 0 < len(shared) < 60 / 2 < N
        assert "a search saw which answers are right" in str(tries.outlook)


def test_a_verdict_about_another_model_is_counted(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "none", budget=5) as tries:
        replies(tries, 5)
        assert tries.verdict().guessers == 5
    with begun(suite, "accept", "guesses", budget=5) as tries:
        prompts = judged_as(5, likely_better(5)) * 5 * (N + 1)
        assert f"the best of {prompts:,} prompts" in str(tries.outlook)
    # Who searched without being told anything has learned from the verdict, too.
    with begun(suite, "none", budget=6) as tries:
        replies(tries, 6)
        record = tries.verdict()
    assert record.searched is not None
    assert (record.searched.looks, record.guessers) == (1, 6 * 5 * (N + 1))


def test_a_suite_has_its_own_budget(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "accept") as tries:
        better = sum(map(bool, replies(tries))) - 1
    suite.write_text(suite.read_text().replace("count: 3", "count: 3, budget: 3"))
    claim = claims(pytester)["knows"]
    assert (claim["outcome"], claim["t"], claim["tries"]["counted"]) == ("passed", 23, "budget")
    found = [judged_as(20, better, 3), judged_as(20, better - 1, 3)]
    assert claim["searched"]["possible"] in found


def test_two_handles_are_told_once(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "accept") as one, begun(suite, "accept") as other:
        first = replies(one, 5)
        assert [other.try_prompt(instruction=f"Try {step}. ") for step in (4, 3, 2, 1, 0)] == [
            first[step] for step in (4, 3, 2, 1, 0)
        ]
    assert len(lines(suite, "feedback")) == 5


def test_handles_at_once_get_one_bit_for_a_prompt(pytester: pytest.Pytester, suite: Path) -> None:
    handles = [begun(suite, "accept") for _ in range(4)]

    def asked(place: int) -> dict[int, Reply]:
        order = [(place * 5 + step) % 20 for step in range(20)]
        return {step: handles[place].try_prompt(instruction=f"Try {step}. ") for step in order}

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(asked, range(4)))
    assert told == [told[0]] * 4
    rows = lines(suite, "feedback")
    assert len(rows) == 20
    handles[0].publish()
    right = {row["prompt"]: row["correct"] for row in lines(suite, "prompt")}
    best = -1
    for row in rows:
        assert row["accepted"] == (right[row["prompt"]] > best)
        best = max(best, right[row["prompt"]])


def test_a_comparison_says_that_searches_were_there(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "accept", budget=2) as tries:
        replies(tries, 2)
    arms = "arms: {text: {}, letters: {format: {labels: letter}}}\ncompare: [letters - text]\n"
    text = suite.read_text().replace("  - {backend: mock, name: guesses}\n", "")
    suite.write_text(text + arms)
    pytester.runpytest_inprocess("--maxrandom-json=r.json")
    [compared] = json.loads((pytester.path / "r.json").read_text())["comparisons"]
    assert (
        "On examples of this validation set test tried 2 prompts (feedback `accept`, budget 2); "
        "the prompts that are compared may come from there, which no p-value of a difference "
        "counts."
    ) in [note["text"] for note in compared["notes"]]
