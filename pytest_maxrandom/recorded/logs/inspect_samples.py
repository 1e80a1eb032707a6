"""Logs of Inspect, opened: a header, and samples that are read one by one, with their scores.

A ``.json`` log is one object. An ``.eval`` log is a ZIP archive of JSON files, compressed by
Zstandard since 2025, which Python knows from 3.14 on.
"""

from __future__ import annotations

import re
import reprlib
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.json_files import Fields, parse, read_json
from pytest_maxrandom.recorded.logs.runs import LoggedAnswer, cluster_of, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Samples: TypeAlias = "dict[tuple[str, int], LoggedAnswer]"
"""What was answered, by the sample's id and its epoch."""

_ZSTANDARD = 93
"""The number of the method in an archive."""

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)

_RIGHT = {"C", "1", "1.0", "True", "true", "yes"}
_WRONG = {"I", "N", "0", "0.0", "False", "false", "no"}
"""Values of scores; N stands for no answer."""

_LETTERS = 26
"""So many choices are called A, B, ...; the next ones are called 1, 2, ..."""


def open_log(path: Path) -> tuple[Fields, Iterable[Fields]]:
    """Return a log's header, and each of its samples once; the name's ending tells its kind.

    Raises
    ------
    RecordedError
        If it cannot be read.
    """
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
    names = [member.filename for member in members]
    finished = "header.json" in names
    beginning = "header.json" if finished else "_journal/start.json"
    if beginning not in names:
        raise RecordedError(
            f"{path}: not an Inspect log, because it has no header.json; copy it again"
        )
    zstandard = any(member.compress_type == _ZSTANDARD for member in members)
    [header] = _members(path, [beginning], zstandard=zstandard)
    if not finished:
        header.data["status"] = "started"
    wanted = [name for name in names if _SAMPLE.fullmatch(name)]
    return header, _members(path, wanted, zstandard=zstandard)


def _members(path: Path, names: list[str], *, zstandard: bool) -> Iterator[Fields]:
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


def read_samples(
    path: Path, samples: Iterable[Fields], scorer: str | None, cluster: str | None
) -> tuple[Samples, str]:
    """Return all samples of a log, and the scorer that judged them.

    Raises
    ------
    RecordedError
        If there is none, one stands there twice or failed, or its score is neither right nor
        wrong.
    """
    answers: Samples = {}
    used = scorer
    for fields in samples:
        scores = _scores(fields)
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


def _scores(fields: Fields) -> dict[str, Any]:
    failed, scores = fields.find(dict, "error"), fields.find(dict, "scores")
    if failed or not scores:
        reason = f"failed ({failed.get('message')})" if failed else "has no score"
        raise fields.error(
            f"sample {fields.data.get('id')!r} {reason}; finish the run with inspect eval-retry, "
            "or score it with inspect score"
        )
    return scores


def _answer(fields: Fields, scorer: str, cluster: str | None) -> LoggedAnswer:
    """Return what a sample tells: of its choices what letters mean, in its target and answer.

    Without choices these are an empty tuple.
    """
    scores = fields.object("scores")
    if scorer not in scores:
        raise fields.error(
            f"no scorer {scorer!r} judged this sample, found {', '.join(scores)}; name one of them"
        )
    score, name = fields.need(dict, "scores", scorer), fields.data.get("id")
    if not isinstance(name, str | int):
        raise fields.error(f"'id' is {name!r}, expected text or a number")
    value = score.get("value")
    if isinstance(value, dict | list) or str(value) not in _RIGHT | _WRONG:
        raise fields.error(
            f"{scorer!r} gave {reprlib.repr(value)}, expected C or I, or 1 or 0, because an answer "
            "must be right or wrong; name a scorer with such scores"
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
