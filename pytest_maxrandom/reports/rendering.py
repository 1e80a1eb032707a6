"""A run's records, rendered through templates: ours, and a user's before them.

A template can only read the records. Every value that it shows is written as plain text, unless
one of the filters here has written it in another safe form; so a template that forgets a filter
is ugly at worst.
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import (
    ChoiceLoader,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    pass_eval_context,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from pytest_maxrandom import notation
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import OUTCOMES, STANDINGS, RunRecord
from pytest_maxrandom.reports import (
    agreement,
    columns,
    computing,
    design_sections,
    designs,
    details,
    headlines,
    label_bias,
    origins,
    own_templates,
    phrases,
    red_flags,
    references,
    sections,
    summary,
    text,
    wording,
)
from pytest_maxrandom.reports.latex import LATEX
from pytest_maxrandom.reports.markdown import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.reports.dialect import Dialect

_TOLD = (
    *(notation, text, summary, phrases, red_flags, origins, computing, designs, label_bias),
    *(design_sections, details, headlines, agreement, wording, references, sections, columns),
)
"""Modules whose public functions are filters: they read records, and return texts and tables."""


def markdown(run: RunRecord, templates: Path | None = None) -> str:
    """Render a run as GitHub-flavoured Markdown; see :func:`render`."""
    return render(run, MARKDOWN, templates)


def disclosure(run: RunRecord, templates: Path | None = None) -> str:
    """Write what a paper or a model card must say of a run, as Markdown; see :func:`render`."""
    return render(run, MARKDOWN, templates, "disclosure.md.j2")


def latex(run: RunRecord, templates: Path | None = None, *, standalone: bool = False) -> str:
    r"""Render a run as LaTeX, in ASCII; see :func:`render`.

    If `standalone`, it is a whole document with its references, else a fragment for ``\input``.
    """
    bibliography = references.bibtex(run)
    return render(run, LATEX, templates, standalone=standalone, bibliography=bibliography)


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
def checked(dialect: Dialect, name: str, templates: Path | None) -> Iterator[Template]:
    """Check a user's templates before one is rendered, and say where one is wrong."""
    made = environment(templates, dialect)
    try:
        if templates is not None:
            overridden = own_templates.check_folder(templates, dialect)
            own_templates.check_blocks(made, templates, overridden)
        yield made.get_template(name)
    except ReportError:
        raise
    # A template can fail in as many ways as a program.
    except Exception as error:
        raise ReportError(own_templates.located(error, templates)) from error


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
        return Markup(dialect.plain(notation.NONE if value is None else str(value)))

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

    ours = FileSystemLoader(own_templates.templates_folder())
    users = [] if folder is None else [FileSystemLoader(folder)]
    under_prefix = PrefixLoader({own_templates.PREFIX.rstrip("/"): ours})
    made = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([under_prefix, *users, ours]),
        undefined=StrictUndefined,
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
    made.filters["each"] = lambda values, macro: [macro(value).strip() for value in values]
    made.globals |= {"outcomes": OUTCOMES, "standings": STANDINGS, "share": notation.share}
    made.globals["suffix"] = dialect.suffix
    return made
