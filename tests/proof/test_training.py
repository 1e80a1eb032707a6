"""Arms that are trained: answers in the texts are found, texts without answers are not.

The controls of the check for contamination, in the tiny world of `tests.trained_arms`. Tuned on the
scored questions with their right answers, a model is found; tuned on the same questions without
them, which helps as much as other questions do, it is not; and where texts do not help, the check
says that it cannot tell.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from tests import trained_arms as world
from tests.proof.scale import scaled

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

SEEDS = scaled(20, 1)
Kind = Literal["with answers", "without answers", "of no help"]


class Control:
    """One control, in as many worlds as there are seeds, in one run of pytest."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        for seed in range(SEEDS):
            _write(folder / "eval_suites" / str(seed), seed, kind)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "eval_suites"]
        done = subprocess.run(
            [*command, "--maxrandom-json=r.json"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (folder / "r.json").is_file(), done.stdout + done.stderr
        report = json.loads((folder / "r.json").read_text())
        self.checks: list[dict[str, Any]] = report["contamination"]
        assert len(self.checks) == SEEDS
        for check in self.checks:
            assert check["finding"] is not None, check["message"]
        for claim in report["claims"]:  # an arm that learns nothing shows nothing
            losses = claim["training"]["losses"] if claim["training"] else [1.0, 0.0]
            assert losses[-1] < 0.9 * losses[0]

    def share(self, finding: str) -> float:
        return [each["finding"] for each in self.checks].count(finding) / SEEDS

    def boosts(self) -> float:
        return [each["boost_p"] <= each["level"] for each in self.checks].count(True) / SEEDS


def _write(folder: Path, seed: int, kind: Kind) -> None:
    """Write a world and its suite."""
    folder.mkdir(parents=True)
    world.write(folder, seed, world.examples(seed, told=kind != "of no help"))
    texts = {"extra": "extra", "test": "scored"}
    if kind == "with answers":
        texts = _with_answers(folder, seed)
    # Whoever has learned all there is answers alike in both arms, and no check could be wrong.
    settings = world.IN_PART if kind == "without answers" else world.SETTINGS
    arms = "\n".join(
        f"  {arm}: {{train: {{text: {text}, {settings}}}}}" for arm, text in texts.items()
    )
    (folder / "s.yaml").write_text(world.suite(arms, seed=seed))


def _with_answers(folder: Path, seed: int) -> dict[str, str]:
    """Write the scored questions with their answers, and as many others with theirs."""
    path = folder / "s.yaml"
    drawn = "  extra: {train: {text: extra}}\n  test: {train: {text: scored}}"
    path.write_text(world.suite(drawn, seed=seed))
    scored = {each.id for each in sweeps_of(plan_file(path))[0].condition.prompt_set.validation}
    rows = world.examples(seed)
    own = [row for row in rows if row["id"] in scored]
    others = [row for row in rows if row["id"] not in scored][: len(own)]
    (folder / "own.txt").write_text(world.answered(own))
    (folder / "others.txt").write_text(world.answered(others))
    return {"extra": "others.txt", "test": "own.txt"}


@pytest.fixture
def control(tmp_path: Path, kind: Kind, measured: Measured) -> Control:
    found = Control(tmp_path, kind)
    measured("Trained arms", kind, found.share("tuned on the text"), found.boosts())
    return found


@pytest.mark.parametrize("kind", ["with answers"])
def test_answers_in_the_texts_are_found(control: Control) -> None:
    assert control.share("tuned on the text") >= 18 / 20


@pytest.mark.parametrize("kind", ["without answers"])
def test_texts_without_answers_are_not(control: Control) -> None:
    assert control.boosts() >= 16 / 20
    assert control.share("tuned on the text") <= 3 / 20
    assert SEEDS == 1 or any(check["bias"] for check in control.checks)


@pytest.mark.parametrize("kind", ["of no help"])
def test_what_does_not_help_is_inconclusive(control: Control) -> None:
    # A boost by accident is found in one of twenty.
    assert control.share("inconclusive") >= 17 / 20


def test_the_suite_that_comes_along_finds_a_boost_where_there_is_one(tmp_path: Path) -> None:
    suites = Path(__file__).parents[2] / "eval_suites"
    shutil.copytree(suites / "demo", tmp_path / "eval_suites" / "demo")
    text = (suites / "pretraining" / "small.yaml").read_text()
    if SEEDS == 1:
        text = re.sub("^replicates: .*$", "", text, flags=re.MULTILINE)
    path = tmp_path / "eval_suites" / "pretraining" / "small.yaml"
    path.parent.mkdir()
    path.write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(
        [*command, "--maxrandom-json=r.json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    checks = json.loads((tmp_path / "r.json").read_text())["contamination"]
    found = {each["task"]: each["finding"] for each in checks}
    assert found == {"new_words": "no sign of it", "digit_sum": "inconclusive"}
