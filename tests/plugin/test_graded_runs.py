"""Suites that run a model and grade what it writes: by F1, and by the scorer of a package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.host.packages import SCORERS
from pytest_maxrandom.tasks.references import Matching, f1
from tests.installed import install
from tests.plugin.test_packages import on_path

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = """\
models: [{name: m, backend: mock, prefers: {'Ann met Dan Hill': 3, 'Bob met Eve Hill': 1}}]
tasks:
- {name: facts, format: csv, path: facts.csv, answer_is: open, validation: {max_examples: 60}}
prompts: {shots: 1, count: 4}
scoring: SCORING
"""
CLAIM = "assert: {beats: 0.2, control_p: 0.05, better_than: incumbent}\n"
BESIDE = "control: {answer: Nobody}\nincumbent: {instruction: Say who.}\n"
CODE = """
from pytest_maxrandom.sweeps.written import Graded

def share(said, reference, matching):
    same = sum(one == other for one, other in zip(said, reference))
    return same / max(len(said), len(reference))

SHARE = Graded("the share of letters that are those of a reference", share)
"""


def write(pytester: pytest.Pytester, scoring: str = "f1", rest: str = BESIDE + CLAIM) -> None:
    people = [
        f"{one} met {other} Hill" for one in ("Ann", "Bob", "Cid") for other in ("Dan", "Eve")
    ]
    rows = [f"Who met whom in {i}?,{people[i % 6]}\n" for i in range(90)]
    (pytester.path / "facts.csv").write_text("input,answer\n" + "".join(rows))
    (pytester.path / "s.maxrandom.yaml").write_text(SUITE.replace("SCORING", scoring) + rest)


def claim_of(pytester: pytest.Pytester) -> dict[str, Any]:
    (claim,) = json.loads((pytester.path / "r.json").read_text())["claims"]
    found: dict[str, Any] = claim
    return found


def lines(pytester: pytest.Pytester) -> Iterator[dict[str, Any]]:
    return map(json.loads, (pytester.path / "p.jsonl").read_text().splitlines())


REPORTS = ("--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-html=r.html")


def test_answers_that_f1_grades_are_claimed_as_recorded_scores_are(
    pytester: pytest.Pytester,
) -> None:
    write(pytester)
    pytester.runpytest(*REPORTS, "--maxrandom-predictions=p.jsonl").assert_outcomes(failed=1)
    claim = claim_of(pytester)
    assert (claim["metric"], claim["judge"], claim["roles"]) == ("score", "f1", {})
    assert claim["best_correct"] is claim["max_random_baseline"] is None
    assert claim["baseline"]["low"] > 0
    assert claim["baseline_p"] < 0.001
    assert claim["control"]["name"] == "the control 'Nobody'"
    assert claim["control"]["accuracy"] == 0
    assert claim["control_p"] < 0.001
    assert claim["incumbent_p"] > 0.05  # who ignores questions ignores instructions
    means = [sum(each["score"] for each in line["examples"]) / 60 for line in lines(pytester)]
    assert claim["mean_scores"] == pytest.approx(means)
    assert claim["best_accuracy"] == max(claim["mean_scores"])
    report = (pytester.path / "r.md").read_text()
    assert "given by f1" in report
    assert "\nReferences: `" in report
    assert "learnt, as there are no choices" not in report
    again = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-until=decided")
    again.assert_outcomes(failed=1)
    stored = claim_of(pytester)
    assert stored["mean_scores"] == claim["mean_scores"]
    assert stored["control"]["digest"] == claim["control"]["digest"]
    digest = next(lines(pytester))["prompt"]
    incumbent = f"incumbent: {{answers: p.jsonl, prompt: {digest}}}\n"
    write(pytester, "exact_match", incumbent)
    told(pytester, "*p.jsonl holds what `scoring: f1` read, and those of the prompts are read by*")
    write(pytester, rest=incumbent + "assert: {better_than: incumbent}\n")
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(failed=1)
    beside = claim_of(pytester)["incumbent"]
    assert beside["accuracy"] == pytest.approx(means[0])
    # The ledger has no grades, and those that were just read tell the rank.
    assert beside["rank"] == 1 + sum(mean > means[0] for mean in means) < 4
    (pytester.path / "s.maxrandom.yaml").write_text(
        "models: [{name: m, backend: recorded, results: {path: p.jsonl, format: predictions}}]\n"
        "tasks: [{name: facts, assert: {beats: 0.2}}]\n"
    )
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    read = claim_of(pytester)
    for key in ("n", "t", "best_accuracy", "baseline_p", "mean_scores", "metric", "judge"):
        assert read[key] == claim[key], key


def test_a_scorer_of_a_package_grades_answers(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = install(pytester.path, "letters", SCORERS, "share", CODE, "letters:SHARE")
    on_path(place, monkeypatch)
    write(pytester, "share", "assert: {beats: 0.3}\n")
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    claim = claim_of(pytester)
    assert (claim["metric"], claim["judge"]) == ("score", "share of letters 1.0")
    write(pytester, "share", "assert: {beats: 0.3}\nreplicates: 3\nlabel_bias: {}\n")
    told(
        pytester, "replicates: facts: `replicates` comp*", "label_bias: facts: `scoring: share` g*"
    )
    write(pytester, "share", "assert: {beats: 0.3}\n")
    code = place / "letters.py"
    code.write_text(code.read_text().replace("return same /", "return 9 * same /"))
    on_path(place, monkeypatch)
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.stdout.fnmatch_lines(
        ["*scorer 'share' of letters 1.0 failed (*expected a number from 0*"]
    )


def told(pytester: pytest.Pytester, *wanted: str) -> None:
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines([f"*{line}*" for line in wanted])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        ("assert: {p_max: 0.05}\n", "*assert.p_max: facts: `p_max` compares with random guessers,"),
        ("assert: {control_p: 0.05}\n", "names no control; add the key `control`, such as"),
        ("shortcuts: choices_only\n", "*there are no choices; remove `shortcuts`"),
        ("replicates: 3\n", "*compares answers that are right or wrong, and `scoring: f1` says"),
        ("control: {prompt: blank}\n", "unknown key `control.prompt`"),
    ],
)
def test_what_graded_answers_cannot_be_asked_is_one_sentence(
    pytester: pytest.Pytester, rest: str, sentence: str
) -> None:
    write(pytester, rest=rest)
    told(pytester, sentence)


@pytest.mark.slow
def test_samples_that_f1_grades_come_to_their_mean_their_vote_the_best_or_the_worst(
    pytester: pytest.Pytester,
) -> None:
    found = {}
    for how in ("mean", "vote", "pass", "all"):
        several = f"generation: {{samples: 3, temperature: 1, aggregate: {how}}}\n"
        write(pytester, rest=f"assert: {{beats: 0.2}}\n{several}")
        pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-predictions=p.jsonl")
        claim = found[how] = claim_of(pytester)
        samples = [[each["score"] for each in line["examples"]] for line in lines(pytester)]
        grades = np.array(samples).reshape(4, 3, 60)
        if how != "vote":
            expected = getattr(grades, {"pass": "max", "all": "min"}.get(how, how))(axis=1)
            assert claim["mean_scores"] == pytest.approx(expected.mean(axis=1).tolist())
        assert claim["sampled"]["aggregate"] == how
    assert len({each["best_accuracy"] for each in found.values()}) == 4
    assert found["pass"]["best_accuracy"] == found["pass"]["sampled"]["any_right"]
    assert found["vote"]["t"] == 8  # each way to count them is a further try of each prompt
    write(pytester, rest="generation: {temperature: 1}\n")
    pytester.runpytest("--maxrandom-predictions=p.jsonl")
    digest = next(lines(pytester))["prompt"]
    stored = f"incumbent: {{answers: p.jsonl, prompt: {digest}}}\n"
    several = "generation: {samples: 3, temperature: 1, aggregate: pass}\n"
    write(pytester, rest=f"{stored}{several}assert: {{better_than: incumbent}}\n")
    told(pytester, "incumbent.answers: p.jsonl: it has 1 of each answer, and the others come to")


@pytest.mark.parametrize("how", ["mean", "pass", "all", "{pass: 2}"])
def test_a_control_gives_its_answers_in_turn_as_prompts_give_samples(
    pytester: pytest.Pytester, how: str
) -> None:
    answers = ["Ann met Eve Hill", "Bob met Dan Hill", "Nobody"]
    write(
        pytester,
        rest=f"control: {{answer: {answers}}}\nassert: {{control_p: 0.4}}\n"
        f"generation: {{samples: 4, temperature: 1, aggregate: {how}}}\n",
    )
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-predictions=p.jsonl")
    control, [*examples] = claim_of(pytester)["control"], next(lines(pytester))["examples"]
    matching, scores = Matching(), list[float]()
    for each in examples:
        first, second, third = (f1(text, each["listed"][0], matching) for text in answers)
        low, middle, higher, high = sorted([first, second, third, first])
        scores.append(
            {
                "mean": (low + middle + higher + high) / 4,
                "pass": high,
                "all": low,
                "{pass: 2}": (3 * high + 2 * higher + middle) / 6,
            }[how]
        )
    assert control["accuracy"] == pytest.approx(sum(scores) / 60)
    assert control["name"] == f"the control {', '.join(map(repr, answers))}"
    write(pytester, rest="control: {answer: [a, b]}\nassert: {control_p: 0.4}\n")
    told(pytester, "control.answer: found 2 answers, but each prompt gives 1 (`generation: sampl")


def test_without_anything_to_be_above_the_claim_cannot_tell(pytester: pytest.Pytester) -> None:
    write(pytester, rest="")
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(failed=1)
    assert claim_of(pytester)["cannot_tell"]["kind"] == "no_guessers"
    write(pytester, rest="control: {answer: Nobody}\n")
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    assert claim_of(pytester)["assert"] == {"control_p": 0.05}
