"""A run's records, rendered through templates: ours, and a user's before them.

A template can only read the records. Every value that it shows is written as plain text, unless
one of the filters here has written it in another safe form; so a template that forgets a filter
is ugly at worst.
"""

from __future__ import annotations

import inspect
import traceback
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import nodes, pass_eval_context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from pytest_maxrandom import notation
from pytest_maxrandom.errors import ReportError, did_you_mean
from pytest_maxrandom.record import OUTCOMES, STANDINGS, RunRecord
from pytest_maxrandom.reports import (
    agreement,
    best_models,
    columns,
    computing,
    design_sections,
    designs,
    details,
    headlines,
    incumbent,
    label_bias,
    losses,
    origins,
    phrases,
    quantities,
    red_flags,
    references,
    sections,
    summary,
    text,
    wording,
)
from pytest_maxrandom.reports.latex import LATEX, UPRIGHT
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.unfolded import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.reports.dialect import Dialect

PREFIX = "maxrandom/"
"""``maxrandom/NAME`` is this package's template NAME, whatever the user's folder holds."""
_TOLD = (
    *(notation, text, summary, phrases, red_flags, origins, computing, designs, label_bias),
    *(design_sections, details, headlines, agreement, wording, references, sections, columns),
    *(quantities, losses, best_models),
)
"""Modules whose public functions are filters: they read records, and return texts and tables."""


def markdown(run: RunRecord, templates: Path | None = None, words: int = 300) -> str:
    """Render a run as GitHub-flavoured Markdown; see :func:`render`.

    By our own templates so many words are seen before anything is unfolded.
    """
    text = render(run, MARKDOWN, templates)
    return within(text, words) if templates is None else text


def disclosure(run: RunRecord, templates: Path | None = None) -> str:
    """Write what a paper or a model card must say of a run, as Markdown; see :func:`render`."""
    return render(run, MARKDOWN, templates, "disclosure.md.j2")


def latex(
    run: RunRecord,
    templates: Path | None = None,
    *,
    standalone: bool = False,
    upright: bool = False,
) -> str:
    r"""Render a run as LaTeX, in ASCII; see :func:`render`.

    If `standalone`, it is a whole document with its references, else a fragment for ``\input``.
    If `upright`, tables of claims have the columns that fit an upright page.
    """
    return render(
        run,
        UPRIGHT if upright else LATEX,
        templates,
        standalone=standalone,
        upright=upright,
        bibliography=references.bibtex(run),
    )


def render(
    run: RunRecord,
    dialect: Dialect,
    templates: Path | None,
    name: str | None = None,
    **told: Any,
) -> str:
    """Render a run in a language of reports.

    Parameters
    ----------
    run : RunRecord
        The claims, in the order in which they are shown.
    dialect : Dialect
        The language.
    templates : Path or None
        A folder with the user's own templates; templates/README.md says what they can be.
    name : str, optional
        The template, where it is not that of the whole report.
    **told
        What the templates get besides the run.

    Returns
    -------
    str
        The report, ending with a line break; it can be encoded as UTF-8 whatever the data.

    Raises
    ------
    ReportError
        If a template is wrong; the message names its file and line.
    """
    with checked(dialect, name or dialect.report, templates) as template:
        return template.render(
            run=run,
            claims=run.claims,
            names=summary.names(run),
            files=summary.files(run),
            variants=summary.variants(run),
            key="",
            outcome="",
            reported=True,
            **told,
        )


@contextmanager
def checked(dialect: Dialect, name: str, templates: Path | None) -> Iterator[jinja2.Template]:
    """Check a user's templates before one is rendered, and say where one is wrong."""
    made = environment(templates, dialect)
    try:
        if templates is not None:
            overridden = check_folder(templates, dialect)
            check_blocks(made, templates, overridden)
        yield made.get_template(name)
    except ReportError:
        raise
    # A template can fail in as many ways as a program.
    except Exception as error:
        raise ReportError(located(error, templates)) from error


class Written(str):
    """What one of our filters made from data, in the language of the report.

    On purpose no :class:`markupsafe.Markup`: joined with other text in a template it is mere text
    again, and is escaped as a whole, which is safe.
    """

    __slots__ = ()


@cache
def environment(
    folder: Path | None = None, dialect: Dialect = MARKDOWN
) -> ImmutableSandboxedEnvironment:
    """Make the environment of a report once, with the user's templates, if any, before ours."""

    def safe(value: object) -> Markup:
        """Make the value of an expression safe where it enters the report."""
        # A block or a macro, whose own expressions came through here.
        if isinstance(value, Markup):
            return value
        if isinstance(value, Written):
            return Markup(value)
        return Markup(dialect.sentence(notation.NONE if value is None else str(value)))

    def of_text(write: Callable[..., str]) -> Callable[..., Written]:
        return lambda value, *options: Written(
            notation.NONE if value is None else write(str(value), *options)
        )

    def of_records(write: Callable[..., str]) -> Callable[..., Written]:
        return lambda *told: Written(write(*told))

    def of_written(write: Callable[..., str]) -> Callable[..., Written]:
        def inside(value: Any) -> Any:
            if isinstance(value, list):
                return [inside(each) for each in value]
            return safe(value) if isinstance(value, str) else value

        return lambda *told: Written(write(*map(inside, told)))

    ours = jinja2.FileSystemLoader(templates_folder())
    users = [] if folder is None else [jinja2.FileSystemLoader(folder)]
    under_prefix = jinja2.PrefixLoader({PREFIX.rstrip("/"): ours})
    made = ImmutableSandboxedEnvironment(
        loader=jinja2.ChoiceLoader([under_prefix, *users, ours]),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        # Without the context Jinja would write constants as it compiles, and escape them for HTML.
        finalize=pass_eval_context(lambda _, value: safe(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for module in _TOLD:
        made.filters |= {
            name: found
            for name, found in inspect.getmembers(module, inspect.isfunction)
            if found.__module__ == module.__name__ and not name.startswith("_")
        }
    made.filters |= {name: of_text(getattr(dialect, name)) for name in dialect.TEXTS}
    made.filters |= {name: of_records(getattr(dialect, name)) for name in dialect.PARTS}
    made.filters |= {name: of_written(getattr(dialect, name)) for name in dialect.FRAMES}
    # Jinja's own would escape HTML only.
    made.filters |= dict.fromkeys(("e", "escape", "forceescape"), of_text(dialect.plain))
    made.filters["beside"] = incumbent.in_brief
    made.filters["each"] = lambda values, macro: [macro(value).strip() for value in values]
    made.globals |= {"outcomes": OUTCOMES, "standings": STANDINGS, "share": notation.share}
    made.globals["suffix"] = dialect.suffix
    return made


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


def check_blocks(environment: jinja2.Environment, folder: Path, names: Iterable[str]) -> None:
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
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename}:{error.lineno}: {error.message}"
    roots = tuple(str(root) for root in (folder, templates_folder()) if root is not None)
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(roots)]
    where = f"{inside[-1].filename}:{inside[-1].lineno}" if inside else roots[0]
    return f"{where}: {_sentence(error)}"


def _parsed(environment: jinja2.Environment, name: str) -> nodes.Template:
    assert environment.loader is not None
    source, filename, _ = environment.loader.get_source(environment, name)
    return environment.parse(source, name, filename)


def _extends(tree: nodes.Template) -> tuple[str, int] | None:
    """Return the name of the template that is extended, where it is written out, and the line."""
    found = tree.find(nodes.Extends)
    if found is None or not isinstance(found.template, nodes.Const):
        return None
    return str(found.template.value), found.lineno


def _blocks(environment: jinja2.Environment, name: str) -> set[str]:
    tree = _parsed(environment, name)
    extends = _extends(tree)
    above = _blocks(environment, extends[0]) if extends and extends[0] != name else set()
    return above | {block.name for block in tree.find_all(nodes.Block)}


def _sentence(error: Exception) -> str:
    if isinstance(error, jinja2.TemplateNotFound):
        return f"there is no template '{error.name}' in this folder or in {PREFIX.rstrip('/')}"
    if isinstance(error, jinja2.UndefinedError):
        return f"{error.message}; templates/README.md lists what a template can use"
    if isinstance(error, jinja2.exceptions.SecurityError):
        return f"{error}; a template can only read the records"
    if isinstance(error, UnicodeDecodeError):
        return f"a template is not UTF-8 text ({error})"
    return f"{type(error).__name__}: {error}"


def _nearest(found: Iterable[str], names: Sequence[str]) -> str:
    def instead(name: str) -> str:
        return did_you_mean(name, names, lambda near: f"{near} instead of {name}")

    return next(filter(None, map(instead, found)), "")
