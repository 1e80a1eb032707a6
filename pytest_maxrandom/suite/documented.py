"""What stands below the keys of specs: read from their source when a schema is made."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from itertools import pairwise


def description(kind: type, name: str) -> str | None:
    """Return the docstring of an attribute, where the nearest class that annotates it has one."""
    for each in kind.__mro__:
        if name in inspect.get_annotations(each):
            return _docstrings(each).get(name)
    return None


@functools.cache
def _docstrings(kind: type) -> dict[str, str]:
    """Return the text below each annotation of a class; nothing of a class without source."""
    try:
        [definition] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(definition, ast.ClassDef)
    return {
        statement.target.id: inspect.cleandoc(below.value.value)
        for statement, below in pairwise(definition.body)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
