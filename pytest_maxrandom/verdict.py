"""The verdict on a claim: what the best of t prompts means beside the best of t guessers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.notation import accuracy, equals, level, p_value
from pytest_maxrandom.nulls import Guessers
from pytest_maxrandom.record.red_flags import DEFAULTS

if TYPE_CHECKING:
    from pytest_maxrandom.nulls import Null
    from pytest_maxrandom.record import ClaimRecord, RedFlagKind, Severity, Standing
    from pytest_maxrandom.suite.red_flags import RedFlags
    from pytest_maxrandom.suite.spec import BoundsSpec

DEFAULT_P_MAX = 0.05
_ROUNDING = 1e-12
_BASELINES = {"max_random": "the expected maximum", "standard": "chance"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold of the best of t prompts; all parts that are given.

    Attributes
    ----------
    red_flags : RedFlagsSpec or str or None
        What red flags do to it, as the suite says; None for the defaults.
    """

    p_max: float | None = None
    beats: str | None = None
    guaranteed_p: float | None = None
    permutation_p: float | None = None
    red_flags: RedFlags | None = None

    @classmethod
    def of(cls, spec: BoundsSpec | Literal["report"] | None) -> Claim:
        """Return the claim of a suite or task; p_max <= 0.05 where it says nothing."""
        if spec == "report":
            return cls()
        if spec is None:
            return cls(p_max=DEFAULT_P_MAX)
        bounds = spec.model_dump(exclude={"count", "in_replicates", "red_flags"})
        claim = cls(**bounds, red_flags=spec.red_flags)
        return claim if claim.asserted() else replace(claim, p_max=DEFAULT_P_MAX)

    def asserted(self) -> dict[str, float | str]:
        """Return the claim as the suite writes it."""
        parts = {
            "p_max": self.p_max,
            "guaranteed_p": self.guaranteed_p,
            "permutation_p": self.permutation_p,
            "beats": self.beats,
        }
        return {key: value for key, value in parts.items() if value is not None}

    def failures(self, null: Null, result: float) -> list[str]:
        """Return which parts do not hold of a result; permutation_p is not among them."""
        failures = []
        for name, bound, p in (
            ("p_max", self.p_max, null.p_max),
            ("guaranteed p", self.guaranteed_p, null.guaranteed_p),
        ):
            if bound is not None:
                failures += _above(name, p(result), bound)
        if self.beats is not None and null.against(self.beats, result) <= 0:
            failures.append(f"the result is not above {_BASELINES[self.beats]}")
        return failures

    def impossible(self, null: Null, arrangements: int | None) -> list[str]:
        """Return why no result can pass, one clause each; empty where one can.

        Parameters
        ----------
        arrangements : int or None
            In how many ways the right answers can be shuffled; None where that is not known.
        """
        failures = self.failures(null, null.results[-1])
        least = self.permutation_p
        if least is not None and arrangements is not None and least * arrangements < 1:
            failures.append(
                f"the permutation p is at least 1/{arrangements}, because the right answers can "
                f"be shuffled in {arrangements} ways only"
            )
        return failures

    def severities(self) -> dict[RedFlagKind, Severity]:
        """Return what each kind of red flag does; none fails a claim that asserts nothing."""
        if isinstance(self.red_flags, str):
            return dict.fromkeys(DEFAULTS, self.red_flags)
        if self.red_flags is not None:
            return self.red_flags.severities()
        return dict(DEFAULTS) if self.asserted() else dict.fromkeys(DEFAULTS, "warn")

    def deviations(self) -> dict[RedFlagKind, Severity]:
        """Return those that the suite sets otherwise than they are by default."""
        if self.red_flags is None:
            return {}
        found = self.severities()
        return {kind: found[kind] for kind in found if found[kind] != DEFAULTS[kind]}

    def critical(self, null: Null) -> float | None:
        """Return the least result that passes, permutation_p aside.

        None where none does, or where permutation_p is all that is claimed.
        """
        if self.asserted().keys() <= {"permutation_p"}:
            return None
        results = null.results
        place = bisect_left(results, True, key=lambda result: not self.failures(null, result))
        return results[place] if place < len(results) else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with its numbers; the names are those of the reports."""

    n: int
    t: int
    best_correct: int
    best_accuracy: float
    best_score: float
    standard_baseline: float
    max_random_baseline: float
    max_random_baseline_error: float
    p_standard: float
    p_max: float
    p_max_error: float
    log_p_max: float
    guaranteed_p: float
    permutation_p: float | None
    critical_count: int | None
    critical_score: float | None
    verdict: Standing
    passed: bool
    message: str | None

    def write_into(self, record: ClaimRecord) -> None:
        """Let the record of the claim have all of these numbers."""
        for name, value in asdict(self).items():
            setattr(record, name, value)
        record.holds = self.passed


def judge(
    claim: Claim,
    null: Null,
    correct: int,
    best: int = 0,
    *,
    score: float | None = None,
    permutation_p: float | None = None,
) -> Verdict:
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
    failures = claim.failures(null, result)
    if claim.permutation_p is not None:
        if permutation_p is None:
            failures.append("the permutation p could not be computed without predictions")
        else:
            failures += _above("permutation p", permutation_p, claim.permutation_p)
    standing: Standing = "between baselines"
    if null.against("max_random", result) > 0:
        standing = "above maximum"
    elif (beside_chance := null.against("standard", result)) <= 0:
        standing = "at chance" if beside_chance == 0 else "below standard"
    critical = claim.critical(null)
    counted = isinstance(null, Guessers)
    errors = null.errors(result)
    return Verdict(
        n=null.n,
        t=null.t,
        best_correct=correct,
        best_accuracy=correct / null.n,
        best_score=correct / null.n if score is None else score,
        standard_baseline=null.standard_baseline,
        max_random_baseline=null.max_random_baseline,
        max_random_baseline_error=errors[0],
        p_standard=null.p_standard(result, best),
        p_max=null.p_max(result),
        p_max_error=errors[1],
        log_p_max=null.log_p_max(result),
        guaranteed_p=null.guaranteed_p(result),
        permutation_p=permutation_p,
        critical_count=int(critical) if counted and critical is not None else None,
        critical_score=None if counted else critical,
        verdict=standing,
        passed=not failures,
        message=_explained(claim, null, correct, score, failures) if failures else None,
    )


def _explained(
    claim: Claim, null: Null, correct: int, score: float | None, failures: list[str]
) -> str:
    """Return why the claim does not hold, in one line."""
    result = correct if score is None else score
    shown = f"{correct}/{null.n} = {accuracy(correct / null.n)}"
    if score is not None:
        shown = f"score {accuracy(score)} ({correct}/{null.n} right)"
    tried = f"the best of t = {null.t} prompts" if null.t > 1 else "the only prompt (t = 1)"
    p_max = p_value(null.p_max(result), null.log_p_max(result), claim.p_max)
    return (
        f"{shown} with {tried}, n = {null.n}; chance {accuracy(null.standard_baseline)}, best of "
        f"{null.t} random guessers {accuracy(null.max_random_baseline)}, p_max {p_max}: "
        f"{' and '.join(failures)}; {_way_out(claim, null, score is None)}"
    )


def _way_out(claim: Claim, null: Null, counted: bool) -> str:
    """Say what would have passed."""
    depends = "the permutation p depends on the answers, not on their number"
    if claim.asserted().keys() <= {"permutation_p"}:
        return depends
    critical = claim.critical(null)
    if critical is None:
        return f"no {'count of n' if counted else 'score with n'} = {null.n} can pass"
    least = f"{critical:.0f}/{null.n}" if counted else f"a score of {critical:.4f}"
    if claim.permutation_p is None:
        return f"{least} would have passed"
    return f"{least} is needed for the rest, {depends}"


def _above(name: str, p: float, bound: float) -> list[str]:
    """Compare a p-value with its bound; one that equals it but for rounding is not above."""
    if p <= min(1.0, bound * (1 + _ROUNDING)):
        return []
    shown = p_value(p, level=bound)
    return [f"{name} {equals(shown)} is above {level(bound)}"]
