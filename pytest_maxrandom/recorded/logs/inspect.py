"""Logs of Inspect, the evaluation framework of the UK AI Security Institute.

Answers are written, then parsed: one that cannot be parsed is wrong, so the chance of one guess
among the choices is an upper bound of what a guesser reaches. A ``.json`` log is one object. An
``.eval`` log is a ZIP archive of JSON files, compressed by Zstandard since 2025, which Python knows
from 3.14 on.
"""

from __future__ import annotations

import re
import reprlib
import sys
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.host.limits import too_large
from pytest_maxrandom.record import Remark
from pytest_maxrandom.recorded.files import Fields, parse, read_json
from pytest_maxrandom.recorded.logs.runs import (
    LoggedAnswer,
    LoggedRun,
    cluster_of,
    digest,
    gather,
    is_share,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.recorded.files import Object
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import InspectResults

Samples: TypeAlias = "dict[tuple[str, int], LoggedAnswer]"
"""What was answered, by the sample's id and its epoch: the epochs of a sample are several answers
to the same example."""

_ZSTANDARD = 93
"""The number of the method in an archive."""

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)

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
        header, samples = _open_log(file)
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
        answers=first,
        others=tuple(others),
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


def _open_log(path: Path) -> tuple[Fields, Iterable[Fields]]:
    """Return a log's header, and each of its samples once; the name's ending tells its kind."""
    if path.suffix == ".eval":
        return _open_archive(path)
    header = read_json(path)
    listed = enumerate(header.find(list, "samples") or ())
    return header, (_listed(f"{header.where}: samples[{place}]", each) for place, each in listed)


def _listed(where: str, sample: object) -> Fields:
    if not isinstance(sample, dict):
        raise RecordedError(f"{where}: expected an object; give the log as Inspect wrote it")
    return Fields(where, sample)


def _open_archive(path: Path) -> tuple[Fields, Iterable[Fields]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise RecordedError(
            f"{path}: not an archive ({error}); the run may still be going on, so wait for its "
            "end, or copy the log again"
        ) from error
    if why := too_large(sum(member.file_size for member in members)):
        raise RecordedError(f"{path}: {why}")
    names = [member.filename for member in members]
    headers = [name for name in ("header.json", "_journal/start.json") if name in names]
    if not headers:
        raise RecordedError(
            f"{path}: not an Inspect log, because it has no header.json; copy it again"
        )
    zstandard = any(member.compress_type == _ZSTANDARD for member in members)
    [header] = _members(path, headers[:1], zstandard=zstandard)
    if headers[0] != "header.json":
        header.data["status"] = "started"
    wanted = [name for name in names if _SAMPLE.fullmatch(name)]
    return header, _members(path, wanted, zstandard=zstandard)


def _members(path: Path, names: Sequence[str], *, zstandard: bool) -> Iterator[Fields]:
    library: Any = zipfile
    damage: tuple[type[Exception], ...] = (zlib.error, EOFError, ValueError, NotImplementedError)
    if zstandard and sys.version_info < (3, 14):
        try:
            from backports import zstd
            from backports.zstd import zipfile as library
        except ImportError as error:
            raise RecordedError(
                f"{path}: compressed with Zstandard, which this Python cannot read; install the "
                'extra with pip install "pytest-maxrandom[inspect]"'
            ) from error
        damage = (*damage, zstd.ZstdError)
    with library.ZipFile(path) as archive:
        for name in names:
            where = f"{path}: {name}"
            try:
                content = archive.read(name)
            except (*damage, library.BadZipFile) as error:
                raise RecordedError(f"{where}: damaged: {error}; copy the log again") from error
            yield parse(content, where)


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
        cluster=cluster_of(fields.data.get("metadata"), cluster, f"{fields.where}: metadata"),
    )


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
