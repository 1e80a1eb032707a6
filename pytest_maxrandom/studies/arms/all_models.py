"""All models of a suite, or all its arms, on one task: what is compared, and what is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.notation import level as level_text, p_value
from pytest_maxrandom.record import BestModelsRecord, ModelPair, ModelStanding, Remark, note
from pytest_maxrandom.stats.best_models import best_models
from pytest_maxrandom.stats.maximum import BestOfPrompts
from pytest_maxrandom.studies.arms.answers import Sides, Unpaired
from pytest_maxrandom.studies.arms.compared import Compared
from pytest_maxrandom.suite.arms import USUAL_LEVEL, CompareSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.evidence import Evidence
    from pytest_maxrandom.claims.untestable import MissingClaim

    Claimed = PlannedClaim | RecordedClaim | MissingClaim


@dataclass(frozen=True, kw_only=True)
class PlannedBestModels(Compared):
    """All models, or arms, on one task with one number of shots, each at the best of its prompts.

    Its name is ``compare[all]``, with the number of the prompt where that is fixed.
    """

    arms: tuple[tuple[str, Claimed], ...]
    """What is compared, by the names that comparisons have for it; each has a side of its own."""
    spec: CompareSpec

    def record(self, node_id: str, suite: str) -> BestModelsRecord:
        """Return what can be said before they are compared."""
        claim = self.spec.assertion
        first = self.compared[0]
        return BestModelsRecord(
            **self._heading(node_id, suite),
            xfail=self.xfail,
            asserted={} if claim is None else claim.model_dump(exclude_none=True),
            level=USUAL_LEVEL if claim is None else claim.level,
            prompt="" if self.spec.prompt is None else str(self.spec.prompt),
            n=first.n,
            units=first.examples or None,
        )


def side_of(claim: Claimed) -> Sides:
    """Return what one of the models, or arms, runs, or that its results are missing.

    Raises
    ------
    Unpaired
        If its results are those of the best prompt alone.
    """
    if claim.missing:
        return Sides(missing=claim.missing)
    if isinstance(claim, PlannedClaim):
        return Sides.of_one([claim])
    results = evidence_of(claim).results
    if not results.prompts:
        raise Unpaired(
            "the results have the best prompt only, but models are compared by every prompt's "
            "answer to every example"
        )
    return Sides.of_answers(results)


def check_arms(planned: PlannedBestModels, *, passable: bool) -> None:
    """Make sure that all are asked the same examples, have the prompt, and that one could be best.

    If `passable`, it is not asked whether one could be best.

    Raises
    ------
    Unpaired
        If not.
    """
    sides = list(zip(planned.arms, planned.compared, strict=True))
    if any(side.missing for side in planned.compared):
        return
    (first, own), *others = [(name, _examples(claim)) for (name, claim), _ in sides]
    for name, theirs in others:
        if set(theirs) != set(own):
            raise Unpaired(f"the examples of {name!r} are not those of {first!r}")
    wanted = planned.spec.prompt or 1
    for (name, _), side in sides:
        if wanted > (side.t or 0):
            raise Unpaired(f"{name!r} has no prompt {wanted}, but {side.t}")
    if planned.level is None or passable:
        return
    # One model is the best where each other one is left out.
    tries = 1 if planned.spec.prompt else min(side.t or 1 for side in planned.compared)
    least = (len(sides) - 1) * tries * 0.5 ** planned.compared[0].examples
    if least > planned.level:
        raise Unpaired(
            f"no model can be shown to be the best: with {planned.compared[0].examples} examples, "
            f"{tries} prompts and {len(sides)} models no p-value is below {p_value(least)}, but "
            f"the level is {level_text(planned.level)}; use more examples, or a higher level"
        )


def _examples(claim: Claimed) -> Sequence[object]:
    if isinstance(claim, PlannedClaim):
        return [each.content for each in claim.condition.prompt_set.validation]
    return evidence_of(claim).results.examples


def evidence_of(claim: Claimed) -> Evidence:
    """Return what is recorded of a claim that runs no model, and whose results there are."""
    assert isinstance(claim, RecordedClaim)
    assert claim.evidence is not None
    return claim.evidence


def record_best_models(
    planned: PlannedBestModels,
    record: BestModelsRecord,
    answers: Sequence[Answers],
    tried: Mapping[str, int],
) -> None:
    """Compare all models, and write down what is found.

    `tried` has by their names how many prompts of a model were ever tried on these examples, where
    these are more than those at hand.
    """
    names = [name for name, _ in planned.arms]
    fixed = planned.spec.prompt
    scores = [_scores(each, answers[0], fixed) for each in answers]
    counts = [
        1 if fixed else max(len(own), tried.get(name, 0))
        for name, own in zip(names, scores, strict=True)
    ]
    groups = answers[0].groups
    among = best_models(scores, tried=counts, alpha=record.level, clusters=groups)
    record.test = among.test
    best = [row if fixed is None else fixed - 1 for row in among.best]
    met = [~np.isnan(own).all(axis=0) for own in scores]
    record.n = max(int((~np.isnan(own)).sum(axis=1).max()) for own in scores)
    shared = np.flatnonzero(np.logical_and.reduce(met))
    record.units = len(shared) if groups is None else len({groups[place] for place in shared})
    behind = dict.fromkeys(range(len(names)), 0.0)
    for order in among.orders:
        behind[order.second] = max(behind[order.second], order.high)
        if order.difference > 0 or (order.difference == 0 and order.first < order.second):
            record.pairs.append(
                ModelPair(
                    first=names[order.first],
                    second=names[order.second],
                    difference=order.difference,
                    low=order.low,
                    high=order.high,
                    p_value=order.p,
                    adjusted_p=order.holm,
                )
            )
    record.models = [
        ModelStanding(
            name=name,
            prompts=len(scores[place]),
            tried=counts[place],
            prompt=answers[place].prompts[best[place]],
            accuracy=among.means[place],
            not_best_p=among.not_best[place],
            among_best=place in among.among_best,
            behind=min(1.0, behind[place]),
        )
        for place, name in enumerate(names)
    ]
    record.max_random_baseline = _luck(planned, max(counts))
    record.max_random_of_all = _luck(planned, sum(counts))
    if any(count > len(own) for count, own in zip(counts, scores, strict=True)):
        note(record, Remark("best_of_more_than_at_hand", {"tried": counts}))
    claim = planned.spec.assertion
    only = [each.name for each in record.models if each.among_best]
    record.passed = True if claim is None else only == [claim.best]


def _scores(own: Answers, first: Answers, prompt: int | None) -> NDArray[np.float64]:
    """Return the scores of a model's prompts, or of one, on examples in the order of the first."""
    places = {name: place for place, name in enumerate(own.examples)}
    values = own.values[:, [places[name] for name in first.examples]]
    return values if prompt is None else values[prompt - 1 : prompt]


def _luck(planned: PlannedBestModels, t: int) -> float | None:
    """Return the expected accuracy of the best of t guessers; None where chance is not known."""
    claim = planned.arms[0][1]
    if isinstance(claim, PlannedClaim):
        chances = [each.chance for each in claim.condition.prompt_set.validation]
    else:
        known = evidence_of(claim)
        results, null = known.results, known.null
        if null is None or (results.chances is None and known.declared_chance is None):
            return None
        chances = [*(results.chances or [null.chance] * len(results.examples))]
    return BestOfPrompts([(chances, t)]).expected_accuracy
