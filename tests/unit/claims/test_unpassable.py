"""Claims beside an incumbent that no recorded results can pass are mistakes, as of models."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom import judge
from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.studies.plan import plan_file

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models: [{name: m, backend: recorded, results: {path: t.csv, format: table}}]
tasks: [{name: larger, chance: 1/2TASK}]
incumbent: {prompt: p0INCUMBENT}
assert: {better_than: incumbentCLAIM}
"""


def table(folder: Path, prompts: int, examples: int, clusters: int | None = None) -> None:
    with (folder / "t.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["model", "task", "shots", "prompt", "example", "correct", "cluster"])
        for prompt in range(prompts):
            for place in range(examples):
                # All prompts differ, and the incumbent is always wrong.
                right = int(prompt > 0 and (place + prompt) % (prompt + 1) > 0)
                cluster = place if clusters is None else place % clusters
                out.writerow(["m", "larger", 0, f"p{prompt}", f"e{place}", right, f"c{cluster}"])


def suite(
    folder: Path, task: str = "", incumbent: str = "", claim: str = "", rest: str = ""
) -> None:
    text = SUITE.replace("TASK", task).replace("INCUMBENT", incumbent).replace("CLAIM", claim)
    (folder / "s.yaml").write_text(text + rest)


@pytest.mark.parametrize(
    ("task", "incumbent", "claim", "t", "level"),
    [
        ("", "", "", 6, 0.05),
        (", t: 200", "", "", 200, 0.05),
        ("", "", ", incumbent_p: 0.001", 6, 0.001),
    ],
)
def test_the_fewest_examples_are_those_of_the_first_look(
    tmp_path: Path, task: str, incumbent: str, claim: str, t: int, level: float
) -> None:
    suite(tmp_path, task, incumbent, claim)
    # The first look has one half of the level, and t prompts that are right on all n examples,
    # on none of which the incumbent is, have t / 2**n.
    fewest = next(n for n in range(1, 40) if t * 0.5**n <= level / 2)
    table(tmp_path, 6, fewest)
    (found,) = plan_file(tmp_path / "s.yaml")
    assert found.name == "larger[m-0shot]"
    table(tmp_path, 6, fewest - 1)
    with pytest.raises(SuiteError, match=rf"larger\[m-0shot\] can never pass: with t = {t}, even"):
        plan_file(tmp_path / "s.yaml")


def test_whole_clusters_count_as_one_example(tmp_path: Path) -> None:
    suite(tmp_path)
    # Gaffke's p of k equal clusters of ones is 2**-k, as of k examples.
    table(tmp_path, 6, 24, clusters=8)
    (tmp_path / "s.yaml").write_text(
        (tmp_path / "s.yaml")
        .read_text()
        .replace("format: table", "format: table, columns: {cluster: cluster}")
    )
    assert len(plan_file(tmp_path / "s.yaml")) == 1  # 6 / 256 is below .025
    table(tmp_path, 6, 24, clusters=6)
    with pytest.raises(SuiteError, match=r"of n = 24 examples and .* incumbent p = \.094 is above"):
        plan_file(tmp_path / "s.yaml")


def test_tries_that_are_not_at_hand_can_be_too_many_for_resamples(tmp_path: Path) -> None:
    suite(tmp_path, ", t: 1200", ", test: resampled")
    table(tmp_path, 6, 60)
    # Each of 10,000 resamples counts 1200 / 6 times.
    assert len(plan_file(tmp_path / "s.yaml")) == 1
    suite(tmp_path, ", t: 1600", ", test: resampled")
    with pytest.raises(
        SuiteError, match=r"with t = 1600, .* p = \.027 is above \.025, .*; use `test:"
    ):
        plan_file(tmp_path / "s.yaml")


def test_each_door_tells_it_before_anything_is_judged(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = pytester.mkdir("eval_suites")
    suite(folder)
    table(folder, 6, 7)
    sentence = (
        "s.yaml:2: larger[m-0shot] can never pass: with t = 6, even if the best prompt is right on "
        "all of n = 7 examples and the incumbent on none, incumbent p = .047 is above .025, the "
        "half of the level that the first look at recorded answers has; use more examples or "
        "fewer prompts (`maxrandom plan` computes how many), or write `allow_unpassable: true`"
    )
    assert main(["check", "eval_suites"]) == 1
    assert sentence in capsys.readouterr().out
    for option in ("--collect-only", "--maxrandom-dry-run", "-q"):
        found = pytester.runpytest(option)
        assert sentence in " ".join(found.stdout.str().split())
        found.assert_outcomes(errors=1)
    assert not [*folder.glob("maxrandom-ledger*")]
    suite(folder, rest="allow_unpassable: true\n")
    pytester.runpytest().assert_outcomes(failed=1)


def test_a_notebook_shows_the_numbers_of_a_few_examples() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [
        {"prompt": f"p{prompt}", "example": f"e{place}", "correct": int(prompt > place % 4)}
        for prompt in range(6)
        for place in range(5)
    ]
    judged = judge(
        pandas.DataFrame(rows), chance=0.5, incumbent="p0", claim={"better_than": "incumbent"}
    )
    assert not judged.passed
    # Half of the level, 6 / 2**5.
    assert "the least incumbent p that the best of 6 prompts can have on 5 examples is .188" in (
        judged.report()
    )


def test_a_later_look_at_a_few_examples_says_that_no_answers_could_pass(
    pytester: pytest.Pytester,
) -> None:
    folder = pytester.mkdir("eval_suites")
    suite(folder)
    notes = []
    for changed in ("", "p4,e0,1", "p5,e0,1"):
        table(folder, 6, 8)
        text = (folder / "t.csv").read_text()
        if changed:
            assert changed in text
            (folder / "t.csv").write_text(text.replace(changed, changed[:-1] + "0"))
        pytester.runpytest("--maxrandom-report=r.md")
        notes.append("No answers could pass here" in (pytester.path / "r.md").read_text())
    # 6 / 2**8 is at most half of .05, and above a sixth of it.
    assert notes == [False, True, True]
