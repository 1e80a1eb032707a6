"""The verdict on a claim: what the best of t prompts means compared with the best of t guessers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.notation import Unmet
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.looks import spent
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.suite.claims import severities

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_maxrandom.claims.nulls import Null
    from pytest_maxrandom.flags import Flag
    from pytest_maxrandom.record import Remark, Severity, Standing
    from pytest_maxrandom.suite.claims import BoundsSpec, RedFlags


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold of the best of t prompts; all parts that are given."""

    p_max: float | None = None
    beats: str | None = None
    union_p: float | None = None
    permutation_p: float | None = None
    test_p: float | None = None
    red_flags: RedFlags | None = None
    """What red flags do to it, as the suite says; None for the defaults."""
    family: int | None = None
    """How many claims share its levels, itself included; None where each has its own."""
    spend: bool = False
    """Whether its levels are spent over the doublings of t, so that it may be looked at any number
    of times."""
    notes: tuple[Remark, ...] = field(default=(), compare=False)
    """What a reader must know of it."""

    @classmethod
    def of(
        cls,
        spec: BoundsSpec | Literal["report"] | None,
        default: Collection[str] = ("p_max",),
    ) -> Claim:
        """Return the claim of a suite or task.

        Parameters
        ----------
        default : collection of str
            What is at most .05 where the suite says nothing: the p-values that can be computed.
        """
        if spec == "report":
            return cls()
        usual: dict[str, Any] = dict.fromkeys(default, DEFAULT_LEVEL)
        if spec is None:
            return cls(**usual)
        return cls(
            **(spec.bounds() or usual),
            test_p=getattr(spec, "test_p", None),
            red_flags=spec.red_flags,
            family=1 if spec.family == "suite" else None,
            spend=getattr(spec, "looks", None) == "spend",
        )

    def bounds(self) -> dict[str, float | str]:
        """Return what must hold of the numbers; nothing where they are only reported."""
        parts = {
            "p_max": self.p_max,
            "union_p": self.union_p,
            "permutation_p": self.permutation_p,
            "beats": self.beats,
        }
        return {key: value for key, value in parts.items() if value is not None}

    def asserted(self) -> dict[str, float | str]:
        """Return the claim as the suite writes it."""
        bounds = self.bounds()
        if bounds and self.family is not None:
            bounds["family"] = "suite"
        if bounds and self.spend:
            bounds["looks"] = "spend"
        if self.test_p is not None:
            bounds["test_p"] = self.test_p
        return bounds

    def levels(self, t: int) -> dict[str, float]:
        """Return what each p-value is compared with, where t prompts were tried."""
        bounds, claims = self.bounds().items(), self.family or 1
        shares = {key: bound / claims for key, bound in bounds if isinstance(bound, float)}
        if not self.spend:
            return shares
        return {key: spent(share, t).level for key, share in shares.items()}

    def idle(self) -> str:
        """Say which keys do nothing, because no p-value is claimed; empty where none are idle."""
        keys = ["`family: suite`"] * (self.family is not None) + ["`looks: spend`"] * self.spend
        if not keys or self.levels(1):
            return ""
        return (
            f"{' and '.join(keys)}: there is no level to share or spend, because the claim is "
            "`beats` alone; claim a p-value as well, or remove "
            f"{'it' if len(keys) == 1 else 'them'}"
        )

    def tried(self, t: int) -> int:
        """Return as the best of how many guessers the claim is tested, where t were tried."""
        return spent(DEFAULT_LEVEL, t).t if self.spend else t

    def unmet(self, null: Null, result: float) -> list[Unmet]:
        """Return which parts do not hold of a result; permutation_p and test_p are elsewhere."""
        found, levels = [], self.levels(null.t)
        for key, of_result in (("p_max", null.p_max), ("union_p", null.union_p)):
            if key in levels and above(p := of_result(result), levels[key]):
                found.append(Unmet(key, p=p, level=levels[key]))
        if self.beats is not None and null.against(self.beats, result) <= 0:
            found.append(Unmet("beats", baseline=self.beats))
        return found

    def impossible(self, null: Null, arrangements: int | None) -> list[Unmet]:
        """Return which parts no result can meet; empty where one can.

        Parameters
        ----------
        arrangements : int or None
            In how many ways the right answers can be shuffled; None where that is not known.
        """
        found = self.unmet(null, null.results[-1])
        least = self.levels(null.t).get("permutation_p")
        if least is not None and arrangements is not None and least * arrangements < 1:
            found.append(Unmet("permutation_p", arrangements=arrangements))
        return found

    def severities(self) -> dict[str, Severity]:
        """Return what each kind of red flag does; none fails a claim that asserts nothing."""
        if self.red_flags is not None:
            return severities(self.red_flags)
        return KINDS.defaults() if self.bounds() else dict.fromkeys(KINDS, "warn")

    def severity(self, flag: Flag) -> Severity:
        """Return what a red flag does; one that is mild warns, unless the suite names its kind."""
        severity = self.severities()[flag.kind]
        if severity != "fail" or not flag.mild or isinstance(self.red_flags, str):
            return severity
        return severity if flag.kind in (self.red_flags or ()) else "warn"

    def deviations(self) -> dict[str, Severity]:
        """Return those that the suite sets otherwise than they are by default."""
        if self.red_flags is None:
            return {}
        found = self.severities()
        return {kind: found[kind] for kind in found if found[kind] != KINDS[kind].default}

    def critical(self, null: Null) -> float | None:
        """Return the least result that passes, permutation_p aside.

        None where none does, or where permutation_p is all that is claimed.
        """
        if self.bounds().keys() <= {"permutation_p"}:
            return None
        results = null.results
        place = bisect_left(results, True, key=lambda result: not self.unmet(null, result))
        return results[place] if place < len(results) else None


def standing(null: Null, result: float) -> Standing:
    """Tell where a result stands beside the baselines."""
    if null.against("max_random", result) > 0:
        return "above maximum"
    beside_standard = null.against("standard", result)
    if beside_standard > 0:
        return "between baselines"
    return "at standard" if beside_standard == 0 else "below standard"


def judge(
    claim: Claim,
    null: Null,
    correct: int,
    best: int = 0,
    *,
    score: float | None = None,
    permutation_p: float | None = None,
) -> Result:
    """Compare the best prompt with the best guesser.

    Parameters
    ----------
    correct : int
        Right answers of the best of the t prompts.
    best : int
        Index of that prompt.
    score : float, optional
        Its score, where that is something else than the number of right answers.
    permutation_p : float, optional
        The max-T p-value of the sweep, where predictions are known.
    """
    result = correct if score is None else score
    levels = claim.levels(null.t)
    level = levels.get("permutation_p")
    permuted = level is None or (permutation_p is not None and not above(permutation_p, level))
    critical = claim.critical(null)
    scores = None if isinstance(null, Guessers) else null
    known = not null.only_permuted
    passed = permuted and not claim.unmet(null, result)
    return Result(
        n=null.n,
        t=null.t,
        best=best,
        best_correct=correct,
        best_accuracy=correct / null.n,
        best_score=correct / null.n if score is None else score,
        standard_baseline=null.standard_baseline,
        max_random_baseline=null.max_random_baseline,
        max_random_baseline_error=scores.expected_error if scores else 0.0,
        levels=levels,
        p_standard=null.p_standard(result, best) if known else None,
        p_max=null.p_max(result) if known else None,
        p_max_error=(scores.p_value_error(result) if scores else 0.0) if known else None,
        log_p_max=null.log_p_max(result) if known else None,
        union_p=null.union_p(result) if known else None,
        permutation_p=permutation_p,
        critical_count=None if scores or critical is None else int(critical),
        critical_score=critical if scores else None,
        verdict=standing(null, result),
        holds=passed,
        passed=passed,
    )
