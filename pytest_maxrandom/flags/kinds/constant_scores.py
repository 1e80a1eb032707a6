"""Scores that are the same for many different examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.flags.counting import row_codes
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers


_ALIKE = 0.05
"""Share of equal pairs of examples from which on scores do not depend on the example."""
_FEWEST = 20
"""Examples that say something about all."""
_SOME = 2.0
"""Standard deviations above ignorance from which on answers may show knowledge."""
_KNOWING = 4.0
"""Standard deviations above ignorance from which on answers show knowledge."""
_NEARLY = 0.95
"""Share of right answers that no constant answer is expected to have."""
_MOST_LABELS = 100
"""With more labels, right answers are texts of their own, of which none is preferred."""
_ROUNDING = 1e-9


def _check(judged: JudgedAnswers) -> Found:
    """Find prompts whose scores are the same for many different examples.

    Counted are pairs of examples with equal scores. A text that was cut before the question has
    one value for each answer; scores that were rounded to 16 bits have hundreds. Few scores may
    still tell right from wrong: examples whose equal scores do are not counted.
    """
    tried = judged.answers
    if tried.log_likelihoods is None or _are_hard(tried.log_likelihoods[tried.evaluated]):
        return
    knowledge = Knowledge.of(tried, float(judged.chance))
    repeating = [*_repeating(tried)]
    found = _unknowing(repeating, knowledge) or _partly_cut(repeating, knowledge)
    if found:
        least, n = min((len(each.times), len(each.scored)) for each in found)
        parameters = {
            "told": len(found),
            "prompts": len(tried.prompts),
            "different": least,
            "examples": n,
        }
        yield Flag("constant_scores", parameters)


class _Repeating(NamedTuple):
    """A prompt that gives many of its examples the same scores."""

    row: int
    scored: NDArray[np.intp]
    """Its examples, one of each text."""
    codes: NDArray[np.intp]
    """Of each of them: equal numbers stand for equal scores."""
    times: NDArray[np.intp]
    """How often each code occurs."""

    @property
    def repeated(self) -> NDArray[np.intp]:
        """The examples that share their scores with others."""
        return self.scored[self.times[self.codes] > 1]

    def known(self, knowledge: Knowledge) -> bool:
        """Tell whether the answers to those show knowledge."""
        if knowledge.gold is None:
            return knowledge.shows(self.row, self.repeated, self.scored)
        return knowledge.above_shuffled([(self.row, self.repeated)]) > _KNOWING

    def unknown(self, knowledge: Knowledge) -> NDArray[np.bool_]:
        """Mark those among `scored` whose own group of equal scores shows no knowledge."""
        repeated: NDArray[np.bool_] = self.times[self.codes] > 1
        for code in np.flatnonzero(self.times > 1):
            group = self.codes == code
            if knowledge.shows(self.row, self.scored[group], self.scored):
                repeated &= ~group
        return repeated


def _repeating(tried: Answers) -> Iterator[_Repeating]:
    assert tried.log_likelihoods is not None
    n = len(tried.examples)
    own = np.arange(n)
    different = own == (own if tried.copies is None else np.array(tried.copies))
    # Rows that are the same begin alike, which numbers hardly do by accident.
    first = tried.log_likelihoods[:, :, 0]
    ordered = np.sort(first, axis=1)
    may_repeat = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    may_repeat |= (np.isnan(first) & tried.evaluated).any(axis=1)
    for row in np.flatnonzero(may_repeat).tolist():
        scores = tried.log_likelihoods[row]
        there = ~np.isnan(scores).all(axis=1)
        scored = np.flatnonzero(tried.evaluated[row] & different & there)
        if len(scored) >= _FEWEST:
            codes = row_codes(scores[scored])
            times = np.bincount(codes)
            if _are_many(times, len(scored)):
                yield _Repeating(row, scored, codes, times)


def _unknowing(repeating: Sequence[_Repeating], knowledge: Knowledge) -> list[_Repeating]:
    """Return the prompts whose answers show no knowledge, neither alone nor together."""
    scores = knowledge.tried.log_likelihoods
    assert scores is not None
    unknowing = []
    for prompt in repeating:
        if prompt.known(knowledge):
            continue
        unknown = prompt.unknown(knowledge)
        part = prompt.scored[unknown]
        many = _are_many(np.bincount(prompt.codes[unknown]), len(prompt.scored))
        if many and not _are_hard(scores[prompt.row, part]):
            unknowing.append(prompt)
    # Where scores are rounded all prompts repeat them, and may show what they know together only.
    whole = [(each.row, each.repeated) for each in repeating]
    if unknowing and knowledge.gold is not None and knowledge.above_shuffled(whole) > _KNOWING:
        return []
    return unknowing


def _partly_cut(repeating: Iterable[_Repeating], knowledge: Knowledge) -> list[_Repeating]:
    """Return prompts that give many examples one and the same scores, and do not know these.

    Some of many are right there too seldom by accident, so the usual one is looked at.
    """
    scores = knowledge.tried.log_likelihoods
    assert scores is not None
    if knowledge.gold is None:
        return []
    candidates, least = [], []
    for prompt in repeating:
        n = len(prompt.scored)
        groups = [
            prompt.codes == code for code, times in enumerate(prompt.times) if _are_many(times, n)
        ]
        deviations = [
            knowledge.above_elsewhere(prompt.row, prompt.scored[group], prompt.scored)[1]
            for group in groups
            if not _is_rounded(
                scores[prompt.row, prompt.scored], group, prompt.times[prompt.codes] > 1
            )
        ]
        if deviations:
            candidates.append(prompt)
            least.append(min(deviations))
    if not candidates or np.median(least) > _SOME:
        return []
    return [each for each, above in zip(candidates, least, strict=True) if above <= _SOME]


def _is_rounded(
    rows: NDArray[np.float64], group: NDArray[np.bool_], repeated: NDArray[np.bool_]
) -> bool:
    """Tell whether other repeated rows are those of a group in another order.

    So are saturated or rounded probabilities; the scores of a text that was cut are not.
    """
    ordered = row_codes(np.sort(rows, axis=1))
    return bool((repeated & ~group & (ordered == ordered[group][0])).any())


def _are_many(times: NDArray[np.intp] | np.intp, n: int) -> bool:
    """Tell whether rows that occur so many times make up many of all pairs of n examples."""
    return bool(np.sum(times * (times - 1)) > _ALIKE * n * (n - 1))


def _are_hard(rows: NDArray[np.float64]) -> bool:
    """Tell whether rows are answers without scores, such as one 1 among zeros.

    With as many choices they are then the same numbers in different orders.
    """
    choices = len(np.unique((~np.isnan(rows)).sum(axis=1)))
    ordered = np.sort(rows, axis=1)
    # Rows whose least numbers differ are different: that tells most scores at once.
    if len(np.unique(ordered[:, 0])) > choices:
        return False
    return _different(ordered) == choices < _different(rows)


def _different(rows: NDArray[np.float64]) -> int:
    return int(row_codes(rows).max(initial=-1)) + 1


@dataclass(frozen=True, eq=False, slots=True)
class Knowledge:
    """What tells whether answers depend on the example.

    Whoever does not see an example answers by its scores alone, so in each group of equal scores
    such a one is right as often as that answer is right elsewhere. Right answers that are
    unbalanced, or a constant answer that is above chance, therefore show nothing.
    """

    tried: Answers
    """Of t prompts to n examples."""
    chance: float
    """Of one guess."""
    widths: NDArray[np.int64]
    """Length n: how many choices each example has scores of."""
    answers: NDArray[np.intp]
    """Shape (t, n): columns of `gold`."""
    gold: NDArray[np.float64] | None
    """Shape (n, labels): 1 where a label that is given somewhere is right; None where that is not
    known."""

    @classmethod
    def of(cls, tried: Answers, chance: float) -> Knowledge:
        """Return that of a sweep with scores."""
        assert tried.log_likelihoods is not None
        scored = ~np.isnan(tried.log_likelihoods)
        widths = scored.sum(axis=2).max(axis=0)
        highest = np.where(scored, tried.log_likelihoods, -np.inf).argmax(axis=2)
        said = highest if tried.answers is None else tried.answers
        given, columns = np.unique(said, return_inverse=True)
        answers = columns.reshape(said.shape)
        gold: NDArray[np.bool_] | None = None
        if len(given) <= _MOST_LABELS:
            if tried.answers is None or tried.gold is None:
                gold = _right_labels(tried, answers, widths)
            else:
                labels = given.tolist()
                gold = np.array([[label in right for label in labels] for right in tried.gold])
        return cls(
            tried, chance, widths, answers, None if gold is None else gold.astype(np.float64)
        )

    def above_shuffled(self, parts: Sequence[tuple[int, NDArray[np.intp]]]) -> float:
        """Return how many standard deviations answers are above shuffled right answers.

        Mean and variance of Hoeffding's combinatorial statistic (Ann. Math. Statist. 22, 1951, eq.
        10), over shuffles among the examples with as many choices. What several prompts say of an
        example stays together. `parts` has per prompt its row, and the examples that count. Right
        answers must be known.
        """
        assert self.gold is not None
        answered = np.zeros_like(self.gold)
        counted = np.zeros(len(answered), dtype=np.bool_)
        for row, examples in parts:
            for alike in self._strata(examples):
                given = self.answers[row, alike]
                answered[alike, given] += 1
                answered[alike] -= np.bincount(given, minlength=answered.shape[1]) / len(alike)
            counted[examples] = True
        variance = 0.0
        for alike in self._strata(np.flatnonzero(counted)):
            one, other = (
                table[alike] - table[alike].mean(axis=0) for table in (answered, self.gold)
            )
            variance += float(((one.T @ one) * (other.T @ other)).sum()) / max(1, len(alike) - 1)
        return _in_deviations(float((answered * self.gold).sum()), variance)

    def above_elsewhere(
        self, row: int, part: NDArray[np.intp], whole: NDArray[np.intp]
    ) -> tuple[float, float]:
        """Compare a prompt's answers to a part of its examples with the same answers to all.

        Returns
        -------
        Mean rate of being right with them elsewhere (chance, where right answers are not known),
        and how many standard deviations the prompt is above it.
        """
        if self.gold is None:
            rates = np.full(len(part), self.chance)
        else:
            everywhere = np.zeros_like(self.gold)
            for alike in self._strata(whole):
                everywhere[alike] = self.gold[alike].mean(axis=0)
            rates = everywhere[part, self.answers[row, part]]
        excess = float(self.tried.correct[row, part].sum() - rates.sum())
        return float(rates.mean()), _in_deviations(excess, float((rates * (1 - rates)).sum()))

    def shows(self, row: int, part: NDArray[np.intp], whole: NDArray[np.intp]) -> bool:
        """Tell whether answers err at most half as often as the same ones do elsewhere.

        Where right answers are not known, nearly all of them must be right: a constant answer may
        be above chance.
        """
        rate, deviations = self.above_elsewhere(row, part, whole)
        needed = _NEARLY if self.gold is None else (1 + rate) / 2
        return deviations > _KNOWING and bool(self.tried.correct[row, part].mean() >= needed)

    def _strata(self, examples: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        widths = self.widths[examples]
        return [examples[widths == width] for width in np.unique(widths)]


def _right_labels(
    tried: Answers, answers: NDArray[np.intp], widths: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Return which answers are right by what prompts are right with, shape (n, labels).

    Returns None unless that is known for nearly all examples: where it is known only of what a
    prompt is right with, it would seem to know. Of two choices the other one is right.
    """
    labels = np.arange(answers.max() + 1)
    given = np.stack([(answers == label) & tried.evaluated for label in labels], axis=2)
    right, wrong = (
        np.any(given & hits[..., np.newaxis], axis=0) for hits in (tried.correct, ~tried.correct)
    )
    if len(labels) == 2:
        right |= (wrong & (widths == 2)[:, np.newaxis])[:, ::-1]
    told = right.any(axis=1).mean() >= _NEARLY and not np.any(right & wrong)
    return right if told else None


def _in_deviations(excess: float, variance: float) -> float:
    return excess / max(variance, _ROUNDING) ** 0.5 if excess > _ROUNDING else 0.0


RED_FLAG = RedFlagKind(
    kind="constant_scores",
    rank=100,
    topic="scores",
    default="fail",
    description="Scores that do not depend on the example.",
    sentences="{who} {told:gives/give} different examples the same scores (as few as "
    "{different:,} different ones for {examples:,} examples): check whether the text was cut "
    "before the question.",
    brief="scores do not depend on the example",
    remedy="look whether the question is in the text",
    check=_check,
)
