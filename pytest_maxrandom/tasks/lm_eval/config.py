"""A task's YAML, with what it includes, read as data: no function that it names is imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.errors import Problem, described, did_you_mean, quoted
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.tasks.reading import Mistake, file_findings, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_LEVELS = 500


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Python that a task names by ``!function module.name``, not imported."""

    name: str
    folder: Path
    """Where its module is looked for: that of the YAML file that names it."""


@dataclass(frozen=True)
class Config:
    """What a YAML file says, with all that it includes."""

    path: Path
    values: Mapping[str, Any]
    """By key; ``include`` is resolved."""
    places: Mapping[str, tuple[Path, int]] = field(default_factory=dict)
    """File and line, from 1, of each key."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value; for a key without one, the default."""
        value = self.values.get(key)
        return default if value is None else value

    def changed(self, values: Mapping[str, Any]) -> Config:
        """Return the same with other values of some keys, such as those of a group."""
        return Config(self.path, {**self.values, **values}, self.places)

    def problem(self, key: str, message: str) -> Problem:
        """Return a mistake in a key."""
        path, line = self.places.get(key, (self.path, None))
        return Problem(shown(path), line, message)

    def functions(self) -> dict[str, str]:
        """Return which keys hold functions of Python, and their names; `class` is one."""
        names = {}
        for key, value in self.values.items():
            if named := next(functions_of(value), None):
                names[key] = named.name
        if "class" in self.values and "class" not in names:
            names["class"] = str(self.values["class"])
        return names


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


def functions_of(value: Any, seen: list[Any] | None = None) -> Iterator[Function]:
    """Yield the functions of Python in a value, however deep."""
    seen = [] if seen is None else seen
    if isinstance(value, Function):
        yield value
    elif isinstance(value, dict | list) and not any(value is each for each in seen):
        seen.append(value)  # aliases may be shared
        for each in value.values() if isinstance(value, dict) else value:
            yield from functions_of(each, seen)


def read_config(path: Path, root: Path) -> Config:
    """Read a YAML file and what it includes; later files win, and the file itself over all.

    No included file may be outside of the folder `root`.

    Raises
    ------
    SuiteError
        In the file that is wrong, with its line: no YAML, no keys, an unknown tag, an include that
        is missing, leaves the folder, or includes itself.
    """
    return _read(path.resolve(), root.resolve(), ())


def _read(path: Path, root: Path, above: tuple[Path, ...]) -> Config:
    findings = file_findings(shown(path))
    values, lines = findings.require(_parsed, path)
    places = {key: (path, line) for key, line in lines.items()}
    included = values.pop("include", None)
    merged: dict[str, Any] = {}
    of_merged: dict[str, tuple[Path, int]] = {}
    line = lines.get("include")
    for name in [] if included is None else included if isinstance(included, list) else [included]:
        if not isinstance(name, str):
            raise findings.error(f"`include`: found {described(name)}, expected a file", line)
        file = (path.parent / name).resolve()
        if wrong := _no_include(name, file, root, (*above, path)):
            raise findings.error(f"`include`: {wrong}", line)
        other = _read(file, root, (*above, path))
        merged |= {key: value for key, value in other.values.items() if key != "task_list"}
        of_merged |= other.places
    return Config(path, merged | values, of_merged | places)


def _no_include(name: str, file: Path, root: Path, above: Sequence[Path]) -> str:
    """Say why a file cannot be included; nothing if it can."""
    if not file.is_relative_to(root):
        return (
            f"{quoted(name)} is outside the tasks' folder {quoted(str(shown(root)), 200)}; copy "
            "the file into that folder"
        )
    if file in above:
        return f"{quoted(name)} includes itself{_through(above[above.index(file) + 1 :])}"
    if not file.is_file():
        names = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
        return f"there is no file {quoted(str(shown(file)), 200)}{did_you_mean(file.name, names)}"
    return ""


def _through(files: Sequence[Path]) -> str:
    return f", through {', '.join(file.name for file in files)}" if files else ""


def _parsed(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the keys of one file with their values, and their lines."""
    folder = path.parent

    class Loader(SAFE):  # type: ignore[misc]
        pass

    def function(loader: Any, node: Any) -> Function:
        return Function(loader.construct_scalar(node), folder)

    Loader.add_constructor("!function", function)
    if why := refused(path, str(shown(path))):
        raise Mistake(why)
    try:
        data = path.read_bytes()
        if nested_too_deeply(data):
            raise Mistake("cannot be read as YAML, because it is nested too deeply")
        loader = Loader(data)
        try:
            node = loader.get_single_node()
            value = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except OSError as error:
        raise Mistake(f"cannot read the file: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(filter(None, (error.context, error.problem)))
        raise Mistake(
            f"not valid YAML: {_plain(said)}", None if mark is None else mark.line + 1
        ) from None
    except (yaml.YAMLError, ValueError) as error:  # no text; or a date that no calendar has
        raise Mistake(f"not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise Mistake(
            f"found {described(value)}, expected the keys of a task of lm-evaluation-harness, such "
            "as `task` and `dataset_path`"
        )
    lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
    return {str(key): each for key, each in value.items()}, lines


def _plain(reason: str) -> str:
    if "could not determine a constructor" in reason:
        tag = reason.partition("tag ")[2]
        return (
            f"the tag {tag} is unknown; lm-evaluation-harness knows the tag `!function` and the "
            "key `include`"
        )
    return reason
