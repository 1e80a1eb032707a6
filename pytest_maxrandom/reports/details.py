"""All that pages tell of one record: facts of a claim, and what is folded of other records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, accuracy, count, level, share, signed
from pytest_maxrandom.record import (
    OUTCOMES,
    BestModelsRecord,
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    Design,
    InteractionBias,
    LabelBiasRecord,
    Record,
    ReplicatesRecord,
    RunRecord,
)
from pytest_maxrandom.reports import (
    agreement,
    best_models,
    computing,
    designs,
    incumbent,
    label_bias,
    origins,
    phrases,
    red_flags,
)
from pytest_maxrandom.reports.columns import MAXIMUM, RESULT, mark, was
from pytest_maxrandom.reports.design_sections import labels_table
from pytest_maxrandom.reports.dialect import Detail, Fact
from pytest_maxrandom.reports.tables import Column, Name, Table, tabulate
from pytest_maxrandom.reports.text import clauses, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WHY = ("Expected to fail", "Result")
"""Why a claim ended as it did; its red flags, which may be why, follow at once."""
MOST_ROWS = 100
"""Rows of a table in the details of one record; the JSON report has all."""


def facts(claim: ClaimRecord, run: RunRecord) -> list[tuple[str, str]]:
    """List what was recorded of a claim, the most important first; nothing is empty."""
    known = [
        ("Expected to fail", claim.xfail or ""),
        ("Result", claim.message or ""),
        ("Decided early", phrases.decided(claim)),
        ("Claimed", phrases.claimed(claim)),
        ("Needed", phrases.needed(claim)),
        ("Red flags, by the suite", red_flags.set_by_suite(claim)),
        ("Beside the stated baseline", incumbent.compared(claim, "baseline")),
        ("Beside the control", incumbent.compared(claim, "control")),
        ("Beside the incumbent", incumbent.compared(claim)),
        ("May be the best as well", incumbent.alike(claim)),
        ("Metric", phrases.scored(claim)),
        ("Probability that guessers do as well", phrases.guessing(claim)),
        ("On new questions", phrases.new_questions(claim)),
        ("Adjusted for the number of claims", phrases.adjusted(claim, run)),
        ("Always the same answer", phrases.majority(claim)),
        ("Without the question", phrases.shortcuts(claim)),
        ("Label bias", label_bias.of_claim(claim, run)),
        (f"n = {count(claim.n)}", origins.counted_n(claim)),
        ("Clusters", origins.clusters(claim)),
        (f"t = {count(claim.t)}", origins.counted_t(claim)),
        ("Looks", origins.looks(claim)),
        ("Test set", origins.held_out(claim)),
        ("Chance of a right guess", origins.chance(claim)),
        ("As published", agreement.published(claim)),
        ("All prompts", origins.spread(claim)),
        ("Ties", origins.ties(claim)),
        ("Generated answers", computing.generated(claim)),
        ("Chat", computing.chatted(claim)),
        ("Precision", computing.precision(claim)),
        ("Computed", computing.computed(claim)),
        ("Server", computing.served(claim)),
        ("Trained", computing.training_is(claim)),
        ("Training took", computing.training_cost(claim)),
        ("Cost", computing.cost(claim)),
    ]
    return [(title, phrase) for title, phrase in known if phrase]


def claim_detail(claim: ClaimRecord, run: RunRecord, known: Mapping[str, str]) -> Detail:
    """Tell all that is known of a claim, but for its best prompt, by what records are called."""
    parts = [f"n = {count(claim.n)}", f"t = {count(claim.t)}"]
    flags: list[Fact] = [
        (f"🚩 Red flag {flag.kind} ({red_flags.does(flag)})", flag.text) for flag in claim.red_flags
    ]
    known_facts = facts(claim, run)
    quantization = "not quantized" if claim.quantization == "none" else claim.quantization
    if claim.engine and claim.engine.quantized:
        quantization += f" ({claim.engine.quantized})"
    made = (
        Name(f"{claim.suite}:{claim.line}"),
        claim.model
        and Name(claim.model, before=f"; {'simulated ' if claim.simulated else ''}model "),
        quantization and f", {quantization}",
        claim.revision and Name(claim.revision, before=", revision "),
        claim.scoring and f", {claim.scoring}",
    )
    results = claim.recorded
    return Detail(
        mark(claim),
        known[claim.id],
        clauses(phrases.result(claim), *parts, sep=", "),
        [
            *[fact for fact in known_facts if fact[0] in _WHY],
            *flags,
            *[fact for fact in known_facts if fact[0] not in _WHY],
            *_remarks(claim),
            *([("Results", (Name(results.path), f", format {results.format}"))] if results else []),
            ("Test" if claim.backend == "numbers" else "Suite", tuple(filter(None, made))),
        ],
    )


def claimed_of(record: Record) -> str:
    """Say what is claimed of a record."""
    match record:
        case ClaimRecord():
            return phrases.claimed(record)
        case ReplicatesRecord():
            return designs.demanded(record) and f"the claim passes {designs.demanded(record)}"
        case LabelBiasRecord():
            return label_bias.required_score(record)
        case ComparisonRecord():
            return designs.required(record)
        case BestModelsRecord():
            return best_models.required_best(record)
        case ContaminationRecord():
            return f"no sign of the benchmark's text at level {level(record.level)}"


def summarized(record: Design) -> str:
    """Say what a record tells, in one phrase for a table of all kinds."""
    match record:
        case ReplicatesRecord():
            if not record.runs:
                return ""
            held = f"passes in {designs.holding(record)}, " if record.asserted else ""
            return (
                f"{held}{designs.contradictions(record)} contradict the majority; best accuracy "
                f"{designs.extremes(record, 'best_accuracy')}"
            )
        case LabelBiasRecord():
            return label_bias.bias_found(record)
        case ComparisonRecord():
            return designs.difference_is(record)
        case BestModelsRecord():
            return best_models.among_best(record)
        case ContaminationRecord():
            if record.boost is None:
                return ""
            changes = f"boost {signed(record.boost)}, bias {signed(record.bias)}"
            return f"{changes}: {designs.indicated(record)}"


def designs_table(
    records: Sequence[Record | None], before: Sequence[Record | None], known: Mapping[str, str]
) -> Table:
    """Show records of all kinds that are no claims, with what each tells in one phrase."""
    no_result = was(lambda each: summarized(each) or "no result")
    columns: list[Column[Any]] = [
        RESULT,
        Column("replicates, comparison\nor check", lambda each: Name(known[each.id], 80)),
        Column("what it tells", lambda each: summarized(each) or NONE, change=no_result),
        Column("claimed", lambda each: claimed_of(each) or "nothing"),
    ]
    return tabulate("Replicates, comparisons and checks", columns, records, before, key="designs")


def design_detail(record: Design, known: Mapping[str, str]) -> Detail:
    """Tell all that is known of a record that is no claim, by what records are called."""
    parts: list[tuple[str, list[Fact], list[Table]]] = []
    tables: list[Table] = []
    facts: list[Fact]
    match record:
        case ReplicatesRecord():
            finding = designs.single_draws(record)
            drawn = f"{count(len(record.runs))} of {count(record.count)}, seed {record.seed}"
            facts = [
                ("Claimed", designs.demanded(record)),
                ("Best accuracy", designs.spread_over(record, "best_accuracy")),
                ("Max. random baseline", designs.spread_over(record, "max_random_baseline")),
                ("p_max", designs.spread_over(record, "p_max")),
                ("Best prompt", designs.winners(record)),
                ("Replicates", drawn),
            ]
            caption = "Each replicate; the first one is the claim itself."
            judged = [*_REPLICATE, *([_HOLDS] if record.asserted else [])]
            tables = _each("replicate", judged, record.runs, caption)
        case LabelBiasRecord():
            finding = record.finding or ""
            facts = [
                ("Finding", record.sentence or ""),
                ("Claimed", label_bias.required_score(record)),
                ("Cost", label_bias.bias_cost(record)),
            ]
            parts = [_of_asking(bias, record) for bias in record.interactions]
        case ComparisonRecord():
            finding, facts = designs.difference_is(record), _of_comparison(record)
            caption = "Examples that only one arm answers rightly, by prompt."
            tables = _each("prompt", _PROMPT, record.prompts, caption)
        case BestModelsRecord():
            finding = best_models.among_best(record)
            facts = best_models.best_models_facts(record)
            tables = [best_models.pairs_table(record)] if record.pairs else []
        case ContaminationRecord():
            finding = designs.indicated(record)
            arms = (
                Name(record.base, before="base "),
                Name(record.extra, before=", extra "),
                Name(record.test, before=", test "),
                f"; level {level(record.level)}",
            )
            facts = [("Arms", arms)]
    all_facts: list[Fact] = [
        ("Expected to fail", record.xfail or ""),
        ("Result", record.message or ""),
        *facts,
        *_remarks(record),
        ("Suite", (Name(f"{record.suite}:{record.line}"),)),
    ]
    shown = [(title, phrase) for title, phrase in all_facts if phrase]
    return Detail(mark(record), known[record.id], finding, shown, tables, parts)


def _remarks(record: Record) -> list[Fact]:
    warnings: list[Fact] = [("⚠️ Warning", warning.text) for warning in record.warnings]
    return [*warnings, *(("Note", note.text) for note in record.notes)]


def _each(name: str, columns: list[Column[Any]], rows: Sequence[Any], caption: str) -> list[Table]:
    made = tabulate(f"Each {name}", columns, rows, most=MOST_ROWS, of=f"{name}s", caption=caption)
    return [made] if rows else []


_HELD = {True: "passed", False: "failed", None: "cannot tell"}
"""What became of a replicate that claims something."""
_REPLICATE: list[Column[Any]] = [
    Column("replicate", "#", "count", header=True),
    Column("*n*", "n", "count"),
    Column("*t*", "t", "count"),
    Column("best", "best_accuracy", "score"),
    Column("correct", lambda one: share(one.best_correct, one.n), "right", below=""),
    MAXIMUM,
    Column("*p_max*", "p_max", "p"),
    Column("verdict", "verdict"),
    Column("best prompt", lambda one: Name(one.best_prompt[:12])),
]
_HOLDS: Column[Any] = Column("claim", lambda one: OUTCOMES[_HELD[one.passed]].word)
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
    MAXIMUM,
    Column("*p_max*", "p_max", "p"),
    Column("prior", lambda one: shorten(label_bias.prior(one.prior), 300), "prose"),
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
    required, units = designs.required(record), designs.units(record)
    others = designs.generalizes(record)
    both = f"{accuracy(record.first_best)} and {accuracy(record.second_best)}"
    best = designs.best_is(record)
    several = record.by_replicate if len(record.by_replicate) > 1 else []
    return [
        ("Claimed", clauses(required, required and designs.assertion_is(record))),
        ("Changed", record.changed or NONE),
        ("Signs flipped of", clauses(units, units and others and f"generalizes to {others}")),
        ("Best of t", best and f"{both}, {best}"),
        ("Difference in each replicate", ", ".join(map(signed, several))),
    ]
