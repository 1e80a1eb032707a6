"""Make documents for a task of lm-evaluation-harness: the columns that its templates name.

No data hub is needed so. What a column holds follows from how a template uses it: a text, a number,
a list, a list with the value of another column in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COLUMN = re.compile(r"[^{}\[\]\n]{1,60}")
_BARE = re.compile(r"\{\{\s*(\w+)(?:\.strip\(\))?\s*\}\}")
_OF_TEXT = {
    "capitalize", "endswith", "format", "isdigit", "lower", "lstrip", "replace", "rstrip", "split",
    "startswith", "strip", "title", "upper",
}  # fmt: skip
_MOST = 5
"""Elements of a list, where nothing tells how many there are."""


class Unknown(ValueError):
    """A template uses a column in a way that tells nothing of what it holds."""


@dataclass
class Shape:
    """What is known of a column, or of a part of one.

    Attributes
    ----------
    fields : dict
        Of an object.
    element : Shape or None
        Of a list.
    length : int
        Elements that a list has at least.
    kind : str or None
        "number" or "digits" (a number as text); texts have none.
    least : int
        The least number.
    values : list
        What it may be, where a template compares it, or looks for it among constants.
    one_of : Shape or None
        A list in which it is.
    """

    fields: dict[str, Shape] = field(default_factory=dict)
    element: Shape | None = None
    length: int = 0
    kind: str | None = None
    least: int = 0
    values: list[Any] = field(default_factory=list)
    one_of: Shape | None = None

    def part(self, name: str) -> Shape:
        """Return a field of an object."""
        return self.fields.setdefault(name, Shape())

    def items(self, length: int = 0) -> Shape:
        """Return the elements of a list."""
        self.element = self.element or Shape()
        self.length = max(self.length, length)
        return self.element


class _Reader:
    """Reads templates; collects the shapes of what they name."""

    def __init__(self) -> None:
        self.columns = Shape()
        self.most = _MOST
        self._environment = Environment(autoescape=False)

    def read(self, template: str, listed: bool = False) -> None:
        """Read a template; what alone makes up one that gives a list is a list."""
        tree = self._environment.parse(template)
        names: dict[str, Shape | None] = {}
        self._visit(tree, names)
        if listed and len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output):
            shapes = [self._shape(each, names) for each in tree.body[0].nodes]
            if len(shapes) == 1 and shapes[0] is not None:
                shapes[0].items()

    def _visit(self, node: nodes.Node, names: dict[str, Shape | None]) -> None:
        if isinstance(node, nodes.For):
            shape = self._shape(node.iter, names)
            inner = dict(names)
            for target in node.target.find_all(nodes.Name):
                inner[target.name] = None
            if isinstance(node.target, nodes.Name):
                inner[node.target.name] = shape.items() if shape else None
            for each in node.body:
                self._visit(each, inner)
        elif isinstance(node, nodes.Assign):
            shape = self._shape(node.node, names)
            if isinstance(node.target, nodes.Name):
                names[node.target.name] = shape
        elif isinstance(node, nodes.Expr):
            self._shape(node, names)
        else:
            for child in node.iter_child_nodes():
                self._visit(child, names)

    def _shape(self, node: nodes.Node, names: dict[str, Shape | None]) -> Shape | None:
        """Return the shape of an expression that is a column or a part of one; None of others."""
        if isinstance(node, nodes.Name):
            if node.name in ("range", "loop", "namespace", "dict", "cycler", "joiner", "lipsum"):
                return None
            return names[node.name] if node.name in names else self.columns.part(node.name)
        if isinstance(node, nodes.Getattr):
            of = self._shape(node.node, names)
            return of.part(node.attr) if of else None
        if isinstance(node, nodes.Getitem):
            return self._item(node, names)
        if isinstance(node, nodes.Call):
            return self._call(node, names)
        if isinstance(node, nodes.Filter):
            return self._filter(node, names)
        if isinstance(node, nodes.Compare):
            self._compare(node, names)
            return None
        if isinstance(node, (nodes.Sub, nodes.Add, nodes.Mul)):
            self._arithmetic(node, names)
            return None
        for child in node.iter_child_nodes():
            self._shape(child, names)
        return None

    def _item(self, node: nodes.Getitem, names: dict[str, Shape | None]) -> Shape | None:
        if isinstance(node.node, nodes.List):
            if found := self._shape(node.arg, names):
                found.kind = "number"
            return None
        if isinstance(node.node, nodes.Const) and isinstance(node.node.value, str):
            self.most = min(self.most, len(node.node.value))  # letters of choices
        of = self._shape(node.node, names)
        if isinstance(node.arg, nodes.Slice):
            for bound in (node.arg.start, node.arg.stop):
                if bound is not None and (found := self._shape(bound, names)):
                    found.kind = "number"
            return None
        value = node.arg.value if isinstance(node.arg, nodes.Const) else None
        if of is None:
            return None
        if isinstance(value, str):
            return of.part(value)
        if value is None and (index := self._shape(node.arg, names)):
            index.kind = "number"
        return of.items(value + 1 if isinstance(value, int) and value >= 0 else 0)

    def _call(self, node: nodes.Call, names: dict[str, Shape | None]) -> Shape | None:
        arguments = [self._shape(each, names) for each in node.args]
        if not isinstance(node.node, nodes.Getattr):
            for child in node.node.iter_child_nodes():
                self._shape(child, names)
            return None
        of, method = node.node.node, node.node.attr
        if method == "index" and isinstance(of, nodes.List):
            known = _constants(of)
            if isinstance(argument := node.args[0], nodes.Add):  # "answer" + answer
                prefix = _constants(argument.left) or [""]
                known = [str(each).removeprefix(str(prefix[0])) for each in known]
                arguments = [self._shape(argument.right, names)]
            if arguments and arguments[0]:
                arguments[0].values += known
            return None
        shape = self._shape(of, names)
        if shape is None:
            return None
        if method == "index":
            if arguments and arguments[0]:
                arguments[0].one_of = shape
            shape.items()
            return None
        if method == "join":
            return None
        if method in _OF_TEXT:
            return shape  # what is stripped is what it was
        raise Unknown(f"the method {method!r} of a column")

    def _filter(self, node: nodes.Filter, names: dict[str, Shape | None]) -> Shape | None:
        shape = None if node.node is None else self._shape(node.node, names)
        if shape is None:
            return None
        if node.name == "int":
            shape.kind = shape.kind or "digits"
        elif node.name == "map":
            attribute = next((each.value for each in node.kwargs if each.key == "attribute"), None)
            if isinstance(attribute, nodes.Const):
                shape.items().part(attribute.value)
        elif node.name in ("list", "join", "length", "count", "first", "last", "sort", "unique"):
            shape.items()
            return shape.items() if node.name in ("first", "last") else shape
        return shape

    def _compare(self, node: nodes.Compare, names: dict[str, Shape | None]) -> None:
        shape = self._shape(node.expr, names)
        for operand in node.ops:
            other = self._shape(operand.expr, names)
            known = _constants(operand.expr)
            if shape and known:
                shape.values += known
            if other and operand.op == "in" and not isinstance(node.expr, nodes.Const):
                other.items()
            if other and (known := _constants(node.expr)):
                other.values += known

    def _arithmetic(self, node: nodes.BinExpr, names: dict[str, Shape | None]) -> None:
        for one, other in ((node.left, node.right), (node.right, node.left)):
            shape = self._shape(one, names)
            if shape and isinstance(other, nodes.Const) and isinstance(other.value, int):
                shape.kind = shape.kind or "number"
                shape.least = other.value if isinstance(node, nodes.Sub) else 0


def _constants(node: nodes.Node) -> list[Any]:
    if isinstance(node, nodes.Const):
        return [node.value]
    if isinstance(node, (nodes.List, nodes.Tuple)):
        return [each.value for each in node.items if isinstance(each, nodes.Const)]
    return []


def documents(config: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Make documents for what a task file says, its includes resolved.

    Raises
    ------
    Unknown
        Where a template does not tell what a column holds.
    """
    reader = _Reader()
    fewshot = config.get("fewshot_config") or {}
    for key in ("doc_to_text", "doc_to_choice", "doc_to_target", "gen_prefix", "description"):
        for said in (config.get(key), fewshot.get(key) if isinstance(fewshot, dict) else None):
            _read_field(reader, key, said)
    return [_filled(reader.columns.fields, number, reader.most) for number in range(count)]


def _read_field(reader: _Reader, key: str, said: Any) -> None:
    if not isinstance(said, str) or not said:
        return
    if key in ("description", "gen_prefix") and "{" not in said:
        return
    if "{" not in said and _COLUMN.fullmatch(said) and (key != "doc_to_text" or " " not in said):
        column = reader.columns.part(said)
        if key == "doc_to_choice":
            column.items()
        elif key == "doc_to_target":
            column.kind = column.kind or "number"
        return
    reader.read(said, listed=key == "doc_to_choice")
    # A target that is a column alone is the index of a choice, as far as can be told.
    if key == "doc_to_target" and (bare := _BARE.fullmatch(said)):
        column = reader.columns.part(bare[1])
        column.kind = "digits" if "strip" in said else "number"


def _filled(fields: Mapping[str, Shape], number: int, most: int) -> dict[str, Any]:
    made: dict[int, Any] = {}
    document = {name: _value(shape, name, (number, most), made) for name, shape in fields.items()}
    for name, shape in _below(fields, document):
        if (within := made.get(id(shape.one_of))) is not None:
            name[0][name[1]] = within[number % len(within)]
    return document


def _below(
    fields: Mapping[str, Shape], made: dict[str, Any]
) -> Iterator[tuple[tuple[dict[str, Any], str], Shape]]:
    for name, shape in fields.items():
        yield (made, name), shape
        if shape.fields and isinstance(made[name], dict):
            yield from _below(shape.fields, made[name])


def _value(shape: Shape, name: str, which: tuple[int, int], made: dict[int, Any]) -> Any:
    """Return what one document has there; `which` is its number, and how long lists are."""
    number, most = which
    if shape.element is not None:
        places = range(max(shape.length, most))
        found: Any = [_value(shape.element, f"{name} {place}", which, made) for place in places]
        made[id(shape)] = found
        return found
    if shape.fields:
        parts = shape.fields.items()
        return {each: _value(below, f"{name} {each}", which, made) for each, below in parts}
    if shape.values:
        return shape.values[number % len(shape.values)]
    if shape.kind:
        value = shape.least + number % 2
        return value if shape.kind == "number" else str(value)
    return f"{name.replace('_', ' ')} no. {number}"
