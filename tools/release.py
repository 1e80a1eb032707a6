"""Check that a tag names the version that all files name, and print its notes from the changelog.

``python tools/release.py v0.1.0``
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def mistakes(root: Path, tag: str) -> list[str]:
    """Return what does not agree with a tag, a sentence each."""
    version = tag.removeprefix("v")
    found = {
        "pyproject.toml": tomllib.loads(_text(root, "pyproject.toml"))["project"]["version"],
        **{
            file: _one(pattern, _text(root, file))
            for file, pattern in {
                "pytest_maxrandom/__init__.py": r'^__version__ = "(.*)"$',
                "CITATION.cff": r"^version: (.*)$",
            }.items()
        },
    }
    said = [
        f"{file}: found version {each}, expected {version}, as the tag {tag} says"
        for file, each in found.items()
        if each != version
    ]
    if not tag.startswith("v"):
        said.append(f"found the tag {tag}, expected v{version}")
    if not notes(root, version):
        said.append(f"CHANGELOG.md: found no section `## {version} - YEAR-MONTH-DAY` with text")
    return said


def notes(root: Path, version: str) -> str:
    """Return what the changelog says of a version that has a date; else nothing."""
    section = re.search(
        rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)",
        _text(root, "CHANGELOG.md"),
        re.MULTILINE | re.DOTALL,
    )
    return section[1].strip() if section else ""


def _text(root: Path, file: str) -> str:
    return (root / file).read_text(encoding="utf-8")


def _one(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else None


def main() -> None:
    root, tag = Path(__file__).parents[1], sys.argv[1]
    if said := mistakes(root, tag):
        sys.exit("\n".join(said))
    print(notes(root, tag.removeprefix("v")))


if __name__ == "__main__":
    main()
