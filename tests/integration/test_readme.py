"""What the README shows is true: its commands run, its outputs are theirs, its links lead on."""

from __future__ import annotations

import random
import re
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import page_blocks
from scipy.stats import binomtest

import pytest_maxrandom
from pytest_maxrandom.cli import main
from pytest_maxrandom.notation import p_value
from pytest_maxrandom.suite.loader import load_any_suite
from tests.repositories import begin_repository

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PUBLISHED_BY = tomllib.loads((ROOT / "publisher.toml").read_text(encoding="utf-8"))["owner"]
BLOCKS = list(page_blocks.blocks(README))
SUMS = """\
models:
  - {{name: my-model, backend: mock, knows: {knows}}}
tasks:
  - {{name: sums, format: csv, path: sums.csv, choices: ["yes", "no"]}}
prompts: {{shots: 2, count: 20}}
"""
BESIDE = """\
models: [{name: my-model, backend: recorded, results: {path: tried.csv, format: table}}]
tasks: [{name: support, chance: 1/4}]
incumbent: {results: {path: today.csv, format: table}}
assert: {better_than: incumbent}
"""


def test_it_is_short_and_the_first_screen_needs_no_model() -> None:
    lines = README.splitlines()
    assert len(lines) <= 120
    screen = "\n".join(lines[:40])
    assert "$ maxrandom baseline --n 100" in screen
    assert "$ maxrandom init --results " in screen
    assert "$ maxrandom diff " in screen
    assert "> ### ❌ maxrandom · gate" in screen
    assert all(command in README for command in ("\nmake demo", "\nmake test"))


def test_who_follows_it_sees_what_it_shows(tmp_path: Path) -> None:
    reader = page_blocks.Reader(tmp_path)
    for block in reader.begin(ROOT / "README.md"):
        reader.follow(block)
    assert {path.name for path in tmp_path.glob("report.*")} == {"report.md", "report.json"}
    assert [block.needs for block in BLOCKS if block.needs] == ["predictions", "two reports"]


def test_its_difference_is_what_is_printed_of_such_reports(tmp_path: Path) -> None:
    (shown,) = (block for block in BLOCKS if block.needs == "two reports")
    folder = tmp_path / "eval_suites"
    folder.mkdir()
    rows = ["input,answer"]
    for i in range(150):
        a, b = 10 + 37 * i % 90, 10 + 53 * i % 89
        wrong = 0 if i % 2 else (-10, -1, 1, 10)[i // 2 % 4]
        rows.append(f"Is {a} + {b} = {a + b + wrong}?,{'no' if wrong else 'yes'}")
    (folder / "sums.csv").write_text("\n".join(rows) + "\n")
    suite = folder / "sums.yaml"
    words = ["pytest", "eval_suites", "-q", "-p", "no:cacheprovider"]
    words.append("--maxrandom-json=report.json")
    suite.write_text(SUMS.format(knows=0.4))
    subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=True)
    begin_repository(tmp_path)
    suite.write_text(SUMS.format(knows=0.0))
    subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=False)
    command = [sys.executable, "-m", "pytest_maxrandom.cli", "diff", "main", "report.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    date = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert date.sub("", f"$ maxrandom diff main report.json\n{done.stdout}") == date.sub(
        "", shown.text
    )


def test_its_comment_is_what_the_gate_says_of_such_candidates(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """None of twenty is better, and the best of them looks so."""
    folder = pytester.mkdir("eval_suites")
    draw = random.Random(5)
    easy = [draw.betavariate(6, 3) for _ in range(400)]
    right = {}
    for file, places in (("today", range(1)), ("tried", range(1, 21))):
        rows = ["model,task,shots,prompt,example,correct"]
        for name in (f"p{place}" for place in places):
            right[name] = [draw.random() < each for each in easy]
            rows += [
                f"my-model,support,0,{name},{example},{int(each)}"
                for example, each in enumerate(right[name])
            ]
        (folder / f"{file}.csv").write_text("\n".join(rows) + "\n")
    (folder / "support.yaml").write_text(BESIDE)
    pytester.runpytest("--maxrandom-json=report.json", "-q")
    best = max(right, key=lambda name: sum(right[name]))
    pairs = [*zip(right[best], right["p0"], strict=True)]
    wins = sum(one > other for one, other in pairs)
    apart = sum(one != other for one, other in pairs)
    alone = binomtest(wins, apart, alternative="greater").pvalue
    assert f"McNemar's test says p = {p_value(alone)}." in README
    capsys.readouterr()
    words = ["comment", "report.json", "--dry-run", "--report-url", "https://ci.test/1"]
    assert main([*words, "--repository", "a/b", "--pull-request", "1"]) == 0
    printed = capsys.readouterr().out
    quoted = re.findall(r"^> (.+)$", README, re.MULTILINE)
    assert len(quoted) == 2
    assert [each for each in quoted if f"\n{each}\n" not in printed] == []


def test_its_suite_is_valid_and_states_the_default_claim(tmp_path: Path) -> None:
    (block,) = (block.text for block in BLOCKS if block.language == "yaml")
    path = tmp_path / "suite.yaml"
    path.write_text(block)
    said = load_any_suite(path).spec
    path.write_text(re.sub(r"^assert: .*\n", "", block, flags=re.MULTILINE))
    assert block != path.read_text()
    assert load_any_suite(path).spec.tasks == said.tasks


def test_its_hand_written_claim_passes(pytester: pytest.Pytester) -> None:
    (block,) = (block.text for block in BLOCKS if "maxrandom.check" in block.text)
    pytester.makepyfile(block)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_its_links_lead_somewhere_also_on_the_package_index() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    files = [
        re.sub(r"#.*", "", target.removeprefix(address))
        for target in targets
        for address in (
            f"https://github.com/{PUBLISHED_BY}/pytest-maxrandom/blob/main/",
            f"https://raw.githubusercontent.com/{PUBLISHED_BY}/pytest-maxrandom/main/",
        )
        if target.startswith(address)
    ]
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).exists()] == []
    pages = re.findall(rf"https://{PUBLISHED_BY}\.github\.io/pytest-maxrandom/(\S+)\.html", README)
    assert pages
    assert [page for page in pages if not (ROOT / "docs" / f"{page}.md").exists()] == []
    # A relative link leads nowhere on the index.
    assert [target for target in targets if not target.startswith("https://")] == []


def test_its_picture_is_of_modest_size() -> None:
    (picture,) = re.findall(r"!\[[^\]]+\]\(\S+/main/(\S+)\)", README)
    data = (ROOT / picture).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 150_000
    width, height = struct.unpack(">II", data[16:24])
    assert 800 <= width <= 1600
    assert height < width


def test_public_names_are_those_that_are_promised() -> None:
    assert set(pytest_maxrandom.__all__) == {
        "MaxRandomBaseline",
        "judge",
        "judge_each",
        "max_random_F",
        "max_random_baseline",
        "max_random_p_value",
        "max_random_pmf",
        "read_report",
        "search",
    }
    for name in pytest_maxrandom.__all__:
        assert callable(getattr(pytest_maxrandom, name))
