"""Environments that have some of the packages that are installed here, made without a network.

A package that is not meant to be there is not there, for processes that tests start as well.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from sysconfig import get_paths
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@dataclass
class Packages:
    """What some requirements of this project bring with them, as far as it is installed here."""

    distributions: dict[str, Distribution] = field(default_factory=dict[str, Distribution])
    missing: set[str] = field(default_factory=set[str])
    """Names of packages that are needed and not installed here."""
    _walked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @classmethod
    def needed(cls, extras: Iterable[str] = (), groups: Iterable[str] = ()) -> Packages:
        """Walk from the dependencies of the project, of some of its extras and of some groups."""
        packages = cls()
        optional = PROJECT["project"]["optional-dependencies"]
        lines = [*PROJECT["project"]["dependencies"]]
        lines += [line for extra in extras for line in optional[extra]]
        lines += [line for group in groups for line in group_of(group)]
        packages._walk(lines, "")
        return packages

    def _walk(self, lines: Iterable[str], extra: str) -> None:
        for requirement in map(Requirement, lines):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            for wanted in ("", *requirement.extras):
                if (name, wanted) in self._walked:
                    continue
                self._walked.add((name, wanted))
                try:
                    self.distributions[name] = distribution(name)
                except PackageNotFoundError:
                    self.missing.add(name)
                else:
                    self._walk(self.distributions[name].requires or [], wanted)

    def environment(self, folder: Path) -> Environment:
        """Make an environment that has them, and neither pip nor the project."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        environment = Environment(folder)
        for package in self.distributions.values():
            environment.link(package)
        return environment


@dataclass(frozen=True)
class Environment:
    """A virtual environment whose packages are links to those that are installed here."""

    folder: Path

    @property
    def _places(self) -> dict[str, str]:
        return get_paths("venv", {"base": str(self.folder), "platbase": str(self.folder)})

    @property
    def scripts(self) -> Path:
        """The folder with its Python."""
        return Path(self._places["scripts"])

    def link(self, package: Distribution) -> None:
        """Link the files of a package, which may share folders with others."""
        for file in package.files or []:
            if file.parts[0] == ".." or "__pycache__" in file.parts:
                continue  # scripts, and what Python writes by itself
            target = Path(self._places["purelib"]) / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                target.symlink_to(Path(str(package.locate_file(file))))

    def add_project(self) -> None:
        """Put the tree under test on its path, with the metadata that pip writes."""
        site, project = Path(self._places["purelib"]), PROJECT["project"]
        (site / "project.pth").write_text(f"{ROOT}\n")
        metadata = site / f"pytest_maxrandom-{project['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = {"console_scripts": project["scripts"], **project["entry-points"]}
        (metadata / "entry_points.txt").write_text(
            "".join(
                f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())
                for group, lines in points.items()
            )
        )


def group_of(name: str) -> list[str]:
    """Return the requirements of a dependency group, and of those that it includes."""
    lines: list[str] = []
    for entry in PROJECT["dependency-groups"][name]:
        lines += [entry] if isinstance(entry, str) else group_of(entry["include-group"])
    return lines


def installed_by(line: str) -> tuple[set[str], set[str]]:
    """Return the project's extras and groups that a line of pip installs."""
    extras = {
        extra for listed in re.findall(r"\.\[([\w,-]+)\]", line) for extra in listed.split(",")
    }
    return extras, set(re.findall(r"--group[ =](\w+)", line))
