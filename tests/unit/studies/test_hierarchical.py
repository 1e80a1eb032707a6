"""The full hierarchical model, beside the conditional likelihood, which is integrated."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, paired
from pytest_maxrandom.studies.convergence import Diagnostics, Worst
from pytest_maxrandom.studies.hierarchical import (
    HierarchicalEffect,
    design_of,
    hierarchical_model,
    require_libraries,
)

if TYPE_CHECKING:
    from pathlib import Path

TASKS, REPLICATES, N, EFFECT = 8, 5, 60, 0.4


@pytest.fixture(scope="module")
def libraries() -> None:
    try:
        require_libraries()
    except MaxRandomError as error:
        pytest.skip(str(error))


def simulated(lm: float = 0.0) -> Pairs:
    """Return pairs of the model itself; tasks are the same for every lm."""
    tasks = np.random.default_rng(0).normal(0, 0.8, TASKS).repeat(REPLICATES)
    generator = np.random.default_rng(1 + int(10 * lm))
    level = lm + tasks + generator.normal(0, 0.3, len(tasks))
    a, b = (generator.binomial(N, 1 / (1 + np.exp(-(level + x)))) for x in (EFFECT, 0))
    names = [f"task{k // REPLICATES}" for k in range(len(tasks))]
    replicates = [k % REPLICATES for k in range(len(tasks))]
    return paired(names, replicates, a, [N] * len(a), b, [N] * len(b))


@pytest.fixture(scope="module")
def sampled(libraries: None) -> HierarchicalEffect:
    return hierarchical_model({"": simulated()})


def test_it_agrees_with_the_conditional_likelihood_within_monte_carlo_error(
    sampled: HierarchicalEffect,
) -> None:
    exact = conditional_likelihood(simulated()).posterior()
    diagnostics = sampled.diagnostics
    assert diagnostics.rhat.value is not None
    assert diagnostics.rhat.value < 1.02
    assert diagnostics.divergences <= 4
    # The effect itself mixes best of all; 400 is the least that is ever accepted.
    error = 4 / math.sqrt(400)
    # The two models differ a little: here pairs say something by being alike.
    assert abs(sampled.mean - exact.mean) < (error + 0.1) * exact.sd
    assert sampled.sd == pytest.approx(exact.sd, rel=0.1)
    for found, expected in ((sampled.low, exact.low), (sampled.high, exact.high)):
        assert abs(found - expected) < 0.4 * exact.sd
    assert abs(sampled.difference - exact.difference) < 0.3 * exact.predictive_sd
    assert sampled.predictive_sd == pytest.approx(exact.predictive_sd, rel=0.1)


def test_the_scales_are_those_of_the_simulation(sampled: HierarchicalEffect) -> None:
    assert sampled.task_sd == pytest.approx(0.8, abs=0.5)
    assert sampled.pair_sd == pytest.approx(0.3, abs=0.2)


def test_a_level_of_its_own_for_every_model_leaves_the_effect(libraries: None) -> None:
    both = {"small": simulated(), "large": simulated(1.5)}
    found = hierarchical_model(both, draws=500)
    exact = [conditional_likelihood(pairs).posterior() for pairs in both.values()]
    weights = [each.sd**-2 for each in exact]
    mean = np.average([each.mean for each in exact], weights=weights)
    sd = sum(weights) ** -0.5
    assert abs(found.mean - mean) < 0.4 * sd
    assert found.sd == pytest.approx(sd, rel=0.15)
    # Without it, the pairs would have to differ by 1.5 / 2 on average.
    assert found.pair_sd < 0.5


def test_too_few_draws_conclude_nothing_and_say_why_and_a_seed_repeats_them(
    libraries: None,
) -> None:
    one, again = (
        hierarchical_model({"": simulated()}, chains=2, draws=20, tune=20, seed=3) for _ in range(2)
    )
    assert one.diagnostics.reason is not None
    assert one.diagnostics.reason.startswith("the chains did not converge: ")
    assert "expected at least 400" in one.diagnostics.reason
    assert one == again


GOOD = Worst(1.001, "method"), Worst(900.0, "method"), Worst(800.0, "intercept")


@pytest.mark.parametrize(
    ("diagnostics", "said"),
    [
        (Diagnostics(*GOOD, 0, 1.2, 50.0), None),
        (Diagnostics(Worst(1.01, "method"), *GOOD[1:], 0, None, None), None),
        (Diagnostics(Worst(1.011, "method"), *GOOD[1:], 0, None, None), "R-hat of method is 1.011"),
        (Diagnostics(Worst(None, "method"), *GOOD[1:], 0, None, None), "method is undefined"),
        (Diagnostics(GOOD[0], Worst(399, "lm1"), GOOD[2], 0, None, None), "bulk ESS of lm1 is 399"),
        (Diagnostics(*GOOD[:2], Worst(12, "a task"), 0, None, None), "tail ESS of a task is 12"),
        (Diagnostics(*GOOD, 1, None, None), "1 trajectory diverged (expected none)"),
        (Diagnostics(*GOOD, 7, None, None), "7 trajectories diverged (expected none)"),
    ],
)
def test_any_failing_diagnostic_refuses(diagnostics: Diagnostics, said: str | None) -> None:
    if said is None:
        assert diagnostics.reason is None
    else:
        assert diagnostics.reason is not None
        assert said in diagnostics.reason


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"confidence": 89.0}, "confidence must be between"),
        ({"chains": 1}, "chains must be at least 2"),
        ({"draws": 3}, "draws must be at least 4"),
        ({"tune": 0}, "tune must be at least 1"),
    ],
)
def test_an_argument_outside_its_domain_is_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        hierarchical_model({"": simulated()}, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one model"):
        hierarchical_model({})


@pytest.mark.parametrize("package", ["bambi", "nutpie"])
def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path: Path, package: str) -> None:
    file = tmp_path / "arms.csv"
    file.write_text("task,replicate,n,a,b\nt,0,10,0.5,0.4\n", encoding="utf-8")
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from pytest_maxrandom.cli import main\n"
        f"sys.exit(main(['replication', {str(file)!r}, '--compare', 'a-b', '--full']))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith("maxrandom replication: the full hierarchical model needs ")
    assert found.stderr.endswith('`pip install "pytest-maxrandom[bayes]"`\n')


def test_without_the_option_the_libraries_are_not_loaded(tmp_path: Path) -> None:
    file = tmp_path / "arms.csv"
    file.write_text("task,replicate,n,a,b\nt,0,10,0.5,0.4\n", encoding="utf-8")
    code = (
        "import sys\n"
        "from pytest_maxrandom.cli import main\n"
        "import pytest_maxrandom.studies.hierarchical\n"
        f"main(['replication', {str(file)!r}, '--compare', 'a-b'])\n"
        "sys.exit(any(name in sys.modules for name in ('bambi', 'nutpie', 'arviz', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def equal_pairs(right: int) -> Pairs:
    tasks, replicates = ["a", "a", "a", "b", "b"], [0, 1, 2, 0, 1]
    return paired(tasks, replicates, [right] * 5, [50] * 5, [20] * 5, [50] * 5)


def test_pairs_are_counted_within_their_task_so_that_every_combination_is_measured() -> None:
    design = design_of({"one": equal_pairs(30), "other": equal_pairs(31)})
    rows = Counter(zip(design.task.tolist(), design.pair.tolist(), strict=True))
    assert len(rows) == 10
    assert set(rows.values()) == {1}
    assert len(set(design.pair.tolist())) == 6  # the most pairs of a task


def test_each_pair_has_a_row() -> None:
    design = design_of({"one": equal_pairs(30), "other": equal_pairs(31)})
    assert design.correct_a.tolist() == [30] * 5 + [31] * 5
    assert design.correct_b.tolist() == [20] * 10
    assert design.lm[:, 0].tolist() == [-0.5] * 5 + [0.5] * 5
