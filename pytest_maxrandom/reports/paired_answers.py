"""The answers of two runs, paired by what makes a prompt and an example what they are.

Where any prompt is in both, all that are in both are compared, whichever is best; else the best
prompt of the one is compared with that of the other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.record import BY_HAND, ClaimRecord
from pytest_maxrandom.record.regressions import Regression, Untold
from pytest_maxrandom.reports.kept_answers import kept
from pytest_maxrandom.stats.clusters import named_clusters
from pytest_maxrandom.stats.regressions import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.record.packed import KeptAnswers
    from pytest_maxrandom.reports.matched import Match


class Choice(NamedTuple):
    """Of how many the prompts that are compared, and their model, may have been chosen."""

    compared: int
    tried: int
    variants: int


@dataclass(eq=False)
class Compared:
    """A claim, or a task, with its paired scores."""

    record: Regression
    change: Change | None = None
    base: NDArray[np.float64] | None = None
    head: NDArray[np.float64] | None = None
    """Shape (prompts, examples)."""
    examples: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None
    ways: tuple[list[Choice], list[Choice]] = ([], [])
    """What may have been chosen of the base, and of the later run."""
    searched: tuple[bool, bool] = (False, False)
    same: bool = False


def untold(claim: ClaimRecord, why: Untold) -> Regression:
    """Return what is recorded of a claim whose answers cannot be compared."""
    return Regression(id=claim.id, loss="cannot tell", why=why)


def compare(before: ClaimRecord, now: ClaimRecord, *, sampled: bool) -> Compared:
    """Pair the answers of one claim."""
    base, head = kept(before), kept(now)
    if now.backend == BY_HAND:
        return Compared(untold(now, "by hand"))
    if base is None or head is None:
        return Compared(untold(now, "base without answers" if base is None else "no answers"))
    if _measure(before) != _measure(now) or len({before.rule, now.rule} - {None}) > 1:
        return Compared(untold(now, "scored otherwise"))
    examples = [name for name in base.examples if name in set(head.examples)]
    shared = [name for name in base.prompts if name in set(head.prompts)]
    prompts = (shared, shared) if shared else ([_best(base)], [_best(head)])
    scores = base.values(prompts[0], examples), head.values(prompts[1], examples)
    if not examples or not (~np.isnan(scores[0] + scores[1])).any():
        return Compared(untold(now, "unpaired"))
    clusters = _clusters(base, head, examples)
    change = Change(*scores, clusters, sampled=sampled)
    record = Regression(
        id=now.id,
        loss="cannot tell",
        compared="prompts" if shared else "best",
        prompts=change.prompts,
        examples=change.examples,
        left_out=len(base.examples) - change.examples,
        clusters=None if clusters is None else change.by_unit.units,
        base_score=change.base_mean,
        score=change.head_mean,
        difference=change.mean,
        look=_look(before, now),
        looks_counted=now.different_answers is not None,
    )
    same_model = before.model_digest == now.model_digest and before.model == now.model
    return Compared(
        record,
        change,
        *scores,
        tuple(examples),
        clusters,
        _ways(before, now, base, shared, same_model=same_model),
        (_learned(before), not shared and _learned(now)),
        same=same_model and base.digest == head.digest,
    )


def _measure(claim: ClaimRecord) -> tuple[object, ...]:
    """Return what the scores of a claim are: a mean of samples is what one answer is."""
    found = claim.sampled
    if found is None or found.aggregate == "mean":
        return (claim.judge,)
    of = None if found.aggregate == "vote" else found.asked or found.samples
    return claim.judge, found.aggregate, of


def _best(of: KeptAnswers) -> str:
    means = np.nanmean(of.values(of.prompts, of.examples), axis=1)
    return of.prompts[int(np.argmax(means))]


def _clusters(
    base: KeptAnswers, head: KeptAnswers, examples: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the clusters of examples, which either run may state; the later one's first."""
    for each in (head, base):
        if each.clusters is not None:
            of = dict(zip(each.examples, each.clusters, strict=True))
            return named_clusters(examples, map(of.get, examples))
    return None


def _look(before: ClaimRecord, now: ClaimRecord) -> int:
    """Return which comparison on these examples it is; the first answers were compared with none.

    A model that is called otherwise has looks of its own, which follow those of the base.
    """
    return max(before.different_answers or 1, (now.different_answers or 1) - 1, 1)


def _ways(
    before: ClaimRecord,
    now: ClaimRecord,
    base: KeptAnswers,
    shared: Sequence[str],
    *,
    same_model: bool,
) -> tuple[list[Choice], list[Choice]]:
    """Return of how many the compared prompts, and the models, may have been chosen.

    Prompts of the base are not chosen by what the later run found, as long as all are compared.
    """
    known, variants = _tried(before)
    others, later = _tried(now)
    of_base = Choice(len(shared) or 1, max(known, len(base.prompts)), variants)
    if not shared:
        return [of_base], [Choice(1, others, later)]
    added = 1 if same_model else max(1, later - variants)
    return [of_base], [Choice(len(shared), len(base.prompts), added)]


def _tried(claim: ClaimRecord) -> tuple[int, int]:
    if claim.tries is not None:
        return max(claim.tries.distinct_prompts, claim.tries.run), claim.tries.variants
    return claim.t or 1, 1


def _learned(claim: ClaimRecord) -> bool:
    return claim.searched is not None and claim.searched.learned


def of_tasks(
    pairs: Sequence[Match],
    claims: dict[str, Compared],
    *,
    sampled: bool,
) -> Iterator[Compared]:
    """Yield the tasks of several claims: all their prompts on all their examples."""
    members: defaultdict[tuple[str, str], list[Compared]] = defaultdict(list)
    for pair in pairs:
        if pair.now is not None and pair.now.id in claims:
            members[pair.now.suite, pair.now.task].append(claims[pair.now.id])
    for (suite, task), several in members.items():
        if len(several) < 2:
            continue
        names = tuple(dict.fromkeys(name for each in several for name in each.examples))
        places = {name: place for place, name in enumerate(names)}
        sides = []
        for side in ("base", "head"):
            rows = []
            for paired in several:
                known = getattr(paired, side)
                wide = np.full((len(known), len(names)), np.nan)
                wide[:, [places[name] for name in paired.examples]] = known
                rows.append(wide)
            sides.append(np.concatenate(rows))
        own = [
            dict(zip(each.examples, each.clusters or each.examples, strict=True))
            for each in several
        ]
        of = {name: cluster for known in reversed(own) for name, cluster in known.items()}
        clustered = any(each.clusters is not None for each in several)
        clusters = tuple(of[name] for name in names) if clustered else None
        change = Change(sides[0], sides[1], clusters, sampled=sampled)
        record = Regression(
            id=f"{suite}::{task}",
            of_task=True,
            loss="cannot tell",
            compared="best" if "best" in {each.record.compared for each in several} else "prompts",
            prompts=change.prompts,
            examples=change.examples,
            clusters=None if clusters is None else change.by_unit.units,
            base_score=change.base_mean,
            score=change.head_mean,
            difference=change.mean,
            look=max(each.record.look for each in several),
            looks_counted=all(each.record.looks_counted for each in several),
        )
        yield Compared(
            record,
            change,
            ways=(
                [way for each in several for way in each.ways[0]],
                [way for each in several for way in each.ways[1]],
            ),
            searched=(
                any(each.searched[0] for each in several),
                any(each.searched[1] for each in several),
            ),
            same=all(each.same for each in several),
        )
