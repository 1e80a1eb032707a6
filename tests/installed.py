"""Packages that add parts of the plugin: folders on the path with the metadata that pip writes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import page_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "packages.md"


def install(folder: Path, package: str, group: str, name: str, code: str, value: str) -> Path:
    """Write a package of one module, and return what must be on the path for it.

    Parameters
    ----------
    name, value : str
        Of its entry point in `group`.
    code : str
        The module, which is called like the package.
    """
    return install_parts(folder, package, {group: {name: value}}, code)


def install_parts(
    folder: Path, package: str, parts: Mapping[str, Mapping[str, str]], code: str
) -> Path:
    """Do the same with several entry points: by group their names and values."""
    place = folder / f"installed_{package}"
    info = place / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in parts.items()
        )
    )
    (place / f"{package}.py").write_text(code)
    return place


@dataclass(frozen=True)
class Orders:
    """The package that the documentation shows whole, with a part of each kind."""

    parts: Mapping[str, Mapping[str, str]]
    code: str

    @classmethod
    def shown(cls) -> Orders:
        """Read it from its page."""
        files = {block.file: block.text for block in page()}
        project = tomllib.loads(files["pyproject.toml"])["project"]
        return cls(project["entry-points"], files["orders.py"])

    def install(self, folder: Path) -> Path:
        """Install it, and return what must be on the path for it."""
        return install_parts(folder, "orders", self.parts, self.code)

    def suites(self, folder: Path) -> None:
        """Write the suites of its page, and what they need."""
        for block in page():
            if block.file and block.file not in ("orders.py", "pyproject.toml"):
                path = folder / block.file
                path.parent.mkdir(exist_ok=True)
                path.write_text(block.text)


def page() -> Iterator[page_blocks.Block]:
    """Yield the blocks of the page; those that need the package are to be run."""
    for block in page_blocks.blocks(_PAGE.read_text(encoding="utf-8")):
        is_ours = block.needs == "the package installed"
        yield replace(block, note="", said="") if is_ours else block
