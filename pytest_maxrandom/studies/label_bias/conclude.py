"""From answers, as labels, to what is recorded of label bias."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import InteractionBias, LabelRow
from pytest_maxrandom.stats.labels.finding import finding, preference_p_value
from pytest_maxrandom.stats.labels.null import move_baseline, recall_baseline, redraw_baseline
from pytest_maxrandom.stats.labels.priors import correlation
from pytest_maxrandom.stats.labels.scores import (
    NEVER_X,
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
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.stats.permutation import max_t_of_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.record import (
        ClaimRecord,
        Interaction,
        LabelBiasRecord,
        LabelCheck,
        RedFlagKind,
    )
    from pytest_maxrandom.stats.labels.priors import BaseRates
    from pytest_maxrandom.stats.metrics import ScoreBaseline
    from pytest_maxrandom.studies.label_bias.answers import LabelAnswers
    from pytest_maxrandom.suite.claims import LabelBiasSpec


_SMALLEST = 0.1
"""Share of the level that a p-value is compared with beside a preferred label."""


_OF_LABELS: frozenset[RedFlagKind] = frozenset({"max_t", "majority"})
"""Red flags of a result that who prefers a label reaches as well, whatever the claim asserts."""


@dataclass(frozen=True)
class InteractionResult:
    """One way of asking, reduced to its numbers, with what they say."""

    bias: InteractionBias
    best: int
    """Place of the prompt with the highest accuracy."""


def reduce(
    asked: LabelAnswers,
    interaction: Interaction,
    spec: LabelBiasSpec,
    t: int,
    *,
    claim_holds: bool = True,
) -> InteractionResult:
    """Compute the score of the best prompt beside that of the best of t guessers.

    Parameters
    ----------
    t : int
        All prompts that count; those that are not at hand are like these.
    claim_holds : bool
        Whether the claim holds whose labels these are.
    """
    m, total = len(asked.names), len(asked.prompts)
    by_label = (
        recalls(asked.answers, asked.gold, m)
        if spec.check == "recall"
        else moved_recalls(asked.answers)
    )
    scores = never_score(by_label)
    if spec.check == "redraw":
        places = redraw_places(asked.ids, asked.choices, seed=spec.seed)
        scores = worst_redraw(redrawn_accuracies(asked.answers, places))
    winner, score = best_of_prompts(scores)
    by_content, baseline = _hardest(asked, spec, t, score)
    right, presented = asked.right, asked.presented
    accuracies = right.reshape(total, -1).sum(axis=1) / presented.reshape(total, -1).sum(axis=1)
    best = int(accuracies.argmax())
    bias = InteractionBias(
        interaction=interaction,
        n=int(asked.evaluated[best].sum()),
        t=t,
        best_prompt=asked.prompts[best],
        best_accuracy=float(accuracies[best]),
        labels=_rows(asked, best, by_label[best]),
        rstd=float(rstd(by_label[best])),
        score=score,
        score_prompt=asked.prompts[winner],
        score_baseline=baseline.expected,
        score_baseline_error=baseline.expected_error,
        by_content=by_content,
        p_value=baseline.p_value(score),
        p_error=baseline.p_value_error(score),
        preference_p=preference_p_value(
            asked.answers[best], asked.gold, asked.choices, seed=spec.seed
        ),
        permutation_p=_permuted(asked, spec, t) if spec.check == "recall" else None,
    )
    p_values = [p for p in (bias.p_value, bias.permutation_p) if p is not None]
    bias.finding = finding(p_values, bias.preference_p, spec.level, claim_holds=claim_holds)
    return InteractionResult(bias, best)


def _rows(asked: LabelAnswers, prompt: int, recall: NDArray[np.float64]) -> list[LabelRow]:
    shares = label_shares(asked.answers[prompt : prompt + 1], len(asked.names))[0]
    return [
        LabelRow(
            label=name,
            gold=gold,
            recall=None if np.isnan(one) else float(one),
            predicted=float(share),
        )
        for name, gold, one, share in zip(
            asked.names, asked.gold_counts(prompt), recall, shares, strict=True
        )
    ]


def _permuted(asked: LabelAnswers, spec: LabelBiasSpec, t: int) -> float:
    """Return the p-value of t prompts with shuffled right answers."""
    p, _ = max_t_of_all(
        asked.answers,
        asked.gold,
        # Answers that are no choice have codes beyond those of the labels.
        np.full(len(asked.gold), 1 + int(max(asked.answers.max(), max(asked.choices) - 1))),
        t,
        level=_SMALLEST * spec.level,
        statistic=NEVER_X,
        strata=asked.choices,
        groups=asked.groups,
        seed=spec.seed,
    )
    return p


def add_base_rates(bias: InteractionBias, found: BaseRates) -> None:
    """Put the labels' probabilities without a question beside their recalls.

    What follows after each label of a counterfactual is one continuation, and its probabilities
    make no whole: their mass is not told.
    """
    for row, rate in zip(bias.labels, found.rates, strict=True):
        row.base_rate = float(rate)
    bias.base_rate_mass = None if bias.interaction == "counterfactual" else float(found.mass)
    recall = np.array([np.nan if row.recall is None else row.recall for row in bias.labels])
    if (fit := correlation(found.rates, recall)) is not None:
        bias.r, bias.r_low, bias.r_high = fit.r, fit.low, fit.high


def holds(claim: ClaimRecord, level: float) -> bool:
    """Tell whether a claim that was judged holds, and a preferred label does not explain it.

    Of one that asserts nothing it is whether guessers, and the same answers with shuffled right
    answers, hardly reach its best accuracy.
    """
    if any(flag.kind in _OF_LABELS for flag in claim.red_flags):
        return False
    if claim.asserted:
        return bool(claim.holds)
    if claim.p_max is None:
        return False
    return not above(max(claim.p_max, claim.permutation_p or 0.0), level)


def conclude(record: LabelBiasRecord, found: Sequence[InteractionResult]) -> None:
    """Write down what all ways of asking say together.

    What is asserted must hold in each of them. The finding is knowledge where all say so, a label
    preference where one does, and else cannot be told.
    """
    record.interactions = [each.bias for each in found]
    kinds = {bias.finding for bias in record.interactions}
    if kinds == {"knowledge"}:
        record.finding = "knowledge"
    else:
        record.finding = "label preference" if "label preference" in kinds else "cannot tell"
    record.passed = not record.asserted or record.finding == "knowledge"


def _hardest(
    asked: LabelAnswers, spec: LabelBiasSpec, t: int, score: float
) -> tuple[bool, ScoreBaseline]:
    """Return the guessers that are hardest to beat, and whether they keep to one choice.

    Where examples are shown in several orders, there are two kinds: those who guess every
    presentation anew, and those who keep to one choice of each example. A model that prefers
    contents knows nothing either.
    """
    # The models of a suite share their examples, and so their guessers.
    evaluated = np.unique(asked.evaluated, axis=0) if _same(asked) else asked.evaluated
    shown = _Shown(
        check=spec.check,
        ids=asked.ids if spec.check == "redraw" else (),
        choices=asked.choices,
        gold=asked.gold if spec.check == "recall" else (),
        seed=spec.seed,
        shape=evaluated.shape,
        evaluated=evaluated.tobytes(),
    )
    kinds = [False] if spec.check == "recall" else [False, True]
    found = [(kept, _guessers(shown, t, by_content=kept)) for kept in kinds]
    return max(found, key=lambda each: each[1].p_value(score))


def _same(asked: LabelAnswers) -> bool:
    """Whether all prompts were scored on the same examples."""
    return bool((asked.evaluated == asked.evaluated[0]).all())


@dataclass(frozen=True)
class _Shown:
    """All of a check that guessers depend on; `evaluated` as bytes, because arrays do not hash."""

    check: LabelCheck
    ids: tuple[str, ...]
    choices: tuple[int, ...]
    gold: tuple[frozenset[int], ...]
    seed: int
    shape: tuple[int, ...]
    evaluated: bytes


@functools.lru_cache(maxsize=16)
def _guessers(shown: _Shown, t: int, *, by_content: bool) -> ScoreBaseline:
    mask = np.frombuffer(shown.evaluated, dtype=np.bool_).reshape(shown.shape)
    if shown.check == "recall":
        return recall_baseline(shown.gold, shown.choices, t, evaluated=mask)
    if shown.check == "move":
        return move_baseline(shown.choices, t, by_content=by_content, evaluated=mask)
    places = redraw_places(shown.ids, shown.choices, seed=shown.seed)
    return redraw_baseline(shown.choices, places, t, by_content=by_content, evaluated=mask)
