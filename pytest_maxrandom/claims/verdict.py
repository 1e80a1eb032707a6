"""The verdict on a claim: what the best of t prompts means compared with the best of t guessers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.claims.nulls import (
    Guessers,
    LearntGuessers,
    Null,
    SampleGuessers,
    ScoreGuessers,
    against,
)
from pytest_maxrandom.flags import KINDS, Flag
from pytest_maxrandom.notation import Unmet
from pytest_maxrandom.record import Remark, Severity, Standing
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.judged_losses import look_share
from pytest_maxrandom.stats.looks import spent
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.suite.claims import BoundsSpec, RedFlags, severities

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_maxrandom.stats.exchanges import Exchange

EXACT: Mapping[str, Any] = {"permutation_p": DEFAULT_LEVEL, "beats": "max_random"}
"""The default claim: no luck, by a test that holds whatever the prompts share, and better than what
the best of t guessers is expected to reach."""
APPROXIMATE: Mapping[str, Any] = {"p_max": DEFAULT_LEVEL, "permutation_p": DEFAULT_LEVEL}
"""The same where prompts leave out their own demonstrations: their guessers may count the labels
that are shown, so shuffled right answers alone are not exact."""
COUNTED: Mapping[str, Any] = {"p_max": DEFAULT_LEVEL}
"""The same where right answers cannot be shuffled, and guessers are as good as constant answers."""
PERMUTED: Mapping[str, Any] = {"permutation_p": DEFAULT_LEVEL}
"""The same in a metric in which a constant answer scores more than random guesses."""


CLAIMABLE = (
    "`beats` with a number such as 0.62, `control_p: 0.05` with a `control`, or `better_than: "
    "incumbent`"
)
"""What can be claimed without guessers."""
CONTROLLED: Mapping[str, Any] = {"control_p": DEFAULT_LEVEL}
"""The same where no guess has a chance, as of graded scores, and a control was scored."""


OF_GUESSERS = {"p_max", "union_p", "permutation_p", "beats"}
"""Parts of a claim that compare with guessers, or with the same answers to shuffled questions."""
BESIDE = {"baseline_p": "baseline", "control_p": "control", "incumbent_p": "incumbent"}
"""P-values of the best prompt beside something else than guessers, and what that is."""
OF_ANSWERS = {"permutation_p", *BESIDE}
"""Parts of a claim that depend on which answers are right, and not on their number alone."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold of the best of t prompts; all parts that are given."""

    p_max: float | None = None
    beats: str | None = None
    union_p: float | None = None
    permutation_p: float | None = None
    baseline_p: float | None = None
    baseline: float | None = None
    """The score that the best prompt's is above, where that is claimed."""
    control_p: float | None = None
    incumbent_p: float | None = None
    by: float = 0.0
    """By how much more than this the best prompt is better than the incumbent, where that is
    claimed."""
    test_p: float | None = None
    red_flags: RedFlags | None = None
    """What red flags do to it, as the suite says; None for the defaults."""
    family: int | None = None
    """How many claims share its levels, itself included; None where each has its own."""
    spend: bool = False
    """Whether its levels are spent over the doublings of t, so that it may be looked at any number
    of times."""
    look: int | None = None
    """Which look at recorded answers beside the incumbent it is; None where t counts looks, or
    nobody does."""
    notes: tuple[Remark, ...] = field(default=(), compare=False)
    """What a reader must know of it."""
    cannot_tell: Remark | None = field(default=None, compare=False)
    """Why it can neither pass nor fail; None where it can."""

    @classmethod
    def of(
        cls,
        spec: BoundsSpec | Literal["report"] | None,
        default: Mapping[str, Any] = EXACT,
        untold: Remark | None = None,
    ) -> Claim:
        """Return the claim of a suite or task.

        `default` is what is claimed where the suite says nothing; `untold` says why that can
        neither pass nor fail.
        """
        if spec == "report":
            return cls()
        bounds = {} if spec is None else spec.bounds()
        if not bounds:
            bounds, cannot_tell = dict(default), untold
        else:
            cannot_tell = None
        if spec is None:
            return cls(**bounds, cannot_tell=cannot_tell)
        return cls(
            **bounds,
            cannot_tell=cannot_tell,
            test_p=getattr(spec, "test_p", None),
            red_flags=spec.red_flags,
            family=1 if spec.family == "suite" else None,
            spend=getattr(spec, "looks", None) == "spend",
        )

    def bounds(self) -> dict[str, float | str]:
        """Return what must hold of the numbers; nothing where they are only reported."""
        parts = ("p_max", "union_p", "permutation_p", *BESIDE, "beats")
        return {key: value for key in parts if (value := getattr(self, key)) is not None}

    def asserted(self) -> dict[str, float | str]:
        """Return the claim as the suite writes it."""
        bounds = self.bounds()
        if self.baseline is not None:
            bounds["beats"] = self.baseline
        if self.incumbent_p is not None:
            bounds |= {"better_than": "incumbent", "by": self.by}
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
        if self.look is not None and "incumbent_p" in shares:
            shares["incumbent_p"] *= look_share(self.look)
        if not self.spend:
            return shares
        return {key: spent(share, t).level for key, share in shares.items()}

    def beside(self, exchanges: Iterable[Exchange], t: int) -> Claim:
        """Return the claim, which cannot be told where too few clusters exchange right answers.

        `exchanges` are all ways to exchange them, and t is the number of prompts.
        """
        level = self.levels(t).get("permutation_p", DEFAULT_LEVEL)
        if self.cannot_tell is not None:
            return self
        for each in exchanges:
            if (ways := each.few_clusters(level)) is not None:
                values = {"clusters": ways.clusters, "ways": ways.arrangements, "level": level}
                return replace(self, cannot_tell=Remark("few_clusters", values))
        return self

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

    def unmeasured(self, null: Null, metric: str) -> str:
        """Say which parts guessers cannot judge in a metric; empty where they can."""
        if isinstance(null, LearntGuessers):
            parts = [f"`{key}`" for key in self.bounds() if key in ("p_max", "union_p")]
            return (
                f"{' and '.join(parts)} of a task without choices: the chance of a guess is not "
                "known, but learnt from the answers; claim `permutation_p` and `beats`"
                if parts
                else ""
            )
        parts = [f"`{key}`" for key in self.bounds() if key != "permutation_p"]
        if not parts or not null.only_permuted:
            return ""
        return (
            f"{' and '.join(parts)} with `metric: {metric}`: a constant answer scores higher than "
            "random guesses, so guessers are no measure; claim `permutation_p`, or use `metric: "
            "balanced_accuracy`"
        )

    def tried(self, t: int) -> int:
        """Return as the best of how many guessers the claim is tested, where t were tried."""
        return spent(DEFAULT_LEVEL, t).t if self.spend else t

    def unmet(self, null: Null, result: float) -> list[Unmet]:
        """Return which parts do not hold of a result.

        permutation_p, those of `BESIDE` and test_p are elsewhere.
        """
        found, levels = [], self.levels(null.t)
        if not isinstance(null, LearntGuessers):
            for key, of_result in (("p_max", null.p_max), ("union_p", null.union_p)):
                if key in levels and above(p := of_result(result), levels[key]):
                    found.append(Unmet(key, p=p, level=levels[key]))
        if self.beats is not None and against(null, self.beats, result) <= 0:
            found.append(Unmet("beats", baseline=self.beats))
        return found

    def impossible(self, null: Null, arrangements: int | None) -> list[Unmet]:
        """Return which parts no result can meet; empty where one can.

        `arrangements` are the ways to shuffle right answers; None where these are not known.
        """
        found = self.unmet(null, null.results[-1])
        least = self.levels(null.t).get("permutation_p")
        if least is not None and arrangements is not None and arrangements < 1 / least:
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

    def critical(self, null: Null, bound: float | None = None) -> float | None:
        """Return the least result that passes.

        None where none passes, or where permutation_p is all that is claimed and its bound is not
        known.

        Parameters
        ----------
        bound : float, optional
            What the best prompt's score must exceed for permutation_p, which depends on the answers
            and is left out where that is not known.
        """
        if self.permutation_p is None:
            bound = None
        if bound is None and self.bounds().keys() <= OF_ANSWERS:
            return None

        def passes(result: float) -> bool:
            return (bound is None or null.score(result) > bound) and not self.unmet(null, result)

        results = null.results
        place = bisect_left(results, True, key=passes)
        return results[place] if place < len(results) else None


def standing(null: Null, result: float) -> Standing:
    """Tell where a result stands beside the baselines."""
    if against(null, "max_random", result) > 0:
        return "above maximum"
    beside_standard = against(null, "standard", result)
    if beside_standard > 0:
        return "between baselines"
    return "at standard" if beside_standard == 0 else "below standard"


def holds(p: float | None, level: float) -> bool:
    """Tell whether a p-value, which may not be known, is at most its level."""
    return p is not None and not above(p, level)


def judge(
    claim: Claim,
    null: Null,
    correct: int | None,
    best: int = 0,
    *,
    score: float | None = None,
    permutation_p: float | None = None,
    bound: float | None = None,
    beside: Mapping[str, float] | None = None,
) -> Result:
    """Compare the best prompt with the best guesser.

    Parameters
    ----------
    correct : int or None
        Right answers of the best of the t prompts; None where they are no whole number.
    best : int
        Index of that prompt.
    score : float, optional
        Its score, where that is something else than the number of right answers. Where these are
        no whole number it is its accuracy.
    permutation_p : float, optional
        The max-T p-value of the sweep, where predictions are known.
    bound : float, optional
        What the best score must exceed for that to be at most its level, where this is known.
    beside : mapping, optional
        P-values of `BESIDE`, as far as there are any.
    """
    reached = score if correct is None else correct / null.n
    assert reached is not None
    result = correct if score is None else score
    assert result is not None
    levels = claim.levels(null.t)
    of_answers = {"permutation_p": permutation_p, **(beside or {})}
    shown = all(holds(of_answers.get(key), levels[key]) for key in levels if key in OF_ANSWERS)
    decidable = claim.cannot_tell is None
    critical = claim.critical(null, bound) if decidable else None
    scores = null if isinstance(null, ScoreGuessers | SampleGuessers) else None
    by_score = scores or (isinstance(null, LearntGuessers) and null.unit is not None)
    sampled = 0.0 if isinstance(null, Guessers) else null.expected_error
    known = None if isinstance(null, LearntGuessers) or null.only_permuted else null
    passed = shown and not claim.unmet(null, result) if decidable else None
    return Result(
        n=null.n,
        t=null.t,
        best=best,
        best_correct=correct,
        best_accuracy=reached,
        best_score=reached if score is None else score,
        standard_baseline=null.standard_baseline,
        max_random_baseline=null.max_random_baseline,
        max_random_baseline_error=sampled,
        levels=levels,
        p_standard=known.p_standard(result, best) if known else None,
        p_max=known.p_max(result) if known else None,
        p_max_error=(scores.p_value_error(result) if scores else 0.0) if known else None,
        log_p_max=known.log_p_max(result) if known else None,
        union_p=known.union_p(result) if known else None,
        permutation_p=permutation_p,
        critical_count=None if by_score or critical is None else int(critical),
        critical_score=critical if by_score else None,
        critical_parts=[
            key
            for key in claim.bounds()
            if decidable
            and (key not in OF_ANSWERS or (key == "permutation_p" and bound is not None))
        ],
        verdict=standing(null, result),
        holds=passed,
        passed=passed,
        cannot_tell=claim.cannot_tell,
    )
