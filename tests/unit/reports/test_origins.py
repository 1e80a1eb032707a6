"""How n, t and the answers of a claim came about, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.record import ClaimRecord, Recorded, Tries
from pytest_maxrandom.reports import computing, origins
from tests.unit.reports.samples import claim, recorded, scored, untested


def with_prompts(**changed: Any) -> ClaimRecord:
    record = claim()
    assert record.prompts is not None
    return replace(record, prompts=replace(record.prompts, **changed))


def with_validation(**changed: Any) -> ClaimRecord:
    record = claim()
    assert record.validation is not None
    return replace(record, validation=replace(record.validation, **changed))


@pytest.mark.parametrize(
    ("changed", "phrase"),
    [
        ({"duplicates": 0}, "60 of the task's 100 examples, drawn with seed 0"),
        ({"duplicates": 0, "available": 60}, "60 of the task's 60 examples"),
        (
            {"examples": 64, "available": 64, "duplicates": 2},
            "64 of the task's 64 examples; each prompt is scored without its own 4; "
            "2 of the task's examples repeat others exactly",
        ),
    ],
)
def test_n_is_accounted_for(changed: dict[str, int], phrase: str) -> None:
    assert origins.counted_n(with_validation(**changed)) == phrase


@pytest.mark.parametrize(
    ("changed", "phrase"),
    [
        (
            {"asked": 200, "possible": 20},
            "200 asked for, 20 possible; "
            "4 demonstrations each, from the 40 examples outside the validation set, seed 0",
        ),
        (
            {"regime": "leave_out", "formats": 3},
            "20 asked for, 91,390 possible; 4 demonstrations each, from the 40 examples of the "
            "validation set, 3 formats, sampled jointly, seed 0",
        ),
        (
            {"regime": "pool"},
            "20 asked for, 91,390 possible; 4 demonstrations each, from the 40 examples of the "
            "task's own pool, seed 0",
        ),
        (
            {"regime": "pool", "source": "train.jsonl"},
            "20 asked for, 91,390 possible; 4 demonstrations each, from the 40 examples of the "
            "task's own pool (train.jsonl), seed 0",
        ),
        (
            {"regime": "none", "instructions": 5, "formats": 4, "combine": "cross", "seed": 7},
            "20 asked for, 91,390 possible; no demonstrations, 5 instructions, 4 formats, "
            "every draw in all of them, seed 7",
        ),
    ],
)
def test_t_is_accounted_for(changed: dict[str, Any], phrase: str) -> None:
    assert origins.counted_t(with_prompts(**changed)) == phrase


def test_chances_are_listed_where_they_differ() -> None:
    assert origins.chance(claim()) == "1/2 on every example"
    mixed = with_validation(chances={"1/5": 20, "1/2": 30, "1/10": 10})
    mixed = replace(mixed, standard_baseline=(20 / 5 + 30 / 2 + 10 / 10) / 60)
    assert origins.chance(mixed) == "1/2 on 30, 1/5 on 20, 1/10 on 10 (mean .333)"


def test_the_spread_counts_prompts_above_the_maximum_random_baseline() -> None:
    record = claim(best=41, t=5, max_random_baseline=0.5, correct_counts=[41, 20, 30, 31, 25])
    assert origins.spread(record) == (
        "lowest 20, quartiles 25, 30 and 31, highest 41 correct; "
        "2 above the maximum random baseline"
    )


@pytest.mark.parametrize(
    ("counts", "phrase"),
    [
        ([28], "28 correct; 0 above the maximum random baseline"),
        ([41, 20, 30], "41, 20 and 30 correct; 1 above the maximum random baseline"),
    ],
)
def test_few_prompts_are_listed_in_the_order_of_the_sweep(counts: list[int], phrase: str) -> None:
    record = claim(t=len(counts), max_random_baseline=0.5, correct_counts=counts)
    assert origins.spread(record) == phrase


def test_counts_are_not_compared_with_a_baseline_of_another_metric() -> None:
    assert origins.spread(scored()) == "lowest 28, quartiles 29, 30 and 38, highest 40 correct"


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30))
def test_the_five_numbers_are_quantiles_by_nearest_rank(counts: list[int]) -> None:
    found = origins.five_numbers(sorted(counts))
    expected = np.quantile(counts, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    assert found == expected.tolist()


def test_ties_are_told_only_where_there_are_some() -> None:
    assert origins.ties(claim()) == (
        "3 of 1,200 answers were decided by lot between equal scores, 1 of them in the best prompt"
    )
    assert origins.ties(claim(ties=0)) == ""


def test_claims_sampled_alike_are_told_once() -> None:
    one, two, other = claim(task="a"), claim(task="b"), with_prompts(seed=1)
    groups = origins.sampling([one, two, other, untested()])
    assert [claims for _, claims in groups] == [[one, two], [other]]


def test_cost_and_scoring_are_told() -> None:
    assert (
        computing.cost(claim())
        == "2,400 choices scored with 151,200 tokens in 23.5 s (cpu, bfloat16); 6,446 tokens per "
        "second"
    )
    assert origins.answered(claim()) == "the highest log-likelihood per token"
    assert origins.answered(claim(scoring="")) == ""


def test_tokens_that_a_server_had_cached_are_told_apart() -> None:
    engine = claim().engine
    assert engine is not None
    told = [
        computing.cost(claim(engine=replace(engine, trie_nodes=75_600, tokens_cached=cached)))
        for cached in (0, 1_000_000, None)
    ]
    assert told[0].startswith("2,400 choices scored with 151,200 tokens in 23.5 s (cpu, bfloat16);")
    assert "cached" not in told[0]
    assert "; 1,000,000 more were cached by the server; 2.00 times the 75,600 nodes" in told[1]
    assert "choices scored with at most 151,200 tokens in 23.5 s" in told[2]
    assert (
        "; the server does not tell which it had cached; at most 2.00 times the 75,600 nodes"
        in told[2]
    )


def test_what_was_not_recorded_has_no_phrase() -> None:
    silent = (
        origins.counted_n,
        origins.counted_t,
        origins.sampled,
        origins.chance,
        origins.spread,
        origins.ties,
        computing.cost,
    )
    assert {phrase(untested()) for phrase in silent} == {""}


def test_a_mix_of_chances_of_recorded_results_is_listed() -> None:
    mixed = Recorded("r.csv", "table", [], {"1/2": 20, "1/4": 40})
    assert origins.chance(recorded(recorded=mixed, standard_baseline=1 / 3)).startswith(
        "1/2 on 20, 1/4 on 40 (mean .333); "
    )


def test_all_results_of_a_model_in_a_suite_are_named_by_both() -> None:
    first = [recorded(task=task, id=f"d/a.yaml::{task}") for task in "xyz"]
    second = [recorded(task=task, id=f"d/b.yaml::{task}") for task in "xyz"]
    assert origins.all_of_models(first, [*first, *second]) == [("demo", "a.yaml")]
    assert origins.all_of_models(first[:2], [*first, *second]) == []
    assert origins.all_of_models(first, [*first, claim()]) == [("demo", "")]


def test_a_paper_names_the_file_of_the_results_without_its_folder() -> None:
    file = Recorded("${DATA:-../data}/r.npz", "npz", ["n", "t", "chance"])
    assert origins.recorded(recorded(recorded=file)).startswith("the results were read from r.npz")


@pytest.mark.parametrize(
    ("counted", "why"),
    [
        ("budget", "the budget that the suite declares"),
        ("claim", "all prompts ever evaluated for this claim"),
        ("doubling", "the end of its doubling"),
    ],
)
def test_a_t_that_is_no_number_of_prompts_of_this_run_says_what_it_is(
    counted: Any, why: str
) -> None:
    tries = Tries(run=6, claim=6, task=6, counted=counted, look=1, level=0.025, holds=True)
    record = replace(claim(t=20), correct_counts=[45, 40, 31, 30, 30, 29], tries=tries)
    assert origins.beyond_run(record) == f"t = 20: {why}"
    [(how, _)] = origins.sampling([record])
    assert how.startswith(f"t = 20: {why}; this run tried 6 of 91,390 possible prompts (")
    assert origins.beyond_run(claim(t=20)) == ""


def test_the_spending_of_looks_is_no_second_test() -> None:
    def told(**changed: Any) -> str:
        tries = Tries(run=20, claim=20, task=20, counted="claim", look=1, level=0.025, holds=True)
        return origins.looks(replace(claim(holds=True), tries=replace(tries, **changed)))

    assert told() == told(holds=False) == "the first look at this claim"
    assert told(look=3) == "look 3 at this claim"
    assert told(look=3, holds=False, level=0.0042) == (
        "look 3 at this claim; its p-values do not count earlier looks, and with `looks: spend`, "
        "which makes any number of looks valid, the claim would fail (at the level .0042)"
    )
