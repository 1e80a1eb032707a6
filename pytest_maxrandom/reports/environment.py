"""The Jinja2 environment of reports: which templates are used, and how data is made safe in them.

A template can only read the records. Every value that it shows is written as plain text, unless
one of the filters here has written it in another safe form; so a template that forgets a filter
is ugly at worst.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from pytest_maxrandom import notation
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports import origins, phrases, summary, text

if TYPE_CHECKING:
    from collections.abc import Callable

REPORT = "report.md.j2"
"""The template that a report is rendered from."""
PREFIX = "maxrandom/"
"""``maxrandom/NAME`` is this package's template NAME, whatever the user's folder holds."""

_WRITERS: dict[str, Callable[..., str]] = {
    "code": text.code,
    "cell": text.cell,
    "block": text.block,
    "html": text.html,
    "plain": text.plain,
    # Jinja's own would escape HTML only.
    "e": text.plain,
    "escape": text.plain,
    "forceescape": text.plain,
}
_NUMBERS = (notation.accuracy, notation.count, notation.p_value, notation.span)
_SUMMARIES = (
    summary.known,
    summary.label,
    summary.model_name,
    summary.open_questions,
    summary.shots,
    summary.symbol,
    summary.tally,
    summary.unread,
)
_PHRASES = (
    phrases.adjusted,
    phrases.best_value,
    phrases.claimed,
    phrases.decided_by,
    phrases.decisive_name,
    phrases.decisive_p,
    phrases.finding,
    phrases.guessing,
    phrases.majority,
    phrases.metric_name,
    phrases.needed,
    phrases.p_is,
    phrases.result,
    phrases.scored,
)
_ORIGINS = (
    origins.answered,
    origins.chance,
    origins.cost,
    origins.counted_n,
    origins.counted_t,
    origins.held_out,
    origins.looks,
    origins.precision,
    origins.sampling,
    origins.spread,
    origins.ties,
    origins.tried,
)


class Written(str):
    """Markdown that one of our filters made from data.

    On purpose no :class:`markupsafe.Markup`: joined with other text in a template it is mere text
    again, and is escaped as a whole, which is safe.
    """

    __slots__ = ()


def templates_folder() -> Path:
    """Find this package's templates: within it when installed, beside it in a source checkout.

    Raises
    ------
    ReportError
        If they are in neither place.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / REPORT).is_file():
            return folder
    raise ReportError(
        f"{package}: the report's templates are missing from this installation; "
        "reinstall pytest-maxrandom"
    )


def environment(folder: Path | None = None) -> ImmutableSandboxedEnvironment:
    """Make the environment of a report, with the user's templates, if any, before ours."""
    ours = FileSystemLoader(templates_folder())
    users = [] if folder is None else [FileSystemLoader(folder)]
    made = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([PrefixLoader({PREFIX.rstrip("/"): ours}), *users, ours]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update({name: _writing(writer) for name, writer in _WRITERS.items()})
    facts = (*_NUMBERS, *_SUMMARIES, *_PHRASES, *_ORIGINS, text.shorten)
    made.filters.update({fact.__name__: fact for fact in facts})
    made.globals.update(symbols=summary.SYMBOLS, words=summary.WORDS, share=notation.share)
    return made


def _writing(writer: Callable[..., str]) -> Callable[..., Written]:
    def write(value: object, *options: Any) -> Written:
        return Written(notation.NONE if value is None else writer(str(value), *options))

    return write


def _finalize(value: object) -> Markup:
    """Make every expression's value safe where it enters the report."""
    if isinstance(value, Markup):  # a block or a macro, whose own expressions came through here
        return value
    if isinstance(value, Written):
        return Markup(value)
    return Markup(text.plain(notation.NONE if value is None else str(value)))
