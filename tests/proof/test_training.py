"""Arms that are trained: answers in the texts are found, texts without answers are not.

The controls of the check for contamination, in the tiny world of `tests.trained_arms`. Tuned on the
scored questions with their right answers, a model is found, whether the answers follow a rule, so
that other questions with their answers help as well, or follow none, so that it memorised them.
Tuned on the same questions without them, which helps as much as other questions do, it is not; nor
where both arms have also read how other questions are answered, which makes the boost sure. And
where texts do not help, the check says that it cannot tell.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from tests import trained_arms as world
from tests.proof.scale import scaled

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

    Row: TypeAlias = dict[str, Any]

pytestmark = pytest.mark.proof

SEEDS = scaled(20, 1)
Kind = Literal[
    "with answers", "memorised answers", "without answers", "others answered", "of no help"
]
WITHOUT_A_RULE = ("memorised answers", "of no help")
ANSWERED = 40
"""Other questions with their answers that each arm of one control reads as well."""


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

    def is_biased(self) -> bool:
        """Tell whether some arms differ, so that the check could be wrong."""
        return SEEDS == 1 or any(each["bias"] for each in self.checks)


def _write(folder: Path, seed: int, kind: Kind) -> None:
    """Write a world and its suite."""
    folder.mkdir(parents=True)
    count = 2 * (world.N + ANSWERED) if kind == "others answered" else 200
    rows = world.examples(seed, told=kind not in WITHOUT_A_RULE, count=count)
    world.write(folder, seed, rows)
    texts = {"extra": "extra", "test": "scored"}
    if kind in ("with answers", "memorised answers"):
        texts = _with_answers(folder, seed, rows)
    elif kind == "others answered":
        texts = _others_answered(folder, seed, rows)
    # Whoever has learned all there is answers alike in both arms, and no check could be wrong.
    settings = world.IN_PART if kind in ("without answers", "others answered") else world.SETTINGS
    arms = "\n".join(
        f"  {arm}: {{train: {{text: {text}, {settings}}}}}" for arm, text in texts.items()
    )
    (folder / "s.yaml").write_text(world.suite(arms, seed=seed))


def _with_answers(folder: Path, seed: int, rows: list[Row]) -> dict[str, str]:
    """Write the scored questions with their answers, and as many others with theirs."""
    own, others = _scored_and_others(folder, seed, rows)
    return _files(folder, world.answered(own), world.answered(others[: len(own)]))


def _others_answered(folder: Path, seed: int, rows: list[Row]) -> dict[str, str]:
    """Write the scored questions, or as many others; and further ones with their answers."""
    own, others = _scored_and_others(folder, seed, rows)
    first, second = (others[at : at + ANSWERED] for at in (0, ANSWERED))
    unanswered = others[2 * ANSWERED :][: len(own)]
    assert len(own) == len(unanswered) == world.N
    texts = [
        "\n".join([*(row["input"] for row in plain), world.answered(told)])
        for plain, told in ((own, first), (unanswered, second))
    ]
    return _files(folder, *texts)


def _scored_and_others(folder: Path, seed: int, rows: list[Row]) -> tuple[list[Row], list[Row]]:
    path = folder / "s.yaml"
    drawn = "  extra: {train: {text: extra}}\n  test: {train: {text: scored}}"
    path.write_text(world.suite(drawn, seed=seed))
    scored = {each.id for each in sweeps_of(plan_file(path))[0].condition.prompt_set.validation}
    own = [row for row in rows if row["id"] in scored]
    return own, [row for row in rows if row["id"] not in scored]


def _files(folder: Path, own: str, others: str) -> dict[str, str]:
    """Write the texts of both arms that are tuned, and return where they are."""
    (folder / "own.txt").write_text(own)
    (folder / "others.txt").write_text(others)
    return {"extra": "others.txt", "test": "own.txt"}


@pytest.fixture
def control(tmp_path: Path, kind: Kind, measured: Measured) -> Control:
    found = Control(tmp_path, kind)
    columns = "texts | found | bias"
    measured("Trained arms", columns, kind, found.share("tuned on the text"), found.boosts())
    return found


@pytest.mark.parametrize("kind", ["with answers", "memorised answers"])
def test_answers_in_the_texts_are_found(control: Control) -> None:
    assert control.share("tuned on the text") >= 18 / 20


@pytest.mark.parametrize("kind", ["without answers"])
def test_texts_without_answers_are_not(control: Control) -> None:
    assert control.boosts() >= 16 / 20
    assert control.share("tuned on the text") <= 3 / 20
    assert control.is_biased()


@pytest.mark.parametrize("kind", ["others answered"])
def test_the_bias_keeps_its_level_where_there_is_a_boost(control: Control) -> None:
    assert control.boosts() >= 18 / 20
    assert control.share("tuned on the text") <= 3 / 20
    assert control.is_biased()


@pytest.mark.parametrize("kind", ["of no help"])
def test_of_what_does_not_help_the_check_cannot_tell(control: Control) -> None:
    # By accident a boost, or a bias, is found in one of twenty each.
    assert control.share("tuned on the text") <= 3 / 20
    assert control.share("cannot tell") >= 15 / 20


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
    assert found == {"new_words": "no sign of it", "digit_sum": "cannot tell"}
