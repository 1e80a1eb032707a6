"""Attacks on what pytest selects, skips and excuses."""

from __future__ import annotations

from tests.integration.attacks.attack import HOLDS, SUITE, TEST, WEAK, WEAK_DESELECTED, YAML, Attack

BY_PARAMETER = """
import pytest

@pytest.mark.parametrize("best", [70, 30])
def test_by_hand(maxrandom, best):
    maxrandom.check(best_correct=best, n=100, t=10, chance=0.5, p_max=0.05)
"""
LEFT_OUT = """
from pathlib import Path
import pytest

names = (Path(__file__).parent / "left_out.txt").read_text().split()

def pytest_collection_modifyitems(items):
    for item in [item for item in items if item.name in names]:
        DO
"""
"""A conftest of the base that reads which tests to leave out."""
DROPS, SKIPS, EXCUSES = (
    {"conftest.py": LEFT_OUT.replace("DO", do), "left_out.txt": ""}
    for do in (
        "items.remove(item)",
        "item.add_marker(pytest.mark.skip)",
        "item.add_marker(pytest.mark.xfail)",
    )
)
SELECTION = [
    # What is selected.
    Attack(
        "-k in pytest.ini",
        "red",
        WEAK_DESELECTED,
        by_action=True,
        files={"pytest.ini": "[pytest]\naddopts = -k 'not weak'\n"},
    ),
    Attack(
        "-m in tox.ini",
        "red",
        WEAK_DESELECTED,
        files={"tox.ini": "[pytest]\naddopts = -m 'not slow'\nmarkers =\n    slow: slow\n"},
        gone=("pytest.ini",),
        sed={YAML: (WEAK, "  - {name: weak, marks: [slow]}\n")},
    ),
    Attack(
        "--deselect in pyproject.toml",
        "red",
        WEAK_DESELECTED,
        files={
            "pyproject.toml": "[tool.pytest.ini_options]\n"
            "addopts = '--deselect eval_suites/claims.yaml::weak[m-0shot]'\n"
        },
        gone=("pytest.ini",),
    ),
    Attack(
        "a conftest drops items",
        "red",
        WEAK_DESELECTED,
        files={
            "conftest.py": "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'weak' not in item.name]\n"
        },
    ),
    Attack(
        "collect_ignore",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] are deselected",
            "2 claims are deselected; 1 of 1 claim passes on p_max only.",
            "- 🙈 `strong[m-0shot]`, `weak[m-0shot]` **are deselected**",
        ),
        files={"eval_suites/conftest.py": "collect_ignore = ['claims.yaml']\n"},
    ),
    Attack(
        "a module that an old conftest imports drops items",
        "red",
        WEAK_DESELECTED,
        base={"conftest.py": "from helper import *\n", "helper.py": ""},
        files={
            "helper.py": "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'weak' not in item.name]\n"
        },
    ),
    Attack(
        "as the base selects",
        "green",
        ("2 of 2 claims pass on p_max only",),
        base={"pytest.ini": "[pytest]\naddopts = -k 'not weak'\n"},
        files={"notes.md": "nothing\n"},
    ),
    Attack(
        "a file that the base's conftest reads drops an item",
        "red",
        WEAK_DESELECTED,
        by_action=True,
        base=DROPS,
        files={"left_out.txt": "weak[m-0shot]"},
    ),
    Attack(
        "a file that the base's conftest reads skips an item",
        "amber",
        (
            "1 claim is skipped now; 2 of 3 claims pass on p_max only, 1 was skipped",
            "- ⏭️ `weak[m-0shot]` **is skipped now**",
        ),
        base=SKIPS,
        files={"left_out.txt": "weak[m-0shot]"},
    ),
    Attack(
        "a file that the base's conftest reads excuses an item",
        "amber",
        (
            "1 claim is excused now (xfail); 2 of 3 claims pass on p_max only, 1 fails as",
            "- ☑️ `weak[m-0shot]` **is excused now (xfail)**",
        ),
        base=EXCUSES,
        files={"left_out.txt": "weak[m-0shot]"},
    ),
    Attack(
        "as a file of the base selects",
        "green",
        ("2 of 2 claims pass on p_max only",),
        base={**DROPS, "left_out.txt": "weak[m-0shot]"},
        files={"notes.md": "nothing\n", "helper.py": "nothing = 0\n"},
    ),
    Attack(
        "as a file of the base excuses",
        "green",
        ("2 of 3 claims pass on p_max only, 1 fails as expected",),
        base={**EXCUSES, "left_out.txt": "weak[m-0shot]"},
        files={"notes.md": "nothing\n"},
    ),
    Attack(
        "a file whose being there skips",
        "amber",
        (
            "1 claim is skipped now; 2 of 3 claims pass on p_max only, 1 was skipped",
            "- ⏭️ `weak[m-0shot]` **is skipped now**",
        ),
        base={
            "conftest.py": "import pytest\nfrom pathlib import Path\n\n"
            "def pytest_runtest_setup(item):\n"
            "    if 'weak' in item.name and Path('no-weak').exists():\n"
            "        pytest.skip('no')\n"
        },
        files={"no-weak": ""},
    ),
    Attack(
        "a file that only git show reads",
        "red",
        WEAK_DESELECTED,
        base={
            "conftest.py": "import subprocess\n\n"
            "def pytest_collection_modifyitems(items):\n"
            "    out = subprocess.run(['cat', 'out.cfg'], capture_output=True, text=True).stdout\n"
            "    items[:] = [item for item in items if item.name not in out]\n",
            "out.cfg": "none",
        },
        files={"out.cfg": "weak[m-0shot]"},
    ),
    Attack(
        "a variable of tox.ini that the base's conftest reads",
        "red",
        WEAK_DESELECTED,
        base={
            "conftest.py": "def pytest_addoption(parser):\n"
            "    parser.addini('left_out', 'names', type='args', default=[])\n\n"
            "def pytest_collection_modifyitems(config, items):\n"
            "    out = config.getini('left_out')\n"
            "    items[:] = [item for item in items if item.name not in out]\n"
        },
        files={"pytest.ini": "[pytest]\nleft_out = weak[m-0shot]\n"},
    ),
    Attack(
        "python_files leaves the tests out",
        "red",
        (
            "The gate failed: test_by_hand is deselected",
            "1 claim is deselected; 2 of 2 claims pass",
            "`test_by_hand` **is deselected**",
        ),
        files={**HOLDS, "pytest.ini": "[pytest]\npython_files = check_*.py\n"},
    ),
    Attack(
        "one parameter of a test is deselected",
        "red",
        (
            "The gate failed: test_by_hand[30] is deselected",
            "1 claim is deselected; 3 of 3 claims pass",
            "`test_by_hand[30]` **is deselected**",
        ),
        base={TEST: BY_PARAMETER},
        files={
            **HOLDS,
            "pytest.ini": "[pytest]\naddopts = --deselect "
            "eval_suites/test_by_hand.py::test_by_hand[30]\n",
        },
    ),
    Attack(
        "results go where the base may lack them",
        "amber",
        (
            "2 claims are skipped now; 1 of 3 claims passes",
            "`strong[m-0shot]`, `weak[m-0shot]` **are skipped now**",
        ),
        base={YAML: SUITE.replace("name: m, ", "name: m, if_missing: elsewhere, ")},
        gone=("results.csv",),
    ),
]
