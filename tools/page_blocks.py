"""The code blocks of the documentation: found, run in a scratch folder, and their output renewed.

A page is read from top to bottom, in one folder, as somebody does who follows it:

- ``console``: each command behind ``$`` is run by bash, and what follows it must be what is
  printed; ``...`` stands for anything.
- ``sh`` and ``bash``: must succeed.
- ``python``: examples with ``>>>`` are doctests, which share their names; anything else is run, or
  written to the file that its first line names.
- ``yaml``: written to the file that its first line names. A suite must have no mistake in its keys;
  without a name it is a part of a suite, and must be one that a suite may have.
- Any block behind ``<!-- file: PATH -->`` is written to that file.
- A block behind ``<!-- needs: WHAT -->`` is not run, and one behind ``<!-- fails -->`` must fail.
- ``<!-- given: PAGE -->``: the reader has the files of another page, and what its make_data.py
  makes.

``python tools/page_blocks.py PAGE...`` writes what is printed today into the pages.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite import is_suite
from pytest_maxrandom.suite.loader import load_any_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[a-z]+)(?:: (?P<said>[^\n]*?))? -->\n+)?"
    r"^```(?P<language>[a-z]+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"# (?P<path>[\w./-]+\.(?:ya?ml|py))(?:$|\s)")
_BASE = {
    "models": [{"name": "model", "backend": "mock"}],
    "tasks": [{"name": "task", "format": "csv", "path": "task.csv", "choices": ["yes", "no"]}],
}
"""What stands around a part of a suite."""
_VOLATILE = (
    (re.compile(r"^platform .*\n(?:[a-z]+: .*\n)+", re.MULTILINE), ""),
    (re.compile(r"\b\d+\.\d\ds\b(?: \([\d:]+\))?(?: =+)?"), "0.00s"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d UTC"), "today"),
    (re.compile(r"^[=-]+ | [=-]+$", re.MULTILINE), ""),
)
"""What another machine, or another day, prints otherwise."""


class PageError(Exception):
    """A block does not do what its page says."""


@dataclass(frozen=True, slots=True)
class Block:
    """One code block of a page, with the note before it."""

    language: str
    text: str
    line: int
    note: str = ""
    said: str = ""

    @property
    def needs(self) -> str:
        """What it needs that is not here; nothing where it is run."""
        return self.said if self.note == "needs" else ""

    @property
    def file(self) -> str:
        """The file that it is written to, if any."""
        if self.note == "file":
            return self.said
        named = _NAMED.match(self.text) if self.language in ("yaml", "python") else None
        return named["path"] if named else ""


def blocks(page: str) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    for found in _BLOCK.finditer(page):
        line = page[: found.start("language")].count("\n") + 1
        yield Block(
            found["language"], found["text"], line, found["note"] or "", found["said"] or ""
        )


@dataclass
class Reader:
    """Somebody who follows one page in a folder."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    examples: int = 0

    def begin(self, page: Path) -> Iterator[Block]:
        """Make what a page takes as given, and yield its blocks."""
        text = page.read_text(encoding="utf-8")
        for given in re.findall(r"<!-- given: (\S+) -->", text):
            for block in self.begin(page.parent / given):
                if block.file and not block.needs:
                    self._write(block)
            if (self.folder / "make_data.py").exists():
                self._run("python make_data.py", fails=False)
        yield from blocks(text)

    def follow(self, block: Block) -> None:
        """Do what a block says.

        Raises
        ------
        PageError
            If something else happens than the page says.
        """
        if block.needs:
            return
        if block.file:
            self._write(block)
        elif block.language == "console":
            self._console(block)
        elif block.language in ("sh", "bash"):
            self._run(block.text, fails=block.note == "fails")
        elif block.language == "python" and ">>>" in block.text:
            self._doctest(block)
        elif block.language == "python":
            self._write(Block("python", block.text, block.line, "file", "page_example.py"))
            self._run("python page_example.py", fails=block.note == "fails")
        elif block.language == "yaml":
            self._part(block)

    def _write(self, block: Block) -> None:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        if path.suffix in (".yaml", ".yml"):
            if is_suite(path, self.folder):
                self._load(path)
            else:
                yaml.safe_load(block.text)

    def _part(self, block: Block) -> None:
        said = yaml.safe_load(block.text)
        path = self.folder / "part-of-a-suite.maxrandom.yaml"
        path.write_text(yaml.safe_dump({**_BASE, **said}, sort_keys=False), encoding="utf-8")
        try:
            self._load(path)
        finally:
            path.unlink()

    def _load(self, path: Path) -> None:
        try:
            load_any_suite(path)
        except SuiteError as error:
            raise PageError(str(error)) from None

    def _doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, "page", None, block.line)
        said: list[str] = []
        result = doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
        self.names = test.globs
        self.examples += result.attempted
        if result.failed:
            raise PageError("".join(said))

    def _console(self, block: Block) -> None:
        for command, expected in _commands(block.text):
            printed = self._run(command, fails=None if expected else block.note == "fails")
            if expected and not _agree(expected, printed):
                raise Unexpected(command, expected, printed)

    def _run(self, command: str, *, fails: bool | None) -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder,
            env={**_clean(), "COLUMNS": "80", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if fails is not None and bool(done.returncode) != fails:
            raise PageError(f"`{command}` ended with {done.returncode}:\n{done.stdout}")
        printed = done.stdout.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        printed = _VOLATILE[0][0].sub("", printed)
        return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


class Unexpected(PageError):
    """A command prints something else than its page shows."""

    def __init__(self, command: str, expected: str, printed: str) -> None:
        super().__init__(f"`{command}` prints\n\n{printed}\nand the page shows\n\n{expected}")


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console with what stands below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while expected.startswith("> "):
            more, _, expected = expected.partition("\n")
            command = f"{command}\n{more.removeprefix('> ')}"
        yield command, expected


def _agree(shown: str, printed: str) -> bool:
    """Tell whether a page shows what is printed, but for what differs every day."""
    for pattern, instead in _VOLATILE:
        shown, printed = pattern.sub(instead, shown), pattern.sub(instead, printed)
    return doctest.OutputChecker().check_output(shown.rstrip(), printed.rstrip(), doctest.ELLIPSIS)


def _clean() -> dict[str, str]:
    """Return the environment without what another pytest, or a CI, has put there."""
    found = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "GITHUB_", "CI_", "MAXRANDOM_")) and name != "CI"
    }
    for who in ("AUTHOR", "COMMITTER"):
        found |= {f"GIT_{who}_NAME": "A Reader", f"GIT_{who}_EMAIL": "reader@example.org"}
    found |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_COUNT": "1"}
    found |= {"GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main"}
    return found | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{found.get('PATH', '')}"}


def renewed(page: Path) -> str:
    """Return the text of a page with what its commands print today."""
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder).resolve())
        next(reader.begin(page), None)

        def renew(found: re.Match[str]) -> str:
            (block,) = blocks(found[0])
            text = block.text
            if block.language == "console" and not block.needs:
                text = ""
                for command, expected in _commands(block.text):
                    printed = reader._run(command, fails=None)
                    if not expected or ("..." not in expected and _agree(expected, printed)):
                        printed = expected
                    text += "$ " + command.replace("\n", "\n> ") + f"\n{printed}"
            else:
                reader.follow(block)
            return found[0].replace(block.text, text) if text != block.text else found[0]

        return _BLOCK.sub(renew, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(renewed(path), encoding="utf-8")
