"""Controls that take the question away, from the suite file to the report."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import binom

from tests import label_models, tiny
from tests.plugin.conftest import N, ledger_of
from tests.plugin.label_suite import CLAIM, LabelSuite, told

if TYPE_CHECKING:
    from pathlib import Path

PLACES = [number % 4 for number in range(20)]
CONTROL = "shortcuts: choices_only"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> LabelSuite:
    return LabelSuite(pytester)


def write(suite: LabelSuite, model: Path | str, rest: str, *, t: int, question: str = "{}") -> None:
    """Write a suite whose right choice one word tells, whatever the question."""
    suite.write(model, PLACES, rest, t=t)
    rows = label_models.rows(PLACES)
    asked = [{**row, "input": question.format(row["input"])} for row in rows]
    text = "".join(json.dumps(row) + "\n" for row in asked)
    (suite.folder / "letters.jsonl").write_text(text)


def flags(claim: dict[str, Any]) -> dict[str, str]:
    return {flag["kind"]: flag["severity"] for flag in claim["red_flags"]}


@pytest.mark.slow  # its model is trained
def test_a_model_that_reads_only_the_choices_beats_all_guessers_and_is_caught(
    suite: LabelSuite, knowing: Path, pytester: pytest.Pytester
) -> None:
    write(suite, knowing, "assert: {p_max: 0.001, permutation_p: 0.001}", t=3)
    plain = suite.run()[CLAIM]
    suite.result.assert_outcomes(passed=1)
    best = plain["best_correct"]
    assert best >= 17  # trained for some seconds only
    assert plain["p_max"] == pytest.approx(1 - (1 - binom.sf(best - 1, 20, 0.25)) ** 3)
    assert plain["permutation_p"] < 0.001
    assert plain["shortcuts"]["choices_only"] is None
    prompts, t = suite.ledger(), plain["t"]

    asked = f"assert: {{p_max: 0.001, permutation_p: 0.001}}\n{CONTROL}"
    write(suite, knowing, asked, t=3)
    claim = suite.run("--maxrandom-report=r.md")[CLAIM]
    control = claim["shortcuts"]["choices_only"]
    assert control >= 0.8
    # What a model of some seconds reaches differs a little between processors.
    if control >= best / 20:
        suite.result.assert_outcomes(failed=1)
        assert flags(claim) == {"choices_only": "fail"}
        assert (claim["holds"], claim["passed"]) == (True, False)
        assert claim["message"].endswith("; red flag: choices_only")
        suite.result.stdout.fnmatch_lines(["choices_only: With blank inputs the best prompt has *"])
    else:
        suite.result.assert_outcomes(passed=1)
        assert flags(claim) == {"near_choices_only": "warn"}
    assert claim["shortcuts"]["choices_only_p"] > 0.05
    shown = f"{control:.3f}".removeprefix("0")
    assert f"; with blank inputs the best prompt has {shown} (p " in (
        (pytester.path / "r.md").read_text()
    )
    # The control is no try.
    assert (suite.ledger(), claim["t"]) == (prompts, t)
    assert claim["tries"]["look"] == plain["tries"]["look"] == 1


@pytest.mark.slow  # its model is trained
def test_the_control_is_stored(
    suite: LabelSuite, knowing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(suite, knowing, CONTROL, t=2)
    first = suite.run()[CLAIM]

    def load(*_: object, **__: object) -> None:
        raise AssertionError("the model was loaded again")

    monkeypatch.setattr("pytest_maxrandom.models.hf.transformers.load", load)
    second = suite.run()[CLAIM]
    assert second["outcome"] == first["outcome"]
    assert second["engine"]["tokens_forwarded"] == 0
    assert told(second) == told(first)


def test_a_model_that_reads_the_questions_is_at_the_rate_of_one_answer_without_them(
    pytester: pytest.Pytester, suites: Path
) -> None:
    path = suites / "suite.yaml"
    path.write_text(path.read_text() + "shortcuts: [choices_only]\n")
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1, xfailed=1)
    report = json.loads((pytester.path / "r.json").read_text())
    known, unknown = (claim["shortcuts"] for claim in report["claims"])
    rate = report["claims"][0]["majority_rate"]
    assert (known["best"], known["heuristics"]["most_frequent"]) == (1, rate)
    assert rate < 1
    # Without their questions all examples are one text, so they get one answer.
    assert known["choices_only"] in (rate, pytest.approx(1 - rate))
    assert unknown["choices_only"] == pytest.approx(1 - known["choices_only"])
    # As many examples as differ have one sign.
    differing = round((1 - known["choices_only"]) * N)
    assert known["choices_only_p"] == pytest.approx(0.5**differing)
    assert not any("near" in kind for kind in flags(report["claims"][0]))
    assert sum(line["kind"] == "prompt" for line in ledger_of(suites)) == 2


def test_prompts_that_leave_out_their_demonstrations_are_asked_on_the_same_examples(
    suite: LabelSuite,
) -> None:
    suite.write("prefers: A", PLACES, f"{CONTROL}\nassert: report", t=4)
    path = suite.folder / "suite.yaml"
    path.write_text(path.read_text().replace("shots: [0]", "shots: [2]"))
    claim = suite.run()[CLAIM.replace("0shot", "2shot")]
    assert claim["n"] == 18
    # Whoever says A everywhere says it without the question too.
    assert claim["shortcuts"]["choices_only"] == claim["best_accuracy"]
    assert claim["shortcuts"]["heuristics"]["first"] == claim["best_accuracy"]


def test_where_all_inputs_are_the_same_the_choices_are_the_question(
    suite: LabelSuite,
) -> None:
    write(suite, "knows: 1.0", CONTROL, t=2, question="Which?")
    claim = suite.run()[CLAIM]
    assert claim["shortcuts"]["choices_only"] is None
    assert sum("no control with blank inputs" in note["text"] for note in claim["notes"]) == 1
    assert "choices_only" not in flags(claim)


def test_a_prompt_that_is_empty_without_the_input_is_one_clear_sentence(
    pytester: pytest.Pytester, real_suites: Path
) -> None:
    from transformers import PreTrainedTokenizerFast

    path = real_suites / "suite.yaml"
    # Without special tokens nothing can stand before an empty text.
    bare = PreTrainedTokenizerFast(tokenizer_object=tiny.byte_level_tokenizer().backend_tokenizer)
    model = tiny.save_llama(real_suites / "bare", bare)
    empty = '    append_choices: false\n    input_prefix: ""\n    output_prefix: ""\n'
    text = re.sub("name: .*llama", f"name: {model}", path.read_text())
    text = text.replace("    append_choices: false\n", empty, 1)
    path.write_text(f"{text}shortcuts: [choices_only]\nassert: report\n")
    result = pytester.runpytest("-k", "not unknown")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["shortcuts: choices_only: with blank inputs, prompt 1 (*; give the task an instruction, *"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
