"""How many results stay above chance when t is counted: Table 1 of arXiv 2404.13020, for any run.

A result counts as above standard where its best prompt reaches at least the standard baseline; it
is flipped where it is above standard and not above the maximum random baseline. By this convention
of the paper, one that is exactly at the standard baseline counts as between the two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, accuracy, count, equals, p_value
from pytest_maxrandom.reports.summary import by_suite, model_name, shots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, RunRecord, Standing

MOST_COLUMNS = 12
"""Of one grid; more make further grids."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The verdicts of some claims."""

    of: str
    """Name of the model, or number of demonstrations; empty for all claims."""
    kind: str
    """model, shots or all."""
    above_maximum: int
    between: int
    """Those exactly at the standard baseline among them, as in the paper."""
    below: int

    @property
    def above_standard(self) -> int:
        """At least at the standard baseline."""
        return self.above_maximum + self.between

    @property
    def total(self) -> int:
        """All of them."""
        return self.above_standard + self.below

    @property
    def flipped(self) -> str:
        """Share of those above standard that are not above maximum: ``22.0 %``."""
        if not self.above_standard:
            return NONE
        return f"{100 * self.between / self.above_standard:.1f} %"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The verdicts of a run, or of one of its suites."""

    suite: str
    """Its name, where another one makes claims of the same things; else empty."""
    counts: tuple[Counts, ...]
    """By model; by shots, where there are several; of all."""
    columns: tuple[tuple[str, str], ...]
    """Models and shots: models as they come, and each model's shots from few to many."""
    rows: Mapping[str, Mapping[tuple[str, str], Sequence[Standing]]]
    """By tasks and columns; several where several claims are made there."""

    @property
    def grids(self) -> list[tuple[tuple[str, str], ...]]:
        """The columns of each grid; every grid has all rows."""
        starts = range(0, len(self.columns), MOST_COLUMNS)
        return [self.columns[start : start + MOST_COLUMNS] for start in starts]


def agreement(run: RunRecord) -> list[Agreement]:
    """Count the verdicts of a run; those of suites about the same things each by themselves.

    Returns
    -------
    list of Agreement
        Without those where no two claims share a task, or no two a model and number of shots:
        there is nothing to compare.
    """
    found = []
    for suite, claims in by_suite(each for each in run.claims if each.verdict is not None).items():
        rows: dict[str, dict[tuple[str, str], list[Standing]]] = {}
        for claim in claims:
            assert claim.verdict is not None
            row = rows.setdefault(claim.task, {})
            row.setdefault((model_name(claim), shots(claim)), []).append(claim.verdict)
        columns = list(dict.fromkeys((model_name(claim), shots(claim)) for claim in claims))
        models = list(dict.fromkeys(model for model, _ in columns))
        columns.sort(key=lambda column: (models.index(column[0]), _number(column[1])))
        fewer, more = sorted((len(rows), len(columns)))
        if fewer > 1 and sum(map(len, rows.values())) > more:
            found.append(Agreement(suite, tuple(_counts(claims)), tuple(columns), rows))
    return found


def _counts(claims: list[ClaimRecord]) -> Iterable[Counts]:
    found: dict[str, dict[str, Counter[Standing | None]]] = {"model": {}, "shots": {}, "all": {}}
    for claim in claims:
        for kind, of in (("model", model_name(claim)), ("shots", shots(claim)), ("all", "")):
            found[kind].setdefault(of, Counter())[claim.verdict] += 1
    by_shots = sorted(found["shots"].items(), key=lambda each: _number(each[0]))
    found["shots"] = dict(by_shots) if len(by_shots) > 1 else {}
    for kind, groups in found.items():
        for of, verdicts in groups.items():
            yield Counts(
                of,
                kind,
                above_maximum=verdicts["above maximum"],
                between=verdicts["between baselines"] + verdicts["at standard"],
                below=verdicts["below standard"],
            )


def _number(shown: str) -> int:
    return int(shown or -1)


def published(claim: ClaimRecord) -> str:
    """Say what was published of a claim, and in what the results differ."""
    p = claim.published
    if p is None:
        return ""
    shown = p_value(p.p_max)
    numbers = (
        f"n = {count(p.n)}, t = {count(p.t)}, standard baseline "
        f"{accuracy(p.standard_baseline)}, maximum random baseline "
        f"{accuracy(p.max_random_baseline)}, p_max {equals(shown)}, {p.verdict}"
    )
    return "; ".join([numbers, *(change.text for change in p.changes)])


def changed(run: RunRecord) -> list[ClaimRecord]:
    """List the claims with another verdict than the published one."""
    return [
        claim
        for claim in _compared(run)
        if claim.published is not None and claim.verdict != claim.published.verdict
    ]


def changes(run: RunRecord) -> str:
    """Count the verdicts that change; empty where nothing published is known.

    Returns
    -------
    str
        Such as ``3 of 144 published verdicts change``.
    """
    compared = len(_compared(run))
    if not compared:
        return ""
    number = len(changed(run))
    verb = "changes" if 1 in (number, compared) else "change"
    return f"{number} of {compared} published {'verdict' if compared == 1 else 'verdicts'} {verb}"


def _compared(run: RunRecord) -> list[ClaimRecord]:
    return [
        claim for claim in run.claims if claim.published is not None and claim.verdict is not None
    ]
