"""Tasks without choices run whole: their chance is learnt, and mistakes are one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_maxrandom.claims import open_tasks
from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.searches.search import claims_of

SUITE = """\
models: [{models}]
tasks:
- {{name: facts, format: csv, path: facts.csv, answer_is: open, validation: {{max_examples: 80}}}}
{tasks}
prompts: {{shots: 1, count: 6}}
scoring: {scoring}
{rest}
"""
KNOWS = "{name: knows, backend: mock, knows: 0.5}"
BY_TYPE = "{name: by-type, backend: mock, prefers: {'No': 3, Paris: 2, Oslo: 1, Rome: 1}}"
COPIED = (
    "- {name: extracts, format: jsonl, path: extracts.jsonl, answer_is: open, "
    "validation: {max_examples: 40}}"
)


def write(pytester: pytest.Pytester, rows: list[str] | None = None, **of_suite: str) -> None:
    cities = ["Paris", "Oslo", "Rome", "Paris", "Bonn"]
    facts = [
        line
        for i in range(40)
        for line in (
            f"What is {i} and {i + 200}?,{2 * i + 200}\n",
            f"Which city is number {i}?,{cities[i % 5]}\n",
            f"Is {i} lucky?,{'No' if i % 3 else 'Yes'}\n",
        )
    ]
    (pytester.path / "facts.csv").write_text("input,answer\n" + "".join(rows or facts))
    held = [{"input": f"Ann met B{i} Hill. Whom?", "answer": f"B{i} Hill"} for i in range(50)]
    path = pytester.path / "extracts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in held))
    given = {"models": KNOWS, "tasks": "", "scoring": "exact_match", "rest": ""} | of_suite
    (pytester.path / "s.maxrandom.yaml").write_text(SUITE.format(**given))


def claims(pytester: pytest.Pytester) -> dict[str, dict[str, Any]]:
    found = json.loads((pytester.path / "r.json").read_text())["claims"]
    return {claim["id"].split("::")[1]: claim for claim in found}


def test_a_suite_of_open_tasks_runs_whole(pytester: pytest.Pytester) -> None:
    write(pytester, models=f"{KNOWS}, {BY_TYPE}", tasks=COPIED)
    report = ("--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-html=r.html")
    pytester.runpytest(*report, "--maxrandom-predictions=p.jsonl").assert_outcomes(
        passed=1, failed=3
    )
    found = claims(pytester)
    knows, by_type = found["facts[knows-1shot]"], found["facts[by-type-1shot]"]
    for claim in (knows, by_type):
        assert claim["roles"].keys() >= {"name", "number", "yes/no"}
        assert sum(claim["roles"].values()) == claim["n"] == 80
        assert claim["p_max"] is claim["p_standard"] is claim["union_p"] is None
        assert 0 < claim["standard_baseline"] < claim["max_random_baseline"] < 0.5
        assert claim["validation"]["chances"] == {}
        assert claim["assert"] == {"permutation_p": 0.05, "beats": "max_random"}
    assert knows["passed"]
    assert knows["permutation_p"] < 0.001
    assert {*knows["shortcuts"]["heuristics"]} >= {"commonest"}
    assert not by_type["passed"]
    untold = found["extracts[knows-1shot]"]
    assert untold["passed"] is None
    assert untold["cannot_tell"]["kind"] == "follow_the_question"
    assert any(note["kind"] == "answers_follow" for note in untold["notes"])
    text = (pytester.path / "r.md").read_text()
    assert "learnt, as there are no choices" in text
    assert "the commonest reference of each kind" in text
    assert "References: `" in text
    assert "a guesser is the same answers with the references of other examples" in text
    for form in ("disclosure", "html", "latex", "bibtex", "csv"):
        assert main(["report", "r.json", "--format", form]) == 0
    again = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-until=decided")
    again.assert_outcomes(passed=1, failed=3)
    stored = claims(pytester)["facts[knows-1shot]"]
    assert stored["permutation_p"] == knows["permutation_p"]
    read_back_as_they_were(pytester, found)


def test_a_run_whose_answers_another_rule_compares_is_beside_no_earlier_one(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"p,{i},Answer {i % 7},The answer {i % 6}\n" for i in range(40)]
    (pytester.path / "t.csv").write_text("prompt,example,prediction,reference\n" + "".join(rows))
    for exact in ("", "exact_match: {normalise: []}"):
        write(pytester, rest=exact)
        results = f"{{path: t.csv, format: table, shots: 0{', ' * bool(exact)}{exact}}}"
        (pytester.path / "t.maxrandom.yaml").write_text(
            f"models: [{{name: m, backend: recorded, results: {results}}}]\ntasks: [{{name: t}}]\n"
        )
        pytester.runpytest(f"--maxrandom-json={'head' if exact else 'base'}.json")
    for name in ("base", "head"):
        # The same rule is the same, whether a run compares answers or a table holds them.
        both = json.loads((pytester.path / f"{name}.json").read_text())["claims"]
        assert len(both) == 2
        assert len({claim["rule"] for claim in both}) == 1
    assert main(["diff", "base.json", "head.json", "--assert", "not_worse_than=-0.02"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "of 2 claims it cannot be told" in said
    assert said.count("another rule (`exact_match`, a metric) scored it") == 2


def read_back_as_they_were(pytester: pytest.Pytester, sweeps: dict[str, dict[str, Any]]) -> None:
    """Judge the predictions file of a run, with the numbers and outcomes of that run."""
    results = "results: {path: p.jsonl, format: predictions}"
    (pytester.path / "s.maxrandom.yaml").write_text(
        f"models: [{{name: knows, backend: recorded, {results}}}, "
        f"{{name: by-type, backend: recorded, {results}}}]\n"
        "tasks: [{name: facts}, {name: extracts}]\n"
    )
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1, failed=3)
    read = claims(pytester)
    assert read.keys() == sweeps.keys()
    same = (
        *("n", "t", "best_correct", "best_accuracy", "standard_baseline", "max_random_baseline"),
        *("p_max", "p_standard", "permutation_p", "needed", "interval", "verdict", "passed"),
        *("outcome", "roles", "rule", "shortcuts", "cannot_tell", "validation_ids", "red_flags"),
    )
    for name, sweep in sweeps.items():
        assert {key: read[name].get(key) for key in same} == {key: sweep.get(key) for key in same}
    (line, *_) = (pytester.path / "p.jsonl").read_text().splitlines()
    told = json.loads(line)
    told["examples"][0]["open"]["said"] = 10**6
    told["examples"][0]["chosen"] = 0
    (pytester.path / "p.jsonl").write_text(json.dumps(told))
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(["*p.jsonl:1: example *'open' says that the answer is wrong, and*"])


def test_searches_are_refused_before_anything_is_asked(pytester: pytest.Pytester) -> None:
    write(pytester)
    with pytest.raises(SearchError, match="its tasks have no choices, and what a search has"):
        claims_of(pytester.path / "s.maxrandom.yaml")


def told(pytester: pytest.Pytester, *wanted: str) -> None:
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines([f"*{line}*" for line in wanted])
    assert "Traceback" not in result.stdout.str()


def test_what_cannot_be_asked_is_told_in_one_sentence(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pytester, scoring="generate")
    told(pytester, "facts has no choices, and `scoring: generate` asks for one; use `scoring: ex*")
    write(
        pytester, rest="until: decided\nmetric: macro_f1\nlabel_bias: {}\nshortcuts: choices_only"
    )
    told(pytester, "*there are no classes; remove `metric`", "*no labels; remove `label_bias`")
    write(pytester, rest="assert: {p_max: 0.05}")
    told(pytester, "`p_max` of a task without choices: the chance of a guess is not known*")
    write(pytester, rest="exact_match: {math: true}")
    monkeypatch.setattr(open_tasks, "is_missing", lambda: True)
    told(pytester, "*`math: true` needs the package math-verify, which is not installed; `pip ins*")
    write(pytester, rows=["A?,1\n"] * 3 + [f"B{i}?,\n" for i in range(2)])
    told(pytester, "facts.csv:5: a reference is empty; give the right answer*")
    write(pytester, rows=[f"Is it {i}?,{i}\n" for i in range(80)])
    told(pytester, "*facts has no choices, and prompts that leave out their own demonstrations*")


def test_recorded_answers_and_references_are_judged_as_those_of_a_run(
    pytester: pytest.Pytester,
) -> None:
    right = [("Paris", "Rome")[i // 3 % 2] if i % 3 else ("Yes", "No")[i % 2] for i in range(60)]
    rows = [
        f"p{prompt},{i},{right[i] if (i + prompt) % 5 else 'Hm'},{right[i]},What is n{i}?\n"
        for prompt in range(3)
        for i in range(60)
    ]
    header = "prompt,example,prediction,reference,question\n"
    (pytester.path / "t.csv").write_text(header + "".join(rows))
    suite = (
        "models: [{name: m, backend: recorded, results: {format: table, path: t.csv, shots: 0%s}}]"
        "\n"
        "tasks: [{name: facts}]\n"
    )
    path = pytester.path / "s.maxrandom.yaml"
    path.write_text(suite % ", columns: {input: question}")
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    (claim,) = claims(pytester).values()
    assert sum(claim["roles"].values()) == 60
    assert claim["best_correct"] == 48
    assert claim["standard_baseline"] < claim["max_random_baseline"] < claim["best_accuracy"]
    assert claim["shortcuts"]["heuristics"].keys() == {"commonest"}
    path.write_text(suite % "")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["*cannot tell: the results do not tell the questions*"])
    path.write_text(suite % ", exact_match: {normalise: cases}")
    told(pytester, "*exact_match.normalise*found 'cases', expected 'case'*")


def test_a_test_set_is_judged_by_shuffled_references(pytester: pytest.Pytester) -> None:
    write(pytester, rest="assert: {permutation_p: 0.05, test_p: 0.05}")
    path = pytester.path / "s.maxrandom.yaml"
    path.write_text(
        path.read_text().replace("{max_examples: 80}", "{max_examples: 50}, test: {fraction: 0.3}")
    )
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    (claim,) = claims(pytester).values()
    test = claim["test"]
    assert test["n"] == 36
    assert test["p_standard"] == test["permutation_p"] == test["p"] < 0.05
    assert 0 < test["standard_baseline"] < 0.5
