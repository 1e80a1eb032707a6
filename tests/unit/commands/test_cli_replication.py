"""`maxrandom replication`: two tables, or JSON, and one sentence for a mistake."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

N = 100
LIFT = {"base": 0.0, "better": 0.15, "other": 0.0}


def results(folder: Path, tasks: int = 8, replicates: int = 6) -> str:
    """Write two groups of three arms; the column `half` tells two rows of a replicate apart."""
    generator = np.random.default_rng(0)
    lines = ["size,half,task,replicate,arm,correct,n"]
    for size in ("small", "large"):
        for task in range(tasks):
            chance = generator.uniform(0.4, 0.6)
            lines += [
                f"{size},{half},task{task},{k},{arm},{generator.binomial(N, chance + lift)},{N}"
                for k in range(replicates)
                for half in (1, 2)
                for arm, lift in LIFT.items()
            ]
    path = folder / "arms.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


GROUPED = ("--by", "size", "--pool", "half", "--slices", "40")
BOTH = ("--compare", "better-base", "--compare", "other - base")


def summary(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["replication", *arguments, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_both_tables_have_a_row_for_each_comparison_and_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replication", results(tmp_path), *BOTH, *GROUPED]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 130
    first, second = text.split("One replicate of each task: 40 draws, seed 0\n")
    assert first.startswith("All replicates: tasks 8, pairs 96\n")
    for table in (first, second):
        names = [tuple(line.split()[:2]) for line in table.splitlines() if "-base " in line]
        assert names == [
            (arms, size) for arms in ("better-base", "other-base") for size in ("small", "large")
        ]
    better = next(line for line in second.splitlines() if line.startswith("better-base"))
    assert better.split()[2] == "better"
    assert better.split()[-6:] == ["1.00", ".00", ".00"] * 2


def test_json_has_the_same_figures_unrounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results(tmp_path)
    found = summary(capsys, file, *BOTH, *GROUPED)
    assert (found["slices"], found["seed"], found["confidence"]) == (40, 0, 0.89)
    assert [each["group"] for each in found["results"]] == [
        {"size": "small"},
        {"size": "large"},
    ] * 2
    better, _, other, _ = found["results"]
    assert (better["a"], better["b"], better["pairs"]) == ("better", "base", 96)
    assert better["low"] < better["difference"] < better["high"]
    assert better["difference"] == pytest.approx(LIFT["better"], abs=0.02)
    assert better["effect"]["difference"] == pytest.approx(better["difference"], abs=1e-3)
    assert better["p_value"] == better["smallest_p"] == 2 / 2**8
    assert len(better["tasks"]) == 8
    assert better["single_draws"]["all_replicates"] == "better"
    assert better["single_draws"]["model_contradicts"] == 0
    assert other["p_value"] > 0.05
    assert sum(other["single_draws"]["model"].values()) == pytest.approx(1)
    assert main(["replication", file, *BOTH, *GROUPED]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("better-base")]
    assert rows[0].split()[2] == f"+{better['difference']:.4f}".replace("0.", ".")


def test_swapping_the_arms_flips_every_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results(tmp_path)
    one, other = (
        summary(capsys, file, "--compare", arms, *GROUPED)["results"][0]
        for arms in ("other-base", "base-other")
    )
    assert other["difference"] == -one["difference"]
    assert (other["low"], other["high"]) == (-one["high"], -one["low"])
    assert other["effect"]["mean"] == pytest.approx(-one["effect"]["mean"])
    assert other["single_draws"]["sign_flip"]["worse"] == one["single_draws"]["sign_flip"]["better"]


def test_a_seed_repeats_the_draws_and_changes_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results(tmp_path)
    first, again, other = (
        summary(capsys, file, "--compare", "other-base", *GROUPED, "--seed", seed)["results"][0]
        for seed in "112"
    )
    assert first == again
    assert first.pop("single_draws") != other.pop("single_draws")
    assert first == other


def test_without_replicates_there_is_nothing_to_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [results(tmp_path, tasks=3, replicates=1), *BOTH, *GROUPED]
    assert main(["replication", *arguments]) == 0
    text = capsys.readouterr().out
    assert text.endswith("No task has a second replicate, so nothing can be drawn.\n")
    assert (
        "With 3 tasks no p over tasks is below .250, and the interval is not informative." in text
    )
    assert "-1.0000 to +1.0000" in text
    found = summary(capsys, *arguments)["results"][0]
    assert found["single_draws"] is None
    assert [task["p_value"] for task in found["tasks"]] == [None] * 3


def test_names_from_the_file_cannot_disturb_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arms.csv"
    long = "x" * 90
    rows = "".join(f"\x1b[31m{long},t{k},0,10,0.5,0.{k}\n" for k in range(1, 4))
    path.write_text(f"size,task,replicate,n,a,b\n{rows}", encoding="utf-8")
    assert main(["replication", str(path), "--compare", "a-b", "--by", "size"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\\x1b" in text
    assert long not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--compare", "better-worse", *GROUPED),
            "found 'better-worse', expected two different arms",
        ),
        (("--compare", "better-base"), "already has the arm 'base' (from line 2 on)"),
        (("--compare", "better-base", "--by", "colour"), "there is no column 'colour'"),
        (("--compare", "better-base", *GROUPED[:4], "--slices", "0"), "slices must be at least 1"),
        (
            ("--compare", "better-base", *GROUPED, "--confidence", "89"),
            "confidence must be between",
        ),
        (("--compare", "better-base", "--arm", "method"), "there is no column 'method'"),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert main(["replication", results(tmp_path), *arguments]) == 2
    message = capsys.readouterr().err
    assert message.startswith("maxrandom replication: ")
    assert message.count("\n") == 1
    assert said in message


@pytest.mark.skipif(os.name != "posix", reason="has no such files")
def test_what_has_no_end_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    told = {tmp_path / "pipe.csv": "is not a regular file", "/dev/zero": "says of itself"}
    for file, why in told.items():
        assert main(["replication", str(file), *BOTH]) == 2
        assert why in capsys.readouterr().err
