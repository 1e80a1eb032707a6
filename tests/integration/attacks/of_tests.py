"""Attacks on hand-written claims."""

from __future__ import annotations

from tests.integration.attacks.attack import BY_HAND, HOLDS, TEST, Attack

COMPUTED = BY_HAND.replace("\ndef", "import levels\n\ndef").replace("0.05", "levels.MOST")
READ = BY_HAND.replace("0.05", "float(Path(__file__).with_name('level.txt').read_text())").replace(
    "\ndef", "from pathlib import Path\n\ndef"
)
FIXTURE = """
import pytest

@pytest.fixture
def claims(maxrandom):
    return lambda best: maxrandom.check(best_correct=best, n=100, t=10, chance=0.5, p_max=0.05)
"""
OWN_FIXTURE = """
def test_by_hand(claims):
    claims(70)
"""
INHERITED = """
class Claims:
    def test_by_hand(self, maxrandom):
        maxrandom.check(best_correct=70, n=100, t=10, chance=0.5, p_max=0.05)

class TestOwn(Claims):
    pass
"""
CAUGHT = """
def test_by_hand(maxrandom):
    try:
        maxrandom.check(best_correct=50, n=100, t=10, chance=0.5, p_max=0.05)
    except BaseException:
        pass
"""
SEVERAL = """
import pytest

@pytest.mark.parametrize("best", [70, 51])
def test_by_hand(maxrandom, best):
    maxrandom.check(best_correct=best, n=100, t=10, chance=0.5, p_max=0.05)
"""
ONE_TRY = """
import pytest

@pytest.fixture
def maxrandom(maxrandom):
    check = maxrandom.check
    maxrandom.check = lambda **told: check(**{**told, "t": 1})
    return maxrandom
"""
SCORES = """
def test_by_hand(maxrandom):
    scores = [[1.0] * 80 + [0.5] * 20, [0.9] * 100]
    maxrandom.check(scores=scores, beats=0.62, control=[0.2] * 99 + [0.3])
"""
COMPUTED_ANEW = (
    "1 claim cannot be compared; 3 of 3 claims pass",
    "**cannot be compared**: what it asserts is computed, and the",
)
LESS_OF_SCORES = "1 claim was weakened; 1 of 3 claims passes, 2 pass on p_max only"
BY_HAND_TESTS = [
    Attack(
        "a level of .5",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass",
            "`test_by_hand` **was weakened**: asserts p_max: .5, before: p_max: .05",
        ),
        by_action=True,
        files=HOLDS,
        sed={TEST: ("0.05", "0.5")},
    ),
    Attack(
        "another bound",
        "amber",
        (
            "1 claim was weakened; 2 of 3 claims pass on p_max only, 1 passes",
            "- 🔓 `test_by_hand` **was weakened**: asserts beats: standard, before: p_max:",
        ),
        files=HOLDS,
        sed={TEST: ("p_max=0.05", "beats='standard'")},
    ),
    Attack(
        "a smaller t",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `test_by_hand` **was weakened**: the stated t is smaller",
        ),
        files=HOLDS,
        sed={TEST: ("t=10", "t=1")},
    ),
    Attack(
        "another chance",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `test_by_hand` **was weakened**: another chance is stated",
        ),
        files=HOLDS,
        sed={TEST: ("chance=0.5", "chance=0.1")},
    ),
    Attack(
        "a level that another module has",
        "amber",
        COMPUTED_ANEW,
        base={TEST: COMPUTED, "eval_suites/levels.py": "MOST = 0.05\n"},
        files={**HOLDS, "eval_suites/levels.py": "MOST = 0.5\n"},
    ),
    Attack(
        "a level that a file has",
        "amber",
        COMPUTED_ANEW,
        base={TEST: READ, "eval_suites/level.txt": "0.05"},
        files={**HOLDS, "eval_suites/level.txt": "0.5"},
    ),
    Attack(
        "a level through a fixture of a conftest",
        "amber",
        COMPUTED_ANEW,
        base={TEST: OWN_FIXTURE, "eval_suites/conftest.py": FIXTURE},
        files={**HOLDS, "eval_suites/conftest.py": FIXTURE.replace("0.05", "0.5")},
    ),
    Attack(
        "a test through a fixture of a conftest is gone",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `test_by_hand` **is gone**"),
        base={TEST: OWN_FIXTURE, "eval_suites/conftest.py": FIXTURE},
        files=HOLDS,
        gone=(TEST,),
    ),
    Attack(
        "a level of a class that is inherited from",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass",
            "**was weakened**: asserts p_max: .5, before: p_max: .05",
        ),
        base={TEST: INHERITED},
        files=HOLDS,
        sed={TEST: ("0.05", "0.5")},
    ),
    Attack(
        "the check is never reached",
        "red",
        (
            "The gate failed: test_by_hand is deselected",
            "1 claim is deselected; 2 of 2 claims pass on p_max only.",
            "- 🙈 `test_by_hand` **is deselected**",
        ),
        files=HOLDS,
        sed={TEST: ("    maxrandom", "    if 0: maxrandom")},
    ),
    Attack(
        "the test is no test any more",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `test_by_hand` **is gone**"),
        files=HOLDS,
        sed={TEST: ("def test_", "def check_")},
    ),
    Attack(
        "a skip in the test",
        "amber",
        (
            "1 claim is skipped now; 2 of 2 claims pass on p_max only",
            "- ⏭️ `test_by_hand` **is skipped now**",
        ),
        files=HOLDS,
        sed={TEST: ("    maxrandom", "    import pytest; pytest.skip(); maxrandom")},
    ),
    Attack(
        "a failure that is caught",
        "red",
        ("1 of 3 claims fails", "- ❌ `test_by_hand`"),
        base={TEST: BY_HAND.replace("70", "50")},
        files={**HOLDS, TEST: CAUGHT},
    ),
    Attack(
        "another code for the same level",
        "green",
        ("3 of 3 claims pass on p_max only",),
        files=HOLDS,
        sed={TEST: ("0.05", "1 / 20")},
    ),
    Attack(
        "a parameter that fails is gone",
        "amber",
        COMPUTED_ANEW,
        base={TEST: SEVERAL},
        files=HOLDS,
        sed={TEST: ("[70, 51]", "[70]")},
    ),
    Attack(
        "a conftest states a smaller t",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `test_by_hand` **was weakened**: the run asserted less than the suite",
        ),
        files={**HOLDS, "conftest.py": ONE_TRY},
    ),
    Attack(
        "scores beat less",
        "amber",
        (
            LESS_OF_SCORES,
            "`test_by_hand` **was weakened**: asserts beats: .1 and baseline_p: .05, before",
        ),
        base={TEST: SCORES},
        files=HOLDS,
        sed={TEST: ("0.62", "0.1")},
    ),
    Attack(
        "scores beat it at another level",
        "amber",
        (
            LESS_OF_SCORES,
            "`test_by_hand` **was weakened**: asserts beats: .62 and baseline_p: .4, before",
        ),
        base={TEST: SCORES},
        files=HOLDS,
        sed={TEST: ("beats=0.62", "beats=0.62, baseline_p=0.4")},
    ),
    Attack(
        "a control is gone",
        "amber",
        (
            LESS_OF_SCORES,
            "- 🔓 `test_by_hand` **was weakened**: it is compared with no control, another",
        ),
        base={TEST: SCORES},
        files=HOLDS,
        sed={TEST: (", control=[0.2] * 99 + [0.3]", "")},
    ),
    Attack(
        "a module that nobody can read, which pytest ignores",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `test_by_hand` **is gone**"),
        files={
            **HOLDS,
            TEST: "def (\n",
            "pytest.ini": f"[pytest]\naddopts = --ignore={TEST}\n",
        },
    ),
    Attack(
        "a module that Python cannot parse",
        "red",
        ("interrupted; 2 of 2 claims were not run", "**⚠️ The run was interrupted: 2 tests have"),
        files={**HOLDS, TEST: f"x = {'not ' * 100_000}1\n"},
    ),
]
