"""Suites that name what runs today, and claim that the best of t prompts is better."""

from __future__ import annotations

import csv
import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from pytest_maxrandom.cli import main
from pytest_maxrandom.ledger.summary import looks
from pytest_maxrandom.record.packed import KeptAnswers
from pytest_maxrandom.reports.trend import trends
from tests.plugin.conftest import flat
from tests.plugin.incumbent_suite import OLD, SUITE, N, questions, run, suite

if TYPE_CHECKING:
    from pathlib import Path

TABLE = """\
models: [{name: m, backend: recorded, results: {path: t.csv, format: table}}]
tasks: [{name: larger, chance: 1/2}]
incumbent: {prompt: p0}
assert: {better_than: incumbent, by: 0.0}
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    return questions(pytester.mkdir("eval_suites"))


def test_the_best_of_t_prompts_is_tested_against_what_runs_today(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder)
    claim = run(pytester, "--maxrandom-predictions=p.jsonl")
    beside = claim["incumbent"]
    assert claim["outcome"] == "passed"
    assert (beside["test"], beside["n"], beside["of"], claim["t"]) == ("exact", N, 10, 10)
    assert beside["low"] > 0
    assert beside["difference"] == pytest.approx(claim["best_accuracy"] - beside["accuracy"])
    # The same p-value by SciPy, from the answers of both.
    suite(folder, 0.4, '{instruction: "Answer:"}')
    text = (folder / "s.yaml").read_text().replace(", copies: 0.5", "")
    text = text.replace("name: new", "name: old")
    (folder / "s.yaml").write_text(text.replace("shots: 2", "shots: 0, instructions: ['Answer:']"))
    lines = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    run(pytester, "--maxrandom-predictions=old.jsonl")
    [old] = [json.loads(line) for line in (pytester.path / "old.jsonl").read_text().splitlines()]
    assert old["prompt"] == beside["digest"]
    right = [{each["id"]: each["chosen"] in each["right"] for each in line["examples"]}
             for line in [*lines, old]]  # fmt: skip
    best = max(right[:-1], key=lambda one: sum(one.values()))
    wins = sum(best[name] and not right[-1][name] for name in best)
    losses = sum(right[-1][name] and not best[name] for name in best)
    alone = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
    assert claim["incumbent_p"] == pytest.approx(min(1, 10 * alone))


def test_what_a_claim_is_beside_is_told_and_priced_before_anything_is_asked(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder)
    said = flat(pytester.runpytest("--collect-only"))
    assert f"larger[new-2shot] t=10 n={N} beside the incumbent>" in said
    priced = flat(pytester.runpytest("--maxrandom-dry-run"))
    assert "new (mock): 1 claim 10 prompts to compute, 0 in the store" in priced
    assert "old (mock): 1 claim 1 prompt to compute, 0 in the store" in priced
    suite(folder, incumbent='{instruction: "Answer:"}')
    assert "11 prompts to compute" in flat(pytester.runpytest("--maxrandom-dry-run"))
    pytester.runpytest()
    assert "all 11 prompts are in the store" in flat(pytester.runpytest("--maxrandom-dry-run"))


def test_a_model_that_is_no_better_fails_in_one_sentence_with_the_interval(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder, 0.4)
    result = pytester.runpytest("--maxrandom-report=r.md")
    result.assert_outcomes(failed=1)
    said = flat(result)
    assert re.search(
        r"best \.\d+ is (\.\d+ above|\.\d+ below|level with) the incumbent's \.\d+, "
        r"(and must be above it|but that may be luck)"
        r".* \(incumbent p .*; interval [+-]?\.\d+ to [+-]?\.\d+; t = 10, n = 120\)",
        said,
    )
    assert "beside the" in said, "the terminal shows the difference"
    assert re.search(r"\+\.\d+ \([+-]\.\d+ to \+\.\d+\)|-\.\d+ \(", said)
    assert "max" not in " ".join(result.outlines).split("FAILED:")[-1].split("short test")[0]
    report = (pytester.path / "r.md").read_text()
    assert "beside the<br>incumbent" in report
    assert "cannot be told from the best" in report or "prompts may be the best" in report


def test_the_incumbent_is_no_try_and_is_asked_once(pytester: pytest.Pytester, folder: Path) -> None:
    suite(folder)
    first = run(pytester)
    ledger = [*folder.glob("maxrandom-ledger-simulated/*.jsonl")]
    assert ledger
    lines = [json.loads(line) for path in ledger for line in path.read_text().splitlines()]
    counted = sum(line.get("prompt") == first["incumbent"]["digest"] for line in lines)
    again = run(pytester)
    assert counted == 0
    assert (first["t"], again["t"]) == (10, 10)
    assert again["engine"]["reused"] == 10
    assert again["incumbent"]["difference"] == first["incumbent"]["difference"]


def test_an_incumbent_that_was_tried_before_it_was_named_pays_for_its_rank(
    pytester: pytest.Pytester, folder: Path
) -> None:
    listed = "shots: 0, instructions: ['A:', 'B:', 'C:']"

    def named(knows: float, incumbent: str, model: str = "name: new") -> dict[str, Any]:
        suite(folder, knows, incumbent)
        text = (folder / "s.yaml").read_text().replace("name: new", model, 1)
        (folder / "s.yaml").write_text(text.replace("shots: 2", listed))
        return run(pytester)

    first = named(0.5, '{instruction: "B:"}')
    # It is one of three prompts, but nobody had seen its score when it was named.
    assert (first["t"], first["incumbent"]["chosen_here"]) == (3, None)
    again = named(0.5, '{instruction: "B:"}')
    assert (again["incumbent"], again["notes"]) == (first["incumbent"], first["notes"])
    ranks = []
    for name in "AC":
        found = named(0.5, f'{{instruction: "{name}:"}}')
        kept, beside = KeptAnswers.unpacked(found["answers"]), found["incumbent"]
        rows = dict(zip(kept.prompts, kept.rows, strict=True))
        old, best = rows[beside["digest"]], rows[found["best_prompt"]["digest"]]
        wins, losses = (
            sum(str(one) > str(other) for one, other in zip(*pair, strict=True))
            for pair in ((best, old), (old, best))
        )
        p = stats.binomtest(wins, wins + losses, alternative="greater").pvalue if wins else 1
        rank = 1 + sum(row.count("1") > old.count("1") for row in rows.values())
        ranks.append(rank)
        assert (beside["rank"], beside["chosen_here"], beside["of"]) == (rank, 3, 3)
        assert found["incumbent_p"] == pytest.approx(min(1.0, 3 * rank * p))
        told = " ".join(note["text"] for note in found["notes"])
        paid = f"it had rank {rank} among them, so p is also times {rank}. "
        assert (paid if rank > 1 else "none of them had a higher score when it was named") in told
    assert max(ranks) > 1
    # B was the first one that nobody had tried, and D is the second: A and C pay for their rank.
    second = named(0.5, '{instruction: "D:"}')
    beside = second["incumbent"]
    assert (beside["place"], beside["rank"], beside["chosen_here"]) == (2, 1, None)
    assert any("p is also times 6, " in note["text"] for note in second["notes"])
    # The prompt and the model were tried by an earlier claim here; another model is compared now.
    other = "{instruction: 'C:', model: {name: new, backend: mock, knows: 0.5, copies: 0.5}}"
    assert named(0.7, other, "name: newer")["incumbent"]["rank"] == ranks[-1]


def test_stored_answers_stand_for_the_incumbent_while_nothing_has_changed(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder)
    asked = run(pytester)["incumbent"]
    text = (folder / "s.yaml").read_text()
    old = "shots: 0, instructions: ['Answer:']"
    (folder / "s.yaml").write_text(
        re.sub(r"incumbent: \{.*\n", "", text)
        .replace("better_than: incumbent", "p_max: 0.05")
        .replace("{name: new, backend: mock, knows: 0.9, copies: 0.5}",
                 "{name: old, backend: mock, knows: 0.4}")
        .replace("shots: 2", old)
    )  # fmt: skip
    run(pytester, f"--maxrandom-predictions={folder / 'old.jsonl'}")
    model = "model: {name: old, backend: mock, knows: 0.4}"
    suite(folder, incumbent=f"{{answers: old.jsonl, {model}}}")
    stored = run(pytester)["incumbent"]
    same = ("accuracy", "difference", "low", "high", "digest", "model", "model_digest")
    assert [stored[key] for key in same] == [asked[key] for key in same]
    # The model is another one now, be it that of the claim or one beside it.
    stale = "incumbent: the answers of old.jsonl are stale: the digest of the model of old is"
    suite(folder, incumbent=f"{{answers: old.jsonl, {model.replace('0.4', '0.5')}}}")
    assert stale in flat(pytester.runpytest())
    suite(folder, incumbent="{answers: old.jsonl}")
    text = (folder / "s.yaml").read_text()
    (folder / "s.yaml").write_text(text.replace("name: new", "name: old"))
    assert stale in flat(pytester.runpytest())
    # Nobody says which one it is.
    (folder / "s.yaml").write_text(text)
    told = "s.yaml:3: incumbent.answers: old.jsonl holds answers of old, and nothing tells whether"
    assert told in flat(pytester.runpytest("--collect-only"))
    # The task is another one now.
    suite(folder, incumbent=f"{{answers: old.jsonl, {model}}}")
    questions = (folder / "q.jsonl").read_text()
    (folder / "q.jsonl").write_text(questions.replace(" larger than ", " more than "))
    result = pytester.runpytest("--collect-only")
    told = r"s\.yaml:3: incumbent\.answers: .* holds no answers to the 120 validation examples"
    assert re.search(told, flat(result))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("incumbent: {incumbent}\n", "", "6: assert.better_than: the suite does not say what the"),
        ("better_than: incumbent", "p_max: 0.05, by: 0.1", "7: assert.by: this belongs to `better"),
        ("Answer:\"", "Answer:\", demonstrations: [nobody]",
         "3: incumbent.demonstrations[0]: larger has no example 'nobody'"),
        ("{incumbent}", "{{matters: 0.1}}", "3: incumbent: says nothing of what runs today"),
        ("tasks:", "metric: macro_f1\ntasks:", "3: incumbent: the difference to it is one of"),
        ("tasks:", "replicates: 3\ntasks:", "3: incumbent: one prompt is compared on one set"),
        ("tasks:", "until: decided\ntasks:", "4: until: `decided` skips answers, but `incumbent`"),
        ("name: old", "name: old, knowz: 1", "3: unknown key `incumbent.model.knowz`"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line_at_collection(
    pytester: pytest.Pytester, folder: Path, old: str, new: str, told: str
) -> None:
    template = SUITE.replace("{incumbent}", "{incumbent}")
    if old in template:
        text = template.replace(old, new).format(knows=0.9, incumbent=OLD, n=N)
    else:
        text = template.format(knows=0.9, incumbent=OLD.replace(old, new), n=N)
    if "until" in text:
        text = text.replace("count: 10", "count: 10, budget: 10")
    (folder / "s.yaml").write_text(text)
    result = pytester.runpytest("--collect-only")
    assert f"s.yaml:{told}" in flat(result)


def table(path: Path, rates: dict[str, float], seed: int = 1, n: int = 150) -> dict[str, list[int]]:
    generator = random.Random(seed)
    right = {
        prompt: [int(generator.random() < rate) for _ in range(n)] for prompt, rate in rates.items()
    }
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["model", "task", "shots", "prompt", "example", "correct"])
        for prompt, answers in right.items():
            out.writerows(["m", "larger", 0, prompt, f"e{place}", answer]
                          for place, answer in enumerate(answers))  # fmt: skip
    return right


def test_a_prompt_of_recorded_results_can_be_the_incumbent(
    pytester: pytest.Pytester, folder: Path
) -> None:
    (folder / "s.yaml").write_text(TABLE)
    right = table(folder / "t.csv", {"p0": 0.6, "p1": 0.7, "p2": 0.85})
    claim = run(pytester)
    wins = sum(new > old for new, old in zip(right["p2"], right["p0"], strict=True))
    losses = sum(new < old for new, old in zip(right["p2"], right["p0"], strict=True))
    alone = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
    # Two of the three prompts of the file scored higher: it may have been chosen for that.
    assert claim["incumbent_p"] == pytest.approx(min(1, 3 * 3 * alone))
    assert claim["outcome"] == "passed"
    assert (claim["incumbent"]["chosen_here"], claim["incumbent"]["rank"]) == (3, 3)


def test_a_second_file_can_be_the_incumbent(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = "{results: {path: old.csv, format: table}}"
    (folder / "s.yaml").write_text(TABLE.replace("{prompt: p0}", spec))
    table(folder / "t.csv", {"p1": 0.7, "p2": 0.85})
    table(folder / "old.csv", {"p0": 0.6}, seed=2)
    claim = run(pytester)
    assert claim["incumbent"]["difference"] > 0.1
    assert (claim["t"], claim["incumbent"]["chosen_here"]) == (2, None)
    digest = claim["incumbent"]["answers_digest"]
    several = TABLE.replace("{prompt: p0}", spec.replace("}}", "}, prompt: p0}"))
    (folder / "s.yaml").write_text(several)
    table(folder / "old.csv", {"p0": 0.6, "p1": 0.5}, seed=2)
    assert run(pytester)["incumbent"]["chosen_here"] == 2
    (folder / "s.yaml").write_text(TABLE.replace("{prompt: p0}", spec))
    table(folder / "old.csv", {"p0": 0.6}, seed=2)
    before = (pytester.path / "r.json").read_text()
    (pytester.path / "before.json").write_text(before)
    table(folder / "old.csv", {"p0": 0.6}, seed=3)
    assert run(pytester)["incumbent"]["answers_digest"] != digest
    assert main(["diff", "before.json", "r.json"]) == 0
    assert "the incumbent's stored answers are not the same" in capsys.readouterr().out
    table(folder / "old.csv", {"p0": 0.6}, n=140)
    said = flat(pytester.runpytest("--collect-only"))
    assert re.search(r"s\.yaml:3: incumbent\.results: the incumbent in .*old\.csv has no answer to "
                     r"10 of the 150 examples", said)  # fmt: skip
    gone = TABLE.replace("{prompt: p0}", spec.replace("old.csv", "gone.csv"))
    (folder / "s.yaml").write_text(gone)
    said = flat(pytester.runpytest("--collect-only"))
    assert "gone.csv: no such file or folder; correct the path" in said
    assert "if_missing" not in said
    (folder / "s.yaml").write_text(TABLE.replace("p0", "p9"))
    said = flat(pytester.runpytest("--collect-only"))
    assert re.search(r"s\.yaml:3: incumbent\.prompt: .*t\.csv has no prompt 'p9'", said)


def test_claims_of_a_family_share_the_level(pytester: pytest.Pytester, folder: Path) -> None:
    table(folder / "t.csv", {"p0": 0.6, "p1": 0.9})
    text = TABLE.replace("by: 0.0", "by: 0.0, family: suite")
    second = text.replace("tasks: [", "tasks: [{name: copy, in_results: larger, chance: 1/2}, ")
    (folder / "s.yaml").write_text(second)
    claim = run(pytester)
    # Two claims, and the first of any number of looks.
    assert claim["levels"] == {"incumbent_p": 0.0125}
    assert claim["incumbent"]["level"] == 0.0125


def test_looks_at_recorded_answers_share_the_level_and_the_same_answers_are_no_new_look(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.yaml").write_text(TABLE)
    levels = []
    for seed in (1, 1, 2, 3, 3):
        table(folder / "t.csv", {"p0": 0.6, "p1": 0.9}, seed=seed)
        claim = run(pytester)
        levels.append((claim["incumbent"]["look"], claim["levels"]["incumbent_p"]))
    assert levels == [(look, pytest.approx(0.05 / look / (look + 1))) for look in (1, 1, 2, 3, 3)]
    told = " ".join((pytester.path / "r.md").read_text().split())
    assert (
        "look 3 at recorded answers: it has .004167 of the level .05, and the next one at other"
        " answers .0025, so that any number of looks is valid" in told
    )
    # Another incumbent is another look, too.
    (folder / "s.yaml").write_text(TABLE.replace("p0", "p1"))
    assert run(pytester)["incumbent"]["look"] == 4
    assert main(["ledger", "show", str(folder / "maxrandom-ledger")]) == 0
    shown = capsys.readouterr().out
    assert "m, 0 shots: looks at recorded answers: 3 different, 4 beside an incumbent" in shown
    [found] = trends([], looks([folder / "maxrandom-ledger"]))
    assert {(point.t, point.maximum, point.needed) for point in found.points} == {(2, None, None)}
    assert main(["ledger", "verify", str(folder / "maxrandom-ledger")]) == 0


def test_reports_in_other_formats_show_the_difference(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.yaml").write_text(TABLE)
    table(folder / "t.csv", {"p0": 0.6, "p1": 0.83, "p2": 0.85})
    assert run(pytester)["incumbent"]["alike"] == ["p1", "p2"]
    report = (pytester.path / "r.md").read_text()
    assert re.search(r"May be the best as well.*p1, p2", report)
    for form in ("html", "latex", "markdown"):
        capsys.readouterr()
        assert main(["report", str(pytester.path / "r.json"), "--format", form]) == 0
        assert "incumbent" in capsys.readouterr().out


def test_promote_prints_the_prompt_that_is_the_incumbent_then_and_t_goes_on(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite(folder, incumbent=OLD.replace("{ins", "{test: exact, matters: 0.1, ins"))
    first = run(pytester)
    capsys.readouterr()
    assert main(["promote", "r.json"]) == 0
    printed = capsys.readouterr().out
    assert "\n  test: exact\n  matters: 0.1\n" in printed
    assert "Its t, 10, goes on for the same model and number of shots" in printed
    assert "`assert: {count: task}` counts them too" in printed
    assert "Until a prompt is better than this one, the claim fails" in printed
    text = (folder / "s.yaml").read_text()
    text = re.sub(r"incumbent: \{.*\n", printed, text).replace("count: 10", "count: 15, seed: 1")
    (folder / "s.yaml").write_text(text)
    second = run(pytester)
    assert second["incumbent"]["digest"] == first["best_prompt"]["digest"]
    assert second["incumbent"]["accuracy"] == first["best_accuracy"]
    assert second["t"] == second["incumbent"]["of"] == 25
    assert second["incumbent"]["chosen_here"] == 25
    assert second["outcome"] == "failed"
    # `looks: spend` asks for less than the claim's own level, so it would pass no more.
    assert (second["tries"]["look"], second["tries"]["holds"]) == (2, False)
    shown = [first["incumbent"]["digest"][:12], second["incumbent"]["digest"][:12]]
    [ledger] = folder.glob("maxrandom-ledger-simulated")
    assert main(["ledger", "show", str(ledger)]) == 0
    chain = rf"{shown[0]} of model \w{{12}} \(t up to 10\), then {shown[1]} \(t up to 25\)"
    assert re.search(chain, capsys.readouterr().out)
    [found] = trends([], looks([ledger]))
    assert [point.incumbent for point in found.points] == shown
    assert [point.t for point in found.points] == [10, 25]
    (folder / "s.yaml").write_text(text + "xfail: nothing better yet\n")
    assert run(pytester)["outcome"] == "xfailed"
    assert main(["promote", "r.json"]) == 2
    assert "expected a claim that passed and asserts `better_than: incumbent`, found none" in (
        capsys.readouterr().err
    )


def test_the_dry_run_of_a_stored_incumbent_speaks_of_one_prompt(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder)
    run(pytester)
    told = flat(pytester.runpytest("--maxrandom-dry-run"))
    assert "old (mock): 1 claim its prompt is in the store: nothing to compute" in told
    assert "new (mock): 1 claim all 10 prompts are in the store" in told


def test_promote_names_the_best_of_recorded_prompts(
    pytester: pytest.Pytester, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.yaml").write_text(TABLE.replace("{prompt: p0}", "{prompt: p0, matters: 0.1}"))
    table(folder / "t.csv", {"p0": 0.6, "p1": 0.7, "p2": 0.85})
    assert run(pytester)["outcome"] == "passed"
    capsys.readouterr()
    assert main(["promote", "r.json"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("\nincumbent:\n  prompt: p2\n  matters: 0.1\n")
    table(folder / "t.csv", {"p0": 0.6, "p1": 0.7})
    assert main(["promote", "r.json"]) == 2
    assert "s.yaml has no prompt 'p2' any more; run it again" in capsys.readouterr().err
    table(folder / "t.csv", {"p0": 0.6, "p1": 0.7, "p2": 0.85})
    text = (folder / "s.yaml").read_text()
    (folder / "s.yaml").write_text(re.sub(r"incumbent: \{.*\n", printed, text, count=1))
    second = run(pytester)
    assert (second["incumbent"]["digest"], second["incumbent"]["difference"]) == ("p2", 0.0)
    assert (second["outcome"], second["incumbent"]["look"]) == ("failed", 2)


def test_promote_says_of_a_hand_written_test_that_it_names_the_incumbent_itself(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    pytester.makepyfile(
        test_own="""
        def test_better(maxrandom):
            maxrandom.check(scores=[[0.9] * 50], incumbent=[0.4] * 50)
    """
    )
    assert run(pytester)["outcome"] == "passed"
    capsys.readouterr()
    assert main(["promote", "r.json"]) == 2
    assert "test_own.py::test_better is a test of your own, which names" in capsys.readouterr().err


def test_a_hand_written_test_claims_it_of_any_scores(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import numpy as np

        generator = np.random.default_rng(4)
        old = generator.beta(4, 4, 150).round(3)
        new = np.clip(old + generator.normal(0.0, 0.05, (5, 150)), 0, 1)
        better = np.clip(new + 0.1, 0, 1)

        def test_better(maxrandom):
            result = maxrandom.check(scores=better, incumbent=old, t=40)
            assert result.incumbent.low > 0

        def test_no_better(maxrandom):
            maxrandom.check(scores=new, incumbent=old)

        def test_wrong(maxrandom):
            maxrandom.check(scores=new, incumbent=old[1:])

        def test_margin(maxrandom):
            maxrandom.check(scores=new, incumbent=old, by=1.5)

        def test_beside_whom(maxrandom):
            maxrandom.check(scores=new, beats=0.4, by=0.02)

        def test_of_counts(maxrandom):
            maxrandom.check(best_correct=71, n=100, t=9, chance=0.5, p_max=0.05, incumbent=old)

        def test_all(maxrandom):
            maxrandom.check(scores=new, compare="all")

        def test_all_of_a_table(maxrandom):
            maxrandom.judge([], compare="all")

        def test_by_names(maxrandom):
            scores = {"a": {"x": 1, "y": 0.5}, "b": {"x": 0.2, "y": 0.6}}
            today = {"y": 0.4, "x": 0.9}
            maxrandom.check(scores=scores, incumbent=today, incumbent_p=0.9, beats=0.1,
                            baseline_p=0.9, control={"x": 0, "y": 0}, control_p=0.9)
    """)
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=8)
    said = flat(result)
    assert "by must be a difference of scores, from 0 to below 1, found 1.5" in said
    assert re.search(r"best score \.\d+ is \.\d+ (above|below) the incumbent's \.\d+", said)
    assert "incumbent must have one score for each of the 150 examples, found 149" in said
    assert "by is about the incumbent, which is not given; give `incumbent`" in said
    assert said.count("compare: a test claims one thing of one model; `judge_each(results,") >= 2
    assert "incumbent belongs to `scores`, which are not given" in said
    report = json.loads((pytester.path / "r.json").read_text())
    claims = {each["id"].rpartition("::")[2]: each for each in report["claims"]}
    assert claims["test_better"]["outcome"] == "passed"
    assert {claims[name]["incumbent"]["look"] for name in ("test_better", "test_no_better")} == {1}
    assert claims["test_better"]["levels"] == {"incumbent_p": 0.025}
    assert claims["test_better"]["assert"] == {
        "incumbent_p": 0.05, "better_than": "incumbent", "by": 0.0,
    }  # fmt: skip
    assert claims["test_better"]["max_random_baseline"] is None
    assert claims["test_by_names"]["incumbent"]["difference"] == pytest.approx(0.1)
    assert claims["test_by_names"]["control"]["difference"] == pytest.approx(0.75)
