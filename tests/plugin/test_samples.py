"""Suites that ask each example several times run whole, and read what they have stored."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.recorded.prediction_lines import read_lines
from pytest_maxrandom.reports.page.cells import of_lines

if TYPE_CHECKING:
    from pathlib import Path

N, T = 30, 3
SUITE = """\
models: [{{name: m, backend: mock, knows: 0.4}}]
tasks:
- name: colours
  format: csv
  path: colours.csv
  columns: {{input: question, choices: choices, answer: answer}}
  validation: {{max_examples: 30}}
prompts: {{shots: 1, count: 3}}
scoring: generate
generation: {{temperature: 0.7, {how}}}
"""
RECORDED = """\
models: [{{name: m, backend: recorded, results: {{path: p.jsonl, format: predictions}}}}]
tasks: [{{name: colours}}]
aggregate: {how}
"""


OPEN = """\
models: [{{name: m, backend: mock, knows: 0.5, prefers: {{Rome: 1, Oslo: 1, Bonn: 1}}}}]
tasks:
- {{name: cities, format: csv, path: cities.csv, answer_is: open, validation: {{max_examples: 30}}}}
prompts: {{shots: 1, count: 3}}
scoring: exact_match
generation: {{samples: 3, temperature: 0.7, {how}}}
"""
OPEN_RECORDED = RECORDED.replace("colours", "cities")


@pytest.fixture
def cities(pytester: pytest.Pytester) -> None:
    rows = [
        f"Where is {n}?,{('Rome', 'Oslo', 'Bonn', 'Lima')[n * n % 11 % 4]}\n" for n in range(50)
    ]
    (pytester.path / "cities.csv").write_text("input,answer\n" + "".join(rows))


@pytest.fixture
def task(pytester: pytest.Pytester) -> Path:
    colours = ("red", "green", "blue")
    listed = '"[""red"", ""green"", ""blue""]"'
    rows = [f"thing {n}?,{listed},{colours[n * n % 7 % 3]}\n" for n in range(N + 20)]
    path = pytester.path / "colours.csv"
    path.write_text("question,choices,answer\n" + "".join(rows))
    return path


def run(pytester: pytest.Pytester, how: str, *arguments: str, suite: str = SUITE) -> dict[str, Any]:
    name = "recorded" if "recorded" in suite else "s"
    (pytester.path / f"{name}.maxrandom.yaml").write_text(suite.format(how=how))
    pytester.runpytest(f"{name}.maxrandom.yaml", "--maxrandom-json=r.json", *arguments)
    [claim] = json.loads((pytester.path / "r.json").read_text())["claims"]
    return dict(claim)


@pytest.mark.usefixtures("task")
def test_samples_are_asked_once_and_counted_once(pytester: pytest.Pytester) -> None:
    one = run(pytester, "samples: 1")
    assert (one["engine"]["requests"], one["sampled"]) == (N * T, None)
    few = run(pytester, "samples: 3", "--maxrandom-predictions=p.jsonl")
    # The single answer is the first sample, and t counts a prompt once however often it is asked.
    assert (few["engine"]["requests"], few["engine"]["reused"]) == (N * T * 2, T)
    assert (few["t"], few["n"], few["best_correct"]) == (T, N, None)
    assert few["best_accuracy"] == few["best_score"] == few["sampled"]["right"]
    assert few["standard_baseline"] == pytest.approx(1 / 3)
    # What samples come to may be chosen by what was seen: its prompts are further tries.
    passes = run(pytester, "samples: 3, aggregate: pass", "--maxrandom-report=r.md")
    assert (passes["engine"]["requests"], passes["t"]) == (0, 2 * T)
    assert passes["best_accuracy"] == passes["sampled"]["any_right"] > few["best_accuracy"]
    assert passes["best_correct"] == round(passes["best_accuracy"] * N)
    # The predictions file has each sample, and gives the same numbers.
    lines = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    assert [line["sample"] for line in lines] == [0, 1, 2] * T
    cells = of_lines(read_lines(pytester.path / "p.jsonl"))
    assert cells is not None
    names = [f"{line['prompt'][:12]} #{line['sample'] + 1}" for line in lines]
    assert (cells["prompts"], len(cells["rows"])) == (names, 3 * T)
    own = [line["examples"] for line in lines if line["prompt"] == lines[cells["best"]]["prompt"]]
    for answer, samples in zip(cells["answers"], zip(*own, strict=True), strict=True):
        shown = [(each["score"], each["said"]) for each in answer["samples"]]
        assert shown == [(each["chosen"] in each["right"], each["text"]) for each in samples]
    name = lines[0]["prompt"][:12]
    beside = SUITE.format(how=f"max_tokens: 9}}\nincumbent: {{answers: p.jsonl, prompt: {name}")
    (pytester.path / "beside.maxrandom.yaml").write_text(beside)
    collected = pytester.runpytest("beside.maxrandom.yaml", "--collect-only")
    collected.stdout.fnmatch_lines(["*holds several samples of each answer of the incumbent*"])
    # Rules that need no question stand beside samples, too: the same answer in each of them, or
    # different ones where any may be right.
    for found in (few, passes):
        assert found["shortcuts"]["best"] == pytest.approx(found["best_accuracy"])
    same, different = few["shortcuts"]["heuristics"], passes["shortcuts"]["heuristics"]
    assert all(same[name] <= different[name] for name in same)
    assert sum(different.values()) > sum(same.values())
    report = (pytester.path / "r.md").read_text()
    assert "the best of 6 heuristics, has a pass rate of" in report
    again = run(pytester, "mean", suite=RECORDED)
    for key in ("best_accuracy", "p_max", "max_random_baseline", "permutation_p", "sampled"):
        assert again[key] == few[key], key


@pytest.mark.usefixtures("task")
@pytest.mark.parametrize("how", ["mean", "pass"])
def test_blank_inputs_are_asked_as_often(pytester: pytest.Pytester, how: str) -> None:
    """All of them are one question, to which the model gives the same samples."""
    suite = SUITE.replace("knows: 0.4", "knows: 1") + "shortcuts: choices_only\n"
    files = "--maxrandom-predictions=p.jsonl"
    claim = run(pytester, f"samples: 3, aggregate: {how}", files, suite=suite)
    line = json.loads((pytester.path / "p.jsonl").read_text().partition("\n")[0])
    shares = [0.0] * 3
    for each in line["examples"]:
        shares[each["right"][0]] += 1 / N
    reached = {
        sum(shares[said] for said in samples) / 3
        if how == "mean"
        else sum(shares[said] for said in {*samples})
        for samples in product(range(3), repeat=3)
    }
    found = claim["shortcuts"]
    assert (found["best"], claim["t"]) == (1, T)
    assert any(found["choices_only"] == pytest.approx(value) for value in reached)
    assert found["choices_only"] == 1 or found["choices_only_p"] < 0.05


@pytest.mark.usefixtures("cities")
@pytest.mark.parametrize("how", ["mean", "pass", "all", "{pass: 2}"])
def test_samples_of_open_answers_learn_their_chance_together(
    pytester: pytest.Pytester, how: str
) -> None:
    files = "--maxrandom-predictions=p.jsonl", "--maxrandom-report=r.md", "--maxrandom-html=r.html"
    claim = run(pytester, f"aggregate: {how}", *files, suite=OPEN)
    shares = {"mean": "right", "pass": "any_right", "all": "all_right"}
    if how in shares:
        assert claim["best_accuracy"] == pytest.approx(claim["sampled"][shares[how]])
    assert claim["passed"]
    assert claim["permutation_p"] < 0.01
    assert 0 < claim["standard_baseline"] <= claim["max_random_baseline"] < claim["best_accuracy"]
    # Passing takes one of three and all take three: chance is what these very answers reach.
    assert (claim["standard_baseline"] > 0.4) == (how in ("pass", "{pass: 2}"))
    # Who says the commonest reference in each sample is scored beside it; by pass who says as many
    # of the commonest ones as the best prompt has different answers, and as often.
    lines = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    best = claim["best_prompt"]["digest"]
    own = [*zip(*(line["examples"] for line in lines if line["prompt"] == best), strict=True)]
    ranked = [name for name, _ in Counter(row[0]["listed"][0] for row in own).most_common()]
    earned = 0.0
    for row in own:
        times = (
            [3]
            if "pass" not in how
            else sorted(Counter(each["text"].strip() for each in row).values(), reverse=True)
        )
        given = [name for name, many in zip(ranked, times, strict=False) for _ in range(many)]
        draws = [*combinations(given, 2)] if "2" in how else [given]
        earned += sum(row[0]["listed"][0] in draw for draw in draws) / len(draws)
    # Beside pass@k, and all of k, stands what these answers reach with any example's reference.
    said = [[each["text"].strip() for each in row] for row in own]
    gold = [row[0]["listed"][0] for row in own]
    for key, right in (("any", any), ("all", all)):
        reached = [right(text == other for text in texts) for texts in said for other in gold]
        chance = sum(reached) / len(reached)
        assert claim["sampled"][f"{key}_by_chance"] == pytest.approx(chance)
    assert claim["sampled"]["different"] == pytest.approx(sum(map(len, map(set, said))) / len(own))
    assert "(a guesser with as many different answers: " in (pytester.path / "r.md").read_text()
    assert claim["shortcuts"]["best"] == pytest.approx(claim["best_accuracy"])
    assert claim["shortcuts"]["heuristics"]["commonest"] == pytest.approx(earned / claim["n"])
    report = (pytester.path / "r.md").read_text()
    assert "the commonest reference of each kind" in report
    assert ("with as many different answers; sign-flip p" in report) == ("pass" in how)
    read = run(pytester, how, suite=OPEN_RECORDED)
    for key in (
        *("best_accuracy", "permutation_p", "standard_baseline", "max_random_baseline"),
        *("shortcuts", "sampled"),
    ):
        assert read[key] == claim[key], key


@pytest.mark.usefixtures("cities")
def test_the_commonest_open_answer_is_the_vote(pytester: pytest.Pytester) -> None:
    claim = run(pytester, "aggregate: vote", "--maxrandom-predictions=p.jsonl", suite=OPEN)
    lines = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    best = claim["best_prompt"]["digest"]
    own = [line["examples"] for line in lines if line["prompt"] == best]
    least = most = 0
    for answers in zip(*own, strict=True):
        texts = [each["text"].strip() for each in answers]
        tops = {text for text in texts if texts.count(text) == max(map(texts.count, texts))}
        named = {each["text"].strip() for each in answers if each["chosen"] is not None}
        right = tops & named
        least, most = least + (tops == right), most + bool(right)
    assert least <= claim["best_correct"] <= most
    assert claim["shortcuts"]["heuristics"].keys() >= {"commonest"}
    read = run(pytester, "vote", suite=OPEN_RECORDED)
    for key in ("best_accuracy", "permutation_p", "max_random_baseline", "correct_counts"):
        assert read[key] == claim[key], key
    # A table of the same texts votes alike.
    (pytester.path / "table.csv").write_text(
        "prompt,example,sample,prediction,reference,question\n"
        + "".join(
            f"{line['prompt']},{each['id']},{line['sample']},{each['text']},{each['listed'][0]},"
            f"Where is {each['id'].removeprefix('#')}?\n"
            for line in lines
            for each in line["examples"]
        )
    )
    table = OPEN_RECORDED.replace(
        "{{path: p.jsonl, format: predictions}}",
        "{{path: table.csv, format: table, shots: 1, columns: {{input: question}}}}",
    )
    assert table != OPEN_RECORDED
    assert run(pytester, "vote", suite=table)["correct_counts"] == claim["correct_counts"]
