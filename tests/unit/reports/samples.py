"""Records as a run makes them, with numbers that belong together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from scipy.stats import binom

from pytest_maxrandom.record import (
    BestPrompt,
    ClaimRecord,
    Engine,
    PromptCount,
    Published,
    Recorded,
    RunRecord,
    Standing,
    ValidationSet,
)

PROMPT = """Is it wet or dry outside?
Q: The river rose over the path.
A: wet
Q: Dust lay on the road.
A: dry
"""
QUESTION = "Q: Snow fell all night.\nA:"


@cache
def of_guessers(best: int, n: int, t: int, level: float) -> tuple[float, float, float, int]:
    """Compute p_standard, p_max, the maximum random baseline and the critical count."""
    one = binom(n, 0.5)
    p_max = float(1 - one.cdf(best - 1) ** t)
    expected = float(sum(1 - one.cdf(k) ** t for k in range(n)) / n)
    critical = next(k for k in range(n + 1) if 1 - one.cdf(k - 1) ** t <= level)
    return float(one.sf(best - 1)), p_max, expected, critical


def claim(
    *, best: int = 45, n: int = 60, t: int = 20, level: float = 0.05, **changed: Any
) -> ClaimRecord:
    """Make a claim on n two-choice examples whose best of t prompts has `best` right."""
    p_standard, p_max, expected, critical = of_guessers(best, n, t, level)
    verdict: Standing = "below standard"
    if best / n > expected:
        verdict = "above maximum"
    elif best / n > 0.5:
        verdict = "between baselines"
    passed = p_max <= level
    label = f"{changed.get('task', 'weather')}[demo-nf4-4shot]"
    record = ClaimRecord(
        id=f"eval_suites/demo/demo.yaml::{label}",
        suite="eval_suites/demo/demo.yaml",
        line=12,
        task="weather",
        model="demo",
        quantization="nf4",
        shots=4,
        asserted={"p_max": level},
        n=n,
        t=t,
        best_correct=best,
        best_accuracy=best / n,
        best_score=best / n,
        standard_baseline=0.5,
        max_random_baseline=expected,
        p_standard=p_standard,
        p_max=p_max,
        guaranteed_p=min(1.0, t * p_standard),
        majority_rate=0.517,
        critical_count=critical,
        verdict=verdict,
        passed=passed,
        outcome="passed" if passed else "failed",
        message=None if passed else f"{best} of {n} correct; {critical} would have passed",
        correct_counts=[max(0, best - index) for index in range(t)],
        ties=3,
        best_ties=1,
        prompts=PromptCount(
            asked=t,
            possible=91390,
            regime="outside",
            pool=40,
            instructions=1,
            formats=1,
            combine="sample",
            seed=0,
        ),
        validation=ValidationSet(
            examples=n, available=n + 40, duplicates=1, seed=0, chances={"1/2": n}
        ),
        validation_ids=[f"#{index}" for index in range(n)],
        task_digest="4f1c09aa",
        best_prompt=BestPrompt(
            index=0,
            digest="9b1f0c6e2a77",
            text=PROMPT,
            question=QUESTION,
            answers=[" wet", " dry"],
            demonstration_ids=["#7", "#81"],
            tied_with=0,
        ),
        engine=Engine(
            device="cpu",
            dtype="bfloat16",
            requests=2 * n * t,
            tokens_forwarded=151200,
            seconds=23.456,
        ),
        notes=["The tokenizer adds no beginning-of-sequence token."],
    )
    return replace(record, **changed)


def scored(metric: str = "macro_f1", **changed: Any) -> ClaimRecord:
    """Make a claim about another metric; its baselines were simulated elsewhere."""
    numbers: dict[str, Any] = {
        "best_correct": 38,
        "best_accuracy": 38 / 60,
        "best_score": 0.5151,
        "standard_baseline": 0.4903,
        "max_random_baseline": 0.6071,
        "max_random_baseline_error": 0.0004,
        "p_max": 0.91234,
        "p_max_error": 0.00123,
        "permutation_p": 0.412,
        "critical_count": None,
        "critical_score": 0.66664,
        "verdict": "between baselines",
        "passed": False,
        "outcome": "failed",
        "correct_counts": [38, 40, 30, 29, 28],
    }
    return claim(t=20, metric=metric, **{**numbers, **changed})


def hand_written(**changed: Any) -> ClaimRecord:
    """Make a claim of a hand-written test, which states neither model nor shots nor scoring."""
    unstated: dict[str, Any] = {
        "id": "tests/test_mine.py::test_best",
        "suite": "tests/test_mine.py",
        "line": 8,
        "task": "test_best",
        "model": "",
        "quantization": "",
        "scoring": "",
        "shots": 0,
        "backend": "numbers",
        "majority_rate": None,
        "correct_counts": [],
        "ties": None,
        "best_ties": None,
        "prompts": None,
        "validation": None,
        "validation_ids": [],
        "best_prompt": None,
        "engine": None,
        "notes": [],
    }
    return claim(**{**unstated, **changed})


def recorded(*, published: Standing | None = None, **changed: Any) -> ClaimRecord:
    """Make a claim on results of another program, of which nothing is asserted."""
    without: dict[str, Any] = {
        "quantization": "",
        "scoring": "",
        "asserted": {},
        "passed": True,
        "outcome": "passed",
        "message": None,
        "backend": "recorded",
        "recorded": Recorded(path="data/results.npz", format="npz", stated=["chance"]),
        "majority_rate": None,
        "correct_counts": [],
        "ties": None,
        "best_ties": None,
        "prompts": None,
        "validation": None,
        "validation_ids": [],
        "best_prompt": None,
        "engine": None,
        "notes": [],
    }
    if published:
        without["published"] = Published(
            n=99,
            t=103,
            standard_baseline=0.2,
            max_random_baseline=0.3125,
            p_standard=0.01,
            p_max=0.345,
            verdict=published,
            changes=["n is 60, not 99: example ids collide", "t is 20, not 103: prompts repeat"],
        )
    return claim(**{**without, **changed})


def several(models: int = 2, tasks: int = 3, shots: tuple[int, ...] = (1, 4)) -> list[ClaimRecord]:
    """Make a claim for each model, task and number of shots, with results that differ."""
    return [
        recorded(
            best=25 + (7 * model + 5 * task + 11 * number) % 25,
            task=f"task_{task}",
            model=f"model-{model}",
            shots=number,
            id=f"suite.yaml::task_{task}[model-{model}-{number}shot]",
        )
        for model in range(models)
        for task in range(tasks)
        for number in shots
    ]


def untested(**changed: Any) -> ClaimRecord:
    """Make a claim whose model could not be loaded: n and t are known, no number is."""
    record = ClaimRecord(
        id="eval_suites/emoji.yaml::emoji_movie[OLMo-7B-4shot]",
        suite="eval_suites/emoji.yaml",
        line=30,
        task="emoji_movie",
        model="allenai/OLMo-7B",
        quantization="none",
        shots=4,
        asserted={"p_max": 0.05},
        n=100,
        t=200,
        outcome="error",
        message="allenai/OLMo-7B: no such model on this machine",
    )
    return replace(record, **changed)


def run(*claims: ClaimRecord, **changed: Any) -> RunRecord:
    """Make a run of these claims."""
    record = RunRecord(
        claims=list(claims),
        created="2026-01-31T12:00:00Z",
        versions={"pytest-maxrandom": "0.1.0", "Python": "3.11.9", "torch": "2.13.0"},
    )
    return replace(record, **changed)
