"""The claims of a run as figures need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.reports.guessers import guessers as guessers_of
from pytest_maxrandom.reports.phrases import best_interval
from pytest_maxrandom.reports.quantities import best_value, levels_of, metric_name
from pytest_maxrandom.reports.summary import by_suite, label, model_name, shots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.record import ClaimRecord, RunRecord, Standing
    from pytest_maxrandom.stats.maximum import MaxRandomBaseline

_BOUNDS = ("p_max", "permutation_p", "incumbent_p")


@dataclass(frozen=True, slots=True)
class Result:
    """One claim with its numbers."""

    suite: str
    """The claim's suite, where another one makes claims of the same things; else empty."""
    model: str
    task: str
    shots: str
    """As reports write them; a part that a hand-written claim does not state is empty."""
    n: int
    t: int
    metric: str
    """What `best` and both baselines are values of."""
    best: float
    standard: float
    maximum: float
    """Value of the best prompt, and the standard and the maximum random baseline."""
    interval: tuple[float, float] | None
    """Between which accuracies on new questions that of the best prompt lies, the selection of the
    best of t accounted for; None where the metric is no accuracy."""
    p_standard: float | None
    """Where it was computed."""
    p_max: float
    permutation_p: float | None
    """Where it was computed."""
    incumbent: float | None
    incumbent_p: float | None
    """What the incumbent scored, and the p-value beside it; None without one."""
    alpha: float
    """What the claim bounds its p-value by, the first of p_max, permutation p and incumbent p if
    there are several; .05 where it bounds none."""
    verdict: Standing
    counts: tuple[int, ...]
    """Correct answers of each prompt, where they are known."""
    guessers: MaxRandomBaseline | None
    """The best of t guessers, where the metric is the accuracy and the chances are known."""
    unknown: str
    """Why there are no `guessers`, said of the claim; else empty."""

    @property
    def setting(self) -> str:
        """The task with its shots: ``emoji_movie, 4-shot``."""
        return f"{self.task}, {self.shots}-shot" if self.shots else self.task

    @property
    def claim(self) -> str:
        """The setting with its model, and with its suite if there is one."""
        return ", ".join(filter(None, (self.setting, self.model, self.suite)))

    @property
    def panel(self) -> str:
        """The model, with its suite if there is one: what stands above a panel."""
        return ", ".join(filter(None, (self.model, self.suite)))


def results_of(run: RunRecord) -> tuple[list[Result], list[str]]:
    """Return the claims that have numbers, and the labels of those that have none."""
    suites = {claim.id: suite for suite, claims in by_suite(run.claims).items() for claim in claims}
    results, without = [], []
    for claim in run.claims:
        result = _result(claim, suites[claim.id])
        if result is None:
            without.append(label(claim))
        else:
            results.append(result)
    return results, without


def by_model(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Group results by suite and model, in the order of the run; tasks together, shots ascending.

    The keys are the names of the panels.
    """
    models: dict[str, list[Result]] = {}
    tasks: dict[str, int] = {}
    for result in results:
        models.setdefault(result.panel, []).append(result)
        tasks.setdefault(result.task, len(tasks))
    for group in models.values():
        group.sort(key=lambda result: (tasks[result.task], len(result.shots), result.shots))
    return models


def _result(claim: ClaimRecord, suite: str) -> Result | None:
    n, t, best = claim.n, claim.t, best_value(claim)
    standard, maximum = claim.standard_baseline, claim.max_random_baseline
    if n is None or t is None or best is None or standard is None or maximum is None:
        return None
    if claim.p_max is None or claim.verdict is None:
        return None
    guessers, unknown = guessers_of(claim, n, t, standard, maximum)
    bounds = levels_of(claim)
    return Result(
        suite=suite,
        model=model_name(claim),
        task=claim.task,
        shots=shots(claim),
        n=n,
        t=t,
        metric=metric_name(claim),
        best=best,
        standard=standard,
        maximum=maximum,
        interval=best_interval(claim),
        p_standard=claim.p_standard,
        p_max=claim.p_max,
        permutation_p=claim.permutation_p,
        incumbent=None if claim.incumbent is None else claim.incumbent.accuracy,
        incumbent_p=claim.incumbent_p,
        alpha=next((float(bounds[key]) for key in _BOUNDS if key in bounds), DEFAULT_LEVEL),
        verdict=claim.verdict,
        counts=tuple(claim.correct_counts),
        guessers=guessers,
        unknown=unknown,
    )
