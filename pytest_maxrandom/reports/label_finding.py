"""A label-bias check in words: what was found, and why it fails what is asserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, equals, level, p_value
from pytest_maxrandom.stats.labels import needed
from pytest_maxrandom.stats.multiplicity import above

if TYPE_CHECKING:
    from pytest_maxrandom.record import InteractionBias, LabelBiasRecord


_LEVEL = 0.05
"""Where nothing is asserted."""


def sentence(record: LabelBiasRecord) -> str | None:
    """Say what was found, with the numbers behind it; older records have what they said then."""
    if not _is_worded(record):
        return record.sentence
    said = [_sentence(bias, _bound(record), holds=_holds(record)) for bias in record.interactions]
    if len(said) > 1:
        pairs = zip(record.interactions, said, strict=True)
        said = [f"{bias.interaction.capitalize()}: {one}" for bias, one in pairs]
    return " ".join(said)


def failure(record: LabelBiasRecord) -> str | None:
    """Say in one line why what is asserted does not hold."""
    if record.passed is not False or not _is_worded(record):
        return record.message
    failed = [bias for bias in record.interactions if bias.finding != "knowledge"]
    return "; ".join(_failure(bias, _bound(record), holds=_holds(record)) for bias in failed)


def _is_worded(record: LabelBiasRecord) -> bool:
    return all(bias.finding for bias in record.interactions) and bool(record.interactions)


def _bound(record: LabelBiasRecord) -> float:
    return float(record.asserted.get("above_random", _LEVEL))


def _holds(record: LabelBiasRecord) -> bool:
    return record.claim_holds is not False


def _sentence(bias: InteractionBias, bound: float, *, holds: bool) -> str:
    finding = bias.finding
    least = bound if finding == "label preference" else needed(bias.preference_p, bound)
    p_values = _p_values(bias, bound, least)
    numbers = (
        f"the Nvr-X score on {bias.n} examples is {accuracy(bias.score)}, that of "
        f"{_guessers(bias)} {accuracy(bias.score_baseline)} "
        f"({', '.join(p for p, _ in p_values)})"
    )
    uneven = not above(bias.preference_p, bound)
    explained = f"p {_p(bias.preference_p, bound)}"
    most = max(bias.labels, key=lambda row: row.predicted)
    preferred = (
        f"{100 * most.predicted:.0f} % of the answers of the most accurate prompt are "
        f"{most.label!r}"
    )
    if finding == "knowledge":
        besides = f"; but {preferred}, more than guessing and knowing explain ({explained})"
        return f"Knowledge: {numbers}{_spread(bias)}{besides if uneven else ''}."
    if finding == "label preference":
        return (
            f"Label preference: {numbers}, and {preferred}: they are spread over the labels more "
            f"unevenly than guessing and knowing explain ({explained}){_spread(bias)}."
        )
    spread = f"{preferred}, more than guessing and knowing explain ({explained})"
    if not uneven:
        spread = f"the answers are spread over the labels as guesses may be ({explained})"
    if not uneven and any(over for _, over in p_values):
        return f"Cannot tell: {numbers}, and {spread}."
    against = [] if holds else ["the claim itself does not hold"]
    if uneven and any(over for _, over in p_values):
        spread += f", beside which the last p shows knowledge from {level(least)} on"
    if uneven:
        against.append(spread)
    return f"Cannot tell: {numbers}; but {', and '.join(against)}."


def _failure(bias: InteractionBias, bound: float, *, holds: bool) -> str:
    finding = bias.finding
    tried = f"the best of t = {bias.t} prompts" if bias.t > 1 else "the only prompt (t = 1)"
    least = bound if finding == "label preference" else needed(bias.preference_p, bound)
    compared = [
        f"{shown} is above {level(over)}" if over is not None else shown
        for shown, over in _p_values(bias, bound, least)
    ]
    if finding == "cannot tell" and not holds:
        compared.append("the claim itself does not hold")
    return (
        f"{bias.interaction}: Nvr-X score {accuracy(bias.score)} of {tried}, "
        f"n = {bias.n}; {_guessers(bias)} {accuracy(bias.score_baseline)}; "
        f"{', '.join(compared)}: {finding}"
    )


def _guessers(bias: InteractionBias) -> str:
    guessers = f"the best of {bias.t} random guessers" if bias.t > 1 else "a random guesser"
    if bias.by_content:
        guessers += f" who keep{'' if bias.t > 1 else 's'} to one choice of each example"
    return guessers


def _p_values(bias: InteractionBias, bound: float, least: float) -> list[tuple[str, float | None]]:
    """Write the p-values of the score, each with the level that it is above, if it is.

    The last one, which is valid whatever label is preferred, is compared with `least`.
    """
    named = {"p": bias.p_value, "p with shuffled right answers": bias.permutation_p}
    known = [(name, value) for name, value in named.items() if value is not None]
    bounds = [bound] * (len(known) - 1) + [least]
    return [
        (f"{name} {_p(value, most)}", most if above(value, most) else None)
        for (name, value), most in zip(known, bounds, strict=True)
    ]


def _p(value: float, bound: float) -> str:
    return equals(p_value(value, level=bound))


def _spread(bias: InteractionBias) -> str:
    known = [(row.recall, row.label) for row in bias.labels if row.recall is not None]
    (low, least), (high, most) = (pick(known, key=lambda each: each[0]) for pick in (min, max))
    if low == high:
        return f"; recall is {accuracy(low)} of every label"
    return f"; recall goes from {accuracy(low)} ({least!r}) to {accuracy(high)} ({most!r})"
