"""What becomes of claims, and what a person and a machine see of them."""

from __future__ import annotations

import json
from fnmatch import filter as fnmatch_filter, fnmatch
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from scipy import stats

from pytest_maxrandom.models.mock import Mock, MockModel

if TYPE_CHECKING:
    from pathlib import Path

N = 24
HOLDS, FAILS = "known[tiny-none-0shot]", "unknown[tiny-none-0shot]"


def _expect_nothing(suites: Path) -> None:
    """Take the expectation of failure out of the suite."""
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("    xfail: the answers", "    # the answers"))


def _claims(path: Path) -> dict[str, dict[str, Any]]:
    report = json.loads(path.read_text())
    return {claim["id"].partition("::")[2]: claim for claim in report["claims"]}


def test_a_claim_passes_and_another_fails_as_expected(
    pytester: pytest.Pytester, suites: Path
) -> None:
    result = pytester.runpytest("--maxrandom-report=r.md", "--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0
    claims = _claims(pytester.path / "r.json")
    holds, fails = claims[HOLDS], claims[FAILS]
    assert (holds["n"], holds["t"], holds["best_correct"], holds["passed"]) == (N, 1, N, True)
    assert holds["p_max"] == pytest.approx(0.5**N, rel=1e-12)
    assert holds["outcome"] == "passed"
    assert holds["critical_count"] == next(
        k for k in range(N + 1) if stats.binom.sf(k - 1, N, 0.5) <= 0.05
    )
    assert (fails["best_correct"], fails["passed"], fails["outcome"]) == (0, False, "xfailed")
    assert fails["xfail"] == "the answers are the opposite of what the model says"
    assert len(holds["validation_ids"]) == N
    text = (pytester.path / "r.md").read_text()
    assert "maxrandom: 1 of 2 claims passes, 1 fails as expected\n" in text
    for claim, said in ((HOLDS, "passes"), (FAILS, "fails as expected")):
        right = claims[claim]["best_correct"]
        numbers = f"{right} of {N} correct, n = {N}, t = 1"
        assert f" <code>{claim}</code> {said}: {numbers}</summary>" in text


def test_a_failing_claim_is_one_line_with_all_its_numbers(
    pytester: pytest.Pytester, suites: Path
) -> None:
    _expect_nothing(suites)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    critical = next(k for k in range(N + 1) if stats.binom.sf(k - 1, N, 0.5) <= 0.05)
    result.stdout.fnmatch_lines(
        [
            f"best .000, needs .{1000 * critical / N:.0f} (permutation p > .999; t = 1, n = {N})",
            "FAILED *::unknown* - best .000, needs *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*")


def test_an_expected_failure_hides_no_other_error(
    pytester: pytest.Pytester, real_suites: Path
) -> None:
    suite = real_suites / "suite.yaml"
    long = "word " * 600
    suite.write_text(suite.read_text() + f"  instructions: ['{long}']\n")
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["24 of 24 (prompt, example) pairs are longer than the model's context, which has 512 *"]
    )
    claim = _claims(pytester.path / "r.json")[FAILS]
    assert (claim["passed"], claim["outcome"], claim["p_max"]) == (None, "error", None)
    assert (claim["n"], claim["t"]) == (N, 1)
    assert "context, which has 512 tokens (the longest has 3,017" in claim["message"]
    assert "could not be tested" in (pytester.path / "r.md").read_text()


def test_a_model_that_cannot_be_loaded_is_one_line(
    pytester: pytest.Pytester, real_suites: Path
) -> None:
    (real_suites / "broken").mkdir()
    (real_suites / "broken" / "config.json").write_text("{")
    (real_suites / "broken" / "model.safetensors").write_text("")
    suite = real_suites / "suite.yaml"
    lines = suite.read_text().splitlines()
    lines[1] = "  - name: broken"
    suite.write_text("\n".join(lines))
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["eval_suites/suite.yaml:2: broken cannot be loaded: *"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert {claim["outcome"] for claim in _claims(pytester.path / "r.json").values()} == {"error"}


def test_the_model_is_loaded_once_for_all_items_that_share_it(
    pytester: pytest.Pytester, suites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[int] = []
    load = Mock.load

    def counted(backend: Mock, located: Any, resources: Any) -> MockModel:
        loads.append(located.spec.seed)
        return load(backend, located, resources)

    monkeypatch.setattr(Mock, "load", counted)
    text = (suites / "suite.yaml").read_text()
    # Not the same questions: what is stored needs no model.
    (suites / "again.yaml").write_text(text.replace("shots: 0", "shots: 1\n  count: 2"))
    other = text.replace("backend: mock", "backend: mock\n    seed: 1")
    (suites / "other.yaml").write_text(other)
    pytester.runpytest_inprocess("-k", "unknown or known")
    assert sorted(loads) == [0, 1]


def test_numbers_are_junit_properties(pytester: pytest.Pytester, real_suites: Path) -> None:
    pytester.runpytest("--junitxml=j.xml", "-k", "known and not unknown")
    (case,) = ET.parse(pytester.path / "j.xml").iter("testcase")
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert properties.items() >= {
        "n": str(N), "t": "1", "best_correct": str(N), "verdict": "above maximum",
        "task": "known", "quantization": "none", "shots": "0", "best_accuracy": "1.0",
    }.items()  # fmt: skip
    assert float(str(properties["p_max"])) == pytest.approx(0.5**N)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "no:xdist"),
        pytest.param(("-n2",), marks=pytest.mark.slow),
        pytest.param(("-n2", "--dist=loadfile"), marks=pytest.mark.slow),
    ],
)
def test_reports_are_the_same_however_the_run_is_distributed(
    pytester: pytest.Pytester, suites: Path, arguments: tuple[str, ...]
) -> None:
    pytester.makepyfile(test_other="def test_other(): pass")
    result = pytester.runpytest(
        *arguments, "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--junitxml=j.xml"
    )
    result.assert_outcomes(passed=2, xfailed=1)
    report = json.loads((pytester.path / "r.json").read_text())
    assert [claim["id"] for claim in report["claims"]] == [
        f"eval_suites/suite.yaml::{HOLDS}",
        f"eval_suites/suite.yaml::{FAILS}",
    ]
    assert (report["not_run"], report["interrupted"]) == (0, False)
    assert [claim["outcome"] for claim in report["claims"]] == ["passed", "xfailed"]
    names = [p.get("name") for p in ET.parse(pytester.path / "j.xml").iter("property")]
    assert names.count("p_max") == 2
    assert (pytester.path / "r.md").read_text()


def test_what_did_not_run_is_counted(pytester: pytest.Pytester, suites: Path) -> None:
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("data/known", "data/unknown"))
    result = pytester.runpytest("-x", "--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(failed=1)
    report = json.loads((pytester.path / "r.json").read_text())
    assert (len(report["claims"]), report["not_run"]) == (1, 1)


def test_an_interrupted_run_still_reports_what_it_has(
    pytester: pytest.Pytester, suites: Path
) -> None:
    pytester.makeconftest(
        "def pytest_runtest_setup(item):\n"
        "    if item.name.startswith('unknown'):\n"
        "        raise KeyboardInterrupt\n"
    )
    result = pytester.runpytest(
        "--maxrandom-json=r.json", "--maxrandom-report=r.md", no_reraise_ctrlc=True
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    report = json.loads((pytester.path / "r.json").read_text())
    assert (len(report["claims"]), report["not_run"], report["interrupted"]) == (1, 1, True)
    assert "interrupted" in (pytester.path / "r.md").read_text().lower()


def test_a_report_that_cannot_be_written_fails_the_run(
    pytester: pytest.Pytester, suites: Path
) -> None:
    (pytester.path / "templates").mkdir()
    (pytester.path / "templates" / "report.md.j2").write_text("{{ nonsense }}")
    result = pytester.runpytest("--maxrandom-report=r.md", "--maxrandom-templates=templates")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["no report was written: *nonsense*"])


def test_a_collect_only_run_writes_nothing(pytester: pytest.Pytester, suites: Path) -> None:
    result = pytester.runpytest("--collect-only", "--maxrandom-report=r.md")
    assert result.ret == 0
    assert not (pytester.path / "r.md").exists()


def test_no_claim_at_all_is_said_in_the_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    pytester.runpytest("--maxrandom-report=r.md", "--maxrandom-json=r.json")
    assert json.loads((pytester.path / "r.json").read_text())["claims"] == []
    assert "no claim" in (pytester.path / "r.md").read_text().lower()


def test_hand_written_claims_stand_in_the_same_reports(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_published(maxrandom):
            verdict = maxrandom.check(best_correct=64, n=100, t=10, chance=0.5, p_max=0.05)
            assert verdict.passed

        def test_too_weak(maxrandom):
            maxrandom.check(best_correct=63, n=100, t=10, chance=0.5, p_max=0.05, model="m")
        """
    )
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(passed=1, failed=1)
    claims = _claims(pytester.path / "r.json")
    expected = 1 - stats.binom.cdf(63, 100, 0.5) ** 10
    assert claims["test_published"]["p_max"] == pytest.approx(expected, rel=1e-9)
    assert (claims["test_published"]["outcome"], claims["test_too_weak"]["outcome"]) == (
        "passed",
        "failed",
    )
    assert claims["test_too_weak"]["critical_count"] == 64
    assert all(each["notes"][-1]["kind"] == "counts_only" for each in claims.values())
    assert (pytester.path / "r.md").read_text().count(
        "There is no permutation p, because only"
    ) == 2


GIVEN = {"best_correct": "90", "n": "100", "t": "9", "chance": "0.5", "p_max": "0.05"}
WRONG = {
    "best=71": "there is no argument 'best'; did you mean 'best_correct'? (arguments: *",
    "beats='maxrandom'": "beats must be 'max_random' or 'standard', found 'maxrandom'",
    "p_max=5": "p_max must be a number above 0 and below 1, found 5",
    "p_max='low'": "p_max must be a number above 0 and below 1, found 'low'",
    "best_correct=101": "best_correct must be at most 100, found 101",
    "best_correct=-1": "best_correct must be at least 0, found -1",
    "best_correct=True": "best_correct must be an integer, found True (bool)",
    "best_correct='71'": "best_correct must be an integer, found '71' (str)",
    "best_correct=0.71": (
        "best_correct must be a number of right answers, found 0.71: of n = 100 examples, an "
        "accuracy of 0.71 is best_correct=71"
    ),
    "best_correct=None": "best_correct must be an integer, found None (NoneType)",
    "best_correct=float('nan')": "best_correct must be an integer, found nan (float)",
    "best_correct=float('inf')": "best_correct must be an integer, found inf (float)",
    "chance=float('nan')": "chance must be a * found nan*",
    "p_max=float('nan')": "p_max must be a number above 0 and below 1, found nan",
    "n=0": "n must be at least 1, found 0",
    "t=0": "t must be at least 1, found 0",
    "t=2.5": "t must be an integer, found 2.5 (float)",
    "chance=2.0": "chance must be a probability from 0 to 1, found 2.0",
    "chance=0": "chance must be above 0 and below 1, found 0: with a single choice *",
    "chance={1: 100}": "chance must be above 0 and below 1, found 1: with a single choice *",
    "chance=None": "give best_correct, n, t and chance, or the scores of each prompt",
    "task=3": "task must be a text, found 3 (int)",
    "model=None": "model must be a text, found None (NoneType)",
    "shots='four'": "shots must be an integer, found 'four' (str)",
}


def test_a_wrong_argument_of_a_hand_written_claim_is_one_sentence_and_costs_no_other_claim(
    pytester: pytest.Pytester,
) -> None:
    calls = [GIVEN | dict([wrong.split("=")]) for wrong in WRONG] + [GIVEN]
    pytester.makepyfile(
        "\n".join(
            f"def test_{place}(maxrandom): "
            f"maxrandom.check({', '.join(f'{name}={value}' for name, value in call.items())})"
            for place, call in enumerate(calls)
        )
    )
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(failed=len(WRONG), passed=1)
    claims = _claims(pytester.path / "r.json")
    for place, told in enumerate(message.replace("[", "[[]") for message in WRONG.values()):
        result.stdout.fnmatch_lines([f"E  *Error: {told}"])
        assert claims[f"test_{place}"]["outcome"] == "error"
        assert fnmatch(claims[f"test_{place}"]["message"], told)
    right = claims[f"test_{len(WRONG)}"]
    assert (right["outcome"], right["best_correct"]) == ("passed", 90)
    assert (pytester.path / "r.md").read_text().count("could not be tested") >= len(WRONG)


def test_a_hand_written_claim_that_equals_chance_is_not_above_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from fractions import Fraction
        import pytest

        CHANCES = [1/3, Fraction(1, 3), {3: 60}, [1/3] * 60]

        @pytest.mark.parametrize("beats", ["standard", "max_random"])
        @pytest.mark.parametrize("right", [20, 21])
        @pytest.mark.parametrize("place", range(4))
        def test_it(maxrandom, place, right, beats):
            chance = CHANCES[place]
            maxrandom.check(best_correct=right, n=60, t=1, chance=chance, beats=beats)
        """
    )
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(failed=8, passed=8)
    outcomes = {name: claim["outcome"] for name, claim in _claims(pytester.path / "r.json").items()}
    assert {name for name, outcome in outcomes.items() if outcome == "failed"} == {
        f"test_it[{place}-20-{beats}]" for place in range(4) for beats in ("standard", "max_random")
    }
    for beats in ("standard", "max_random"):
        told = f"ClaimFailed: best .333, needs .350 (*{beats[-6:]}* baseline .333; *"
        assert len(fnmatch_filter(result.outlines, f"E  *{told}")) == 4


def test_a_record_that_cannot_be_read_costs_no_other_and_is_told(
    pytester: pytest.Pytester,
) -> None:
    """Whoever writes records: here a test that reaches into its own."""
    pytester.makepyfile(
        """
        from pytest_maxrandom.hooks.run import RECORDS

        def test_broken(maxrandom, request):
            maxrandom.check(best_correct=71, n=100, t=9, chance=0.5, p_max=0.05)
            request.node.stash[RECORDS][0].best_correct = 0.71

        def test_other(maxrandom):
            maxrandom.check(best_correct=90, n=100, t=9, chance=0.5, p_max=0.05)
        """
    )
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*1 record could not be read*"])
    report = json.loads((pytester.path / "r.json").read_text())
    assert [claim["task"] for claim in report["claims"]] == ["test_other"]
    (told,) = report["broken"]
    assert told.startswith(
        "test_a_record_that_cannot_be_read_costs_no_other_and_is_told.py:3: "
        "test_a_record_that_cannot_be_read_costs_no_other_and_is_told.py::test_broken: its record "
        "cannot be read (best_correct: "
    )
    assert told.endswith("), so its numbers are left out")
    assert "1 record could not be read" in (pytester.path / "r.md").read_text().splitlines()[0]


@pytest.mark.parametrize(
    "arguments",
    [[], ["--continue-on-collection-errors"], pytest.param(["-n2"], marks=pytest.mark.slow)],
)
def test_a_broken_suite_stands_in_the_report(
    pytester: pytest.Pytester, suites: Path, arguments: list[str]
) -> None:
    (suites / "broken.yaml").write_text("modls: []\n")
    result = pytester.runpytest(*arguments, "--maxrandom-report=r.md", "--maxrandom-json=r.json")
    assert result.ret != 0
    report = json.loads((pytester.path / "r.json").read_text())
    assert len(report["broken"]) == 2
    assert report["broken"][0].startswith("eval_suites/broken.yaml:1: ")
    assert any("did you mean `models`?" in sentence for sentence in report["broken"])
    text = (pytester.path / "r.md").read_text()
    assert "broken.yaml" in text
    assert "✅" not in text.splitlines()[0]


def test_a_hand_written_claim_has_an_outcome_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from pytest_maxrandom.errors import ClaimFailed

        def test_caught(maxrandom):
            with pytest.raises(ClaimFailed):
                maxrandom.check(best_correct=60, n=100, t=200, chance=0.5, p_max=0.05)

        def test_swallowed(maxrandom):
            try:
                maxrandom.check(best_correct=0.71, n=100, t=200, chance=0.5, p_max=0.05)
            except TypeError:
                pass

        def test_fails_for_another_reason(maxrandom):
            maxrandom.check(best_correct=90, n=100, t=200, chance=0.5, p_max=0.05)
            assert 1 == 2
        """
    )
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=2, failed=1)
    report = json.loads((pytester.path / "r.json").read_text())
    outcomes = [(claim["outcome"], claim["passed"]) for claim in report["claims"]]
    assert outcomes == [("failed", False), ("error", None), ("passed", True)]
