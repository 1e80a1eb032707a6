"""Which tasks a name, a file or a folder stands for: a group and a tag stand for several.

The YAML file of a name is found without parsing all of them.
"""

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

from pytest_maxrandom.errors import Problem, SuiteError, described, did_you_mean, quoted
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.tasks.lm_eval.config import SAFE, Config, nested_too_deeply, read_config
from pytest_maxrandom.tasks.reading import Mistake, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.suite.tasks import LmEvalSpec
    from pytest_maxrandom.tasks.task import Where

_KEY = re.compile(rb"^(?:(task|group|tag|class|include)|'(\w+)'|\"(\w+)\")[ \t]*:", re.MULTILINE)
_NEXT = re.compile(rb"^[^\s#\-\]\}]", re.MULTILINE)
_WORD = re.compile(rb"""[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)'|([\w.+/-]+))[ \t]*(?:\#.*)?$""")
_OTHER_FOLDERS = {"__pycache__", ".ipynb_checkpoints"}
_OF_GROUPS = {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "include"}
"""Keys of a group that are no setting of its tasks."""


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
    return _of_installed() if folder == installed() else _read(folder)


@functools.cache
def _of_installed() -> Index:
    folder = installed()
    return Index() if folder is None else _read(folder)


def _read(folder: Path) -> Index:
    tasks: dict[str, Path] = {}
    groups: dict[str, Path] = {}
    tags: dict[str, set[str]] = {}
    known: dict[Path, dict[str, object]] = {}
    for path in sorted(folder.rglob("*.yaml"), key=Path.as_posix):
        if _OTHER_FOLDERS & set(path.parts):
            continue
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


def _head(path: Path, folder: Path, known: dict[Path, dict[str, object]]) -> dict[str, object]:
    """Return the keys of a file that say what it is; nothing of a file that cannot be read.

    No file outside of the folder is included, and none into itself: `known` has those included.
    """
    if refused(path, path.name):
        return {}
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    keys: dict[str, object] = {}
    for match in _KEY.finditer(data):
        key = next(filter(None, match.groups())).decode()
        keys[key] = _value(data, match.end())
    included = keys.pop("include", None)
    head: dict[str, object] = {}
    for name in included if isinstance(included, list) else [included] if included else []:
        file = Path(os.path.normpath(path.parent / str(name)))
        if file not in known:
            known[file] = {}
            if file.is_relative_to(folder) and file.is_file():
                known[file] = _head(file, folder, known)
        head |= known[file]
    return head | keys


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


@dataclass(frozen=True)
class Members:
    """The tasks that a path stands for."""

    tasks: Mapping[str, Config]
    """What the YAML says of each, by name."""
    several: bool
    """Whether it stands for a number of tasks, which may be 1."""


def members(spec: LmEvalSpec, base: Path, where: Where) -> Members:
    """Return the tasks that the `path` of a suite's task stands for.

    Raises
    ------
    SuiteError
        If there is none, or a file is wrong.
    """
    local = base / spec.path
    if local.exists() and (why := refused(local, spec.path)):
        raise SuiteError([Problem(*where("path"), why)])
    if local.is_dir():
        names = _Names(index(local), local)
        tasks = {name: names.config(name) for name in names.index.tasks}
        if not tasks:
            message = f"there is no YAML file with a task in {quoted(str(shown(local)), 200)}"
            raise SuiteError([Problem(*where("path"), message)])
        return Members(tasks, several=True)
    if local.is_file():
        root = base if local.resolve().is_relative_to(base.resolve()) else local.parent
        config = read_config(local, root)
        if "group" not in config.values or "class" in config.values:
            name = config.get("task", local.stem)
            if not isinstance(name, str):
                message = f"`task`: found {described(name)}, expected a name"
                raise SuiteError([config.problem("task", message)])
            return Members({name: config}, several=False)
        return Members(dict(_Names(index(local.parent), root).of_group(config)), several=True)
    folder = installed()
    if folder is None:
        message = (
            f"there is no file or folder {quoted(str(shown(local)), 200)}, and lm-eval, which has "
            "tasks by name, is not installed; install it with "
            '`pip install "pytest-maxrandom[lm_eval]"`'
        )
        raise SuiteError([Problem(*where("path"), message)])
    names = _Names(index(folder), folder)
    if spec.path not in names.index.names:
        message = (
            f"there is no file {quoted(str(shown(local)), 200)}, and no task, group or tag of this "
            f"name in the installed lm-eval{did_you_mean(spec.path, names.index.names)}"
        )
        raise SuiteError([Problem(*where("path"), message)])
    return Members(dict(names.named(spec.path)), several=spec.path not in names.index.tasks)


class _Names:
    """Finds tasks by name: in a folder, and else among those that are installed."""

    def __init__(self, index: Index, root: Path) -> None:
        self.index, self._root = index, root  # no included file may be outside of the root

    def config(self, name: str) -> Config:
        """Return what the file of a task says."""
        return read_config(self.index.tasks[name], self._root)

    def named(self, name: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Config]]:
        """Yield the tasks of a name that is known, each with its own name."""
        if name in self.index.tasks:
            yield name, self.config(name)
        elif name in self.index.groups:
            config = read_config(self.index.groups[name], self._root)
            if name in above:
                message = f"the group {quoted(name)} contains itself"
                raise SuiteError([config.problem("task", message)])
            yield from self.of_group(config, (*above, name))
        else:
            for each in self.index.tags[name]:
                yield each, self.config(each)

    def of_group(self, config: Config, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Config]]:
        """Yield the tasks of a group, with what it says of all of them."""
        try:
            yield from self._parts(config, str(config.get("group")), config.values, {}, above)
        except Mistake as mistake:
            raise SuiteError([config.problem("task", str(mistake))]) from None

    def _parts(
        self,
        config: Config,
        group: str,
        values: Mapping[str, Any],
        outer: Mapping[str, Any],
        above: tuple[str, ...],
    ) -> Iterator[tuple[str, Config]]:
        """Yield the parts of a group; what is said further outside wins over the group's own."""
        outside = {key: values[key] for key in values if key not in _OF_GROUPS} | dict(outer)
        parts = values.get("task")
        for part in parts if isinstance(parts, list) else [parts]:
            own = dict(part) if isinstance(part, dict) else {}
            key = "group" if "group" in own else "task"
            name = own.pop(key, None) if isinstance(part, dict) else part
            if not isinstance(name, str):
                raise Mistake(
                    f"`task` of the group {quoted(group)}: found {described(part)}, expected names "
                    "of tasks, or keys with a `task` or a `group`"
                )
            known = self._holding(name)
            if known is not None:
                for each, found in known.named(name, above):
                    yield each, found.changed(outside | own)
            elif key == "group":
                inner = {"group": name, **own}
                yield from self._parts(config, name, inner, outside, above)
            elif "dataset_path" in own:
                yield (
                    name,
                    Config(config.path, {**outside, **own, "task": name}, config.places),
                )
            else:
                names = self.index.names | _of_installed().names
                raise Mistake(
                    f"the group {quoted(group)} names {quoted(name)}, which is not a task, a group "
                    f"or a tag{did_you_mean(name, names)}"
                )

    def _holding(self, name: str) -> _Names | None:
        if name in self.index.names:
            return self
        folder = installed()
        if folder is not None and name in _of_installed().names:
            return _Names(_of_installed(), folder)
        return None
