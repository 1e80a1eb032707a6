"""What a run would cost, in sentences for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count, duration
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.claims.dry_run import ModelCost, TrainingCost

_SIMULATED = "mock"
NOTHING_KEPT = (
    "Nothing was judged, stored or written to a ledger; the answers of probes are forgotten."
)


def lines(
    found: Sequence[ModelCost],
    recorded: Mapping[str, int],
    mistakes: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield what to print.

    Parameters
    ----------
    found : sequence of ModelCost
    recorded : mapping of str to int
        How many claims each model has whose results exist already.
    mistakes : mapping of str to sequence of str
        What does not let items run, and which.
    """
    untrained = [cost for cost in found if _is_untrained(cost)]
    for cost in found:
        if cost not in untrained:
            yield from _of_model(cost)
    if untrained:
        yield from _to_train(untrained)
    for model, claims in recorded.items():
        yield f"{visible(model)}: {_claims(claims)}, recorded results: nothing to compute"
    for message, items in mistakes.items():
        others = f" and {count(len(items) - 1)} more" if len(items) > 1 else ""
        yield f"{visible(items[0])}{others}: {visible(message)}"
    if not (found or recorded or mistakes):
        yield "no claim is selected"
    known = [cost for cost in found if cost.seconds is not None]
    if len(known) > 1:
        prompts = sum(cost.prompts for cost in known)
        seconds = sum(cost.seconds or 0.0 for cost in known)
        yield f"together: {count(prompts)} prompts to compute, {_about(seconds)} one after another"
    if found:
        yield NOTHING_KEPT


def _of_model(cost: ModelCost) -> Iterator[str]:
    yield f"{visible(cost.model)} ({cost.backend}): {_claims(cost.claims)}"
    if cost.problem is not None:
        yield f"  cannot run: {visible(cost.problem)}"
        return
    if not cost.prompts:
        yield f"  all {count(cost.stored)} prompts are in the store: nothing to compute"
        return
    most = "at most " if cost.early else ""
    yield f"  {most}{count(cost.prompts)} prompts to compute, {count(cost.stored)} in the store"
    yield from map(_kept, cost.trained)
    assert cost.estimate is not None
    found, about = cost.estimate, "" if cost.counted else "about "
    most = "at most " if cost.early or found.at_most else about
    pairs = f"{count(cost.examples)} examples (each prompt with its own)"
    yield f"  {pairs}, {about}{count(found.requests)} requests"
    if found.tokens:
        passes = "" if found.forwards is None else f" in {count(found.forwards)} forwards"
        yield f"  {most}{count(found.tokens)} tokens{passes}, shared text read once"
        yield f"  {count(found.apart)} tokens if each text were read by itself"
    if cost.seconds is not None:
        tried = "1 prompt" if cost.probed == 1 else f"{cost.probed} prompts"
        where = "" if cost.backend == _SIMULATED else f" on {visible(cost.device)}"
        yield f"  {_about(cost.seconds)}{where}, by a probe of {tried}"
    if cost.later:
        yield "  not counted: what is asked where a claim passes (its test set, blank inputs)"


def _is_untrained(cost: ModelCost) -> bool:
    """Tell whether a model must be trained before anything of it can be measured."""
    return cost.problem is None and cost.prompts > 0 and cost.estimate is None


def _to_train(costs: Sequence[ModelCost]) -> Iterator[str]:
    """Yield a table of what is trained: a row for each arm and task, replicates together."""
    rows: dict[tuple[str, str, int, int], list[TrainingCost]] = {}
    for cost in costs:
        for each in cost.trained:
            rows.setdefault((each.arm, each.task, each.texts, each.labelled), []).append(each)
    table: list[tuple[str, ...]] = [
        ("arm", "task", "trainings", "kept", "texts", "labelled", "words in all epochs")
    ]
    for (arm, task, texts, labelled), several in rows.items():
        kept = sum(each.seconds is not None for each in several)
        words = sum(each.words for each in several)
        numbers = (len(several), kept, texts, labelled, words)
        table.append((visible(arm), visible(task), *map(count, numbers)))
    prompts = count(sum(cost.prompts for cost in costs))
    yield f"to train, then {prompts} prompts to compute, which are not measured before:"
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"  {'  '.join(cells).rstrip()}"


def _kept(training: TrainingCost) -> str:
    """Say that an arm was trained before."""
    which = f" in replicate {training.replicate + 1}" if training.replicate else ""
    assert training.seconds is not None
    took = duration(training.seconds)
    return f"  {visible(training.task)}{which}: trained before, in {took}; its weights are kept"


def _claims(number: int) -> str:
    return f"{count(number)} {'claim' if number == 1 else 'claims'}"


def _about(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.5 else f"about {duration(seconds)}"
