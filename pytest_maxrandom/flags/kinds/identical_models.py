"""Results of two models that are those of one: the same weights, or the same file, read twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.flags.counting import row_codes
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.stats.gold import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers


_DIFFERENCES = 20
"""Answers in which two models must be expected to differ before that they do not means anything."""
ALIKE = 0.03
"""Share of them in which the two do differ up to which they are one.

The nearest two of different models in the results of Yauney and Mimno (2024) differ in .054.
"""
_MOST_LABELS = 26
_CONSTANT = 0.9
"""Share of a prompt's answers from which on they are nearly one label."""
_LESS = 0.25
"""Share of what the most similar other prompt differs in up to which it is the prompt that counts.

Of two models that each say what a prompt suggests, the same prompt differs as much as that one.
"""
_PROMPTS = 200
"""Prompts among which one that answers like another is looked for."""
_FOLDS = 10
_SAME = "{same:,} of {answers:,} answers ({part:percent}) to the same prompts"
_ONE_MODEL = "check whether the two are the same model."
_BY_CHANCE = f"those of {{other}} (by chance it would be {{by_chance:percent}}): {_ONE_MODEL}"


def _check(judged: JudgedAnswers) -> Found:
    """Find other models that give the same answers; each is reported once."""
    tried, chance = judged.answers, float(judged.chance)
    told: set[str] = {tried.model}
    for other in judged.others:
        if other.model not in told and (flag := _compared(tried, other, chance)):
            told.add(other.model)
            yield flag


def _compared(one: Answers, other: Answers, guess: float) -> Flag | None:
    """Compare what two models say of the prompts and examples that they share.

    Chance gives the equal answers of two models that answer independently, each prompt with the
    labels that it prefers where this or that is right. As much as that may be explained by how
    often prompts, or examples, are answered right; what remains is Cohen's kappa. Two models may
    also say nearly always what each prompt suggests: then the same prompt agrees in both no better
    than other prompts that suggest the same.
    """
    rows = _shared(one.identities, other.identities)
    columns = _shared(one.examples, other.examples)
    sides = [np.ix_(rows[:, side], columns[:, side]) for side in (0, 1)]
    both = one.evaluated[sides[0]] & other.evaluated[sides[1]]
    if not both.any():
        return None
    if scored_alike := _scored_alike(one, other, sides, both):
        return scored_alike
    right = one.correct[sides[0]], other.correct[sides[1]]
    answers: tuple[NDArray[Any], NDArray[Any]] = right
    if labelled := one.answers is not None and other.answers is not None:
        answers = one.answers[sides[0]], _renamed(other, one.labels)[sides[1]]
        both &= ~(nearly_one(answers[0], both) | nearly_one(answers[1], both))[:, np.newaxis]
    equal = answers[0] == answers[1]
    most = chance = _expected(*right, both)
    if len(rows) > 1:
        # With one prompt each example is seen once, and would explain itself.
        most = max(most, _expected(right[0].T, right[1].T, both.T))
    if labelled:
        golds = None if one.gold is None else [one.gold[place] for place in columns[:, 0]]
        few = golds is not None and len(set(golds)) <= _MOST_LABELS
        chance = _expected(*answers, both, golds if few else None)
        most = max(chance, most)
    cells = int(both.sum())
    same = int((equal & both).sum())
    if not _are_one(cells, same, most):
        return None
    unknown = 0 if labelled or not guess else round(1 / guess)
    left = _unexplained(*answers, both, unknown)
    if left < _DIFFERENCES or cells - same > _LESS * left:
        return None
    parameters = {
        "case": "labels" if labelled else "right",
        "same": same,
        "answers": cells,
        "other": other.model,
        "by_chance": chance / cells,
    }
    return Flag("identical_models", parameters)


def nearly_one(answers: NDArray[Any], both: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which prompts say nearly always one label, shape (rows,): two models may agree there."""
    most = np.array(
        [
            np.unique(row[there], return_counts=True)[1].max(initial=0)
            for row, there in zip(answers, both, strict=True)
        ]
    )
    constant: NDArray[np.bool_] = most >= _CONSTANT * both.sum(axis=1)
    return constant


def _unexplained(
    one: NDArray[np.generic], other: NDArray[np.generic], both: NDArray[np.bool_], unknown: int
) -> float:
    """Return how many cells are not explained by another prompt that answers alike.

    Of each prompt the one most like it is chosen on nine tenths of the examples, and what it
    explains is counted on the last tenth, so that the choice among many explains nothing by itself.
    Where right and wrong are all that is known, as many prompts as there are labels, `unknown`, may
    each be the only one that says its label, so those that are explained least do not count.
    """
    folds = np.eye(_FOLDS)[np.arange(both.shape[1]) % _FOLDS]
    nearest = np.full((len(both), _FOLDS), -1.0)
    explained = np.zeros_like(nearest)
    rows = np.arange(len(both))
    for place in np.unique(np.linspace(0, len(both) - 1, min(len(both), _PROMPTS)).astype(int)):
        there = both & both[place]
        cells = there @ folds
        alike = (there & (one == other[place])) @ folds
        rest = cells.sum(axis=1, keepdims=True) - cells
        elsewhere = np.divide(
            alike.sum(axis=1, keepdims=True) - alike,
            rest,
            where=rest > 0,
            out=np.full_like(rest, -1.0),
        )
        better = (elsewhere > nearest) & (rows != place)[:, np.newaxis]
        share = np.divide(alike, cells, where=cells > 0, out=np.zeros_like(cells))
        nearest[better], explained[better] = elsewhere[better], share[better]
    left = np.sort(((1 - explained) * (both @ folds)).sum(axis=1))
    return float(left[: max(0, len(left) - unknown)].sum())


def _scored_alike(
    one: Answers,
    other: Answers,
    sides: list[tuple[NDArray[np.intp], ...]],
    both: NDArray[np.bool_],
) -> Flag | None:
    """Compare scores, which two models hardly share even where both are always right.

    Chance gives two models the same score where both give it to many: scores may be rounded, or
    be answers written as one 1 among zeros. Such differ in the order of the choices only, where
    examples have as many.
    """
    if one.log_likelihoods is None or other.log_likelihoods is None:
        return None
    tables = one.log_likelihoods[sides[0]], other.log_likelihoods[sides[1]]
    if tables[0].shape != tables[1].shape:
        return None
    scored = both & ~np.isnan(tables).all(axis=3).any(axis=0)
    first, second = (table[scored] for table in tables)
    cells = len(first)
    if not cells:
        return None
    codes = row_codes(np.sort(np.concatenate([first, second]), axis=1))
    choices = (~np.isnan(first)).sum(axis=1)
    of_other = np.bincount(codes[cells:], minlength=codes.max() + 1)[codes[:cells]]
    chance = float((of_other / np.bincount(choices)[choices]).sum())
    same = int(((first == second) | (np.isnan(first) & np.isnan(second))).all(axis=1).sum())
    if not _are_one(cells, same, chance):
        return None
    parameters = {"case": "scores", "same": same, "answers": cells, "other": other.model}
    return Flag("identical_models", parameters)


def _are_one(cells: int, same: int, chance: float) -> bool:
    """Tell whether so many equal answers are more than chance gives to two models."""
    return cells - chance >= _DIFFERENCES and cells - same <= ALIKE * (cells - chance)


def _shared(one: Sequence[str], other: Sequence[str]) -> NDArray[np.intp]:
    """Return the places of equal names, shape (shared, 2)."""
    places = {name: place for place, name in enumerate(other)}
    pairs = [(place, places[name]) for place, name in enumerate(one) if name in places]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _renamed(answers: Answers, labels: tuple[str, ...]) -> NDArray[np.signedinteger[Any]]:
    """Return the answers in the code of these labels; others have numbers of their own."""
    assert answers.answers is not None
    if answers.labels == labels:
        return answers.answers
    places = {name: place for place, name in enumerate(labels)}
    codes = [places.get(name, len(labels) + place) for place, name in enumerate(answers.labels)]
    # NOT_EVALUATED is the last place, counted from behind.
    named: NDArray[np.int64] = np.array([*codes, NOT_EVALUATED])[answers.answers]
    return named


def _expected(
    one: NDArray[np.generic],
    other: NDArray[np.generic],
    both: NDArray[np.bool_],
    golds: Sequence[frozenset[int]] | None = None,
) -> float:
    """Return how many equal cells two independent tables with these rows have.

    Each cell is compared with the others of its row, so that what is counted is no part of what is
    expected. `golds` are the kinds of the columns, by which rows are taken apart.
    """
    number = {kind: place for place, kind in enumerate(dict.fromkeys(golds or [frozenset()]))}
    kinds = np.zeros((both.shape[1], len(number)))
    kinds[np.arange(len(kinds)), 0 if golds is None else [number[gold] for gold in golds]] = 1
    cells = both @ kinds
    pairs = np.zeros_like(cells)
    for value in np.unique(one[both]):
        first, second = (one == value) & both, (other == value) & both
        pairs += (first @ kinds) * (second @ kinds) - (first & second) @ kinds
    # A cell that is alone with its kind is explained by it.
    return float(np.divide(pairs, cells - 1, where=cells > 1, out=cells.copy()).sum())


RED_FLAG = RedFlagKind(
    kind="identical_models",
    rank=140,
    topic="prompts",
    default="fail",
    description="Two models that give nearly the same answers.",
    sentences={
        "scores": f"{_SAME} have exactly the scores of {{other}}: {_ONE_MODEL}",
        "labels": f"{_SAME} are the same as {_BY_CHANCE}",
        "right": f"{_SAME} are right or wrong together with {_BY_CHANCE}",
    },
    brief="two models give the same answers",
    remedy="look whether the two are one model",
    check=_check,
    parts={"part": lambda of: of["same"] / of["answers"]},
)


def may_be_one(own: NDArray[np.int8], others: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Tell of which models the answers may be found identical; all others surely are not.

    Two models that are one differ in few answers of all prompts together, or of those prompts
    that do not say nearly always one thing; so some such prompt differs in as few.

    Parameters
    ----------
    own : ndarray of int
        Shape (t, n): a code of each answer, NOT_EVALUATED where there is none.
    others : ndarray of int
        Shape (models, t, n).

    Returns
    -------
    ndarray of bool
        Shape (models,).
    """
    there = own != NOT_EVALUATED
    sizes = there.sum(axis=1)
    differ = ((others != own) & there).sum(axis=2)
    several = ~nearly_one(own, there)
    by_prompt = (differ <= ALIKE * sizes)[:, several].any(axis=1)
    return np.asarray(by_prompt | (differ.sum(axis=1) <= ALIKE * sizes.sum()))


def candidates(own: Answers, others: Sequence[Answers]) -> list[Answers]:
    """Return the answers of other models that are worth a thorough look."""
    alike = [
        other.identities == own.identities
        and other.examples == own.examples
        and other.labels == own.labels
        and (other.answers is None) == (own.answers is None)
        for other in others
    ]
    asked = [other for other, same in zip(others, alike, strict=True) if same]
    if not asked:
        return list(others)
    codes = np.stack([_codes(each) for each in asked])
    may_be = iter(may_be_one(_codes(own), codes).tolist())
    return [other for other, same in zip(others, alike, strict=True) if not same or next(may_be)]


def _codes(answers: Answers) -> NDArray[np.int8]:
    if answers.answers is None:
        return np.where(answers.evaluated, answers.correct, NOT_EVALUATED).astype(np.int8)
    return compact(answers.answers)


def compact(codes: NDArray[np.signedinteger[Any]]) -> NDArray[np.int8]:
    """Return codes of answers in a byte each; of very many some are the same, none are others."""
    return np.where(codes == NOT_EVALUATED, NOT_EVALUATED, codes % 127).astype(np.int8)
