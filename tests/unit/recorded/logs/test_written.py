"""Logs of answers without choices: what the tool compared is compared again, and then shuffled."""

from __future__ import annotations

import csv
from random import Random
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.written import question_of
from tests.notes import sentences
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.reading import read_lm_eval
from tests.unit.recorded.suites import planned

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record.result import Result

SETTINGS = {"metric": "exact_match", "ignore_case": True, "regexes_to_ignore": [",", "\\$"]}
SETUP = {"metric_list": [SETTINGS]}
ANSWERS = ["1,200", "$7", "Oslo", "New York", "18", "3.5", "35", "rome", "7.0"]
N, T = 40, 3


def normal(text: str) -> str:
    return text.replace(",", "").replace("$", "").lower()


def drawn() -> tuple[list[str], list[list[str]]]:
    """Return targets, and what prompts that know some of them said."""
    draw = Random(3)
    targets = [draw.choice(ANSWERS[:-1]) for _ in range(N)]
    return targets, [
        [each.upper() if draw.random() < 0.6 else draw.choice(ANSWERS) for each in targets]
        for _ in range(T)
    ]


def write_logs(folder: Path, targets: list[str], said: list[list[str]]) -> None:
    folder.mkdir()
    for prompt, row in enumerate(said):
        documents = [
            Document(
                [],
                [],
                target,
                context=f"Q: one\nA: 18\nQ: Document {place}\nA:",
                said=text,
                by_filter={"none": float(normal(text) == normal(target))},
            )
            for place, (target, text) in enumerate(zip(targets, row, strict=True))
        ]
        time = f"2026-01-0{1 + prompt}T00-00-00.000001"
        write_run(folder, Run(documents, time=time, task_hash=str(prompt), setup=SETUP))


def result(folder: Path, results: str) -> Result:
    models = f"models: [{{name: org/small, backend: recorded, results: {{{results}}}}}]\n"
    (claim,) = planned(folder, f"{models}tasks: [{{name: weather}}]\n")
    return result_of_recorded(claim)


def test_a_log_is_judged_as_a_table_of_its_answers_and_references(tmp_path: Path) -> None:
    targets, said = drawn()
    write_logs(tmp_path / "runs", targets, said)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt", "example", "prediction", "reference", "input", "kind"])
        rows.writerows(
            # The regular expressions, which tables do not have, are done here.
            (
                prompt,
                place,
                normal(text),
                normal(targets[place]),
                f"Document {place}\nA:",
                "number" if normal(targets[place])[0].isdigit() else "other",
            )
            for prompt, row in enumerate(said)
            for place, text in enumerate(row)
        )
    log = result(tmp_path, "format: lm_eval, path: runs")
    table = result(
        tmp_path,
        "format: table, path: t.csv, shots: 2, exact_match: {normalise: [], numbers: false}",
    )
    assert log.permutation_p is not None
    assert log.permutation_p < 0.01
    for name in ("permutation_p", "standard_baseline", "max_random_baseline", "best_accuracy"):
        assert getattr(log, name) == getattr(table, name)
    assert log.best_accuracy == max(
        sum(normal(a) == normal(b) for a, b in zip(row, targets, strict=True)) / N for row in said
    )


def test_labels_say_what_the_harness_says_of_every_answer_and_every_target(tmp_path: Path) -> None:
    metrics = pytest.importorskip("lm_eval.api.metrics")
    targets, said = drawn()
    write_logs(tmp_path / "runs", targets, said)
    [sweep] = read_lm_eval(tmp_path / "runs")
    assert sweep.open is not None
    settings = {key: value for key, value in SETTINGS.items() if key != "metric"}
    for row, labels in zip(said, sweep.open.said, strict=True):
        for text, label in zip(row[:8], labels, strict=False):
            for target, gold in zip(targets, sweep.open.gold, strict=True):
                own = metrics.exact_match_fn(predictions=[text], references=[target], **settings)
                assert (label in gold) == bool(own["exact_match"])


def test_what_the_log_judges_otherwise_counts_as_right_and_wrong_only(tmp_path: Path) -> None:
    documents = [Document([], [], "Oslo", said="in Oslo", by_filter={"none": 1.0})]
    write_run(tmp_path, Run(documents, setup=SETUP))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.open is None
    assert sweep.correct.all()
    assert (
        "The log calls 1 of 1 answers right or wrong where comparing them with their targets says "
        "otherwise, so that only right and wrong counts." in sentences(sweep.notes)
    )


def test_several_references_are_read_and_letters_are_none(tmp_path: Path) -> None:
    several = [Document([], [], "['Oslo', 'Kristiania']", said="kristiania", context="Document 0")]
    several[0].by_filter["none"] = 1.0
    write_run(tmp_path, Run(several, setup=SETUP))
    [sweep] = read_lm_eval(tmp_path)
    assert sweep.open is not None
    assert sweep.open.asked
    letters = [Document([], [], "B", said="B", by_filter={"none": 1.0})]
    write_run(tmp_path, Run(letters, setup=SETUP))
    assert read_lm_eval(tmp_path)[0].open is None


def test_one_of_several_filters_is_named(tmp_path: Path) -> None:
    documents = [Document([], [], "Paris", by_filter={"strict": 0.0, "flexible": 1.0})]
    write_run(tmp_path, Run(documents, filters=("strict", "flexible")))
    assert read_lm_eval(tmp_path, filter="flexible")[0].open is not None
    with pytest.raises(RecordedError, match="'strict', 'flexible', and not 'flexble'; did you"):
        read_lm_eval(tmp_path, filter="flexble")


def test_a_question_begins_where_a_document_stands_last() -> None:
    document = {"passage": "Ann met Bo.", "question": "Whom?", "answers": ["Bo"]}
    prompt = "Ann met Cy. Whom? Cy\n\nAnn met Bo. Whom?"
    assert question_of(prompt, document, ["Bo"]) == "Ann met Bo. Whom?"
    assert question_of("2 + 2?", {"number": 7}, ["4"]) == ""
