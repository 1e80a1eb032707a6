"""Graded scores, run by pytest: in suites, their reports, and in tests that are written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.plugin.conftest import flat

if TYPE_CHECKING:
    from typing import Any

SUITE = """\
models:
- {name: m, backend: recorded, results: {path: s.csv, format: table, shots: 0}}
tasks:
- {name: good, in_results: q, assert: {beats: 0.5}}
- {name: bad, in_results: q, assert: {beats: 0.7, baseline_p: 0.01}}
- {name: untold, in_results: q}
"""


def claims(pytester: pytest.Pytester) -> dict[str, dict[str, Any]]:
    report = json.loads((pytester.path / "r.json").read_text())
    return {each["task"]: each for each in report["claims"]}


def test_a_suite_of_scores_is_reported_from_the_terminal_to_the_page(
    pytester: pytest.Pytester,
) -> None:
    folder = pytester.mkdir("eval_suites")
    (folder / "s.yaml").write_text(SUITE)
    rows = [
        f"p{prompt},e{each},{0.4 + 0.1 * prompt + 0.002 * each:.3f},said {each},q,judge 2"
        for prompt in range(3)
        for each in range(60)
    ]
    header = "prompt,example,score,prediction,task,judge"
    (folder / "s.csv").write_text("\n".join([header, *rows]))
    given = ("--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-html=r.html")
    result = pytester.runpytest(*given)
    result.assert_outcomes(passed=1, failed=2)
    said = flat(result)
    assert "best score .659 is .041 below the stated baseline .700, and must be above it" in said
    assert "no guesser is compared with scores between 0 and 1" in said
    found = claims(pytester)
    assert found["good"]["metric"] == "score"
    assert found["good"]["judge"] == "judge 2"
    assert found["good"]["mean_scores"] == pytest.approx([0.459, 0.559, 0.659])
    assert found["good"]["best_correct"] is found["good"]["max_random_baseline"] is None
    assert found["bad"]["levels"] == {"baseline_p": 0.01}
    report = (pytester.path / "r.md").read_text()
    assert "beside the<br>baseline" in report
    assert "mean of scores from 0 to 1, given by judge 2" in report
    assert "max. random" not in report
    assert "<script" in (pytester.path / "r.html").read_text()


def test_a_hand_written_test_claims_scores_of_any_harness(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        scores = {"p1": {"a": 0.9, "b": 0.7, "c": 0.8}, "p2": {"a": 0.1, "b": 0.4}}
        many = [[0.8, 0.7] * 20, [0.5, 0.9] * 20]

        def test_above(maxrandom):
            result = maxrandom.check(scores=many, t=20, beats=0.5, control=[0.2, 0.3] * 20)
            assert result.baseline.low > 0 and result.control.low > 0
            assert (result.t, result.n, result.best) == (20, 40, 0)

        def test_samples(maxrandom):
            sampled = {"p": {e: [0.9, 0.5] for e in range(20)}, "q": {0: [0.1, 0.3]}}
            result = maxrandom.check(scores=sampled, beats=0.3)
            assert result.mean_scores == pytest.approx([0.7, 0.2])

        def test_best_of_samples(maxrandom):
            sampled = [[[0.9, 0.5]] * 20, [[0.1, 0.3]] * 20]
            control = [[0.2, 0.4]] * 20
            result = maxrandom.check(scores=sampled, aggregate="pass", control=control)
            assert result.mean_scores == pytest.approx([0.9, 0.3])
            assert result.control.accuracy == pytest.approx(0.4)

        def test_below(maxrandom):
            maxrandom.check(scores=scores, beats=0.75, judge="j")

        def test_untold(maxrandom):
            maxrandom.check(scores=scores)

        @pytest.mark.parametrize("given, told", [
            ({"scores": [[0.5, 1.2]], "beats": 0.5}, "scores must be numbers from 0 to 1, .* 1.2"),
            ({"scores": [0.5, 0.2], "beats": 0.5}, "must have the shape .prompts, examples."),
            ({"scores": [[[0.5, 0.4], [0.5, float("nan")]]], "beats": 0.5}, "found 1 of 2 in row"),
            ({"scores": [["a"]], "beats": 0.5}, "scores must be numbers from 0 to 1"),
            ({"scores": [[0.5], [float("nan")]], "beats": 0.5}, "prompt '1' has no score on any"),
            ({"scores": [[0.5]], "beats": "max_random"}, "beats must be a number above 0"),
            ({"scores": [[0.5]], "beats": 0.5, "control": [1, 0]}, "control must have one score"),
            ({"scores": [[0.5]], "beats": 0.5, "p_max": 0.05}, "p_max belongs to counts of right"),
            ({"best_correct": 3, "n": 4, "t": 1, "chance": 0.5, "beats": 0.6}, "give `scores`"),
            ({"scores": [[0.5]], "beats": 0.5, "aggregate": "pass"}, "answer has one score"),
            ({"best_correct": 3, "n": 4, "t": 1, "chance": 0.5, "aggregate": "all"}, "`scores`"),
            ({"best_correct": 3, "n": 4, "t": 1}, "give best_correct, n, t and chance, or the"),
            ({"scores": [[0.5]], "beats": 0.5, "clusters": "ab"}, "clusters names 2 examples"),
        ])
        def test_mistakes_are_told(maxrandom, given, told):
            with pytest.raises((TypeError, ValueError), match=told):
                maxrandom.check(**given)
    """)
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=16, failed=2)
    said = flat(result)
    assert "best score .800 is .050 above the stated baseline .750, but that may be luck" in said
    assert "no guesser is compared with scores: say what the best prompt is above" in said
    found = claims(pytester)
    assert found["test_below"]["judge"] == "j"
    assert found["test_above"]["assert"] == {
        "baseline_p": 0.05, "control_p": 0.05, "beats": 0.5,
    }  # fmt: skip
