"""The verdict on a claim: what the best of t prompts means beside the best of t guessers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.notation import P_VALUES, accuracy, equals, level, p_value
from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.stats.looks import spent
from pytest_maxrandom.suite.claims import severities

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_maxrandom.claims.nulls import Null
    from pytest_maxrandom.flags.flag import Flag
    from pytest_maxrandom.record import ClaimRecord, RedFlagKind, Severity, Standing
    from pytest_maxrandom.suite.claims import RedFlags
    from pytest_maxrandom.suite.spec import BoundsSpec

DEFAULT_LEVEL = 0.05
_RENAMED = "The suite calls `union_p` by its old name, `guaranteed_p`: rename it."
_ROUNDING = 1e-12
_BASELINES = {"max_random": "the expected maximum", "standard": "chance"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold of the best of t prompts; all parts that are given.

    Attributes
    ----------
    red_flags : dict or str or None
        What red flags do to it, as the suite says; None for the defaults.
    family : int or None
        How many claims share its levels, itself included; None where each has its own.
    spend : bool
        Whether its levels are spent over the doublings of t, so that it may be looked at any
        number of times.
    notes : tuple of str
        What a reader must know of it, one sentence each.
    """

    p_max: float | None = None
    beats: str | None = None
    union_p: float | None = None
    permutation_p: float | None = None
    test_p: float | None = None
    red_flags: RedFlags | None = None
    family: int | None = None
    spend: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)

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
            notes=(_RENAMED,) if "guaranteed_p" in spec.model_fields_set else (),
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
        bounds = {key: bound for key, bound in self.bounds().items() if isinstance(bound, float)}
        return {key: self._level(bound, t) for key, bound in bounds.items()}

    def _level(self, bound: float, t: int) -> float:
        share = bound / (self.family or 1)
        return spent(share, t).level if self.spend else share

    def idle(self) -> str:
        """Say which keys do nothing, because no p-value is claimed; empty where none are idle."""
        keys = ["`family: suite`"] * (self.family is not None) + ["`looks: spend`"] * self.spend
        if not keys or self.levels(1):
            return ""
        return (
            f"{' and '.join(keys)} beside `beats` alone: there is no level to share or spend; "
            f"claim a p-value as well, or remove {'it' if len(keys) == 1 else 'them'}"
        )

    def tried(self, t: int) -> int:
        """Return as the best of how many guessers the claim is tested, where t were tried."""
        return spent(DEFAULT_LEVEL, t).t if self.spend else t

    def failures(self, null: Null, result: float) -> list[str]:
        """Return which parts do not hold of a result; permutation_p and test_p are elsewhere."""
        failures, levels = [], self.levels(null.t)
        for key, p in (("p_max", null.p_max), ("union_p", null.union_p)):
            if key in levels:
                failures += _above(P_VALUES[key], p(result), levels[key])
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
        least = self.levels(null.t).get("permutation_p")
        if least is not None and arrangements is not None and least * arrangements < 1:
            failures.append(
                f"the permutation p is at least 1/{arrangements}, because the right answers can "
                f"be shuffled in {arrangements} ways only"
                if arrangements > 1
                else "the permutation p is 1, because all right answers that could be shuffled "
                "are the same"
            )
        return failures

    def severities(self) -> dict[RedFlagKind, Severity]:
        """Return what each kind of red flag does; none fails a claim that asserts nothing."""
        if self.red_flags is not None:
            return severities(self.red_flags)
        return dict(DEFAULTS) if self.bounds() else dict.fromkeys(DEFAULTS, "warn")

    def severity(self, flag: Flag) -> Severity:
        """Return what a red flag does; one that is mild warns, unless the suite names its kind."""
        severity = self.severities()[flag.kind]
        if severity != "fail" or not flag.mild or isinstance(self.red_flags, str):
            return severity
        return severity if flag.kind in (self.red_flags or ()) else "warn"

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
        if self.bounds().keys() <= {"permutation_p"}:
            return None
        results = null.results
        place = bisect_left(results, True, key=lambda result: not self.failures(null, result))
        return results[place] if place < len(results) else None


Planned = TypeVar("Planned", bound="_Claimed")


class _Claimed(Protocol):
    """A dataclass with a claim."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def claim(self) -> Claim: ...


def share_levels(claims: Sequence[Planned]) -> list[Planned]:
    """Let the claims of a suite that are a family share their levels (Bonferroni).

    Their number is known when the suite is read, so a share depends neither on what is selected nor
    on how the work is spread.
    """
    size = sum(each.claim.family is not None and bool(each.claim.bounds()) for each in claims)
    return [
        each
        if each.claim.family is None
        else replace(each, claim=replace(each.claim, family=max(1, size)))
        for each in claims
    ]


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
    levels: dict[str, float]
    p_standard: float | None
    p_max: float | None
    p_max_error: float | None
    log_p_max: float | None
    union_p: float | None
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
    levels = claim.levels(null.t)
    if "permutation_p" in levels:
        if permutation_p is None:
            failures.append("the permutation p could not be computed without predictions")
        else:
            failures += _above("permutation p", permutation_p, levels["permutation_p"])
    standing: Standing = "between baselines"
    if null.against("max_random", result) > 0:
        standing = "above maximum"
    elif (beside_chance := null.against("standard", result)) <= 0:
        standing = "at chance" if beside_chance == 0 else "below standard"
    critical = claim.critical(null)
    counted = isinstance(null, Guessers)
    errors, known = null.errors(result), not null.only_permuted
    return Verdict(
        n=null.n,
        t=null.t,
        best_correct=correct,
        best_accuracy=correct / null.n,
        best_score=correct / null.n if score is None else score,
        standard_baseline=null.standard_baseline,
        max_random_baseline=null.max_random_baseline,
        max_random_baseline_error=errors[0],
        levels=levels,
        p_standard=null.p_standard(result, best) if known else None,
        p_max=null.p_max(result) if known else None,
        p_max_error=errors[1] if known else None,
        log_p_max=null.log_p_max(result) if known else None,
        union_p=null.union_p(result) if known else None,
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
    p_max = ""
    if not null.only_permuted:
        level = claim.levels(null.t).get("p_max")
        p_max = f", p_max {p_value(null.p_max(result), null.log_p_max(result), level)}"
    return (
        f"{shown} with {tried}, n = {null.n}; chance {accuracy(null.standard_baseline)}, best of "
        f"{null.t} random guessers {accuracy(null.max_random_baseline)}{p_max}: "
        f"{' and '.join(failures)}; {_way_out(claim, null, score is None)}"
    )


def _way_out(claim: Claim, null: Null, counted: bool) -> str:
    """Say what would have passed."""
    depends = "the permutation p depends on the answers, not on their number"
    if claim.bounds().keys() <= {"permutation_p"}:
        return depends
    critical = claim.critical(null)
    if critical is None:
        return f"no {'count of n' if counted else 'score with n'} = {null.n} can pass"
    least = f"{critical:.0f}/{null.n}" if counted else f"a score of {critical:.4f}"
    if claim.permutation_p is None:
        return f"{least} would have passed"
    names = [P_VALUES.get(key, _BASELINES.get(str(bound))) for key, bound in claim.bounds().items()]
    rest = " and ".join(str(name) for name in names if name != P_VALUES["permutation_p"])
    return f"{least} is needed for {rest}, {depends}"


def _above(name: str, p: float, bound: float) -> list[str]:
    """Compare a p-value with its bound; one that equals it but for rounding is not above."""
    if p <= min(1.0, bound * (1 + _ROUNDING)):
        return []
    shown = p_value(p, level=bound)
    return [f"{name} {equals(shown)} is above {level(bound)}"]
