"""Packages that add backends or sources: folders on the path with the metadata that pip writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, package: str, group: str, name: str, code: str, value: str) -> Path:
    """Write a package of one module, and return what must be on the path for it.

    Parameters
    ----------
    name, value : str
        Of its entry point in `group`.
    code : str
        The module, which is called like the package.
    """
    place = folder / f"installed_{package}"
    info = place / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    (place / f"{package}.py").write_text(code)
    return place
