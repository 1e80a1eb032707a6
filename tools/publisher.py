"""Write the name of the package's publisher on GitHub wherever it stands.

``python tools/publisher.py NAME [--commit SHA]``; `publisher.toml` says which name stands there.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = "pytest-maxrandom"
FILE = "publisher.toml"
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def places(owner: str) -> re.Pattern[str]:
    """Return what matches a name where it is that of the publisher: in addresses and owners."""
    name = re.escape(owner)
    return re.compile(
        rf"(?<![\w-]){name}(?=/{PROJECT}(?![\w-])|\.github\.io/{PROJECT})"  # addresses, `uses:`
        rf"|(?<=@){name}(?=\s*$)"  # owners of files
        rf'|(?<=^owner = "){name}(?="$)',  # publisher.toml
        re.MULTILINE,
    )


def pins(owner: str) -> re.Pattern[str]:
    """Return what matches the commit of this project's own actions, and its version."""
    return re.compile(rf"(?<={re.escape(owner)}/{PROJECT})([\w/.-]*@)[0-9a-f]{{40}} # v[\w.]+")


def fill(root: Path, files: list[Path], name: str, commit: str | None = None) -> list[Path]:
    """Write a name, and a commit with its version, into files; return those that changed.

    Raises
    ------
    ValueError
        If the name can be none of GitHub's, or the commit is none.
    """
    if not _LOGIN.fullmatch(name):
        raise ValueError(f"found {name!r}, expected a name on GitHub: letters, digits and hyphens")
    if commit is not None and not _COMMIT.fullmatch(commit):
        raise ValueError(f"--commit: found {commit!r}, expected 40 hexadecimal digits")
    owner = tomllib.loads((root / FILE).read_text(encoding="utf-8"))["owner"]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changed = []
    for file in files:
        try:
            before = file.read_bytes().decode()
        except UnicodeDecodeError:  # a picture, weights
            continue
        after = places(owner).sub(name, before)
        if commit is not None:
            after = pins(name).sub(rf"\g<1>{commit} # v{project['version']}", after)
        if after != before:
            file.write_bytes(after.encode())
            changed.append(file)
    return changed


def tracked(root: Path) -> list[Path]:
    """Return the files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    return [path for name in listed.stdout.decode().split("\0") if (path := root / name).is_file()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--commit", help="of the release, for the examples of the gate")
    options = parser.parse_args()
    root = Path(__file__).parents[1]
    try:
        changed = fill(root, tracked(root), options.name, options.commit)
    except ValueError as error:
        sys.exit(f"publisher: {error}")
    print("\n".join(str(file.relative_to(root)) for file in changed) or "nothing to change")


if __name__ == "__main__":
    main()
