"""What a suite says of choices that are stated, and of answers that are generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.prompts import GenerationSpec
from tests.suites import load_suite

if TYPE_CHECKING:
    from pathlib import Path

TASKS = "tasks: [{name: t, format: csv, path: t.csv}]\n"
STATED = "counterfactual: {statement: ' was', continuation: ' right'}\n"
HOW = "generation: {max_tokens: 8}\n"
CHAT = "{name: m, backend: openai, url: 'http://h:1', chat: true}"
NONE_ARE = (
    "3: generation: this says how answers are generated, but none are; remove it, or use `scoring: "
    "generate`, or `scoring: exact_match` or `f1` for tasks without choices"
)
NO_SCORES = (
    "a chat endpoint gives no log-likelihoods of choices; use `scoring: generate`, `top_logprobs: "
    "20` for choices that are letters (`labels: letter`), or remove `chat`"
)


def _mistakes(folder: Path, rest: str, model: str = "{name: m}") -> list[str]:
    (folder / "s.yaml").write_text(f"models: [{model}]\n{TASKS}{rest}")
    try:
        load_suite(folder / "s.yaml")
    except SuiteError as error:
        return [str(problem).rpartition("s.yaml:")[2] for problem in error.problems]
    return []


@pytest.mark.parametrize(
    "used",
    [
        "scoring: counterfactual",
        "label_bias: {interactions: counterfactual}",
        "label_bias: {interactions: [cloze, counterfactual]}",
    ],
)
def test_how_choices_are_stated_may_be_said_where_it_is_used(tmp_path: Path, used: str) -> None:
    assert _mistakes(tmp_path, f"{STATED}{used}\n") == []


@pytest.mark.parametrize("other", ["", "scoring: paper\n", "label_bias: {interactions: cloze}\n"])
def test_how_choices_are_stated_is_a_mistake_where_none_is(tmp_path: Path, other: str) -> None:
    assert _mistakes(tmp_path, STATED + other) == [
        "3: counterfactual: this says how choices are stated, but nothing uses it; remove it, or "
        "use `scoring: counterfactual` or `label_bias: {interactions: counterfactual}`"
    ]


def test_a_continuation_without_text_is_a_mistake(tmp_path: Path) -> None:
    wrong = "scoring: counterfactual\ncounterfactual: {continuation: ''}\n"
    (told,) = _mistakes(tmp_path, wrong)
    assert told.startswith("4: `counterfactual.continuation`: ")


@pytest.mark.parametrize(
    "used", ["scoring: generate", "arms: {scored: {}, written: {scoring: generate}}"]
)
def test_how_answers_are_generated_may_be_said_where_they_are(tmp_path: Path, used: str) -> None:
    assert _mistakes(tmp_path, f"{HOW}{used}\n") == []


@pytest.mark.parametrize("other", ["", "scoring: paper\n", "arms: {x: {scoring: paper}}\n"])
def test_how_answers_are_generated_is_a_mistake_where_none_are(tmp_path: Path, other: str) -> None:
    assert _mistakes(tmp_path, HOW + other) == [NONE_ARE]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("max_tokens: 0", "max_tokens`: found 0, expected a whole number above 0"),
        ("temperature: -1", "temperature`: found -1, expected a number from 0"),
        ("pattern: '(x'", "pattern`: found '(x', expected a Python regular expression (missing"),
        ("pattern: 'x'", "expected a regular expression with a group in parentheses that"),
        ("pattern: '((x{1000}){1000}){1000}'", "expression that has at most 1,000,000 parts where"),
        ("pattern: '(x{1000000})x{9}'", "expression that has at most 1,000,000 parts where"),
        ("pattern: '(x{99999999999999999999})'", "(the repetition number is too large)"),
        pytest.param(f"pattern: '{'(' * 3000}x{')' * 3000}'", "fewer groups within", id="deep"),
        ("stop: ['']", "stop[0]`: found '', expected "),
        ("max_token: 3", "unknown key `generation.max_token`; did you mean `max_tokens`?"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, said: str, told: str) -> None:
    (found,) = _mistakes(tmp_path, f"scoring: generate\ngeneration: {{{said}}}\n")
    assert told in found


def test_one_stop_text_may_stand_for_several() -> None:
    assert GenerationSpec.model_validate({"stop": "\n"}).stop == ("\n",)
    assert GenerationSpec.model_validate({"stop": ["\n", "Q:"]}).stop == ("\n", "Q:")
    assert hash(GenerationSpec()) == hash(GenerationSpec(max_tokens=64))


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("scoring: generate\n", []),
        ("", [f"1: models[0].chat: {NO_SCORES}"]),
        ("scoring: generate\narms: {x: {}, y: {scoring: paper}}\n", [f"4: arms.y: {NO_SCORES}"]),
        ("arms: {x: {scoring: generate}, y: {chat: false}}\n", []),
    ],
)
def test_chats_are_for_answers_that_are_generated(
    tmp_path: Path, rest: str, told: list[str]
) -> None:
    assert _mistakes(tmp_path, rest, CHAT) == told


def test_labels_of_one_token_are_scored_in_chats_too(tmp_path: Path) -> None:
    assert _mistakes(tmp_path, "", CHAT.replace("chat: true", "chat: true, top_logprobs: 20")) == []


def test_a_template_is_that_of_a_tokenizer(tmp_path: Path) -> None:
    (told,) = _mistakes(tmp_path, "", CHAT.replace("openai", "llama_cpp"))
    assert told.startswith("1: models[0].chat: `chat` uses the tokenizer's chat template, but")
