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
        (
            "1 claim cannot be compared; 3 of 3 claims pass",
            "`test_by_hand` **cannot be compared**: what it asserts is computed, and the",
        ),
        base={TEST: COMPUTED, "eval_suites/levels.py": "MOST = 0.05\n"},
        files={**HOLDS, "eval_suites/levels.py": "MOST = 0.5\n"},
    ),
    Attack(
        "a level that a file has",
        "amber",
        (
            "1 claim cannot be compared; 3 of 3 claims pass on p_max only",
            "- ❔ `test_by_hand` **cannot be compared**: what it asserts is computed, and",
        ),
        base={TEST: READ, "eval_suites/level.txt": "0.05"},
        files={**HOLDS, "eval_suites/level.txt": "0.5"},
    ),
    Attack(
        "a level through a fixture of a conftest",
        "amber",
        (
            "1 claim cannot be compared; 3 of 3 claims pass on p_max only",
            "- ❔ `test_by_hand` **cannot be compared**: what it asserts is computed, and",
        ),
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
]
