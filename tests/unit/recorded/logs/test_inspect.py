"""Logs of Inspect: what its runs tell."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.stats.samples import Aggregate
from tests.notes import sentences
from tests.unit.recorded.logs.inspect_logs import Log, write_archive, write_json
from tests.unit.recorded.reading import read_inspect

if TYPE_CHECKING:
    from pathlib import Path

LATER = "2026-01-02T12:00:00+00:00"
UPPER_BOUND = (
    "The model wrote its answers, and an answer that could not be read is wrong: the chance of a "
    "guess is an upper bound."
)


def test_a_log_is_one_prompt_of_a_sweep(tmp_path: Path) -> None:
    [sweep] = read_inspect(write_json(tmp_path / "first.json", Log()))
    assert (sweep.model, sweep.task, sweep.shots) == ("openai/small", "colours", 2)
    assert sweep.claim == "colours[openai/small-2shot]"
    assert sweep.prompts == ("first",)
    assert sweep.examples == ("q0", "q1", "q2", "q3")
    assert sweep.correct.tolist() == [[True, False, False, True]]
    assert sweep.chances == (Fraction(1, 3),) * 4
    assert sentences(sweep.notes) == (UPPER_BOUND,)


def test_both_kinds_of_files_tell_the_same(tmp_path: Path) -> None:
    [plain] = read_inspect(write_json(tmp_path / "log.json", Log()))
    [packed] = read_inspect(write_archive(tmp_path / "log.eval", Log()))
    assert packed.correct.tolist() == plain.correct.tolist()
    assert packed.identities == plain.identities
    assert packed.chances == plain.chances


def test_runs_are_told_apart_by_what_the_model_was_sent(tmp_path: Path) -> None:
    write_json(tmp_path / "b.json", Log())
    write_json(tmp_path / "a.json", Log(created=LATER))
    write_json(tmp_path / "c.json", Log(created=LATER, system="Two other examples follow."))
    [sweep] = read_inspect(tmp_path)
    assert sweep.prompts == ("b", "a", "c")
    assert sweep.distinct().prompts == ("b", "c")
    assert "1 of the 3 runs repeats the prompts of an earlier one and does not count again." in (
        sentences(sweep.notes)
    )


@pytest.mark.parametrize(
    ("name", "value", "distinct"),
    [
        ("task_args", {"num_fewshot": 2, "cot": True}, 2),
        ("model_args", {"dtype": "float16"}, 2),
        ("model_generate_config", {"temperature": 1.0}, 2),
        ("model_generate_config", {"temperature": 0.0, "max_connections": 99}, 1),
    ],
)
def test_runs_with_other_arguments_are_other_tries(
    tmp_path: Path, name: str, value: object, distinct: int
) -> None:
    write_json(tmp_path / "a.json", Log())
    evaluated = Log(created=LATER).content()["eval"]
    write_json(tmp_path / "b.json", Log(created=LATER, changes={"eval": evaluated | {name: value}}))
    [sweep] = read_inspect(tmp_path)
    assert len(set(sweep.identities)) == distinct


def test_demonstrations_in_the_models_role_are_part_of_the_prompt(tmp_path: Path) -> None:
    for file, demonstration in (("a", "ANSWER: A"), ("b", "ANSWER: C")):
        content = Log(created=file).content()
        for sample in content["samples"]:
            sample["messages"].insert(1, {"role": "assistant", "content": demonstration})
        write_json(tmp_path / f"{file}.json", Log(changes=content))
    [sweep] = read_inspect(tmp_path)
    assert len(set(sweep.identities)) == 2


def test_answers_are_told_if_all_could_be_read(tmp_path: Path) -> None:
    [sweep] = read_inspect(write_json(tmp_path / "log.json", Log(answers="BAAC")))
    assert sweep.labels == ("blue", "green", "red")
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[1, 2, 2, 0]]
    assert [*map(set, sweep.gold or ())] == [{1}, {1}, {1}, {1}]
    [partly] = read_inspect(write_json(tmp_path / "log.json", Log(answers="BA C")))
    assert partly.answers is None


def test_answers_that_contradict_their_scores_are_not_told(tmp_path: Path) -> None:
    content = Log(answers="BBBB").content()
    content["samples"][0]["scores"]["choice"]["answer"] = "A"
    [sweep] = read_inspect(write_json(tmp_path / "log.json", Log(changes=content)))
    assert sweep.correct.all()
    assert sweep.answers is None


def test_choices_in_another_order_are_another_prompt_with_the_same_answers(tmp_path: Path) -> None:
    turned = Log("ACCA", "AAAA", choices=("green", "blue", "red"), system="Turned.", created=LATER)
    write_json(tmp_path / "a.json", Log("BAAB"))
    write_json(tmp_path / "b.json", turned)
    [sweep] = read_inspect(tmp_path)
    assert sweep.correct.tolist() == [[True, False, False, True]] * 2
    assert sweep.answers is not None
    assert sweep.answers[0].tolist() == sweep.answers[1].tolist()
    assert sweep.offered is None  # labels are texts, and no order is that of all runs


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("C", True),
        ("I", False),
        ("N", False),
        (1, True),
        (0, False),
        (True, True),
        (False, False),
        ("1.0", True),
        ("yes", True),
        ("false", False),
    ],
)
def test_scores_are_right_or_wrong_in_the_ways_that_inspect_knows(
    tmp_path: Path, value: object, right: bool
) -> None:
    content = Log().content()
    for sample in content["samples"]:
        sample["scores"]["choice"]["value"] = value
    content["results"]["scores"][0]["metrics"]["accuracy"]["value"] = float(right)
    [sweep] = read_inspect(write_json(tmp_path / "log.json", Log(changes=content)))
    assert sweep.correct.all() == sweep.correct.any() == right


def test_epochs_are_samples_and_neither_examples_nor_prompts(tmp_path: Path) -> None:
    content = Log(epochs=3).content()
    for sample in content["samples"]:
        if sample["epoch"] > 1:
            sample["scores"]["choice"]["value"] = "I"
    [sweep] = read_inspect(write_json(tmp_path / "log.json", Log(changes=content)))
    assert sweep.values == pytest.approx(np.array([[1 / 3, 0, 0, 1 / 3]]))
    assert sweep.aggregate == Aggregate("mean", 3)
    assert sweep.sampled is not None
    assert sweep.sampled.correct.tolist() == [[True, False, False, True], [False] * 4, [False] * 4]


@pytest.mark.parametrize(
    ("arguments", "asked", "shots", "said"),
    [
        ({"fewshot": 5, "fewshot_seed": 3}, None, 5, False),
        ({"n_shots": 0}, None, 0, False),
        ({"fewshot": True}, None, 0, True),
        ({}, None, 0, True),
        ({"fewshot": True}, 4, 4, False),
    ],
)
def test_shots_are_taken_from_the_arguments_of_the_task(
    tmp_path: Path, arguments: dict[str, Any], asked: int | None, shots: int, said: bool
) -> None:
    [sweep] = read_inspect(write_json(tmp_path / "a.json", Log(task_args=arguments)), shots=asked)
    assert sweep.shots == shots
    assert (
        any("does not give the number of demonstrations" in n for n in sentences(sweep.notes))
        == said
    )


def test_a_limit_is_said(tmp_path: Path) -> None:
    content = Log().content()
    content["eval"]["dataset"]["samples"] = 100
    [sweep] = read_inspect(write_json(tmp_path / "log.json", Log(changes=content)))
    assert "4 of the 100 samples were evaluated (a limit)." in sentences(sweep.notes)


def test_written_answers_have_no_chance(tmp_path: Path) -> None:
    log = Log(targets=["Blue", "B", "B", "B"], choices=None)
    [sweep] = read_inspect(write_json(tmp_path / "log.json", log))
    assert sweep.chances is None
    assert sweep.gold is None


def test_several_right_choices_must_all_be_named_so_no_chance_is_told(tmp_path: Path) -> None:
    log = Log(targets=[["A", "B"], "B", "B", "B"])
    [sweep] = read_inspect(write_json(tmp_path / "log.json", log))
    assert sweep.chances is None
    assert any("all must be named" in note for note in sentences(sweep.notes))


def test_one_of_several_scorers_is_named(tmp_path: Path) -> None:
    content = Log(scorers=("choice", "judge")).content()
    for sample in content["samples"]:
        sample["scores"]["judge"]["value"] = 1
    content["results"]["scores"][1] = {"name": "judge", "metrics": {"accuracy": {"value": 1.0}}}
    path = write_json(tmp_path / "log.json", Log(changes=content))
    [sweep] = read_inspect(path, scorer="judge")
    assert sweep.correct.all()


def test_a_failed_run_that_was_retried_is_left_out(tmp_path: Path) -> None:
    failed = Log(changes={"status": "error"})
    write_json(tmp_path / "a.json", failed)
    retried = Log(created=LATER).content()
    retried["eval"]["task_id"] = failed.content()["eval"]["task_id"]
    write_json(tmp_path / "b.json", Log(changes=retried))
    [sweep] = read_inspect(tmp_path)
    assert sweep.prompts == ("b",)


def test_other_json_files_in_a_folder_are_no_logs(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write_json(tmp_path / "deep" / "a.json", Log())
    (tmp_path / "eval-set.json").write_text('{"eval_set_id": "x"}')
    [sweep] = read_inspect(tmp_path)
    assert sweep.prompts == ("deep/a",)


def test_models_are_sweeps_of_their_own(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", Log())
    content = replace(Log(), created=LATER).content()
    content["eval"]["model"] = "openai/large"
    write_json(tmp_path / "b.json", Log(changes=content))
    assert [sweep.model for sweep in read_inspect(tmp_path)] == ["openai/small", "openai/large"]


def test_scores_between_right_and_wrong_are_kept_as_they_are(tmp_path: Path) -> None:
    log = Log(choices=None, scorers=("model_graded", "match"))
    content = log.content()
    for place, value in enumerate((0.25, "C", 1.0, 0.875)):
        content["samples"][place]["scores"]["model_graded"]["value"] = value
    (tmp_path / "log.json").write_text(json.dumps(content))
    [sweep] = read_inspect(tmp_path / "log.json", scorer="model_graded")
    assert sweep.scores is not None
    assert sweep.scores.tolist() == [[0.25, 1.0, 1.0, 0.875]]
    assert sweep.correct.tolist() == [[False, True, True, False]]
    [other] = read_inspect(tmp_path / "log.json", scorer="match")
    assert other.scores is None
