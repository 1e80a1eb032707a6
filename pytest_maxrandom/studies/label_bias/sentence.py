"""One way of asking in words: what was found, and why it fails what is asserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, equals, level, p_value
from pytest_maxrandom.stats.labels.finding import above, needed

if TYPE_CHECKING:
    from pytest_maxrandom.record import InteractionBias, LabelFinding


def sentence(
    bias: InteractionBias, finding: LabelFinding, bound: float, *, claim_holds: bool = True
) -> str:
    """Say what was found, with the numbers behind it.

    Parameters
    ----------
    bound : float
        The level that p-values were compared with.
    claim_holds : bool
        Whether the claim holds whose labels these are.
    """
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
    against = [] if claim_holds else ["the claim itself does not hold"]
    if uneven and any(over for _, over in p_values):
        spread += f", beside which the last p shows knowledge from {level(least)} on"
    if uneven:
        against.append(spread)
    return f"Cannot tell: {numbers}; but {', and '.join(against)}."


def failure(
    bias: InteractionBias, finding: LabelFinding, bound: float, *, claim_holds: bool = True
) -> str:
    """Say in one line why a way of asking is not above random guessing."""
    tried = f"the best of t = {bias.t} prompts" if bias.t > 1 else "the only prompt (t = 1)"
    least = bound if finding == "label preference" else needed(bias.preference_p, bound)
    compared = [
        f"{shown} is above {level(over)}" if over is not None else shown
        for shown, over in _p_values(bias, bound, least)
    ]
    if finding == "cannot tell" and not claim_holds:
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
