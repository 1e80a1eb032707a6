"""One way of asking in words: what was found, and why it fails what is asserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, equals, level, p_value
from pytest_maxrandom.stats.labels.finding import above

if TYPE_CHECKING:
    from pytest_maxrandom.record import InteractionBias, LabelFinding


def sentence(bias: InteractionBias, finding: LabelFinding, bound: float) -> str:
    """Say what was found, with the numbers behind it.

    Parameters
    ----------
    bound : float
        The level that p-values were compared with.
    """
    numbers = (
        f"the Nvr-X score on {bias.n} examples is {accuracy(bias.score)}, that of "
        f"{_guessers(bias)} {accuracy(bias.score_baseline)} "
        f"({', '.join(p for p, _ in _p_values(bias, bound))})"
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
    return (
        f"Cannot tell: {numbers}, and the answers are spread over the labels as guesses may be "
        f"({explained})."
    )


def failure(bias: InteractionBias, finding: LabelFinding, bound: float) -> str:
    """Say in one line why a way of asking is not above random guessing."""
    tried = f"the best of t = {bias.t} prompts" if bias.t > 1 else "the only prompt (t = 1)"
    compared = (f"{p} is above {level(bound)}" if over else p for p, over in _p_values(bias, bound))
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


def _p_values(bias: InteractionBias, bound: float) -> list[tuple[str, bool]]:
    """Write the p-values of the score, each with whether it is above the level."""
    named = {"p": bias.p_value, "p with shuffled right answers": bias.permutation_p}
    return [
        (f"{name} {_p(value, bound)}", above(value, bound))
        for name, value in named.items()
        if value is not None
    ]


def _p(value: float, bound: float) -> str:
    return equals(p_value(value, level=bound))


def _spread(bias: InteractionBias) -> str:
    known = [(row.recall, row.label) for row in bias.labels if row.recall is not None]
    (low, least), (high, most) = (pick(known, key=lambda each: each[0]) for pick in (min, max))
    if low == high:
        return f"; recall is {accuracy(low)} of every label"
    return f"; recall goes from {accuracy(low)} ({least!r}) to {accuracy(high)} ({most!r})"
