"""What a name means to git: one reference, written out, or an error that says which there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import repository
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone on a branch of its own, one commit ahead of `origin/main`."""
    origin = tmp_path / "origin"
    begin_repository(origin)
    git(tmp_path, "clone", "--quiet", origin, tmp_path / "clone")
    git(tmp_path / "clone", "switch", "--quiet", "--create", "work")
    return commit(tmp_path / "clone")


def test_a_name_of_several_references_is_an_error_that_names_them(clone: Path) -> None:
    main, head = git(clone, "rev-parse", "origin/main"), git(clone, "rev-parse", "HEAD")
    tree = repository(clone)
    assert tree.commit("origin/main") == main
    git(clone, "tag", "origin/main", "HEAD")
    with pytest.raises(GitError) as error:
        tree.commit("origin/main")
    assert "refs/tags/origin/main and refs/remotes/origin/main; name one in full" in str(error)
    assert tree.commit("refs/remotes/origin/main") == main
    assert tree.commit("refs/tags/origin/main") == head
    with pytest.raises(GitError, match="ambiguous"):
        tree.commit("origin/main~0")


@pytest.mark.parametrize("digits", [40, 10])
def test_a_reference_that_is_called_as_a_commit_is_no_commit(clone: Path, digits: int) -> None:
    name = git(clone, "rev-parse", "origin/main")[:digits]
    tree = repository(clone)
    assert tree.commit(name) == git(clone, "rev-parse", "origin/main")
    git(clone, "update-ref", f"refs/heads/{name}", "HEAD")
    with pytest.raises(GitError, match=f"refs/heads/{name} and the commit {name}"):
        tree.commit(name)


def test_the_names_that_git_gives_are_no_branches(clone: Path) -> None:
    head, main = git(clone, "rev-parse", "HEAD"), git(clone, "rev-parse", "origin/main")
    git(clone, "update-ref", "refs/heads/HEAD", "origin/main")
    tree = repository(clone)
    assert [tree.commit("HEAD"), tree.commit("@"), tree.commit("HEAD~1")] == [head, head, main]


def test_a_name_is_no_folder_of_names(clone: Path) -> None:
    git(clone, "update-ref", "refs/tags/release/one", "HEAD")
    git(clone, "update-ref", "refs/remotes/release", "origin/main")
    assert repository(clone).commit("release") == git(clone, "rev-parse", "origin/main")


def test_a_replaced_commit_is_the_one_that_it_was(clone: Path) -> None:
    main = git(clone, "rev-parse", "origin/main")
    (clone / "more").write_text("more")
    commit(clone)
    git(clone, "replace", main, "HEAD")
    assert repository(clone).files_at(main) == {}


def test_what_git_warns_of_is_shown(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(clone, "update-ref", "refs/heads/HEAD", "HEAD")
    repository(clone).commit("HEAD")
    assert "git rev-parse: warning: refname 'HEAD' is ambiguous." in capfd.readouterr().err
