from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_maxrandom.stats as package

DOCS = Path(__file__).parents[3] / "docs" / "explanation"
PAGES = {"what-the-baseline-can-tell.md": 15, "what-a-green-run-means.md": 7}
"""With the least number of examples that each holds."""
MODULES = [
    module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_beside_code_is_what_the_code_says(page: str) -> None:
    failures, attempts = doctest.testfile(str(DOCS / page), module_relative=False)
    assert (failures, attempts > PAGES[page]) == (0, True)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


NEEDLESS = ("pydantic", "pytest", "yaml", "jinja2", "torch", "scipy", "sklearn", "pandas")
ALONE = """
import sys
sys.modules.update(dict.fromkeys({needless}))  # whoever imports one of them gets an ImportError
import {modules}
from pytest_maxrandom import MaxRandomBaseline
from pytest_maxrandom.stats.labels.null import recall_baseline
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.winner import lower_bound
print(round(MaxRandomBaseline(100, 0.5, 10).p_value(60), 6))
print(round(recall_baseline([0, 1] * 20, [2] * 40, 10).p_value(0.65), 6))
print(max_t_test([[0, 1, 0, 1]], [0, 1, 1, 1], permutations=99).best)
print(sign_flip([0.02, 0.05, 0.01, 0.03, 0.04, 0.06]).p_value())
print(round(lower_bound(45, 60, 12), 3))
"""


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_the_statistics_need_numpy_and_nothing_else() -> None:
    code = ALONE.format(needless=NEEDLESS, modules=", ".join(MODULES))
    assert python(code).split() == ["0.250661", "0.160266", "0.75", "0.03125", "0.577"]


def test_the_package_itself_loads_not_even_numpy() -> None:
    code = f"import sys, {package.__name__}, {package.__name__}.labels; print(*sys.modules)"
    assert "numpy" not in python(code).split()
