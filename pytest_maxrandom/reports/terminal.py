"""The summary at the end of a run in a terminal."""

from __future__ import annotations

import unicodedata
from itertools import compress
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, accuracy, count, p_value, signed
from pytest_maxrandom.reports.comparisons import (
    arms,
    best_interval,
    difference_interval,
    differing,
    shown_n,
)
from pytest_maxrandom.reports.label_bias import bias_rows
from pytest_maxrandom.reports.phrases import decisive_name, decisive_p, new_at_least
from pytest_maxrandom.reports.red_flags import (
    DOES,
    MOST_NAMES,
    ignores_all,
    not_in_finding,
    raised,
)
from pytest_maxrandom.reports.replicates import contradictions, five, holding
from pytest_maxrandom.reports.summary import (
    WORDS,
    became,
    missing,
    names,
    records,
    simulated,
    unread,
    with_rows,
)
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_maxrandom.record import (
        ClaimRecord,
        ComparisonRecord,
        ContaminationRecord,
        LabelBiasRecord,
        OverTasks,
        ReplicatesRecord,
        RunRecord,
    )

_CLAIMS = ("n", "t", "best", "chance", "max random", "p_max", "new questions", "result", "claim")
_REPLICATES = ("best from", "median", "to", "p_max", "holds in", "opposite", "result", "replicates")
_LABEL_BIAS = (
    *("n", "t", "Nvr-X", "guessers", "p", "RStd", "r", "interval", "check", "asked as"),
    *("finding", "result", "label bias"),
)
_COMPARISONS = (
    *("n", "t", "K", "first", "second", "difference", "interval", "p", "q", "Holm"),
    *("best of t", "interval", "McNemar", "result", "comparison"),
)
_OVER_TASKS = ("tasks", "shots", "difference", "interval", "p", "over tasks")
_CONTAMINATION = ("boost", "p", "bias", "p", "finding", "result", "contamination")
_LEFT = frozenset(
    ("p_max", "result", "claim", "interval", "check", "asked as", "finding", "holds in", "opposite")
)
_MOST_FLAGS = 20
_GAP = "  "
_METRICS = {"balanced_accuracy": "bal. acc.", "macro_f1": "macro-F1"}


def rows(run: RunRecord) -> list[str]:
    """Lay out the claims as a table of plain text.

    Names stand last, where they can be as long as they are without pushing the numbers apart.

    Parameters
    ----------
    run : RunRecord
        Its claims are shown in their order.

    Returns
    -------
    list of str
        Lines without line breaks, the header first; none where there is nothing to tell.
    """
    named = {name: visible(shown) for name, shown in names(run).items()}
    claims = with_rows(run.claims)
    lines = [
        *filter(None, [simulated(run)]),
        *_table(_CLAIMS, ((*_cells(each), named[each.id]) for each in claims)),
        *_table(_REPLICATES, ((*_replicates(each), named[each.id]) for each in run.replicates)),
        *_table(
            _LABEL_BIAS,
            ((*cells, named[each.id]) for each in run.label_bias for cells in _biased(each)),
        ),
        *_table(_COMPARISONS, ((*_compared(each), named[each.id]) for each in run.comparisons)),
        *_table(_OVER_TASKS, map(_over_tasks, run.over_tasks)),
        *_table(_CONTAMINATION, ((*_checked(each), named[each.id]) for each in run.contamination)),
    ]
    lines += _red_flags(run, named)
    if skipped := len(run.claims) - len(claims):
        lines.append(f"{count(skipped)} claims were skipped")
    if told := missing(run):
        ended = "interrupted" if run.interrupted else "ended early"
        lines.append(f"{ended}: {told.replace(' ', ' selected ', 1)}")
    if run.broken:
        lines.append(unread(run))
    lines += dict.fromkeys(visible(told) for each in records(run) for told in each.warnings)
    return lines


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Align rows below a header, without columns that are empty; nothing where there are none."""
    cells = list(rows)
    if not cells:
        return []
    filled = [any(column) for column in zip(*cells, strict=True)]
    table = [list(compress(row, filled)) for row in (header, *cells)]
    header = table[0]
    widths = [max(map(_columns, column)) for column in zip(*table, strict=True)]
    left = [name in _LEFT or name is header[-1] for name in header]
    return [_GAP.join(map(_padded, row, widths, left)).rstrip() for row in table]


def _cells(claim: ClaimRecord) -> tuple[str, ...]:
    return (
        count(claim.n),
        count(claim.t),
        _best(claim),
        accuracy(claim.standard_baseline),
        accuracy(claim.max_random_baseline),
        f"{decisive_p(claim)} {decisive_name(claim)}".rstrip(),
        new_at_least(claim),
        WORDS[became(claim)],
    )


def _replicates(record: ReplicatesRecord) -> tuple[str, ...]:
    lowest, _, median, _, highest = five(record, "best_accuracy")
    return (
        *(lowest, median, highest, five(record, "p_max")[2]),
        holding(record),
        contradictions(record),
        WORDS[became(record)],
    )


def _biased(record: LabelBiasRecord) -> list[tuple[str, ...]]:
    """Return a row for each way of asking."""
    return [
        (
            *(row.n, row.t, row.score, row.guessers, row.p, row.rstd, row.r, row.interval or NONE),
            *(row.check, row.interaction, row.finding, WORDS[became(record)]),
        )
        for row in bias_rows(record)
    ]


def _compared(record: ComparisonRecord) -> tuple[str, ...]:
    return (
        *(shown_n(record), count(record.t), count(record.replicates)),
        *(accuracy(record.first_accuracy), accuracy(record.second_accuracy)),
        *(signed(record.difference), difference_interval(record) or NONE),
        *map(p_value, (record.p_value, record.adjusted_bh, record.adjusted_holm)),
        *(signed(record.best_difference), best_interval(record) or NONE),
        *(differing(record), WORDS[became(record)]),
    )


def _over_tasks(record: OverTasks) -> tuple[str, ...]:
    known = difference_interval(record) or NONE
    numbers = (count(record.tasks), count(record.shots), signed(record.difference), known)
    return *numbers, p_value(record.p_value), visible(arms(record))


def _checked(record: ContaminationRecord) -> tuple[str, ...]:
    return (
        *(signed(record.boost), p_value(record.boost_p)),
        *(signed(record.bias), p_value(record.bias_p)),
        *(record.finding or NONE, WORDS[became(record)]),
    )


def _red_flags(run: RunRecord, named: Mapping[str, str]) -> list[str]:
    """Tell each red flag once, whatever the number of its claims, and where none are told.

    pytest has told those that are why a claim fails.
    """
    lines = [
        f"red flag {told.flag.kind} ({DOES[told.flag.severity]}), "
        f"{_several([named[name] for name in told.ids])}: {visible(told.flag.text)}"
        for told in raised(run.claims, not_in_finding)
    ]
    if (left_out := len(lines) - _MOST_FLAGS) > 1:
        lines[_MOST_FLAGS:] = [f"{count(left_out)} more red flags are in the reports"]
    tried = (claim for claim in run.claims if claim.outcome != "skipped")
    if unseen := [named[claim.id] for claim in tried if ignores_all(claim)]:
        lines.append(f"all red flags are ignored, by the suite: {_several(unseen)}")
    return lines


def _several(named: Sequence[str]) -> str:
    more = len(named) - MOST_NAMES
    return ", ".join(named[:MOST_NAMES]) + (f" and {count(more)} more" if more > 0 else "")


def _best(claim: ClaimRecord) -> str:
    if claim.best_correct is None:
        return NONE
    if claim.metric == "accuracy":
        return f"{count(claim.best_correct)} ({accuracy(claim.best_accuracy)})"
    return f"{accuracy(claim.best_score)} {_METRICS.get(claim.metric, claim.metric)}"


def _columns(text: str) -> int:
    """Count the columns that a terminal takes for a text without hidden characters."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, wide: int, left: bool) -> str:
    space = " " * (wide - _columns(text))
    return text + space if left else space + text
