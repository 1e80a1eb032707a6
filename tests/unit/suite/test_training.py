"""Mistakes in what a suite says of training, each with its line and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from pytest_maxrandom.suite.training import TrainSpec

if TYPE_CHECKING:
    from tests.unit.suite.conftest import SuiteText

HEAD = """\
tasks: [{name: t, format: csv, path: x.csv}]
"""
SOUND = {
    "models": [{"name": "m", "quantization": "none"}],
    "arms": {
        "base": {},
        "extra": {"train": {"text": "extra"}},
        "test": {"train": {"text": "scored"}},
    },
    "contamination": {"base": "base", "extra": "extra", "test": "test"},
}


def written(**changed: object) -> str:
    parts = {**SOUND, **changed}
    lines = (
        f"{key}: {yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)}"
        for key, value in parts.items()
        if value is not None
    )
    return HEAD + "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def arms(**changed: object) -> dict[str, object]:
    return {**SOUND["arms"], **changed}  # type: ignore[dict-item]


def test_trained_arms_and_a_head_are_read(suite: SuiteText) -> None:
    found = suite.load(written(classify={"examples": 30}, replicates=6)).spec
    assert found.arms is not None
    assert found.arms["base"].train is None
    assert found.arms["test"].train == TrainSpec(text="scored")
    assert found.classify is not None
    assert (found.classify.examples, found.classify.stratified) == (30, True)


@pytest.mark.parametrize(
    ("method", "rate", "expected"),
    [("full", None, 5e-5), ("lora", None, 2e-4), ("qlora", None, 2e-4), ("full", 0.1, 0.1)],
)
def test_the_learning_rate_is_that_of_the_method(
    method: str, rate: float | None, expected: float
) -> None:
    spec = TrainSpec.model_validate({"text": "extra", "method": method, "learning_rate": rate})
    assert spec.rate == expected


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"arms": arms(extra={"train": {}})},
            "the key `arms.extra.train.text` is missing; add it",
        ),
        (
            {"arms": arms(extra={"train": {"text": "extra", "rank": 8}})},
            "arms.extra.train.rank: this is about an adapter, but `method: full` trains all "
            "weights; remove it, or use `method: lora`",
        ),
        (
            {"arms": arms(test={"train": {"text": "scord"}})},
            "arms.test.train.text: found 'scord', expected extra, scored or a path (a file of that "
            "name is ./scord); did you mean `scored`?",
        ),
        (
            {"arms": arms(extra={"train": {"text": "a.txt", "form": "prompt"}})},
            "arms.extra.train.form: a file of texts is used unchanged; remove this, or use "
            "`text: extra` or `text: scored`",
        ),
        (
            {"arms": arms(extra={"train": {"text": "extra"}, "dtype": "float32"})},
            "arms.extra: this changes train and dtype; an arm changes one thing, so that a "
            "difference has one cause: make two arms of it",
        ),
        (
            {"arms": arms(base={"dtype": "float32"})},
            "contamination.base: the arm 'base' changes dtype, and extra and test do not; base "
            "shares everything with them but the training: write the arm as `{}`, and what it "
            "changes in the suite",
        ),
        (
            {"arms": arms(extra={}, test={"model": "other"})},
            "contamination.extra: the arms 'base' and 'extra' are the same; train one here, such "
            "as `extra: {train: {text: extra}}`, or name the model or adapter that was trained "
            "elsewhere",
        ),
        (
            {"arms": arms(extra={"model": "other"}, test={"model": "other"})},
            "contamination.test: the arms 'extra' and 'test' are the same; train one here, such "
            "as `test: {train: {text: scored}}`, or name the model or adapter that was trained "
            "elsewhere",
        ),
        (
            {"arms": arms(extra={"model": "other"})},
            "contamination.extra: the arm 'extra' is not trained here, and another of the three "
            "is; give it `train`, so that extra and test differ in their texts alone",
        ),
        (
            {"arms": arms(extra={"train": {"text": "scored", "epochs": 2}})},
            "contamination.extra: the arm 'extra' is trained on the texts that are scored; "
            "expected other texts, such as `text: extra`",
        ),
        (
            {"arms": arms(extra={"train": {"text": "extra", "epochs": 2, "seed": 3}})},
            "contamination: the arms 'extra' and 'test' differ in `train: {epochs, seed}`, so that "
            "a bias would have several causes; let them differ in `text` alone",
        ),
        (
            {"arms": arms(test={"train": {"text": "extra"}})},
            "contamination.test: the arm 'test' is trained on other texts than those that are "
            "scored; expected `text: scored`",
        ),
        (
            {"models": [{"name": "m", "backend": "mock"}]},
            "models[0].backend: `backend: mock` cannot train a model, which the arm 'extra' asks "
            "for; use `backend: transformers`",
        ),
        (
            {"models": [{"name": "m"}], "classify": {}},
            "models[0].quantization: `classify` trains all weights, and these are nf4 (the "
            "default); write `quantization: none`",
        ),
        (
            {"models": [{"name": "m", "quantization": "nf4"}], "arms": None,
             "contamination": None, "classify": {}},
            "models[0].quantization: `classify` trains all weights, and these are nf4; write "
            "`quantization: none`",
        ),
        (
            {"contamination": None, "arms": arms(test={"train": {"text": "scored",
                                                                  "method": "qlora"}})},
            "models[0].quantization: `method: qlora` of the arm 'test' trains on weights of 4 "
            "bits, and these are none; write `quantization: nf4`, or use `method: lora`",
        ),
        (
            {"models": [{"name": "m", "quantization": "int8"}], "contamination": None,
             "arms": {"x": {"train": {"text": "extra", "method": "lora"}}}},
            "models[0].quantization: `method: lora` of the arm 'x' needs weights that are not "
            "quantized, and these are int8; write `quantization: none`, or use `quantization: "
            "nf4` and `method: qlora`",
        ),
        (
            {"models": [{"name": "m", "quantization": "stored"}], "contamination": None,
             "arms": {"x": {"train": {"text": "extra"}}}},
            "models[0].quantization: `method: full` of the arm 'x' needs weights that are not "
            "quantized, and these are stored; name a model whose files are not quantized, with "
            "`quantization: none`",
        ),
        (
            {"models": [{"name": "m", "quantization": "none", "chat": True}],
             "contamination": None,
             "arms": {"x": {"train": {"text": "extra", "form": "prompt"}}}},
            "arms.x.train.form: prompts are trained without the chat template in which they are "
            "asked; use `form: text`, or remove `chat`",
        ),
        (
            {"models": [{"name": "m", "quantization": "none", "chat": True}], "classify": {}},
            "models[0].chat: a classification head reads the text alone, and no chat messages; "
            "remove this",
        ),
        (
            {"classify": {}, "arms": arms(x={"chat": True})},
            "arms.x.chat: a classification head reads the text alone, and no chat messages; "
            "remove this",
        ),
        (
            {"arms": arms(test={"train": {"text": "test"}})},
            "arms.test.train.text: found 'test', expected extra, scored or a path (a file of that "
            "name is ./test); the texts of the examples that are scored are `scored`",
        ),
        (
            {"classify": {}, "prompts": {"shots": [4]}},
            "prompts.shots: `classify` asks no prompts: its head reads the text alone, once "
            "(t = 1, 0 shots); remove this, or write 0",
        ),
        (
            {"classify": {}, "prompts": {"count": 20}},
            "prompts.count: `classify` asks no prompts: its head reads the text alone, once "
            "(t = 1, 0 shots); remove this, or write 1",
        ),
        (
            {"classify": {}, "prompts": {"instructions": ["a", "b"]}},
            "prompts.instructions: `classify` asks no prompts: its head reads the text alone, once "
            "(t = 1, 0 shots); remove this",
        ),
        (
            {"classify": {}, "scoring": "sum_logprob"},
            "scoring: this scores what follows a prompt, and `classify` asks a head that reads "
            "the text alone; remove one of the two",
        ),
        (
            {"scoring": "classify"},
            "scoring: a classification head is trained before it is asked; say how by `classify: "
            "{examples: 50}`",
        ),
        (
            {"arms": arms(x={"classify": {"examples": 100}})},
            "arms.x.classify: all arms share how they are asked; write `classify` in the suite, "
            "and here what this arm trains otherwise",
        ),
        (
            {"classify": {}, "arms": arms(x={"instruction": "a"})},
            "arms.x.instruction: this is about prompts, and `classify` asks none; remove one of "
            "the two",
        ),
        (
            {"classify": {}, "shortcuts": "choices_only"},
            "shortcuts: these ask with blank inputs, and a classification head reads nothing "
            "else; remove one of the two",
        ),
        (
            {"classify": {}, "label_bias": {"check": "move", "base_rate": "off"}},
            "label_bias.check: this lists the choices in other orders, and a classification head "
            "reads none; use `check: recall`",
        ),
        (
            {"classify": {}, "label_bias": {}},
            "label_bias: base rates are read after prompts without a question, and `classify` "
            "asks none; write `base_rate: off` there",
        ),
        (
            {"classify": {"examples": 0}},
            "`classify.examples`: found 0, expected a whole number above 0 and at most 1000000",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(
    suite: SuiteText, changed: dict[str, object], told: str
) -> None:
    text = written(**changed)
    key = told.strip("`").removeprefix("the key `").split(".")[0].split("[")[0].split("`")[0]
    key = key.split(":")[0]
    line = next(n for n, each in enumerate(text.splitlines(), 1) if each.startswith(f"{key}:"))
    assert f"{line}: {told}" in suite.mistakes(text)


def test_a_default_that_one_arm_writes_is_no_difference(suite: SuiteText) -> None:
    train = {"text": "extra", "learning_rate": 5e-5, "epochs": 1}
    suite.load(written(arms=arms(extra={"train": train})))


def test_what_a_head_cannot_be_asked_is_told_at_once(suite: SuiteText) -> None:
    text = written(classify={}, prompts={"shots": [4], "count": 20, "seed": 1}, scoring="paper")
    assert len(suite.mistakes(text)) == 4


def test_settings_of_the_prompts_that_a_head_has_are_no_mistake(suite: SuiteText) -> None:
    suite.load(written(classify={}, prompts={"shots": [0], "count": 1, "budget": 4}))
