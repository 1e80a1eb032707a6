"""How often a gate errs is what guessers do, by scipy and by drawing them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom import max_random_baseline
from pytest_maxrandom.record import ClaimRecord, RunRecord
from pytest_maxrandom.reports.guessers import odds, odds_section
from pytest_maxrandom.stats.permutation import max_t_test

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _claim(n: int, t: int, chance: float, asserted: dict[str, Any], **more: Any) -> ClaimRecord:
    record = ClaimRecord(
        id=f"t::{n}-{t}", suite="s.yaml", line=1, task=f"task {n}", model="m",
        quantization="none", shots=0, simulated=False, asserted=asserted,
    )  # fmt: skip
    return replace(record, n=n, t=t, standard_baseline=chance, **more)


def _run(*claims: ClaimRecord) -> RunRecord:
    return RunRecord(list(claims), "2026-01-01T00:00:00+00:00", {})


@pytest.mark.parametrize(
    ("n", "t", "chance", "asserted", "levels"),
    [
        (100, 1, 0.5, {"p_max": 0.05}, {}),
        (100, 200, 0.5, {"p_max": 0.05, "permutation_p": 0.05}, {"p_max": 0.05}),
        (60, 10, 0.25, {"p_max": 0.05}, {"p_max": 0.0125}),
        (40, 20, 0.2, {"p_max": 0.2, "union_p": 0.05}, {}),
    ],
)
def test_odds_are_those_of_independent_guessers(
    n: int, t: int, chance: float, asserted: dict[str, float], levels: dict[str, float]
) -> None:
    (found,) = odds(_run(_claim(n, t, chance, asserted, levels=levels)))
    guesses = stats.binom(n, chance)
    one = [float(guesses.sf(k - 1)) for k in range(n + 1)]
    level = {name: levels.get(name, value) for name, value in asserted.items()}
    needed = next(
        k
        for k in range(n + 1)
        if 1 - (1 - one[k]) ** t <= level.get("p_max", 1) and t * one[k] <= level.get("union_p", 1)
    )
    assert found.needed == needed
    assert found.by_luck == pytest.approx(1 - (1 - one[needed]) ** t, rel=1e-9)
    assert found.true_accuracy is not None
    assert stats.binom.sf(needed - 1, n, found.true_accuracy) == pytest.approx(0.8, abs=1e-6)
    drawn = np.random.default_rng(0).binomial(n, chance, (40_000, t)).max(1) >= needed
    assert drawn.mean() == pytest.approx(found.by_luck, abs=4 * np.sqrt(0.05 / 40_000))


def test_a_default_claim_errs_by_its_level_and_finds_what_its_power_promises() -> None:
    n, t, runs = 60, 10, 400
    (found,) = odds(_run(_claim(n, t, 0.5, {"permutation_p": 0.05, "beats": "max_random"})))
    assert found.by_luck == 0.05
    assert found.true_accuracy is not None
    rng, expected = np.random.default_rng(7), max_random_baseline(n, 0.5, t)
    gold = np.arange(n) % 2

    def passes(answers: NDArray[np.int64]) -> bool:
        test = max_t_test(answers, gold, permutations=999, stop_after=100)
        return test.p_value <= 0.05 and test.best > expected

    lucky, good = 0, 0
    for _ in range(runs):
        guesses = rng.integers(2, size=(t, n))
        lucky += passes(guesses)
        guesses[0] = np.where(rng.random(n) < found.true_accuracy, gold, 1 - gold)
        good += passes(guesses)
    assert lucky / runs == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / runs))
    assert good / runs >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / runs)  # the other prompts may pass, too


def test_the_section_adds_up_what_guessers_pass() -> None:
    run = _run(*(_claim(100, t, 0.5, {"p_max": 0.05}) for t in (1, 10, 200)))
    sizes = [each.by_luck for each in odds(run)]
    text = odds_section(run)
    expected = re.search(r"only guessed, \.(\d+) of these 3 claims would pass on average", text)
    assert expected
    assert float(f".{expected[1]}") == pytest.approx(sum(sizes), abs=5e-3)
    assert re.findall(r"^\| `(100-\d+)` \| 100 \| ", text, re.MULTILINE) == [
        "100-1",
        "100-10",
        "100-200",
    ]
    one = odds_section(_run(run.claims[0]))
    assert "If the model only guessed, this claim would pass with probability .044" in one


def test_what_cannot_be_told_is_left_out() -> None:
    assert odds_section(_run()) == ""
    others = [
        _claim(100, 5, 0.5, {"beats": "max_random"}),
        _claim(100, 5, 0.5, {"p_max": 0.05}, metric="macro_f1"),
        _claim(100, 5, 0.5, {}),
    ]
    assert odds_section(_run(*others)) == ""
    never = odds_section(_run(_claim(3, 50, 0.5, {"p_max": 0.05})))
    assert "| impossible | .000 | &#45; |" in never
