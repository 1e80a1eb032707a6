"""Mistakes in arms and in what is compared, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_maxrandom.suite.arms import split_comparison
from pytest_maxrandom.suite.loader import load_any_suite
from pytest_maxrandom.suite.schema import schema
from tests.unit.suite.examples import MINIMAL, RECORDED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.suite.conftest import SuiteText

ARMS = "arms: {none: {}, nf4: {quantization: nf4}, other: {model: k}}\n"
KNOWN = "(arms here: none, nf4, other)"


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        (
            "arms: {x: {quantization: nf5}}",
            "`arms.x.quantization`: found 'nf5', expected 'none' or 'nf4' or 'fp4' or 'int8' or "
            "'stored'; did you mean `nf4`?",
        ),
        (
            "arms: {x: {modle: k}}",
            "unknown key `arms.x.modle`; did you mean `model`? (keys here: model, "
            "instruction, format, scoring, train, classify, revision, adapter, quantization, "
            "unverified, dtype, chat)",
        ),
        (
            "arms: {x: {format: {label: letter}}}",
            "unknown key `arms.x.format.label`; did you mean `labels`? (keys here: input_prefix, "
            "output_prefix, choice_prefix, separator, append_choices, labels)",
        ),
        (
            "arms: {x: 3}",
            "`arms.x`: found 3, expected keys with values (keys here: model, instruction, format, "
            "scoring, train, classify, revision, adapter, quantization, unverified, dtype, chat)",
        ),
        ("arms: [x]", "`arms`: found a list, expected keys with values"),
        ("arms: {}", "`arms`: found no keys, expected at least one entry"),
        (
            "arms: {x: {model: k, quantization: nf4, revision: v}}",
            "arms.x: this changes model and quantization; an arm changes one thing, so that a "
            "difference has one cause: make two arms of it",
        ),
        (
            "{arms: {x: {instruction: a}}, prompts: {instructions: [b, c]}}",
            "arms.x.instruction: the suite varies this already, with 2 `prompts.instructions`; "
            "leave one there, or remove this arm",
        ),
        (
            "{arms: {x: {format: {separator: a}}}, prompts: {formats: [{}, {separator: b}]}}",
            "arms.x.format: the suite varies this already, with 2 `prompts.formats`; leave one "
            "there, or remove this arm",
        ),
        (
            "{arms: {x: {format: {labels: number}}}, "
            "prompts: {formats: [{append_choices: false}]}}",
            "arms.x.format: labels such as A need listed choices; remove `append_choices: false` "
            "or use `labels: text`",
        ),
        (
            "compare: [nf5 - none]",
            f"compare[0].arms: there is no arm 'nf5'; did you mean `nf4`? {KNOWN}",
        ),
        ("compare: [zzz - none]", f"compare[0].arms: there is no arm 'zzz' {KNOWN}"),
        (
            "compare: [nf4]",
            "compare[0].arms: found 'nf4', expected two different arms with a hyphen between them, "
            "of: 'none', 'nf4', 'other'",
        ),
        (
            "compare: [7]",
            "`compare[0]`: found 7, expected keys with values (keys here: arms, prompt, assert, "
            "xfail)",
        ),
        (
            "compare: [nf4 - none, nf4-none]",
            "compare[1].arms: this has the same test ids as compare[0]; remove one of the two, or "
            "rename an arm",
        ),
        (
            "compare: [{arms: nf4 - none, assert: {not_worse_than: 0.02}}]",
            "`compare[0].assert.not_worse_than`: found 0.02, expected a number above -1 and at "
            "most 0",
        ),
        (
            "compare: [{arms: nf4 - none, assert: {better: -0.1}}]",
            "`compare[0].assert.better`: found -0.1, expected a number of at least 0 and below 1",
        ),
        (
            "compare: [{arms: nf4 - none, assert: {level: 0.1}}]",
            "compare[0].assert: found none of `not_worse_than` and `better`, or of all models "
            "`best`, expected exactly one",
        ),
        (
            "compare: [{arms: nf4 - none, assert: {better: 0.1, not_worse_than: -0.1}}]",
            "compare[0].assert: found several of `not_worse_than` and `better`, or of all models "
            "`best`, expected exactly one",
        ),
        (
            "compare: [{arms: nf4 - none, xfail: noise}]",
            "compare[0].xfail: `xfail` expects an assertion to fail, but there is none; give "
            "`assert`, or remove `xfail`",
        ),
        (
            "compare: [{arms: nf4 - none, assrt: {better: 0}}]",
            "unknown key `compare[0].assrt`; did you mean `assert`? (keys here: arms, prompt, "
            "assert, xfail)",
        ),
        (
            "compare: [{arms: all, assert: {better: 0.1}}]",
            "compare[0].assert: all models are compared, which have no one difference; claim "
            "`best: NAME`, or name two of them in `arms`",
        ),
        (
            "compare: [{arms: nf4 - none, assert: {best: nf4}}]",
            "compare[0].assert.best: this belongs to `arms: all`; remove it, or compare all",
        ),
        (
            "compare: [{arms: nf4 - none, prompt: 1}]",
            "compare[0].prompt: this belongs to `arms: all`; remove it, or compare all",
        ),
        (
            "compare: [{arms: all, assert: {best: nf5}}]",
            f"compare[0].assert.best: there is no arm 'nf5'; did you mean `nf4`? {KNOWN}",
        ),
        (
            "compare: [{arms: all, prompt: 0}]",
            "`compare[0].prompt`: found 0, expected a whole number of at least 1",
        ),
        (
            "compare: [all, {arms: all}]",
            "compare[1].arms: this has the same test ids as compare[0]; remove one of the two",
        ),
        (
            "{compare: {arms: all}, replicates: 20}",
            "compare.arms: `all` are compared on one set of examples, but `replicates` draw new "
            "ones; remove one of the two, or compare two arms",
        ),
        (
            "contamination: {base: none, extra: nf4}",
            "the key `contamination.test` is missing; add it",
        ),
        (
            "contamination: {base: none, extra: nf4, test: othr}",
            f"contamination.test: there is no arm 'othr'; did you mean `other`? {KNOWN}",
        ),
        (
            "contamination: {base: none, extra: nf4, test: nf4}",
            "contamination: base, extra and test must be three different arms",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(suite: SuiteText, rest: str, told: str) -> None:
    keys = yaml.safe_load(rest)
    text = MINIMAL
    for key, value in ({"arms": yaml.safe_load(ARMS)["arms"]} | keys).items():
        text += (
            f"{key}: {yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)}"
        )
    line = 3 + list({"arms": None} | keys).index("arms" if "arms" in keys else next(iter(keys)))
    assert suite.mistakes(text) == [f"{line}: {told}"]


def test_arms_are_changes_of_one_model(suite: SuiteText) -> None:
    text = MINIMAL.replace("[{name: m}]", "\n- name: m\n- name: k") + ARMS
    assert suite.mistakes(text) == [
        "3: models[1]: found 2 models, expected one, because `arms` are changes of one model; give "
        "the others as arms, such as `other: {model: NAME}`"
    ]


def test_models_are_known_by_label_and_where_that_is_not_enough_by_quantization(
    suite: SuiteText,
) -> None:
    text = MINIMAL.replace("{name: m}", "{name: a/m}, {name: a/m, quantization: none}, {name: k}")
    assert suite.load(f"{text}compare: [m-nf4 - m-none, k - m-none, k-nf4 - m-nf4]\n")
    assert suite.mistakes(f"{text}compare: [m - k, k - k-nf4]\n") == [
        "3: compare[0].arms: there is no arm 'm' (arms here: m-nf4, m-none, k-nf4, k)",
        "3: compare[1].arms: 'k' and 'k-nf4' are the same model",
    ]


def test_recorded_models_are_compared_too(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"{RECORDED}compare: [small - OLMo-7B]\n")
    assert load_any_suite(path).spec.compare[0].arms == "small - OLMo-7B"


def test_a_pair_alone_stands_for_a_comparison_that_claims_nothing(suite: SuiteText) -> None:
    alone, given, claimed = suite.load(
        MINIMAL + ARMS + "compare: [nf4 - none, {arms: other - none}, "
        "{arms: other - nf4, assert: {not_worse_than: -0.02, level: 0.01}}]\n"
    ).spec.compare
    assert alone.assertion is given.assertion is None
    assert claimed.assertion is not None
    assert (claimed.assertion.margin, claimed.assertion.level) == (-0.02, 0.01)


@pytest.mark.parametrize(
    ("keys", "valid"),
    [
        ({"arms": {"a": {}, "b": {"instruction": ""}}, "compare": ["b - a"]}, True),
        ({"compare": [{"arms": "b - a", "assert": {"better": 0.1}}]}, True),
        ({"contamination": {"base": "a", "extra": "b", "test": "c"}}, True),
        ({"arms": {"a": {"modl": "x"}}}, False),
        ({"arms": {}}, False),
        ({"compare": [3]}, False),
        ({"compare": [{"arms": "b - a", "assert": {"better": -0.1}}]}, False),
        ({"compare": [{"arms": "b - a", "assert": {"better": 0, "level": 0.5}}]}, False),
    ],
)
def test_editors_are_told_the_same(keys: dict[str, Any], valid: bool) -> None:
    assert Draft202012Validator(schema()).is_valid({**yaml.safe_load(MINIMAL), **keys}) is valid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extra-base", ("extra", "base")),
        ("nf4 - none", ("nf4", "none")),
        ("base-extra-base", ("base", "extra-base")),
        ("extra-base-base", ("extra-base", "base")),
    ],
)
def test_a_comparison_names_two_arms(text: str, expected: tuple[str, str]) -> None:
    arms = ["extra", "base", "nf4", "none", "extra-base"]
    assert split_comparison(text, arms) == expected


@pytest.mark.parametrize("text", ["extra", "extra-base-tuned", "base-base", "-base", ""])
def test_what_names_no_two_arms_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected two different arms .* of: 'extra', 'base'"):
        split_comparison(text, ["extra", "base"])


def test_a_comparison_that_can_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' - 'b-a' or as 'a-b' - 'a'; rename an arm"):
        split_comparison("a-b-a", ["a", "b-a", "a-b"])


def test_one_arm_alone_is_not_compared_with_all(suite: SuiteText) -> None:
    assert suite.mistakes(f"{MINIMAL}arms: {{none: {{}}}}\ncompare: all\n") == [
        "4: compare.arms: `all` compares several, but there is one alone: none; add another, or "
        "remove this"
    ]
