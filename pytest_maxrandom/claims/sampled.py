"""Suites whose answers have several samples, and what such answers cannot be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.samples import VOTE, scores_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.claims.planned import PlannedClaim


def cannot_sample(claim: PlannedClaim) -> str | None:
    """Say what a claim asks for that answers of several samples cannot give; None where nothing."""
    if claim.aggregate is None:
        return None
    return next(_refused(claim), None)


def _refused(claim: PlannedClaim) -> Iterator[str]:
    suite, condition = claim.suite, claim.condition
    if suite.scoring != "generate":
        way = "use `scoring: generate`"
        if suite.scoring == "exact_match":
            way = "remove `samples`, or record the answers and give a score of each sample"
        yield f"`scoring: {suite.scoring}` reads one answer each time; {way}"
    if suite.label_bias is not None:
        yield "`label_bias` asks for one answer each time; remove one of the two"
    if suite.until == "decided":
        yield "`until: decided` counts single answers; remove one of the two"
    if not scores_samples(claim.aggregate):
        return
    for key in ("compare", "contamination", "replicates"):
        if getattr(suite, key):
            yield f"`{key}` compares answers that are right or wrong; {VOTE}, or remove `{key}`"
    if suite.metric != "accuracy":
        yield f"`metric: {suite.metric}` is of one answer to each example; {VOTE}"
    if condition.test:
        yield f"a test set is answered once, right or wrong; {VOTE}, or remove `test`"
    if suite.shortcuts:
        yield f"`shortcuts` compares answers that are right or wrong; {VOTE}, or remove it"
    if claim.claim.spend:
        yield f"`looks: spend` needs guessers that are known before the answers; {VOTE}"
    if condition.prompt_set.leaves_out:
        yield (
            "prompts leave out their own demonstrations, and scores of samples are compared on the "
            f"same examples; use a smaller `validation: max_examples`, or {VOTE}"
        )
    by = {each.exchange.by for each in condition.shuffled}
    if "clusters" in by:
        yield f"its clusters differ in size, and right answers are exchanged one by one; {VOTE}"
    if "orders" in by:
        yield f"its examples compare things that recur; {VOTE}"
