"""Logs of Inspect, the evaluation framework of the UK AI Security Institute.

Answers are written, then parsed: one that cannot be parsed is wrong, so the chance of one guess
among the choices is an upper bound of what a guesser reaches.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.inspect_files import open_log
from pytest_maxrandom.recorded.logs.inspect_samples import InspectSample, read_samples
from pytest_maxrandom.recorded.logs.json_files import field, optional
from pytest_maxrandom.recorded.logs.runs import LoggedAnswer, LoggedRun, digest, gather

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.recorded.logs.inspect_files import InspectLog
    from pytest_maxrandom.recorded.logs.json_files import Object
    from pytest_maxrandom.sweeps.answers import Answers

_SHOTS = ("fewshot", "few_shot", "num_fewshot", "n_fewshot", "shots", "num_shots", "n_shots")
"""Arguments of tasks that may tell the number of demonstrations."""

_HOW_IT_RUNS = {
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt",
    "max_connections", "max_retries", "stream_idle_timeout", "timeout",
}  # fmt: skip
"""Settings of a model that do not change its answers."""

_TOLERANCE = 1e-6
"""How far a mean may be from the one that Inspect computed."""


def read_inspect(
    path: Path,
    *,
    scorer: str | None = None,
    shots: int | None = None,
    cluster: str | None = None,
) -> list[Answers]:
    """Read the sweeps of all runs in a folder and the folders in it.

    Parameters
    ----------
    path : Path
        A ``.json`` or ``.eval`` log, or a folder of them.
    scorer : str or None
        Whose scores count; must be given where a log has several.
    shots : int or None
        Number of demonstrations; by default what the task's arguments tell, or 0.
    cluster : str or None
        The key of the samples' metadata that holds their cluster.

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
    finished = set()
    unfinished = []
    for file in _files(path):
        log = open_log(file)
        if path.is_dir() and file.suffix == ".json" and "eval" not in log.header:
            continue  # such as eval-set.json, which Inspect puts beside its logs
        status = field(log.header, "status", str, str(file))
        evaluated = field(log.header, "eval", dict, str(file))
        task_id = optional(evaluated, "task_id", str, str(file))
        if status == "success":
            finished.add(task_id)
            created = optional(evaluated, "created", str, str(file)) or ""
            runs.append((created, _run(path, log, scorer, shots, cluster)))
        else:
            unfinished.append((task_id, status, file))
    for task_id, status, file in unfinished:
        if task_id is None or task_id not in finished:  # a retry writes a log with the same id
            raise RecordedError(
                f"{file}: the run's status is {status!r}, expected 'success'; finish it with "
                "inspect eval-retry, because a run cut short counts as well"
            )
    if not runs:
        raise RecordedError(f"{path}: no Inspect log in it; give its --log-dir")
    return gather(path, [run for _, run in sorted(runs, key=lambda each: each[0])])


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.rglob("*")) if file.suffix in {".eval", ".json"}]


def _run(
    root: Path, log: InspectLog, scorer: str | None, shots: int | None, cluster: str | None
) -> LoggedRun:
    where = str(log.path)
    evaluated = field(log.header, "eval", dict, where)
    if log.header.get("invalidated"):
        raise RecordedError(f"{where}: the run was marked as invalid; take it away or run it again")
    arguments = optional(evaluated, "task_args", dict, where) or {}
    samples, scorer = read_samples(log, scorer, cluster)
    notes = _complete(log, evaluated, samples)
    _same_accuracy(log, scorer, samples)
    kept = [sample for sample in samples if sample.epoch == 1]
    if shots is None:
        numbers = (arguments.get(name) for name in _SHOTS)
        shots = next((n for n in numbers if type(n) is int and n >= 0), None)
    if shots is None:
        shots = 0
        notes.append("The log does not tell the number of demonstrations; 0 is written for it.")
    answers, more = _answers(kept)
    return LoggedRun(
        path=log.path,
        name=str(log.path.relative_to(root if root.is_dir() else root.parent).with_suffix("")),
        identity=digest(
            arguments,
            evaluated.get("model_args"),
            _settings(evaluated.get("model_generate_config")),
            _settings((optional(log.header, "plan", dict, where) or {}).get("config")),
            sorted((sample.id, sample.prompt) for sample in kept),
        ),
        model=field(evaluated, "model", str, where),
        task=field(evaluated, "task", str, where),
        shots=shots,
        measure=scorer,
        answers=tuple(
            replace(answer, cluster=sample.cluster)
            for answer, sample in zip(answers, kept, strict=True)
        ),
        notes=(*notes, *more),
    )


def _settings(config: object) -> Object:
    settings = config if isinstance(config, dict) else {}
    return {name: value for name, value in settings.items() if name not in _HOW_IT_RUNS}


def _complete(log: InspectLog, evaluated: Object, samples: list[InspectSample]) -> list[str]:
    """Refuse a run of which samples are missing; return what a reader must know."""
    where = str(log.path)
    dataset = optional(evaluated, "dataset", dict, where) or {}
    settings = optional(evaluated, "config", dict, where) or {}
    epochs = optional(settings, "epochs", int, where) or 1
    found = {(sample.id, sample.epoch) for sample in samples}
    ids = optional(dataset, "sample_ids", list, where)
    if ids is None:
        ids = list(dict.fromkeys(sample.id for sample in samples))
    expected = len(ids) * epochs
    known = {str(each) for each in ids}
    whole = {(name, epoch) for name, epoch in found if name in known and 1 <= epoch <= epochs}
    if len(whole) != expected or found != whole:
        raise RecordedError(
            f"{where}: holds {len(whole)} of the {expected} samples that the run was to evaluate, "
            f"and {len(found - whole)} others; finish it with inspect eval-retry"
        )
    notes = []
    available = optional(dataset, "samples", int, where)
    if available is not None and len(ids) < available:
        notes.append(f"{len(ids)} of the {available} samples were evaluated (a limit).")
    if epochs > 1:
        notes.append(
            f"Each sample was tried in {epochs} epochs, which are neither further examples nor "
            "further prompts; the first is used."
        )
    return notes


def _same_accuracy(log: InspectLog, scorer: str, samples: list[InspectSample]) -> None:
    """Compare the samples with the run's own results, unless those join several epochs."""
    if any(sample.epoch > 1 for sample in samples):
        return
    where = f"{log.path}: results"
    results = optional(log.header, "results", dict, str(log.path)) or {}
    scores = [
        score
        for score in optional(results, "scores", list, where) or []
        if isinstance(score, dict) and score.get("name") == scorer
    ]
    metrics = optional(scores[0], "metrics", dict, where) or {} if scores else {}
    accuracy = optional(optional(metrics, "accuracy", dict, where) or {}, "value", float, where)
    right = sum(sample.right for sample in samples)
    if accuracy is not None and abs(accuracy - right / len(samples)) > _TOLERANCE:
        raise RecordedError(
            f"{log.path}: {right} of {len(samples)} samples are right by {scorer!r}, but its "
            f"accuracy is {accuracy}; give the log as Inspect wrote it"
        )


def _answers(samples: list[InspectSample]) -> tuple[tuple[LoggedAnswer, ...], list[str]]:
    """Return the answers, and what a reader must know of their chances.

    Which choices were answered is told only if that agrees with the scores.
    """
    if not all(sample.choices for sample in samples):
        return tuple(LoggedAnswer(each.id, each.content, each.right) for each in samples), []
    if any(sample.places is not None and len(sample.places) > 1 for sample in samples):
        answers = tuple(LoggedAnswer(each.id, each.content, each.right) for each in samples)
        return answers, ["Several choices are right in some samples, and all must be named."]
    agree = all(
        sample.places and (sample.chosen in sample.places) == sample.right for sample in samples
    )
    answers = tuple(
        LoggedAnswer(
            id=sample.id,
            content=sample.content,
            correct=sample.right,
            chance=Fraction(1, len(sample.choices)),
            choices=sample.choices,
            right=sample.places,
            chosen=sample.chosen if agree else None,
        )
        for sample in samples
    )
    return answers, [
        "Answers were written by the model, and one that could not be read is wrong: the chance "
        "of a guess is an upper bound."
    ]
