"""From answers, as labels, to what is recorded of label bias."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.notation import accuracy, equals, level, p_value
from pytest_maxrandom.record import InteractionBias, LabelRow
from pytest_maxrandom.stats.base_rate import correlation
from pytest_maxrandom.stats.label_bias import (
    best_of_prompts,
    label_shares,
    moved_recalls,
    never_score,
    recalls,
    redraw_places,
    redrawn_accuracies,
    rstd,
    worst_redraw,
)
from pytest_maxrandom.stats.label_finding import finding, preference_p_value
from pytest_maxrandom.stats.label_null import move_baseline, recall_baseline, redraw_baseline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.label_bias.answers import LabelAnswers
    from pytest_maxrandom.record import Interaction, LabelBiasRecord, LabelCheck
    from pytest_maxrandom.stats.label_finding import Finding
    from pytest_maxrandom.stats.metrics import ScoreBaseline
    from pytest_maxrandom.suite.label_bias import LabelBiasSpec

_ROUNDING = 1e-12
_SCORE = {
    "recall": "mean recall of all labels but the best",
    "move": "mean recall of all labels but the best, with every right answer at every label",
    "redraw": "least accuracy over the redraws",
}


@dataclass(frozen=True)
class Reduced:
    """One way of asking, reduced to its numbers, with what they say in words."""

    bias: InteractionBias
    finding: Finding
    best: int
    """Place of the prompt with the highest accuracy."""


@dataclass(frozen=True, eq=False)
class BaseRates:
    """Labels without a question, as one prompt's format has them."""

    rates: NDArray[np.float64]
    mass: float | None


def reduce(
    asked: LabelAnswers,
    interaction: Interaction,
    spec: LabelBiasSpec,
    t: int,
) -> Reduced:
    """Compute the score of the best prompt beside that of the best of t guessers.

    Where examples are shown in several orders, there are two kinds of guessers: those who guess
    every presentation anew, and those who keep to one choice of each example. A model that prefers
    contents knows nothing either, so it is compared with the kind that is harder to beat.

    Parameters
    ----------
    t : int
        All prompts that count; those that are not at hand are like these.
    """
    check, m = spec.check, len(asked.names)
    by_label = (
        recalls(asked.answers, asked.gold, m) if check == "recall" else moved_recalls(asked.answers)
    )
    scores = never_score(by_label)
    if check == "redraw":
        places = redraw_places(asked.ids, asked.choices, seed=spec.seed)
        scores = worst_redraw(redrawn_accuracies(asked.answers, places))
    winner, score = best_of_prompts(scores)
    kinds = [False] if check == "recall" else [False, True]
    nulls = {kept: _baseline(asked, check, spec.seed, t, by_content=kept) for kept in kinds}
    by_content = max(nulls, key=lambda kept: nulls[kept].p_value(score))
    baseline = nulls[by_content]
    right, presented = asked.right, asked.presented
    total = len(right)
    accuracies = right.reshape(total, -1).sum(axis=1) / presented.reshape(total, -1).sum(axis=1)
    best = int(accuracies.argmax())
    shares = label_shares(asked.answers, m)[best]
    said = finding(
        score=score,
        baseline=baseline,
        by_content=by_content,
        recalls=by_label[best],
        shares=shares,
        preference_p=preference_p_value(
            asked.answers[best], asked.gold, asked.choices, seed=spec.seed
        ),
        names=asked.names,
        n=int(asked.evaluated[best].sum()),
        level=spec.level,
    )
    bias = InteractionBias(
        interaction=interaction,
        n=int(asked.evaluated[best].sum()),
        t=t,
        best_prompt=asked.prompts[best],
        best_accuracy=float(accuracies[best]),
        labels=[
            LabelRow(
                label=name,
                gold=gold,
                recall=None if np.isnan(recall) else float(recall),
                predicted=float(share),
            )
            for name, gold, recall, share in zip(
                asked.names, asked.gold_counts(best), by_label[best], shares, strict=True
            )
        ],
        rstd=float(rstd(by_label[best])),
        score=score,
        score_prompt=asked.prompts[winner],
        score_baseline=baseline.expected,
        score_baseline_error=baseline.expected_error,
        by_content=by_content,
        p_value=baseline.p_value(score),
        p_error=baseline.p_value_error(score),
    )
    return Reduced(bias, said, best)


def add_base_rates(bias: InteractionBias, found: BaseRates) -> None:
    """Put the labels' probabilities without a question beside their recalls."""
    for row, rate in zip(bias.labels, found.rates, strict=True):
        row.base_rate = float(rate)
    bias.base_rate_mass = found.mass
    recall = np.array([np.nan if row.recall is None else row.recall for row in bias.labels])
    if (fit := correlation(found.rates, recall)) is not None:
        bias.r, bias.r_low, bias.r_high = fit.r, fit.low, fit.high


def conclude(record: LabelBiasRecord, found: Sequence[Reduced], spec: LabelBiasSpec) -> None:
    """Write down what all ways of asking say together.

    What is asserted must hold in each of them. The finding is knowledge where all say so, a label
    preference where one does, and else cannot be told.
    """
    several = len(found) > 1
    record.interactions = [each.bias for each in found]
    kinds = {each.finding.kind for each in found}
    if kinds == {"knowledge"}:
        record.finding = "knowledge"
    else:
        record.finding = "label preference" if "label preference" in kinds else "cannot tell"
    record.sentence = " ".join(
        f"{each.bias.interaction.capitalize()}: {each.finding.sentence}"
        if several
        else each.finding.sentence
        for each in found
    )
    failed = [each for each in found if record.asserted and not _holds(each.bias, spec.level)]
    record.passed = not failed
    if failed:
        record.message = "; ".join(_failure(each, spec.check, spec.level) for each in failed)


def _holds(bias: InteractionBias, bound: float) -> bool:
    return bias.p_value <= bound * (1 + _ROUNDING)


def _failure(found: Reduced, check: LabelCheck, bound: float) -> str:
    """Return why a way of asking is not above random guessing, in one line."""
    bias = found.bias
    tried = f"the best of t = {bias.t} prompts" if bias.t > 1 else "the only prompt (t = 1)"
    guessers = f"the best of {bias.t} random guessers" if bias.t > 1 else "a random guesser"
    if bias.by_content:
        guessers += f" who keep{'' if bias.t > 1 else 's'} to one choice of each example"
    return (
        f"{bias.interaction}: Nvr-X score {accuracy(bias.score)} ({_SCORE[check]}) of {tried}, "
        f"n = {bias.n}; {guessers} {accuracy(bias.score_baseline)}; p "
        f"{equals(p_value(bias.p_value, level=bound))} is above {level(bound)}: "
        f"{found.finding.kind}"
    )


def _baseline(
    asked: LabelAnswers, check: LabelCheck, seed: int, t: int, *, by_content: bool = False
) -> ScoreBaseline:
    evaluated = np.unique(asked.evaluated, axis=0) if _same(asked) else asked.evaluated
    return _guessers(
        check,
        asked.ids if check == "redraw" else (),
        asked.choices,
        asked.gold if check == "recall" else (),
        seed,
        t,
        evaluated.shape,
        evaluated.tobytes(),
        by_content,
    )


def _same(asked: LabelAnswers) -> bool:
    """Whether all prompts were scored on the same examples."""
    return bool((asked.evaluated == asked.evaluated[0]).all())


@functools.lru_cache(maxsize=16)
def _guessers(
    check: LabelCheck,
    ids: tuple[str, ...],
    choices: tuple[int, ...],
    gold: tuple[frozenset[int], ...],
    seed: int,
    t: int,
    shape: tuple[int, int],
    evaluated: bytes,
    by_content: bool,
) -> ScoreBaseline:
    """Return the guessers; the models of a suite share their examples, and so these."""
    mask = np.frombuffer(evaluated, dtype=np.bool_).reshape(shape)
    if check == "recall":
        return recall_baseline(gold, choices, t, evaluated=mask)
    if check == "move":
        return move_baseline(choices, t, by_content=by_content, evaluated=mask)
    places = redraw_places(ids, choices, seed=seed)
    return redraw_baseline(choices, places, t, by_content=by_content, evaluated=mask)
