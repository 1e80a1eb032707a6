"""Which of several models is the best, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_maxrandom.notation import NONE, accuracy, count, equals, level, p_value, signed
from pytest_maxrandom.reports.columns import mark, name_column, task_column
from pytest_maxrandom.reports.summary import files
from pytest_maxrandom.reports.tables import Column, Name, Table, tabulate
from pytest_maxrandom.reports.text import clauses, listed, visible

if TYPE_CHECKING:
    from pytest_maxrandom.record import BestModelsRecord, ModelStanding, RunRecord
    from pytest_maxrandom.reports.dialect import Fact

MOST_PAIRS = 100
"""Rows of the table of all pairs; the JSON report has all."""
_MOST_NAMES = 8
_IS_BEST = {True: "may be the best", False: "not the best"}


def among_best(record: BestModelsRecord) -> str:
    """Name the models that cannot be told from the best; empty where there is no result."""
    names = [visible(each.name) for each in record.models if each.among_best]
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} is the best of {count(len(record.models))}"
    shown = names[:_MOST_NAMES]
    more = [f"{count(len(names) - len(shown))} more"] if len(names) > len(shown) else []
    of = f"{count(len(names))} of {count(len(record.models))}"
    return f"{listed([*shown, *more])} cannot be told from the best ({of})"


def told_orders(record: BestModelsRecord) -> str:
    """Say how many pairs are told; empty where there is no result."""
    if not record.pairs:
        return ""
    told = sum(each.adjusted_p <= record.level for each in record.pairs)
    return (
        f"{count(told)} of {count(len(record.pairs))} pairs are told, at {level(record.level)} for "
        "all of them together (Holm)"
    )


def luck_of_models(record: BestModelsRecord) -> str:
    """Say what the number of models is worth to guessers; empty where chance is not known."""
    one, all_ = record.max_random_baseline, record.max_random_of_all
    if one is None or all_ is None or not record.models:
        return ""
    most = max(each.tried for each in record.models)
    of_one = f"the best of {count(most)} guessers" if most > 1 else "one guesser"
    return (
        f"if all answers were guesses, {of_one} would reach {accuracy(one)} on average, and the "
        f"best of all {count(len(record.models))} models {accuracy(all_)}"
    )


def judged_at(record: BestModelsRecord) -> str:
    """Say by which prompts models are compared."""
    if record.prompt:
        return f"each at prompt {record.prompt}, which must have been fixed before any answer"
    how = " by White's reality check" * (record.test == "resampled")
    return f"each at the best of its prompts, with the selection on both sides counted{how}"


def required_best(record: BestModelsRecord) -> str:
    """Say what is claimed; empty where nothing is."""
    best = record.asserted.get("best")
    if not isinstance(best, str):
        return ""
    return f"{visible(best)} is better than each other, at level {level(record.level)}"


def missed_best(record: BestModelsRecord) -> str | None:
    """Say why what is claimed does not hold."""
    claimed = next((each for each in record.models if each.name == record.asserted["best"]), None)
    if claimed is None:
        return record.message
    highest = max(record.models, key=lambda each: each.accuracy)
    others = [each for each in record.models if each.among_best and each is not claimed]
    p = f"p of not being the best {equals(p_value(claimed.not_best_p, level=record.level))}"
    context = f"n = {count(record.n)}, {count(len(record.models))} models"
    if not claimed.among_best:
        return (
            f"{visible(claimed.name)} is not the best: {accuracy(claimed.accuracy)}, "
            f"{visible(highest.name)} {accuracy(highest.accuracy)} ({p}; {context})"
        )
    least = max(others, key=lambda each: each.not_best_p)
    return (
        f"{visible(claimed.name)} ({accuracy(claimed.accuracy)}) cannot be told from "
        f"{listed([visible(each.name) for each in others[:_MOST_NAMES]])} (the p-value that "
        f"{visible(least.name)} is not the best {equals(p_value(least.not_best_p))}, needed "
        f"{level(record.level)}; {context}): use more examples"
    )


class _Standing(NamedTuple):
    """One model, in the table of all that a run compares."""

    record: BestModelsRecord
    model: ModelStanding | None
    """None where there is no result."""
    id: str
    task: str


def best_models_table(run: RunRecord) -> Table:
    """Show all models of each comparison, those that may be the best first."""
    rows = [
        _Standing(each, model, each.id, each.task)
        for each in run.best_models
        for model in sorted(each.models, key=lambda one: -one.accuracy) or (None,)
    ]

    def of_model(write: Any) -> Any:
        return lambda row: NONE if row.model is None else write(row.model)

    columns: list[Column[Any]] = [
        Column("result", lambda row: mark(row.record), brief="result"),
        task_column(files(run)),
        Column("model", of_model(lambda one: Name(one.name, 60)), brief="model", header=True),
        Column("*n*", "record.n", "count", "n", lead="n = "),
        Column("*t*", "model.tried", "count", "t", below="*t*", lead="t = "),
        Column("accuracy", "model.accuracy", "score", "best"),
        Column("among the best", of_model(lambda one: _IS_BEST[one.among_best])),
        Column("the best", of_model(lambda one: "may be" if one.among_best else "is not"),
               brief="the best", media=frozenset()),
        Column("*p*", "model.not_best_p", "p", "p"),
        Column("behind by\nat most", "model.behind", "score", "behind"),
        name_column("comparison", run),
    ]  # fmt: skip
    legend = (
        "All models on the same examples, each at the best of its *t* prompts or at a fixed one. "
        "*Among the best*: cannot be told from the best; with the stated confidence the truly best "
        "model is one of these. *p*: of not being the best, whichever prompts were the best on "
        "either side. *Behind by at most*: below the best of the others, as the intervals of all "
        "pairs say at once."
    )
    title = "Which model is the best?"
    return tabulate(title, columns, rows, key="best-models", legend=legend)


def pairs_table(record: BestModelsRecord) -> Table:
    """Show all pairs of the models of one comparison."""
    columns: list[Column[Any]] = [
        Column("first", lambda one: Name(one.first, 40), header=True),
        Column("second", lambda one: Name(one.second, 40)),
        Column("difference", "difference", "signed"),
        Column("interval", lambda one: f"{signed(one.low)} to {signed(one.high)}", "right",
               below="(interval)"),
        Column("*p*", "p_value", "p"),
        Column("Holm", "adjusted_p", "p"),
    ]  # fmt: skip
    caption = (
        "All pairs, first less second. The intervals hold at once; *Holm*: adjusted for all pairs, "
        "in both directions."
    )
    pairs = sorted(record.pairs, key=lambda one: (one.adjusted_p, -one.difference))
    return tabulate("All pairs", columns, pairs, most=MOST_PAIRS, of="pairs", caption=caption)


def best_models_facts(record: BestModelsRecord) -> list[Fact]:
    """List what is known of a comparison of all models."""
    independent = ""
    if record.units is not None and record.units != record.n:
        independent = f"{count(record.units)} independent ones"
    return [
        ("Claimed", required_best(record)),
        ("Judged", judged_at(record)),
        ("Pairs", told_orders(record)),
        ("Luck of many models", luck_of_models(record)),
        (f"n = {count(record.n)}", clauses(independent)),
    ]
