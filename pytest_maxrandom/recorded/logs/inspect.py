"""Logs of Inspect, the evaluation framework of the UK AI Security Institute.

Answers are written, then parsed: one that cannot be parsed is wrong, so the chance of one guess
among the choices is an upper bound of what a guesser reaches. A ``.json`` log is one object. An
``.eval`` log is a ZIP archive of JSON files, compressed by Zstandard since 2025, which Python knows
from 3.14 on.
"""

from __future__ import annotations

import reprlib
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.files import Fields, Object
from pytest_maxrandom.recorded.logs.inspect_files import open_log
from pytest_maxrandom.recorded.logs.runs import (
    LoggedAnswer,
    LoggedRun,
    cluster_of,
    digest,
    gather,
    is_share,
)
from pytest_maxrandom.recorded.logs.written import Written
from pytest_maxrandom.tasks.references import Matching

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import InspectResults

Samples: TypeAlias = "dict[tuple[str, int], LoggedAnswer]"
"""What was answered, by the sample's id and its epoch: the epochs of a sample are several answers
to the same example."""

_RIGHT = {"C", "1", "1.0", "True", "true", "yes"}
_WRONG = {"I", "N", "0", "0.0", "False", "false", "no"}
"""Values of scores; N stands for no answer."""

_LETTERS = 26
"""So many choices are called A, B, ...; the next ones are called 1, 2, ..."""

_SHOTS = ("fewshot", "few_shot", "num_fewshot", "n_fewshot", "shots", "num_shots", "n_shots")
"""Arguments of tasks that may tell the number of demonstrations."""

_HOW_IT_RUNS = {
    "adaptive_connections", "attempt_timeout", "batch", "cache", "cache_prompt",
    "max_connections", "max_retries", "stream_idle_timeout", "timeout",
}  # fmt: skip
"""Settings of a model that do not change its answers."""

_COMPARED = {
    "exact": Matching(),
    "match": Matching(parts=("case",), numbers=False, edges=False, place="end"),
    "includes": Matching(parts=("case",), numbers=False, place="anywhere"),
}
"""How scorers compare a text with targets, if their options do not say otherwise."""

_PLACE: dict[object, Literal["whole", "begin", "end", "anywhere"]] = {
    "exact": "whole",
    "begin": "begin",
    "end": "end",
    "any": "anywhere",
}
"""Where the option `location` of `match` says that a target stands."""

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
            answers, used = _read_samples(file, samples, spec.scorer, spec.columns.cluster)
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
    epochs = max(epoch for _, epoch in samples)
    if shots is None:
        numbers = (arguments.get(name) for name in _SHOTS)
        shots = next((n for n in numbers if type(n) is int and n >= 0), None)
    if shots is None:
        shots = 0
        notes.append(Remark("shots_not_told"))
    answers, more = _answers([*samples.values()])
    by_epoch = {each: list[LoggedAnswer]() for each in range(1, epochs + 1)}
    for (_, epoch), answer in zip(samples, answers, strict=True):
        by_epoch[epoch].append(answer)
    first, *others = map(tuple, by_epoch.values())
    return LoggedRun(
        path=path,
        log=path,
        identity=digest(
            arguments,
            header.object("eval").get("model_args"),
            _settings(header.object("eval").get("model_generate_config")),
            _settings(header.object("plan").get("config")),
            sorted((answer.id, answer.prompt) for answer in first),
        ),
        model=header.need(str, "eval", "model"),
        task=header.need(str, "eval", "task"),
        shots=shots,
        measure=scorer,
        matching=_matching(header, scorer),
        answers=first,
        others=tuple(others),
        notes=(*notes, *more),
    )


def _matching(header: Fields, scorer: str) -> Matching | None:
    """Return how a scorer compares answers with targets; None where it is not known here."""
    name = scorer.rpartition("/")[2]
    matching = _COMPARED.get(name)
    for each in header.find(list, "eval", "scorers") or []:
        options = each.get("options") if isinstance(each, dict) else None
        own = isinstance(each, dict) and str(each.get("name")).rpartition("/")[2] == name
        if matching is None or not own or not isinstance(options, dict):
            continue
        if options.get("ignore_case") is False:
            matching = replace(matching, parts=())
        matching = replace(matching, place=_PLACE.get(options.get("location"), matching.place))
        if options.get("numeric"):
            # Of several numbers the log then tells the one that is right.
            matching = None if matching.place == "anywhere" else replace(matching, numbers=True)
    return matching


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
    return notes


def _same_accuracy(header: Fields, scorer: str, samples: Samples) -> None:
    """Compare the samples with the run's own results, unless those join several epochs."""
    if any(answer.score is not None for answer in samples.values()):
        return  # an accuracy of graded scores is that of some rule for them
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


def _read_samples(
    path: Path, samples: Iterable[Fields], scorer: str | None, cluster: str | None
) -> tuple[Samples, str]:
    """Return all samples of a log, and the scorer that judged them."""
    answers: Samples = {}
    used = scorer
    for fields in samples:
        failed, scores = fields.find(dict, "error"), fields.find(dict, "scores")
        if failed or not scores:
            reason = f"failed ({failed.get('message')})" if failed else "has no score"
            raise fields.error(
                f"sample {fields.data.get('id')!r} {reason}; finish the run with inspect "
                "eval-retry, or score it with inspect score"
            )
        if scorer is None and len(scores) > 1:
            raise fields.error(
                f"the scorers {', '.join(scores)} judged this sample; name the one that counts as "
                "`scorer`"
            )
        used = used or next(iter(scores))
        answer = _answer(fields, used, cluster)
        if answers.setdefault((answer.id, fields.find(int, "epoch") or 1), answer) is not answer:
            raise fields.error(f"sample {answer.id!r} appears twice; keep one")
    if used is None or not answers:
        raise RecordedError(f"{path}: holds no samples; run it without --no-log-samples")
    return answers, used


def _answer(fields: Fields, scorer: str, cluster: str | None) -> LoggedAnswer:
    """Return what a sample tells; letters in its target and its answer mean its choices."""
    scores = fields.object("scores")
    if scorer not in scores:
        raise fields.error(
            f"no scorer {scorer!r} judged this sample, found {', '.join(scores)}; name one of them"
        )
    score, name = fields.need(dict, "scores", scorer), fields.data.get("id")
    if not isinstance(name, str | int):
        raise fields.error(f"'id' is {name!r}, expected text or a number")
    value = score.get("value")
    if not is_share(value) and (
        isinstance(value, dict | list) or str(value) not in _RIGHT | _WRONG
    ):
        raise fields.error(
            f"{scorer!r} gave {reprlib.repr(value)}, expected C or I, or a number from 0 to 1; "
            "name a scorer with such scores"
        )
    target = fields.data.get("target")
    targets = [str(each) for each in (target if isinstance(target, list) else [target])]
    choices = tuple(str(each) for each in fields.find(list, "choices") or ())
    places = _places(targets, len(choices))
    answer = _places([str(score.get("answer"))], len(choices))
    said = sorted(choices[place] for place in places) if places else targets
    return LoggedAnswer(
        id=str(name),
        content=digest(sorted(choices), said),
        prompt=_prompt(fields),
        correct=str(value) in _RIGHT,
        score=value if is_share(value) else None,
        choices=choices,
        right=places,
        chosen=min(answer) if answer is not None and len(answer) == 1 else None,
        written=None if choices else _written(fields, score.get("answer"), targets),
        cluster=cluster_of(fields.data.get("metadata"), cluster, f"{fields.where}: metadata"),
    )


def _written(fields: Fields, answer: object, targets: list[str]) -> Written | None:
    """Return an answer without choices; None where the log does not tell it."""
    told = targets and fields.data.get("target") is not None and all(map(str.strip, targets))
    if not told or not isinstance(answer, str):
        return None
    asked = fields.data.get("input")
    messages = asked if isinstance(asked, list) else [{"content": asked}]
    texts = [each.get("content") for each in messages if isinstance(each, dict)]
    question = "\n".join(each for each in texts if isinstance(each, str))
    return Written(answer, tuple(dict.fromkeys(targets)), question)


def _places(names: list[str], choices: int) -> frozenset[int] | None:
    """Return the choices that letters such as "B" or "A, C" mean; None if they mean none."""
    parts = [part for name in names for part in name.replace(",", " ").split()]
    places = set()
    for part in parts:
        if len(part) == 1 and "A" <= part.upper() <= "Z":
            places.add(ord(part.upper()) - ord("A"))
        elif part.isascii() and part.isdecimal():
            places.add(_LETTERS - 1 + int(part))
        else:
            return None
    return frozenset(places) if places and max(places) < choices else None


def _prompt(fields: Fields) -> str:
    """Return a digest of what the model got before it first answered.

    Demonstrations may be messages in the model's role, but it did not generate them.
    """
    texts = []
    for message in fields.find(list, "messages") or []:
        if not isinstance(message, dict):
            raise fields.error(f"a message is {message!r}, expected an object")
        if message.get("source") == "generate":
            break
        texts.append((message.get("role"), message.get("content")))
    return digest(texts or fields.data.get("input"))
