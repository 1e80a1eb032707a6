from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_maxrandom.stats as package

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {"what-the-baseline-can-tell.md": 15, "what-a-green-run-means.md": 7}
"""With the least number of examples that each holds."""
MODULES = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_beside_code_is_what_the_code_says(page: str) -> None:
    failures, attempts = doctest.testfile(str(DOCS / page), module_relative=False)
    assert (failures, attempts > PAGES[page]) == (0, True)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_statistics_load_neither_scipy_nor_anything_else_that_is_slow() -> None:
    code = f"import sys, {', '.join(MODULES)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"scipy", "pandas", "torch", "jinja2", "pydantic"} & set(done.stdout.split())
