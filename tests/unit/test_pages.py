"""The project's own pages: what they link to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path.relative_to(ROOT)
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/**/*.md")])
    if not {"build", "dist", "maxrandom-report"} & set(path.relative_to(ROOT).parts[:1])
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.M)
    for target in re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target
