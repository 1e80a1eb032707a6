"""What hand-written claims assert, read from the code of their tests without running it.

Thresholds are literals in most tests, and compared as such. Where code computes them, it is the
code that is compared: that of the test, of its module, of what that imports from the repository,
and the files that it names.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product, zip_longest
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.reports.changes import bounds_less

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_maxrandom.record import Reserved, Weaker

FIXTURE = "maxrandom"
_COMPARED: dict[str, Callable[[Any], Any]] = {
    "p_max": float,
    "beats": lambda given: given if isinstance(given, str) else float(given),
    "baseline_p": float,
    "control_p": float,
    "t": index,
    "chance": lambda given: given,
    "control": lambda given: given,
    "clusters": lambda given: given,
}
"""Arguments of a check that decide what it asks, and of what kind they are; `best_correct`, `n` and
`scores` are its results."""
_BOUNDS = ("p_max", "beats", "baseline_p", "control_p")
COMPUTED = "computed"
"""What stands for an argument that is no literal, or none of its kind."""
_NO_LITERAL = (ArithmeticError, TypeError, ValueError)
"""What reading it raises."""
_SKIPS = re.compile(r"\b(?:skip|skipTest|importorskip|SkipTest)\(")
_LARGEST = 2**20
"""Bytes of a file that code names, and that is compared with it."""
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class HandWritten:
    """A test that makes claims."""

    name: str
    """In ids: class and function."""
    numbers: dict[str, Any]
    """`checks`: of each check, in their order, the arguments that decide what it asks; of those
    that are no literals only that they are computed. `code`: digest of the code that computes what
    is asserted; empty where all of it is literal."""
    xfail: bool = False
    skips: bool = False
    """Whether its code may excuse or skip it when it is called; marks are pytest's to evaluate."""


def hand_written(path: Path, root: Path, known: Collection[Path]) -> Iterator[HandWritten]:
    """Yield the tests of a module that take the fixture, by themselves or through another one.

    All code of the repository lies below `root`; what git ignores, which is not among the `known`
    files, is not compared.

    Raises
    ------
    SyntaxError, ValueError, OSError
        If it cannot be read.
    """
    module = _Module(path, root, known)
    for name, function, above in module.tests:
        body = "\n".join(map(ast.unparse, function.body))
        checks, computed = _checks(function, module.constants)
        computed |= module.several(function, above)
        yield HandWritten(
            name=name,
            numbers={"checks": checks, "code": module.digest(function, above) if computed else ""},
            xfail="xfail(" in body,
            skips=_SKIPS.search(body) is not None,
        )


def asks_less(
    now: Mapping[str, Any], before: Mapping[str, Any]
) -> Iterator[tuple[Reserved, list[Weaker], dict[str, Any], dict[str, Any]]]:
    """Yield in what the code of a test asks less than it did, or that this cannot be told.

    Parameters
    ----------
    now, before : mapping
        ``checks`` and ``code`` of a `HandWritten`.

    Yields
    ------
    tuple
        The kind of reservation, in what it asks less, and what is and was asserted.
    """
    checks, earlier = now["checks"], before["checks"]
    none: dict[str, Any] = {}
    for was, given in zip_longest(earlier, checks[: len(earlier)], fillvalue=none):
        stated, former = _literals(given, was), _literals(was, given)
        bounds, bounded = bounds_of(stated), bounds_of(former)
        weaker: list[Weaker] = ["asserts"] if bounds_less(bounds, bounded) else []
        if given and (stated.get("t") or 0) < (former.get("t") or 0):
            weaker.append("t")
        if given and stated.get("chance") != former.get("chance"):
            weaker.append("chance")
        if given:
            lost = was.keys() - given.keys()
            weaker += [key for key in ("control", "clusters") if key in lost]
        if weaker:
            yield "weakened", weaker, bounds, bounded
            return
    if now["code"] != before["code"]:
        yield "uncompared", ["computed"], {}, {}


def _literals(given: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a check that can be compared with those of another one."""
    both = (*given.items(), *other.items())
    computed = {key for key, value in both if isinstance(value, str) and value == COMPUTED}
    return {key: value for key, value in given.items() if key not in computed}


def bounds_of(stated: dict[str, Any]) -> dict[str, Any]:
    """Return what a check asserts, as records have it; nothing that is computed."""
    levels = [
        *(["baseline_p"] if isinstance(stated.get("beats"), float) else []),
        *(["control_p"] if "control" in stated else []),
    ]
    bounds = {**dict.fromkeys(levels, DEFAULT_LEVEL), **stated}
    return {key: bounds[key] for key in _BOUNDS if bounds.get(key) not in (None, COMPUTED)}


class _Module:
    def __init__(self, path: Path, root: Path, known: Collection[Path]) -> None:
        self._path, self._root, self._known = path, root, known
        self.tree = ast.parse(path.read_bytes())
        self._folders = [one for one in path.parents if one == root or root in one.parents]
        conftests = (one / "conftest.py" for one in self._folders)
        self._conftests = [one for one in conftests if one.is_file()]

    @cached_property
    def tests(self) -> list[tuple[str, _Function, list[str]]]:
        """Their names, with what marks the module and the classes above them."""
        classes = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        places = [("", _marks(self.tree.body), self.tree.body)]
        functions: dict[str, tuple[str, _Function, list[str]]] = {}
        for prefix, above, body in places:
            for node in body:
                if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                    # What it inherits stands behind its own, which replaces it.
                    for one in _inherited(node, classes):
                        own = [*above, *map(ast.unparse, one.decorator_list), *_marks(one.body)]
                        places.append((f"{prefix}{node.name}::", own, one.body))
                elif isinstance(node, _FUNCTIONS) and self._claims(node):
                    name = f"{prefix}{node.name}"
                    functions.setdefault(name, (name, node, above))
        return list(functions.values())

    def _claims(self, node: _Function) -> bool:
        taken = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
        asked = f"getfixturevalue('{FIXTURE}')" in ast.unparse(node)
        return node.name.startswith("test") and (asked or not taken.isdisjoint(self._fixtures))

    def several(self, function: _Function, above: Iterable[str]) -> bool:
        """Tell whether parameters may make several tests of one, of which some can be lost."""
        marks = [*above, *map(ast.unparse, function.decorator_list)]
        of_fixtures = [ast.unparse(each) for one in self._functions for each in one.decorator_list]
        return (
            any("parametrize(" in each for each in marks)
            or any("fixture" in each and "params" in each for each in of_fixtures)
            or any(one.name == "pytest_generate_tests" for one in self._functions)
        )

    @cached_property
    def _functions(self) -> list[_Function]:
        """The functions of the module, and of the conftests above it."""
        trees = [self.tree, *map(_tree, self._conftests)]
        return [node for tree in trees for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]

    @cached_property
    def _fixtures(self) -> set[str]:
        """The names of the fixtures through which a test claims something."""
        known = {FIXTURE}
        fixtures = [
            node
            for node in self._functions
            if any("fixture" in ast.unparse(each) for each in node.decorator_list)
        ]
        for _ in fixtures:  # each round may find one that takes one of the round before
            known |= {
                node.name for node in fixtures if known & {each.arg for each in node.args.args}
            }
        return known

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The names that are given one literal in the module, once."""
        given: Counter[str] = Counter(
            node.id for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )  # fmt: skip
        assigned = [
            (target.id, node.value)
            for node in self.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name) and given[target.id] == 1
        ]
        found: dict[str, Any] = {}
        for name, value in assigned:
            with suppress(*_NO_LITERAL):
                found[name] = _literal(value, found)
        return found

    def digest(self, function: _Function, above: Iterable[str]) -> str:
        """Return a digest of all code that may compute what a test asserts."""
        kept = [node for node in self.tree.body if not _is_test(node)]
        texts = [*above, ast.unparse(function), *map(ast.unparse, kept)]
        nodes: list[ast.AST] = [function, *kept]
        queue = [*self._conftests, *self._named(nodes)]
        seen: dict[Path, None] = {}
        for file in queue:
            if file in seen or file == self._path:
                continue
            seen[file] = None
            if file.suffix == ".py":
                tree = _tree(file)
                texts.append(ast.unparse(tree))
                queue += self._named([tree])
            elif file.stat().st_size <= _LARGEST:
                texts.append(hashlib.sha256(file.read_bytes()).hexdigest())
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def _named(self, nodes: Iterable[ast.AST]) -> Iterator[Path]:
        """Yield the files of the repository that code imports, or names."""
        walked = (node for each in nodes for node in ast.walk(each))
        names = dict.fromkeys(name.lstrip("/") for node in walked for name in _paths(node))
        folders = (*self._folders, self._root / "src")
        for name, folder in product(filter(None, names), folders):
            for end in ("", ".py", "/__init__.py"):
                found = folder / f"{name}{end}"
                if found in self._known and found.is_file():
                    yield found


def _checks(
    function: _Function, constants: Mapping[str, Any]
) -> tuple[tuple[dict[str, Any], ...], bool]:
    """Return what each check is given, and whether some of it is no literal."""
    calls = list[tuple[int, int, dict[str, Any]]]()
    used = 0
    for node in ast.walk(function):
        used += isinstance(node, ast.Name) and node.id == FIXTURE
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        holder = node.func.value
        if not isinstance(holder, ast.Name) or (holder.id, node.func.attr) != (FIXTURE, "check"):
            continue
        given: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                given = {**dict.fromkeys(_COMPARED, COMPUTED), **given}
            elif keyword.arg in _COMPARED:
                given[keyword.arg] = _argument(keyword.arg, keyword.value, constants)
        calls.append((node.lineno, node.col_offset, given))
    checks = tuple(given for *_, given in sorted(calls, key=lambda one: one[:2]))
    whole = used == len(checks) > 0 and all(COMPUTED not in given.values() for given in checks)
    return checks, not whole


def _argument(name: str, node: ast.expr, constants: Mapping[str, Any]) -> Any:
    try:
        value = _literal(node, constants)
        return None if value is None else _COMPARED[name](value)
    except _NO_LITERAL:
        return COMPUTED


def _literal(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    """Return what an expression is without running it: a literal, or arithmetic with numbers.

    Raises
    ------
    ArithmeticError, TypeError, ValueError
        If it is something else, or Python cannot compute it either.
    """
    match node:
        case ast.Name(id=name) if name in constants:
            return constants[name]
        case ast.Call(func=ast.Name(id="Fraction"), args=[one, other], keywords=[]):
            return _divided(_literal(one, constants), _literal(other, constants))
        case ast.BinOp(left=one, op=ast.Div(), right=other):
            return _divided(_literal(one, constants), _literal(other, constants))
        case ast.BinOp(left=one, op=ast.Mult(), right=other):
            first, second = _literal(one, constants), _literal(other, constants)
            if isinstance(first, int | float) and isinstance(second, int | float):
                return first * second
    return ast.literal_eval(node)


def _divided(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int) and other:
        return Fraction(one, other)
    if isinstance(one, int | float) and isinstance(other, int | float) and other:
        return one / other
    raise ValueError("no quotient of numbers")


def _paths(node: ast.AST) -> list[str]:
    """Return which files code may mean that imports modules, or names a file."""
    match node:
        case ast.Import(names=names):
            return [one.name.replace(".", "/") for one in names]
        case ast.ImportFrom(module=module, names=names):
            place = (module or "").replace(".", "/")
            return [place, *(f"{place}/{one.name}" for one in names)]
        case ast.Constant(value=str(text)) if len(text) < 200:
            return [text]
    return []


def _inherited(
    node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], seen: frozenset[str] = frozenset()
) -> Iterator[ast.ClassDef]:
    """Yield a class, and those of its module that it inherits from."""
    yield node
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id not in seen | {node.name}:
            yield from _inherited(classes[base.id], classes, seen | {node.name})


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name.casefold()[:4] == "test"


def _marks(body: Iterable[ast.stmt]) -> list[str]:
    return [
        ast.unparse(node)
        for node in body
        if isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == "pytestmark" for one in node.targets)
    ]


def _tree(path: Path) -> ast.Module:
    """Return the code of a module; none where it is wrong, as pytest will say of the one here."""
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.parse("")
