"""Decisions are short numbered notes; what they and the design name is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.unit.test_rooms import floors

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "decisions"
PARTS = ["Decided", "Why", "Rejected", "Figure"]
MOST_WORDS = 120
PAGES = [ROOT / "docs" / "design.md", *sorted(FOLDER.glob("*.md"))]
FOLDERS = (ROOT, ROOT / "pytest_maxrandom", ROOT / "docs")
"""Those from which a path is given."""
PLACEHOLDERS = {"tests/...", "templates/...", "docs/how-to/red-flags/KIND.md"}
OF_OTHERS = {"prompt_logprobs"}
CODE = {".py", ".j2", ".js", ".json", ".toml", ".txt", ".yaml", ".yml"}


class Note(NamedTuple):
    room: str
    number: int
    title: str
    text: str

    @property
    def link(self) -> str:
        """Where the note stands, as seen from the list of all notes."""
        anchor = re.sub(r"[^\w\- ]", "", f"{self.number}. {self.title}".lower())
        return f"{self.room}.md#{anchor.replace(' ', '-')}"


def read(page: Path) -> list[Note]:
    parts = re.split(r"^## (\d+)\. (.*)\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return [Note(page.stem, int(number), title, text) for number, title, text in found]


LIST = (FOLDER / "index.md").read_text(encoding="utf-8")
ROOMS = re.findall(r"^## \[`([a-z]+)/`\]\(\1\.md\)$", LIST, re.MULTILINE)
NOTES = [note for room in ROOMS for note in read(FOLDER / f"{room}.md")]


def test_every_page_is_a_room_and_rooms_stand_from_the_bottom_of_the_picture_to_its_top() -> None:
    assert sorted(ROOMS) == sorted({path.stem for path in FOLDER.glob("*.md")} - {"index"})
    floor = floors()
    assert sorted(ROOMS, key=lambda room: -floor[room]) == ROOMS
    assert LIST.partition(":hidden:\n\n")[2].partition("\n```")[0].split() == ROOMS


def test_numbers_are_counted_through_and_rise_on_each_page() -> None:
    assert sorted(note.number for note in NOTES) == [*range(1, len(NOTES) + 1)]
    for room in ROOMS:
        numbers = [note.number for note in read(FOLDER / f"{room}.md")]
        assert numbers
        assert numbers == sorted(numbers), room


def test_the_list_has_every_note_once_under_its_number() -> None:
    listed = re.findall(r"^(\d+)\. \[(.*)\]\((\S+)\)$", LIST, re.MULTILINE)
    assert listed == [(str(note.number), note.title, note.link) for note in NOTES]


def test_a_note_says_what_why_what_not_and_by_which_figure_in_few_words() -> None:
    for note in NOTES:
        assert re.findall(r"^- \*\*(\w+):\*\* \S", note.text, re.MULTILINE) == PARTS, note
        assert len(note.text.split()) <= MOST_WORDS, note


def test_whoever_names_a_decision_means_one_that_there_is() -> None:
    numbers = {note.number for note in NOTES}
    links = {note.number: note.link for note in NOTES}
    for path, text in sources().items():
        said = {int(number) for number in re.findall(r"\b[Dd]ecision (\d+)\b", text)}
        assert said <= numbers, path
        for number, target in re.findall(r"\[[Dd]ecision (\d+)\]\(([^\s)]+)\)", text):
            assert target.rpartition("/")[2] == links[int(number)], path


@cache
def sources() -> dict[Path, str]:
    """Every text of the project in which something is named."""
    folders = ("pytest_maxrandom", "tests", "tools", "benchmarks", "docs", "templates")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    named = [
        *paths,
        *ROOT.glob("*.md"),
        *ROOT.glob("*.toml"),
        ROOT / "Makefile",
        ROOT / ".gitignore",
    ]
    return {
        path: path.read_text(encoding="utf-8", errors="replace")
        for path in named
        if path.is_file() and path.suffix in {*CODE, ".md", ""}
    }


@cache
def words() -> set[str]:
    """Every word of the code."""
    code = (text for path, text in sources().items() if path.suffix in CODE)
    return {word for text in code for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_paths_and_names_that_a_page_shows_as_code_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for code in {*re.findall(r"`([^`]+)`", text)} - PLACEHOLDERS - OF_OTHERS:
        if re.fullmatch(r"(?:[\w.-]+/)+[\w.-]*", code):
            assert any((folder / code).exists() for folder in FOLDERS), code
        elif re.fullmatch(r"[\w.-]+\.(?:py|md|j2|json|txt)", code):
            assert code in {path.name for path in sources()}, code
        else:
            assert set(re.findall(r"[A-Za-z_]\w+", code)) <= words(), code
