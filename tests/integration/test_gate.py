"""`maxrandom gate` where there is no GitHub: pytest's code, three files and a sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from pathlib import Path

GATE = [sys.executable, "-m", "pytest_maxrandom.cli", "gate"]
BACKGROUND = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
"""As a shell starts what runs in its background: interrupts are ignored."""


@pytest.fixture
def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}


def _claims(folder: Path, *best: int) -> None:
    (folder / "test_claims.py").write_text(
        "".join(
            f"def test_{place}(maxrandom):\n"
            f"    maxrandom.check(best_correct={value}, n=100, t=10, chance=0.5, p_max=0.05)\n"
            for place, value in enumerate(best)
        )
    )


@pytest.mark.parametrize(
    ("best", "code", "sentence"),
    [
        ((64, 64), 0, "passed: 2 of 2 claims pass"),
        ((64, 63), 1, "failed: 1 of 2 claims fails, 1 passes"),
        (
            (),
            5,
            "error: no claim was found or selected in a folder: suites are YAML files below",
        ),
    ],
)
def test_the_code_is_pytests_and_the_files_are_there(
    tmp_path: Path, environment: dict[str, str], best: tuple[int, ...], code: int, sentence: str
) -> None:
    (tmp_path / "a folder").mkdir()
    _claims(tmp_path / "a folder", *best)
    command = [*GATE, "a folder", "--report=out/of it/claims.md", "--pytest-args=-q -n 0"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert done.stdout.splitlines()[-1].startswith(f"maxrandom gate: {sentence}")
    assert "::" not in done.stdout.splitlines()[0]
    out = tmp_path / "out" / "of it"
    assert {path.name for path in out.iterdir()} == {
        f"claims.{kind}" for kind in ("md", "json", "html", "xml")
    }
    assert len(json.loads((out / "claims.json").read_text())["claims"]) == len(best)
    assert len(list(ET.parse(out / "claims.xml").iter("testcase"))) == len(best)


def test_with_exit_zero_only_a_wrong_argument_fails(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    _claims(tmp_path, 63)
    for arguments, code in ((["."], 0), ([], 2), ([".", "--report=r.txt"], 2)):
        command = [*GATE, "--exit-zero", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        assert done.stderr.startswith("maxrandom gate: ") == (code == 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claims.json", '{"name": "my package"}'),
        ("claims.html", "<!doctype html>\n<title>mine</title>"),
        ("claims.xml", "<project/>"),
        ("claims.json", None),
    ],
)
def test_a_file_that_no_gate_wrote_is_not_overwritten(
    tmp_path: Path, environment: dict[str, str], name: str, content: str | None
) -> None:
    _claims(tmp_path, 64)
    (tmp_path / "claims.md").write_text("an earlier report")
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text(content)
    command = [*GATE, ".", "--report=claims.md"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"maxrandom gate: report: {name}, in the folder of claims.md, would be overwritten, but "
        "no gate wrote it; give --report another name, or move that file\n"
    )
    assert (tmp_path / "claims.md").read_text() == "an earlier report"
    assert content is None or (tmp_path / name).read_text() == content


def test_the_files_of_an_earlier_gate_are_written_anew(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    for best, code in ((64, 0), (63, 1)):
        _claims(tmp_path, best)
        command = [*GATE, "."]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        (record,) = json.loads((tmp_path / "maxrandom-report" / "report.json").read_text())[
            "claims"
        ]
        assert record["best_correct"] == best


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("shell", [[], BACKGROUND], ids=["alone", "in the background"])
def test_a_gate_that_is_interrupted_reports_what_it_has(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals, shell: list[str]
) -> None:
    _claims(tmp_path, 64)
    (tmp_path / "test_long.py").write_text(
        "import pathlib, time\n\n"
        "def test_long(maxrandom):\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [*shell, *GATE, "."], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as gate:
        while not (tmp_path / "begun").exists():
            assert gate.poll() is None
        gate.send_signal(number)
        said, _ = gate.communicate()
    assert gate.returncode == pytest.ExitCode.INTERRUPTED
    assert "pytest was interrupted" in said.splitlines()[-1]
    report = json.loads((tmp_path / "maxrandom-report" / "report.json").read_text())
    assert (report["interrupted"], len(report["claims"])) == (True, 1)
