"""The sentences of notes: what a reader must know of a record beside its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.record import Remark


def sentence(remark: Remark, known: str = "") -> str:
    """Word a note anew; of a kind that is not known here, or other values, the sentence stays."""
    try:
        return _SENTENCES[remark.kind](**remark.values)
    except (TypeError, ValueError, LookupError):
        if not known:
            raise
        return known


def _tries_of_another_claim(prompts: int, claim: str, examples: int) -> str:
    return (
        f"{count(prompts)} of the prompts that t counts are those of {claim} in this run, whose "
        f"validation set shares {examples} examples with this one."
    )


def _budget_overrun(budget: int, t: int) -> str:
    return (
        f"The budget of {count(budget)} prompts is overrun: t counts the {count(t)} that were "
        "evaluated."
    )


def _budget_raised(budget: int, t: int) -> str:
    return (
        f"The budget of {count(budget)} prompts was not declared in advance: an earlier look at "
        f"this claim counted t = {count(t)}, and the budget is more since then."
    )


def _no_blank_control() -> str:
    return (
        "There is no control with blank inputs, because all examples have the same input: the "
        "choices are the question."
    )


def _test_not_opened() -> str:
    return (
        "The test set was not opened, because the opening of the test set could not be written "
        "into the ledger."
    )


def _counts_only() -> str:
    return (
        "There is no permutation p, because only counts were given. So a preferred label cannot be "
        "told from knowledge."
    )


def _predictions_are_recorded() -> str:
    return "The predictions file has none of these answers: they are in the recorded results."


def _predictions_are_the_claims() -> str:
    return (
        "The predictions file has the claim's own answers, and none of what was asked beyond them."
    )


def _predictions_are_the_first() -> str:
    return "The predictions file has the answers of the claim itself, and none of the others'."


def _signs_flipped(units: Sequence[str], largest: str) -> str:
    *most, last = (f"of the {each}" for each in units)
    return (
        f"Signs were flipped {', '.join(most)} and {last} (each with its mean difference); "
        f"p-values are the largest ones, here of the {largest}, and the interval holds all."
    )


def _several_differences(first: str, second: str) -> str:
    return (
        f"{first!r} and {second!r} differ in more than one thing, so it cannot be told which of "
        "them makes the difference."
    )


def _no_difference(first: str, second: str) -> str:
    return f"Nothing differs between {first!r} and {second!r}."


def _no_base_rates(interaction: str, why: str) -> str:
    return f"{interaction.capitalize()} has no base rates: {why}."


def _not_calibrated(interaction: str, method: str, why: str) -> str:
    return f"{interaction.capitalize()} has no {method} calibration: {why}."


def _held_back(interaction: str, examples: Mapping[str, int]) -> str:
    each = [f"{size} with {choices} choices" for choices, size in examples.items()]
    return (
        f"{interaction.capitalize()}: PriDe's prior is that of held-back examples, "
        f"{', '.join(each)}; prompts are compared on those of the others that it is known for: of "
        "as many choices as a held-back example that the prompt does not show."
    )


_SENTENCES: dict[str, Callable[..., str]] = {
    "tries_of_another_claim": _tries_of_another_claim,
    "budget_overrun": _budget_overrun,
    "budget_raised": _budget_raised,
    "no_blank_control": _no_blank_control,
    "test_not_opened": _test_not_opened,
    "counts_only": _counts_only,
    "predictions_are_recorded": _predictions_are_recorded,
    "predictions_are_the_claims": _predictions_are_the_claims,
    "predictions_are_the_first": _predictions_are_the_first,
    "signs_flipped": _signs_flipped,
    "several_differences": _several_differences,
    "no_difference": _no_difference,
    "no_base_rates": _no_base_rates,
    "not_calibrated": _not_calibrated,
    "held_back": _held_back,
}
