"""Red flags that fail a claim, that are told, and that a suite leaves out."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests.plugin.conftest import INPUTS, MOCK, N, answered, write_data
from tests.unit.reports.samples import linked

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = {"permutation_p": 0.05, "beats": "max_random"}
KNOWN, UNKNOWN = "known[tiny-none-0shot]", "unknown[tiny-none-0shot]"
EXAMPLES = 40


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in json.loads(path.read_text())["claims"]}


def claims(path: Path) -> dict[str, dict[str, Any]]:
    return {name.partition("::")[2]: claim for name, claim in by_id(path).items()}


def severities(claim: dict[str, Any]) -> dict[str, str]:
    return {flag["kind"]: flag["severity"] for flag in claim["red_flags"]}


@pytest.fixture
def suite(suites: Path) -> Path:
    """The suite, of which nothing is expected and no red flag is set.

    Two questions each are about one long text, which is told of either task.
    """
    texts = [" ".join(str((at + 2) ** k % 9973) for k in range(60)) for at in range(N // 2)]
    inputs = [f"{texts[number // 2]} {each}?" for number, each in enumerate(INPUTS)]
    write_data(suites, answered(MOCK, inputs), inputs)
    path = suites / "suite.yaml"
    path.write_text(re.sub("    (xfail|assert): .*\n", "", path.read_text()))
    return path


def set_flags(suite: Path, assertion: str) -> None:
    suite.write_text(f"{suite.read_text()}assert: {assertion}\n")


def expect(suite: Path) -> None:
    """Expect of the claim whose answers were exchanged that it fails."""
    suite.write_text(suite.read_text().replace("    marks:", "    xfail: exchanged\n    marks:"))


def test_a_fatal_red_flag_fails_a_claim_and_is_told_with_what_was_found(
    pytester: pytest.Pytester, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)  # there pytest's summary has messages in full
    set_flags(suite, "{red_flags: {shared_text: fail}}")
    result = pytester.runpytest(
        "--maxrandom-json=r.json",
        "--maxrandom-report=r.md",
        "--junitxml=j.xml",
        "-k",
        "not unknown",
    )
    result.assert_outcomes(failed=1, deselected=1)
    claim = claims(pytester.path / "r.json")[KNOWN]
    assert claim["assert"] == DEFAULT
    assert claim["severities"] == {"shared_text": "fail"}
    assert (claim["best_correct"], claim["p_max"]) == (N, pytest.approx(0.5**N))
    assert (claim["holds"], claim["passed"], claim["outcome"]) == (True, False, "failed")
    assert claim["message"].endswith("; red flag: shared_text")
    (flag,) = claim["red_flags"]
    assert (flag["kind"], flag["severity"]) == ("shared_text", "fail")
    result.stdout.fnmatch_lines(
        [f"*_ {KNOWN.replace('[', '?').replace(']', '?')} _*", claim["message"],
         f"shared_text: {flag['text']}", "FAILED *::known* - best 1.000 (permutation p*"]
    )  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")
    assert result.stdout.str().count(flag["text"]) == 1
    (case,) = ET.parse(pytester.path / "j.xml").iter("testcase")
    properties = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert (properties["red_flags"], properties["passed"]) == ("shared_text", "False")
    text = (pytester.path / "r.md").read_text()
    (line,) = re.findall("^- ❌ (.*)$", text, re.MULTILINE)
    assert line.startswith("`known` 0-shot: **best 1.000** (permutation p = ")
    assert line.endswith("; a red flag fails it: examples share text")
    assert "`" in flag["text"]
    assert f"- 🚩 `known` 0-shot: **{linked('shared_text', 'fails')}**; {flag['text']}\n" in text
    assert "- **🚩 Red flag shared_text (fails):** " in text
    assert "- **Red flags, by the suite:** shared_text fails\n" in text


def test_a_red_flag_stands_beside_the_numbers_that_fail_a_claim_too(
    pytester: pytest.Pytester, suite: Path
) -> None:
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, failed=1)
    found = claims(pytester.path / "r.json")
    claim = found[UNKNOWN]
    assert severities(claim) == {"never_right": "fail", "shared_text": "warn"}
    assert (claim["holds"], claim["passed"], claim["severities"]) == (False, False, {})
    assert re.fullmatch(
        r"best \.000, needs \.708 \(permutation p > \.999; t = 1, n = 24\); "
        "red flag: never_right",
        claim["message"],
    )
    result.stdout.fnmatch_lines(
        [
            claim["message"],
            "never_right: The only prompt is right on no example; *",
            "Red flags of claims that pass:",
            "  shared_text (warns): name the clusters (known?tiny-none-0shot?)",
            "Red flags of claims that do not pass:",
            "  shared_text (warns): name the clusters (unknown?tiny-none-0shot?)",
        ]
    )
    assert severities(found[KNOWN]) == {"shared_text": "warn"}
    assert found[KNOWN]["outcome"] == "passed"


def test_a_suite_sets_what_red_flags_do(pytester: pytest.Pytester, suite: Path) -> None:
    expected = {
        "{red_flags: {never_right: warn}}": {"never_right": "warn", "shared_text": "warn"},
        "{red_flags: {never_right: ignore}}": {"shared_text": "warn"},
        "{red_flags: warn}": {"never_right": "warn", "shared_text": "warn"},
        "{red_flags: ignore}": {},
        "report": {"never_right": "warn", "shared_text": "warn", "majority": "warn"},
    }
    for place, assertion in enumerate(expected):
        path = suite.with_name(f"suite{place}.yaml")
        path.write_text(f"{suite.read_text()}assert: {assertion}\n")
    suite.unlink()
    pytester.runpytest("--maxrandom-json=r.json", "-k", UNKNOWN)
    found = by_id(pytester.path / "r.json")
    for place, (assertion, told) in enumerate(expected.items()):
        claim = found[f"eval_suites/suite{place}.yaml::{UNKNOWN}"]
        assert severities(claim) == told
        assert "red flag" not in (claim["message"] or "")
        reported = assertion == "report"
        assert claim["assert"] == ({} if reported else DEFAULT)
        assert claim["outcome"] == ("passed" if reported else "failed")


@pytest.mark.parametrize("arguments", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_a_red_flag_is_no_failure_that_was_expected(
    pytester: pytest.Pytester, suite: Path, arguments: tuple[str, ...]
) -> None:
    expect(suite)
    result = pytester.runpytest("--maxrandom-json=r.json", *arguments)
    result.assert_outcomes(passed=1, failed=1)
    claim = claims(pytester.path / "r.json")[UNKNOWN]
    assert (claim["holds"], claim["passed"], claim["outcome"]) == (False, False, "failed")
    again = pytester.runpytest("--lf", "--maxrandom-json=r.json", *arguments)
    again.assert_outcomes(failed=1)


def test_a_red_flag_that_is_told_leaves_an_expected_failure_as_it_is(
    pytester: pytest.Pytester, suite: Path
) -> None:
    expect(suite)
    set_flags(suite, "{red_flags: {never_right: warn}}")
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=1, xfailed=1)
    claim = claims(pytester.path / "r.json")[UNKNOWN]
    assert (claim["passed"], claim["outcome"]) == (False, "xfailed")
    assert severities(claim)["never_right"] == "warn"


def test_a_claim_that_holds_unexpectedly_with_a_red_flag_fails_for_the_flag(
    pytester: pytest.Pytester, suite: Path
) -> None:
    suite.write_text(suite.read_text().replace("data/unknown", "data/known"))
    expect(suite)
    set_flags(suite, "{red_flags: {shared_text: fail}}")
    pytester.runpytest("--maxrandom-json=r.json", "-k", UNKNOWN).assert_outcomes(
        failed=1, deselected=1
    )
    claim = claims(pytester.path / "r.json")[UNKNOWN]
    assert (claim["holds"], claim["passed"], claim["outcome"]) == (True, False, "failed")
    assert claim["message"].endswith("; red flag: shared_text")


@pytest.mark.parametrize(("severity", "opened"), [("warn", True), ("fail", False)])
def test_a_claim_with_a_fatal_red_flag_opens_no_test_set(
    pytester: pytest.Pytester, suite: Path, severity: str, opened: bool
) -> None:
    first = suite.read_text().replace(
        "known.jsonl\n", "known.jsonl\n    test: {fraction: 0.25}\n", 1
    )
    suite.write_text(first)
    set_flags(suite, f"{{red_flags: {{shared_text: {severity}}}}}")
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md", "-k", "not unknown")
    claim = claims(pytester.path / "r.json")[KNOWN]
    assert claim["holds"] is True
    assert (claim["test"] is not None) is opened
    closed = "6 examples are still closed, because a red flag fails the claim"
    assert (closed in (pytester.path / "r.md").read_text()) is not opened


def test_a_replicate_is_judged_by_its_numbers_alone(pytester: pytest.Pytester, suite: Path) -> None:
    set_flags(suite, "{in_replicates: 1, red_flags: {shared_text: fail}}")
    text = suite.read_text().replace("shots: 0", "shots: 0\n  instructions: [a, b, c]\n  count: 2")
    suite.write_text(f"{text}replicates: {{count: 3}}\n")
    result = pytester.runpytest("--maxrandom-json=r.json", "-k", "not unknown")
    report = json.loads((pytester.path / "r.json").read_text())
    (claim,), (repeated,) = report["claims"], report["replicates"]
    assert claim["outcome"] == "failed"
    assert repeated["runs"][0]["passed"] is claim["holds"]
    assert result.parseoutcomes()["deselected"] == 2


TWINS = """\
models:
- {name: one, quantization: none}
- {name: two, quantization: none}
- {name: one, quantization: none, dtype: float32, label: same}
tasks:
- {name: toss, format: jsonl, path: toss.jsonl, append_choices: false}
prompts: {shots: 0, count: 3, instructions: [Answer., Say it., Think.]}
"""


@pytest.fixture
def twins(pytester: pytest.Pytester, tiny_llama: Path) -> Path:
    """Suite of a model, a copy of it, and the model with other arithmetic."""
    folder = pytester.mkdir("eval_suites")
    for name in ("one", "two"):
        shutil.copytree(tiny_llama, folder / name)
    examples = [
        {"input": f"word {i * 7919 % 1000}", "choices": ["Yes", "No"], "answer": i * i % 7 % 2}
        for i in range(60)
    ]
    (folder / "toss.jsonl").write_text("\n".join(map(json.dumps, examples)))
    (folder / "s.yaml").write_text(TWINS)
    return folder


def identical(path: Path) -> dict[str, list[str]]:
    return {
        name: [flag["text"] for flag in claim["red_flags"] if flag["kind"] == "identical_models"]
        for name, claim in claims(path).items()
    }


def separate(twins: Path) -> None:
    """Give the copy another digest, so that it has results of its own."""
    config = twins / "two" / "config.json"
    config.write_text(config.read_text() + "\n")


@pytest.mark.parametrize("copied", [True, False])
def test_a_model_is_compared_with_those_whose_answers_are_stored(
    pytester: pytest.Pytester, twins: Path, *, copied: bool
) -> None:
    if not copied:
        separate(twins)
    result = pytester.runpytest("--maxrandom-json=r.json")
    first = {name: len(texts) for name, texts in identical(pytester.path / "r.json").items()}
    # The first model finds the answers of an exact copy, which are its own, and no others yet;
    # arms of one model are not compared with each other.
    of_copy = "toss[two-none-0shot]"
    assert first == {"toss[one-none-0shot]": int(copied), of_copy: 1, "toss[same-none-0shot]": 1}
    # Random weights give Yes and No hardly any probability.
    told = claims(pytester.path / "r.json").values()
    assert {severities(claim)["label_mass"] for claim in told} == {"warn"}
    (text,) = identical(pytester.path / "r.json")[of_copy]
    assert text.startswith("180 of 180 answers (100 %) to the same prompts have exactly the ")
    assert "the scores of one:" in text
    result.stdout.fnmatch_lines(["identical_models: * check whether the two are the same model."])
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(failed=3)
    again = identical(pytester.path / "r.json")
    assert {name: len(texts) for name, texts in again.items()} == dict.fromkeys(first, 1)


def test_a_model_that_is_selected_alone_is_compared_with_those_that_are_not(
    pytester: pytest.Pytester, twins: Path
) -> None:
    separate(twins)
    pytester.runpytest()
    for options in (["--lf"], ["eval_suites/s.yaml::toss[two-none-0shot]"]):
        pytester.runpytest("--maxrandom-json=r.json", *options)
        assert identical(pytester.path / "r.json")["toss[two-none-0shot]"]


@pytest.mark.slow
def test_of_models_that_run_at_the_same_time_the_last_one_is_told(
    pytester: pytest.Pytester, twins: Path
) -> None:
    separate(twins)
    pytester.runpytest("-n", "2", "--maxrandom-json=r.json")
    assert any(identical(pytester.path / "r.json").values())
