"""Logs of Inspect, the evaluation framework of the UK AI Security Institute.

Answers are written, then parsed: one that cannot be parsed is wrong, so the chance of one guess
among the choices is an upper bound of what a guesser reaches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.logs.inspect_samples import open_log, read_samples
from pytest_maxrandom.recorded.logs.json_files import Fields
from pytest_maxrandom.recorded.logs.runs import LoggedAnswer, LoggedRun, digest, gather

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.logs.inspect_samples import Samples
    from pytest_maxrandom.recorded.logs.json_files import Object
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import InspectResults

_SHOTS = ("fewshot", "few_shot", "num_fewshot", "n_fewshot", "shots", "num_shots", "n_shots")
"""Arguments of tasks that may tell the number of demonstrations."""

_HOW_IT_RUNS = {
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt",
    "max_connections", "max_retries", "stream_idle_timeout", "timeout",
}  # fmt: skip
"""Settings of a model that do not change its answers."""

_TOLERANCE = 1e-6
"""How far a mean may be from the one that Inspect computed."""


def read_inspect(path: Path, spec: InspectResults, _meant: Meant) -> list[Answers]:
    """Read the sweeps of a log, or of all runs in a folder and the folders in it.

    The number of demonstrations is what the suite says, else what the task's arguments tell, or 0.

    Returns
    -------
    list of Answers
        One for each model, task and number of shots, with one prompt for each run, in the order of
        time. Runs with the same arguments and the same messages have the same identity.

    Raises
    ------
    RecordedError
        If a log is unfinished or contradicts itself, a score is neither right nor wrong, or runs
        of a sweep do not fit together.
    """
    runs = []
    unfinished: dict[Path, tuple[str | None, str]] = {}
    finished = set()
    files = (file for file in sorted(path.rglob("*")) if file.suffix in {".eval", ".json"})
    for file in files if path.is_dir() else [path]:
        header, samples = open_log(file)
        if path.is_dir() and file.suffix == ".json" and "eval" not in header.data:
            continue  # such as eval-set.json, which Inspect puts beside its logs
        status = header.need(str, "status")
        header.need(dict, "eval")
        task_id = header.find(str, "eval", "task_id")
        if status == "success":
            finished.add(task_id)
            created = header.find(str, "eval", "created") or ""
            answers, used = read_samples(file, samples, spec.scorer, spec.columns.cluster)
            runs.append((created, _run(file, header, answers, used, spec.shots)))
        else:
            unfinished[file] = task_id, status
    for file, (task_id, status) in unfinished.items():
        if task_id is None or task_id not in finished:  # a retry writes a log with the same id
            raise RecordedError(
                f"{file}: the run's status is {status!r}, expected 'success'; finish it with "
                "inspect eval-retry, because an interrupted run counts too"
            )
    if not runs:
        raise RecordedError(f"{path}: the folder has no Inspect log; give the --log-dir of the run")
    return gather(path, [run for _, run in sorted(runs, key=lambda each: each[0])])


def _run(path: Path, header: Fields, samples: Samples, scorer: str, shots: int | None) -> LoggedRun:
    if header.data.get("invalidated"):
        raise header.error("the run is marked as invalid; remove its log, or run it again")
    arguments = header.object("eval", "task_args")
    notes = _complete(header, samples)
    _same_accuracy(header, scorer, samples)
    kept = [answer for (_, epoch), answer in samples.items() if epoch == 1]
    if shots is None:
        numbers = (arguments.get(name) for name in _SHOTS)
        shots = next((n for n in numbers if type(n) is int and n >= 0), None)
    if shots is None:
        shots = 0
        notes.append(Remark("shots_not_told"))
    answers, more = _answers(kept)
    return LoggedRun(
        path=path,
        log=path,
        identity=digest(
            arguments,
            header.object("eval").get("model_args"),
            _settings(header.object("eval").get("model_generate_config")),
            _settings(header.object("plan").get("config")),
            sorted((answer.id, answer.prompt) for answer in kept),
        ),
        model=header.need(str, "eval", "model"),
        task=header.need(str, "eval", "task"),
        shots=shots,
        measure=scorer,
        answers=answers,
        notes=(*notes, *more),
    )


def _settings(config: object) -> Object:
    settings = config if isinstance(config, dict) else {}
    return {name: value for name, value in settings.items() if name not in _HOW_IT_RUNS}


def _complete(header: Fields, samples: Samples) -> list[Remark]:
    """Refuse a run of which samples are missing; return what a reader must know."""
    epochs = header.find(int, "eval", "config", "epochs") or 1
    ids = header.find(list, "eval", "dataset", "sample_ids")
    if ids is None:
        ids = list(dict.fromkeys(name for name, _ in samples))
    known = {str(each) for each in ids}
    whole = sum(name in known and 1 <= epoch <= epochs for name, epoch in samples)
    if not whole == len(samples) == len(ids) * epochs:
        raise header.error(
            f"holds {whole} of the {len(ids) * epochs} samples of the run, and "
            f"{len(samples) - whole} others; finish it with inspect eval-retry"
        )
    notes = []
    available = header.find(int, "eval", "dataset", "samples")
    if available is not None and len(ids) < available:
        values = {"evaluated": len(ids), "available": available}
        notes.append(Remark("samples_limited", values))
    if epochs > 1:
        notes.append(Remark("epochs", {"epochs": epochs}))
    return notes


def _same_accuracy(header: Fields, scorer: str, samples: Samples) -> None:
    """Compare the samples with the run's own results, unless those join several epochs."""
    right = sum(answer.correct for answer in samples.values())
    for score in header.find(list, "results", "scores") or []:
        if not isinstance(score, dict) or score.get("name") != scorer:
            continue
        fields = Fields(f"{header.where}: results", score)
        accuracy = fields.find(float, "metrics", "accuracy", "value")
        differs = accuracy is not None and abs(accuracy - right / len(samples)) > _TOLERANCE
        if differs and all(epoch == 1 for _, epoch in samples):
            raise header.error(
                f"{right} of {len(samples)} samples are right according to {scorer!r}, but its "
                f"accuracy is {accuracy}; give the log as Inspect wrote it"
            )
        return


def _answers(answers: list[LoggedAnswer]) -> tuple[tuple[LoggedAnswer, ...], list[Remark]]:
    """Return the answers, and what a reader must know of their chances.

    The answered choices are returned only if they agree with the scores.
    """
    listed = all(answer.choices for answer in answers)
    if not listed or any(answer.right and len(answer.right) > 1 for answer in answers):
        untold = (replace(each, choices=None, right=None, chosen=None) for each in answers)
        return tuple(untold), [Remark("all_must_be_named")] if listed else []
    if any(not each.right or (each.chosen in each.right) != each.correct for each in answers):
        answers = [replace(each, chosen=None) for each in answers]
    return tuple(answers), [Remark("written_answers")]
