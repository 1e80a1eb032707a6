"""A JSON report where it is kept: in a file, or at a commit of a git repository."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError, ReportError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.reports.results import load, parse

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


def find(named: str, like: Path | None = None, folder: Path | None = None) -> RunRecord:
    """Read a report that a person names.

    Parameters
    ----------
    named : str
        A file; ``REVISION:PATH``, as git has it, the path from the root of the repository on; or a
        revision alone: then the path is that of `like`.
    like : Path, optional
        A report that is kept in the repository; it need not exist in the work tree.
    folder : Path, optional
        What relative paths are relative to, and whose repository is asked; the current folder if
        not given.

    Raises
    ------
    ReportError
        In one sentence, if there is none, or it cannot be read.
    """
    folder = Path.cwd() if folder is None else folder
    path = folder / named
    if path.is_file():
        return load(path)
    missing = "is a folder" if path.is_dir() else "no such file"
    if not is_checkout(folder):
        raise ReportError(
            f"{named}: {missing}, and this folder is in no git repository that could have a "
            "revision of this name; expected a file written by pytest --maxrandom-json"
        )
    revision, _, below = named.partition(":")
    if not below and path.suffix == ".json":
        # Whoever mistypes a file is not helped by git's words about a branch of this name.
        raise ReportError(
            f"{named}: no such file in {path.parent}; expected a file written by pytest "
            "--maxrandom-json, or one that is committed, as REVISION:PATH"
        )
    try:
        tree = repository(folder)
        commit = tree.commit(revision)
        if not below:
            if like is None:
                raise ReportError(
                    f"{named}: found a git revision without the path of a report; expected a file "
                    f"written by pytest --maxrandom-json, or {named}:PATH, the path from the root "
                    "of the repository"
                )
            below = _from_root(tree.root, folder, like)
        known = tree.files_at(commit)
        if below not in known:
            raise GitError(f"at the commit {commit[:10]} there is no file {below}")
        data = tree.contents([known[below]])[known[below]]
    except GitError as error:
        raise ReportError(
            f"{named}: {missing}, and no report at a git revision of this name ({error}); "
            "expected a file written by pytest --maxrandom-json, a revision that has the other "
            "report, or REVISION:PATH"
        ) from error
    return parse(data, f"{revision}:{below}")


def path_of(named: str, folder: Path | None = None) -> Path | None:
    """Return the path of a report that is named as a file, or as REVISION:PATH; else None."""
    folder = Path.cwd() if folder is None else folder
    if (folder / named).is_file():
        return folder / named
    _, _, below = named.partition(":")
    try:
        return repository(folder).root / below if below else None
    except GitError:
        return None


def _from_root(root: Path, folder: Path, like: Path) -> str:
    try:
        inside = (folder / like).resolve().relative_to(root.resolve())
    except ValueError:
        raise GitError(f"{like} is outside {root}") from None
    return PurePosixPath(inside).as_posix()
