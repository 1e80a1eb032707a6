"""The tables of all reports, and what pages fold of a record: stated once for all languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, level, p_value, share, signed
from pytest_maxrandom.record import (
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
)
from pytest_maxrandom.reports import comparisons, label_bias, phrases, replicates
from pytest_maxrandom.reports.agreement import STANDINGS, changed
from pytest_maxrandom.reports.changes import difference, score_difference
from pytest_maxrandom.reports.design_changes import claimed_of, summarized
from pytest_maxrandom.reports.phrases import best_value
from pytest_maxrandom.reports.red_flags import DOES
from pytest_maxrandom.reports.summary import (
    SYMBOLS,
    WORDS,
    became,
    files,
    model_name,
    names,
    shots,
    variants,
)
from pytest_maxrandom.reports.tables import Column, Detail, Drawing, Mark, Name, Table, tabulate
from pytest_maxrandom.reports.text import shorten
from pytest_maxrandom.reports.wording import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.record import ClaimRecord, InteractionBias, LabelRow, RunRecord
    from pytest_maxrandom.reports.agreement import Agreement, Counts
    from pytest_maxrandom.reports.summary import Design, Record
    from pytest_maxrandom.reports.tables import Cell, Fact, Medium

MOST_ROWS = 100
"""Of what stands in the details of one record; the JSON report has all."""
_WHY = 300
"""Characters that say why a verdict changes."""
_HTML: frozenset[Medium] = frozenset(("html",))
_TO = "\N{NO-BREAK SPACE}→"


def mark(record: Record) -> Mark:
    """Write what became of a record; pytest has shorter words for some of it."""
    ended = became(record)
    brief = str(ended) if ended in ("xfailed", "xpassed") else ""
    return Mark(SYMBOLS[ended], WORDS[ended], brief)


def _was(write: Callable[[Any], str]) -> Callable[[Any, Any], str]:
    def change(now: Any, before: Any) -> str:
        return "" if write(now) == write(before) else f"was\N{NO-BREAK SPACE}{write(before)}"

    return change


def _correct(claim: ClaimRecord) -> str:
    if claim.best_correct is None:
        return ""
    return _metric(claim) or share(claim.best_correct, examples(claim))


def _metric(claim: ClaimRecord) -> str:
    return "" if claim.metric == "accuracy" else phrases.metric_name(claim)


def _best_change(now: ClaimRecord, then: ClaimRecord) -> str:
    return score_difference(best_value(now), best_value(then)) if now.metric == then.metric else ""


def _p_change(now: ClaimRecord, then: ClaimRecord) -> str:
    key = phrases.decisive(now)
    return _was(lambda claim: phrases.shown_p(claim, key))(now, then)


def _drawn(claim: ClaimRecord) -> Drawing | str:
    if not claim.verdict:
        return NONE
    best, highest = best_value(claim), claim.max_random_baseline
    return Drawing(best, standard=claim.standard_baseline, highest=highest)


def _flags(claim: ClaimRecord) -> str:
    return ", ".join(dict.fromkeys(DOES[flag.severity] for flag in claim.red_flags))


_RESULT: Column[Any] = Column("result", mark, brief="result", change=_was(lambda r: mark(r).word))
_MAXIMUM: Column[Any] = Column(
    "max. random\nbaseline", "max_random_baseline", "score", brief="max\nrandom"
)
_NOTES = {
    "new": "*New*: what the best prompt reaches on new questions, at 95 %.",
    "p": "Where the claim is decided by another p-value, that one is shown with its name.",
    "bar": "Bar: the best prompt, from 0 to 1; solid line: maximum random baseline; dashed line: "
    "standard baseline.",
    "bars": "The bars count replicates from the lowest to the highest best accuracy.",
    "draws": "Thin lines: the best prompt of each replicate, from 0 to 1; thick line: maximum "
    "random baseline of the first.",
}
_NUMBERS: list[Column[ClaimRecord]] = [
    Column("shots", lambda claim: shots(claim) or NONE, "count"),
    Column("*n*", "n", "count", brief="n", change=lambda now, then: difference(now.n, then.n)),
    Column("*t*", "t", "count", brief="t", change=lambda now, then: difference(now.t, then.t)),
    Column("best", lambda c: accuracy(best_value(c)), "score", brief="best", change=_best_change),
    Column("metric", _metric, brief="metric", optional=True, media=frozenset()),
    Column("correct", _correct, "right", below=""),
    Column("new", phrases.new_at_least, "right", below="", lead="new: ", optional=True,
           note=_NOTES["new"]),
    Column("standard\nbaseline", "standard_baseline", "score"),
    _MAXIMUM,
    Column("*p_max*", phrases.decisive_p, "right", brief="p", change=_p_change),
    Column("decided by", phrases.decisive_name, below="", optional=True, note=_NOTES["p"]),
    Column("best and baselines", _drawn, media=_HTML, note=_NOTES["bar"]),
    Column("red flags", _flags, optional=True, media=frozenset(("latex",))),
]  # fmt: skip


def claims_table(
    run: RunRecord,
    claims: Sequence[ClaimRecord] | None = None,
    before: Sequence[Record | None] = (),
    named: Mapping[str, Mapping[str, str]] | None = None,
) -> Table:
    """Show claims with n, t, both baselines and the p-value that decides.

    Parameters
    ----------
    run : RunRecord
        All claims.
    claims, before : sequence of ClaimRecord, optional
        Those that are shown, and the same in an earlier run.
    named : mapping, optional
        Their `files` and `variants`, where these are not those of the run.
    """
    shown = run.claims if claims is None else claims
    where, arms = (named[key] if named else of(run) for key, of in _TELLING.items())

    def model(claim: ClaimRecord) -> Cell:
        arm = arms[claim.id]
        name = model_name(claim)
        return (Name(name, 40) if name else NONE, *([Name(arm, 40)] if arm else []))

    no_verdict = _was(lambda claim: claim.verdict or "no verdict")
    columns: list[Column[Any]] = [
        _RESULT,
        Column("verdict", lambda claim: claim.verdict or "", below="", change=no_verdict),
        _task(where),
        Column("model", model),
        *_NUMBERS,
        _last("claim", run),
    ]
    test = "*p_max*, the probability that it does as well as the best prompt"
    if any(claim.permutation_p is not None for claim in shown):
        test = (
            f"the larger of {test}, and the *permutation p*, the probability that these prompts "
            "do so on shuffled right answers"
        )
    legend = (
        "*n*: examples; *t*: prompts, the best of which is reported. One random guesser reaches "
        "the standard baseline on average, the best of *t* guessers the maximum random baseline. "
        "*Between baselines* is above the first only. *Above maximum* is above both, which proves "
        "little, since the best of *t* guessers is there about half of the time; the test is "
        f"{test}."
    )
    if any(claim.verdict and examples(claim) != claim.n for claim in shown):
        legend += (
            " Where the best is no share of *n*, *n* is the published one, and the best prompt "
            "was scored on other examples."
        )
    caption = "The best of *t* prompts on *n* examples."
    return tabulate("Claims", columns, shown, before, caption=caption, legend=legend)


_TELLING = {"files": files, "variants": variants}


def changed_table(run: RunRecord) -> Table:
    """Show the claims with another verdict than the published one, with both."""

    def moved(write: Callable[[Any], str]) -> Callable[[ClaimRecord], str]:
        def both(claim: ClaimRecord) -> str:
            before, now = write(claim.published), write(claim)
            return now if before == now else f"{before}{_TO}\N{NO-BREAK SPACE}{now}"

        return both

    def verdicts(claim: ClaimRecord) -> Cell:
        assert claim.published is not None
        return f"{claim.published.verdict}{_TO}", claim.verdict or NONE

    def p_moved(claim: ClaimRecord) -> Cell:
        assert claim.published is not None
        return f"{p_value(claim.published.p_max)}{_TO}", p_value(claim.p_max, claim.log_p_max)

    def why(claim: ClaimRecord) -> str:
        assert claim.published is not None
        return shorten("; ".join(claim.published.changes), _WHY) or NONE

    columns: list[Column[ClaimRecord]] = [
        _of_claim(run, "id"),
        Column("verdict", verdicts),
        Column("*n*", moved(lambda each: count(each.n)), "right"),
        Column("*t*", moved(lambda each: count(each.t)), "right"),
        Column(_MAXIMUM.heading, moved(lambda each: accuracy(each.max_random_baseline)), "right"),
        Column("*p_max*", p_moved, "right"),
        Column("why", why, "prose"),
    ]
    caption = "What was published → what the results tell."
    return tabulate("Changed verdicts", columns, changed(run), key="changed", caption=caption)


def counts_table(found: Agreement) -> Table:
    """Count verdicts as Table 1 of the paper does."""

    def counted(row: Counts) -> Cell | str:
        if row.kind == "model":
            return (Name(row.of or NONE, 40),)
        return _in_shots(row.of or "unknown") if row.kind == "shots" else "all"

    columns: list[Column[Counts]] = [
        Column("claims", counted, header=True),
        Column("above standard", "above_standard", "count"),
        Column("above maximum", "above_maximum", "count"),
        Column("between", "between", "count"),
        Column("between /\nabove standard", "flipped", "right"),
        Column("below standard", "below", "count"),
        Column("total", "total", "count"),
    ]
    return tabulate(
        "Agreement of the two baselines",
        columns,
        found.counts,
        key=f"agreement{_slug(found)}",
        about=found.suite,
        caption="Agreement of the standard and the maximum random baseline.",
        legend="*Above standard*: the best prompt reaches at least what one guesser reaches on "
        "average, as in Table 1 of arXiv:2404.13020; one that is exactly at chance counts as "
        "between.",
    )


def grid_tables(found: Agreement) -> list[Table]:
    """Show the verdicts of each task, by models and shots."""

    def column(place: int, model: str, number: str) -> Column[Any]:
        shown = (_in_shots(number),) if number else ()
        return Column(
            (Name(model or NONE, 30), *shown),
            lambda row: tuple(Mark(*STANDINGS[verdict]) for verdict in row.cells[place]),
        )

    task: Column[Any] = Column("task", lambda row: Name(row.task, 40), header=True)
    return [
        tabulate(
            "Verdicts of each task",
            [task, *(column(place, *about) for place, about in enumerate(grid.columns))],
            grid.rows,
            key=f"verdicts{_slug(found)}-{number}",
            about=found.suite,
            caption="Verdicts of each task; one at chance is counted as between.",
        )
        for number, grid in enumerate(found.grids, 1)
    ]


def _slug(found: Agreement) -> str:
    return "".join(f"-{part}" for part in re.findall(r"[A-Za-z0-9]+", found.suite))


def _in_shots(number: str) -> str:
    return f"{number} {'shot' if number == '1' else 'shots'}"


def replicates_table(run: RunRecord) -> Table:
    """Show replicated claims: how many replicates hold, and how far their numbers spread."""

    def median(quantity: replicates.Quantity) -> Callable[[ReplicatesRecord], str]:
        return lambda record: replicates.median(record, quantity)

    def extremes(quantity: replicates.Quantity) -> Callable[[ReplicatesRecord], str]:
        def write(record: ReplicatesRecord) -> str:
            shown = replicates.extremes(record, quantity)
            return "" if shown == replicates.median(record, quantity) else shown

        return write

    def bars(record: ReplicatesRecord) -> Cell:
        shown = replicates.histogram(record)
        return (Name(shown),) if shown else ()

    def drawn(record: ReplicatesRecord) -> Drawing | str:
        if not record.runs:
            return NONE
        draws = tuple(one.best_accuracy for one in record.runs)
        return Drawing(draws=draws, highest=record.runs[0].max_random_baseline)

    best, maximum, p = extremes("best_accuracy"), extremes("max_random_baseline"), extremes("p_max")
    columns: list[Column[Any]] = [
        _RESULT,
        _of_claim(run),
        Column("holds in", replicates.holding, "right", brief="holds in"),
        Column("against the\nmajority", replicates.contradictions, "right", brief="against"),
        Column("best accuracy:\nmedian", median("best_accuracy"), "score", brief="best"),
        Column("range", best, "right", below="range"),
        Column("bars", bars, below="", media=frozenset(("markdown",)), note=_NOTES["bars"]),
        Column(_MAXIMUM.heading, median("max_random_baseline"), "score"),
        Column("range", maximum, "right", below=""),
        Column("*p_max*", median("p_max"), "right", brief="p_max"),
        Column("range", p, "right", below=""),
        Column("best of each", drawn, media=_HTML, note=_NOTES["draws"]),
        _last("replicates", run),
    ]
    legend = (
        "Each claim was repeated with other examples and other demonstrations. *Against the "
        "majority*: a single draw would have given another verdict than most."
    )
    return tabulate("Replicates", columns, run.replicates, key="replicates", legend=legend)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One way of asking of a check; none of a check without a result."""

    record: LabelBiasRecord
    bias: InteractionBias | None

    @property
    def claim(self) -> str:
        return self.record.claim

    @property
    def id(self) -> str:
        return self.record.id

    def p(self) -> str:
        return label_bias.score_p(self.bias, self.record) if self.bias else NONE

    def interval(self) -> str:
        return label_bias.r_interval(self.bias) if self.bias else ""

    def finding(self) -> str:
        return (self.record.finding or NONE).removeprefix("label ")

    def r(self) -> str:
        return signed(self.bias.r, 2) if self.bias else NONE


def label_bias_table(run: RunRecord) -> Table:
    """Show label-bias checks: a row for each way of asking."""
    rows = [_Asked(each, bias) for each in run.label_bias for bias in each.interactions or (None,)]
    columns: list[Column[Any]] = [
        Column("result", lambda row: mark(row.record), brief="result"),
        Column("finding", lambda row: row.record.finding or "", below=""),
        _of_claim(run),
        Column("check", "record.check"),
        Column("asked as", lambda row: row.bias.interaction if row.bias else "", below=""),
        Column("*n*", "bias.n", "count", brief="n"),
        Column("*t*", "bias.t", "count", brief="t"),
        Column("Nvr-X score", "bias.score", "score", brief="Nvr-X"),
        Column("best guesser", "bias.score_baseline", "score", below="best guesser"),
        Column("*p*", _Asked.p, "right", brief="p"),
        Column("RStd", "bias.rstd", "score"),
        Column("*r*", _Asked.r, "right"),
        Column("interval", _Asked.interval, "right", below="(95 % interval)", optional=True),
        Column("finding", _Asked.finding, brief="finding", media=frozenset()),
        _last("label bias", run),
    ]
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
        recalled = "; of *recall*, knowledge must show beside shuffled right answers as well"
    legend = (
        "Does the best prompt know answers, or prefer a label? "
        f"*Nvr-X score*: {'; '.join(score)} (0 for a constant answer; arXiv:2406.11634), of the "
        "best of *t* prompts, and as expected of the best of *t* random guessers; *p*: the "
        f"probability that these do as well{kept}{recalled}. *Recall*: share of the examples with "
        "that right answer that are answered so; *RStd*: standard deviation of the recalls (Zheng "
        "et al., arXiv:2309.03882). *Base rate*: probability of a label without a question; *r*: "
        "its correlation with the recalls."
    )
    return tabulate("Label bias", columns, rows, key="label-bias", legend=legend)


def labels_table(rows: Sequence[tuple[Cell, LabelRow]], most: int | None = None) -> Table:
    """Show how the prompt with the highest accuracy treats each label.

    Parameters
    ----------
    rows : sequence of tuple
        What names the check, in a table of several, and the label.
    most : int, optional
        Rows that are shown.
    """

    def drawn(row: tuple[Cell, LabelRow]) -> Drawing | str:
        return "" if row[1].recall is None else Drawing(row[1].recall)

    bar = "Bar: recall, from 0 to 1."
    columns: list[Column[tuple[Cell, LabelRow]]] = [
        Column("check", lambda row: row[0], header=True, optional=True),
        Column("label", lambda row: Name(row[1].label, 40), header=True),
        Column("right in", lambda row: count(row[1].gold), "count"),
        Column("recall", lambda row: accuracy(row[1].recall), "score"),
        Column("recall", drawn, media=_HTML, optional=True, note=bar),
        Column("share of the answers", lambda row: accuracy(row[1].predicted), "score"),
        Column("base rate", lambda row: accuracy(row[1].base_rate), "score", optional=True),
    ]
    caption = "How the prompt with the highest accuracy treats each label."
    return tabulate(
        "Each label", columns, rows, most=most, of="labels", key="labels", caption=caption
    )


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
    shown = comparisons.difference_interval, comparisons.best_interval
    of_mean, of_best = (lambda each, of=of: of(each) or NONE for of in shown)
    columns: list[Column[Any]] = [
        _RESULT,
        _task(files(run)),
        Column("arms", _arms),
        Column("shots", "shots", "count"),
        Column("*n*", comparisons.shown_n, "count", "n", lead="n = "),
        Column("*t*", "t", "count", "t", below="*t*", lead="t = "),
        Column("*K*", "replicates", "count", below="*K*", lead="K = "),
        Column("accuracy", "first_accuracy", "score"),
        Column("of the second", "second_accuracy", "score", below=""),
        Column("difference", "difference", "signed", "difference"),
        Column("interval", of_mean, "right", below="(interval)"),
        Column("*p*", "p_value", "p", "p"),
        Column("*q*", "adjusted_bh", "p"),
        Column("Holm", "adjusted_holm", "p", below="Holm"),
        Column("best of *t*:\ndifference", "best_difference", "signed"),
        Column("interval", of_best, "right", below="(interval)"),
        Column("prompts that\ndiffer", comparisons.differing, "right"),
        _last("comparison", run),
    ]
    legend = (
        "The first arm less the second, on the same prompts and examples. *n*: examples; *t*: "
        "prompts; *K*: replicates. *p*: two-sided sign-flip test of the mean difference; *q*: the "
        "same, adjusted over tasks by Benjamini and Hochberg, below it by Holm. Best of *t*: of "
        "the best prompt of each arm. *Prompts that differ*: by McNemar's test, in the first "
        "replicate, adjusted by Holm."
    )
    return tabulate("Comparisons", columns, run.comparisons, key="comparisons", legend=legend)


def over_tasks_table(run: RunRecord) -> Table:
    """Show mean differences over tasks."""

    def interval(record: Any) -> str:
        return comparisons.difference_interval(record) or "too few tasks"

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
        _RESULT,
        _task(files(run)),
        Column("shots", "shots", "count"),
        Column("boost:\nextra - base", "boost", "signed", "boost"),
        Column("*p*", "boost_p", "p", "p", below="", lead="p "),
        Column("bias:\ntest - extra", "bias", "signed", "bias"),
        Column("*p*", "bias_p", "p", "p", below="", lead="p "),
        Column("finding", lambda each: comparisons.indicated(each) or NONE, "prose"),
        Column("finding", "finding", brief="finding", media=frozenset()),
        _last("contamination", run),
    ]
    legend = (
        "*Boost*: what tuning on other text brings; *bias*: what the benchmark's own text brings "
        "beyond that. The bias means something only where there is a boost: a model that learns "
        "nothing from other text would learn nothing from the benchmark's either."
    )
    title = "Was it tuned on the benchmark's text?"
    return tabulate(title, columns, run.contamination, key="contamination", legend=legend)


def designs_table(
    records: Sequence[Record | None], before: Sequence[Record | None], known: Mapping[str, str]
) -> Table:
    """Show records of all kinds that are no claims, with what each tells in one phrase."""
    no_result = _was(lambda each: summarized(each) or "no result")
    columns: list[Column[Any]] = [
        _RESULT,
        Column("replicates, comparison\nor check", lambda each: Name(known[each.id], 80)),
        Column("what it tells", lambda each: summarized(each) or NONE, change=no_result),
        Column("claimed", lambda each: claimed_of(each) or "nothing"),
    ]
    return tabulate("Replicates, comparisons and checks", columns, records, before)


_TABLES = {
    "replicates": replicates_table,
    "label_bias": label_bias_table,
    "comparisons": comparisons_table,
    "over_tasks": over_tasks_table,
    "contamination": contamination_table,
}


def design_tables(run: RunRecord) -> dict[str, Table]:
    """Make the tables of what a run has beside claims, by the names of its lists."""
    return {name: table(run) for name, table in _TABLES.items() if getattr(run, name)}


def design_detail(record: Design, known: Mapping[str, str]) -> Detail:
    """Tell all that is known of a record that is no claim, by what records are called."""
    parts: list[tuple[str, list[Fact], list[Table]]] = []
    tables: list[Table] = []
    match record:
        case ReplicatesRecord():
            told, facts = replicates.single_draws(record), _of_replicates(record)
            caption = "Each replicate; the first one is the claim itself."
            tables = _each("replicate", _REPLICATE, record.runs, caption)
        case LabelBiasRecord():
            told, facts = record.finding or "", _of_label_bias(record)
            parts = [_of_asking(bias, record) for bias in record.interactions]
        case ComparisonRecord():
            told, facts = comparisons.difference_is(record), _of_comparison(record)
            caption = "Examples that only one arm answers rightly, by prompt."
            tables = _each("prompt", _PROMPT, record.prompts, caption)
        case ContaminationRecord():
            told, facts = comparisons.indicated(record), _of_contamination(record)
    all_facts: list[Fact] = [
        ("Expected to fail", record.xfail or ""),
        ("Result", record.message or ""),
        *facts,
        *(("⚠️ Warning", warning) for warning in record.warnings),
        *(("Note", note) for note in record.notes),
        ("Suite", (Name(f"{record.suite}:{record.line}"),)),
    ]
    shown = [(title, phrase) for title, phrase in all_facts if phrase]
    return Detail(mark(record), known[record.id], told, shown, tables, parts)


def _each(name: str, columns: list[Column[Any]], rows: Sequence[Any], caption: str) -> list[Table]:
    made = tabulate(f"Each {name}", columns, rows, most=MOST_ROWS, of=f"{name}s", caption=caption)
    return [made] if rows else []


_REPLICATE: list[Column[Any]] = [
    Column("replicate", "#", "count", header=True),
    Column("*n*", "n", "count"),
    Column("*t*", "t", "count"),
    Column("best", "best_accuracy", "score"),
    Column("correct", lambda one: share(one.best_correct, one.n), "right", below=""),
    _MAXIMUM,
    Column("*p_max*", "p_max", "p"),
    Column("verdict", "verdict"),
    Column("claim", lambda one: "holds" if one.passed else "fails"),
    Column("best prompt", lambda one: Name(one.best_prompt[:12])),
]
_PROMPT: list[Column[Any]] = [
    Column("prompt", "#", "count", header=True),
    Column("only first right", "only_first", "count"),
    Column("only second right", "only_second", "count"),
    Column("*p* (McNemar)", "p_value", "p"),
    Column("Holm", "adjusted_p", "p"),
]
_CALIBRATED: list[Column[Any]] = [
    Column("without the labels' prior", lambda one: label_bias.calibration_name(one.method)),
    Column("*n*", "n", "count"),
    Column("best accuracy", "best_accuracy", "score"),
    Column("correct", lambda one: share(one.best_correct, one.n), "right", below=""),
    Column("best without it,\nby probabilities", "plain_accuracy", "score"),
    _MAXIMUM,
    Column("*p_max*", "p_max", "p"),
    Column("prior", lambda one: shorten(label_bias.prior(one.prior), 300), "prose"),
]


def _of_replicates(record: ReplicatesRecord) -> list[Fact]:
    return [
        ("Claimed", replicates.demanded(record)),
        ("Best accuracy", replicates.spread_over(record, "best_accuracy")),
        ("Max. random baseline", replicates.spread_over(record, "max_random_baseline")),
        ("p_max", replicates.spread_over(record, "p_max")),
        ("Best prompt", replicates.winners(record)),
        (
            "Replicates",
            f"{count(len(record.runs))} of {count(record.count)}, seed {record.seed}",
        ),
    ]


def _of_label_bias(record: LabelBiasRecord) -> list[Fact]:
    return [
        ("Finding", record.sentence or ""),
        ("Claimed", label_bias.required_score(record)),
        ("Cost", label_bias.bias_cost(record)),
    ]


def _of_asking(
    bias: InteractionBias, record: LabelBiasRecord
) -> tuple[str, list[Fact], list[Table]]:
    tables = [labels_table([((), row) for row in bias.labels], MOST_ROWS)]
    if bias.calibrated:
        caption = "The best of *t* prompts when the labels' prior is taken out of the scores."
        title = "Without the labels' prior"
        tables.append(tabulate(title, _CALIBRATED, bias.calibrated, caption=caption))
    facts: list[Fact] = [*label_bias.bias_facts(bias, record)]
    return f"Asked as {bias.interaction}", facts, tables


def _of_comparison(record: ComparisonRecord) -> list[Fact]:
    best = ""
    if record.best_difference is not None:
        both = f"{accuracy(record.first_best)} and {accuracy(record.second_best)}"
        best = f"{both}, {comparisons.best_is(record)}"
    required = comparisons.required(record)
    claimed = [required, comparisons.assertion_is(record)] if required else []
    units, others = comparisons.units(record), comparisons.generalizes(record)
    flipped = [units, f"generalizes to {others}" if others else ""] if units else []
    several = record.by_replicate if len(record.by_replicate) > 1 else []
    return [
        ("Claimed", "; ".join(filter(None, claimed))),
        ("Changed", record.changed or NONE),
        ("Signs flipped of", "; ".join(filter(None, flipped))),
        ("Best of t", best),
        ("Difference in each replicate", ", ".join(map(signed, several))),
    ]


def _of_contamination(record: ContaminationRecord) -> list[Fact]:
    arms = (
        Name(record.base, before="base "),
        Name(record.extra, before=", extra "),
        Name(record.test, before=", test "),
        f"; level {level(record.level)}",
    )
    return [("Arms", arms)]


def _task(where: Mapping[str, str]) -> Column[Any]:
    """Name a task with as much of its record's file as tells it from others."""

    def name(record: Any) -> Cell:
        file = where[record.id]
        return (Name(record.task, 40), *([Name(file, 40)] if file else []))

    return Column("task", name, header=True)


def _of_claim(run: RunRecord, key: str = "claim") -> Column[Any]:
    """Name the claim that a record is about."""
    known = names(run)

    def name(record: Any) -> Name:
        return Name(known.get(getattr(record, key), known[record.id]), 80)

    return Column("claim", name, header=True)


def _last(heading: str, run: RunRecord) -> Column[Any]:
    """Name a record in a terminal, last, where a name can be as long as it is.

    The heading says already what an id ends with.
    """
    known = names(run)
    ending = f"::{heading.replace(' ', '_')}"
    return Column(
        heading,
        lambda row: Name(known[row.id].removesuffix(ending)),
        brief=heading,
        header=True,
        media=frozenset(),
    )


def _arms(record: Any) -> Cell:
    return Name(record.first, 30), Name(record.second, 30, "- ")
