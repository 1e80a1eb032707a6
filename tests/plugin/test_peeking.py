"""Searches that look for scores where they are told none: each look finds nothing.

What stands in the working folder when a prompt was just tried is all that such a program is given:
suite, ledger, results store, and what it is answered. Each look returns the scores that it finds.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom import search
from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.searches.private import PRIVATE
from pytest_maxrandom.sweeps.rows import TABLE
from tests.repositories import git
from tests.searched import lines, write_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.searches.tries import Tries
    from pytest_maxrandom.stats.search import Feedback

    Look = Callable[[Tries, Path], list[Any]]

HIDDEN: tuple[Feedback, ...] = ("none", "accept", "improved")
N = 60


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    folder = pytester.path / "eval_suites"
    return write_suite(folder, "shots: 0, count: 1", examples=100, validation=N)


def begun(suite: Path, feedback: Feedback = "none", **given: Any) -> Tries:
    given = {"budget": 6, "by": "peeks", "model": "knows", **given}
    return search(suite, feedback=feedback, **given)


def tell(tries: Tries, steps: int = 6) -> list[Any]:
    return [tries.try_prompt(instruction=f"Try {step}. ") for step in range(steps)]


def scores(suite: Path) -> dict[str, int]:
    """Return the right answers that the ledger shows, by prompt."""
    rows = lines(suite, "prompt")
    return {row["prompt"]: row["correct"] for row in rows if row["correct"] is not None}


def the_last_line(tries: Tries, suite: Path) -> list[Any]:
    del tries
    return [row["correct"] for row in lines(suite, "prompt")[-1:] if row["correct"] is not None]


def what_searches_were_told(tries: Tries, suite: Path) -> list[Any]:
    rows = lines(suite, "feedback")
    shown = [row["correct"] for row in rows if row["correct"] is not None]
    if tries.feedback == "improved":
        told = [row["correct"] for row in rows if row["accepted"]]
        return [] if shown == told else shown
    return shown + [row for row in rows if row["accepted"] and tries.feedback == "none"]


def the_results_store(tries: Tries, suite: Path) -> list[Any]:
    del tries
    found = []
    for file in suite.parents[1].rglob("*.db"):
        with sqlite3.connect(file) as connection:
            connection.execute(TABLE)
            found += connection.execute("SELECT log_likelihoods FROM results").fetchall()
    return found


def bytes_of_a_prompt(tries: Tries, suite: Path) -> list[Any]:
    """The digest of a tried prompt, in any file but the ledger: also in a write-ahead log."""
    del tries
    digest = lines(suite, "prompt")[-1]["prompt"].encode()
    files = (file for file in suite.parents[1].rglob("*") if file.is_file())
    return [file for file in files if file.suffix != ".jsonl" and digest in file.read_bytes()]


def public_attributes(tries: Tries, suite: Path) -> list[Any]:
    """What differs between the attributes of this search and one of which nothing is scored."""
    del suite
    told = {name: getattr(tries, name) for name in dir(tries) if not name.startswith("_")}
    shown = {name: value for name, value in told.items() if not callable(value)}
    known = {"demonstrations", "feedback", "left", "n", "outlook", "sample", "shots", "t"}
    return sorted(shown.keys() - known)


def a_report_without_a_verdict(tries: Tries, suite: Path) -> list[Any]:
    try:
        tries.report(suite.with_name("early.json"))
    except SearchError:
        return []
    return [suite.with_name("early.json").read_text()]


LOOKS: list[Look] = [
    the_last_line,
    what_searches_were_told,
    the_results_store,
    bytes_of_a_prompt,
    public_attributes,
    a_report_without_a_verdict,
]


@pytest.mark.parametrize("feedback", HIDDEN)
def test_who_looks_while_a_search_is_open_finds_no_score(
    suite: Path, feedback: Feedback, capfd: pytest.CaptureFixture[str]
) -> None:
    with begun(suite, feedback) as tries:
        for step in range(4):
            tries.try_prompt(instruction=f"Try {step}. ")
            for look in LOOKS:
                assert look(tries, suite) == [], look.__name__
        with pytest.raises(SearchError) as refused:
            tries.try_prompt(instruction="A. ", demonstrations=["e1"])
        assert "found 1, expected 0" in str(refused.value)
    for look in LOOKS[:4]:  # what is written when it lets go
        assert look(tries, suite) == [], look.__name__
    assert capfd.readouterr() == ("", "")


def test_score_is_told_and_written_at_once(suite: Path) -> None:
    with begun(suite, "score") as tries:
        told = tell(tries, 3)
    assert [row["correct"] / N for row in lines(suite, "prompt")] == told
    assert (suite.parents[1] / ".maxrandom" / "results-simulated.db").is_file()


@pytest.mark.parametrize("feedback", HIDDEN)
def test_a_verdict_shows_the_score_of_the_best_prompt_alone(
    suite: Path, feedback: Feedback
) -> None:
    with begun(suite, feedback) as tries:
        tell(tries)
        record = tries.verdict()
        assert record.best_prompt is not None
        assert scores(suite) == {record.best_prompt.digest: record.best_correct}
        tries.report("r.json")
        assert record.answers is None
        assert (record.correct_counts, record.best_prompt.tied_with) == ([], 0)


def run_suite(pytester: pytest.Pytester, suite: Path, *prompts: str, model: str = "guesses") -> Any:
    """Run a suite of some prompts on the same examples, and return the record of its claim."""
    text = suite.read_text().replace("count: 1", f"count: {len(prompts)}, instructions: {prompts}")
    other = suite.with_name("other.yaml")
    other.write_text(text.replace("('", "['").replace("')", "']").replace("',)", "']"))
    pytester.runpytest_inprocess(other, "-k", model, "-q", "--maxrandom-json=r.json")
    [claim] = json.loads((pytester.path / "r.json").read_text())["claims"]
    return claim


@pytest.mark.parametrize(
    ("feedback", "when"),
    [("none", "before"), ("accept", "while it is open"), ("improved", "before")],
)
def test_results_in_sight_are_paid_for(
    pytester: pytest.Pytester, suite: Path, feedback: Feedback, when: str
) -> None:
    """Each counts as a score that the search was told, whichever model it is of."""
    with begun(suite, feedback) as tries:
        alone = tries.outlook
        if when == "while it is open":
            tell(tries, 3)
        before = run_suite(pytester, suite, "A. ", "B. ", "Try 0. ")
        outlook, told = tries.outlook, tell(tries)
        record = tries.verdict()
    assert alone.prompts is not None
    assert (alone.in_sight, outlook.in_sight, outlook.without) == (0, 3, alone.critical_count)
    assert outlook.prompts == alone.prompts * (N + 1) ** 3
    results = "3 other results in the ledger (each prompt on each model)"
    said = f"; this counts {results} as told to the search; without them "
    assert f"{said}{alone.critical_count}/60 would do: " in str(outlook)
    assert record.searched is not None
    assert (record.searched.in_sight, record.searched.looks) == (3, 0)
    assert record.searched.possible is not None
    assert record.searched.possible % (N + 1) ** 3 == 0
    assert record.searched.possible <= outlook.prompts or sum(map(bool, told)) > 3
    collected = pytester.runpytest_inprocess(suite, "--collect-only").stdout.str()
    assert "t=4 n=60 (3 evaluated before, 3 results in sight of searches)>" in collected
    note = next(note.text for note in record.notes if note.kind == "searched")
    assert f"from {results} may have chosen the prompts" in note
    # What the suite itself tried was chosen by none of these.
    assert (before["searched"] is None) == (when == "before")
    assert run_suite(pytester, suite, "A. ", "B. ", "Try 0. ")["searched"]["in_sight"] == 0
    text = record.best_prompt.text if record.best_prompt else None
    assert text is not None
    assert run_suite(pytester, suite, text, model="knows")["searched"]["in_sight"] == 3


def test_who_runs_a_suite_is_told_first_whose_search_pays_for_it(
    pytester: pytest.Pytester, suite: Path
) -> None:
    """As long as results of it would be new, and the search may go on."""
    other = suite.with_name("other.yaml")
    other.write_text(suite.read_text().replace("count: 1", "count: 2, instructions: ['A', 'B']"))
    told = "search by peeks is open on these examples: with each new result of this suite its best"

    def said(*options: str) -> list[str]:
        found = pytester.runpytest_inprocess(other, "-k", "guesses", "-v", *options)
        return [line for line in found.outlines if "by peeks is open on these" in line]

    with begun(suite, "accept") as tries:
        tell(tries, 3)
        [line] = said("--collect-only")
        assert f"judged as the best of {N + 1} times as many prompts)" in line
        before = tries.outlook
        first, *_ = said("--maxrandom-report=r.md")
        assert first.startswith(f"maxrandom: A {told}")
        assert told in (pytester.path / "r.md").read_text()
        assert before.prompts is not None
        assert tries.outlook.prompts == before.prompts * (N + 1) ** 2
        assert (said(), said("--collect-only")) == ([], [])  # it costs nothing more
        other.write_text(other.read_text().replace("'B'", "'C'"))
        assert len(said("--collect-only")) == 1
        tell(tries)
        assert said("--collect-only") == []  # the budget is spent


def test_what_was_published_of_a_search_is_no_result_of_a_suite(suite: Path) -> None:
    """It is counted by its verdict, and by the end of the search."""
    with begun(suite, "accept") as tries:
        tell(tries, 3)
        tries.verdict()
    with begun(suite, "accept") as tries:
        assert tries.outlook.in_sight == 0
        tell(tries)
        record = tries.verdict()
    assert record.searched is not None
    assert (record.searched.looks, record.searched.in_sight) == (1, 0)


def test_scores_that_a_search_was_told_are_counted_there(suite: Path) -> None:
    with begun(suite, "score", budget=3) as tries:
        tell(tries, 3)
    with begun(suite, "none") as tries:
        assert tries.outlook.in_sight == 0


def test_results_follow_when_the_search_is_closed(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite.parent / "maxrandom-ledger-simulated"
    with begun(suite, "accept") as tries:
        told = tell(tries, 5)
        assert main(["ledger", "show", str(folder)]) == 0
        assert "knows 0-shot  5      0  not shown yet" in capsys.readouterr().out
        tries.verdict()
    assert main(["search", "close", str(suite)]) == 0
    assert "4 results" in capsys.readouterr().out
    known = scores(suite)
    assert len(known) == 5
    best, expected = -1, []
    for row in lines(suite, "feedback"):
        expected.append(known[row["prompt"]] > best)
        best = max(best, known[row["prompt"]])
    assert told == expected
    # Anybody can read them now, so nobody is told less.
    for feedback in (*HIDDEN, "score"):
        refused = pytest.raises(SearchError, match=r"^the search by peeks on these examples was c")
        with begun(suite, feedback, by="later") as tries, refused:
            tell(tries, 1)
    with begun(suite, "accept") as tries:
        with pytest.raises(SearchError, match=r"^the search by peeks on these examples was closed"):
            tell(tries)
        assert tell(tries, 5) == told
        assert tries.verdict().best_correct == max(known.values())
    assert main(["search", "close", str(suite)]) == 0
    assert "nothing to publish" in capsys.readouterr().out
    assert main(["ledger", "verify", str(folder)]) == 0


def test_a_folder_is_closed_whatever_else_is_in_it(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Suites that nobody can search for are no mistake there, unless they are all there is."""
    several = suite.with_name("several.yaml")
    sampled = "scoring: generate\ngeneration: {max_tokens: 5, temperature: 0.7, samples: 3}\n"
    several.write_text(suite.read_text() + sampled)
    with begun(suite, budget=1) as tries:
        assert "; after 1 try it is" in str(tries.outlook)
        tell(tries, 1)
        tries.verdict()
    assert main(["search", "close", str(suite.parent), "--by", "nobody"]) == 0
    assert "no search by nobody is open there" in capsys.readouterr().out
    assert main(["search", "close", str(suite.parent)]) == 0
    assert "peeks (feedback none) is closed: its end was added to " in capsys.readouterr().out
    assert main(["search", "close", str(suite.parent), str(several)]) == 2
    suite.unlink()
    assert main(["search", "close", str(suite.parent)]) == 2
    assert capsys.readouterr().err.count("a search is told of one answer to each example") == 2


def test_a_score_that_is_lost_costs_no_count(suite: Path, tmp_path_factory: Any) -> None:
    with begun(suite, "accept") as tries:
        first = tell(tries, 3)
    with pytest.MonkeyPatch.context() as patch:  # as on another machine
        patch.setenv(PRIVATE, str(tmp_path_factory.mktemp("elsewhere")))
        with begun(suite, "accept") as tries:
            assert (tries.t, tries.left) == (3, 3)
            with pytest.raises(SearchError, match=r"^there is nothing to judge: the store"):
                tries.verdict()
            assert tell(tries, 4)[:3] == first
            record = tries.verdict()
    assert (record.t, len(lines(suite, "feedback"))) == (4, 4)


@pytest.mark.parametrize("moved", ["moved", "copied"])
def test_scores_follow_a_checkout_that_is_moved(
    suite: Path, moved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with begun(suite, "accept") as tries:
        tell(tries, 4)
    new = suite.parents[1] / "elsewhere" / "eval_suites"
    shutil.copytree(suite.parent, new)
    if moved == "moved":
        shutil.rmtree(suite.parent)
    with begun(new / suite.name, "accept") as tries:
        record = tries.verdict()
    assert "prompts_not_judged" not in {note.kind for note in record.notes}
    assert record.t == 4
    assert main(["search", "close", str(new)]) == 0
    assert "peeks (feedback accept) is closed: 3 results added" in capsys.readouterr().out
    assert max(scores(new / suite.name).values()) == record.best_correct


def test_a_merged_checkout_has_the_answers_of_all_that_searched(
    suite: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv(PRIVATE, str(tmp_path_factory.mktemp("own")))
    ours, theirs, merged = (suite.parents[1] / name for name in ("ours", "theirs", "merged"))
    for folder, texts in ((ours, ("A. ", "B. ")), (theirs, ("C. ", "D. "))):
        shutil.copytree(suite.parent, folder)
        with begun(folder / suite.name, "none") as tries:
            for text in texts:
                tries.try_prompt(instruction=text)
    shutil.copytree(ours, merged)
    [ledger] = merged.glob("maxrandom-ledger-simulated/*.jsonl")
    [other] = theirs.glob("maxrandom-ledger-simulated/*.jsonl")
    assert main(["ledger", "merge", str(ledger), str(other), "--output", str(ledger)]) == 0
    with begun(merged / suite.name, "none") as tries:
        record = tries.verdict()
    assert "prompts_not_judged" not in {note.kind for note in record.notes}
    assert record.t == 4


def test_a_search_on_examples_that_were_changed_is_named(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with begun(suite, "accept") as tries:
        tell(tries, 3)
    task = suite.with_name("task.jsonl")
    before = task.read_text()
    task.write_text(before.replace("good enough", "fine", 10))
    assert main(["search", "close", str(suite)]) == 0
    said = capsys.readouterr().out
    [file] = suite.parent.glob("maxrandom-ledger-simulated/*.jsonl")
    assert said == (
        f"peeks (feedback accept) is open in {file}, whose examples were changed since: put them "
        "back as they were, and run the command again\n"
    )
    task.write_text(before)
    assert main(["search", "close", str(suite)]) == 0
    assert "peeks (feedback accept) is closed: 3 results added" in capsys.readouterr().out
    task.write_text(before.replace("good enough", "fine", 10))
    assert main(["search", "close", str(suite)]) == 0
    assert "no search is open there" in capsys.readouterr().out


def test_what_is_withheld_is_open_to_the_user_alone(suite: Path) -> None:
    with begun(suite) as tries:
        tell(tries, 2)
        folder = tries._tried.session.results.parent
        files = list(folder.rglob("*"))
        assert {file.name for file in files} >= {"scores.jsonl", "results-simulated.db"}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        folder.chmod(0o755)
    with pytest.raises(SearchError, match=r"others can open it, and scores .* `chmod 700 "):
        begun(suite)
    folder.chmod(0o700)


@pytest.mark.parametrize("inside", ["repository", "store"])
def test_scores_are_not_kept_where_a_search_looks(
    suite: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = suite.parents[1]
    place = root / "private" if inside == "repository" else root / ".maxrandom" / "private"
    if inside == "repository":
        git(root, "init", "--quiet")
    monkeypatch.setenv(PRIVATE, str(place))
    with pytest.raises(SearchError, match=r"expected a folder that who searches is not given"):
        begun(suite)
    assert not place.exists()


def test_a_store_that_cannot_keep_a_score_gives_no_reply(suite: Path) -> None:
    with begun(suite) as tries:
        tell(tries, 1)
        kept = tries._tried.session.results.with_name("scores.jsonl")
        kept.unlink()
        kept.mkdir()
        with pytest.raises(SearchError, match=r"no score can be kept from the search"):
            tell(tries, 2)
        kept.rmdir()
        tell(tries, 3)
    assert len(lines(suite, "prompt")) == len(lines(suite, "feedback")) == 3
