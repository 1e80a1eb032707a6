"""What a run would cost, in sentences for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count, duration
from pytest_maxrandom.reports.text import number_of, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.claims.dry_run import ModelCost, TrainingCost


def lines(
    found: Sequence[ModelCost],
    recorded: Mapping[str, int],
    mistakes: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield what to print.

    `recorded` has how many claims each model has whose results exist already, `mistakes` what does
    not let items run, and which.
    """
    # A model is not measured that has a head.
    unknown = [
        cost for cost in found if cost.problem is None and cost.prompts and cost.estimate is None
    ]
    for cost in found:
        if cost not in unknown:
            yield from _of_model(cost)
    if unknown:
        arms = ", ".join(dict.fromkeys(visible(cost.model) for cost in unknown))
        prompts = count(sum(cost.prompts for cost in unknown))
        yield f"{arms}: {prompts} prompts for classification heads, not measured"
    if trainings := [each for cost in found for each in cost.trained]:
        yield from _to_train(trainings)
    for model, claims in recorded.items():
        claimed = number_of(claims, "claim")
        yield f"{visible(model)}: {claimed}, recorded results: nothing to compute"
    for message, items in mistakes.items():
        others = f" and {count(len(items) - 1)} more" if len(items) > 1 else ""
        yield f"{visible(items[0])}{others}: {visible(message)}"
    if not (found or recorded or mistakes):
        yield "no claim is selected"
    known = [cost for cost in found if cost.seconds is not None]
    if len(known) > 1:
        number = sum(cost.prompts for cost in known)
        seconds = sum(cost.seconds or 0.0 for cost in known)
        yield f"together: {count(number)} prompts to compute, {_about(seconds)} one after another"
    if found:
        kept = "Nothing was judged, stored or written to a ledger"
        yield f"{kept}; the answers of probes are forgotten."


def _of_model(cost: ModelCost) -> Iterator[str]:
    yield f"{visible(cost.model)} ({cost.backend}): {number_of(cost.claims, 'claim')}"
    if cost.problem is not None:
        yield f"  cannot run: {visible(cost.problem)}"
        return
    if not cost.prompts:
        one = cost.stored == 1
        stored = "its prompt is" if one else f"all {count(cost.stored)} prompts are"
        yield f"  {stored} in the store: nothing to compute"
        return
    most = "at most " if cost.early else ""
    todo = number_of(cost.prompts, "prompt")
    yield f"  {most}{todo} to compute, {count(cost.stored)} in the store"
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
        where = "" if cost.backend == "mock" else f" on {visible(cost.device)}"
        yield f"  {_about(cost.seconds)}{where}, by a probe of {number_of(cost.probed, 'prompt')}"
    if cost.later:
        yield "  not counted: what is asked where a claim passes (its test set, blank inputs)"


def _to_train(trainings: Sequence[TrainingCost]) -> Iterator[str]:
    """Yield a table of what is trained: a row for each arm and task, replicates together."""
    rows: dict[tuple[str, str, int, int], list[TrainingCost]] = {}
    for training in trainings:
        rows.setdefault(
            (training.arm, training.task, training.texts, training.labelled), []
        ).append(training)
    unit = "words" if any(each.tokens is None for each in trainings) else "tokens"
    table: list[tuple[str, ...]] = [
        ("arm", "task", "replicates", "kept", "texts", "labelled", "steps", unit)
    ]
    for (arm, task, texts, labelled), several in rows.items():
        kept = sum(each.kept is not None for each in several)
        steps = sum(each.steps for each in several)
        numbers = (len(several), kept, texts, labelled, steps, _read(several, unit))
        table.append((visible(arm), visible(task), *map(count, numbers)))
    yield _together(trainings, unit)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"  {'  '.join(cells).rstrip()}"
    yield f"  Texts and labelled are those of one replicate; steps and {unit} are what is left."
    if unit == "words":
        yield "  Words are counted because a tokenizer is not on this machine."


def _together(trainings: Sequence[TrainingCost], unit: str) -> str:
    """Say what is left to train, and how long that takes by what was trained before."""
    left = [each for each in trainings if each.kept is None]
    known = [each.kept for each in trainings if each.kept is not None]
    if not left:
        return f"to train: nothing, the weights of all {count(len(known))} trainings are kept"
    steps, reads = sum(each.steps for each in left), _read(left, unit)
    told = f"to train: {number_of(len(left), 'training')}, {number_of(steps, 'step')}"
    told += f", {count(reads)} {unit} in all epochs"
    tokens = sum(each.tokens for each in known)
    if unit == "words" or not tokens:
        return told
    seconds = sum(each.seconds for each in known) * reads / tokens
    return f"{told}; {_about(seconds)}, by the {number_of(len(known), 'training')} kept"


def _read(trainings: Sequence[TrainingCost], unit: str) -> int:
    return sum((each.words if unit == "words" else each.tokens) or 0 for each in trainings)


def _about(seconds: float) -> str:
    return "less than 1 s" if seconds < 0.5 else f"about {duration(seconds)}"
