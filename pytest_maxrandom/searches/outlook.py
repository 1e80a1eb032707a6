"""What a search can still show, known before its first try."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.searches import prompts_in_words, why_nothing_passes

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import Searched, Unpassable


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the best prompt of a search must reach.

    Attributes
    ----------
    steps : int
        Distinct prompts that it will have been told of.
    prompts : float or None
        That it could have tried, other searches on these examples included; None where no number
        is known.
    critical_count : int or None
        Fewest right answers that pass; None where none do, or where the permutation p alone is
        claimed.
    n : int
        Examples.
    decided_by : str
        validation; test, where no result on the validation set can pass; or nothing, where there
        is no test set either.
    why : str or None
        Why no result on the validation set can pass.
    """

    steps: int
    prompts: float | None
    critical_count: int | None
    n: int
    decided_by: Literal["validation", "test", "nothing"]
    why: Unpassable | None

    @classmethod
    def of(cls, planned: PlannedClaim, found: Searched, steps: int) -> Outlook:
        """Return the outlook of a search that will have been told of so many steps."""
        critical = None
        if found.why is None and found.possible:
            judged = planned.with_t(int(found.possible))
            claim = judged.claim
            if claim.permutation_p is not None:
                # Each prompt that could have been tried counts by itself (Bonferroni), as p of one
                # guesser does in the union p.
                bound = min(claim.union_p or 1.0, claim.permutation_p)
                claim = replace(claim, union_p=bound)
            least = claim.critical(judged.null)
            critical = None if least is None else int(least)
        n = planned.condition.prompt_set.n
        return cls(steps, found.possible, critical, n, found.decided_by, found.why)

    def __str__(self) -> str:
        if self.why is not None:
            ways = {
                "test": "only the test set decides",
                "nothing": "set a test set aside first (`test: {fraction: 0.25}`)",
                "validation": "",
            }
            return f"{why_nothing_passes(self.why, self.n)}; {ways[self.decided_by]}"
        counted = f"p counts {prompts_in_words(self.prompts)} after {count(self.steps)} tries"
        if self.critical_count is None:
            return counted
        share = self.critical_count / self.n
        return f"{self.critical_count}/{self.n} = {share:.3f} is needed; {counted}"
