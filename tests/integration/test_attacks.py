"""What the author of a pull request may try against the real gate, in small git repositories.

An honest gate is red here: one claim of the base does not hold. Each attack changes the work tree.
What counts is the colour of the gate's end, and what the first lines of the comment say.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.results import load_untrusted
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUITE = """\
models:
  - {name: m, backend: recorded, results: {path: ../results.csv, format: table}}
tasks:
  - {name: strong}
  - {name: weak}
assert: {p_max: 0.05}
"""
BY_HAND = """
def test_by_hand(maxrandom):
    maxrandom.check(best_correct=70, n=100, t=10, chance=0.5, p_max=0.05)
"""
SKIP_WEAK = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if "weak" in item.name:
            item.add_marker(pytest.mark.MARK)
"""
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
ASSERTS_LESS = """
from pytest_maxrandom.claims import verdict

of = verdict.Claim.of
verdict.Claim.of = lambda *_, **__: of("report")
"""


def results(strong: int = 48, weak: int = 31, n: int = 60) -> str:
    """Write answers of three prompts, the best of which has so many right ones."""
    rows = ["model,task,shots,prompt_id,example_id,choices,correct"]
    for task, best in (("strong", strong), ("weak", weak)):
        rows += [
            f"m,{task},0,p{prompt},e{number},2,{int(number < best - prompt)}"
            for prompt in range(3)
            for number in range(n)
        ]
    return "\n".join(rows) + "\n"


@dataclass(frozen=True)
class Attack:
    """What is written into the work tree; and what must be seen."""

    name: str
    colour: str
    said: str
    """In the first line of the comment."""
    files: dict[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    sed: dict[str, tuple[str, str]] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)
    """What the base has, too."""
    links: dict[str, str] = field(default_factory=dict)
    """Symbolic links of the base, and where they lead."""
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    told: str = ""
    """In the lines below it."""


YAML = "eval_suites/claims.yaml"
HOLDS = {"results.csv": results(weak=48)}
WEAK = "  - {name: weak}\n"
ATTACKS = [
    Attack("an honest gate", "red", "1 of 3 claims fails"),
    Attack("an honest repair", "green", "3 of 3 claims pass", files=HOLDS),
    # The session's status, and its end.
    Attack("exit status", "red", "1 of 3 claims fails", files={"conftest.py": NOTHING_FAILS}),
    Attack("outcomes", "red", "1 of 3 claims fails", files={"conftest.py": REPORTED_AS_PASSED}),
    Attack(
        "pytest.exit",
        "red",
        "ended early; 1 of 2 claims was not run",
        files={"conftest.py": ENDS.replace("END", "pytest.exit('done', returncode=0)")},
    ),
    Attack(
        "KeyboardInterrupt",
        "red",
        "interrupted",
        files={"conftest.py": ENDS.replace("END", "raise KeyboardInterrupt")},
    ),
    Attack(
        "os._exit",
        "red",
        "pytest ended without a report",
        files={"conftest.py": ENDS.replace("END", "os._exit(0)")},
    ),
    Attack(
        "the first failure ends it",
        "red",
        "ended early",
        files={"pytest.ini": "[pytest]\naddopts = --maxfail=1\n"},
        sed={YAML: ("  - {name: strong}\n  - {name: weak}\n", f"{WEAK}  - {{name: strong}}\n")},
    ),
    Attack(
        "no plugin",
        "red",
        "lost the plugin",
        files={"pytest.ini": "[pytest]\naddopts = -p no:maxrandom\n"},
    ),
    Attack(
        "nothing is tested",
        "red",
        "pytest ended without a report",
        files={"pytest.ini": "[pytest]\naddopts = --maxrandom-dry-run\n"},
    ),
    # What is selected.
    Attack(
        "-k in pytest.ini",
        "red",
        "weak[m] is deselected",
        files={"pytest.ini": "[pytest]\naddopts = -k 'not weak'\n"},
    ),
    Attack(
        "-m in tox.ini",
        "red",
        "weak[m] is deselected",
        files={"tox.ini": "[pytest]\naddopts = -m 'not slow'\nmarkers =\n    slow: slow\n"},
        gone=("pytest.ini",),
        sed={YAML: (WEAK, "  - {name: weak, marks: [slow]}\n")},
    ),
    Attack(
        "--deselect in pyproject.toml",
        "red",
        "weak[m] is deselected",
        files={
            "pyproject.toml": "[tool.pytest.ini_options]\n"
            "addopts = '--deselect eval_suites/claims.yaml::weak[m-0shot]'\n"
        },
        gone=("pytest.ini",),
    ),
    Attack(
        "a conftest drops items",
        "red",
        "weak[m] is deselected",
        files={
            "conftest.py": "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'weak' not in item.name]\n"
        },
    ),
    Attack(
        "collect_ignore",
        "red",
        "strong[m], weak[m] are deselected",
        files={"eval_suites/conftest.py": "collect_ignore = ['claims.yaml']\n"},
    ),
    Attack(
        "a module that an old conftest imports drops items",
        "amber",
        "1 claim is deselected",
        base={"conftest.py": "from helper import *\n", "helper.py": ""},
        files={
            "helper.py": "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if 'weak' not in item.name]\n"
        },
    ),
    Attack(
        "as the base selects",
        "green",
        "2 of 2 claims pass",
        base={"pytest.ini": "[pytest]\naddopts = -k 'not weak'\n"},
        files={"notes.md": "nothing\n"},
    ),
    # What suites say.
    Attack("a deleted task", "amber", "1 claim is gone", sed={YAML: (WEAK, "")}, told="weak"),
    Attack("a deleted suite", "amber", "2 claims are gone", gone=(YAML,)),
    Attack("a deleted test", "amber", "1 claim is gone", files=HOLDS,
           gone=("eval_suites/test_by_hand.py",)),
    Attack(
        "a level of .9999",
        "amber",
        "2 claims were weakened",
        sed={YAML: ("p_max: 0.05", "p_max: 0.9999")},
        told="asserts p_max: .9999, before: p_max: .05",
    ),
    Attack(
        "a suite that was padded before",
        "amber",
        "2 claims were weakened",
        base={YAML: f"{SUITE}# {'x' * 1_200_000}\n"},
        sed={YAML: ("p_max: 0.05", "p_max: 0.9999")},
    ),
    Attack(
        "a suite behind a link",
        "amber",
        "2 claims were weakened",
        base={"shared/linked.yaml": SUITE},
        links={"eval_suites/linked.yaml": "../shared/linked.yaml"},
        files=HOLDS,
        sed={"shared/linked.yaml": ("p_max: 0.05", "p_max: 0.9999")},
    ),
    Attack(
        "a suite of the base that nobody can read",
        "red",
        "what the base claims is not known",
        base={"eval_suites/other.maxrandom.yaml": "models: [\n"},
        files=HOLDS,
        gone=("eval_suites/other.maxrandom.yaml",),
    ),
    Attack(
        "no claim is left",
        "red",
        "no claim was found or selected",
        gone=(YAML, "eval_suites/test_by_hand.py"),
    ),
    Attack(
        "a suite that cannot be read",
        "red",
        "1 suite could not be read",
        files={YAML: "models: [\n"},
    ),
    Attack(
        "only reported",
        "amber",
        "1 claim was weakened",
        sed={YAML: (WEAK, "  - {name: weak, assert: report}\n")},
        told="asserts nothing, before: p_max: .05",
    ),
    Attack(
        "xfail",
        "amber",
        "1 claim is excused now (xfail)",
        sed={YAML: (WEAK, "  - {name: weak, xfail: known}\n")},
    ),
    Attack(
        "xfail by a conftest",
        "amber",
        "1 claim is excused now (xfail)",
        files={"conftest.py": SKIP_WEAK.replace("MARK", "xfail")},
    ),
    Attack(
        "skips of a conftest",
        "amber",
        "1 claim is skipped now",
        files={"conftest.py": SKIP_WEAK.replace("MARK", "skip")},
    ),
    Attack(
        "if_missing",
        "amber",
        "1 claim is skipped now",
        sed={YAML: ("name: m, ", "name: m, if_missing: elsewhere, ")},
        files={"results.csv": "\n".join(
            line for line in results().splitlines() if ",weak," not in line) + "\n"},
    ),
    Attack(
        "red flags are ignored",
        "amber",
        "2 claims were weakened",
        files=HOLDS,
        sed={YAML: ("p_max: 0.05", "p_max: 0.05, red_flags: ignore")},
        told="a red flag does less",
    ),
    Attack(
        "the results of another task",
        "amber",
        "1 claim was weakened",
        sed={YAML: (WEAK, "  - {name: weak, in_results: strong}\n")},
        told="the results of another task or model are read",
    ),
    Attack(
        "a smaller t is stated",
        "amber",
        "1 claim was weakened",
        base={YAML: SUITE.replace("{name: weak}", "{name: weak, t: 500}")},
        files=HOLDS,
        sed={YAML: ("t: 500", "t: 3"), },
        told="the stated t is smaller",
    ),
    Attack(
        "a conftest asserts less than the suite",
        "amber",
        "2 claims were weakened",
        files={"conftest.py": ASSERTS_LESS},
        told="the run asserted less than the suite says",
    ),
    Attack(
        "a suite that moved",
        "red",
        "1 of 3 claims fails",
        files={"eval_suites/deeper/claims.yaml": SUITE.replace("../results", "../../results")},
        gone=(YAML,),
    ),
    Attack(
        "a suite that moved and claims less",
        "amber",
        "2 claims were weakened",
        files={
            "eval_suites/deeper/claims.yaml": SUITE.replace("../results", "../../results")
            .replace("0.05", "0.99")
        },
        gone=(YAML,),
    ),
    # The way in which the gate is called.
    Attack(
        "weakened is made fatal",
        "red",
        "strong[m-0shot], weak[m-0shot] were weakened",
        sed={YAML: ("p_max: 0.05", "p_max: 0.9999")},
        arguments=("--fail-on=gone,weakened",),
    ),
    Attack(
        "the workflow selects",
        "green",
        "2 of 2 claims pass",
        arguments=("--pytest-args=-k 'not weak'",),
    ),
]  # fmt: skip


@dataclass
class Seen:
    """What became of a gate."""

    code: int
    out: str
    head: list[str]
    """The lines of the comment, from its headline on."""

    @property
    def colour(self) -> str:
        """Whether it is red; else whether a tick stands on top."""
        return "red" if self.code else {"🟠": "amber", "✅": "green"}[self.head[0].split()[1]]


def begin(folder: Path, base: dict[str, str], links: Mapping[str, str] = {}) -> None:
    """Make the base, and a branch of it."""
    begun = {
        YAML: SUITE,
        "eval_suites/test_by_hand.py": BY_HAND,
        "results.csv": results(),
        "pytest.ini": "[pytest]\n",
        ".gitignore": "maxrandom-report/\n__pycache__/\n.pytest_cache/\n.maxrandom/\n",
    }
    write(folder, begun | base)
    for name, target in links.items():
        (folder / name).symlink_to(target)
    begin_repository(folder)
    git(folder, "branch", "base")
    git(folder, "switch", "--quiet", "--create", "work")


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def gate(folder: Path, capfd: pytest.CaptureFixture[str], *arguments: str) -> Seen:
    """Run the gate in a folder, and write its comment as the action does."""
    outputs = folder.parent / "outputs"
    outputs.write_text("")
    os.environ["GITHUB_OUTPUT"] = str(outputs)
    try:
        code = main(["gate", "eval_suites", *arguments])
    finally:
        del os.environ["GITHUB_OUTPUT"]
    json = folder / "maxrandom-report" / "report.json"
    run = load_untrusted(json) if json.exists() else None
    notice = outputs.read_text().partition("notice<<")[2].split("\n")[1]
    failed = "The run failed" if code and run is None else ""
    text = comment(run, None, outcome=notice or failed, key="gate").replace("\\", "")
    lines = text.splitlines()
    out = "".join(capfd.readouterr())
    return Seen(code, out, [line for line in lines if line and not line.startswith("<!--")])


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_colour_of_the_gate_and_its_first_line(
    attack: Attack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "repository"
    begin(folder, attack.base, attack.links)
    for name in attack.gone:
        (folder / name).unlink()
    write(folder, attack.files)
    for name, (old, new) in attack.sed.items():
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    commit(folder)
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_"))]:
        monkeypatch.delenv(name)
    seen = gate(folder, capfd, "--base-ref=base", *attack.arguments)
    assert seen.colour == attack.colour, "\n".join([*seen.head[:3], seen.out])
    assert attack.said in seen.head[0]
    assert attack.told in "\n".join(seen.head[1:6])
