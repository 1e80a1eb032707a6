"""What pytest selects at the base, whatever the work tree has become."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from pytest_maxrandom.ci.selection import Selected, Selection
from pytest_maxrandom.host.data import Boundary
from pytest_maxrandom.host.git import repository
from pytest_maxrandom.ledger.history import Commit
from tests.repositories import begin_repository, commit, git

FILE = PurePosixPath("checks/test_claims.py")
TESTS = """
from pathlib import Path
import pytest

@pytest.fixture(autouse=True)
def needs(request):
    if request.node.name == "test_needs":
        pytest.skip("it is not here")

def test_plain(): raise AssertionError("never called")
def test_needs(): pass
def test_dropped(): pass
@pytest.mark.skip
def test_marked(): pass
@pytest.mark.skipif(not Path("linked").exists(), reason="its data are not here")
def test_linked(): pass
@pytest.mark.xfail
def test_excused(): pass
@pytest.mark.xfail(False, reason="never")
def test_never_excused(): pass
@pytest.mark.parametrize("one", [1, 2])
def test_each(one): pass
"""
DROPS = "def pytest_collection_modifyitems(items):\n    drop(items)\n"
HELPER = "def drop(items):\n    items[:] = [one for one in items if one.name != 'test_dropped']\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, of which the branch `base` has tests of all kinds."""
    folder = tmp_path / "repository"
    (folder / "checks").mkdir(parents=True)
    (folder / FILE).write_text(TESTS)
    (folder / "conftest.py").write_text(f"from helper import drop\n\n{DROPS}")
    (folder / "helper.py").write_text(HELPER)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "data.bin").write_bytes(bytes(2**20 + 1))
    (tmp_path / "outside").write_text("data")
    (folder / "linked").symlink_to("../outside")
    begin_repository(folder)
    git(folder, "branch", "base")
    monkeypatch.chdir(folder)
    return folder


def selected(folder: Path, *arguments: str) -> Selected | None:
    """Ask for the base, with what is in the work tree."""
    base = Commit(repository(folder), "base")
    return Selection(base, ["checks"], arguments, Boundary(folder)).of({FILE})


@pytest.mark.slow
def test_the_base_is_asked_with_its_own_code_and_the_same_arguments(tree: Path) -> None:
    (tree / "conftest.py").write_text(DROPS.replace("drop(items)", "items.clear()"))
    (tree / FILE).unlink()
    commit(tree)
    found = selected(tree, "--deselect", "checks/test_claims.py::test_each[2]")
    assert found is not None
    assert found.unread == frozenset()
    assert dict(found.states) == {
        (FILE, "test_plain"): "selected",
        (FILE, "test_needs"): "skipped",
        (FILE, "test_marked"): "skipped",
        (FILE, "test_linked"): "selected",
        (FILE, "test_excused"): "xfailed",
        (FILE, "test_never_excused"): "selected",
        (FILE, "test_each[1]"): "selected",
    }


@pytest.mark.slow
def test_code_that_comes_from_elsewhere_makes_it_unknown_once_it_is_changed(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "src" / "package").mkdir(parents=True)
    (tree / "helper.py").rename(tree / "src" / "package" / "helper.py")
    (tree / "conftest.py").write_text(f"from package.helper import drop\n\n{DROPS}")
    commit(tree)
    git(tree, "branch", "--force", "base")
    installed = tmp_path / "installed" / "package"
    installed.mkdir(parents=True)
    (installed / "helper.py").write_text(HELPER)
    monkeypatch.setenv("PYTHONPATH", str(installed.parent), prepend=":")
    (tree / "notes.md").write_text("nothing\n")
    found = selected(tree)
    assert found is not None
    assert (FILE, "test_dropped") not in found.states
    (tree / "src" / "package" / "helper.py").write_text(HELPER.replace("dropped", "plain"))
    assert selected(tree) is None


@pytest.mark.slow
def test_what_cannot_be_collected_is_not_known(tree: Path) -> None:
    (tree / FILE).write_text("import nowhere\n")
    commit(tree)
    git(tree, "branch", "--force", "base")
    found = selected(tree)
    assert found is not None
    assert found.unread == {FILE}
    (tree / "conftest.py").write_text("raise SystemExit(0)\n")
    commit(tree)
    git(tree, "branch", "--force", "base")
    assert selected(tree) is None
