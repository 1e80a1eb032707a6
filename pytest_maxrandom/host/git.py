"""What git knows of a folder, asked through its command; nothing here changes a repository."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_FETCH_ALL = "`fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab"
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What git tells its hooks of another folder's repository."""
_REGULAR = ("100644", "100755")
_LINK = "120000"
_SUBMODULE = "160000"
_LARGEST, _LARGEST_TREE = 2**20, 2**26
"""Bytes of a file, and of all, that are written of a commit: suites, tasks, not data or weights."""
_PATIENCE = 60.0
"""Seconds that git may take: what waits for a network drive or a lock must not hold up a run."""
_HASH = re.compile("[0-9a-f]{7,64}")
_COUNTED = re.compile(r"[~^@]|^HEAD$")
_OWN = re.compile(r"|@|((FETCH|ORIG|MERGE|CHERRY_PICK|REVERT|REBASE|BISECT)_)?HEAD")
"""Names that git itself gives, which no reference of the same name replaces."""
_PLACES = (
    *("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}"),
    "refs/remotes/{}/HEAD",
)
"""Where git looks for a name, in its order; a name that is written out in full is first."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree."""

    root: Path
    """Its top folder."""

    def commit(self, ref: str) -> str:
        """Return the commit that a reference names.

        Raises
        ------
        GitError
            With the way out, if there is none, or a shallow clone lacks it, or several have the
            name: git would take the first of these, which may be a tag of anybody's.
        """
        if ref.startswith("-") or not ref.isprintable() or not ref.strip():
            raise GitError(f"found {ref!r}, expected a branch, a tag or a commit")
        name = self._in_full(ref)
        code, output, _ = _git(self.root, "rev-parse", "--verify", f"{name}^{{commit}}")
        if code:
            shallow = ", which is a shallow clone" if self.is_shallow() else ""
            raise GitError(
                f"git knows no commit {ref} in {self.root}{shallow}; {self._way_out(ref)}"
            )
        return _text(output).strip()

    def _in_full(self, ref: str) -> str:
        """Write a reference out; what is no name of one, such as a commit, stays as it is."""
        name = re.split(r"[~^:]|@\{", ref, maxsplit=1)[0]
        if _OWN.fullmatch(name):
            return ref
        asked = [place.format(name) for place in _PLACES]
        known = self._asked("for-each-ref", "--format=%(refname)", "--", *asked)
        listed = _text(known).split()
        # A pattern also stands for all that is below a folder of its name.
        places = [place for place in asked if place in listed]
        if places and _HASH.fullmatch(name):
            code, _, _ = _git(self.root, "cat-file", "-e", f"{name}^{{commit}}")
            also = [] if code else [f"the commit {name}"]
            places += also
        if len(places) > 1:
            raise GitError(
                f"{ref} is ambiguous in {self.root}: it is {' and '.join(places)}; name one in "
                "full, or delete the other"
            )
        return places[0] + ref.removeprefix(name) if places else ref

    def fork_point(self, ref: str) -> str:
        """Return the commit where HEAD's history left that of a reference.

        Where git cannot tell, as in a shallow clone, it is the reference itself; see
        `check_fork_known`.

        Raises
        ------
        GitError
            If there is no such reference.
        """
        commit = self.commit(ref)
        code, found, _ = _git(self.root, "merge-base", commit, "HEAD")
        return commit if code else _text(found).strip()

    def check_fork_known(self, ref: str) -> None:
        """Refuse to tell what HEAD lacks of a reference where it may have left it earlier.

        Raises
        ------
        GitError
            With the way out, if this is a shallow clone that does not reach back so far.
        """
        code, _, _ = _git(self.root, "merge-base", self.commit(ref), "HEAD")
        if code and self.is_shallow():
            raise GitError(
                f"where HEAD left {ref} is not known in {self.root}, which is a shallow clone, so "
                f"lines that {ref} has and HEAD lacks may be newer; {self._way_out(ref)}"
            )

    def _way_out(self, ref: str) -> str:
        """Say how to get a reference with its history: a bare name would fill FETCH_HEAD only.

        What is counted from a reference, as `HEAD~1` is, cannot be fetched by its name.
        """
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        name = name.removeprefix("origin/")
        whole = "--unshallow " if self.is_shallow() else ""
        wanted = f"{name}:refs/remotes/origin/{name}" if name != ref else f"{name}:{name}"
        if _HASH.fullmatch(ref):
            wanted = ref
        if _COUNTED.search(ref):
            wanted = ""
        command = f"git fetch {whole}origin {wanted}".rstrip()
        return f"fetch the whole history ({_FETCH_ALL}), here `{command}`"

    def is_shallow(self) -> bool:
        """Tell whether commits are missing that the server has."""
        _, found, _ = _git(self.root, "rev-parse", "--is-shallow-repository")
        return found.strip() == b"true"

    def files_at(self, commit: str) -> Mapping[str, str]:
        """Return the regular files of a commit: path from the root to the object's name.

        Raises
        ------
        GitError
            If the commit is not there.
        """
        entries = self._entries(commit)
        return {path: name for (mode, _, name), path in entries if mode in _REGULAR}

    def submodules_at(self, commit: str) -> list[str]:
        """Return the paths of a commit's submodules, whose files it does not hold.

        Raises
        ------
        GitError
            If the commit is not there.
        """
        return [path for (mode, *_), path in self._entries(commit) if mode == _SUBMODULE]

    def _entries(self, commit: str, *more: str) -> Iterator[tuple[list[str], str]]:
        """Yield what a commit holds: mode, type and name, and more that is asked for; the path."""
        found = self._asked("ls-tree", "-r", "-z", "--full-tree", *more, commit)
        for head, _, path in (entry.partition("\t") for entry in _names(found)):
            yield head.split(), path

    def contents(self, objects: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of objects by their names.

        Raises
        ------
        GitError
            If one is not there.
        """
        wanted = list(dict.fromkeys(objects))
        if not wanted:
            return {}
        asked = "".join(f"{name}\n" for name in wanted).encode("ascii")
        stream = io.BytesIO(self._asked("cat-file", "--batch", stdin=asked))
        texts: dict[str, bytes] = {}
        for name in wanted:
            words = stream.readline().split()
            if len(words) != 3:
                raise GitError(f"{self.root}: git lacks the object {name}; fetch it ({_FETCH_ALL})")
            texts[name] = stream.read(int(words[2]))
            stream.readline()
        return texts

    def changed_since(self, commit: str) -> list[str]:
        """Return the paths, from the root, of which the work tree has other contents, or none.

        Raises
        ------
        GitError
            If git fails.
        """
        found = self._asked("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit)
        others = self._asked("ls-files", "-z", "--others", "--exclude-standard", "--full-name")
        return list(dict.fromkeys([*_names(found), *_names(others)]))

    def ignored(self) -> list[str]:
        """Return the paths, from the root, of files and whole folders that git ignores."""
        kinds = ("--others", "--ignored", "--exclude-standard", "--directory")
        found = self._asked("ls-files", "-z", *kinds)
        return [name.removesuffix("/") for name in _names(found)]

    def write_files(
        self, commit: str, folder: Path, whole: Callable[[str], bool]
    ) -> list[PurePosixPath]:
        """Write the regular files of a commit into a folder: all but the large ones.

        A symbolic link to a file or folder of the commit is written as what it leads to.

        Parameters
        ----------
        whole : callable
            Tells, by their paths, which files are written however large they are.

        Returns
        -------
        list of PurePosixPath
            What stands behind links, and links that lead to nothing in the commit.

        Raises
        ------
        GitError
            If the commit, or a file's contents, is not there.
        """
        entries = self._entries(commit, "-l")
        inside = [each for each in entries if ".." not in Path(each[1]).parts]
        sizes = [
            (not whole(path), int(size), path, name)
            for (mode, _, name, size), path in inside
            if mode in _REGULAR
        ]
        kept, total = dict[str, str](), 0
        for may_lack, size, path, name in sorted(sizes):
            total += size if may_lack else 0
            if may_lack and (size > _LARGEST or total > _LARGEST_TREE):
                break
            kept[path] = name
        behind, nowhere = dict[str, str](), list[str]()
        links = {path: name for (mode, _, name, _), path in inside if mode == _LINK}
        leads = self.contents(links.values())
        for path, name in links.items():
            to = leads[name].decode(errors="replace")
            target = os.path.normpath(PurePosixPath(path).parent / to)
            linked = {
                path + each.removeprefix(target): content
                for each, content in kept.items()
                if each == target or each.startswith(f"{target}/")
            }
            behind |= linked
            nowhere += [] if linked else [path]
        contents = self.contents({*kept.values(), *behind.values()})
        for path, name in (kept | behind).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(contents[name])
        return [PurePosixPath(path) for path in (*behind, *nowhere)]

    def files(self, *patterns: str, untracked: bool = True) -> list[Path]:
        """Return the files of the work tree that match a pattern.

        Parameters
        ----------
        *patterns : str
            Pathspecs.
        untracked : bool
            Also those that could be tracked; what git ignores never is.

        Raises
        ------
        GitError
            If git fails.
        """
        kinds = ["--cached", *(["--others", "--exclude-standard"] if untracked else [])]
        found = self._asked("ls-files", "-z", *kinds, "--", *patterns)
        return [self.root / name for name in dict.fromkeys(_names(found))]

    def _asked(self, *arguments: str, stdin: bytes = b"") -> bytes:
        code, found, said = _git(self.root, *arguments, stdin=stdin)
        if code:
            raise GitError(f"{self.root}: git {arguments[0]} failed: {said}")
        return found


def repository(folder: Path) -> Repository:
    """Return the work tree that a folder, which need not exist, is in.

    Raises
    ------
    GitError
        If it is in none, or git is not installed.
    """
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    code, found, said = _git(there, "rev-parse", "--show-toplevel")
    if code:
        raise GitError(f"{there} is not in a git checkout that can be read ({said})")
    return Repository(Path(os.fsdecode(found.rstrip(b"\r\n"))))


def is_checkout(folder: Path) -> bool:
    """Tell, without git, whether a folder seems to be in a work tree."""
    return any((one / ".git").exists() for one in (folder, *folder.absolute().parents))


def _names(found: bytes) -> Iterator[str]:
    return (os.fsdecode(name) for name in found.split(b"\0") if name)


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """Run git, and return its code, what it found, and the last line of what it said.

    What git warns of is shown.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    environment["GIT_NO_REPLACE_OBJECTS"] = "1"  # `git replace` would show other commits
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            env=environment,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(
            f"git {arguments[0]} did not answer in {folder} within {_PATIENCE:.0f} s; see what it "
            f"waits for with `git -C {folder} {arguments[0]}`"
        ) from error
    except OSError as error:
        raise GitError(
            f"git cannot be run ({error.strerror or error}); install it, because the comparison "
            "needs the repository's history"
        ) from error
    said = _text(done.stderr).strip().splitlines()
    for line in said:
        if line.startswith("warning: "):
            print(f"git {arguments[0]}: {line}", file=sys.stderr)
    return done.returncode, done.stdout, said[-1] if said else f"code {done.returncode}"
