"""The documentation site in a real browser: a cut of its pages, where `make docs` has built it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SITE = Path(__file__).parents[2] / "build" / "docs"
PAGES = (
    "index",
    "tutorials/first-claim",
    "how-to/gate",
    "how-to/red-flags/constant_answers",
    "reference/suite-keys",
    "reference/commands",
    "reference/python",
    "explanation/what-the-baseline-can-tell",
    "explanation/sources",
    "genindex",
    "search",
)
pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built; make docs builds it"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_pages_have_no_fault_ask_for_nothing_and_are_as_wide_as_the_window(
    scheme: str, width: int, browser: Browser
) -> None:
    package = pytest.importorskip(
        "axe_playwright_python.base", reason="axe-playwright-python is not installed"
    )
    axe = package.AXE_FILE_PATH.read_text(encoding="utf-8")
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for name in PAGES:
            page.goto((SITE / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
            page.evaluate(axe)
            found = page.evaluate("axe.run(document)")["violations"]
            assert found == [], (name, json.dumps(found, indent=1)[:3000])
        assert len(asked) > len(PAGES)
        assert all(url.startswith(("file:", "data:")) for url in asked)


def test_formulas_are_drawn_and_sources_are_listed(browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((SITE / "explanation/what-the-baseline-can-tell.html").as_uri())
        formulas = page.locator("article math")
        assert formulas.count() > 5
        assert all((each.bounding_box() or {"width": 0})["width"] > 3 for each in formulas.all())
        page.goto((SITE / "explanation/sources.html").as_uri())
        entries = page.locator(".citation").all_inner_texts()
        assert len(entries) >= 20
        assert not any("$" in entry for entry in entries)
