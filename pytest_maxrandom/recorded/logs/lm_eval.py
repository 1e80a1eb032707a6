"""Logs of EleutherAI's lm-evaluation-harness, written with ``--log_samples``.

Its few-shot sampler draws other demonstrations for every document, so a run is one classifier,
not one fixed prompt; t is the number of runs with distinct prompts. The exact behaviour is that
of version 0.4.13.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError, did_you_mean, listed, quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.files import Object, read_json
from pytest_maxrandom.recorded.logs.lm_eval_samples import COMPARED, Sample, read_samples
from pytest_maxrandom.recorded.logs.runs import LoggedAnswer, LoggedRun, digest, gather, is_share
from pytest_maxrandom.tasks.lm_eval.generated import compared_by
from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import LmEvalResults
    from pytest_maxrandom.tasks.references import Matching

_TIME = r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES = re.compile(rf"samples_(.+){_TIME}\.jsonl")
_RESULTS = re.compile(rf".+{_TIME}\.json")

_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Which argument names the model: the first that is there."""

_WHERE_IT_RUNS = {
    "base_url", "batch_size", "cache_dir", "data_parallel_size", "device", "eos_string",
    "gpu_memory_utilization", "max_batch_size", "max_retries", "num_concurrent", "parallelize",
    "tensor_parallel_size", "timeout", "trust_remote_code",
}  # fmt: skip
"""Arguments that do not make it another model."""

_TOLERANCE = 1e-6
"""How far a mean may be from the one that lm-eval computed."""


class Results:
    """A results file: the model of a run, its settings and totals.

    Raises
    ------
    RecordedError
        If it cannot be read; so do all methods if what they look for is not as it should be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fields = read_json(path)
        self._config = self.fields.object("config")
        arguments = self._config.get("model_args")
        if isinstance(arguments, str):
            pairs = (each.partition("=") for each in arguments.split(",") if each.strip())
            arguments = {name.strip(): value.strip() for name, _, value in pairs}
        self._arguments: Object = arguments if isinstance(arguments, dict) else {}

    @property
    def tasks(self) -> list[str]:
        """Tasks that were run, without groups; none if this is no results file."""
        return [*(self.fields.object("n-samples") or self.fields.object("configs"))]

    @property
    def model(self) -> str:
        """Name of the model: its path, or the folder's name where the log has no other."""
        named = (self._arguments[name] for name in _NAMES if name in self._arguments)
        name = next(named, None) or self._config.get("model") or self.fields.data.get("model_name")
        return str(name or self.path.parent.name)

    @property
    def settings(self) -> Object:
        """What else makes a run another try: revision, quantization, how text is generated."""
        arguments = {k: v for k, v in self._arguments.items() if k not in _WHERE_IT_RUNS}
        return arguments | {name: self._config.get(name) for name in ("model_sha", "gen_kwargs")}

    def shots(self, task: str) -> int:
        """Return how many demonstrations the task was run with."""
        for keys in (("n-shot", task), ("configs", task, "num_fewshot")):
            if (shots := self.fields.find(int, *keys)) is not None:
                return shots
        raise self.fields.error(
            f"neither 'n-shot' nor 'configs' gives the number of demonstrations of {task!r}; give "
            "the results file of the same run"
        )

    def delimiter(self, task: str) -> str:
        """Return what stood between context and choice."""
        setup = self.fields.object("configs", task)
        if self.fields.data.get("chat_template") and not setup.get("gen_prefix"):
            return ""
        found = self.fields.find(str, "configs", task, "target_delimiter")
        return " " if found is None else found

    def mean(self, task: str, metric: str, filter_name: str) -> float:
        """Return the mean of a metric over all documents."""
        means, key = self.fields.need(dict, "results", task), f"{metric},{filter_name}"
        return self.fields.need(float, "results", task, key if key in means else metric)


def read_lm_eval(path: Path, spec: LmEvalResults, _meant: Meant) -> list[Answers]:
    """Read the sweeps of all runs in a folder and the folders in it, or of one samples file.

    What counts is a metric that is from 0 to 1 for every document: if the suite names none,
    ``acc``, or ``exact_match`` where a task has no ``acc``. Tasks without it are left out.

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
        run = _run(task, samples, logs[results], spec)
        if run is not None:
            runs.append(run)
            gather(samples, [run])[0].refuse_equal_scores()
    if not runs:
        raise RecordedError(
            f"{path}: no task has the metric {spec.metric or 'acc or exact_match'}; name a metric "
            "of the samples as `metric`, such as f1"
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
                "samples_TASK_2026-01-31T12-30-00.123456.jsonl; keep the file names of lm-eval"
            )
        task, time = match.groups()
        beside = sorted(file.parent.glob(f"*_{time}.json"))
        if len(beside) != 1:
            found = ", ".join(each.name for each in beside) or "none"
            raise RecordedError(
                f"{file}: expected one results file with the same time in the same folder, found "
                f"{found}; keep both files of a run, and finish an interrupted run"
            )
        known.add((beside[0], task))
        yield time, task, file, beside[0]
    if not samples:
        raise RecordedError(
            f"{path}: the folder has no samples_TASK_TIME.jsonl; give the --output_path of an "
            "lm-eval run with --log_samples"
        )
    for file in sorted(path.rglob("*.json")) if path.is_dir() else []:
        for task in Results(file).tasks if _RESULTS.fullmatch(file.name) else []:
            if (file, task) not in known:
                raise RecordedError(
                    f"{file}: the samples file of the task {task!r} is missing, but this run "
                    "counts too; run it with --log_samples, or remove its results"
                )


def _run(task: str, path: Path, log: Results, spec: LmEvalResults) -> LoggedRun | None:
    samples = read_samples(path, log.delimiter(task), spec.columns.cluster)
    filters = list(dict.fromkeys(sample.filter for sample in samples))
    used, notes = filters[0], []
    if len(filters) > 1:
        used = spec.filter or used
        if used not in filters:
            raise RecordedError(
                f"{path}: {task} was judged through the filters {listed(filters)}, and not "
                f"{quoted(used)}{did_you_mean(used, filters)}; name one of them as `filter`"
            )
        notes.append(Remark("filters", {"task": task, "filters": filters, "used": used}))
    kept = [sample for sample in samples if sample.filter == used]
    wanted = [spec.metric] if spec.metric else ["acc", "exact_match"]
    known = {name for sample in kept for name in sample.metrics}
    metric = next((name for name in wanted if name in known), None)
    if metric is None:
        return None
    scores = [sample.score(metric) for sample in kept]
    notes += _totals(task, path, log, metric, used, scores)
    shots, setup = log.shots(task), log.fields.object("configs", task)
    drawn = log.fields.object("configs", task, "fewshot_config")
    if shots and drawn.get("sampler") != "first_n":
        notes.append(Remark("demonstrations_vary"))
    judged = setup.get("process_results") is not None
    answers, more = _answers(kept, metric, scores, judged=judged)
    prompts = log.fields.find(str, "task_hashes", task)  # of documents, prompts and targets
    return LoggedRun(
        path=path,
        log=log.path,
        identity=digest(prompts or digest([(each.id, each.prompt) for each in kept]), log.settings),
        model=log.model,
        task=task,
        shots=shots,
        measure=f"{metric},{used}",
        matching=None if judged or metric != "exact_match" else _matching(setup),
        answers=answers,
        notes=(*notes, *more),
    )


def _matching(setup: Object) -> Matching | None:
    """Return how a task compares answers with targets; None where it is not known here."""
    given = setup.get("metric_list") or [{"metric": "exact_match"}]
    for each in given if isinstance(given, list) else []:
        if isinstance(each, dict) and each.get("metric") == "exact_match":
            with contextlib.suppress(Mistake):
                return compared_by(each)
    return None


def _totals(
    task: str, path: Path, log: Results, metric: str, filter_name: str, scores: list[float]
) -> Iterator[Remark]:
    """Compare the samples with the run's own results; yield what a reader must know."""
    mean = log.mean(task, metric, filter_name)
    if log.fields.find(dict, "n-samples", task) is None:
        yield Remark("documents_not_told")
    else:
        evaluated = log.fields.need(int, "n-samples", task, "effective")
        available = log.fields.need(int, "n-samples", task, "original")
        if evaluated != len(scores):
            raise RecordedError(
                f"{path}: holds {len(scores)} documents, but according to {log.path.name} "
                f"{evaluated} were evaluated; copy the whole file again"
            )
        if evaluated < available:
            values = {"evaluated": evaluated, "available": available, "task": task}
            yield Remark("documents_limited", values)
    if abs(mean - sum(scores) / len(scores)) > _TOLERANCE:
        told = f"{sum(scores):g} of {len(scores)} documents are right"
        if any(map(is_share, scores)):
            told = f"the documents have a mean of {sum(scores) / len(scores):g}"
        raise RecordedError(
            f"{path}: {told}, but '{metric}' is {mean} in {log.path.name}; keep the two files of "
            "one run together"
        )


def _answers(
    samples: list[Sample], metric: str, scores: list[float], *, judged: bool
) -> tuple[tuple[LoggedAnswer, ...], list[Remark]]:
    """Return what is known of each document, and what a reader must know.

    Where choices were compared, the comparison is made again and must agree.
    """
    right = [score == 1 for score in scores]
    compared = metric in COMPARED and all(sample.log_likelihoods for sample in samples)
    chooses = compared and not judged
    chosen = [sample.chosen(metric) if chooses else None for sample in samples]
    places: list[frozenset[int]] | None = None
    if None not in chosen and all(sample.texts is not None for sample in samples):
        places = _right_places(samples, metric, chosen, right)
    answers = tuple(
        LoggedAnswer(
            *(sample.id, sample.content, sample.prompt, right[row]),
            choices=(sample.texts or ("",) * len(sample.log_likelihoods)) if chooses else None,
            right=places[row] if places else None,
            chosen=chosen[row],
            log_likelihoods=sample.log_likelihoods if chooses else None,
            cluster=sample.cluster,
            told=sample.told,
            written=sample.written,
            score=scores[row] if is_share(scores[row]) else None,
        )
        for row, sample in enumerate(samples)
    )
    if not chooses:
        return answers, [Remark("metric_as_logged", {"metric": metric})]
    return answers, [] if places else [Remark("right_not_told")]


def _right_places(
    samples: list[Sample], metric: str, chosen: list[int | None], right: list[bool]
) -> list[frozenset[int]] | None:
    """Return the right choices of each document; None if no target names any.

    A target such as "1" may be a place or a text: the reading is the right one that agrees with
    what lm-eval counted.
    """
    problems = []
    for as_text in (False, True):
        places = [sample.right_places(as_text=as_text) for sample in samples]
        if not any(places):
            continue
        cells = zip(samples, places, chosen, right, strict=True)
        wrong = [cell[:3] for cell in cells if cell[1] is None or (cell[2] in cell[1]) != cell[3]]
        if not wrong:
            return [found for found in places if found is not None]
        problems.append(_disagreement(*wrong[0], metric))
    if problems:
        raise problems[0]
    return None


def _disagreement(
    sample: Sample, places: frozenset[int] | None, chosen: int | None, metric: str
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
