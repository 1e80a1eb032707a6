"""Attacks on what suites say."""

from __future__ import annotations

from tests.integration.attacks.attack import (
    HOLDS,
    OPEN_SHOTS,
    SUITE,
    UNREADABLE,
    WEAK,
    WEAKER,
    YAML,
    Attack,
    results,
    with_column,
)

SKIP_WEAK = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "weak" in item.name:
            item.add_marker(pytest.mark.MARK)
"""
ASSERTS_LESS = """
from pytest_maxrandom.claims import verdict

of = verdict.Claim.of
verdict.Claim.of = lambda *_, **__: of("report")
"""


def at_four_shots(table: str) -> str:
    """Return the rows of results at 0 shots as those at 4."""
    return "".join(f"{row}\n".replace(",0,p", ",4,p") for row in table.splitlines()[1:])


SUITES = [
    # What suites say.
    Attack(
        "a deleted task",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `weak[m-0shot]` **is gone**"),
        by_action=True,
        sed={YAML: (WEAK, "")},
    ),
    Attack(
        "a deleted test",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `test_by_hand` **is gone**"),
        files=HOLDS,
        gone=("eval_suites/test_by_hand.py",),
    ),
    Attack(
        "a level of .9999",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
        ),
        by_action=True,
        sed=WEAKER,
    ),
    Attack(
        "no claim is left",
        "red",
        (
            "The gate could not test everything: no claim was found or selected in",
            "3 claims are gone; no claim was tested.",
            "- 🗑️ `strong[m-0shot]`, `weak[m-0shot]`, `test_by_hand` **are gone**",
        ),
        gone=(YAML, "eval_suites/test_by_hand.py"),
    ),
    Attack("a suite that cannot be read", "red", UNREADABLE, files={YAML: "models: [\n"}),
    Attack(
        "only reported",
        "amber",
        (
            "1 claim was weakened; 2 of 2 claims pass on p_max only, 1 result reported",
            "- 🔓 `weak[m-0shot]` **was weakened**: asserts nothing, before: p_max: .05",
            "Best accuracies: 1 between the two baselines.",
        ),
        sed={YAML: (WEAK, "  - {name: weak, assert: report}\n")},
    ),
    Attack(
        "xfail",
        "amber",
        (
            "1 claim is excused now (xfail); 2 of 3 claims pass on p_max only, 1 fails as",
            "- ☑️ `weak[m-0shot]` **is excused now (xfail)**",
        ),
        sed={YAML: (WEAK, "  - {name: weak, xfail: known}\n")},
    ),
    Attack(
        "xfail by a conftest",
        "amber",
        (
            "1 claim is excused now (xfail); 2 of 3 claims pass on p_max only, 1 fails as",
            "- ☑️ `weak[m-0shot]` **is excused now (xfail)**",
        ),
        files={"conftest.py": SKIP_WEAK.replace("MARK", "xfail")},
    ),
    Attack(
        "skips of a conftest",
        "amber",
        ("1 claim is skipped now", "`weak[m-0shot]` **is skipped now**"),
        files={"conftest.py": SKIP_WEAK.replace("MARK", "skip")},
    ),
    Attack(
        "if_missing",
        "amber",
        (
            "1 claim is skipped now; 2 of 3 claims pass on p_max only, 1 was skipped",
            "- ⏭️ `weak[m-0shot]` **is skipped now**",
        ),
        sed={YAML: ("name: m, ", "name: m, if_missing: elsewhere, ")},
        files={
            "results.csv": "\n".join(
                line for line in results().splitlines() if ",weak," not in line
            )
            + "\n"
        },
    ),
    Attack(
        "red flags are ignored",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: a red flag does",
        ),
        files=HOLDS,
        sed={YAML: ("p_max: 0.05", "p_max: 0.05, red_flags: ignore")},
    ),
    Attack(
        "the results of another task",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `weak[m-0shot]` **was weakened**: the results of another task or model",
        ),
        sed={YAML: (WEAK, "  - {name: weak, in_results: strong}\n")},
    ),
    Attack(
        "another column of the results",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: the results are read",
        ),
        base={"results.csv": with_column(results(), "any", "1")},
        sed={YAML: ("format: table", "format: table, columns: {correct: any}")},
    ),
    Attack(
        "a smaller t is stated",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `weak[m-0shot]` **was weakened**: the stated t is smaller",
        ),
        base={YAML: SUITE.replace("{name: weak}", "{name: weak, t: 500}")},
        files=HOLDS,
        sed={YAML: ("t: 500", "t: 3")},
    ),
    Attack(
        "a conftest asserts less than the suite",
        "amber",
        (
            "2 claims were weakened; 1 of 1 claim passes on p_max only, 2 results reported",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: the run asserted",
            "Best accuracies: 1 above the maximum random baseline and 1 between the two",
        ),
        files={"conftest.py": ASSERTS_LESS},
    ),
    Attack(
        "a claim of another name",
        "amber",
        (
            "1 claim is gone; 2 of 2 claims pass on p_max only, 1 result reported",
            "- 🗑️ `weak[m-0shot]` **is gone**",
            "Best accuracies: 1 above the maximum random baseline.",
        ),
        files=HOLDS,
        sed={YAML: (WEAK, "  - {name: feeble, in_results: weak, assert: report}\n")},
    ),
    Attack(
        "the results of more shots are gone",
        "amber",
        (
            "2 claims are gone; 3 of 3 claims pass on p_max only",
            "- 🗑️ `strong[m-4shot]`, `weak[m-4shot]` **are gone**",
        ),
        base={YAML: OPEN_SHOTS, "results.csv": results(weak=48) + at_four_shots(results())},
        files=HOLDS,
    ),
    Attack(
        "a suite that nobody can read, which pytest ignores",
        "amber",
        (
            "2 claims are gone; 1 of 1 claim passes on p_max only",
            "- 🗑️ `strong[m-0shot]`, `weak[m-0shot]` **are gone**",
        ),
        files={YAML: "models: [\n", "pytest.ini": f"[pytest]\naddopts = --ignore={YAML}\n"},
    ),
]
