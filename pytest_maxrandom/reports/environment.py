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
from pytest_maxrandom.reports import (
    agreement,
    attention,
    comparisons,
    design_changes,
    facts,
    failures,
    label_bias,
    origins,
    phrases,
    published,
    red_flags,
    references,
    replicates,
    summary,
    text,
    versions,
)
from pytest_maxrandom.reports.dialects import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.reports.dialects import Dialect
    from pytest_maxrandom.reports.publications import Reference

SENTENCES = "sentences.j2"
"""The template of what all languages share."""
PREFIX = "maxrandom/"
"""``maxrandom/NAME`` is this package's template NAME, whatever the user's folder holds."""

# Jinja's own would escape HTML only.
_PLAIN = ("plain", "e", "escape", "forceescape")
_NUMBERS = (
    notation.accuracy,
    notation.count,
    notation.equals,
    notation.level,
    notation.p_value,
    notation.signed,
    notation.span,
)
_SUMMARIES = (
    summary.became,
    summary.known,
    summary.designs,
    summary.label,
    summary.missing,
    summary.model_name,
    summary.shots,
    summary.symbol,
    summary.simulated,
    summary.tally,
    summary.unread,
    summary.with_rows,
)
_PHRASES = (
    phrases.adjusted,
    phrases.best_value,
    phrases.claimed,
    phrases.decided_by,
    phrases.decisive_name,
    phrases.decisive_p,
    failures.examples,
    phrases.finding,
    phrases.guessing,
    phrases.majority,
    phrases.metric_name,
    phrases.new_at_least,
    phrases.new_questions,
    phrases.needed,
    phrases.p_is,
    phrases.result,
    phrases.scored,
    red_flags.described,
    red_flags.does,
)
_ORIGINS = (
    origins.all_of_models,
    origins.answered,
    origins.chance,
    origins.cost,
    origins.counted_n,
    origins.counted_t,
    origins.held_out,
    origins.in_clusters,
    origins.looks,
    origins.precision,
    origins.processors,
    origins.recorded,
    origins.sampling,
    origins.spread,
    origins.ties,
    origins.tried,
)
_DESIGNS = (
    comparisons.adjusted_ps,
    comparisons.arms,
    comparisons.assertion_is,
    comparisons.best_interval,
    comparisons.best_is,
    comparisons.bias_is,
    comparisons.boost_is,
    comparisons.checked,
    comparisons.compared,
    comparisons.confidence,
    comparisons.difference_interval,
    comparisons.difference_is,
    comparisons.generalizes,
    comparisons.differing,
    comparisons.has_boost,
    comparisons.indicated,
    comparisons.required,
    comparisons.shown_n,
    comparisons.units,
    design_changes.summarized,
    label_bias.asked_as,
    label_bias.bias_cost,
    label_bias.bias_facts,
    label_bias.bias_rows,
    label_bias.calibration_name,
    label_bias.label_checked,
    label_bias.prior,
    label_bias.required_score,
    label_bias.with_base_rates,
    replicates.contradictions,
    replicates.demanded,
    replicates.extremes,
    replicates.histogram,
    replicates.holding,
    replicates.median,
    replicates.replicated,
    replicates.single_draws,
    replicates.spread_over,
    replicates.winners,
)
_RUNS = (
    agreement.agreement,
    attention.open_questions,
    facts.facts,
    published.changed,
    published.changes,
    published.published,
    red_flags.raised,
    references.methods,
    versions.versions,
)


class Written(str):
    """What one of our filters made from data, in the language of the report.

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
        if (folder / MARKDOWN.report).is_file():
            return folder
    raise ReportError(
        f"{package}: the report's templates are missing from this installation; "
        "reinstall pytest-maxrandom"
    )


def environment(
    folder: Path | None = None, dialect: Dialect = MARKDOWN
) -> ImmutableSandboxedEnvironment:
    """Make the environment of a report, with the user's templates, if any, before ours."""

    def finalize(value: object) -> Markup:
        """Make every expression's value safe where it enters the report."""
        # A block or a macro, whose own expressions came through here.
        if isinstance(value, Markup):
            return value
        if isinstance(value, Written):
            return Markup(value)
        return Markup(dialect.plain(notation.NONE if value is None else str(value)))

    def cite(references: Sequence[Reference]) -> Written:
        return Written(dialect.cite(references))

    ours = FileSystemLoader(templates_folder())
    users = [] if folder is None else [FileSystemLoader(folder)]
    made = ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([PrefixLoader({PREFIX.rstrip("/"): ours}), *users, ours]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    writers = {**dict.fromkeys(_PLAIN, dialect.plain), **dialect.writers}
    made.filters.update({name: _writing(writer) for name, writer in writers.items()})
    facts = (*_NUMBERS, *_SUMMARIES, *_PHRASES, *_ORIGINS, *_DESIGNS, *_RUNS, text.shorten, cite)
    made.filters.update({fact.__name__: fact for fact in facts})
    made.globals.update(
        symbols=summary.SYMBOLS,
        words=summary.WORDS,
        standings=agreement.STANDINGS,
        share=notation.share,
    )
    return made


def _writing(writer: Callable[..., str]) -> Callable[..., Written]:
    def write(value: object, *options: Any) -> Written:
        return Written(notation.NONE if value is None else writer(str(value), *options))

    return write
