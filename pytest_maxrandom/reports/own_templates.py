"""The templates of reports, ours and a user's: where they are, and what is wrong with one."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, TemplateNotFound, TemplateSyntaxError, UndefinedError, nodes
from jinja2.exceptions import SecurityError

from pytest_maxrandom.errors import ReportError, did_you_mean
from pytest_maxrandom.reports.markdown import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.reports.dialect import Dialect

PREFIX = "maxrandom/"
"""``maxrandom/NAME`` is this package's template NAME, whatever the user's folder holds."""


def templates_folder() -> Path:
    """Find this package's templates: within it when installed, beside it in a source checkout.

    Raises
    ------
    ReportError
        If they are in neither place.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / MARKDOWN.report).is_file():
            return folder
    raise ReportError(
        f"{package}: the report's templates are missing from this installation; "
        "reinstall pytest-maxrandom"
    )


def check_folder(folder: Path, dialect: Dialect) -> list[str]:
    """List the templates of a language that the user's folder overrides.

    Raises
    ------
    ReportError
        If there is no such folder, or no template in it has the name of one of ours.
    """
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder of templates; see --maxrandom-templates")
    names = sorted(
        path.name
        for path in templates_folder().glob("*.j2")
        if path.name.endswith(dialect.suffix) or path.name.count(".") == 1  # of all languages
    )
    overridden = [name for name in names if (folder / name).is_file()]
    if not overridden:
        raise ReportError(
            f"{folder}: no template here is used by the {dialect.name} report, which looks for "
            f"{', '.join(names)}{_nearest((path.name for path in folder.iterdir()), names)}"
        )
    return overridden


def check_blocks(environment: Environment, folder: Path, names: Iterable[str]) -> None:
    """Refuse blocks that override nothing, which Jinja would leave out without a word.

    Raises
    ------
    ReportError
        Naming the file, the line, and the blocks that there are.
    """
    for name in names:
        tree, path = _parsed(environment, name), folder / name
        extends = _extends(tree)
        if extends is None:
            continue
        parent, line = extends
        if parent == name:
            raise ReportError(
                f"{path}:{line}: the template extends itself; "
                f'to extend ours, write {{% extends "{PREFIX}{name}" %}}'
            )
        known = sorted(_blocks(environment, parent))
        for block in tree.body:
            if isinstance(block, nodes.Block) and block.name not in known:
                raise ReportError(
                    f"{path}:{block.lineno}: {parent} has no block '{block.name}'; "
                    f"its blocks are {', '.join(known) or 'none'}{_nearest([block.name], known)}"
                )


def located(error: Exception, folder: Path | None) -> str:
    """Write an error that a template caused as one sentence with its file and line."""
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename}:{error.lineno}: {error.message}"
    roots = tuple(str(root) for root in (folder, templates_folder()) if root is not None)
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(roots)]
    where = f"{inside[-1].filename}:{inside[-1].lineno}" if inside else roots[0]
    return f"{where}: {_sentence(error)}"


def _parsed(environment: Environment, name: str) -> nodes.Template:
    assert environment.loader is not None
    source, filename, _ = environment.loader.get_source(environment, name)
    return environment.parse(source, name, filename)


def _extends(tree: nodes.Template) -> tuple[str, int] | None:
    """Return the name of the template that is extended, where it is written out, and the line."""
    found = tree.find(nodes.Extends)
    if found is None or not isinstance(found.template, nodes.Const):
        return None
    return str(found.template.value), found.lineno


def _blocks(environment: Environment, name: str) -> set[str]:
    tree = _parsed(environment, name)
    extends = _extends(tree)
    above = _blocks(environment, extends[0]) if extends and extends[0] != name else set()
    return above | {block.name for block in tree.find_all(nodes.Block)}


def _sentence(error: Exception) -> str:
    if isinstance(error, TemplateNotFound):
        return f"there is no template '{error.name}' in this folder or in {PREFIX.rstrip('/')}"
    if isinstance(error, UndefinedError):
        return f"{error.message}; templates/README.md lists what a template can use"
    if isinstance(error, SecurityError):
        return f"{error}; a template can only read the records"
    if isinstance(error, UnicodeDecodeError):
        return f"a template is not UTF-8 text ({error})"
    return f"{type(error).__name__}: {error}"


def _nearest(found: Iterable[str], names: Sequence[str]) -> str:
    def instead(name: str) -> str:
        return did_you_mean(name, names, lambda near: f"{near} instead of {name}")

    return next(filter(None, map(instead, found)), "")
