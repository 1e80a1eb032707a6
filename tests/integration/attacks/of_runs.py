"""Attacks on the session of pytest, and on how the gate is called."""

from __future__ import annotations

from tests.integration.attacks.attack import (
    HOLDS,
    SUITE,
    UNREADABLE,
    WEAK,
    WEAK_FAILS,
    WEAKER,
    YAML,
    Attack,
)

REPORTED_AS_PASSED = """
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    found = yield
    report = found.get_result()
    report.outcome, report.longrepr = "passed", None
"""
NOTHING_FAILS = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    session.exitstatus = 0
"""
ENDS = """
import os
import pytest

def pytest_runtest_setup(item):
    if "weak" in item.name:
        END
"""
RELAXES = """
import pytest

@pytest.fixture
def maxrandom(maxrandom):
    check = maxrandom.check
    maxrandom.check = lambda **told: check(**{**told, "p_max": 0.9})
    return maxrandom
"""
HIDDEN = {".ci/eval_suites/claims.yaml": SUITE.replace("../", "../../")}
RUNS = [
    Attack(
        "a weaker suite in a hidden folder that the gate is called with",
        "amber",
        (
            "2 claims were weakened; 5 of 5 claims pass",
            "`strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max: .9999,",
        ),
        base=HIDDEN,
        files=HOLDS,
        sed={".ci/eval_suites/claims.yaml": ("p_max: 0.05", "p_max: 0.9999")},
        arguments=("--base-ref=base", "--suites=.ci/eval_suites"),
    ),
    Attack("an honest gate", "red", WEAK_FAILS, by_action=True),
    Attack("an honest repair", "green", ("3 of 3 claims pass on p_max only",), files=HOLDS),
    # The session's status, and its end.
    Attack("exit status", "red", WEAK_FAILS, by_action=True, files={"conftest.py": NOTHING_FAILS}),
    Attack("outcomes", "red", WEAK_FAILS, files={"conftest.py": REPORTED_AS_PASSED}),
    Attack(
        "pytest.exit",
        "red",
        (
            "ended early; 1 of 2 claims was not run, 1 passes on p_max only",
            "**⚠️ The run ended early: 1 test has no result.**",
        ),
        files={"conftest.py": ENDS.replace("END", "pytest.exit('done', returncode=0)")},
    ),
    Attack(
        "KeyboardInterrupt",
        "red",
        (
            "interrupted; 1 of 2 claims was not run, 1 passes on p_max only",
            "**⚠️ The run was interrupted: 1 test has no result.**",
        ),
        files={"conftest.py": ENDS.replace("END", "raise KeyboardInterrupt")},
    ),
    Attack(
        "os._exit",
        "red",
        ("The gate could not test everything: pytest ended without a report, as with",),
        files={"conftest.py": ENDS.replace("END", "os._exit(0)")},
    ),
    Attack(
        "the first failure ends it",
        "red",
        (
            "ended early; 1 of 2 claims fails, 1 was not run",
            "**⚠️ The run ended early: 1 test has no result.**",
            "- ❌ `weak` 0-shot: **best .517, needs .650** (p_max = .832; t = 3, n = 60)",
        ),
        files={"pytest.ini": "[pytest]\naddopts = --maxfail=1\n"},
        sed={YAML: ("  - {name: strong}\n  - {name: weak}\n", f"{WEAK}  - {{name: strong}}\n")},
    ),
    Attack(
        "no plugin",
        "red",
        ("The gate could not test everything: pytest got wrong arguments, or lost the",),
        files={"pytest.ini": "[pytest]\naddopts = -p no:maxrandom\n"},
    ),
    Attack(
        "nothing is tested",
        "red",
        ("The gate could not test everything: pytest ended without a report, as with",),
        files={"pytest.ini": "[pytest]\naddopts = --maxrandom-dry-run\n"},
    ),
    # The way in which the gate is called, and what it may read.
    Attack(
        "weakened is made fatal",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] were weakened",
            "2 claims were weakened; 3 of 3 claims pass on p_max only.",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
        ),
        sed=WEAKER,
        arguments=("--base-ref=base", "--fail-on=gone,weakened"),
    ),
    Attack(
        "the workflow selects",
        "green",
        ("2 of 2 claims pass on p_max only",),
        arguments=("--base-ref=base", "--pytest-args=-k 'not weak'"),
    ),
    Attack(
        "no base is known",
        "green",
        (
            "3 of 3 claims pass on p_max only",
            "*The gate compared nothing with a base in git, so what was taken out or",
        ),
        by_action=True,
        files=HOLDS,
        sed=WEAKER,
        arguments=(),
    ),
    Attack(
        "no base is wanted",
        "green",
        (
            "3 of 3 claims pass on p_max only",
            "*The gate compared nothing with a base in git, so what was taken out or",
        ),
        files=HOLDS,
        arguments=("--base-ref=none",),
    ),
    Attack(
        "a tag has the name of the base",
        "red",
        ("The gate could not test everything: the suites and the ledger cannot be",),
        sed=WEAKER,
        then=(("tag", "base", "HEAD"),),
    ),
    Attack(
        "a tag has the name of the base on the server",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
        ),
        sed=WEAKER,
        then=(("update-ref", "refs/remotes/origin/main", "base"), ("tag", "origin/main", "HEAD")),
        arguments=(),
        environment={"GITHUB_BASE_REF": "main"},
    ),
    Attack(
        "a variable of the runner in a path",
        "red",
        UNREADABLE,
        by_action=True,
        sed={YAML: ("../results.csv", "${MY_TOKEN}/results.csv")},
        environment={"MY_TOKEN": "hunter2"},
    ),
    Attack(
        "a path out of the repository",
        "red",
        UNREADABLE,
        sed={YAML: ("../results.csv", "../../outputs")},
    ),
    Attack(
        "a path to what the system says",
        "red",
        UNREADABLE,
        sed={YAML: ("../results.csv", "/proc/self/environ")},
    ),
    Attack(
        "a link out of the repository",
        "red",
        UNREADABLE,
        base={"data/about.md": "x"},
        links={"data/results.csv": "/etc/passwd"},
        sed={YAML: ("../results.csv", "../data/results.csv")},
    ),
    Attack(
        "the gate's own plugin is blocked",
        "red",
        ("1 of 3 claims fails", "`weak` 0-shot"),
        files={"pytest.ini": "[pytest]\naddopts = -p no:pytest_maxrandom.ci.process\n"},
    ),
    Attack(
        "the reports' plugin is blocked",
        "red",
        ("The gate could not test everything: pytest ended without a report, as with",),
        files={**HOLDS, "pytest.ini": "[pytest]\naddopts = -p no:maxrandom_reporting\n"},
    ),
    Attack(
        "a claim that a conftest makes a weaker one",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `test_by_hand` **was weakened**: the run asserted less than the suite",
        ),
        files={**HOLDS, "conftest.py": RELAXES},
    ),
    Attack(
        "another root of pytest", "red", WEAK_FAILS, files={"eval_suites/pytest.ini": "[pytest]\n"}
    ),
]
