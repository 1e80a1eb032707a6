"""YAML, read safely, with the line of every key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.errors import Problem, SuiteError, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.suite.base import Location

_MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"
_INTEGER = "tag:yaml.org,2002:int"
_FUNCTION = "!function"
_OWN = "x-"
"""How top-level keys begin that say nothing to the plugin, such as those that hold anchors."""
_IN_WORDS = {
    r"'\\t' that cannot start": "a tab is here, where YAML accepts spaces only; indent with spaces",
    r"expected <block end>, but found '(?:<block|-|\?)": (
        "this line is indented like none of the lines above it; start keys and entries that belong "
        "together in the same column"
    ),
    "mapping values are not allowed here: .*:": (
        "a colon is not allowed here; put the text in quotes, or start the key on a new line"
    ),
    "mapping values are not allowed here": (
        "this line is indented deeper than the one above it, which has a value already; start keys "
        "that belong together in the same column"
    ),
    r"expected ',' or '[]}]'": "a comma is missing here, or an earlier bracket is not closed",
    "but found '<stream end>'": "the file ends inside a bracket, a list or a value; close it",
    "found unexpected end of stream": "an earlier quote is not closed; close it",
    "found undefined alias '?(?P<name>[^']+)'?": (
        "`*{name}` refers to an anchor that is not above it; write `&{name}` before the value that "
        "it refers to"
    ),
    "found character '[`@%]' that cannot start": (
        "a text cannot begin with this character; put it in quotes"
    ),
    "expected a single document": (
        "a second document begins here (`---`); a suite is one document, so write two files"
    ),
}
"""What PyYAML says, as patterns, and the same in the words of suites."""
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_LONGEST_KEY = 100


@dataclass(frozen=True, eq=False)
class Document:
    """A parsed document that knows where its parts are."""

    data: Any
    """What the YAML says, in builtin types; the keys of its mappings are words or numbers."""
    node: Any = None
    """The same as PyYAML's nodes; None where it stands in no file."""
    mistakes: Sequence[tuple[int, str]] = ()
    """Lines and messages of keys that stand twice in one mapping, or are neither words nor numbers.
    `data` has the last of the first kind and none of the second."""

    def line(self, location: Sequence[str | int]) -> int:
        """Line of the deepest part of `location` that the document has, from 1."""
        if self.node is None:
            return 1
        marked = node = self.node
        for part in self.path(location):
            if isinstance(node, yaml.MappingNode):
                marked, node = next(pair for pair in node.value if pair[0].value == str(part))
            else:
                marked = node = node.value[part]
        return int(marked.start_mark.line) + 1

    def path(self, location: Sequence[str | int]) -> Location:
        """Return the parts of `location` that the document has, one below the other."""
        known: list[str | int] = []
        here = self.data
        for part in location:
            if isinstance(here, dict):
                fits = part in here
            else:
                fits = isinstance(here, list) and isinstance(part, int) and part < len(here)
            if fits:
                here = here[part]
                known.append(part)
        return tuple(known)


class _Loader(yaml.SafeLoader):
    """SafeLoader that notes keys which a suite cannot have."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.mistakes: list[tuple[int, str]] = []

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        first: dict[str, int] = {}
        kept = []
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.tag != _MERGE:
                if not _is_key(key):
                    self.mistakes.append((line, no_word(_shown(key))))
                    continue
                if key.value in first:
                    self.mistakes.append(
                        (line, f"the key `{key.value}` is already in line {first[key.value]}; keep "
                               "one of the two")
                    )  # fmt: skip
                first.setdefault(key.value, line)
            kept.append((key, value))
        node.value = kept
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        # Without this, a few lines of nested merges grow to billions of pairs.
        node.value = list({key.value: (key, value) for key, value in node.value}.values())

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (yaml.YAMLError, RecursionError):
            raise
        except Exception as error:  # PyYAML's scalar constructors let any exception out
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.tag} cannot be read ({error})", node.start_mark
            ) from error


def _tagged(loader: _Loader, node: yaml.Node) -> Any:
    """Note a tag that says what no suite can hold, and read what stands behind it."""
    if node.tag == _FUNCTION:
        mistake = (
            "`!function` names a Python function, which only lm-eval tasks may have; remove it"
        )
    else:
        mistake = (
            f"found the tag {quoted(node.tag)} before a value, but a suite has plain values; "
            "remove the tag"
        )
    loader.mistakes.append((node.start_mark.line + 1, mistake))
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.ScalarNode)
    return loader.construct_scalar(node)


_Loader.add_constructor(None, _tagged)


# A number in JSON and YAML 1.2, but text in the YAML 1.1 of PyYAML: 1e-3.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _is_key(key: yaml.Node) -> bool:
    """Tell whether a key is a word, or a number as it may stand for shots or choices."""
    if not isinstance(key, yaml.ScalarNode):
        return False
    if key.tag == _INTEGER:
        return _PLAIN_NUMBER.fullmatch(key.value) is not None
    return key.tag == _TEXT and key.value.isprintable() and len(key.value) <= _LONGEST_KEY


def no_word(shown: str) -> str:
    """Say that this is no key."""
    return f"found {shown} as a key, expected a word"


def _shown(key: yaml.Node) -> str:
    if not isinstance(key, yaml.ScalarNode):
        return "a list" if isinstance(key, yaml.SequenceNode) else "keys with values"
    return quoted(key.value)


def read(path: Path) -> Document:
    """Read a file of one YAML document.

    Raises
    ------
    SuiteError
        With the line, where the file is not YAML, or not a plain tree of values.
    """
    line: int | None
    try:
        text = path.read_bytes().decode("utf-8-sig")
        loader = _Loader(text)
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
        if isinstance(data, dict):
            data = {key: each for key, each in data.items() if not str(key).startswith(_OWN)}
        return Document(data, node, loader.mistakes)
    except OSError as error:
        line, message = None, f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = "this is not UTF-8 text; save the suite in UTF-8"
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"YAML does not allow the character U+{ord(text[error.position]):04X}"
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark or loader.get_mark()
        reason = " ".join(part for part in (error.context, error.problem) if part)
        before = text[mark.index - mark.column : mark.index]
        line, message = mark.line + 1, f"this is not valid YAML: {_in_words(reason, before)}"
    except RecursionError:
        line, message = loader.line + 1, "the values are nested too deeply for a suite"
    except (ValueError, OverflowError):  # of PyYAML's scanner: "\UFFFFFFFF"
        line, message = loader.line + 1, "this is not valid YAML: a number is out of range"
    raise SuiteError([Problem(path, line, message)])


def _in_words(reason: str, before: str) -> str:
    """Say it in the words of suites, given what stands in the line before the mistake."""
    for pattern, words in _IN_WORDS.items():
        if found := re.search(pattern, f"{reason}: {before}"):
            return words.format(**found.groupdict())
    return reason
