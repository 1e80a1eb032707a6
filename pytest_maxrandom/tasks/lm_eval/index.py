"""Which YAML file holds the task, the group or the tag of a name, without parsing them all."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY = re.compile(rb"^(?:(task|group|tag|class|include)|'(\w+)'|\"(\w+)\")[ \t]*:", re.MULTILINE)
_NEXT = re.compile(rb"^[^\s#\-\]\}]", re.MULTILINE)
_WORD = re.compile(rb"""[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)'|([\w.+/-]+))[ \t]*(?:\#.*)?$""")
SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_LEVELS = 500
_OTHER_FOLDERS = {"__pycache__", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Index:
    """Names of a folder's tasks, as lm-evaluation-harness finds them."""

    tasks: Mapping[str, Path] = field(default_factory=dict)
    groups: Mapping[str, Path] = field(default_factory=dict)
    """The file of each name; of several files with one name the first in alphabetical order."""
    tags: Mapping[str, list[str]] = field(default_factory=dict)
    """The tasks that bear each tag, in alphabetical order."""

    @cached_property
    def names(self) -> dict[str, None]:
        """All of them."""
        return dict.fromkeys((*self.tasks, *self.groups, *self.tags))


@functools.cache
def installed() -> Path | None:
    """Return the folder of the tasks of the installed lm-eval, which is not imported."""
    found = importlib.util.find_spec("lm_eval")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "tasks"
    return folder if folder.is_dir() else None


def index(folder: Path) -> Index:
    """Return the names of all tasks in a folder and the folders below."""
    return _of_installed(folder) if folder == installed() else _read(folder)


@functools.cache
def _of_installed(folder: Path) -> Index:
    return _read(folder)


def _read(folder: Path) -> Index:
    tasks: dict[str, Path] = {}
    groups: dict[str, Path] = {}
    tags: dict[str, set[str]] = {}
    known: dict[Path, dict[str, object]] = {}
    for path in _files(folder):
        head = _head(path, folder, known)
        if isinstance(head.get("group"), str) and "class" not in head:
            groups.setdefault(head["group"], path)  # type: ignore[arg-type]
        elif isinstance(name := head.get("task"), str) and tasks.setdefault(name, path) is path:
            said = head.get("tag")
            for tag in said if isinstance(said, list) else [said] if said else []:
                tags.setdefault(str(tag), set()).add(name)
    # One name stands for one thing: what is found first as a task or group is no tag as well.
    taken = {*tasks, *groups}
    of_tags = {tag: sorted(names) for tag, names in tags.items() if tag not in taken}
    return Index(tasks, {name: groups[name] for name in groups if name not in tasks}, of_tags)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.yaml"), key=Path.as_posix):
        if not _OTHER_FOLDERS & set(path.parts):
            yield path


def _head(path: Path, folder: Path, known: dict[Path, dict[str, object]]) -> dict[str, object]:
    """Return the keys of a file that say what it is; nothing of a file that cannot be read.

    Parameters
    ----------
    folder : Path
        No included file outside of it is read.
    known : dict
        What was included already; what includes itself adds nothing to itself.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    found: dict[str, object] = {}
    for match in _KEY.finditer(data):
        key = next(filter(None, match.groups())).decode()
        found[key] = _value(data, match.end())
    included = found.pop("include", None)
    head: dict[str, object] = {}
    for name in included if isinstance(included, list) else [included] if included else []:
        file = Path(os.path.normpath(path.parent / str(name)))
        if file not in known:
            known[file] = {}
            if file.is_relative_to(folder) and file.is_file():
                known[file] = _head(file, folder, known)
        head |= known[file]
    return head | found


def nested_too_deeply(data: bytes) -> bool:
    """Tell whether a YAML text has so many levels that libyaml's composer would crash."""
    if sum(map(data.count, (b"[", b"{", b"- ", b"? "))) < _MOST_LEVELS:
        return False
    level = 0
    for event in yaml.parse(data, SAFE):
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > _MOST_LEVELS:
            return True
    return False


def _value(data: bytes, start: int) -> object:
    end = data.find(b"\n", start)
    line = data[start:] if end < 0 else data[start:end]
    if word := _WORD.fullmatch(line.rstrip()):
        text = next((group for group in word.groups() if group is not None), b"")
        return text.decode("utf-8", "replace")
    following = _NEXT.search(data, end + 1) if end >= 0 else None
    part = data[start : following.start() if following else len(data)]
    try:
        return None if nested_too_deeply(part) else yaml.load(part, SAFE)
    except (yaml.YAMLError, ValueError):
        return None
