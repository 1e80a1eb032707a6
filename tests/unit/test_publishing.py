"""The publisher's name stands where one script finds it, and a release agrees with itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import publisher
import pytest
import release
import yaml

ROOT = Path(__file__).parents[2]
PLACEHOLDER = "OWNER"
NAME = "-".join(("some", "one"))  # stands nowhere, this file included
_NOT_THE_PUBLISHER = ("OWNER/NAME", "HEAD_OWNER", "_OWNER", "CODEOWNERS")
"""Other words: of options, of shell variables."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all files that git knows, or would: those of a commit."""
    root = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and (ROOT / name).stat().st_size < 2**20:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, root / name)
    publisher.fill(root, _files(root), PLACEHOLDER)  # wherever this runs, it begins with that
    return root


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def _left(root: Path) -> list[str]:
    """Return the lines that still name a placeholder."""
    found = []
    for path in _files(root):
        if path.name in ("publisher.py", "test_publishing.py"):
            continue
        for line in path.read_bytes().splitlines():
            text = line.decode(errors="replace")
            for word in _NOT_THE_PUBLISHER:
                text = text.replace(word, "")
            if PLACEHOLDER in text:
                found.append(f"{path.relative_to(root)}: {text.strip()}")
    return found


@pytest.mark.slow
def test_after_filling_no_placeholder_is_left_and_nothing_else_has_changed(tree: Path) -> None:
    before = {path: path.read_bytes() for path in _files(tree)}
    assert _left(tree)
    changed = publisher.fill(tree, _files(tree), NAME)
    assert {"pyproject.toml", "README.md", "gate.yml", "CODEOWNERS", "publisher.toml"} <= {
        path.name for path in changed
    }
    assert _left(tree) == []
    assert f"https://github.com/{NAME}/pytest-maxrandom" in (tree / "pyproject.toml").read_text()
    # Only the name is new: what does not hold it is byte for byte what it was.
    for path, text in before.items():
        assert path.read_bytes().replace(NAME.encode(), PLACEHOLDER.encode()) == text
    # It can be changed again, and back.
    publisher.fill(tree, _files(tree), "other")
    publisher.fill(tree, _files(tree), PLACEHOLDER)
    assert {path: path.read_bytes() for path in _files(tree)} == before


def test_the_commit_of_a_release_is_written_to_its_own_actions_only(tree: Path) -> None:
    commit = "ab" * 20
    example = tree / ".github" / "examples" / "gate.yml"
    before = example.read_text()
    project = tree / "pyproject.toml"
    version = tomllib.loads(project.read_text())["project"]["version"]
    project.write_text((here := project.read_text()).replace(f'"{version}"', '"7.8.9"', 1))
    publisher.fill(tree, [example], PLACEHOLDER, commit)
    project.write_text(here)
    after = example.read_text()
    assert after.count(f"@{commit} # v7.8.9\n") == 2
    after = after.replace("# v7.8.9", f"# v{version}")
    own = rf"{PLACEHOLDER}/{publisher.PROJECT}\S*@(\w+)"
    assert re.findall(own, after) == [commit, commit]
    other = r"uses: actions/\S+@\w+"
    assert re.findall(other, after) == re.findall(other, before)
    assert re.sub(r"@[0-9a-f]{40}", "@", after) == re.sub(r"@[0-9a-f]{40}", "@", before)
    example.write_text(before)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "a" * 40, "a--b", "$(x)"])
def test_what_can_be_no_name_is_refused(tree: Path, name: str) -> None:
    with pytest.raises(ValueError, match="expected a name on GitHub"):
        publisher.fill(tree, [], name)


def test_all_files_name_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert [each for each in release.mistakes(ROOT, f"v{version}") if "CHANGELOG" not in each] == []
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert re.search(rf"^## {re.escape(version)} - ", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_a_release_needs_its_tag_its_versions_and_a_dated_section(tree: Path) -> None:
    changelog = tree / "CHANGELOG.md"
    text = changelog.read_text()
    assert any(
        "CHANGELOG.md: found no section" in each for each in release.mistakes(tree, "v0.1.0")
    )
    dated = text.replace("## 0.1.0 - Unreleased", "## 0.1.0 - 2026-12-01", 1)
    changelog.write_text(dated + "\n## 0.0.1 - 2026-01-01\n\nOld.\n")
    assert release.mistakes(tree, "v0.1.0") == []
    notes = release.notes(tree, "0.1.0")
    assert "### Added" in notes
    assert "Old." not in notes
    told = release.mistakes(tree, "v0.2.0")
    assert [each.partition(":")[0] for each in told] == [
        "pyproject.toml",
        "pytest_maxrandom/__init__.py",
        "CITATION.cff",
        "CHANGELOG.md",
    ]
    assert release.mistakes(tree, "0.1.0") == ["found the tag 0.1.0, expected v0.1.0"]
    changelog.write_text(text)


def test_the_release_workflow_holds_no_secret_and_writes_where_it_must() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert "secrets." not in str(workflow)
    assert workflow["permissions"] == {}
    writes = {
        name: {key for key, value in job["permissions"].items() if value == "write"}
        for name, job in workflow["jobs"].items()
    }
    assert writes == {
        "build": set(),
        "publish": {"attestations", "id-token"},
        "announce": {"contents"},
    }
    # Who fills the examples and who attaches them is one release.
    commands = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    filled = next(place for place, each in enumerate(commands) if "publisher.py" in each)
    assert filled > commands.index("python -m build --no-isolation")  # the package has none of it
    assert any("workflows/*" in each for each in commands if "gh release create" in each)
    # What can publish runs nothing of the repository, and can be started by a tag only.
    assert not any("run" in step for step in workflow["jobs"]["publish"]["steps"])
    assert workflow[True] == {"push": {"tags": ["v*"]}}


def test_the_pages_workflow_publishes_what_make_docs_builds() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text())
    assert workflow["permissions"] == {}
    build, deploy = workflow["jobs"]["build"], workflow["jobs"]["deploy"]
    assert build["permissions"] == {"contents": "read"}
    assert deploy["permissions"] == {"id-token": "write", "pages": "write"}
    assert not any("run" in step for step in deploy["steps"])
    (folder,) = (step["with"]["path"] for step in build["steps"] if "path" in step.get("with", {}))
    assert f" docs {folder}\n" in (ROOT / "Makefile").read_text()
