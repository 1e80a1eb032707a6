"""Logs of lm-evaluation-harness with one fault each: an error of one sentence that names it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import RecordedError
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.reading import read_lm_eval

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCUMENTS = [
    Document([" rain", " sun"], [-2.5, -1.0], target="1", acc=1.0),
    Document([" rain", " sun"], [-2.0, -3.0], target="1", acc=0.0),
    Document([" sun", " rain"], [-7.0, -8.0], target="0", acc=1.0),
]

Lines = list[dict[str, Any]]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return write_run(tmp_path, Run(DOCUMENTS))


def results(samples: Path) -> Path:
    [path] = samples.parent.glob("results_*.json")
    return path


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a file of JSON, or of lines of JSON, holds."""
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
    else:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        change(lines)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def message(path: Path, **asked: Any) -> str:
    with pytest.raises(RecordedError) as caught:
        read_lm_eval(path, **asked)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(path))
    return text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda lines: lines.pop(),
            "holds 2 documents, but according to results_2026-01-01T12-30-00.123456.json 3 were "
            "evaluated",
        ),
        (lambda lines: lines.clear(), "holds no document"),
        (lambda lines: lines.append(lines[0]), "jsonl:4: document 0 is already in line 1"),
        (lambda lines: lines[1].pop("doc_id"), "jsonl:2: 'doc_id' is missing"),
        (lambda lines: lines[1].update(doc_id=True), "jsonl:2: 'doc_id' is True, expected a whole"),
        (lambda lines: lines[1].pop("arguments"), "jsonl:2: 'arguments' is None"),
        (lambda lines: lines[1].update(arguments={"a": {}}), "jsonl:2: 'arguments' is"),
        (lambda lines: lines[1].pop("filtered_resps"), "jsonl:2: 'filtered_resps' is missing"),
        (
            lambda lines: lines[1]["filtered_resps"].pop(),
            "jsonl:2: 1 log-likelihoods for 2 requests",
        ),
        (
            lambda lines: lines[1].update(filtered_resps=[["nan", "False"], ["-1", "False"]]),
            "jsonl:2: 'filtered_resps' has ['nan', 'False'], expected a log-likelihood",
        ),
        (lambda lines: lines[1].pop("acc"), "jsonl:2: document 1 has no metric 'acc', found none"),
        (
            lambda lines: lines[1].update(acc=0.43),
            "jsonl:2: 'acc' of document 1 is '0.43', expected 0 or 1",
        ),
        (
            lambda lines: [each.update(acc=1.0) for each in lines],
            "3 of 3 documents are right, but 'acc' is 0.666",
        ),
        (
            lambda lines: (lines[0].update(acc=0.0), lines[1].update(acc=1.0)),
            "jsonl:1: 'acc' of document 0 is 0.0, but its best choice is 1 and its target '1'",
        ),
        (
            lambda lines: lines[1].update(target="2"),
            "jsonl:2: the target of document 1 is '2', which is none of its choices",
        ),
        (
            lambda lines: lines[1].update(target="snow"),
            "jsonl:2: the target of document 1 is 'snow', which is none of its choices",
        ),
    ],
)
def test_a_samples_file_must_be_whole_and_agree_with_itself_and_its_results(
    samples: Path, change: Callable[[Lines], object], expected: str
) -> None:
    edit(samples, change)
    assert expected in message(samples)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda data: data.pop("results"), "results: 'weather' is missing"),
        (lambda data: data["results"].pop("weather"), "'weather' is missing"),
        (lambda data: data["results"]["weather"].pop("acc,none"), "weather: 'acc' is missing"),
        (lambda data: data["results"]["weather"].update({"acc,none": "N/A"}), "expected a number"),
        (lambda data: data.pop("n-shot"), "neither 'n-shot' nor 'configs' gives the number"),
        (lambda data: data.update({"n-shot": 5}), "'n-shot' is 5, expected an object"),
    ],
)
def test_a_results_file_must_tell_what_is_needed(
    samples: Path, change: Callable[[dict[str, Any]], object], expected: str
) -> None:
    edit(results(samples), change)
    with pytest.raises(RecordedError) as caught:
        read_lm_eval(samples)
    assert str(results(samples)) in str(caught.value)
    assert expected in str(caught.value)


def test_a_line_that_a_stopped_run_left_is_named(samples: Path) -> None:
    samples.write_text(samples.read_text()[:-30])
    assert f"{samples}:3: not valid JSON: " in message(samples)


def test_a_file_that_is_not_text_is_named(samples: Path) -> None:
    samples.write_bytes(b"\xff\xfe{}")
    assert (
        f"{samples}:1: the byte 0xff is not UTF-8; save the file as UTF-8, or copy it again"
        in message(samples)
    )


@pytest.mark.parametrize("likelihood", [0.0, -1.5])
def test_a_run_whose_choices_are_all_equally_likely_is_refused(
    tmp_path: Path, likelihood: float
) -> None:
    documents = [Document(d.arguments, [likelihood] * 2, "0", acc=1.0) for d in DOCUMENTS]
    write_run(tmp_path, Run(DOCUMENTS, time="2026-01-01T00-00-00"))
    silent = write_run(tmp_path, Run(documents, time="2026-01-02T00-00-00"))
    with pytest.raises(RecordedError, match="same log-likelihood") as caught:
        read_lm_eval(tmp_path)
    assert str(silent) in str(caught.value)


def test_a_run_without_results_was_cut_short(samples: Path) -> None:
    results(samples).unlink()
    assert "expected one results file with the same time in the same folder, found none" in message(
        samples
    )


def test_a_run_without_samples_counts_as_well(samples: Path, tmp_path: Path) -> None:
    write_run(tmp_path, Run(DOCUMENTS, time="2026-01-02T00-00-00")).unlink()
    with pytest.raises(RecordedError, match="the samples file of the task 'weather' is missing"):
        read_lm_eval(tmp_path)


def test_a_folder_without_samples_is_none_of_lm_eval(tmp_path: Path) -> None:
    assert "the folder has no samples_TASK_TIME.jsonl" in message(tmp_path)


def test_a_samples_file_with_another_name_is_refused(samples: Path) -> None:
    renamed = samples.rename(samples.with_name("samples_weather.jsonl"))
    assert "expected a folder, or a name such as samples_TASK_" in message(renamed)
    assert "samples_weather.jsonl" in message(renamed.parent.parent / renamed.parent.name)


def test_a_metric_that_no_task_has_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, Run(DOCUMENTS))
    assert "no task has the metric acc_norm" in message(tmp_path, metric="acc_norm")


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (Run(DOCUMENTS[:2]), "2 examples, but"),
        (
            Run(
                [*DOCUMENTS[:2], Document([" sun", " rain", " fog"], [-7.0, -8.0, -9.0], "0", 1.0)]
            ),
            "example '2' differs from the one in",
        ),
        (
            Run([Document.written("Paris", x=1.0)] * 3, filters=("x",)),
            "judged by exact_match,x, but",
        ),
    ],
)
def test_runs_of_a_sweep_must_fit_together(tmp_path: Path, second: Run, expected: str) -> None:
    first = write_run(tmp_path, Run(DOCUMENTS, time="2026-01-01T00-00-00"))
    second.time = "2026-01-02T00-00-00"
    path = write_run(tmp_path, second)
    with pytest.raises(RecordedError) as caught:
        read_lm_eval(tmp_path)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert str(first) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: lines[2].update(doc_hash="0"), "example '2' differs from the one in"),
        (lambda lines: lines[2].update(doc_id=7), "example '7' is not in"),
    ],
)
def test_runs_on_other_documents_are_refused(
    tmp_path: Path, change: Callable[[Lines], object], expected: str
) -> None:
    write_run(tmp_path, Run(DOCUMENTS, time="2026-01-01T00-00-00"))
    edit(write_run(tmp_path, Run(DOCUMENTS, time="2026-01-02T00-00-00")), change)
    with pytest.raises(RecordedError, match=expected):
        read_lm_eval(tmp_path)
