"""What the README shows is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import pytest_maxrandom
from pytest_maxrandom import MaxRandomBaseline
from pytest_maxrandom.cli import main
from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.suite.loader import load_any_suite

if TYPE_CHECKING:
    import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_its_suites_are_valid(tmp_path: Path) -> None:
    first, *others = map(yaml.safe_load, _blocks("yaml"))
    for number, block in enumerate([first, *others]):
        # A block without models is a part of the first suite, in place of what stands there.
        suite = block if "models" in block else first | block
        path = tmp_path / f"suite{number}.yaml"
        path.write_text(yaml.safe_dump(suite))
        assert load_any_suite(path).spec.tasks[0].name == suite["tasks"][0]["name"]
    assert len(others) >= 5


def test_its_commands_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = re.findall(r"^\$ maxrandom (.*)$", README, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        assert main(shlex.split(line)) == 0
    assert "0.6365" in capsys.readouterr().out


def test_its_python_gives_the_numbers_beside_it() -> None:
    (block,) = (block for block in _blocks("python") if "import MaxRandomBaseline" in block)
    names = {"MaxRandomBaseline": MaxRandomBaseline, "__name__": "readme"}
    shown = re.findall(r"^(baseline\..*?)\s+# ([\d.]+)$", block, re.MULTILINE)
    assert len(shown) == 3
    exec(block, names)
    for expression, value in shown:
        assert str(eval(expression, names)).startswith(value.removesuffix("..."))


def test_its_hand_written_claim_holds(pytester: pytest.Pytester) -> None:
    (block,) = (block for block in _blocks("python") if "maxrandom.check" in block)
    pytester.makepyfile(block)
    pytester.runpytest().assert_outcomes(passed=1)


def test_its_table_of_red_flags_has_every_kind_with_what_it_does() -> None:
    (table,) = re.findall(r"^\| kinds \| what.*?\n((?:\|.*\n)+)", README, re.MULTILINE)
    told: dict[str, str] = {}
    for row in table.splitlines()[1:]:
        kinds, _, does = row.strip("|").split("|")
        words = [word.strip() for word in does.split(";")]
        names = re.findall(r"`(\w+)`", kinds)
        told |= zip(names, words * len(names) if len(words) == 1 else words, strict=True)
    assert told == {kind: f"{severity}s" for kind, severity in DEFAULTS.items()}


def test_its_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (root / target).exists()] == []


def test_public_names_are_those_that_are_promised() -> None:
    assert set(pytest_maxrandom.__all__) == {
        "MaxRandomBaseline",
        "max_random_F",
        "max_random_baseline",
        "max_random_p_value",
        "max_random_pmf",
    }
    for name in pytest_maxrandom.__all__:
        assert callable(getattr(pytest_maxrandom, name))
