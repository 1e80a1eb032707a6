"""Logs of lm-evaluation-harness: what its runs tell."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.notes import sentences
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.reading import read_lm_eval

if TYPE_CHECKING:
    from pathlib import Path

WEATHER = [
    Document([" rain", " sun"], [-2.5, -1.0], target="1", acc=1.0),
    Document([" rain", " sun"], [-2.0, -3.0], target="1", acc=0.0),
    Document([" sun", " rain"], [-7.0, -8.0], target="0", acc=1.0),
]


def test_a_run_is_one_prompt_of_the_sweep_of_its_model_task_and_shots(tmp_path: Path) -> None:
    other = [
        Document(d.arguments, d.likelihoods[::-1], d.target, acc=1 - (d.acc or 0)) for d in WEATHER
    ]
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00.000001", task_hash="a"))
    write_run(tmp_path, Run(other, time="2026-01-02T00-00-00.000001", task_hash="b"))
    [sweep] = read_lm_eval(tmp_path)
    assert (sweep.model, sweep.task, sweep.shots) == ("org/small", "weather", 2)
    assert sweep.claim == "weather[org/small-2shot]"
    assert sweep.examples == ("0", "1", "2")
    assert sweep.correct.tolist() == [[True, False, True], [False, True, False]]
    assert sweep.evaluated.all()
    assert sweep.chances == (Fraction(1, 2),) * 3
    assert len(set(sweep.identities)) == 2
    assert any("demonstrations anew for every document" in note for note in sentences(sweep.notes))


def test_answers_are_labels_that_all_documents_share_whatever_their_order(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.labels == ("rain", "sun")
    assert [*map(set, sweep.gold or ())] == [{1}, {1}, {1}]
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[1, 0, 1]]
    assert sweep.log_likelihoods is not None
    assert sweep.log_likelihoods.tolist() == [[[-2.5, -1.0], [-2.0, -3.0], [-8.0, -7.0]]]


def test_texts_are_labels_also_where_some_documents_have_fewer_of_them(tmp_path: Path) -> None:
    documents = [
        Document([" yes", " no"], [-1.0, -2.0], target="0", acc=1.0),
        Document([" no", " yes"], [-1.0, -2.0], target="1", acc=0.0),
        Document([" yes", " no", " perhaps"], [-3.0, -2.0, -1.0], target="2", acc=1.0),
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.labels == ("no", "perhaps", "yes")
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[2, 0, 1]]
    assert [*map(set, sweep.gold or ())] == [{2}, {2}, {1}]
    nan = float("nan")
    np.testing.assert_array_equal(
        sweep.log_likelihoods, [[[-2, nan, -1], [-1, nan, -2], [-2, -1, -3]]]
    )


def test_choices_of_their_own_are_labelled_by_their_places(tmp_path: Path) -> None:
    documents = [
        Document([" a", " b", " c"], [-3.0, -1.0, -2.0], target="1", acc=1.0),
        Document([" d", " e"], [-1.0, -2.0], target="1", acc=0.0),
        Document([" f", " e"], [-1.0, -2.0], target="1", acc=0.0),
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.labels == ()
    assert sweep.offered == (("a", "b", "c"), ("d", "e"), ("f", "e"))
    assert [*map(set, sweep.gold or ())] == [{1}, {1}, {1}]
    assert sweep.chances == (Fraction(1, 3), Fraction(1, 2), Fraction(1, 2))
    assert sweep.log_likelihoods is not None
    assert np.isnan(sweep.log_likelihoods[0, 1, 2])


def test_runs_with_equal_hashes_count_once(tmp_path: Path) -> None:
    for day in (3, 1, 2):
        write_run(tmp_path, Run(WEATHER, time=f"2026-01-0{day}T00-00-00.5", task_hash="same"))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.correct.shape == (3, 3)
    assert sweep.distinct().prompts == ("org__small/results_2026-01-01T00-00-00.5",)
    assert (
        "2 of the 3 runs repeat the prompts of an earlier one and do not count again."
        in sentences(sweep.notes)
    )


def test_a_repeated_run_with_other_answers_is_said(tmp_path: Path) -> None:
    changed = [*WEATHER[:2], Document([" sun", " rain"], [-9.0, -8.0], "0", acc=0.0)]
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00", task_hash="same"))
    write_run(tmp_path, Run(changed, time="2026-01-02T00-00-00", task_hash="same"))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.distinct().correct.tolist() == [[True, False, True]]
    assert sentences(sweep.notes)[-1].endswith(
        "not count again, although up to 1 of the 3 answers differ."
    )


@pytest.mark.parametrize(
    ("change", "distinct"),
    [
        ("pretrained=org/small,dtype=float32,device=cpu,batch_size=4", 1),
        ("pretrained=org/small,load_in_4bit=True", 2),
        ("pretrained=org/small,revision=step1000", 2),
    ],
)
def test_the_same_prompts_count_again_where_the_model_is_loaded_otherwise(
    tmp_path: Path, change: str, distinct: int
) -> None:
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00"))
    write_run(tmp_path, Run(WEATHER, time="2026-01-02T00-00-00", model_args=change))
    [sweep] = read_lm_eval(tmp_path)
    assert len(set(sweep.identities)) == distinct


def test_old_logs_are_told_apart_by_the_prompts_of_their_documents(tmp_path: Path) -> None:
    other = [Document(d.arguments, d.likelihoods, d.target, d.acc, context="?") for d in WEATHER]
    for day, documents in enumerate((WEATHER, other, WEATHER), start=1):
        run = Run(documents, time=f"2026-01-0{day}T00-00-00", task_hash=None, old=True)
        write_run(tmp_path, run)
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.identities[0] == sweep.identities[2] != sweep.identities[1]
    assert any("does not say how many documents" in note for note in sentences(sweep.notes))


def test_the_first_of_equally_likely_choices_is_the_answer(tmp_path: Path) -> None:
    tied = Document([" rain", " sun"], [-2.0, -2.0], target="0", acc=1.0)
    write_run(tmp_path, Run([tied, WEATHER[0]]))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[0, 1]]


def test_acc_norm_divides_by_the_characters_of_a_choice_without_its_delimiter(
    tmp_path: Path,
) -> None:
    # -6 / 4 = -1.5 and -5 / 3 = -1.67; with the delimiter: -6 / 5 = -1.2 and -5 / 4 = -1.25.
    # -8.5 / 6 = -1.42 and -1.4 / 1 = -1.4; with the delimiter: -1.21 and -.7.
    documents = [
        Document([" rain", " sun"], [-6.0, -5.0], target="0", acc=0.0, acc_norm=1.0),
        Document([" slowly", " x"], [-8.5, -1.4], target="1", acc=1.0, acc_norm=1.0),
        Document([" élan", " sun"], [-5.9, -4.5], target="0", acc=0.0, acc_norm=1.0),
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path, metric="acc_norm")
    assert sweep.correct.all()
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[0, 1, 0]]


def test_a_chat_template_leaves_no_delimiter_before_a_choice(tmp_path: Path) -> None:
    documents = [Document([" b", "cd"], [-3.0, -3.2], target="0", acc=1.0, acc_norm=1.0)] * 2
    write_run(tmp_path, Run(documents, chat_template="{{messages}}"))
    [sweep] = read_lm_eval(tmp_path, metric="acc_norm")
    assert sweep.labels == (" b", "cd")


def test_mutual_information_doubles_the_requests_but_not_the_choices(tmp_path: Path) -> None:
    documents = [
        Document(
            [" rain", " sun", " rain", " sun"],
            [-2.0, -1.0, -9.0, -1.5],
            target="0",
            acc=0.0,
            acc_mutual_info=1.0,
        )
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.chances == (Fraction(1, 2),)
    assert sweep.correct.tolist() == [[False]]


@pytest.mark.parametrize(
    ("choices", "targets", "right"),
    [
        ("no yes", ("yes", "no"), ({1}, {0})),
        ("no yes", (" yes", " no"), ({1}, {0})),
        ("no yes", ("True", "False"), ({1}, {0})),
        ("no yes", ("1", "0"), ({1}, {0})),
        ("False True", ("True", "False"), ({1}, {0})),
        ("True False", ("True", "False"), ({0}, {1})),
        ("3 2 1", ("3", "1"), ({0}, {2})),
        ("2 1 0", ("1", "2"), ({1}, {0})),
        ("2 1 0", ("1", "2"), ({1}, {2})),
        ("a b c", ("[1, 2]", "[0]"), ({1, 2}, {0})),
    ],
)
def test_a_target_is_a_place_or_places_or_a_text(
    tmp_path: Path, choices: str, targets: tuple[str, str], right: tuple[set[int], set[int]]
) -> None:
    texts = choices.split()
    documents = [
        Document(
            [f" {text}" for text in texts],
            [-1.0 if place in places else -2.0 for place in range(len(texts))],
            target,
            acc=1.0,
        )
        for target, places in zip(targets, right, strict=True)
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.gold is not None
    named = [{texts.index(sweep.labels[label]) for label in labels} for labels in sweep.gold]
    assert named == list(right)
    assert sweep.chances == tuple(Fraction(len(places), len(texts)) for places in right)


def test_choices_in_the_contexts_have_chances_but_no_known_right_one(tmp_path: Path) -> None:
    documents = [
        Document([" it rains"] * 2, [-2.0, -1.0], "it rains", acc=1.0, contexts=["He", "She"]),
        Document([" it is"] * 2, [-2.0, -1.0], "it is", acc=0.0, contexts=["We", "They"]),
    ]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.chances == (Fraction(1, 2),) * 2
    assert sweep.gold is None
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[1, 1]]


def test_written_answers_have_no_chance_and_the_first_filter_counts(tmp_path: Path) -> None:
    documents = [
        Document.written("Paris", strict=1.0, loose=1.0),
        Document.written("Rome", strict=0.0, loose=1.0),
    ]
    write_run(tmp_path, Run(documents, filters=("strict", "loose")))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.correct.tolist() == [[True, False]]
    assert sweep.chances is None
    assert sweep.answers is None
    assert "weather was judged through the filters strict, loose; strict is used." in sentences(
        sweep.notes
    )


def test_a_task_that_judges_by_itself_is_taken_as_it_is(tmp_path: Path) -> None:
    against = [Document([" rain", " sun"], [-2.0, -1.0], target="0", acc=1.0)]
    write_run(tmp_path, Run(against, setup={"process_results": "def process_results(doc, r): ..."}))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.correct.all()
    assert sweep.chances is None


def test_a_limit_is_said(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER, original=100))
    [sweep] = read_lm_eval(tmp_path)
    assert "3 of the 100 documents of weather were evaluated (a limit)." in sentences(sweep.notes)


def test_runs_without_demonstrations_are_fixed_prompts(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER, shots=0))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.shots == 0
    assert sentences(sweep.notes) == ()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("pretrained=org/large,dtype=float32", "org/large"),
        ({"pretrained": "org/large", "trust_remote_code": True}, "org/large"),
        ("pretrained=org/large,peft=me/adapter", "me/adapter"),
        ("model=gpt,base_url=http://localhost/v1/completions", "gpt"),
        ("", "hf"),
        (None, "hf"),
    ],
)
def test_a_model_is_called_what_its_arguments_say(
    tmp_path: Path, arguments: object, name: str
) -> None:
    write_run(tmp_path, Run(WEATHER, model_args=arguments))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.model == name


def test_models_tasks_and_shots_are_sweeps_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00"))
    write_run(tmp_path, Run(WEATHER, time="2026-01-02T00-00-00", shots=5))
    write_run(tmp_path, Run(WEATHER, time="2026-01-03T00-00-00", task="a_b_2"))
    write_run(tmp_path, Run(WEATHER, time="2026-01-04T00-00-00", model_args="pretrained=other"))
    claims = [sweep.claim for sweep in read_lm_eval(tmp_path)]
    assert claims == [
        "weather[org/small-2shot]",
        "weather[org/small-5shot]",
        "a_b_2[org/small-2shot]",
        "weather[other-2shot]",
    ]


def test_other_words_for_the_choices_are_another_prompt_with_the_same_places(
    tmp_path: Path,
) -> None:
    german = [
        Document([f" {word}" for word in ("Regen", "Sonne")], d.likelihoods, d.target, d.acc)
        for d in WEATHER
    ]
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00", task_hash="a"))
    write_run(tmp_path, Run(german, time="2026-01-02T00-00-00", task_hash="b"))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.labels == ()
    assert [*map(set, sweep.gold or ())] == [{1}, {1}, {0}]
    assert sweep.answers is not None
    assert sweep.answers.tolist() == [[1, 0, 0], [1, 0, 0]]


def test_words_that_change_their_meaning_are_no_labels(tmp_path: Path) -> None:
    turned = [Document(d.arguments[::-1], d.likelihoods, d.target, d.acc) for d in WEATHER]
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00", task_hash="a"))
    write_run(tmp_path, Run(turned, time="2026-01-02T00-00-00", task_hash="b"))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.labels == ()
    assert [*map(set, sweep.gold or ())] == [{1}, {1}, {0}]


def test_results_may_be_named_after_an_output_path(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER, output="mine.json", time="2026-01-02T00-00-00.123"))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.prompts == ("mine_2026-01-02T00-00-00.123",)


def test_one_samples_file_is_one_run(tmp_path: Path) -> None:
    first = write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00"))
    write_run(tmp_path, Run(WEATHER, time="2026-01-02T00-00-00"))
    [sweep] = read_lm_eval(first)
    assert sweep.correct.shape == (1, 3)


def test_tasks_without_the_metric_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, Run(WEATHER, time="2026-01-01T00-00-00"))
    written = [Document.written("Paris", strict=1.0)]
    run = Run(written, time="2026-01-02T00-00-00", filters=("strict",), task="capitals")
    write_run(tmp_path, run)
    assert [sweep.task for sweep in read_lm_eval(tmp_path)] == ["weather", "capitals"]
    assert [sweep.task for sweep in read_lm_eval(tmp_path, metric="acc")] == ["weather"]


def test_a_metric_between_0_and_1_is_a_score(tmp_path: Path) -> None:
    values = (0.25, 1.0, 0.0)
    documents = [Document([], [], "Paris", f1=value) for value in values]
    write_run(tmp_path, Run(documents))
    [sweep] = read_lm_eval(tmp_path, metric="f1")
    assert sweep.scores is not None
    assert sweep.scores.tolist() == [[*values]]
    assert sweep.correct.tolist() == [[False, True, False]]
    assert sweep.chances is None
