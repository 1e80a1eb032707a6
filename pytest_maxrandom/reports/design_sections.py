"""The tables of what a run has besides claims, stated once for all languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, signed
from pytest_maxrandom.reports import designs, label_bias
from pytest_maxrandom.reports.best_models import best_models_table
from pytest_maxrandom.reports.columns import (
    HTML_ONLY,
    MAXIMUM,
    NOTES,
    RESULT,
    claim_column,
    mark,
    name_column,
    task_column,
)
from pytest_maxrandom.reports.computing import trained, training_table
from pytest_maxrandom.reports.summary import ends, files, names
from pytest_maxrandom.reports.tables import PAGES, Cell, Column, Drawing, Name, Table, tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.record import (
        InteractionBias,
        LabelBiasRecord,
        LabelRow,
        ReplicatesRecord,
        RunRecord,
    )

_WIDE = PAGES - {"upright"}
_AGAINST = "*Against the majority*: a single draw would have given another verdict than most."
_RSTD = "*RStd*: standard deviation of the recalls (Zheng et al., arXiv:2309.03882)."
_R = "*r*: the correlation of base rates with the recalls."
_HOLM = "*Holm*: *p*, adjusted over tasks by Holm."
_BOOST_AND_BIAS: list[Column[Any]] = [
    Column("boost:\nextra - base", "boost", "signed", "boost"),
    Column("*p*", "boost_p", "p", "p", below="", lead="p "),
    Column("bias:\ntest - extra", "bias", "signed", "bias"),
    Column("*p*", "bias_p", "p", "p", below="", lead="p "),
]
_INDICATED: list[Column[Any]] = [
    Column("finding", lambda each: designs.indicated(each) or NONE, "prose"),
    Column("finding", "finding", brief="finding", media=frozenset()),
]
_DIFFER = "*Prompts that differ*: by McNemar's test, in the first replicate, adjusted by Holm."


def replicates_table(run: RunRecord) -> Table:
    """Show replicated claims: how many replicates hold, and how far their numbers spread."""

    def median(quantity: designs.Quantity) -> Callable[[ReplicatesRecord], str]:
        return partial(designs.median, quantity=quantity)

    def extremes(quantity: designs.Quantity) -> Callable[[ReplicatesRecord], str]:
        shown = partial(designs.extremes, quantity=quantity)
        return lambda record: "" if shown(record) == median(quantity)(record) else shown(record)

    def bars(record: ReplicatesRecord) -> Cell:
        return (Name(shown),) if (shown := designs.histogram(record)) else ()

    def drawn(record: ReplicatesRecord) -> Drawing | str:
        if not record.runs:
            return NONE
        draws = tuple(one.best_accuracy for one in record.runs)
        return Drawing(draws=draws, highest=record.runs[0].max_random_baseline)

    best, maximum, p = extremes("best_accuracy"), extremes("max_random_baseline"), extremes("p_max")
    columns: list[Column[Any]] = [
        RESULT,
        claim_column(run),
        Column("passes in", designs.holding, "right", brief="passes in", optional=True),
        Column("against the\nmajority", designs.contradictions, "right", brief="against",
               media=_WIDE, note=_AGAINST),
        Column("best accuracy:\nmedian", median("best_accuracy"), "score", brief="best"),
        Column("range", best, "right", below="range"),
        Column("bars", bars, below="", media=frozenset(("markdown",)), note=NOTES["bars"]),
        Column(MAXIMUM.heading, median("max_random_baseline"), "score"),
        Column("range", maximum, "right", below="", media=_WIDE),
        Column("*p_max*", median("p_max"), "right", brief="p_max"),
        Column("range", p, "right", below="", media=_WIDE),
        Column("best of each", drawn, media=HTML_ONLY, note=NOTES["draws"]),
        name_column("replicates", run),
    ]  # fmt: skip
    legend = "Each claim was repeated with other examples and other demonstrations."
    return tabulate("Replicates", columns, run.replicates, key="replicates", legend=legend)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One way of asking of a check; none of a check without a result."""

    record: LabelBiasRecord
    bias: InteractionBias | None
    claim: str
    id: str


def label_bias_table(run: RunRecord) -> Table:
    """Show label-bias checks: a row for each way of asking."""
    rows = [
        _Asked(each, bias, each.claim, each.id)
        for each in run.label_bias
        for bias in each.interactions or (None,)
    ]

    def of_bias(write: Callable[[InteractionBias, LabelBiasRecord], str], without: str) -> Any:
        return lambda row: write(row.bias, row.record) if row.bias else without

    columns: list[Column[Any]] = [
        Column("result", lambda row: mark(row.record), brief="result"),
        Column("finding", lambda row: row.record.finding or NONE, media=_WIDE),
        claim_column(run),
        Column("check", "record.check", media=_WIDE),
        Column("asked as", of_bias(lambda bias, _: bias.interaction, ""), below=""),
        Column("*n*", "bias.n", "count", brief="n"),
        Column("*t*", "bias.t", "count", brief="t"),
        Column("Nvr-X\nscore", "bias.score", "score", brief="Nvr-X"),
        Column("best\nguesser", "bias.score_baseline", "score", below="best guesser"),
        Column("*p*", of_bias(label_bias.score_p, NONE), "right", brief="p"),
        Column("RStd", "bias.rstd", "score", media=_WIDE, note=_RSTD),
        Column("*r*", of_bias(lambda bias, _: signed(bias.r, 2), NONE), "right",
               media=_WIDE, note=_R),
        Column("interval", of_bias(lambda bias, _: label_bias.r_interval(bias), ""), "right",
               below="(95 % interval)", optional=True, media=_WIDE),
        Column("finding", lambda row: (row.record.finding or NONE).removeprefix("label "),
               brief="finding", media=frozenset(("upright",))),
        name_column("label bias", run),
    ]  # fmt: skip
    checks = {record.check for record in run.label_bias}
    score = []
    if checks & {"recall", "move"}:
        score.append("mean of the recalls without the largest one")
    if "redraw" in checks:
        score.append(
            f"{'of *redraw*, ' * bool(score)}least accuracy when right answers are drawn anew "
            "among all labels but one"
        )
    kept = recalled = ""
    if checks & {"move", "redraw"}:
        kept = (
            "; of *move* and *redraw* that of guessers who keep to one choice of each example "
            "wherever it stands, where they are harder to beat"
        )
    if "recall" in checks:
        recalled = "; of *recall*, knowledge must also show against shuffled right answers"
    legend = (
        "Does the best prompt know answers, or prefer a label? "
        f"*Nvr-X score*: {'; '.join(score)} (0 for a constant answer; arXiv:2406.11634), of the "
        "best of *t* prompts, and as expected of the best of *t* random guessers; *p*: the "
        f"probability that these do as well{kept}{recalled}. *Recall*: share of the examples with "
        "that right answer that are answered so. *Base rate*: probability of a label without a "
        "question."
    )
    return tabulate("Label bias", columns, rows, key="label-bias", legend=legend)


def labels_table(rows: Sequence[tuple[Cell, LabelRow]], most: int | None = None) -> Table:
    """Show how the prompt with the highest accuracy treats each label.

    A row is what names the check, in a table of several, and the label.
    """

    def drawn(row: tuple[Cell, LabelRow]) -> Drawing | str:
        return "" if row[1].recall is None else Drawing(row[1].recall)

    bar = "Bar: recall, from 0 to 1."
    columns: list[Column[tuple[Cell, LabelRow]]] = [
        Column("check", lambda row: row[0], header=True, optional=True),
        Column("label", lambda row: Name(row[1].label, 40), header=True),
        Column("right in", lambda row: count(row[1].gold), "count"),
        Column("recall", lambda row: accuracy(row[1].recall), "score"),
        Column("recall", drawn, media=HTML_ONLY, optional=True, note=bar),
        Column("share of the answers", lambda row: accuracy(row[1].predicted), "score"),
        Column("base rate", lambda row: accuracy(row[1].base_rate), "score", optional=True),
    ]
    caption, key = "How the prompt with the highest accuracy treats each label.", "labels"
    return tabulate("Each label", columns, rows, most=most, of=key, key=key, caption=caption)


def all_labels_table(run: RunRecord) -> Table:
    """Show the labels of all checks."""
    known = names(run)
    return labels_table(
        [
            ((Name(known.get(record.claim, known[record.id]), 80), bias.interaction), row)
            for record in run.label_bias
            for bias in record.interactions
            for row in bias.labels
        ]
    )


def comparisons_table(run: RunRecord) -> Table:
    """Show what two arms differ in."""
    shown = designs.difference_interval, designs.best_interval
    of_mean, of_best = (lambda each, of=of: of(each) or NONE for of in shown)
    columns: list[Column[Any]] = [
        RESULT,
        task_column(files(run)),
        Column("arms", _arms),
        Column("shots", "shots", "count"),
        Column("*n*", designs.shown_n, "count", "n", lead="n = "),
        Column("*t*", "t", "count", "t", below="*t*", lead="t = "),
        Column("*K*", "replicates", "count", below="*K*", lead="K = "),
        Column("accuracy", "first_accuracy", "score"),
        Column("of the second", "second_accuracy", "score", below="", media=_WIDE),
        Column("difference", "difference", "signed", "difference"),
        Column("interval", of_mean, "right", below="(interval)"),
        Column("*p*", "p_value", "p", "p"),
        Column("*q*", "adjusted_bh", "p"),
        Column("Holm", "adjusted_holm", "p", below="Holm", media=_WIDE, note=_HOLM),
        Column("best of *t*:\ndifference", "best_difference", "signed"),
        Column("interval", of_best, "right", below="(interval)", media=_WIDE),
        Column("prompts that\ndiffer", designs.differing, "right", media=_WIDE, note=_DIFFER),
        name_column("comparison", run),
    ]
    legend = (
        "The first arm less the second, on the same prompts and examples. *n*: examples; *t*: "
        "prompts; *K*: replicates. *p*: two-sided sign-flip test of the mean difference; *q*: the "
        "same, adjusted over tasks by Benjamini and Hochberg. Best of *t*: of the best prompt of "
        "each arm."
    )
    return tabulate("Comparisons", columns, run.comparisons, key="comparisons", legend=legend)


def over_tasks_table(run: RunRecord) -> Table:
    """Show mean differences over tasks."""

    def interval(record: Any) -> str:
        return designs.difference_interval(record) or "too few tasks"

    columns: list[Column[Any]] = [
        Column("arms", _arms, brief="over tasks", header=True),
        Column("shots", "shots", "count", "shots"),
        Column("tasks", "tasks", "count", "tasks"),
        Column("difference", "difference", "signed", "difference"),
        Column("interval", interval, "right", "interval"),
        Column("*p*", "p_value", "p", "p"),
    ]
    legend = "Mean over tasks, each with the same weight; *p*: two-sided sign-flip test over tasks."
    return tabulate("Over tasks", columns, run.over_tasks, key="over-tasks", legend=legend)


def contamination_table(run: RunRecord) -> Table:
    """Show what tuning on other text, and on the benchmark's, brings."""
    columns: list[Column[Any]] = [
        RESULT,
        task_column(files(run)),
        Column("shots", "shots", "count"),
        *_BOOST_AND_BIAS,
        *_INDICATED,
        name_column("contamination", run),
    ]
    legend = (
        "*Boost*: what tuning on other text brings; *bias*: what the benchmark's own text brings "
        "beyond that. A significant bias is a finding, with or without a boost; one that is not "
        "significant is no sign of anything unless there is a boost."
    )
    title = "Was it tuned on the benchmark's text?"
    return tabulate(title, columns, run.contamination, key="contamination", legend=legend)


def contamination_over_tasks_table(run: RunRecord) -> Table:
    """Show what tuning brings over tasks."""

    def interval(record: Any) -> str:
        found = designs.interval(record.bias_low, record.bias_high)
        return f"{found} ({designs.confidence(record)})" if found else "too few tasks"

    suites = list(dict.fromkeys(each.suite for each in run.contamination_over_tasks))
    told_apart = dict(zip(suites, ends(suites), strict=True))

    def arms(record: Any) -> tuple[Name, ...]:
        end = told_apart[record.suite]
        of_suite = (Name(end, 60, " of "),) if end else ()
        names = (Name(arm, 30) for arm in (record.base, record.extra, record.test))
        return (*names, *of_suite)

    columns: list[Column[Any]] = [
        Column("arms", arms, brief="over tasks", header=True),
        Column("shots", "shots", "count", "shots"),
        Column("tasks", "tasks", "count", "tasks"),
        *_BOOST_AND_BIAS[:-1],
        Column("interval", interval, "right", "interval"),
        _BOOST_AND_BIAS[-1],
        *_INDICATED,
    ]
    legend = "Mean over tasks, each with the same weight; *p*: one-sided sign-flip test over tasks."
    title = "Tuned on the benchmarks' text? Over tasks"
    key = "contamination-over-tasks"
    return tabulate(title, columns, run.contamination_over_tasks, key=key, legend=legend)


def design_tables(run: RunRecord) -> list[Table]:
    """Make the tables of what a run has besides claims."""
    known = [
        (run.replicates, replicates_table),
        (run.label_bias, label_bias_table),
        (run.comparisons, comparisons_table),
        (run.best_models, best_models_table),
        (run.over_tasks, over_tasks_table),
        (run.contamination, contamination_table),
        (run.contamination_over_tasks, contamination_over_tasks_table),
        (trained(run), training_table),
    ]
    return [table(run) for records, table in known if records]


def _arms(record: Any) -> Cell:
    return Name(record.first, 30), Name(record.second, 30, "- ")
