"""Cost of a verdict, in units of the rule of before: both p-values, computed by hand.

    python -m benchmarks.verdict [--quick]

Recorded answers of 200 prompts to 1,000 examples with four choices: prompts that guess, that know a
little and are much alike, and of which one knows more. By hand is the test of shuffled right
answers (until enough of them do as well, as in a verdict) and p_max of the best of t guessers. A
verdict also looks for things that are compared, at the baselines, and at what would have passed;
the whole result of a claim adds red flags and bounds for new questions. Before any ratio is
printed, both p-values of the verdict are compared with those by hand.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.claims.assessment import assess
from pytest_maxrandom.claims.recorded_claims import RecordedClaim, plan_recorded
from pytest_maxrandom.claims.views import result_of_recorded, views_of_recorded
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import max_t_of_all
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


T, N, CHOICES = 200, 1000, 4
LEVEL = 0.05
TEXTS = [f"label {place}" for place in range(CHOICES)]


def prompts(kind: str, generator: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return answers, shape (t, n), and right answers."""
    gold = generator.integers(0, CHOICES, N)
    said = generator.integers(0, CHOICES, (T, N))
    if kind == "alike, .28":
        shared = np.where(generator.random(N) < 0.04, gold, generator.integers(0, CHOICES, N))
        said = np.where(generator.random((T, N)) < 0.97, shared, said)
    if kind == "one at .35":
        said[0] = np.where(generator.random(N) < 0.134, gold, said[0])
    return said, gold


KINDS = ("guess", "alike, .28", "one at .35")


def planned(answers: NDArray[Any], gold: NDArray[Any], folder: Path) -> RecordedClaim:
    """Return the claim of a suite that says nothing else about these answers."""
    arrays: dict[str, Any] = {
        "prompt_ids": np.arange(T),
        "example_ids": np.arange(N),
        "answers": answers,
        "gold": gold,
        "choice_texts": np.tile(TEXTS, (N, 1)),
    }
    np.savez(folder / "m.npz", **{f"a__0__{name}": each for name, each in arrays.items()})
    (folder / "s.yaml").write_text(
        "models: [{name: m, backend: recorded, results: {path: m.npz, format: npz}}]\n"
        "tasks: [{name: a}]\n"
    )
    suite = load_any_suite(folder / "s.yaml")
    assert isinstance(suite, RecordedSuite)
    [claim] = plan_recorded(suite)
    return claim


def by_hand(answers: NDArray[Any], gold: NDArray[Any]) -> tuple[float, float]:
    """Return p_max and the permutation p of the best prompt, and nothing else."""
    best = int((answers == gold).sum(axis=1).max())
    p_max = MaxRandomBaseline(N, Fraction(1, CHOICES), T).p_value(best)
    permuted, *_ = max_t_of_all(answers, gold, [CHOICES] * N, T, level=LEVEL)
    return p_max, permuted


def verdict(claim: RecordedClaim) -> tuple[float | None, float | None]:
    """Judge the claim, without red flags."""
    assert claim.evidence is not None
    null = claim.evidence.null
    assert null is not None
    result = assess(claim.claim, null, null.best, views_of_recorded(claim), thrifty=True)
    return result.p_max, result.permutation_p


def seconds(times: int, run: Callable[..., object], *arguments: Any) -> float:
    """Return the least time of several runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        run(*arguments)
        found.append(time.perf_counter() - started)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run of each")
    times = 1 if parser.parse_args().quick else 3
    print("| prompts | by hand | verdict | whole result |\n| --- | --- | --- | --- |")
    for place, kind in enumerate(KINDS):
        answers, gold = prompts(kind, np.random.default_rng(place))
        with tempfile.TemporaryDirectory() as folder:
            claim = planned(answers, gold, Path(folder))
        for found, expected in zip(verdict(claim), by_hand(answers, gold), strict=True):
            assert math.isclose(found or math.nan, expected, rel_tol=1e-9), kind
        hand = seconds(times, by_hand, answers, gold)
        judged = seconds(times, verdict, claim)
        whole = seconds(times, result_of_recorded, claim)
        print(f"| {kind} | {hand:.2f} s | {judged / hand:.2f} | {whole / hand:.2f} |", flush=True)


if __name__ == "__main__":
    main()
