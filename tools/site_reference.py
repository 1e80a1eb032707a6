"""What the documentation site says of keys, commands, options and records, made from the code.

`docs/conf.py` puts each text where a page has `<!-- generated: NAME -->`, so that nothing of it
is written, or committed, by hand. All texts are Markdown as MyST reads it.
"""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any, cast

from pytest_maxrandom.cli import _parser
from pytest_maxrandom.flags import KINDS, TOPICS
from pytest_maxrandom.hooks.options import add_options
from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.reports import schema as reports
from pytest_maxrandom.reports.reasons import REASONS
from pytest_maxrandom.reports.red_flags import sentence
from pytest_maxrandom.suite.schema import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pytest

    Node = Mapping[str, Any]

_PLURALS = {"a text": "texts", "a number": "numbers", "a whole number": "whole numbers"}
_BASES = {
    "TaskSpec": "format",
    "ModelSpec": "backend",
    "ResultsSpec": "format",
    "ArmSpec": "backend",
}
"""Parts whose keys others share: they are stated once. What tells the others apart."""


def suite_keys() -> str:
    """Every part of a suite with its keys: type, default and meaning."""
    made = schema()
    titles = {"SuiteSpec": "A suite", "RecordedSuiteSpec": "A suite of recorded results"}
    return _Parts(made["$defs"], titles, "suite").text()


def report_keys() -> str:
    """Every part of the JSON report with its keys."""
    made = reports.schema()
    return _Parts({**made["$defs"], "": made}, {"": "The report"}, "report").text()


def tasks_keys() -> str:
    """Every part of what `maxrandom tasks --format json` writes."""
    made = reports.tasks_schema()
    return _Parts({**made["$defs"], "": made}, {"": "What is printed"}, "tasks").text()


def red_flags() -> str:
    """A table of all kinds of red flags, each with a link to its page."""
    rows = [
        f"| [`{kind}`](../how-to/red-flags/{kind}.md) | {escaped(each.description)} | "
        f"{'fails' if each.default == 'fail' else 'warns'} |"
        for kind, each in KINDS.items()
    ]
    return "\n".join(["| kind | what is found | by default |", "| --- | --- | --- |", *rows])


def reasons() -> str:
    """A table of the kinds of reasons why a result changed."""
    rows = [
        f"| {kind} | {escaped(reason.means)} | `{reason.example}` |"
        for kind, reason in REASONS.items()
    ]
    return "\n".join(["| reason | what is different | example |", "| --- | --- | --- |", *rows])


def red_flags_by_topic() -> str:
    """The same as lists, one for each thing that red flags show, for the page beside theirs."""
    return "\n\n".join(
        f"**{heading}.**\n\n"
        + "\n".join(
            f"- [`{kind}`]({kind}.md): {escaped(each.description)}"
            for kind, each in KINDS.items()
            if each.topic == topic
        )
        for topic, heading in TOPICS.items()
    )


def flag(kind: str, parameters: str) -> str:
    """Quote what a report says of a red flag with these parameters.

    Raises
    ------
    ValueError
        If they are not those of its sentence.
    """
    found = RedFlag(kind, KINDS[kind].default, parameters=json.loads(parameters))
    if not (said := sentence(found)):
        raise ValueError(f"{kind} cannot be worded with {parameters}")
    return f"> {escaped(said)}"


def options() -> str:
    """The options that the plugin adds to pytest, and the keys of its configuration file."""
    made = argparse.ArgumentParser(add_help=False)
    keys: list[str] = []

    class Group:
        addoption = staticmethod(made.add_argument)

    class Options:
        @staticmethod
        def getgroup(*_: str) -> type[Group]:
            return Group

        @staticmethod
        def addini(name: str, help: str, **_: object) -> None:  # noqa: A002
            keys.append(f"`{name}` (in the configuration file)\n: {escaped(help)}\n")

    add_options(cast("pytest.Parser", Options))
    lines = [line for action in made._actions for line in _argument(action)]
    return "\n".join([*lines, *keys])


def commands() -> str:
    """Every command with its arguments and options, from what `--help` says."""
    return "\n".join(_commands(_parser(""), level=2))


TEXTS: Mapping[str, Callable[[], str]] = {
    "suite-keys": suite_keys,
    "report-keys": report_keys,
    "tasks-keys": tasks_keys,
    "red-flags": red_flags,
    "reasons": reasons,
    "red-flags-by-topic": red_flags_by_topic,
    "options": options,
    "commands": commands,
}


def filled(page: str) -> str:
    """Put each generated text into a page, where the page names it.

    Raises
    ------
    KeyError
        If there is no text of that name.
    """
    page = re.sub(r"<!-- flag: (\w+) (\{.*\}) -->", lambda found: flag(found[1], found[2]), page)
    return re.sub(r"<!-- generated: ([a-z-]+) -->", lambda found: TEXTS[found[1]](), page)


def escaped(text: str) -> str:
    """Write plain text, in which only backticks mean anything, as Markdown."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    parts[::2] = [re.sub(r"([\\*_<>$\[\]#{}|])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


class _Parts:
    """The definitions of a schema, in the order in which a reader meets them."""

    def __init__(self, parts: Mapping[str, Node], titles: Mapping[str, str], prefix: str) -> None:
        self._parts = parts
        self._titles = dict(titles)
        self._prefix = prefix
        parents: dict[str, str] = {}
        waiting = list(titles)
        while waiting:
            name = waiting.pop(0)
            for key, node in parts[name].get("properties", {}).items():
                found = list(_references(node))
                base = self._base(found)
                for other in ([base] if base else []) + found:
                    if other not in self._titles:
                        self._titles[other] = self._title(key, other, base)
                        parents[other] = name
                        waiting.append(other)
        short = dict(self._titles)
        for name, parent in parents.items():
            if [*short.values()].count(short[name]) > 1:
                whole = short[parent]
                self._titles[name] += f" of {whole[0].lower()}{whole[1:]}"

    def _base(self, names: list[str]) -> str | None:
        """The definition that has what several alternatives share."""
        return next(
            (
                base
                for base in _BASES
                if base in self._parts and any(self._is_kind_of(name, base) for name in names)
            ),
            None,
        )

    def _is_kind_of(self, name: str, base: str) -> bool:
        keys = self._parts[base]["properties"].keys()
        key = _BASES[base]
        mine = self._parts[name].get("properties", {})
        return name != base and keys <= mine.keys() and "const" in mine.get(key, {})

    def _title(self, key: str, name: str, base: str | None) -> str:
        if base is None:
            return f"`{key}`"
        if name == base:
            return f"`{key}`: keys of all of them"
        told = _BASES[base]
        return f"`{key}` with `{told}: {self._parts[name]['properties'][told]['const']}`"

    def text(self) -> str:
        """Write a section for each definition."""
        return "\n".join(line for name in self._titles for line in self._section(name))

    def _section(self, name: str) -> Iterator[str]:
        part = self._parts[name]
        yield f"({self._target(name)})="
        yield f"## {self._titles[name]}\n"
        if described := part.get("description"):
            first, _, rest = described.partition("\n\n")
            yield f"{escaped(first)}\n"
            if rest:
                yield f"{escaped(rest)}\n"
        keys = part.get("properties", {})
        base = self._base([name])
        if base:
            shared = self._parts[base]["properties"]
            keys = {key: node for key, node in keys.items() if node != shared.get(key)}
            link = f"[{self._titles[base]}](#{self._target(base)})"
            yield f"All keys of {link} may stand here, and:\n"
        for key, node in keys.items():
            yield from self._key(key, node, required=key in part.get("required", ()))

    def _key(self, key: str, node: Node, *, required: bool) -> Iterator[str]:
        facts = [self._kind(node)]
        default = node.get("default")
        if required and "default" not in node and self._is_input:
            facts.append("**required**")
        elif default not in (None, [], {}) and "$ref" not in node:
            facts.append(f"default `{json.dumps(default, ensure_ascii=False)}`")
        yield f"`{key}`"
        yield f": {'; '.join(facts)}\n"
        if described := node.get("description"):
            yield f"  {escaped(described)}\n"

    def _target(self, name: str) -> str:
        return f"{self._prefix}-{name.lower() or 'whole'}"

    @property
    def _is_input(self) -> bool:
        return "" not in self._parts

    def _told_apart(self, nodes: list[Node]) -> str:
        """Name alternatives by the key that tells them apart; empty where there is none."""
        names = [node["$ref"].rsplit("/", 1)[-1] for node in nodes if "$ref" in node]
        base = self._base(names)
        if base is None:
            return ""
        key = _BASES[base]
        links = [
            f"[`{self._parts[name]['properties'][key]['const']}`](#{self._target(name)})"
            for name in names
        ]
        return f"keys with `{key}:` {', '.join(links)}, or one of a package"

    def _kind(self, node: Node) -> str:
        """What may stand there, in words."""
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            return f"[keys]({'#' + self._target(name)})" if name in self._titles else "keys"
        if "anyOf" in node:
            if told := self._told_apart(node["anyOf"]):
                return told
            kinds = [self._kind(each) for each in node["anyOf"] if each.get("type") != "null"]
            kinds += ["null"] if not self._is_input and len(kinds) < len(node["anyOf"]) else []
            return " or ".join(dict.fromkeys(filter(None, kinds)))
        if "const" in node:
            return f"`{node['const']}`"
        if "enum" in node:
            return " or ".join(f"`{each}`" for each in node["enum"])
        match node.get("type"):
            case "array":
                inner = self._kind(node.get("items") or {})
                return f"a list of {_PLURALS.get(inner, inner)}"
            case "object":
                value = node.get("additionalProperties")
                if isinstance(value, dict):
                    inner = self._kind(value)
                    return f"names with {_PLURALS.get(inner, inner)}"
                return "keys, which the backend or format names" if self._is_input else "keys"
            case "integer" | "number" as kind:
                return f"a {'whole ' if kind == 'integer' else ''}number{_bounds(node)}"
            case "string":
                return "a text"
            case "boolean":
                return "`true` or `false`"
        return "anything"


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rsplit("/", 1)[-1]
        for each in node.values():
            yield from _references(each)
    elif isinstance(node, list):
        for each in node:
            yield from _references(each)


def _bounds(node: Node) -> str:
    words = {
        "minimum": "of at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    # Bounds that only keep numbers within what a computer holds tell nobody anything.
    said = [f"{word} {node[key]}" for key, word in words.items() if abs(node.get(key, 1e12)) < 1e9]
    return f" {' and '.join(said)}" if said else ""


def _commands(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    helps: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            for name, command in action.choices.items():
                yield from _command(command, helps.get(name, ""), level)


def _command(parser: argparse.ArgumentParser, help_text: str, level: int) -> Iterator[str]:
    yield f"({parser.prog.replace(' ', '-')})="
    yield f"{'#' * level} `{parser.prog}`\n"
    if said := parser.description or help_text:
        yield f"{escaped(said[0].upper() + said[1:]).rstrip('.')}.\n"
    yield f"```text\n{parser.format_usage().strip()}\n```\n"
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            yield from _argument(action)
    if parser.epilog:
        said, _, example = parser.epilog.partition("example: ")
        yield f"```console\n$ {example}\n```\n" if example else f"{escaped(said)}\n"
    yield from _commands(parser, level + 1)


def _argument(action: argparse.Action) -> Iterator[str]:
    if action.help == argparse.SUPPRESS:
        return
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    value = " ".join(value) if isinstance(value, tuple) else value
    takes = "" if action.nargs == 0 else f" {value}"
    names = [f"`{name}{takes}`" for name in action.option_strings] or [f"`{value}`"]
    yield ", ".join(names)
    said = (action.help or "") % {**vars(action), "prog": "maxrandom"}
    yield f": {escaped(said)}\n"
