"""Two arms, and which of their answers are right: the same prompts on the same examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet


class Unpaired(ValueError):
    """The two arms were not asked the same; says in one sentence what differs first."""


@dataclass(frozen=True, eq=False, slots=True)
class PairedAnswers:
    """The answers of two arms in one replicate."""

    examples: tuple[str, ...]
    """What tells the examples apart, length n."""
    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    """Shape (t, n): whether the answer to this prompt and example is right."""
    evaluated: NDArray[np.bool_]
    """Shape (t, n): whether there is an answer; in both arms, or in neither."""
    prompts: tuple[Hashable, ...] | None = None
    """What tells the prompts of all replicates apart, length t; by default their places."""
    clusters: tuple[Hashable | None, ...] | None = None
    """Which cluster each example belongs to, length n, None for one that stands alone."""

    @property
    def signed(self) -> NDArray[np.int64]:
        """1 where only the first arm is right, -1 where only the second is, shape (t, n)."""
        return (self.first.astype(np.int64) - self.second) * self.evaluated


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Two arms, whose answers are paired when they are asked for."""

    t: int | None = None
    n: int | None = None
    """Prompts of the first replicate, and examples of each, the rounded mean; None where results
    are missing."""
    examples: int = 0
    prompts: int = 0
    replicates: int = 1
    """Examples, or clusters, in the first replicate (in all at least as many); distinct prompts of
    all replicates; and how many of these there are."""
    simulated: bool = False
    """Whether a rule makes up the answers of one of them."""
    missing: str | None = None
    """What to do where results are missing."""
    first: Sequence[PlannedClaim] = ()
    second: Sequence[PlannedClaim] = ()
    """The claims of arms that are run, one for each replicate."""
    recorded: PairedAnswers | None = None
    """The answers of arms whose results exist already."""

    @classmethod
    def run(cls, first: Sequence[PlannedClaim], second: Sequence[PlannedClaim]) -> Sides:
        """Return two arms that are run.

        Raises
        ------
        Unpaired
            If they are not asked the same.
        """
        for one, other in zip(first, second, strict=True):
            check_prompts(one.condition.prompt_set, other.condition.prompt_set)
        simulated = any(claim.model.simulated for claim in (*first, *second))
        return replace(cls.of_one(first), simulated=simulated, second=second)

    @classmethod
    def of_one(cls, claims: Sequence[PlannedClaim]) -> Sides:
        """Return one arm alone, which is run."""
        sets = [claim.condition.prompt_set for claim in claims]
        return cls(
            t=len(sets[0].prompts),
            n=sets[0].n,
            examples=_units([each.cluster for each in sets[0].validation]),
            prompts=len({prompt.digest for each in sets for prompt in each.prompts}),
            replicates=len(claims),
            simulated=any(claim.model.simulated for claim in claims),
            first=claims,
        )

    @classmethod
    def of_answers(cls, answers: Answers) -> Sides:
        """Return one arm alone, whose results exist already."""
        return cls(
            t=len(answers.prompts),
            n=int(answers.sizes.max()),
            examples=len(set(answers.groups or answers.examples)),
            prompts=len(answers.prompts),
            simulated=answers.simulated,
        )

    @classmethod
    def of_results(cls, first: Answers, second: Answers) -> Sides:
        """Return two arms whose results exist already.

        Raises
        ------
        Unpaired
            If they do not hold the same prompts, examples and answers.
        """
        paired = paired_sweeps(first, second)
        clusters = paired.clusters or (None,) * len(paired.examples)
        met = np.flatnonzero(paired.evaluated.any(axis=0))
        return cls(
            t=len(paired.evaluated),
            n=round(float(paired.evaluated.sum(axis=1).mean())),
            examples=_units([clusters[k] for k in met]),
            prompts=len(paired.evaluated),
            simulated=first.simulated or second.simulated,
            recorded=paired,
        )

    def paired(self, answers: Callable[[PlannedClaim], Answers]) -> list[PairedAnswers]:
        """Return the answers of each replicate; `answers` gets those of a claim that is run."""
        if self.recorded is not None:
            return [self.recorded]
        # One arm after the other, so that no model is loaded twice.
        first = [answers(claim) for claim in self.first]
        second = [answers(claim) for claim in self.second]
        return [  # `check_prompts` has paired them
            PairedAnswers(
                one.examples,
                one.correct,
                other.correct,
                one.evaluated,
                one.identities,
                one.clusters,
            )
            for one, other in zip(first, second, strict=True)
        ]


def _units(clusters: Sequence[Hashable | None]) -> int:
    """Count clusters, with examples that stand alone."""
    known = [own for own in clusters if own is not None]
    return len(set(known)) + len(clusters) - len(known)


def check_prompts(first: PromptSet, second: PromptSet) -> None:
    """Make sure that prompt j shows the same demonstrations in both arms, for each j.

    Raises
    ------
    Unpaired
        If not.
    """
    t, other = len(first.prompts), len(second.prompts)
    if t != other:
        raise Unpaired(f"one has {t} distinct prompts, and the other {other}")
    if [each.content for each in first.validation] != [each.content for each in second.validation]:
        raise Unpaired("their validation examples are not the same")
    for place, (one, two) in enumerate(zip(first.prompts, second.prompts, strict=True)):
        if one.demonstrations != two.demonstrations:
            raise Unpaired(f"prompt {place + 1} shows different demonstrations in each of them")
    if first.regime != second.regime:
        raise Unpaired("only one of them has demonstrations from the validation set")


def paired_sweeps(first: Answers, second: Answers) -> PairedAnswers:
    """Put two recorded sweeps side by side; nothing that only one of them has is left out silently.

    Prompts are paired by what makes them the prompts that they are; where arms write prompts
    differently, so that no identity is shared, by their ids in the results or their demonstrations.

    Raises
    ------
    Unpaired
        Where the two do not hold the same prompts, examples and answers.
    """
    sweeps = first, second
    rows = _same("prompt", sweeps, [each.prompts for each in sweeps], _prompts(first, second))
    examples = [each.examples for each in sweeps]
    columns = _same("example", sweeps, examples, examples)
    for row, other in enumerate(rows):
        shown = first.demonstration_ids[row], second.demonstration_ids[other]
        if all(shown) and shown[0] != shown[1]:
            raise Unpaired(
                f"prompt {first.prompts[row]!r} shows different demonstrations in {_where(second)} "
                f"and {_where(first)}"
            )
    cells = np.ix_(rows, columns)
    evaluated = second.evaluated[cells]
    odd = np.argwhere(first.evaluated != evaluated)
    if len(odd):
        row, column = odd[0]
        only = first if first.evaluated[row, column] else second
        raise Unpaired(
            f"prompt {first.prompts[row]!r} was evaluated on example "
            f"{first.examples[column]!r} in {_where(only)} only"
        )
    return PairedAnswers(
        first.examples,
        first.correct,
        second.correct[cells],
        evaluated,
        first.identities,
        _clusters(first, second, columns),
    )


def _clusters(
    first: Answers, second: Answers, columns: Sequence[int]
) -> tuple[str | None, ...] | None:
    """Return the clusters of the first sweep's examples, which either file may tell."""
    others = None if second.clusters is None else tuple(second.clusters[k] for k in columns)
    if first.clusters is None or others is None:
        return first.clusters or others
    pairs = list(zip(first.clusters, others, strict=True))
    odd = next((place for place, (own, other) in enumerate(pairs) if own != other), None)
    if odd is not None:
        raise Unpaired(
            f"example {first.examples[odd]!r} belongs to the cluster {pairs[odd][0]!r} in "
            f"{_where(first)} and to {pairs[odd][1]!r} in {_where(second)}"
        )
    return first.clusters


def _prompts(first: Answers, second: Answers) -> list[Sequence[Hashable]]:
    """Return what both sweeps tell their prompts apart by, and have in common."""
    ways: list[list[Sequence[Hashable]]] = [
        [first.identities, second.identities],
        [first.prompts, second.prompts],
        [first.demonstration_ids, second.demonstration_ids],
    ]
    for way in ways:
        if set(way[0]) & set(way[1]) and all(len(set(names)) == len(names) for names in way):
            return way
    return ways[0]


def _same(
    noun: str,
    sweeps: tuple[Answers, Answers],
    shown: Sequence[Sequence[str]],
    names: Sequence[Sequence[Hashable]],
) -> list[int]:
    """Return where in the second sweep each of the first one's is."""
    for side in (0, 1):
        others = set(names[1 - side])
        alone = next((i for i, name in enumerate(names[side]) if name not in others), None)
        if alone is not None:
            raise Unpaired(f"{noun} {shown[side][alone]!r} is in {_where(sweeps[side])} only")
    places = {name: place for place, name in enumerate(names[1])}
    return [places[name] for name in names[0]]


def _where(sweep: Answers) -> str:
    return f"{sweep.path} ({sweep.claim})"
