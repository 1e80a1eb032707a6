"""From answers, as labels, to what is recorded of label bias."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import InteractionBias, LabelRow
from pytest_maxrandom.stats.gold import NOT_EVALUATED
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
from pytest_maxrandom.studies.label_bias.answers import gold_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.record import (
        Doubt,
        Interaction,
        LabelBiasRecord,
        LabelCheck,
        Remark,
    )
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.labels.priors import BaseRates
    from pytest_maxrandom.stats.maximum import ScoreBaseline
    from pytest_maxrandom.suite.claims import LabelBiasSpec


_SMALLEST = 0.1
"""Share of the level for a p-value if a label is preferred."""


_OF_LABELS: frozenset[str] = frozenset({"max_t", "majority"})
"""Red flags of a result that who prefers a label reaches as well, whatever the claim asserts."""


def reduce(
    asked: Answers,
    interaction: Interaction,
    spec: LabelBiasSpec,
    t: int,
    *,
    moved: NDArray[np.int64] | None = None,
    claim_holds: bool = True,
) -> InteractionBias:
    """Compute the score of the best prompt, and that of the best of t guessers.

    Parameters
    ----------
    asked : Answers
        As `label_answers` gives them.
    t : int
        All prompts that count; those that are not at hand are like these.
    moved : ndarray of int, optional
        Shape (t, n, m): the answers to examples with moved right answers, which are looked at in
        place of the others, where there are any; see `moved_answers`.
    claim_holds : bool
        Whether the claim holds whose labels these are.
    """
    m, total = len(asked.labels), len(asked.prompts)
    answers, gold, choices = _of_labels(asked)
    # Of several right choices, the one that was moved counts.
    given, right = (answers, asked.correct) if moved is None else (moved, moved == np.arange(m))
    presented = given != NOT_EVALUATED
    by_label = recalls(answers, gold, m) if spec.check == "recall" else moved_recalls(given)
    scores = never_score(by_label)
    if spec.check == "redraw":
        places = redraw_places(asked.examples, choices, seed=spec.seed)
        scores = worst_redraw(redrawn_accuracies(given, places))
    winner, score = best_of_prompts(scores)
    by_content, baseline = _hardest(asked, spec, t, score)
    accuracies = right.reshape(total, -1).sum(axis=1) / presented.reshape(total, -1).sum(axis=1)
    best = int(accuracies.argmax())
    bias = InteractionBias(
        interaction=interaction,
        n=int(asked.evaluated[best].sum()),
        t=t,
        best_prompt=asked.prompts[best],
        best_accuracy=float(accuracies[best]),
        labels=_rows(asked.labels, gold_counts(asked, best, moved), given[best], by_label[best]),
        rstd=float(rstd(by_label[best])),
        score=score,
        score_prompt=asked.prompts[winner],
        score_baseline=baseline.expected,
        score_baseline_error=baseline.expected_error,
        by_content=by_content,
        p_value=baseline.p_value(score),
        p_error=baseline.p_value_error(score),
        preference_p=preference_p_value(given[best], gold, choices, seed=spec.seed),
        permutation_p=_permuted(asked, spec, t) if spec.check == "recall" else None,
    )
    p_values = [p for p in (bias.p_value, bias.permutation_p) if p is not None]
    bias.finding = finding(p_values, bias.preference_p, spec.level, claim_holds=claim_holds)
    return bias


def _of_labels(
    asked: Answers,
) -> tuple[NDArray[np.int64], tuple[frozenset[int], ...], tuple[int, ...]]:
    """Return what all answers have whose labels are known: labels, right ones and choices."""
    assert asked.answers is not None
    assert asked.gold is not None
    assert asked.choices is not None
    return asked.answers, asked.gold, asked.choices


def _rows(
    names: Sequence[str],
    counts: Sequence[int],
    given: NDArray[np.int64],
    recall: NDArray[np.float64],
) -> list[LabelRow]:
    """Return what one prompt gave, by labels."""
    shares = label_shares(given[np.newaxis], len(names))[0]
    return [
        LabelRow(
            label=name,
            gold=gold,
            recall=None if np.isnan(one) else float(one),
            predicted=float(share),
        )
        for name, gold, one, share in zip(names, counts, recall, shares, strict=True)
    ]


def _permuted(asked: Answers, spec: LabelBiasSpec, t: int) -> float:
    """Return the p-value of t prompts with shuffled right answers."""
    answers, gold, choices = _of_labels(asked)
    p, *_ = max_t_of_all(
        answers,
        gold,
        # Answers that are no choice have codes beyond those of the labels.
        np.full(len(gold), 1 + int(max(answers.max(), max(choices) - 1))),
        t,
        level=_SMALLEST * spec.level,
        statistic=NEVER_X,
        strata=choices,
        groups=asked.groups,
        seed=spec.seed,
    )
    return p


def add_base_rates(bias: InteractionBias, base_rates: BaseRates) -> None:
    """Compare the labels' probabilities without a question with their recalls.

    What follows after each label of a counterfactual is one continuation, and its probabilities
    make no whole: their mass is not reported.
    """
    for row, rate in zip(bias.labels, base_rates.rates, strict=True):
        row.base_rate = float(rate)
    bias.base_rate_mass = None if bias.interaction == "counterfactual" else float(base_rates.mass)
    recall = np.array([np.nan if row.recall is None else row.recall for row in bias.labels])
    if (fit := correlation(base_rates.rates, recall)) is not None:
        bias.r, bias.r_low, bias.r_high = fit.r, fit.low, fit.high


def doubt(result: Result, level: float, *, asserts: bool) -> Doubt | None:
    """Say why the best accuracy of a claim shows no knowledge; None where it does.

    A claim that asserts nothing neither passes nor fails: what counts is whether guessers, or the
    same answers with shuffled right answers, reach its best accuracy.
    """
    if result.cannot_tell is not None:
        return "cannot tell"
    of_labels = [flag.severity for flag in result.red_flags if flag.kind in _OF_LABELS]
    if asserts and (not result.holds or "fail" in of_labels):
        return "fails"
    if asserts or of_labels:
        return "guessed" if of_labels else None
    known = [p for p in (result.p_max, result.permutation_p) if p is not None]
    return "guessed" if not known or above(max(known), level) else None


def record_finding(
    record: LabelBiasRecord, biases: Sequence[InteractionBias], untold: Remark | None = None
) -> None:
    """Write down what all ways of asking say together.

    Parameters
    ----------
    untold : Remark, optional
        Why the claim whose labels these are can neither pass nor fail.

    What is asserted must hold in each of them. The finding is knowledge where all say so, a label
    preference where one does, and else is unknown. Where the claim itself cannot be told, and no
    label preference is found, neither can what is asserted of its labels.
    """
    record.interactions = list(biases)
    kinds = {bias.finding for bias in biases}
    if kinds == {"knowledge"}:
        record.finding = "knowledge"
    else:
        record.finding = "label preference" if "label preference" in kinds else "cannot tell"
    record.passed = not record.asserted or record.finding == "knowledge"
    if not record.passed and record.finding == "cannot tell" and untold is not None:
        record.passed, record.cannot_tell = None, untold


def _hardest(
    asked: Answers, spec: LabelBiasSpec, t: int, score: float
) -> tuple[bool, ScoreBaseline]:
    """Return the guessers that are hardest to beat, and whether they keep to one choice.

    Where examples are shown in several orders, there are two kinds: those who guess every
    presentation anew, and those who keep to one choice of each example. A model that prefers
    contents knows nothing either.
    """
    everywhere = bool((asked.evaluated == asked.evaluated[0]).all())
    evaluated = asked.evaluated[:1] if everywhere else asked.evaluated
    mask = evaluated.shape, evaluated.tobytes()
    kinds = [False] if spec.check == "recall" else [False, True]
    _, gold, choices = _of_labels(asked)
    known = mask, asked.examples, choices, gold
    found = [(kept, _guessers(spec.check, spec.seed, t, kept, *known)) for kept in kinds]
    return max(found, key=lambda each: each[1].p_value(score))


@functools.lru_cache(
    maxsize=16
)  # the models of a suite share their examples, and so their guessers
def _guessers(
    check: LabelCheck,
    seed: int,
    t: int,
    by_content: bool,
    mask: tuple[tuple[int, ...], bytes],
    ids: tuple[str, ...],
    choices: tuple[int, ...],
    gold: tuple[frozenset[int], ...],
) -> ScoreBaseline:
    """Return the guessers of a check; `mask` is which examples prompts were scored on, hashable."""
    evaluated = np.frombuffer(mask[1], dtype=np.bool_).reshape(mask[0])
    if check == "recall":
        return recall_baseline(gold, choices, t, evaluated=evaluated)
    if check == "move":
        return move_baseline(choices, t, by_content=by_content, evaluated=evaluated)
    places = redraw_places(ids, choices, seed=seed)
    return redraw_baseline(choices, places, t, by_content=by_content, evaluated=evaluated)
