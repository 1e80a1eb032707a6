"""Searches: each try is counted, told as far as its feedback goes, and judged for what it was."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from pytest_maxrandom import search
from pytest_maxrandom.cli import main
from pytest_maxrandom.commands.mcp import _verdict
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.searches.replies import Answered
from pytest_maxrandom.stats.search import Feedback, likely_better
from tests.plugin.search_suite import N, begun, claims, judged_as, replies, write
from tests.searched import lines, write_suite

if TYPE_CHECKING:
    from pathlib import Path


def with_test_set(suite: Path) -> None:
    suite.write_text(suite.read_text().replace("validation:", "test: {fraction: 0.4}, validation:"))


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    return write(pytester.path)


def test_each_feedback_tells_what_it_says(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "score") as tries:
        scores = replies(tries, 8)
    with begun(suite, "answers") as tries:
        answers = replies(tries, 8)
    for score, own in zip(scores, answers, strict=True):
        assert isinstance(own, list)
        assert len(own) == N
        assert score == sum(each.correct for each in own) / N
        assert all(isinstance(each, Answered) for each in own)
        assert all(each.correct == (each.chosen in each.right) for each in own)
    with begun(suite, "accept") as tries:
        best, expected = -1.0, []
        for score in scores:
            assert isinstance(score, float)
            expected.append(score > best)
            best = max(best, score)
        assert replies(tries, 8) == expected
    with begun(suite, "improved") as tries:
        shown = [score if new else None for score, new in zip(scores, expected, strict=True)]
        assert replies(tries, 8) == shown
        assert tries(instruction="Try 0. ") == scores[0]
    with begun(suite, "none") as tries:
        assert replies(tries, 8) == [None] * 8


def test_without_feedback_a_search_is_judged_by_t(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "none") as tries:
        replies(tries)
        record = tries.verdict()
    assert record.best_correct is not None
    assert (record.t, record.n, record.passed) == (20, N, True)
    alone = binom.sf(record.best_correct - 1, N, 0.5)
    assert record.p_max == pytest.approx(1 - (1 - alone) ** 20)
    # Of other prompts than the best one a verdict tells nothing.
    assert record.new_questions is not None
    assert record.new_questions.estimate is None
    assert (record.correct_counts, record.ties, record.shortcuts) == ([], None, None)


@pytest.mark.parametrize("model", ["knows", "guesses"])
def test_a_bit_for_each_prompt_is_a_tree(
    pytester: pytest.Pytester, suite: Path, model: str
) -> None:
    with begun(suite, "accept", model) as tries:
        assert str(tries.outlook) == (
            "140/200 = 0.700 is needed if at most 5 tries before it improved, or more if the "
            "prompt prefers the commonest label; after 20 tries it is judged as the best of "
            "1,474,060 prompts"
        )
        told = replies(tries)
        record = tries.verdict()
    assert record.best_correct is not None
    assert record.searched is not None
    # The last one that was better is the best. The first one is no news.
    prompts = judged_as(20, sum(map(bool, told)) - 2)
    assert (record.t, record.searched.possible) == (20, prompts)
    alone = binom.sf(record.best_correct - 1, N, 0.5)
    assert record.p_max == pytest.approx(-math.expm1(prompts * math.log1p(-alone)), rel=1e-9)
    assert record.permutation_p is not None
    assert record.permutation_p >= alone
    assert record.critical_count is not None
    assert record.passed == (model == "knows") == (record.best_correct >= record.critical_count)
    # Examples that are left out have told of the prompts as well.
    assert record.new_questions is not None
    assert record.new_questions.estimate is None


def test_what_a_verdict_needs_is_what_passes(suite: Path) -> None:
    """With as many of each label as the best prompt gave, the permutation p passes from there."""
    with begun(suite, "accept", "guesses", budget=6) as tries:
        replies(tries, 6)
        record = tries.verdict()
        assert record.best_prompt is not None
        answered = tries._tried._answers[record.best_prompt.digest]
    assert record.searched is not None
    assert record.searched.possible is not None
    assert record.critical_count is not None
    assert "permutation_p" in record.critical_parts
    # Of two labels, hits follow from the examples where the first one is answered and right.
    said = sum(chosen == 0 for chosen in answered.chosen)
    right = sum(example.right == (0,) for example in answered.examples)
    both = np.arange(N + 1)
    masses, hits = hypergeom(N, right, said).pmf(both), 2 * both + N - right - said
    needed = [
        masses[hits >= least].sum() * record.searched.possible
        for least in (record.critical_count - 1, record.critical_count)
    ]
    assert needed[1] <= 0.05 < needed[0]


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
def test_an_outlook_holds_for_fewer_better_prompts(suite: Path, budget: int) -> None:
    """Of three steps, one better prompt before the best one is counted as more than two are."""
    with begun(suite, "accept", budget=budget) as tries:
        outlook = tries.outlook
    assert outlook.better == likely_better(budget)
    most = max(judged_as(budget, better) for better in range(outlook.better + 1))
    assert outlook.prompts == most


def test_an_outlook_says_what_it_depends_on(suite: Path) -> None:
    """With fewer improvements than that some result could pass."""
    with begun(suite, "improved", budget=2000) as tries:
        outlook = tries.outlook
    assert outlook.why is not None
    assert str(outlook).startswith(f"if {likely_better(2000)} tries before the best one improved, ")


def test_where_nothing_is_claimed_nothing_is_needed_and_nothing_passes(suite: Path) -> None:
    suite.write_text(f"{suite.read_text()}assert: report\n")
    with begun(suite, "none") as tries:
        outlook = tries.outlook
        assert outlook.critical_count is None
        assert str(outlook) == "after 20 tries it is judged as the best of 20 prompts"
        replies(tries, 2)
        told = _verdict(tries)
    assert (told["passed"], told["why"]) == (None, None)
    assert told["best_correct"] > 0


@pytest.mark.parametrize("model", ["knows", "guesses"])
def test_a_search_claims_to_be_better_than_the_incumbent(suite: Path, model: str) -> None:
    incumbent = "incumbent: {instruction: 'Old. ', model: {backend: mock, name: guesses}}\n"
    suite.write_text(suite.read_text() + incumbent + "assert: {better_than: incumbent}\n")
    with begun(suite, "accept", model) as tries:
        outlook = tries.outlook
        assert str(outlook).startswith(
            "25 to 78 right answers more than the incumbent's are needed, the more, the more often "
            "the two differ if at most 5 tries before it improved; after 20 tries it is judged as "
        )
        told = replies(tries)
        record = tries.verdict()
    assert record.incumbent is not None
    assert record.incumbent_p is not None
    assert record.searched is not None
    prompts = judged_as(20, sum(map(bool, told)) - 2)
    assert (record.searched.possible, record.incumbent.of) == (prompts, prompts)
    assert (record.incumbent.test, record.passed) == ("exact", model == "knows")
    # McNemar's exact test, for as many examples as the two differ on.
    more = round(N * record.incumbent.difference)
    found = [prompts * binom.sf(more + losses - 1, more + 2 * losses, 0.5) for losses in range(80)]
    assert min(abs(min(1, p) - record.incumbent_p) for p in found) < 1e-9
    assert outlook.beside is not None
    least, most = outlook.beside
    assert more >= least if record.passed else more <= most
    # What a verdict tells of the incumbent is counted as well.
    with begun(suite, "accept", model, budget=21) as tries:
        assert tries.outlook.prompts is not None
        assert tries.outlook.prompts > prompts * 20 * (N + 1) ** 3
        assert tries.outlook.decided_by != "test"


@pytest.mark.parametrize("key", ["count: task", "looks: spend"])
@pytest.mark.parametrize("feedback", ["none", "accept"])
def test_an_outlook_counts_the_tries_that_the_verdict_counts(
    suite: Path, feedback: Feedback, key: str
) -> None:
    suite.write_text(suite.read_text() + f"assert: {{{key}}}\n")
    with begun(suite, "none", "guesses", budget=7) as tries:
        replies(tries, 7)
    with begun(suite, feedback, budget=4) as tries:
        outlook = tries.outlook
        told = replies(tries, 4)
        record = tries.verdict()
    assert record.searched is not None
    prompts = record.searched.possible if feedback != "none" else record.guessers
    assert prompts is not None
    assert outlook.prompts is not None
    if feedback == "none":
        assert outlook.prompts == prompts
    else:
        assert sum(map(bool, told)) - 1 <= (outlook.better or 0) + 1
        assert outlook.prompts >= prompts


def test_after_answers_only_a_test_set_decides(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "answers") as tries:
        assert str(tries.outlook) == (
            "a search saw which answers are right, so these 200 examples give no p-value; set a "
            "test set aside first (`test: {fraction: 0.25}`), of examples that no suite or search "
            "has scored a prompt on"
        )
        replies(tries, 4)
        record = tries.verdict()
        with pytest.raises(SearchError, match=r"has no test set to open; set one aside before"):
            tries.open_test()
    assert (record.passed, record.p_max, record.permutation_p) == (False, None, None)
    assert record.new_questions is None
    assert record.message is not None
    assert "these 200 examples give no p-value; no test set that nobody" in record.message
    claim = claims(pytester)["knows"]
    assert (claim["passed"], claim["p_max"], claim["critical_count"]) == (False, None, None)


@pytest.mark.parametrize("model", ["knows", "guesses"])
def test_a_test_set_is_opened_once_for_what_looks_good(
    pytester: pytest.Pytester, suite: Path, model: str
) -> None:
    with_test_set(suite)
    with begun(suite, "answers", model) as tries:
        assert "only the test set decides" in str(tries.outlook)
        replies(tries, 10)
        closed = tries.verdict()
        assert (closed.passed, closed.test) == (False, None)
        opened = tries.open_test()
    assert opened.passed == (model == "knows")
    assert (opened.p_max, len(lines(suite, "opening"))) == (None, int(model == "knows"))
    if model == "knows":
        assert opened.test is not None
        assert opened.test.p is not None
        assert opened.test.p < 0.05
        tries.report("r.md")
        said = (pytester.path / "r.md").read_text()
        reached = f"{opened.test.correct} of {opened.test.n} on the test set, which decides"
        assert f"✅ `task`: **{reached}** (p on the test set = " in said.replace(" 0-shot", "")
        assert "so these examples give no p-value: the test set alone decides" in said
        assert "no number of correct answers can pass" not in said
        # It was told of now, so that it decides nothing about another prompt.
        claim = claims(pytester)["knows"]
        assert (claim["passed"], claim["searched"]["decided_by"]) == (False, "nothing")
        assert len(lines(suite, "opening")) == 1
    else:
        wide = suite.with_name("wide.yaml")  # which validates on what the other one sets aside
        text = suite.read_text().replace("test: {fraction: 0.4}, ", "")
        wide.write_text(text.replace("max_examples: 200", "max_examples: 500"))
        with search(wide, model=model, feedback="none", budget=1) as tries:
            replies(tries, 1)
    # What it says before agrees with what happens then.
    with begun(suite, "answers", model) as tries:
        assert tries.outlook.decided_by == "nothing"
        assert "of examples that no suite or search has scored" in str(tries.outlook)
        replies(tries, 10)
        if model == "guesses":
            searched = tries.verdict().searched
            assert searched is not None
            assert searched.decided_by == "nothing"


@pytest.mark.parametrize(
    ("given", "form", "begins"),
    [
        ("Be brief.", None, "Be brief.\nQ: "),  # the format begins a line by itself
        ("Be brief.", {"input_prefix": "Q: "}, "Be brief.\nQ: "),
        ("Be brief.\n", {"input_prefix": "Q: "}, "Be brief.\nQ: "),
        ("Be brief. ", {"input_prefix": "Q: "}, "Be brief. Q: "),
    ],
)
def test_an_instruction_stands_apart_from_what_follows(
    suite: Path, given: str, form: dict[str, str] | None, begins: str
) -> None:
    with begun(suite, "none") as tries:
        tries.try_prompt(instruction=given, format=form)
        best = tries.verdict().best_prompt
    assert best is not None
    assert best.question is not None
    assert f"{best.text}{best.question}".startswith(begins)


def test_a_sample_shows_demonstrations_and_a_question_that_judges_nothing(
    pytester: pytest.Pytester,
) -> None:
    suite = write_suite(pytester.path / "eval_suites", "shots: 2")
    with begun(suite, "none") as tries:
        first, second, third, *_ = tries.demonstrations.values()
        places = [tries.sample.index(each.input) for each in (first, second, third)]
        assert places == sorted(places)
        judging = {example.input for example in tries._tried.validation}
        assert not any(question in tries.sample for question in judging)


@pytest.mark.parametrize("shared", [True, False])
def test_a_sample_of_a_task_that_is_all_judged_by_shows_a_made_up_question(
    pytester: pytest.Pytester, suite: Path, *, shared: bool
) -> None:
    task = suite.with_name("task.jsonl")
    rows = [json.loads(row) for row in task.read_text().splitlines()[:40]]
    if not shared:
        own = {row["id"]: {"Yes": f"Yes {row['id']}", "No": "No"} for row in rows}
        rows = [
            row | {"choices": [*own[row["id"]].values()], "answer": own[row["id"]][row["answer"]]}
            for row in rows
        ]
    task.write_text("".join(json.dumps(row) + "\n" for row in rows))
    letters = "formats: [{labels: letter}]"
    suite.write_text(re.sub("instructions: .*]", letters, suite.read_text()))
    with begun(suite, "none") as tries:
        assert not tries.demonstrations
        assert tries.sample.count("(a question)") == 1
        assert ("Yes" in tries.sample) == shared
        assert not any(row["input"] in tries.sample for row in rows)


def test_a_search_is_closed_and_asked_for_nothing_else(suite: Path) -> None:
    tries = begun(suite, "accept")
    public = {name for name in dir(tries) if not name.startswith("_")}
    assert public == {
        "close", "counted", "demonstrations", "feedback", "left", "n", "open_test",
        "outlook", "publish", "report", "sample", "shots", "t", "try_prompt", "verdict",
    }  # fmt: skip
    tries.close()
    for late in (tries.verdict, lambda: tries.try_prompt(instruction="A. ")):
        with pytest.raises(SearchError, match=r"^the search is closed; begin it again"):
            late()


def test_demonstrations_do_not_show_validation_examples(suite: Path) -> None:
    text = suite.read_text().replace("max_examples: 200", "max_examples: 500")
    suite.write_text(re.sub(r"shots: 0.*", "shots: 2, count: 3}", text))
    assert "task has its demonstrations from the validation set, whose right" in wrong(suite)
    with begun(suite, "answers") as tries:
        assert len(tries.demonstrations) == 500


def test_what_cannot_be_written_down_is_not_told(pytester: pytest.Pytester, suite: Path) -> None:
    tries = begun(suite, "accept")
    (suite.parent / "maxrandom-ledger-simulated").write_text("no folder")
    with pytest.raises(
        SearchError, match=r"so the search gets no reply: what a search learns must be"
    ):
        tries.try_prompt(instruction="A. ")
    tries.close()


def test_a_report_is_written_and_read(pytester: pytest.Pytester, suite: Path) -> None:
    with begun(suite, "accept", "guesses") as tries:
        with pytest.raises(SearchError, match=r"^report: there is no verdict yet; "):
            tries.report("r.md")
        replies(tries, 5)
        tries.verdict()
        with pytest.raises(SearchError, match=r"^report: found r.txt, expected a name with .md"):
            tries.report("r.txt")
        tries.report("r.md")
        tries.report("r.json")
    assert "proposed by test" in (pytester.path / "r.md").read_text()
    assert main(["report", "r.json", "--out", "again.md"]) == 0
    assert "so the best one is judged as the best of " in (pytester.path / "again.md").read_text()


def wrong(suite: Path, **given: Any) -> str:
    with pytest.raises(SearchError) as told:
        search(suite, **{"model": "knows", **given})
    return str(told.value)


def test_a_search_that_makes_no_sense_is_one_sentence(suite: Path) -> None:
    assert wrong(suite, model=None) == f"{suite} has several models; give `model`: knows, guesses"
    assert wrong(suite, model="know") == (
        f"{suite}: model: found 'know', expected one of knows, guesses; did you mean 'knows'?"
    )
    assert wrong(suite, task="tsk").startswith(f"{suite}: task: found 'tsk', expected one of task;")
    assert wrong(suite, feedback="all") == (
        "feedback: found 'all', expected one of none, accept, improved, score, answers"
    )
    assert wrong(suite, budget=0).startswith("budget: found 0, expected a whole number from 1 on")
    assert wrong(suite, by=" ").startswith("by: found ' ', expected a name")
    assert wrong(suite, by="a\nb").startswith("by: found 'a\\nb', expected a name")
    assert wrong(suite, engine="fast").startswith("engine: found 'fast', expected one of auto, ")
    assert wrong(suite, store=suite.parent).startswith("store: found the folder ")
    assert wrong(suite, store=5) == "store: found 5, expected the name of a file"
    assert (
        wrong(suite.with_name("none.yaml"))
        == f"there is no suite file {suite.with_name('none.yaml')}"
    )


def test_a_prompt_that_makes_no_sense_is_one_sentence(
    pytester: pytest.Pytester, suite: Path
) -> None:
    suite.write_text(re.sub(r"shots: 0.*", "shots: 2, count: 3}", suite.read_text()))
    with begun(suite, "accept") as tries:
        ids = list(tries.demonstrations)

        def refused(**given: Any) -> str:
            with pytest.raises(SearchError) as told:
                tries.try_prompt(**given)
            return str(told.value)

        assert refused() == (
            "demonstrations: found 0, expected 2, which is how many shots the claim is about"
        )
        assert refused(demonstrations=ids[0]).startswith("demonstrations: found the text")
        with pytest.raises(SearchError) as told:
            tries(instr="A.")
        assert str(told.value) == (
            "a prompt has instruction, demonstrations, format, and no instr; did you mean "
            "'instruction'?"
        )
        assert refused(demonstrations=5) == "demonstrations: found 5, expected a list of ids"
        assert refused(demonstrations=[[ids[0]], ids[1]]).startswith("demonstrations: found ['e")
        assert refused(demonstrations=ids[:2], format=5).startswith("format: found 5, expected ")
        assert refused(demonstrations=ids[:2], format={"lables": "letter"}).startswith(
            "format: unknown key `lables`; did you mean `labels`?"
        )
        assert refused(demonstrations=[ids[0]] * 2).endswith("twice, expected different ids")
        assert refused(demonstrations=[ids[0], "nobody"]).startswith(
            "demonstrations: found 'nobody', expected ids of `demonstrations`, of which there are"
        )
        assert refused(demonstrations=ids[:2], format="letters") == (
            "format: `labels`: found 'letters', expected 'text' or 'letter' or 'parenthesized' or "
            "'number'; did you mean `letter`?"
        )
        seen = next(
            f"Is {i * 7919 % 1000} a number that is good enough?"
            for i in range(500)
            if f"e{i}" not in tries.demonstrations
        )
        assert "it repeats the question of validation example" in refused(
            demonstrations=ids[:2], instruction=f"Think of: {seen.upper()[:-1]} "
        )
        assert "format: input_prefix: it repeats the question" in refused(
            demonstrations=ids[:2], format={"input_prefix": f"{seen} Yes. "}
        )
        assert tries.t == 0
        assert tries.try_prompt(demonstrations=random.Random(0).sample(ids, 2), format="letter")
