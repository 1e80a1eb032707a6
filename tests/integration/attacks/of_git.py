"""Attacks by what git, and names of files and claims, can hide."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.integration.attacks.attack import (
    BY_HAND,
    HOLDS,
    SUITE,
    TEST,
    WEAK,
    WEAK_FAILS,
    WEAKER,
    YAML,
    Attack,
    write,
)
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from pathlib import Path

WEAKENED = (
    "2 claims were weakened; 3 of 3 claims pass on p_max only",
    "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
)
SWAPS = """
from pathlib import Path

suite = Path(__file__).parent / "eval_suites" / "claims.yaml"
before = suite.read_text()

def pytest_collection():
    suite.write_text(before.replace("0.05", "0.9999"))

def pytest_collection_finish():
    suite.write_text(before)
"""


def submodule(folder: Path) -> None:
    """Put another repository, whose suites claim less, in the place of the suites."""
    other = folder.parent / "other"
    write(other, {"claims.yaml": SUITE.replace("0.05", "0.9999"), "test_by_hand.py": BY_HAND})
    begin_repository(other)
    git(folder, "rm", "-r", "--quiet", "eval_suites")
    shutil.rmtree(folder / "eval_suites", ignore_errors=True)
    allowed = ("-c", "protocol.file.allow=always")
    git(folder, *allowed, "submodule", "--quiet", "add", other, "eval_suites")
    commit(folder)


def merged_as_ours(folder: Path) -> None:
    """Merge a base that gained a claim, and leave out what it gained."""
    git(folder, "switch", "--quiet", "base")
    write(folder, {YAML: SUITE})
    commit(folder)
    git(folder, "switch", "--quiet", "work")
    git(folder, "merge", "--quiet", "--strategy=ours", "--message=merged", "base")


def without_history(folder: Path) -> None:
    """Begin a branch that has no commit in common with the base."""
    git(folder, "checkout", "--quiet", "--orphan", "alone")
    commit(folder)


def shallow(folder: Path) -> None:
    """Leave the runner one commit of the work, and one of a base that has gone on."""
    git(folder, "switch", "--quiet", "base")
    write(folder, {"notes.md": "the base goes on\n"})
    commit(folder)
    git(folder, "switch", "--quiet", "work")
    whole = folder.rename(folder.parent / "whole")
    git(folder.parent, "clone", "--quiet", "--depth=1", f"file://{whole}", folder)
    git(folder, "fetch", "--quiet", "--depth=1", "origin", "base:refs/remotes/origin/base")


GIT = [
    Attack(
        "a shallow clone",
        "red",
        (
            "cannot be compared with their base: where HEAD left origin/base is not known",
            "3 of 3 claims pass on p_max only",
        ),
        sed=WEAKER,
        prepare=shallow,
        arguments=("--base-ref=origin/base",),
    ),
    Attack(
        "a shallow clone in which the base is not",
        "red",
        ("cannot be compared with their base: git knows no commit main",),
        sed=WEAKER,
        prepare=shallow,
        arguments=("--base-ref=main",),
    ),
    Attack(
        "a submodule takes the place of the suites",
        "amber",
        (
            "3 claims are gone; 3 of 3 claims pass on p_max only",
            "- 🗑️ `strong[m-0shot]`, `weak[m-0shot]`, `test_by_hand` **are gone**",
        ),
        prepare=submodule,
    ),
    Attack(
        "a merge that leaves out what the base gained",
        "amber",
        ("1 claim is gone; 2 of 2 claims pass on p_max only", "- 🗑️ `weak[m-0shot]` **is gone**"),
        base={YAML: SUITE.replace(WEAK, "")},
        files={"notes.md": "nothing\n"},
        prepare=merged_as_ours,
    ),
    Attack(
        "a branch without the base's history",
        "amber",
        WEAKENED,
        sed=WEAKER,
        prepare=without_history,
    ),
    Attack(
        "git shows another commit for the base",
        "amber",
        WEAKENED,
        sed=WEAKER,
        then=(("replace", "base", "HEAD"),),
    ),
    Attack(
        "attributes of git for the suites",
        "amber",
        WEAKENED,
        files={".gitattributes": "eval_suites/** export-ignore -diff filter=none ident\n"},
        sed=WEAKER,
    ),
    Attack(
        "a suite whose name only looks the same",
        "red",
        WEAK_FAILS,
        gone=(YAML,),
        files={"eval_suites/cl\u0430ims.yaml": SUITE},
    ),
    Attack(
        "a claim whose name only looks the same",
        "amber",
        (
            "1 claim is gone; 2 of 2 claims pass on p_max only, 1 result reported",
            "- 🗑️ `weak[m-0shot]` **is gone**",
            "Best accuracies: 1 above the maximum random baseline.",
        ),
        files=HOLDS,
        sed={YAML: (WEAK, "  - {name: we\u0430k, in_results: weak, assert: report}\n")},
    ),
    Attack(
        "the claim's name in another suite",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `weak[m-0shot]` **was weakened**: the results of another task or model",
        ),
        files={
            "eval_suites/other.yaml": SUITE.replace("  - {name: strong}\n", "").replace(
                WEAK, "  - {name: weak, in_results: strong}\n"
            )
        },
        sed={YAML: (WEAK, "")},
    ),
    Attack(
        "a suite that is another one while pytest collects",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: the run asserted",
        ),
        files={"conftest.py": SWAPS},
    ),
    Attack(
        "a test that is a link to another one",
        "amber",
        (
            "1 claim was weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `test_by_hand` **was weakened**: asserts p_max: .5, before: p_max: .05",
        ),
        gone=(TEST,),
        files={**HOLDS, "shared/by_hand.py": BY_HAND.replace("0.05", "0.5")},
        new_links={TEST: "../shared/by_hand.py"},
    ),
    Attack(
        "modules that Python imports by itself",
        "red",
        WEAK_FAILS,
        files={
            "sitecustomize.py": "import os\nos._exit(0)\n",
            "usercustomize.py": "import os\nos._exit(0)\n",
            "ours.pth": "import os; os._exit(0)\n",
        },
    ),
]
