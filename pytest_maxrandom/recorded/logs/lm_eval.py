"""Logs of EleutherAI's lm-evaluation-harness, written with ``--log_samples``.

Its few-shot sampler draws other demonstrations for every document, so a run is one classifier,
not one fixed prompt; t is the number of runs with distinct prompts. The exact behaviour is that
of version 0.4.13.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.lm_eval_results import Results
from pytest_maxrandom.recorded.logs.lm_eval_samples import COMPARED, read_samples
from pytest_maxrandom.recorded.logs.runs import LoggedAnswer, LoggedRun, digest, gather
from pytest_maxrandom.recorded.refusals import refuse_equal_scores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.recorded.logs.lm_eval_samples import Sample
    from pytest_maxrandom.sweeps.answers import Answers

_TIME = r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES = re.compile(rf"samples_(.+){_TIME}\.jsonl")
_RESULTS = re.compile(rf".+{_TIME}\.json")

_TOLERANCE = 1e-6
"""How far a mean may be from the one that lm-eval computed."""


def read_lm_eval(
    path: Path, *, metric: str | None = None, cluster: str | None = None
) -> list[Answers]:
    """Read the sweeps of all runs in a folder and the folders in it.

    Parameters
    ----------
    path : Path
        A folder, or one samples file beside its results file.
    metric : str or None
        What counts as right: a metric that is 0 or 1 for every document. By default ``acc``, or
        ``exact_match`` where a task has no ``acc``. Tasks without it are left out.
    cluster : str or None
        The field of the documents that holds their cluster.

    Returns
    -------
    list of Answers
        One for each model, task and number of shots, with one prompt for each run, in the order of
        time. Runs of one model with equal ``task_hashes`` have the same identity.

    Raises
    ------
    RecordedError
        If a log is incomplete or contradicts itself, or runs of a sweep do not fit together.
    """
    logs: dict[Path, Results] = {}
    runs = []
    for _, task, samples, results in sorted(_files(path)):
        if results not in logs:
            logs[results] = Results(results)
        run = _run(path, task, samples, logs[results], metric, cluster)
        if run is not None:
            runs.append(run)
            refuse_equal_scores(*gather(samples, [run]))
    if not runs:
        raise RecordedError(
            f"{path}: no task has the metric {metric or 'acc or exact_match'}; name one that the "
            "samples have, and that is 0 or 1"
        )
    return gather(path, runs)


def _files(path: Path) -> Iterator[tuple[str, str, Path, Path]]:
    """Yield time, task, samples file and results file of each run."""
    samples = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
    known = set()
    for file in samples:
        match = _SAMPLES.fullmatch(file.name)
        if match is None:
            raise RecordedError(
                f"{file}: expected a folder, or a name such as "
                "samples_TASK_2026-01-31T12-30-00.123456.jsonl; keep the names that lm-eval gave"
            )
        task, time = match.groups()
        beside = sorted(file.parent.glob(f"*_{time}.json"))
        if len(beside) != 1:
            found = ", ".join(each.name for each in beside) or "none"
            raise RecordedError(
                f"{file}: expected one results file with the same time beside it, found {found}; "
                "keep both files of a run, and finish a run that was stopped"
            )
        known.add((beside[0], task))
        yield time, task, file, beside[0]
    if not samples:
        raise RecordedError(
            f"{path}: no samples_TASK_TIME.jsonl in it; give the folder that was the --output_path "
            "of lm-eval, run with --log_samples"
        )
    for file in sorted(path.rglob("*.json")) if path.is_dir() else []:
        for task in Results(file).tasks if _RESULTS.fullmatch(file.name) else []:
            if (file, task) not in known:
                raise RecordedError(
                    f"{file}: the samples file of the task {task!r} is missing, and this run "
                    "counts as well; run it with --log_samples, or take its results away"
                )


def _run(
    root: Path, task: str, path: Path, log: Results, metric: str | None, cluster: str | None
) -> LoggedRun | None:
    samples = read_samples(path, log.delimiter(task), cluster)
    filters = list(dict.fromkeys(sample.filter for sample in samples))
    notes = []
    if len(filters) > 1:
        notes.append(
            f"{task} was judged through the filters {', '.join(filters)}; {filters[0]} is used."
        )
    kept = [sample for sample in samples if sample.filter == filters[0]]
    wanted = [metric] if metric else ["acc", "exact_match"]
    known = {name for sample in kept for name in sample.metrics}
    metric = next((name for name in wanted if name in known), None)
    if metric is None:
        return None
    right = [sample.right(metric) for sample in kept]
    notes += _totals(task, path, log, metric, filters[0], right)
    shots = log.shots(task)
    if shots and not log.same_demonstrations(task):
        notes.append(
            "lm-eval draws other demonstrations for every document, so a run is one classifier, "
            "not one prompt."
        )
    answers, more = _answers(kept, metric, right, judged=log.judges_itself(task))
    prompts = log.task_hash(task) or digest([(each.id, each.prompt) for each in kept])
    return LoggedRun(
        path=path,
        name=str(log.path.relative_to(root if root.is_dir() else root.parent))[: -len(".json")],
        identity=digest(prompts, log.settings),
        model=log.model,
        task=task,
        shots=shots,
        measure=f"{metric},{filters[0]}",
        answers=tuple(
            replace(answer, cluster=sample.cluster)
            for answer, sample in zip(answers, kept, strict=True)
        ),
        notes=(*notes, *more),
    )


def _totals(
    task: str, path: Path, log: Results, metric: str, filter_name: str, right: list[bool]
) -> Iterator[str]:
    """Compare the samples with the run's own results; yield what a reader must know."""
    mean = log.mean(task, metric, filter_name)
    documents = log.documents(task)
    if documents is None:
        yield (
            "The log does not tell how many documents were evaluated; a run cut short shows in "
            "its accuracy alone."
        )
    else:
        evaluated, available = documents
        if evaluated != len(right):
            raise RecordedError(
                f"{path}: holds {len(right)} documents, but {evaluated} were evaluated by "
                f"{log.path.name}; copy the whole file again"
            )
        if evaluated < available:
            yield f"{evaluated} of the {available} documents of {task} were evaluated (a limit)."
    if abs(mean - sum(right) / len(right)) > _TOLERANCE:
        raise RecordedError(
            f"{path}: {sum(right)} of {len(right)} documents are right, but '{metric}' is {mean} "
            f"in {log.path.name}; keep the two files of one run together"
        )


def _answers(
    samples: list[Sample], metric: str, right: list[bool], *, judged: bool
) -> tuple[tuple[LoggedAnswer, ...], list[str]]:
    """Return what is known of each document, and what a reader must know.

    Where choices were compared, the comparison is made again and must agree.
    """
    options = [sample.options for sample in samples if sample.options is not None]
    if metric not in COMPARED or len(options) < len(samples) or judged:
        answers = tuple(
            LoggedAnswer(sample.id, sample.content, correct)
            for sample, correct in zip(samples, right, strict=True)
        )
        return answers, [f"'{metric}' was taken from the log as it is."]
    chosen = [each.chosen(metric) for each in options]
    texts = [each.texts for each in options]
    notes = []
    places: list[frozenset[int]] | None = None
    if None not in chosen and None not in texts:
        places = _right_places(samples, metric, chosen, right)
    if places is None:
        notes.append("The log does not tell which choices are right, only which answers are.")
    answers = tuple(
        LoggedAnswer(
            id=sample.id,
            content=sample.content,
            correct=correct,
            chance=Fraction(len(places[row]) if places else 1, len(each.log_likelihoods)),
            choices=each.texts or ("",) * len(each.log_likelihoods),
            right=places[row] if places else None,
            chosen=chosen[row],
            log_likelihoods=tuple(each.log_likelihoods.tolist()),
        )
        for row, (sample, each, correct) in enumerate(zip(samples, options, right, strict=True))
    )
    return answers, notes


def _right_places(
    samples: list[Sample], metric: str, chosen: list[int | None], right: list[bool]
) -> list[frozenset[int]] | None:
    """Return the right choices of each document; None if no target names any.

    A target such as "1" may be a place or a text: the reading is the right one that agrees with
    what lm-eval counted.
    """
    problem = None
    for as_text in (False, True):
        places = [sample.right_places(as_text=as_text) for sample in samples]
        if not any(places):
            continue
        wrong = next(
            (
                row
                for row, (found, choice, correct) in enumerate(
                    zip(places, chosen, right, strict=True)
                )
                if found is None or (choice in found) != correct
            ),
            None,
        )
        if wrong is None:
            return [found for found in places if found is not None]
        problem = problem or _disagreement(samples[wrong], places[wrong], metric, chosen[wrong])
    if problem is not None:
        raise problem
    return None


def _disagreement(
    sample: Sample, places: frozenset[int] | None, metric: str, chosen: int | None
) -> RecordedError:
    if places is None:
        return RecordedError(
            f"{sample.where}: the target of document {sample.id} is {sample.target!r}, which is "
            "none of its choices, so no answer can be right; repair the task and run it again"
        )
    return RecordedError(
        f"{sample.where}: '{metric}' of document {sample.id} is {sample.metrics[metric]}, but its "
        f"best choice is {chosen} and its target {sample.target!r}; give the log as lm-eval wrote "
        "it"
    )
