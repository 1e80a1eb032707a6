"""Files that --maxrandom-predictions wrote, and what may have happened to them."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.prediction_lines import read_lines
from pytest_maxrandom.recorded.sources import read

if TYPE_CHECKING:
    from pathlib import Path


def answer(name: str, chosen: int, right: list[int], choices: int = 2) -> dict[str, Any]:
    return {
        "id": name,
        "chosen": chosen,
        "right": right,
        "choices": choices,
        "log_likelihoods": [-1.5] * choices,
        "tokens": [2] * choices,
        "margin": 0.0,
        "labels": [*range(choices)],
    }


def line(**changed: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "claim": "suite.yaml::weather[demo-1shot]",
        "task": "weather",
        "model": "demo",
        "quantization": "none",
        "shots": 1,
        "scoring": "mean_logprob",
        "prompt": "first",
        "demonstration_ids": ["c"],
        "examples": [answer("a", 0, [0]), answer("b", 2, [0, 2], 4)],
    } | changed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "predictions.jsonl"


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def test_prompts_may_have_different_examples(path: Path) -> None:
    second = line(
        prompt="second",
        demonstration_ids=["a"],
        examples=[answer("c", 1, [0]), answer("b", 1, [0, 2], 4)],
    )
    [sweep] = read(write(path, line(), second))
    assert (sweep.task, sweep.model, sweep.shots) == ("weather", "demo", 1)
    assert sweep.prompts == ("first", "second")
    assert sweep.demonstration_ids == (("c",), ("a",))
    assert sweep.examples == ("a", "b", "c")
    assert sweep.evaluated.tolist() == [[True, True, False], [False, True, True]]
    assert sweep.correct.tolist() == [[True, True, False], [False, False, False]]
    assert sweep.chances == (Fraction(1, 2), Fraction(1, 2), Fraction(1, 2))


def test_an_example_that_a_prompt_neither_answers_nor_shows_is_missing(path: Path) -> None:
    whole = [answer("a", 0, [0]), answer("b", 2, [0, 2], 4)]
    write(path, line(examples=whole), line(prompt="second", examples=whole[:1]))
    told = r"predictions\.jsonl: suite\.yaml::.* prompt 'second' has no answer to example 'b', wh"
    with pytest.raises(RecordedError, match=told):
        read(path)


def test_answers_and_scores_are_those_of_the_lines(path: Path) -> None:
    first, second = answer("a", 0, [0]), answer("b", 2, [0, 2], 4)
    first["log_likelihoods"], second["log_likelihoods"] = [-1.0, None], [-4.0, -3.0, -2.0, -5.0]
    shown = line(prompt="second", demonstration_ids=["a"], examples=[second])
    [sweep] = read(write(path, line(examples=[first, second]), shown))
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[0, 2], [-1, 2]]
    assert sweep.gold == (frozenset({0}), frozenset({0, 2}))
    assert sweep.labels == ()
    assert sweep.log_likelihoods is not None
    nan = float("nan")
    np.testing.assert_array_equal(
        sweep.log_likelihoods,
        [[[-1.0, -np.inf, nan, nan], [-4, -3, -2, -5]], [[nan] * 4, [-4, -3, -2, -5]]],
    )


def test_chances_are_right_choices_among_all(path: Path) -> None:
    examples = [answer("a", 0, [1], 5), answer("b", 0, [0, 2], 3)]
    [sweep] = read(write(path, line(examples=examples)))
    assert sweep.chances == (Fraction(1, 5), Fraction(2, 3))


def test_choices_may_be_listed(path: Path) -> None:
    examples = [answer("a", 0, [1]) | {"listed": ["x", "y"]}, answer("b", 1, [1])]
    [sweep] = read(write(path, line(examples=[*examples[:1]])))
    assert sweep.offered == (("x", "y"),)
    with pytest.raises(RecordedError, match="example 'b' has the listed choices None"):
        read(write(path, line(examples=examples)))
    examples[1]["listed"] = ["x"]
    with pytest.raises(RecordedError, match="'listed' has 1 texts, expected 2"):
        read(write(path, line(examples=examples)))


def test_claims_are_kept_apart_whatever_the_order_of_their_lines(path: Path) -> None:
    other = {"claim": "suite.yaml::weather[demo-nf4-1shot]", "quantization": "nf4"}
    first, second = read(
        write(path, line(), line(**other), line(prompt="second"), line(**other, prompt="third"))
    )
    assert (first.model, first.prompts) == ("demo", ("first", "second"))
    assert (second.model, second.prompts) == ("demo (nf4)", ("first", "third"))


def test_a_prompt_that_stands_twice_counts_once(path: Path) -> None:
    [sweep] = read(write(path, line(), line(prompt="second"), line()))
    assert sweep.distinct().prompts == ("first", "second")


def test_empty_lines_and_unknown_keys_are_passed_over(path: Path) -> None:
    path.write_text("\n" + json.dumps(line(weather="fine")) + "\r\n\n")
    assert read(path)[0].prompts == ("first",)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema_version": 2}, "schema version 2 is newer than 1, the newest known here; upgrade"),
        ({"shots": "1"}, "'shots': found '1', but input should be a valid integer"),
        ({"shots": True}, "'shots': found True, but input should be a valid integer"),
        ({"prompt": None}, "'prompt': found None, but input should be a valid string"),
        ({"examples": []}, "'examples' must name at least one example, and each only once"),
        ({"examples": [answer("a", 0, [0])] * 2}, "'examples' must name at least one example"),
        (
            {"examples": [answer("a", 2, [0])]},
            "example 'a': 'chosen' is 2, expected an index below",
        ),
        ({"examples": [answer("a", 0, [])]}, r"'right' is \[\], expected different indices below"),
        ({"examples": [answer("a", 0, [2])]}, r"'right' is \[2\], expected different indices be"),
        ({"examples": [answer("a", 0, [0, 0])]}, r"'right' is \[0, 0\], expected different indi"),
        (
            {"examples": [answer("a", 0, [0]) | {"tokens": [1]}]},
            "example 'a': 'tokens' has 1 values, expected 2",
        ),
        ({"task": "climate"}, "'task' is 'climate', but 'weather' in line 1 of the same claim"),
        ({"scoring": "sum_logprob"}, "'scoring' is 'sum_logprob', but 'mean_logprob' in line 1"),
        (
            {"examples": [answer("a", 0, [0]) | {"labels": ["Yes"]}]},
            r"example 'a': 'labels' is \['Yes'\], expected 2 different texts",
        ),
        (
            {"examples": [answer("a", 0, [0]) | {"labels": ["Yes", "Yes"]}]},
            "expected 2 different texts, or the numbers below 2; keep the lines",
        ),
        (
            {"examples": [answer("a", 0, [0]) | {"labels": [0, 2]}]},
            r"'labels' is \[0, 2\], expected 2 different texts, or the numbers below 2",
        ),
        (
            {"examples": [answer("a", 0, [0]) | {"labels": ["Yes", "No"]}]},
            r"'a' has the labels \['Yes', 'No'\], but the labels \[0, 1\] in an earlier line",
        ),
        (
            {"examples": [answer("z", 0, [0]) | {"labels": ["Yes", "No"]}]},
            r"'z' has the labels \['Yes', 'No'\], but example 'a' has the labels \[0, 1\]; k",
        ),
        (
            {"examples": [answer("a", 0, [1])]},
            r"example 'a' has the right choices \[1\] of 2, but the right choices \[0\] of 2 in ",
        ),
    ],
)
def test_a_wrong_line_is_told_with_its_number(
    path: Path, changed: dict[str, Any], message: str
) -> None:
    write(path, line(), line(**changed))
    with pytest.raises(RecordedError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named(path: Path) -> None:
    cut = line()
    del cut["examples"][1]["right"]
    with pytest.raises(RecordedError, match=r":1: 'examples\[1\].right' is missing"):
        read(write(path, cut))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": holds no prediction; give a file that --maxrandom-predictions wrote"),
        ("[1, 2]\n", ":1: not a prediction; give a file that --maxrandom-predictions wrote"),
        (json.dumps(line())[:80], ":1: the line ends too early, .*; remove it if an interrupted "),
        ("model,task\n", ":1: not a prediction; give a file that --maxrandom-predictions wrote"),
    ],
)
def test_what_holds_no_predictions_is_refused(path: Path, text: str, message: str) -> None:
    path.write_text(text)
    with pytest.raises(RecordedError, match=message):
        read(path)


@pytest.mark.skipif(os.name != "posix", reason="has no such files")
@pytest.mark.parametrize("name", ["m.npz", "predictions.jsonl"])
def test_what_has_no_end_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / f"zero-{name}").symlink_to("/dev/zero")
    for reader in (read, read_lines):
        with pytest.raises(RecordedError, match="is not a regular file"):
            reader(tmp_path / name)
        with pytest.raises(RecordedError, match="to what the system says of itself"):
            reader(tmp_path / f"zero-{name}")
