"""Which tasks a name, a file or a folder stands for: a group and a tag stand for several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, SuiteError, described, did_you_mean, quoted
from pytest_maxrandom.tasks.lm_eval.config import Config, read_config
from pytest_maxrandom.tasks.lm_eval.index import Index, index, installed
from pytest_maxrandom.tasks.reading import Mistake, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_maxrandom.suite.tasks import LmEvalSpec
    from pytest_maxrandom.tasks.task import Where

_OF_GROUPS = {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "include"}
"""Keys of a group that are no setting of its tasks."""


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
    if local.is_dir():
        found = _Names(index(local), local)
        tasks = {name: found.config(name) for name in found.index.tasks}
        if not tasks:
            message = f"there is no YAML file with a task in {quoted(str(shown(local)), 200)}"
            raise SuiteError([Problem(*where("path"), message)])
        return Members(tasks, several=True)
    if local.is_file():
        root = base if local.resolve().is_relative_to(base.resolve()) else local.parent
        config = read_config(local, root)
        if not _is_group(config):
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
    found = _Names(index(folder), folder)
    if spec.path not in found.index.names:
        message = (
            f"there is no file {quoted(str(shown(local)), 200)}, and no task, group or tag of this "
            f"name in the installed lm-eval{did_you_mean(spec.path, found.index.names)}"
        )
        raise SuiteError([Problem(*where("path"), message)])
    return Members(dict(found.named(spec.path)), several=spec.path not in found.index.tasks)


def _is_group(config: Config) -> bool:
    return "group" in config.values and "class" not in config.values


class _Names:
    """Finds tasks by name: in a folder, and else among those that are installed.

    Parameters
    ----------
    index : Index
    root : Path
        The folder that no included file may be outside of.
    """

    def __init__(self, index: Index, root: Path) -> None:
        self.index, self._root = index, root

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
        said = {key: values[key] for key in values if key not in _OF_GROUPS} | dict(outer)
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
                    yield each, found.changed(said | own)
            elif key == "group":
                inner = {"group": name, **own}
                yield from self._parts(config, name, inner, said, above)
            elif "dataset_path" in own:
                yield name, Config(config.path, {**said, **own, "task": name}, config.places)
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


def _of_installed() -> Index:
    folder = installed()
    return Index() if folder is None else index(folder)
