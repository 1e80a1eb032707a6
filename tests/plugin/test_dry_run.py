"""A dry run tells what the run then costs, and leaves nothing behind."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.served import serving

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models:
  - {model}
tasks:
  - name: short
    format: jsonl
    path: data/short.jsonl
    assert: report
  - name: long
    format: jsonl
    path: data/long.jsonl
    append_choices: false
    assert: report
prompts:
  shots: [0, 2]
  count: 3
{more}
"""
CHOICES = {"short": ["Yes", "No"], "long": ["it is so", "it is not so", "nobody knows that"]}


def write(pytester: pytest.Pytester, model: str, more: str = "") -> Path:
    """Write a suite of two tasks, with one prompt of no shots and three of two each."""
    folder = pytester.path / "eval_suites"
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for name, choices in CHOICES.items():
        rows = [
            {
                "id": f"q{i}",
                "input": f"{name} {i * 7919 % 100}",
                "choices": choices,
                "answer": i % 2,
            }
            for i in range(8)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "data" / f"{name}.jsonl").write_text(text)
    (folder / "suite.yaml").write_text(SUITE.format(model=model, more=more))
    return folder


def told(result: pytest.RunResult) -> str:
    """Return what the section of the dry run says."""
    _, _, rest = result.stdout.str().partition("maxrandom: dry run")
    return rest.partition("\n")[2].partition("\n====")[0]


def number(text: str, what: str) -> int:
    """Return the number before some words."""
    found = re.search(rf"([\d,]+) {what}", text)
    assert found, text
    return int(found[1].replace(",", ""))


def run(pytester: pytest.Pytester, *arguments: str) -> list[dict[str, Any]]:
    """Run the suites and return their claims."""
    pytester.runpytest("--maxrandom-json", "report.json", *arguments)
    claims: list[dict[str, Any]] = json.loads((pytester.path / "report.json").read_text())["claims"]
    return claims


def total(claims: list[dict[str, Any]], name: str) -> int:
    """Return what the sweeps of some claims cost together."""
    return sum(claim["engine"][name] for claim in claims)


@pytest.fixture
def forwards(monkeypatch: pytest.MonkeyPatch, tiny_llama: Path) -> list[int]:
    """Tokens of each pass through the network while prompts are asked."""
    import transformers

    from pytest_maxrandom.models.hf.causal import CausalModel

    found: list[int] = []
    asking: list[bool] = []
    ask, forward = CausalModel.ask, transformers.LlamaForCausalLM.forward

    def asked(self: Any, questions: Any) -> Any:
        asking.append(True)
        try:
            return ask(self, questions)
        finally:
            asking.clear()

    def forwarded(self: Any, input_ids: Any = None, **kwargs: Any) -> Any:
        if asking:
            found.append(input_ids.numel())
        return forward(self, input_ids=input_ids, **kwargs)

    monkeypatch.setattr(CausalModel, "ask", asked)
    # What a forward takes is read from its signature.
    forwarded.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]
    monkeypatch.setattr(transformers.LlamaForCausalLM, "forward", forwarded)
    return found


@pytest.mark.parametrize(
    "options",
    [(), ("plain", "200"), ("rows", "150"), ("packed", "100")],
    ids=["as it is", "plain", "rows", "packed"],
)
def test_tokens_and_forwards_are_those_of_the_run(
    pytester: pytest.Pytester, tiny_llama: Path, forwards: list[int], options: tuple[str, ...]
) -> None:
    write(pytester, f"{{name: {tiny_llama}, quantization: none}}")
    arguments = (
        ("--maxrandom-engine", options[0], "--maxrandom-batch-tokens", options[1])
        if options
        else ()
    )
    result = pytester.runpytest("--maxrandom-dry-run", *arguments)
    assert result.ret == 0
    text = told(result)
    assert number(text, "claims") == 4
    assert number(text, "prompts to compute") == 2 * (1 + 3)
    assert number(text, "in the store") == 0
    assert len(forwards) > 0  # the probe
    forwards.clear()
    claims = run(pytester, *arguments)
    assert number(text, "forwards") == len(forwards)
    assert number(text, r"tokens in") == sum(forwards) == total(claims, "tokens_forwarded")
    assert number(text, "requests") == total(claims, "requests")
    examples = sum(claim["n"] * (1 if claim["shots"] == 0 else 3) for claim in claims)
    assert number(text, "examples") == examples
    again = told(pytester.runpytest("--maxrandom-dry-run", *arguments))
    assert "all 8 prompts are in the store: nothing to compute" in again


def test_texts_read_by_themselves_cost_what_a_tokenizer_counts(
    pytester: pytest.Pytester, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    from pytest_maxrandom.models.hf.causal import CausalModel

    write(pytester, f"{{name: {tiny_llama}, quantization: none}}")
    text = told(pytester.runpytest("--maxrandom-dry-run"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_llama)
    lengths: list[int] = []
    ask = CausalModel.ask

    def asked(self: Any, questions: Any) -> Any:
        questions = list(questions)
        lengths.extend(
            len(tokenizer(question.context + answer).input_ids) - 1
            for question in questions
            for answer in question.answers
        )
        return ask(self, questions)

    monkeypatch.setattr(CausalModel, "ask", asked)
    run(pytester)
    assert number(text, "tokens if each text were read by itself") == sum(lengths)


def test_generated_answers_are_told_as_the_most_they_may_be(
    pytester: pytest.Pytester, tiny_llama: Path, forwards: list[int]
) -> None:
    more = "scoring: generate\ngeneration: {max_tokens: 5}"
    write(pytester, f"{{name: {tiny_llama}, quantization: none}}", more)
    text = told(pytester.runpytest("--maxrandom-dry-run"))
    forwards.clear()
    claims = run(pytester)
    assert "at most" in text
    assert total(claims, "tokens_forwarded") <= number(text, "tokens in")
    assert number(text, "requests") == total(claims, "requests")
    # The first answer comes after the four passes by which it is seen whether padding is read.
    assert 4 < len(forwards) <= number(text, "forwards") + 4


def test_a_served_model_tells_requests_and_tokens(pytester: pytest.Pytester) -> None:
    with serving("vllm") as server:
        model = f"{{name: m, backend: vllm, url: '{server.url}', served_model: the-model}}"
        write(pytester, model)
        result = pytester.runpytest("--maxrandom-dry-run", "-k", "short")
        text = told(result)
        assert result.ret == 0, text
        assert "forwards" not in text
        claims = run(pytester, "-k", "short")
    assert number(text, "requests") == total(claims, "requests")
    assert number(text, "tokens, shared") == total(claims, "trie_nodes")


def test_nothing_is_left_behind_and_no_test_runs(pytester: pytest.Pytester) -> None:
    folder = write(pytester, "{name: m, backend: mock}")
    pytester.makepyfile("def test_other(): raise SystemError")
    written = ("report.md", "report.json", "predictions.jsonl")
    (pytester.path / written[2]).write_text("as it was")
    options = [f"--maxrandom-{name.partition('.')[0]}={name}" for name in written]
    options[0], options[1] = "--maxrandom-report=report.md", "--maxrandom-json=report.json"
    result = pytester.runpytest("--maxrandom-dry-run", *options)
    assert result.ret == 0
    text = told(result)
    assert "m (mock): 4 claims" in text
    assert "8 prompts to compute" in text
    assert "1 s" in text
    assert "tokens" not in text
    assert not list(folder.glob("maxrandom-ledger*"))
    assert (pytester.path / written[2]).read_text() == "as it was"
    assert not (pytester.path / "report.md").exists()
    assert not (pytester.path / "report.json").exists()
    # What was tried is not stored, so the run counts all of it.
    claims = run(pytester)
    assert [claim["engine"]["reused"] for claim in claims] == [0] * 4


def test_what_is_selected_counts(pytester: pytest.Pytester) -> None:
    folder = write(pytester, "{name: m, backend: mock}")
    text = told(pytester.runpytest("--maxrandom-dry-run", "-k", "short and 2shot"))
    assert "m (mock): 1 claim\n" in text
    assert "3 prompts to compute, 0 in the store" in text
    suite = (folder / "suite.yaml").read_text()
    (folder / "suite.yaml").write_text(
        suite.replace("assert: report\n  - ", "assert: {p_max: 0.05}\n  - ")
    )
    pytester.runpytest("-k", "2shot").assert_outcomes(failed=1, passed=1)
    for _ in range(2):  # a dry run does not change what failed last
        text = told(pytester.runpytest("--maxrandom-dry-run", "--lf"))
        assert "m (mock): 1 claim\n" in text
        assert "all 3 prompts are in the store: nothing to compute" in text
    text = told(pytester.runpytest("--maxrandom-dry-run"))
    assert "2 prompts to compute, 6 in the store" in text
    assert "8 prompts" in told(pytester.runpytest("--maxrandom-dry-run", "--maxrandom-fresh"))
    assert "no claim is selected" in told(pytester.runpytest("--maxrandom-dry-run", "-k", "zz"))


@pytest.mark.slow
def test_workers_of_xdist_change_nothing(pytester: pytest.Pytester) -> None:
    write(pytester, "{name: m, backend: mock}")
    assert "8 prompts" in told(pytester.runpytest("--maxrandom-dry-run", "-n", "2"))


def test_sweeps_that_may_stop_are_told_as_the_most_they_may_be(pytester: pytest.Pytester) -> None:
    write(pytester, "{name: m, backend: mock}", "  budget: 9\nuntil: decided")
    suite = pytester.path / "eval_suites" / "suite.yaml"
    suite.write_text(suite.read_text().replace("assert: report", "assert: {p_max: 0.5}"))
    assert "at most 8 prompts" in told(pytester.runpytest("--maxrandom-dry-run"))


def test_labels_that_are_asked_for_count(pytester: pytest.Pytester) -> None:
    write(pytester, "{name: m, backend: mock}", "label_bias: {check: recall, tasks: [short]}")
    text = told(pytester.runpytest("--maxrandom-dry-run"))
    run(pytester)
    report = json.loads((pytester.path / "report.json").read_text())
    cost = [each["engine"] for key in ("claims", "label_bias") for each in report[key]]
    assert len(cost) == 4 + 2
    assert number(text, "requests") == sum(each["requests"] for each in cost)


def test_recorded_results_need_nothing(pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("eval_suites")
    (folder / "table.csv").write_text(
        "prompt,example,correct\n" + "".join(f"p{p},e{e},1\n" for p in "ab" for e in range(9))
    )
    (folder / "suite.yaml").write_text(
        "models:\n- {name: theirs, backend: recorded, results: {format: table, path: table.csv}}\n"
        "tasks: [{name: t, chance: 0.5}]\nprompts: {shots: 1}\nassert: report\n"
    )
    result = pytester.runpytest("--maxrandom-dry-run")
    assert "theirs: 1 claim, recorded results: nothing to compute" in told(result), result.stdout
    assert result.ret == 0


def test_a_plan_with_mistakes_is_told_and_fails(pytester: pytest.Pytester) -> None:
    folder = write(pytester, "{name: m, backend: mock}", "  budget: 4\n  seed: 1")
    run(pytester)
    write(pytester, "{name: m, backend: mock}", "  budget: 4\n  seed: 2")
    result = pytester.runpytest("--maxrandom-dry-run")
    assert result.ret == 1
    assert told(result).count("budget of 4 prompts would be exceeded") == 2
    (folder / "suite.yaml").write_text("models: []")
    result = pytester.runpytest("--maxrandom-dry-run")
    assert result.ret == 2
    assert "suite.yaml" in result.stdout.str()


def test_a_text_that_is_too_long_is_told(pytester: pytest.Pytester, tiny_llama: Path) -> None:
    folder = write(pytester, f"{{name: {tiny_llama}, quantization: none}}")
    row = {"input": "word " * 5000, "choices": ["Yes", "No"], "answer": 0}
    with (folder / "data" / "short.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    result = pytester.runpytest("--maxrandom-dry-run")
    assert result.ret == 1
    assert "cannot run: prompt 1" in told(result)
    assert "the model's context holds" in told(result)
