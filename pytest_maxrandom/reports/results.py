"""The JSON report: a run's records, unrounded, to be read by programs.

``results.schema.json`` next to this module describes the file, which is read from a folder or from
a commit of a git repository. Of a report that anybody may have written, such as the artifact of a
fork's pull request, the numbers and names are taken, where they can be those of a run. Its
sentences are not: whatever they say would be said in this project's voice.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import ValidationError

from pytest_maxrandom.errors import GitError, ReportError, dotted, json_mistake, unique_keys
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.notation import BASELINES, P_VALUES
from pytest_maxrandom.record import (
    LISTS,
    SCHEMA_VERSION,
    SCORE,
    Record,
    RedFlag,
    Regressions,
    RunRecord,
    adapter_of,
    plain,
)
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.reports.text import rewritten, shorten, visible
from pytest_maxrandom.reports.wording import word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Record = TypeVar("_Record", bound=Record)

KEYS = {"asserted": "assert"}
"""Attributes of a record whose key in the report is a keyword of Python."""


def dump(run: RunRecord) -> str:
    """Write a run as JSON.

    Keys stand in the order of the records' attributes; what was not computed, and a number that
    JSON cannot express, is null. The text is ASCII, so that it survives any encoding.
    """
    content = {"schema_version": run.schema_version, **plain(run)}
    content |= {name: [_renamed(each, KEYS) for each in content[name]] for name in LISTS}
    return json.dumps(_finite(content), indent=1, allow_nan=False) + "\n"


def load(path: Path) -> RunRecord:
    """Read the file of a JSON report.

    Raises
    ------
    ReportError
        If the file cannot be read, or as `parse` does.
    """
    try:
        return parse(path.read_bytes(), path)
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error


def parse(data: bytes, path: Path | str) -> RunRecord:
    """Read a JSON report, which messages name by its path.

    Keys that this version does not know are passed over.

    Raises
    ------
    ReportError
        If it is no JSON, was written by a newer schema, or does not hold what a report holds.
    """
    content = _read(data, path)
    version = content.get("schema_version") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("claims"), list):
        raise ReportError(
            f"{path}: not a report of pytest-maxrandom, because 'schema_version' or 'claims' is "
            "missing; give a file that --maxrandom-json wrote"
        )
    if version > SCHEMA_VERSION:
        raise ReportError(
            f"{path}: schema version {version} is newer than {SCHEMA_VERSION}, the newest known "
            "here; upgrade pytest-maxrandom"
        )
    attributes = {key: attribute for attribute, key in KEYS.items()}
    lists = {
        name: [_renamed(each, attributes) if isinstance(each, dict) else each for each in found]
        for name in LISTS
        if isinstance(found := content.get(name), list)
    }
    try:
        run: RunRecord = adapter_of(RunRecord).validate_python(content | lists)
    except ValidationError as error:
        raise ReportError(f"{path}: {_first(error)}") from error
    for name in LISTS:
        for record in getattr(run, name):
            word(record)
    return run


def _read(data: bytes, path: Path | str) -> Any:
    try:
        text = data.decode("utf-8")
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=unique_keys)
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not UTF-8 text, so not a JSON report") from error
    except json.JSONDecodeError as error:
        line, problem = json_mistake(error)
        raise ReportError(
            f"{path}:{line}: {problem}; expected a file that pytest --maxrandom-json wrote"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: not JSON: {error}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _renamed(record: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in record.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = dotted(KEYS.get(str(part), part) for part in first["loc"])
    if first["type"] == "missing":
        return f"'{where}' is missing; give a file that --maxrandom-json wrote"
    return f"'{where}': found {first['input']!r}, but {first['msg'][:1].lower()}{first['msg'][1:]}"


def find(named: str, like: Path | None = None, folder: Path | None = None) -> RunRecord:
    """Read a report that a person names.

    Parameters
    ----------
    named : str
        A file; ``REVISION:PATH``, as git has it, the path from the root of the repository on; or a
        revision alone: then the path is that of `like`.
    like : Path, optional
        A report that is kept in the repository; it need not exist in the work tree.
    folder : Path, optional
        What relative paths are relative to, and whose repository is asked; the current folder if
        not given.

    Raises
    ------
    ReportError
        In one sentence, if there is none, or it cannot be read.
    """
    folder = Path.cwd() if folder is None else folder
    path = folder / named
    if path.is_file():
        return load(path)
    missing = "is a folder" if path.is_dir() else "no such file"
    if not is_checkout(folder):
        raise ReportError(
            f"{named}: {missing}, and this folder is in no git repository that could have a "
            "revision of this name; expected a file written by pytest --maxrandom-json"
        )
    revision, _, below = named.partition(":")
    if not below and path.suffix == ".json":
        # Whoever mistypes a file is not helped by git's words about a branch of this name.
        raise ReportError(
            f"{named}: no such file in {path.parent}; expected a file written by pytest "
            "--maxrandom-json, or one that is committed, as REVISION:PATH"
        )
    try:
        tree = repository(folder)
        commit = tree.commit(revision)
        if not below:
            if like is None:
                raise ReportError(
                    f"{named}: found a git revision without the path of a report; expected a file "
                    f"written by pytest --maxrandom-json, or {named}:PATH, the path from the root "
                    "of the repository"
                )
            below = _from_root(tree.root, folder, like)
        known = tree.files_at(commit)
        if below not in known:
            raise GitError(f"at the commit {commit[:10]} there is no file {below}")
        data = tree.contents([known[below]])[known[below]]
    except GitError as error:
        raise ReportError(
            f"{named}: {missing}, and no report at a git revision of this name ({error}); "
            "expected a file written by pytest --maxrandom-json, a revision that has the other "
            "report, or REVISION:PATH"
        ) from error
    return parse(data, f"{revision}:{below}")


def path_of(named: str, folder: Path | None = None) -> Path | None:
    """Return the path of a report that is named as a file, or as REVISION:PATH; else None."""
    folder = Path.cwd() if folder is None else folder
    if (folder / named).is_file():
        return folder / named
    _, _, below = named.partition(":")
    try:
        return repository(folder).root / below if below else None
    except GitError:
        return None


def _from_root(root: Path, folder: Path, like: Path) -> str:
    try:
        inside = (folder / like).resolve().relative_to(root.resolve())
    except ValueError:
        raise GitError(f"{like} is outside {root}") from None
    return PurePosixPath(inside).as_posix()


MOST_BYTES = 64 * 2**20
_LONGEST_ID, _LONGEST_LABEL = 300, 60
_ELSEWHERE = "the full report says what"
_LEVELS = (*P_VALUES, "test_p", "in_replicates", "above_random", "level")
_MARGINS = ("not_worse_than", "better", "by", "beats")
_CHOSEN = {
    "beats": tuple(BASELINES),
    "better_than": ("incumbent",),
    "family": ("suite",),
    "looks": ("spend",),
}


def load_untrusted(path: Path) -> RunRecord:
    """Read a report, and leave out its sentences.

    Raises
    ------
    ReportError
        If the file is no plain file, is longer than 64 MiB, is no report, or holds a number that
        no run can have.
    """
    try:
        size = path.lstat().st_size
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    if path.is_symlink() or not path.is_file():
        raise ReportError(f"{path}: not a plain file, and --untrusted reads nothing else")
    if size > MOST_BYTES:
        raise ReportError(f"{path}: {size:,} bytes, more than {MOST_BYTES:,}")
    try:
        run = load(path)
    except ReportError as error:  # it quotes what it found, however long
        raise ReportError(shorten(visible(str(error)), 400)) from error
    for place, claim in enumerate(run.claims):
        if claim.metric not in METRICS and claim.metric != SCORE:
            found = shorten(visible(repr(claim.metric)), 80)
            raise ReportError(
                f"{path}: 'claims[{place}].metric': found {found}, which no run writes"
            )
    lists: dict[str, Any] = {
        name: list(map(_without_sentences, getattr(run, name))) for name in LISTS
    }
    lists["broken"] = [_ELSEWHERE for _ in run.broken]
    lists["reservations"] = [
        replace(
            each,
            id=shorten(each.id, _LONGEST_ID),
            now=_bounds(each.now),
            before=_bounds(each.before),
        )
        for each in run.reservations
    ]
    lost = None if run.regressions is None else _plain_losses(run.regressions)
    return replace(run, **lists, regressions=lost, versions={}, created="")


def _plain_losses(losses: Regressions) -> Regressions | None:
    """Return what got worse, without what a person calls the base; None of what no run asserts."""
    if not (-1 <= losses.margin <= 0 < losses.alpha <= 1):
        return None
    claims, tasks = (
        [
            replace(each, id=shorten(each.id, _LONGEST_ID), look=max(1, each.look))
            for each in several
        ]
        for several in (losses.claims, losses.tasks)
    )
    problem = losses.problem and _ELSEWHERE
    return replace(losses, claims=claims, tasks=tasks, since="the base", problem=problem)


def _without_sentences(record: _Record) -> _Record:
    changed = {
        name: write(getattr(record, name)) for name, write in _LEFT.items() if hasattr(record, name)
    }
    return replace(record, **changed)


def _bounds(asserted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a suite can assert."""
    return {
        key: value
        for key, value in asserted.items()
        if value in _CHOSEN.get(key, ())
        or (key in _LEVELS and isinstance(value, float) and 0 < value <= 1)
        or (key in _MARGINS and isinstance(value, float) and -1 <= value <= 1)
    }


def _kinds(flags: list[RedFlag]) -> list[RedFlag]:
    known = dict.fromkeys((flag.kind, flag.severity) for flag in flags)
    return [RedFlag(kind, severity, _ELSEWHERE) for kind, severity in known]


_LEFT: dict[str, Callable[[Any], Any]] = {
    # Telling records apart by the ends of their paths would take very long for long ones.
    "id": lambda name: shorten(name, _LONGEST_ID),
    "message": lambda sentence: sentence and _ELSEWHERE,
    "sentence": lambda sentence: sentence and _ELSEWHERE,
    "xfail": lambda reason: None if reason is None else "",
    "changed": lambda _: "",
    "notes": lambda _: [],
    "warnings": lambda _: [],
    "shortcuts": lambda _: None,
    "incumbent": lambda found: found and replace(found, name="the incumbent", model="", digest=""),
    "control": lambda found: found and replace(found, name="the control", model="", digest=""),
    "baseline": lambda found: found and replace(found, name="the baseline", model="", digest=""),
    "judge": lambda _: None,
    "engine": lambda _: None,
    "answers": lambda _: None,
    "asserted": _bounds,
    "levels": _bounds,
    "red_flags": _kinds,
    "interactions": lambda asked: rewritten(asked, lambda text: shorten(text, _LONGEST_LABEL)),
}
"""What is left of the names and sentences of records, by their attributes."""
