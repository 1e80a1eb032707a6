"""What prompts answered, as labels: what label bias is computed from, live or recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.samples import scored_by_samples
from pytest_maxrandom.stats.chances import choices_of, is_share
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits, membership
from pytest_maxrandom.stats.labels.scores import recalls
from pytest_maxrandom.studies.label_bias.interactions import placements
from pytest_maxrandom.sweeps.labels import Labels, label
from pytest_maxrandom.sweeps.predictions import PromptPredictions, labelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.claims.recorded_claims import RecordedClaim


class NoLabels(ValueError):
    """Why results tell nothing of labels, in one clause with a way out."""


def label_answers(
    labels: Labels, names: Sequence[str], predictions: Sequence[PromptPredictions]
) -> Answers:
    """Return what prompts answered to the examples as they are.

    Labels are 0, ..., k - 1 wherever there are k choices; what was given and is no choice has a
    label beyond these.
    """
    answers, gold = labelled(predictions, labels), tuple(map(frozenset, labels.gold))
    digests = tuple(one.prompt.digest for one in predictions)
    clusters = tuple(example.cluster for example in labels.examples)
    return Answers(
        model="",
        shots=len(predictions[0].prompt.demonstrations),
        prompts=digests,
        identities=digests,
        examples=tuple(example.id for example in labels.examples),
        correct=hits(answers, gold, np.arange(len(gold))),
        evaluated=answers != NOT_EVALUATED,
        answers=answers,
        gold=gold,
        labels=tuple(names),
        choices=tuple(labels.choices),
        clusters=None if set(clusters) == {None} else clusters,
    )


def moved_answers(
    labels: Labels,
    m: int,
    predictions: Sequence[PromptPredictions],
    further: Sequence[PromptPredictions],
) -> NDArray[np.int64]:
    """Return what prompts answered to the examples with their right answers moved.

    `labels` are the places of the examples as they are, of m in all; `predictions` and `further`
    are of the same prompts, to the examples as they are and to all other placements.

    Returns
    -------
    ndarray of int
        Shape (t, n, m): the label that was given to the example with its right answer at label l;
        NOT_EVALUATED where an example was not scored, or has no such label.
    """
    shown = [placements(example) for example in labels.examples]
    placed = label([one for of_example in shown for one in of_example], by_place=True)
    answers = np.full((len(predictions), len(shown), m), NOT_EVALUATED, dtype=np.int64)
    example = np.repeat(np.arange(len(shown)), [len(of_example) for of_example in shown])
    place = [number for of_example in shown for number in range(len(of_example))]
    # The one has NOT_EVALUATED, which is below all labels, where the other has an answer.
    given = np.maximum(labelled(predictions, placed), labelled(further, placed))
    answers[:, example, place] = given
    return answers


def gold_counts(asked: Answers, prompt: int, moved: NDArray[np.int64] | None = None) -> list[int]:
    """Count, for each label, the prompt's presentations in which it is right.

    `moved` are those of `moved_answers`, where these are looked at.
    """
    assert asked.gold is not None
    if moved is None:
        right = membership(asked.gold, len(asked.labels))[asked.evaluated[prompt]]
    else:
        right = moved[prompt] != NOT_EVALUATED
    return [int(count) for count in right.sum(axis=0)]


def recorded(claim: RecordedClaim) -> Answers:
    """Return what was answered, as labels like those of `label_answers`.

    Raises
    ------
    NoLabels
        If the results do not tell that, or labels mean nothing in them.
    """
    assert claim.evidence is not None
    sweep, chances = claim.evidence.results, claim.evidence.chances
    path = claim.model.results.path
    if scored_by_samples(sweep):
        raise NoLabels(
            f"{path} holds several samples of each answer; use `aggregate: vote`, which makes one "
            "of them"
        )
    if sweep.answers is None or sweep.gold is None:
        raise NoLabels(
            f"{path} does not say which answers were given and which are right; give results with "
            "both"
        )
    if claim.model.results.format == "predictions":
        raise NoLabels(
            f"{path} does not say how prompts write the choices; add `label_bias` to the suite "
            "whose run wrote it"
        )
    if chances is None:
        raise NoLabels(
            f"{path} does not say how many choices each example has; give their number, or one "
            "`chance` for the task"
        )
    rights = [*map(len, sweep.gold)]
    for right, chance in zip(rights, chances, strict=True):
        if not is_share(right, chance):
            raise NoLabels(
                f"chance {chance} is not 1 over a whole number of choices; give each example's "
                "number of choices in the results"
            )
    choices = [*map(choices_of, rights, chances)]
    codes, names = _recorded_labels(sweep, choices)
    table = np.array([*codes, NOT_EVALUATED])  # so that -1 stays what it is
    answers = table[sweep.answers]
    gold = tuple(frozenset(codes[each] for each in right) for right in sweep.gold)
    by_label = recalls(answers, gold, len(names))
    if ((~np.isnan(by_label)).sum(axis=1) < 2).any():
        raise NoLabels(
            "a prompt was scored on examples whose right answers all have the same label, so "
            "knowledge cannot be distinguished from a preference for it; use other examples"
        )
    return replace(sweep, answers=answers, gold=gold, labels=names, choices=tuple(choices))


def _recorded_labels(sweep: Answers, choices: Sequence[int]) -> tuple[list[int], tuple[str, ...]]:
    """Return the new code of each label, so that k choices are 0, ..., k - 1, and their names.

    Answers that are no choice, such as texts that were not understood, have the codes beyond.

    Raises
    ------
    NoLabels
        If choices are called otherwise in different examples.
    """
    assert sweep.answers is not None
    assert sweep.gold is not None
    if not sweep.labels:
        most = max(choices)
        return [*range(most)], tuple(f"place {place}" for place in range(1, most + 1))
    # A label belongs to the fewest choices beside which it is ever right; the others come last.
    never = max(choices) + 1
    fewest = [never] * len(sweep.labels)
    for right, k in zip(sweep.gold, choices, strict=True):
        for right_label in right:
            fewest[right_label] = min(fewest[right_label], k)
    # Of labels that are never right, choices look like those that are, and are given oftener.
    kinds = {_kind(name) for name, k in zip(sweep.labels, fewest, strict=True) if k < never}
    times = Counter(sweep.answers[sweep.evaluated].tolist())

    def place(label: int) -> tuple[object, ...]:
        name = sweep.labels[label]
        unlike = (_kind(name) not in kinds, -times[label]) if fewest[label] == never else ()
        # Short names first, so that 2 stands before 10.
        return fewest[label], unlike, len(name), name

    order = sorted(range(len(fewest)), key=place)
    codes = [0] * len(order)
    for code, right_label in enumerate(order):
        codes[right_label] = code
    for right, k in zip(sweep.gold, choices, strict=True):
        if any(codes[each] >= k for each in right):
            raise NoLabels(
                f"right answers to questions with {k} choices have more than {k} different labels, "
                "so examples share no labels: use common labels, such as A, B, "
                f"C{_or_correct(sweep)}"
            )
    return codes, tuple(sweep.labels[each] for each in order[: max(choices)])


def _kind(name: str) -> str:
    if name.isdecimal():
        return "number"
    return "letter" if len(name) == 1 and name.isalpha() else "text"


def _or_correct(sweep: Answers) -> str:
    """Name what may be wrong where somebody wrote how many choices there are."""
    if sweep.chances is None:
        return ", correct `chance`"
    return ", correct the numbers of choices" if sweep.choices_counted else ""
