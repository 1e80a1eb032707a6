"""The wheel holds what the source tree holds, and works where there is no source tree."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from tests.integration.jobs import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_templates_schemas_and_the_entry_point_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (points,) = (name for name in names if name.endswith("entry_points.txt"))
        text = archive.read(points).decode()
    templates = {path.name for path in (ROOT / "templates").iterdir()}
    assert {f"pytest_maxrandom/templates/{name}" for name in templates} <= names
    assert "pytest_maxrandom/suite/schema.json" in names
    assert "pytest_maxrandom/reports/results.schema.json" in names
    assets = (ROOT / "pytest_maxrandom" / "reports" / "page" / "assets").iterdir()
    assert {f"pytest_maxrandom/reports/page/assets/{path.name}" for path in assets} <= names
    assert "pytest_maxrandom/py.typed" in names
    assert "maxrandom = pytest_maxrandom.plugin" in text
    assert not any(name.startswith(("tests", "tools", "eval_suites")) for name in names)


def test_the_installed_wheel_renders_a_report(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(installed), str(wheel)], check=True)
    (tmp_path / "test_claim.py").write_text(
        "def test_claim(maxrandom):\n"
        "    maxrandom.check(\n"
        "        best_correct=70, n=100, t=10, chance=0.5, p_max=0.05, task='from a wheel')\n"
    )
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r}); import pytest, pytest_maxrandom; "
        f"assert pytest_maxrandom.__file__.startswith({str(installed)!r}); "
        "sys.exit(pytest.main(['-q', '--maxrandom-report=r.md', '--maxrandom-html=p.html']))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert "from a wheel" in (tmp_path / "r.md").read_text()
    assert "from a wheel" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_the_package_index_can_show_the_metadata(wheel: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    labels = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert {"Documentation", "Source", "Issues", "Changelog"} <= labels
    # On the index no address is relative to anything.
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert not re.search(r"\]\((?!https://)", text)
