"""Judged claims as objects: with their numbers, and all ways in which reports show them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import did_you_mean, listed
from pytest_maxrandom.figures import MISSING, NAMES, installed
from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.record import LISTS, ClaimRecord, Remark, RunRecord
from pytest_maxrandom.reports import phrases
from pytest_maxrandom.reports.columns import mark
from pytest_maxrandom.reports.csv import rows
from pytest_maxrandom.reports.formats import FORMATS
from pytest_maxrandom.reports.page.render import html
from pytest_maxrandom.reports.quantities import best_value, needed_score
from pytest_maxrandom.reports.summary import names, tally
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure
    from pandas import DataFrame

_HEIGHT = 620
"""Pixels of a page in a notebook."""


class Shown:
    """What can be shown of a run, or of one of its claims."""

    _run: RunRecord
    _cells: Mapping[str, str]
    _opened = False

    def report(self, form: str = "markdown") -> str:
        """Write a report: markdown, disclosure, checklist, html, latex, bibtex, csv, badge, ...

        All formats of ``maxrandom report``, those of packages too; `hub` needs the command, which
        is told the benchmark.

        Raises
        ------
        ValueError
            If there is no such format.
        """
        if form not in FORMATS:
            raise ValueError(
                f"found {form!r}, expected {listed([*FORMATS])}{did_you_mean(form, FORMATS)}"
            )
        if form == "html":
            return html(self._run, self._cells, opened=self._opened)
        return FORMATS[form](self._run)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of unrounded numbers for each claim, for a data frame of any library."""
        return [{name: _as_cell(each) for name, each in row.items()} for row in rows(self._run)]

    def to_frame(self) -> DataFrame:
        """Return a row for each claim as a data frame of pandas.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame() needs pandas, which is not installed; other libraries take rows(), "
                "such as polars.DataFrame(report.rows())"
            ) from None
        return pd.DataFrame(self.rows())

    def figure(self, name: str = "best_of_t") -> Figure:
        """Draw a figure, the first of its family.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no such family, or it has nothing to show of these claims.
        """
        if not installed():
            raise ImportError(MISSING)
        from pytest_maxrandom.figures.catalogue import of_run
        from pytest_maxrandom.figures.style import WIDTH, applied

        if name not in NAMES:
            raise ValueError(f"found {name!r}, expected {listed(NAMES)}{did_you_mean(name, NAMES)}")
        drawn = of_run(self._run)
        with applied(WIDTH):
            for _, figure in drawn.families.get(name, tuple)():
                return figure
        raise ValueError(drawn.notes.get(name) or f"{name}: these claims have nothing to draw")

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, which reaches nothing of the notebook around it."""
        page = escape(self.report("html"), quote=True)
        return (
            f"<p>{escape(str(self))}</p>\n"
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" title="maxrandom" width="100%" '
            f'height="{_HEIGHT}" style="border: 1px solid #8886"></iframe>'
        )


def _as_cell(value: Any) -> Any:
    """Return a value as a cell of a data frame: notes as what they say."""
    if isinstance(value, list) and all(isinstance(each, Remark) for each in value):
        return "; ".join(each.text for each in value)
    return value


@dataclass(frozen=True, eq=False, repr=False)
class JudgedClaim(Shown):
    """One claim with its verdict. It is true where it passes, and in no other case.

    A number that was not computed is None.
    """

    record: ClaimRecord
    """All that is known, as the JSON report has it."""
    name: str
    passed: bool | None
    """None where the results cannot tell, or nothing is claimed."""
    why: str | None
    """Why it does not pass, in one sentence."""
    n: int | None
    """Number of examples."""
    t: int | None
    """Number of prompts."""
    best_correct: int | None
    """Right answers of the best prompt."""
    best_accuracy: float | None
    standard_baseline: float | None
    max_random_baseline: float | None
    needed: int | None
    """Fewest right answers that would have passed; None if no number of them does, or scores are
    no such numbers."""
    p_standard: float | None
    p_max: float | None
    permutation_p: float | None
    baseline_p: float | None
    control_p: float | None
    incumbent_p: float | None
    red_flags: tuple[str, ...]
    """Kinds of red flags, those that fail the claim first."""
    _run: RunRecord
    _cells: Mapping[str, str]
    _opened = True

    @classmethod
    def of(cls, record: ClaimRecord, run: RunRecord, cells: Mapping[str, str]) -> JudgedClaim:
        """Return a claim of a run."""
        alone: dict[str, Any] = {
            **{name: [] for name in (*LISTS, "over_tasks", "contamination_over_tasks")},
            "claims": [record],
            "label_bias": [each for each in run.label_bias if each.claim == record.id],
        }
        numbers = (
            "n", "t", "best_correct", "best_accuracy", "standard_baseline", "max_random_baseline",
            "p_standard", "p_max", "permutation_p", "baseline_p", "control_p", "incumbent_p",
        )  # fmt: skip
        return cls(
            record=record,
            name=names(run)[record.id],
            passed=record.passed if record.asserted else None,
            why=record.message,
            needed=record.critical_count,
            red_flags=tuple(dict.fromkeys(flag.kind for flag in record.red_flags)),
            _run=replace(run, **alone),
            _cells={key: each for key, each in cells.items() if key == record.id},
            **{key: getattr(record, key) for key in numbers},
        )

    def __bool__(self) -> bool:
        return self.passed is True

    def __repr__(self) -> str:
        claim = self.record
        needed, highest = needed_score(claim), self.max_random_baseline
        numbers = clauses(
            f"best {accuracy(best_value(claim))}",
            needed is not None and f"needed {accuracy(needed)}",
            highest is not None and f"maximum random baseline {accuracy(highest)}",
            f"{phrases.name_of_p(claim)} = {phrases.decisive_p(claim)}",
            f"n = {count(self.n)}, t = {count(self.t)}",
        )
        word = mark(claim).word
        return f"{self.name} {word}: {(self.why or numbers).removeprefix(f'{word}: ')}"


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """The claims of a run, each of them judged."""

    _run: RunRecord
    _cells: Mapping[str, str] = field(default_factory=dict)

    @property
    def claims(self) -> tuple[JudgedClaim, ...]:
        """The claims, in their order."""
        return tuple(JudgedClaim.of(each, self._run, self._cells) for each in self._run.claims)

    @property
    def record(self) -> RunRecord:
        """All that is known, as the JSON report has it."""
        return self._run

    def __repr__(self) -> str:
        return f"maxrandom: {tally(self._run)}"
