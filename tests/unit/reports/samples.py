"""Records as a run makes them, with numbers that belong together."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.stats import binom

from pytest_maxrandom.record import (
    ALLOWED,
    BestModelsRecord,
    BestPrompt,
    Calibrated,
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    InteractionBias,
    LabelBiasRecord,
    LabelRow,
    ModelPair,
    ModelStanding,
    OverTasks,
    PromptCount,
    PromptPair,
    Published,
    Recorded,
    RedFlag,
    Remark,
    Replicate,
    ReplicatesRecord,
    RunRecord,
    Severity,
    Standing,
    SweepCost,
    ValidationSet,
)
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.terminal import summary

if TYPE_CHECKING:
    from pytest_maxrandom.record.designs import Indication

_OF_COUNTS = ("p_max", "union_p", "beats")
"""Parts of a claim that the number of right answers alone decides."""

PROMPT = """Is it wet or dry outside?
Q: The river rose over the path.
A: wet
Q: Dust lay on the road.
A: dry
"""
QUESTION = "Q: Snow fell all night.\nA:"
ARMS = ("base", "extra", "test")


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
        union_p=min(1.0, t * p_standard),
        majority_rate=0.517,
        critical_count=critical,
        verdict=verdict,
        holds=passed,
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
        engine=SweepCost(
            device="cpu",
            dtype="bfloat16",
            requests=2 * n * t,
            tokens_forwarded=151200,
            seconds=23.456,
        ),
        notes=[Remark(text="The tokenizer adds no beginning-of-sequence token.")],
    )
    found = replace(record, **changed)
    if "critical_parts" not in changed:  # what a count alone accounts for
        found.critical_parts = [part for part in found.asserted if part in _OF_COUNTS]
    return found


def flag(
    text: str = "Always wet is as good.",
    *,
    kind: str = "majority",
    severity: Severity = "warn",
) -> RedFlag:
    """Make a red flag."""
    return RedFlag(kind, severity, text)


def linked(kind: str, does: str) -> str:
    """Return how Markdown names a kind of red flag, with a link to its page."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    site = project["project"]["urls"]["Documentation"]
    return f"[{kind} ({does})]({site}how-to/red-flags/{kind}.html)"


def flagged(**changed: Any) -> ClaimRecord:
    """Make a claim that holds and that a red flag fails, with another one that is told."""
    flags = [flag("30 of 60 scores tie.", kind="tied_scores", severity="fail"), flag()]
    failed: dict[str, Any] = {
        "passed": False,
        "outcome": "failed",
        "message": "red flag: tied_scores",
        "red_flags": flags,
    }
    return claim(**{**failed, **changed})


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


def _not_swept() -> dict[str, Any]:
    """Return what a claim has of which no model was run here."""
    return {
        "quantization": "", "scoring": "", "majority_rate": None, "correct_counts": [],
        "ties": None, "best_ties": None, "prompts": None, "validation": None,
        "validation_ids": [], "best_prompt": None, "engine": None, "notes": [],
    }  # fmt: skip


def hand_written(**changed: Any) -> ClaimRecord:
    """Make a claim of a hand-written test, which states neither model nor shots nor scoring."""
    unstated: dict[str, Any] = {
        "id": "tests/test_mine.py::test_best",
        "suite": "tests/test_mine.py",
        "line": 8,
        "task": "test_best",
        "model": "",
        "shots": 0,
        "backend": "numbers",
        **_not_swept(),
    }
    return claim(**{**unstated, **changed})


def recorded(*, published: Standing | None = None, **changed: Any) -> ClaimRecord:
    """Make a claim on results of another program, of which nothing is asserted."""
    without: dict[str, Any] = {
        "asserted": {},
        "passed": True,
        "outcome": "passed",
        "message": None,
        "backend": "recorded",
        "recorded": Recorded(path="data/results.npz", format="npz", stated=["chance"]),
        **_not_swept(),
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
            changes=[
                Remark(text="n is 60, not 99: example ids collide"),
                Remark(text="t is 20, not 103: prompts repeat"),
            ],
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


def shown(record: RunRecord, width: int = 100, verbosity: int = 0) -> list[str]:
    """Return the lines of the summary in a terminal, below the verdict."""
    return [line.text for line in summary(record, width, verbosity)][1:]


def run(*claims: ClaimRecord, **changed: Any) -> RunRecord:
    """Make a run of these claims."""
    record = RunRecord(
        claims=list(claims),
        created="2026-01-31T12:00:00Z",
        versions={"pytest-maxrandom": "0.1.0", "Python": "3.11.9", "torch": "2.13.0"},
    )
    return replace(record, **changed)


def replicates(*counts: int, **changed: Any) -> ReplicatesRecord:
    """Make a replicated claim on 60 two-choice examples; `counts` are right in its replicates."""
    runs = [
        Replicate(
            n=60,
            t=20,
            best_correct=best,
            best_accuracy=best / 60,
            max_random_baseline=of_guessers(best, 60, 20, 0.05)[2],
            p_max=(p := of_guessers(best, 60, 20, 0.05)[1]),
            verdict="above maximum" if best >= 38 else "between baselines",
            passed=p <= 0.05,
            best_prompt=f"{number:02}1f0c6e2a77",
            demonstration_ids=["#7", "#81"],
        )
        for number, best in enumerate(counts)
    ]
    held = [bool(one.passed) for one in runs]
    share = sum(held) / len(held) if held else None
    task = changed.get("task", "weather")
    record = ReplicatesRecord(
        id=f"eval_suites/demo/demo.yaml::{task}[demo-nf4-4shot]::replicates",
        suite="eval_suites/demo/demo.yaml",
        line=14,
        claim=f"eval_suites/demo/demo.yaml::{task}[demo-nf4-4shot]",
        task="weather",
        model="demo",
        quantization="nf4",
        shots=4,
        asserted={"p_max": 0.05, "in_replicates": 0.9},
        count=len(runs),
        seed=0,
        runs=runs,
        share_passed=share,
        contradicting=None if share is None else min(share, 1 - share),
        passed=None if share is None else share >= 0.9,
    )
    if share is None:
        record.outcome, record.message = "error", "the replicates did not run"
    elif record.passed:
        record.outcome = "passed"
    else:
        record.outcome = "failed"
        record.message = f"the claim passes in {sum(held)} of {len(held)} replicates, needed: .9"
    return replace(record, **changed)


def interaction(*recalls: float | None, **changed: Any) -> InteractionBias:
    """Make one way of asking on 100 examples, whose labels A, B, ... have these recalls.

    The right answers are spread evenly, and every wrong answer is A.
    """
    known = [recall for recall in recalls if recall is not None]
    m = len(recalls)
    accuracy = sum(known) / m
    mean = sum(known) / len(known)
    rates = [1 / 2**place for place in range(1, m + 1)]
    score = (sum(known) - max(known)) / (len(known) - 1)
    made = InteractionBias(
        interaction="cloze",
        n=100,
        t=10,
        best_prompt="9b1f0c6e2a77" + 52 * "0",
        best_accuracy=accuracy,
        labels=[
            LabelRow(
                label=chr(ord("A") + place),
                gold=0 if recall is None else 100 // m,
                recall=recall,
                predicted=(recall or 0.0) / m + (0.0 if place else 1 - accuracy),
                base_rate=rates[place] / sum(rates),
            )
            for place, recall in enumerate(recalls)
        ],
        rstd=(sum((recall - mean) ** 2 for recall in known) / len(known)) ** 0.5,
        score=score,
        score_prompt="9b1f0c6e2a77" + 52 * "0",
        score_baseline=0.3173,
        score_baseline_error=0.0003,
        p_value=0.0001 if score > 0.4 else 0.99973,
        p_error=0.00002,
        preference_p=0.2 if score > 0.4 else 0.0001,
        permutation_p=0.0002 if score > 0.4 else 1.0,
        base_rate_mass=0.683,
        r=0.9712 if m >= 4 else None,
        r_low=-0.1311 if m >= 4 else None,
        r_high=0.9994 if m >= 4 else None,
        finding="knowledge" if score > 0.4 else "label preference",
    )
    return replace(made, **changed)


def label_bias(*interactions: InteractionBias, **changed: Any) -> LabelBiasRecord:
    """Make a label-bias check, of a model that prefers A if no numbers are given."""
    asked = list(interactions or [interaction(0.98, 0.01, 0.01, 0.01)])
    task = changed.get("task", "weather")
    knows = all(one.score > 0.4 for one in asked)
    record = LabelBiasRecord(
        id=f"eval_suites/demo/demo.yaml::{task}[demo-nf4-4shot]::label_bias",
        suite="eval_suites/demo/demo.yaml",
        line=16,
        claim=f"eval_suites/demo/demo.yaml::{task}[demo-nf4-4shot]",
        task="weather",
        model="demo",
        quantization="nf4",
        shots=4,
        check="recall",
        base_rate="control",
        seed=0,
        asserted={"above_random": 0.05},
        interactions=asked,
        finding="knowledge" if knows else "label preference",
        sentence="Label preference: the Nvr-X score .010 is not above that of guessers, .317, and "
        "'A' is 97.8 % of the answers.",
        passed=knows,
        outcome="passed" if knows else "failed",
        message=None if knows else "the Nvr-X score .010 is not above that of guessers, .317",
        notes=[Remark(text="Only places in the shown order are labels here.")],
    )
    return replace(record, **changed)


def calibrated(**changed: Any) -> Calibrated:
    """Make the best of 10 prompts after PriDe, which held 5 of 100 examples back."""
    made = Calibrated(
        method="pride",
        n=95,
        best_correct=57,
        best_accuracy=0.6,
        plain_accuracy=0.5789,
        max_random_baseline=0.3211,
        p_max=0.00011,
        prior={"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.1},
    )
    return replace(made, **changed)


def comparison(difference: float = -0.0213, **changed: Any) -> ComparisonRecord:
    """Make a comparison of two quantizations, whose interval is .04 wide."""
    task = changed.get("task", "weather")
    holds = difference > 0
    record = ComparisonRecord(
        id=f"eval_suites/demo/demo.yaml::{task}::compare[nf4-none]",
        suite="eval_suites/demo/demo.yaml",
        line=20,
        task="weather",
        shots=4,
        first="nf4",
        second="none",
        changed="quantization: nf4, not none",
        asserted={"not_worse_than": -0.02},
        replicates=20,
        t=20,
        n=60,
        first_accuracy=0.6 + difference,
        second_accuracy=0.6,
        difference=difference,
        low=difference - 0.02,
        high=difference + 0.02,
        p_value=0.0313,
        assertion_p=0.0021 if holds else 0.412,
        units="replicates",
        sampled={"examples": 60, "prompts": 400, "replicates": 20},
        first_best=0.7,
        second_best=0.7121,
        best_difference=-0.0121,
        best_low=-0.0333,
        best_high=0.0111,
        prompts=[PromptPair(1, 12, 0.0034, 0.0341), PromptPair(4, 3, 1.0, 1.0)],
        by_replicate=[difference - 0.01, difference + 0.01],
        adjusted_bh=0.0412,
        adjusted_holm=0.0939,
        passed=holds,
        outcome="passed" if holds else "failed",
        message=None if holds else "nf4 - none is not above -.02: p = .412",
        notes=[Remark(text="All replicates share their examples.")],
    )
    return replace(record, **changed)


def best_models(**changed: Any) -> BestModelsRecord:
    """Make a comparison of three models, of which two may be the best."""
    record = BestModelsRecord(
        id="eval_suites/demo/demo.yaml::weather::compare[all]",
        suite="eval_suites/demo/demo.yaml",
        line=25,
        task="weather",
        shots=4,
        asserted={"best": "large"},
        level=0.05,
        prompt="",
        models=[
            ModelStanding("large", 20, 20, "ab" * 32, 0.85, 1.0, True, 0.061),
            ModelStanding("medium", 20, 25, "cd" * 32, 0.8, 0.213, True, 0.124),
            ModelStanding("small", 20, 20, "ef" * 32, 0.6, 0.0012, False, 0.402),
        ],
        pairs=[
            ModelPair("large", "medium", 0.05, -0.061, 0.124, 0.1065, 0.4259),
            ModelPair("large", "small", 0.25, 0.072, 0.402, 0.0006, 0.0036),
            ModelPair("medium", "small", 0.2, 0.021, 0.371, 0.0031, 0.0155),
        ],
        n=60,
        units=60,
        max_random_baseline=0.664,
        max_random_of_all=0.691,
        passed=False,
        outcome="failed",
        message="large cannot be told from medium",
    )
    return replace(record, **changed)


def contamination(finding: Indication = "tuned on the text", **changed: Any) -> ContaminationRecord:
    """Make a check for contamination; one that cannot tell has neither a boost nor a bias."""
    told = finding != "cannot tell"
    passed = finding == "no sign of it"
    task = changed.get("task", "weather")
    record = ContaminationRecord(
        id=f"eval_suites/demo/demo.yaml::{task}::contamination",
        suite="eval_suites/demo/demo.yaml",
        line=30,
        task="weather",
        shots=0,
        base="base",
        extra="extra",
        test="test",
        boost=0.081 if told else 0.004,
        boost_p=0.0012 if told else 0.383,
        bias=0.052 if finding == "tuned on the text" else -0.003,
        bias_p=0.0041 if finding == "tuned on the text" else 0.611,
        sampled={"examples": 60},
        finding=finding,
        passed=passed if told else None,
        cannot_tell=None if told else Remark("no_effect", dict(zip(ARMS, ARMS, strict=True))),
        outcome="passed" if passed else "failed" if told else "cannot tell",
        message=None if passed else f"{finding}: as its numbers say",
    )
    return replace(record, **changed)


def allowed(kind: str = "no_boost", **changed: Any) -> ContaminationRecord:
    """Make a check that cannot tell in a suite that lets that be."""
    found = contamination("cannot tell", outcome=ALLOWED, cannot_tell=None, message=None)
    said = worded(Remark(kind, dict(zip(ARMS, ARMS, strict=True))))
    return replace(found, **{"notes": [said], **changed})


def over_tasks(**changed: Any) -> OverTasks:
    """Make a comparison over three tasks, too few for an interval."""
    record = OverTasks("nf4", "none", 4, 3, -0.0107, -1.0, 1.0, 0.95, 0.25)
    return replace(record, **changed)


def designed(*claims: ClaimRecord, **changed: Any) -> RunRecord:
    """Make a run of these claims that also has one record of each other kind."""
    others: dict[str, Any] = {
        "replicates": [replicates(45, 45, 44, 30)],
        "label_bias": [label_bias()],
        "comparisons": [comparison()],
        "best_models": [best_models()],
        "contamination": [contamination()],
        "over_tasks": [over_tasks()],
    }
    return run(*claims, **{**others, **changed})
