"""An attack: what the author of a pull request writes, and what must be seen of it.

An honest gate is red here: one claim of the base does not hold.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUITE = """\
models:
  - {name: m, backend: recorded, results: {path: ../results.csv, format: table}}
tasks:
  - {name: strong}
  - {name: weak}
prompts: {shots: 0}
assert: {p_max: 0.05}
"""
OPEN_SHOTS = SUITE.replace("prompts: {shots: 0}\n", "")
BY_HAND = """
def test_by_hand(maxrandom):
    maxrandom.check(best_correct=70, n=100, t=10, chance=0.5, p_max=0.05)
"""


def results(strong: int = 48, weak: int = 31, n: int = 60) -> str:
    """Write answers of three prompts, the best of which has so many right ones."""
    rows = ["model,task,shots,prompt,example,choices,correct"]
    for task, best in (("strong", strong), ("weak", weak)):
        rows += [
            f"m,{task},0,p{prompt},e{number},2,{int(number < best - prompt)}"
            for prompt in range(3)
            for number in range(n)
        ]
    return "\n".join(rows) + "\n"


def with_column(table: str, name: str, value: str) -> str:
    """Give a table another column, the same in all rows."""
    header, *rows = table.splitlines()
    return "\n".join([f"{header},{name}", *(f"{row},{value}" for row in rows)]) + "\n"


YAML, TEST = "eval_suites/claims.yaml", "eval_suites/test_by_hand.py"
HOLDS = {"results.csv": results(weak=48)}
"""Results with which all claims hold, so that only what the attack is about is seen."""
IGNORED = "maxrandom-report/\n__pycache__/\n.pytest_cache/\n.maxrandom/\n"
WEAK = "  - {name: weak}\n"
WEAKER = {YAML: ("p_max: 0.05", "p_max: 0.9999")}
WEAK_FAILS = (
    "1 of 3 claims fails, 2 pass on p_max only",
    "- ❌ `weak` 0-shot: **best .517, needs .650** (p_max = .832; t = 3, n = 60)",
)
WEAK_DESELECTED = (
    "The gate failed: weak[m-0shot] is deselected",
    "1 claim is deselected; 2 of 2 claims pass on p_max only.",
    "- 🙈 `weak[m-0shot]` **is deselected**",
)
UNREADABLE = ("1 suite could not be read; no claim was tested", "- ⚠️ the full report says what")
"""What is seen of several attacks."""


@dataclass(frozen=True)
class Attack:
    """What is changed in the work tree, and what must be seen."""

    name: str
    colour: str
    lines: tuple[str, ...]
    """Parts of the first three lines of the comment, one of each; of those that are not given, the
    link to the report, and the table below it."""
    files: dict[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    sed: dict[str, tuple[str, str]] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)
    """What the base has, too."""
    links: dict[str, str] = field(default_factory=dict)
    """Symbolic links of the base, and where they lead."""
    new_links: dict[str, str] = field(default_factory=dict)
    """Those of the work tree."""
    then: tuple[tuple[str, ...], ...] = ()
    """Commands of git, when all is committed."""
    arguments: tuple[str, ...] = ("--base-ref=base",)
    environment: dict[str, str] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    """Files of the work tree that are no texts."""
    prepare: Callable[[Path], None] | None = None
    """Does to the repository what no other field says, when all is committed."""
    by_action: bool = False
    """Whether the actions are run for it, too: one attack of each kind."""

    def begin(self, folder: Path) -> None:
        """Make the base, a branch of it, and the attack as a commit there."""
        begun = {
            YAML: SUITE,
            TEST: BY_HAND,
            "results.csv": results(),
            "pytest.ini": "[pytest]\n",
            ".gitignore": IGNORED,
        }
        write(folder, begun | self.base)
        for name, target in self.links.items():
            (folder / name).symlink_to(target)
        begin_repository(folder)
        git(folder, "branch", "base")
        git(folder, "switch", "--quiet", "--create", "work")
        for name in self.gone:
            (folder / name).unlink()
        write(folder, self.files)
        for name, content in self.packed.items():
            (folder / name).write_bytes(content)
        for name, target in self.new_links.items():
            with suppress(OSError):  # an empty folder, which the link takes the place of
                (folder / name).rmdir()
            (folder / name).symlink_to(target)
        for name, (old, new) in self.sed.items():
            text = (folder / name).read_text()
            assert old in text
            (folder / name).write_text(text.replace(old, new))
        commit(folder)
        for command in self.then:
            git(folder, *command)
        if self.prepare is not None:
            self.prepare(folder)


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
