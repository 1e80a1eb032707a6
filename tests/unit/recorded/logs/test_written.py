"""Logs of answers without choices: what the tool compared is compared again, and then shuffled."""

from __future__ import annotations

import csv
import json
from random import Random
from string import punctuation
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.found import find_results
from pytest_maxrandom.recorded.logs.written import question_of
from tests.needs import needs
from tests.notes import sentences
from tests.unit.recorded.logs.inspect_logs import Log
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.reading import read_inspect, read_lm_eval
from tests.unit.recorded.suites import planned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
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


def test_nothing_is_missing_of_the_chance_of_a_log_without_choices(tmp_path: Path) -> None:
    write_logs(tmp_path / "runs", *drawn())
    found = find_results(tmp_path / "runs", {}, {})
    assert (found.missing, found.chance) == ({}, None)
    stated = "tasks: [{name: weather, chance: 1/8, n: 40}]\n"
    models = (
        "models: [{name: org/small, backend: recorded, results: {format: lm_eval, path: runs}}]"
    )
    (claim,) = planned(tmp_path, f"{models}\n{stated}assert: {{p_max: 0.05}}\n")
    assert claim.evidence is not None
    assert claim.evidence.results.open is None
    assert result_of_recorded(claim).p_max is not None


@needs("lm_eval")
def test_labels_say_what_the_harness_says_of_every_answer_and_every_target(tmp_path: Path) -> None:
    from lm_eval.api.metrics import exact_match_fn

    targets, said = drawn()
    write_logs(tmp_path / "runs", targets, said)
    [sweep] = read_lm_eval(tmp_path / "runs")
    assert sweep.open is not None
    settings = {key: value for key, value in SETTINGS.items() if key != "metric"}
    for row, labels in zip(said, sweep.open.said, strict=True):
        for text, label in zip(row[:8], labels, strict=False):
            for target, gold in zip(targets, sweep.open.gold, strict=True):
                own = exact_match_fn(predictions=[text], references=[target], **settings)
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


def written_by_inspect(
    folder: Path, said: list[str], targets: list[str], right: list[bool], **scorer: object
) -> Answers:
    """Write a log whose scorer judged written answers, and read it."""
    log = Log("x" * len(said), targets, choices=None, scorers=(str(scorer["name"]),))
    content = log.content()
    content["eval"]["scorers"] = [scorer]
    del content["results"]
    for sample, text, value in zip(content["samples"], said, right, strict=True):
        sample["scores"] = {scorer["name"]: {"value": "CI"[not value], "answer": text}}
    folder.mkdir(exist_ok=True)
    (folder / "log.json").write_text(json.dumps(content))
    [sweep] = read_inspect(folder / "log.json")
    return sweep


def ends(text: str, target: str) -> bool:
    """Tell what `match` of Inspect says by default: case and punctuation at ends do not count."""
    own, end = (each.strip().casefold().strip(f"{punctuation} ") for each in (text, target))
    return own.endswith(end)


@pytest.mark.parametrize(
    ("scorer", "rule"),
    [
        ({"name": "match"}, ends),
        ({"name": "includes", "options": {"ignore_case": False}}, lambda a, b: b in a),
        ({"name": "exact", "options": {}}, lambda a, b: a.lower().strip(" .?") == b.lower()),
        (
            {"name": "match", "options": {"location": "begin"}},
            lambda a, b: a.lower().startswith(b.lower()),
        ),
    ],
)
def test_answers_in_a_log_of_inspect_are_compared_as_its_scorer_does(
    tmp_path: Path, scorer: dict[str, Any], rule: Callable[[str, str], bool]
) -> None:
    said = ["It is Oslo.", "oslo", "Rome", "Not Oslo, but New York", "New York.", "Romeo", "Rome?"]
    targets = ["Oslo", "Oslo", "Rome", "New York", "New York", "Rome", "York"]
    right = [rule(*pair) for pair in zip(said, targets, strict=True)]
    sweep = written_by_inspect(tmp_path, said, targets, right, **scorer)
    assert sweep.correct.tolist() == [right]
    assert sweep.inputs == tuple(f"Question {place}" for place in range(len(said)))
    assert sweep.open is not None
    for text, label in zip(said, sweep.open.said[0], strict=True):
        for target, gold in zip(targets, sweep.open.gold, strict=True):
            assert (label in gold) == rule(text, target)


def test_numbers_in_a_log_of_inspect_are_compared_by_their_values(tmp_path: Path) -> None:
    numeric: dict[str, Any] = {"name": "match", "options": {"numeric": True}}
    said, targets, right = ["18", "118"], ["18.0", "18"], [True, False]
    sweep = written_by_inspect(tmp_path, said, targets, right, **numeric)
    assert sweep.open is not None
    assert sweep.correct.tolist() == [right]
    numeric["options"]["location"] = "any"
    assert written_by_inspect(tmp_path, said, targets, right, **numeric).open is None


def test_other_scorers_and_judgements_of_inspect_say_right_and_wrong_only(tmp_path: Path) -> None:
    other = written_by_inspect(tmp_path, ["Oslo"], ["Oslo"], [True], name="model_graded_qa")
    assert other.open is None
    otherwise = written_by_inspect(tmp_path, ["Rome"], ["Oslo"], [True], name="match")
    assert otherwise.open is None
    assert any("comparing them with their targets" in each for each in sentences(otherwise.notes))


def test_a_question_begins_where_a_document_stands_last() -> None:
    document = {"passage": "Ann met Bo.", "question": "Whom?", "answers": ["Bo"]}
    prompt = "Ann met Cy. Whom? Cy\n\nAnn met Bo. Whom?"
    assert question_of(prompt, document, ["Bo"]) == "Ann met Bo. Whom?"
    assert question_of("2 + 2?", {"number": 7}, ["4"]) == ""
