"""What the pages of the site tell their readers to do works, and prints what they show."""

from __future__ import annotations

import re
from pathlib import Path

import page_blocks
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT / "docs"))
    for path in ROOT.glob("docs/**/*.md")
    if next(page_blocks.blocks(path.read_text(encoding="utf-8")), None)
)
NOT_RUN = Path(__file__).with_name("not_run.txt")
LANGUAGES = {"console", "sh", "bash", "python", "yaml", "text", "jinja"}


def read(page: str) -> list[page_blocks.Block]:
    return [*page_blocks.blocks((ROOT / "docs" / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES)
def test_who_follows_a_page_sees_what_it_shows(page: str, tmp_path: Path) -> None:
    reader = page_blocks.Reader(tmp_path)
    for block in reader.begin(ROOT / "docs" / page):
        try:
            reader.follow(block)
        except page_blocks.PageError as error:
            way_out = f"`python tools/page_blocks.py docs/{page}` writes what is printed today"
            raise AssertionError(f"docs/{page}:{block.line}: {error}\n{way_out}") from None


def test_what_is_not_run_is_listed_with_what_it_needs() -> None:
    found = [f"{page}: {block.needs}" for page in PAGES for block in read(page) if block.needs]
    assert sorted({*found}) == NOT_RUN.read_text(encoding="utf-8").splitlines()[1:]


def test_every_block_has_a_language_that_is_known() -> None:
    for path in ROOT.glob("docs/**/*.md"):
        text = path.read_text(encoding="utf-8")
        fences = re.findall(r"^```(.*)$", text, re.MULTILINE)
        assert len(fences) % 2 == 0, path
        opened = [each for each in fences[::2] if not each.startswith("{")]
        assert {*opened} <= (LANGUAGES if path.name != "design.md" else {""}), path
