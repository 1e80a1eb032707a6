"""Replicates: other examples and demonstrations, and what they say together."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.claims.views import result_of_sweep, views_of_sweep
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import Remark, Replicate, ReplicatesRecord, Standing, SweepCost
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.studies.replicates import (
    PlannedReplicates,
    record_replicates,
    replicate,
    replicated,
)
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.sweep import Sweep
from tests.notes import noted
from tests.suites import load_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example

SUITE = """\
models: [{{name: some/model}}, {{name: some/other}}]
tasks:
- {{name: many, format: jsonl, path: many.jsonl, validation: {{max_examples: 40}}{task}}}
prompts: {{shots: {shots}, count: {count}}}
{rest}
"""


def suite(
    folder: Path,
    rest: str = "replicates: 6",
    *,
    examples: int = 100,
    shots: str = "2",
    count: int = 5,
    task: str = "",
) -> Path:
    """A suite of one task, whose right answer is "yes" and "no" in turn."""
    rows = [
        {"id": f"q{number}", "input": f"question {number}", "choices": ["yes", "no"],
         "answer": ["yes", "no"][number % 2], "passage": number // 25}
        for number in range(examples)
    ]  # fmt: skip
    (folder / "many.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    path = folder / "s.yaml"
    path.write_text(SUITE.format(task=task, shots=shots, count=count, rest=rest))
    return path


def planned(path: Path) -> list[PlannedReplicates]:
    return [each for each in plan_file(path) if isinstance(each, PlannedReplicates)]


def ids(examples: Sequence[Example]) -> tuple[str, ...]:
    return tuple(example.id for example in examples)


def drawn(claim: PlannedClaim) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a replicate is made of: its examples and its prompts."""
    prompt_set = claim.condition.prompt_set
    return ids(prompt_set.validation), tuple(prompt.digest for prompt in prompt_set.prompts)


def test_each_claim_is_followed_by_its_replicates_and_is_the_first_of_them(tmp_path: Path) -> None:
    path = suite(tmp_path)
    found = plan_file(path)
    assert [each.name for each in found] == [
        "many[model-nf4-2shot]",
        "many[model-nf4-2shot]::replicates[6]",
        "many[other-nf4-2shot]",
        "many[other-nf4-2shot]::replicates[6]",
    ]
    for claim, replicates, alone in zip(
        found[::2], found[1::2], plan(load_suite(path)), strict=True
    ):
        assert isinstance(replicates, PlannedReplicates)
        assert replicates.claim is claim
        # The claim is what it is without replicates.
        assert claim.record("i", "s") == alone.record("i", "s")
        assert drawn(claim) == drawn(alone)
        assert [each.replicate for each in replicates.claims] == [0, 1, 2, 3, 4, 5]
        assert replicated(replicates.claim) is replicates.claims


def test_a_suite_without_replicates_is_planned_as_ever(tmp_path: Path) -> None:
    path = suite(tmp_path, "")
    claims = plan(load_suite(path))
    assert [each.name for each in plan_file(path)] == [each.name for each in claims]
    assert planned(path) == []
    assert replicated(claims[0]) == [claims[0]]


def test_every_replicate_draws_other_examples_and_other_demonstrations(tmp_path: Path) -> None:
    replicates, of_other_model = planned(suite(tmp_path, "replicates: 30"))
    for claim in replicates.claims:
        examples, prompts = drawn(claim)
        assert len(set(examples)) == 40
        assert len(set(prompts)) == 5
        for prompt in claim.condition.prompt_set.prompts:
            assert not set(ids(prompt.demonstrations)) & set(examples)
    assert len({drawn(claim)[0] for claim in replicates.claims}) == 30
    assert len({drawn(claim)[1] for claim in replicates.claims}) == 30
    # Two subsamples of 40 from 100 share 16 on average, with a standard deviation of 2.4.
    pairs = [
        len(set(drawn(one)[0]) & set(drawn(other)[0]))
        for number, one in enumerate(replicates.claims)
        for other in replicates.claims[:number]
    ]
    assert sum(pairs) / len(pairs) == pytest.approx(16, abs=4 * 2.4 / math.sqrt(30))
    # Models are compared on the same draws.
    assert [drawn(claim) for claim in of_other_model.claims] == list(map(drawn, replicates.claims))


def test_replicates_depend_on_their_number_and_seed_only(tmp_path: Path) -> None:
    few, _ = planned(suite(tmp_path, "replicates: 3"))
    many, _ = planned(suite(tmp_path, "replicates: 6\nscoring: sum_logprob"))
    other, _ = planned(suite(tmp_path, "replicates: {count: 6, seed: 1}"))
    assert [drawn(claim) for claim in few.claims] == [drawn(claim) for claim in many.claims[:3]]
    assert drawn(other.claims[0]) == drawn(many.claims[0])
    for number in range(1, 6):
        assert drawn(other.claims[number]) != drawn(many.claims[number])


def test_no_replicate_ever_shows_an_example_of_the_test_set(tmp_path: Path) -> None:
    replicates, _ = planned(suite(tmp_path, task=", test: {fraction: 0.2}"))
    test = set(ids(replicates.claim.condition.test))
    assert len(test) == 20
    for claim in replicates.claims:
        prompts = claim.condition.prompt_set.prompts
        shown = {each for prompt in prompts for each in ids(prompt.demonstrations)}
        assert not test & (shown | set(drawn(claim)[0]))
    assert [claim.condition.test for claim in replicates.claims[1:]] == [()] * 5


def test_what_does_not_vary_is_told(tmp_path: Path) -> None:
    def note(path: Path) -> str:
        return noted(planned(path)[0].record("i", "s"))[0]

    assert note(suite(tmp_path)).endswith(": validation examples and demonstrations.")
    assert "the validation examples are the same in all" in note(suite(tmp_path, examples=40))
    assert "the prompts are the same in all" in note(suite(tmp_path, shots="0"))
    variants = ", instructions: ['', a, b, c, d, e, f]"
    assert note(suite(tmp_path, shots=f"0{variants}")).endswith("instructions and formats.")


@pytest.mark.parametrize("shots", ["0", "1"])
def test_replicates_of_which_nothing_would_vary_are_a_mistake(tmp_path: Path, shots: str) -> None:
    path = suite(tmp_path, "replicates: 3", examples=30, shots=shots, count=200)
    with pytest.raises(SuiteError) as caught:
        planned(path)
    (problem,) = caught.value.problems
    assert problem.line == 5
    assert f"those of many at {shots} shots would all be the same" in str(problem)
    prompts = {"0": 1, "1": 30}[shots]
    told = f"there are only the claim's 30 validation examples and {prompts} prompts;"
    assert told in str(problem)


def test_the_seeds_of_a_replicate_stand_in_its_record(tmp_path: Path) -> None:
    claims = planned(suite(tmp_path))[0].claims
    seeds = [
        (record.prompts.seed, record.validation.seed)
        for record in (claim.record("i", "s") for claim in claims)
        if record.prompts and record.validation
    ]
    assert seeds[0] == (0, 0)
    assert len({seed for pair in seeds[1:] for seed in pair}) == 10


def test_a_claim_that_is_expected_to_fail_fails_in_replicates_only_if_that_is_asserted(
    tmp_path: Path,
) -> None:
    reported = planned(suite(tmp_path, "replicates: 3\nxfail: guesses"))[0]
    asserted = planned(
        suite(tmp_path, "replicates: 3\nxfail: guesses\nassert: {in_replicates: .5}")
    )[0]
    assert (reported.xfail, asserted.xfail) == (None, "guesses")
    default = {"permutation_p": 0.05, "beats": "max_random"}
    assert reported.record("i", "s").asserted == default
    assert asserted.record("i", "s").asserted == {**default, "in_replicates": 0.5}
    assert asserted.claim.claim.asserted() == default


FEW = {"clusters": 4, "ways": 6, "level": 0.05}


def run(passed: bool | None, verdict: Standing = "above maximum", best: int = 60) -> Replicate:
    return Replicate(
        n=100, t=5, best_correct=best, best_accuracy=best / 100, max_random_baseline=0.55,
        p_max=0.01, verdict=verdict, passed=passed, best_prompt="p", demonstration_ids=[],
        cannot_tell=Remark("few_clusters", FEW) if passed is None else None,
    )  # fmt: skip


def concluded(
    runs: Sequence[Replicate], share: str | None = None, *, claims: bool = True
) -> ReplicatesRecord:
    asserted = {"p_max": 0.05} if claims else {}
    if share is not None:
        asserted["in_replicates"] = float(share)
    record = ReplicatesRecord(
        id="i", suite="s", line=1, claim="c", task="t", model="m", quantization="none", shots=0,
        asserted=asserted, count=len(runs), seed=0,
    )  # fmt: skip
    record_replicates(record, runs, None if share is None else Fraction(share))
    word(record)
    return record


@pytest.mark.parametrize(
    ("share", "count", "needed"),
    # As binary fractions, .55 * 20 is above 11, and .1 * 30 is above 3.
    [("0.9", 20, 18), ("0.55", 20, 11), ("0.1", 30, 3), ("0.91", 20, 19), ("1", 7, 7)],
)
def test_the_share_that_is_asked_for_is_an_exact_fraction_of_the_replicates(
    share: str, count: int, needed: int
) -> None:
    enough = concluded([run(place < needed) for place in range(count)], share)
    assert (enough.passed, enough.message) == (True, None)
    short = concluded([run(place < needed - 1) for place in range(count)], share)
    assert short.passed is False
    assert short.message is not None
    assert f"passes in {needed - 1} of {count} replicates" in short.message
    assert f"needs {needed} (in_replicates: {float(share):g});" in short.message
    assert "\n" not in short.message


@pytest.mark.parametrize(
    ("runs", "passed"),
    [
        ([True, True, None, False], True),
        ([True, None, None, False], None),
        ([None] * 4, None),
        ([False, False, False, None], False),
    ],
)
def test_what_cannot_be_told_of_deciding_replicates_cannot_be_told_of_all(
    runs: list[bool | None], passed: bool | None
) -> None:
    record = concluded([run(each) for each in runs], "0.5")
    assert record.passed is passed
    assert (record.cannot_tell is None) is (passed is not None)
    if passed is None:
        assert record.message is not None
        assert record.message.startswith(
            "cannot tell: right answers can be exchanged among 4 clusters"
        )
        held, untold = runs.count(True), runs.count(None)
        assert f"(passes in {held} of 4 replicates, cannot tell in {untold}, needs 2)" in (
            record.message
        )


def test_replicates_of_a_claim_on_few_clusters_cannot_tell(tmp_path: Path) -> None:
    asked = "assert: {in_replicates: 1.0}\nreplicates: 3"
    [replicates, *_] = planned(suite(tmp_path, asked, task=", columns: {cluster: passage}"))
    record = replicates.record("i", "s")
    record_replicates(
        record, [judged(claim) for claim in replicates.claims], replicates.in_replicates
    )
    word(record)
    assert [each.passed for each in record.runs] == [None] * 3
    assert record.passed is None
    assert record.message is not None
    assert record.message.startswith("cannot tell: ")
    assert "right answers can be exchanged among" in record.message


def test_replicates_of_which_nothing_is_asserted_are_reported(tmp_path: Path) -> None:
    record = concluded([run(False), run(True), run(False), run(False)])
    assert (record.passed, record.message) == (True, None)
    assert (record.share_passed, record.contradicting) == (0.25, 0.25)


def test_single_draws_of_a_claim_that_asserts_nothing_are_told_apart_by_where_they_stand() -> None:
    runs = [run(True), run(True), run(True, "between baselines"), run(True, "below standard")]
    record = concluded(runs, claims=False)
    assert (record.share_passed, record.contradicting) == (None, 0.5)


def test_the_order_of_replicates_does_not_matter() -> None:
    runs = [run(place % 3 == 0, best=50 + place) for place in range(20)]
    shuffled = random.Random(0).sample(runs, len(runs))
    one, other = concluded(runs, "0.5"), concluded(shuffled, "0.5")
    for name in ("share_passed", "contradicting", "passed", "message"):
        assert getattr(one, name) == getattr(other, name), name


def guess(prompt: Prompt, examples: Sequence[Example]) -> PromptPredictions:
    """Answers that depend on nothing but the texts' digests."""
    picks = [int(digest("guess", prompt.digest, each.id), 16) % 2 for each in examples]
    scores = [[Answer((float(index == pick),), (1,)) for index in (0, 1)] for pick in picks]
    return predict(prompt, examples, scores, "mean_logprob")


def judged(claim: PlannedClaim) -> Replicate:
    prompt_set = claim.condition.prompt_set
    done = [guess(prompt, prompt_set.scored(prompt)) for prompt in prompt_set.prompts]
    sweep = Sweep(tuple(done), SweepCost("cpu", "float32", 0, 0, 0.0))
    return replicate(result_of_sweep(claim, sweep, views_of_sweep(claim, sweep), thrifty=True))


@pytest.mark.slow
def test_a_guesser_passes_in_a_share_of_replicates_of_about_alpha(tmp_path: Path) -> None:
    count, n, t = 150, 40, 5
    path = suite(tmp_path, f"replicates: {count}", examples=2000, count=t)
    replicates = planned(path)[0]
    record = replicates.record("i", "s")
    record_replicates(record, [judged(claim) for claim in replicates.claims], None)
    assert record.share_passed is not None
    # The best of t guessers reaches the critical count with this probability, which is below .05.
    best = stats.binom.cdf(range(n + 1), n, 0.5) ** t
    critical = next(c for c in range(1, n + 1) if 1 - best[c - 1] <= 0.05)
    alpha = 1 - best[critical - 1]
    error = math.sqrt(alpha * (1 - alpha) / count)
    assert record.share_passed == pytest.approx(alpha, abs=4 * error)
    assert record.contradicting == pytest.approx(record.share_passed)
    probabilities = np.diff(best, prepend=0)
    mean = probabilities @ np.arange(n + 1) / n
    variance = probabilities @ (np.arange(n + 1) / n - mean) ** 2
    assert [run.max_random_baseline for run in record.runs] == pytest.approx([mean] * count)
    mean_best = np.mean([run.best_accuracy for run in record.runs])
    assert mean_best == pytest.approx(mean, abs=4 * math.sqrt(variance / count))
