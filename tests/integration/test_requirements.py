"""What the job that may write installs: all that the package needs, at pinned versions, by hash."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.integration.jobs import COMMENT, ROOT

if TYPE_CHECKING:
    from pathlib import Path

LISTED = COMMENT.with_name("requirements.txt")
_PIN = re.compile(
    r"^([\w.-]+)==(\S+)(?: ; .*?)? \\\n((?: {4}--hash=sha256:[0-9a-f]{64}.*\n)+)", re.M
)


def _pins(path: Path) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def _needed() -> set[str]:
    """Walk from what the package depends on; extras are not installed there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: set[str] = set()
    waiting = [Requirement(line) for line in project["dependencies"]]
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in found:
            found.add(name)
            further = map(Requirement, requires(name) or [])
            linux = {"extra": "", "sys_platform": "linux", "platform_system": "Linux"}
            waiting += [one for one in further if not one.marker or one.marker.evaluate(linux)]
    return found


def test_each_package_has_hashes_and_nothing_stands_without() -> None:
    text = LISTED.read_text(encoding="utf-8")
    assert _pins(LISTED).keys() == {canonicalize_name(name) for name, _, _ in _PIN.findall(text)}
    assert not re.search(r"^(-|git\+|https?:)|@ ", text, re.MULTILINE)


def test_it_is_what_the_package_needs_at_the_versions_that_are_tested() -> None:
    pins, tested = _pins(LISTED), _pins(ROOT / "constraints.txt")
    assert _needed() <= pins.keys()
    assert {name: tested.get(name) for name in pins} == pins
