"""A run's records, rendered through templates."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.environment import environment
from pytest_maxrandom.reports.overrides import check_blocks, check_folder, located
from pytest_maxrandom.reports.summary import files, names, variants

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2 import Environment

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.dialects import Dialect


def render(run: RunRecord, dialect: Dialect, templates: Path | None, **told: Any) -> str:
    """Render a run in a language of reports.

    Parameters
    ----------
    run : RunRecord
        The claims, in the order in which they are shown.
    dialect : Dialect
        The language.
    templates : Path or None
        A folder with the user's own templates; templates/README.md says what they can be.
    **told
        What the templates are told beside the run.

    Returns
    -------
    str
        The report, ending with a line break; it can be encoded as UTF-8 whatever the data.

    Raises
    ------
    ReportError
        If a template is wrong; the message names its file and line.
    """
    made = _ours(dialect) if templates is None else environment(templates, dialect)
    try:
        if templates is not None:
            check_blocks(made, templates, check_folder(templates, dialect))
        told |= {"names": names(run), "files": files(run), "variants": variants(run)}
        return made.get_template(dialect.report).render(run=run, claims=run.claims, **told)
    except ReportError:
        raise
    # A template can fail in as many ways as a program.
    except Exception as error:
        raise ReportError(located(error, templates)) from error


@cache
def _ours(dialect: Dialect) -> Environment:
    """Make the environment without a user's templates, in which ours are compiled once."""
    return environment(None, dialect)
