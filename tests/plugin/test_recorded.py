"""Suites of recorded results, run by pytest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from tests.unit.recorded.suites import rows, save

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models:
- {name: lab/m, backend: recorded, results: {path: m.npz, format: npz, model: m}, if_missing: copy}
tasks:
- {name: knows, chance: 1/2}
- {name: guesses, chance: 1/2, marks: [hard]}
prompts: {shots: [0, 2]}
assert: {p_max: 0.05}
"""
N = 40


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    """Folder of a suite: the model knows one task, and is as good as chance in the other."""
    pytester.makeini("[pytest]\nmarkers =\n    hard: what the model does not know\n")
    folder = pytester.mkdir("eval_suites")
    (folder / "s.yaml").write_text(SUITE)
    save(
        folder / "m.npz",
        knows__0={"correct": rows(35, n=N)},
        knows__2={"correct": rows(30, 36, 20, n=N)},
        guesses__0={"correct": rows(21, n=N)},
        guesses__2={"correct": rows(20, 22, 19, n=N)},
    )
    return folder


def claims(path: Path) -> dict[str, dict[str, Any]]:
    report = json.loads(path.read_text())
    return {claim["id"].partition("::")[2]: claim for claim in report["claims"]}


def replace(folder: Path, old: str, new: str) -> None:
    text = (folder / "s.yaml").read_text()
    assert old in text
    (folder / "s.yaml").write_text(text.replace(old, new))


def test_claims_hold_and_fail_like_those_of_models_that_run(
    pytester: pytest.Pytester, folder: Path
) -> None:
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(passed=2, failed=2)
    found = claims(pytester.path / "r.json")
    assert list(found) == ["knows[m-0shot]", "knows[m-2shot]", "guesses[m-0shot]",
                           "guesses[m-2shot]"]  # fmt: skip
    claim = found["knows[m-2shot]"]
    assert (claim["n"], claim["t"], claim["best_correct"], claim["outcome"]) == (N, 3, 36, "passed")
    p = 1 - stats.binom.cdf(35, N, 0.5) ** 3
    assert claim["p_max"] == pytest.approx(p, rel=1e-6)
    assert claim["adjusted_p"] == pytest.approx(4 * claim["p_max"], rel=1e-12)  # the smallest of 4
    assert found["guesses[m-2shot]"]["outcome"] == "failed"
    result.stdout.fnmatch_lines(["best .550, needs .700 (p_max = .683; t = 3, n = 40)"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert "knows[m-2shot]" in (pytester.path / "r.md").read_text()


def test_no_model_no_store_and_no_ledger_are_needed(
    pytester: pytest.Pytester, folder: Path
) -> None:
    pytester.makeconftest(
        "import sys\n"
        "def pytest_sessionfinish(session):\n"
        "    assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    result = pytester.runpytest_subprocess("-m", "not hard")
    result.assert_outcomes(passed=2, deselected=2)
    assert result.ret == 0
    assert sorted(path.name for path in folder.iterdir()) == ["m.npz", "s.yaml"]
    assert not (pytester.path / ".maxrandom").exists()


def test_collection_alone_shows_n_and_t(pytester: pytest.Pytester, folder: Path) -> None:
    result = pytester.runpytest("--collect-only")
    result.stdout.fnmatch_lines(["*<Claim knows?m-2shot? t=3 n=40>"])


def test_a_report_claims_nothing_and_passes(pytester: pytest.Pytester, folder: Path) -> None:
    replace(folder, "assert: {p_max: 0.05}", "assert: report")
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=4)
    claim = claims(pytester.path / "r.json")["guesses[m-2shot]"]
    assert (claim["assert"], claim["verdict"], claim["passed"]) == ({}, "between baselines", True)
    assert claim["p_max"] == pytest.approx(1 - stats.binom.cdf(21, N, 0.5) ** 3, rel=1e-12)


def test_a_claim_is_expected_to_fail(pytester: pytest.Pytester, folder: Path) -> None:
    replace(folder, "marks: [hard]", "xfail: it guesses")
    pytester.runpytest().assert_outcomes(passed=2, xfailed=2)


def test_claims_are_skipped_with_the_reason_where_results_are_missing(
    pytester: pytest.Pytester, folder: Path
) -> None:
    (folder / "m.npz").unlink()
    result = pytester.runpytest("-rs", "--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(skipped=4)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["SKIPPED ?4? *: copy"])
    found = claims(pytester.path / "r.json")
    assert {(claim["outcome"], claim["message"]) for claim in found.values()} == {
        ("skipped", "copy")
    }
    replace(folder, "prompts: {shots: [0, 2]}", "")
    result = pytester.runpytest("--collect-only", "-q")
    result.stdout.fnmatch_lines(["*::knows?m?", "*::guesses?m?"])


def test_a_cell_that_is_missing_for_a_reason_is_skipped_and_the_others_are_judged(
    pytester: pytest.Pytester, folder: Path
) -> None:
    save(folder / "m.npz", knows__0={"correct": rows(35, n=N)}, knows__2={"correct": rows(36, n=N)})
    result = pytester.runpytest("--maxrandom-json=r.json", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, skipped=2)
    found = claims(pytester.path / "r.json")
    assert {found[f"guesses[m-{shots}shot]"]["message"] for shots in (0, 2)} == {"copy"}
    replace(folder, ", if_missing: copy", "")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        ["*no results of 'lab/m' for 'guesses', found 'knows'; *if_missing*"]
    )


def test_a_quantization_that_is_known_stands_in_the_name(
    pytester: pytest.Pytester, folder: Path
) -> None:
    replace(folder, "if_missing: copy", "quantization: gptq")
    result = pytester.runpytest("--maxrandom-json=r.json", "-k", "knows")
    result.assert_outcomes(passed=2, deselected=2)
    assert claims(pytester.path / "r.json")["knows[m-gptq-2shot]"]["quantization"] == "gptq"


@pytest.mark.slow
def test_workers_judge_them_alike(pytester: pytest.Pytester, folder: Path) -> None:
    pytester.runpytest("--maxrandom-json=one.json")
    pytester.runpytest("--maxrandom-json=two.json", "-n2").assert_outcomes(passed=2, failed=2)
    assert claims(pytester.path / "one.json") == claims(pytester.path / "two.json")


def test_their_answers_stay_out_of_the_predictions_file(
    pytester: pytest.Pytester, folder: Path
) -> None:
    pytester.runpytest("--maxrandom-predictions=p.jsonl", "--maxrandom-json=r.json")
    assert (pytester.path / "p.jsonl").read_text() == ""
    notes = claims(pytester.path / "r.json")["knows[m-0shot]"]["notes"]
    assert notes[-1]["text"].startswith("The predictions file has none of these answers")


def test_published_maxima_can_be_typed_in(pytester: pytest.Pytester) -> None:
    """Two papers report the best of t prompts only: here with numbers made for this test."""
    folder = pytester.mkdir("eval_suites")
    (folder / "maxima.csv").write_text(
        "model,task,shots,n,t,accuracy,choices\n"
        "m,paraphrases,0,100,10,.57,2\n"
        "m,formats,1,1000,320,54.0 %,2\n"
        "m,formats,5,1000,320,0.560,2\n"
    )
    (folder / "s.yaml").write_text(
        "models:\n"
        "- {name: m, backend: recorded, results: {path: maxima.csv, format: summary}}\n"
        "tasks: [{name: paraphrases}, {name: formats}]\n"
        "assert: {beats: max_random}\n"
    )
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=2)
    found = claims(pytester.path / "r.json")
    for name, n, t, correct in (
        ("paraphrases[m-0shot]", 100, 10, 57),
        ("formats[m-1shot]", 1000, 320, 540),
        ("formats[m-5shot]", 1000, 320, 560),
    ):
        claim = found[name]
        assert (claim["n"], claim["t"], claim["best_correct"]) == (n, t, correct)
        expected = float(np.sum(1 - stats.binom.cdf(np.arange(n), n, 0.5) ** t)) / n
        assert claim["max_random_baseline"] == pytest.approx(expected, rel=1e-12)
        p = 1 - stats.binom.cdf(correct - 1, n, 0.5) ** t
        assert claim["p_max"] == pytest.approx(p, rel=1e-9)
        assert claim["recorded"]["stated"] == ["n", "t", "chance"]
        assert claim["correct_counts"] == []
    assert found["formats[m-1shot]"]["verdict"] == "between baselines"
