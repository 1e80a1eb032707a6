"""Sweeps with several samples of each answer."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.stats.samples import Aggregate
from pytest_maxrandom.suite.loader import Suite, load_any_suite
from pytest_maxrandom.sweeps.predictions import PromptPredictions
from pytest_maxrandom.sweeps.several import made_one

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim

SUITE = """models: [{{name: m, backend: mock, knows: 0.3}}]
tasks: [{{name: q, path: q.csv, format: csv, columns: {{input: question, choices: choices,
  answer: answer}}, validation: {{max_examples: {n}}}}}]
prompts: {{shots: [2], count: 4}}
scoring: generate
generation: {{{generation}}}
{rest}"""


def claims(folder: Path, generation: str, rest: str = "", n: int = 30) -> list[PlannedClaim]:
    draws = random.Random(0)
    rows = ["question,choices,answer"]
    rows += [
        f'what is the colour of thing {i}?,"[""red"", ""green"", ""blue""]",'
        f"{draws.choice(['red', 'green', 'blue'])}"
        for i in range(60)
    ]
    (folder / "q.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "s.maxrandom.yaml"
    path.write_text(SUITE.format(generation=generation, rest=rest, n=n), encoding="utf-8")
    suite = load_any_suite(path)
    assert isinstance(suite, Suite)
    return plan(suite)


def test_each_sample_is_a_job_that_is_stored_by_itself(tmp_path: Path) -> None:
    [few] = claims(tmp_path, "samples: 2, temperature: 0.7")
    [more] = claims(tmp_path, "samples: 5, temperature: 0.7, aggregate: pass")
    [one] = claims(tmp_path, "temperature: 0.7")
    stored = [
        {(job.prompt.digest, job.stored_as) for job in each.jobs} for each in (one, few, more)
    ]
    assert [len(each) for each in stored] == [4, 8, 20]
    assert stored[0] < stored[1] < stored[2]
    assert [job.place for job in more.jobs[:6]] == [0, 0, 0, 0, 0, 1]


def test_each_sample_has_a_seed_of_its_own() -> None:
    asked = [
        Question("a", ("b",), generation=Generation(5, temperature=1.0, seed=seed, sample=sample))
        for seed in range(3)
        for sample in range(3)
    ]
    assert len({each.seed for each in asked}) == 9
    assert asked[0].seed == Question("a", ("b",)).seed


def predictions(claim: PlannedClaim, chosen: list[int | None]) -> PromptPredictions:
    prompt, examples = claim.condition.prompt_set.pairs[0]
    n = len(chosen)
    return PromptPredictions(
        prompt=prompt,
        examples=tuple(examples[:n]),
        log_likelihoods=((),) * n,
        tokens=((),) * n,
        chosen=tuple(chosen),
        ties=0,
        margins=(0.0,) * n,
        texts=tuple(map(str, chosen)),
        finishes=tuple("stop" for _ in range(n)),
    )


def test_samples_of_a_prompt_are_made_one(tmp_path: Path) -> None:
    [claim] = claims(tmp_path, "samples: 3, temperature: 0.7")
    said: list[list[int | None]] = [[0, 1, None, 2], [0, 1, None, None], [1, 1, 2, None]]
    samples = [predictions(claim, each) for each in said]
    vote = made_one(samples, Aggregate("vote", 3))
    assert vote.chosen == (0, 1, 2, 2)  # what nobody can read has no vote
    assert vote.texts == ("0", "1", "2", "2")
    right = np.array([[c in e.right for c, e in zip(each, samples[0].examples, strict=True)]
                      for each in said])  # fmt: skip
    for how, expected in (
        ("mean", right.mean(axis=0)),
        ("pass", right.any(axis=0)),
        ("all", right.all(axis=0)),
    ):
        made = made_one(samples, Aggregate(how, 3))  # type: ignore[arg-type]
        assert made.scores == pytest.approx(expected.astype(float))
        assert made.known_correct == (None if how == "mean" else expected.sum())
    assert made_one(samples[:2], Aggregate("vote", 3)).known_correct is None


@pytest.mark.parametrize(
    ("generation", "rest", "message"),
    [
        ("samples: 3", "", "at temperature 0 all are the same answer"),
        ("temperature: 1, aggregate: pass", "", "each answer is one sample"),
        ("temperature: 1, samples: 3, aggregate: {pass: 4}", "", "pass@4 needs at least 4 samples"),
        ("temperature: 1, samples: 0", "", "generation.samples"),
        ("temperature: 1, samples: 3", "label_bias: {}", "`label_bias` asks for one answer"),
        ("temperature: 1, samples: 3", "metric: balanced_accuracy", "use `aggregate: vote`"),
        ("temperature: 1, samples: 3", "replicates: 3", "`replicates` compares answers that are"),
        (
            "temperature: 1, samples: 3",
            "assert: {p_max: 0.05, looks: spend}",
            "`looks: spend` needs",
        ),
    ],
)
def test_what_samples_cannot_be_is_said_at_collection(
    tmp_path: Path, generation: str, rest: str, message: str
) -> None:
    with pytest.raises(SuiteError, match=message):
        claims(tmp_path, generation, rest)


def test_prompts_that_leave_out_their_demonstrations_take_a_vote(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="prompts leave out their own demonstrations"):
        claims(tmp_path, "temperature: 1, samples: 3", n=60)
    [claim] = claims(tmp_path, "temperature: 1, samples: 3, aggregate: vote", n=60)
    assert claim.aggregate == Aggregate("vote", 3)
