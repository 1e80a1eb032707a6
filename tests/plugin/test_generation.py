"""Suites whose answers are generated run whole: the same n, t, chance, claims and reports."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.models.mock import MockModel
from tests import tiny
from tests.served import FakeServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

N, T = 60, 4
SUITE = """\
models: [{model}]
tasks:
- name: parity
  format: csv
  path: parity.csv
  columns: {{input: question, choices: [A, B], answer: answer}}
  validation: {{max_examples: {n}}}
prompts: {{shots: 1, count: 4, formats: [{{labels: letter}}]}}
scoring: generate
generation: {{max_tokens: 12{how}}}
{rest}
"""
MOCK = "{name: m, backend: mock, knows: 0.9}"


@pytest.fixture
def task(pytester: pytest.Pytester) -> Path:
    rows = [f"Is {n} even?,yes,no,{'no' if n % 2 else 'yes'}\n" for n in range(N + 20)]
    path = pytester.path / "parity.csv"
    path.write_text("question,A,B,answer\n" + "".join(rows))
    return path


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving("openai") as running:
        yield running


def run(
    pytester: pytest.Pytester,
    *arguments: str,
    model: str = MOCK,
    how: str = "",
    rest: str = "assert: report",
    n: int = N,
) -> tuple[pytest.RunResult, dict[str, Any]]:
    suite = SUITE.format(model=model, how=how, rest=rest, n=n)
    (pytester.path / "s.maxrandom.yaml").write_text(suite)
    report = pytester.path / "r.json"
    report.unlink(missing_ok=True)
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md", *arguments)
    return result, json.loads(report.read_text())


def chat(server: FakeServer, says: Callable[[int], tuple[str, str]]) -> str:
    """Let a server answer each question by its number, and return how a suite names it."""

    def answer(prompt: str) -> tuple[str, str]:
        return says(int(prompt.rpartition("Is ")[2].partition(" ")[0]))

    server.says = lambda prompt: answer(prompt) if "Is " in prompt else ("hm", "stop")
    address = f'url: "{server.url}", served_model: {server.model}'
    return f"{{name: far, backend: openai, {address}, chat: true, concurrency: 2}}"


def by_text(number: int) -> str:
    return "no" if number % 2 else "yes"


@pytest.mark.usefixtures("task")
def test_a_rule_is_asked_for_texts_as_for_likelihoods(pytester: pytest.Pytester) -> None:
    rest = "assert: {p_max: 0.05, permutation_p: 0.05}\nlabel_bias: {check: move}"
    _, written = run(pytester, "--maxrandom-predictions=p.jsonl", rest=rest)
    (claim,) = written["claims"]
    assert (claim["scoring"], claim["n"], claim["t"]) == ("generate", N, T)
    assert (claim["standard_baseline"], claim["passed"]) == (0.5, True)
    assert claim["generated"] == {
        "max_tokens": 12, "stop": None, "temperature": 0.0, "pattern": None,
        "answers": N * T, "unreadable": 0, "cut": 0, "refused": 0,
    }  # fmt: skip
    (bias,) = written["label_bias"]
    assert (bias["base_rate"], bias["finding"]) == ("off", "knowledge")
    line = json.loads((pytester.path / "p.jsonl").read_text().splitlines()[0])
    assert {one["text"] for one in line["examples"]} == {"A", "B"}
    assert {(one["finish"], *one["log_likelihoods"]) for one in line["examples"]} == {("stop",)}
    suite = (pytester.path / "s.maxrandom.yaml").read_text()
    suite = suite.replace("scoring: generate\ngeneration: {max_tokens: 12}\n", "")
    (pytester.path / "s.maxrandom.yaml").write_text(suite)
    shutil.rmtree(pytester.path / "maxrandom-ledger-simulated")  # else these are further tries
    pytester.runpytest("--maxrandom-json=r.json")
    (scored,) = json.loads((pytester.path / "r.json").read_text())["claims"]
    for key in ("correct_counts", "p_max", "max_random_baseline", "permutation_p"):
        assert scored[key] == claim[key]
    # Another way to ask is another prompt.
    assert scored["best_prompt"]["digest"] != claim["best_prompt"]["digest"]


@pytest.mark.usefixtures("task")
def test_an_arm_may_generate(pytester: pytest.Pytester) -> None:
    arms = "arms: {scored: {scoring: mean_logprob}, written: {}}\ncompare: [written - scored]"
    _, found = run(pytester, rest=f"{arms}\nassert: report")
    assert [claim["scoring"] for claim in found["claims"]] == ["mean_logprob", "generate"]
    (compared,) = found["comparisons"]
    assert compared["difference"] == 0
    assert "scoring: generate, not mean_logprob" in json.dumps(found)


@pytest.mark.usefixtures("task")
def test_a_chat_is_read_stored_and_counted(pytester: pytest.Pytester, server: FakeServer) -> None:
    model = chat(server, lambda number: (f"The answer is {by_text(number)}.", "stop"))
    result, found = run(pytester, model=model, rest="assert: {p_max: 0.05}")
    result.assert_outcomes(passed=1)
    (claim,) = found["claims"]
    assert claim["correct_counts"] == [N] * T
    assert claim["engine"]["engine"] == "chat"
    assert {path for path, body in server.bodies if body} == {"/v1/chat/completions"}
    main(["report", "r.json", "--format", "disclosure", "--out", "d.md"])
    page = (pytester.path / "r.md").read_text()
    paragraph = (pytester.path / "d.md").read_text()
    assert "the label or the text that begins what it wrote, as whole words, else" in paragraph
    assert "at most 12 tokens, which end at what begins the next question; temperature 0" in page
    assert "the server puts it into its own template" in page
    asked = len(server.bodies)
    result, again = run(pytester, model=model, rest="assert: {p_max: 0.05}")
    result.assert_outcomes(passed=1)
    assert again["claims"][0]["engine"]["reused"] == T
    assert again["claims"][0]["t"] == T
    # It is asked only for what tells whether it is the same model, never for the suite's 12 tokens.
    assert {body["max_tokens"] for _, body in server.bodies[asked:] if body} == {16}
    # Another length is another prompt: other tries, which count.
    _, longer = run(pytester, model=model, how="0", rest="assert: {p_max: 0.05}")
    assert longer["claims"][0]["t"] == 2 * T


@pytest.mark.usefixtures("task")
def test_what_cannot_be_read_is_wrong_and_a_red_flag(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    odd = {3: ("Hm.", "stop"), 5: ("either yes or no", "stop"), 8: ("Let me", "length")}
    odd |= {12: ("yes", "refusal"), 13: ("no", "content_filter")}
    model = chat(server, lambda number: odd.get(number % 20, (by_text(number), "stop")))
    rest = "assert: {p_max: 0.05}"
    result, found = run(pytester, "--maxrandom-predictions=p.jsonl", model=model, rest=rest)
    result.assert_outcomes(passed=1)
    (claim,) = found["claims"]
    how = claim["generated"]
    lines = [json.loads(text) for text in (pytester.path / "p.jsonl").read_text().splitlines()]
    unread = [
        (one["text"], one["finish"])
        for line in lines
        for one in line["examples"]
        if one["chosen"] is None
    ]
    assert how["answers"] - len(unread) == sum(claim["correct_counts"])
    assert how["cut"] == unread.count(("Let me", "length")) > 0
    assert how["refused"] == sum(finish == "refused" for _, finish in unread) > 0
    assert how["unreadable"] == len(unread) - how["cut"] - how["refused"]
    (flag,) = [one for one in claim["red_flags"] if one["kind"] == "unread_answers"]
    assert flag["severity"] == "warn"
    assert {key: flag["parameters"][key] for key in ("unreadable", "cut", "refused")} == {
        key: how[key] for key in ("unreadable", "cut", "refused")
    }
    rest = "assert: {p_max: 0.05, red_flags: {unread_answers: fail}}"
    result, _ = run(pytester, model=model, rest=rest)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nothing could be read*"])
    # What was written may be judged again from its file.
    (pytester.path / "s.maxrandom.yaml").unlink()
    (pytester.path / "again.maxrandom.yaml").write_text(
        "models: [{name: far, backend: recorded, results: {format: predictions, path: p.jsonl}}]\n"
        "tasks: [{name: parity}]\nassert: {p_max: 0.05}\n"
    )
    pytester.runpytest("--maxrandom-json=again.json")
    (read,) = json.loads((pytester.path / "again.json").read_text())["claims"]
    assert read["correct_counts"] == claim["correct_counts"]


@pytest.mark.usefixtures("task")
def test_a_pattern_finds_what_is_read(pytester: pytest.Pytester, server: FakeServer) -> None:
    model = chat(server, lambda n: (f"<think>yes? no?</think>\n{by_text(n)}", "stop"))
    _, found = run(pytester, model=model, how=", pattern: '</think>\\s*(.*)'")
    assert found["claims"][0]["correct_counts"] == [N] * T
    _, found = run(pytester, model=model, rest="assert: report")
    assert found["claims"][0]["correct_counts"] == [0] * T


@pytest.mark.usefixtures("task")
def test_labels_have_no_probability_where_answers_are_generated(pytester: pytest.Pytester) -> None:
    rest = "label_bias: {calibration: [pride]}\nassert: report"
    (pytester.path / "s.maxrandom.yaml").write_text(
        SUITE.format(model=MOCK, how="", rest=rest, n=N)
    )
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        ["*calibration: parity: answers are generated, so that labels have no probability; remove*"]
    )


@pytest.mark.usefixtures("task")
def test_a_backend_that_does_not_generate_says_so(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MockModel, "generates", False)
    result, _ = run(pytester)
    result.stdout.fnmatch_lines(["*the model cannot generate answers, which `scoring: generate`*"])


@pytest.mark.usefixtures("task")
def test_the_report_shows_a_prompt_in_its_template(pytester: pytest.Pytester) -> None:
    tokenizer = tiny.sentencepiece_tokenizer()
    tokenizer.chat_template = "{{ bos_token }}[user] {{ messages[0].content }} [model]"
    tiny.save_llama(pytester.path / "tiny", tokenizer, positions=1024)
    model = "{name: tiny, quantization: none, dtype: float32, device: cpu, chat: true}"
    for times in range(2):
        _, found = run(pytester, model=model, n=6)
        (claim,) = found["claims"]
        assert claim["engine"]["reused"] == T * times
        assert claim["engine"]["chat"] == ["<s>[user] ", " [model]"]
        assert claim["best_prompt"]["text"].startswith("<s>[user] ")
        assert claim["best_prompt"]["question"].endswith(" [model]")
        # A model with random weights says nothing that could be read.
        how = claim["generated"]
        assert how["answers"] == 6 * T
        assert how["cut"] + how["unreadable"] > 0
        page = (pytester.path / "r.md").read_text()
        assert "[user]" in page
        assert "each prompt is a message in the model" in page
        assert "answers generated with" in page or times
    suite = (pytester.path / "s.maxrandom.yaml").read_text()
    (pytester.path / "s.maxrandom.yaml").write_text(suite.replace("chat: true", "chat: false"))
    pytester.runpytest("--maxrandom-json=r.json")
    (plain,) = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert plain["engine"]["chat"] is None
    # With the template it is another model.
    assert plain["engine"]["reused"] == 0


@pytest.mark.usefixtures("task")
def test_a_pattern_has_the_time_that_the_suite_gives(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    result, _ = run(
        pytester,
        model=chat(server, lambda _: (f"{'a' * 43}!", "stop")),
        how=", pattern: '((a|aa|a?a)+)+$'",
        rest="assert: report\nlimits: {pattern_seconds: 1}",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*takes more than 1 s on an answer of 44 characters; *"])
