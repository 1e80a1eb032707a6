"""The page with all of its claims opened, as somebody who reads all of it sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.record.packed import unpack
from pytest_maxrandom.reports.html import HTML
from pytest_maxrandom.reports.page.render import html as page

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


def blocks(text: str) -> dict[str, Any]:
    """Return what the page holds deflated, by the ids of its elements."""
    found = re.findall(r'<script type="text/plain" id="([\w-]+)">([^<]*)</script>', text)
    return {name: unpack(packed) for name, packed in found}


def claims(text: str) -> list[dict[str, Any]]:
    """Return what each claim opens to."""
    return [shown for name, shown in blocks(text).items() if name.startswith("claim-")]


def html(run: RunRecord, *options: Any, **further: Any) -> str:
    """Render the page without its script, with what is told of each claim in its stead."""
    text = page(run, None, *options, **further)
    told = "".join(f"<h3>{HTML.plain(each['name'])}</h3>{each['told']}" for each in claims(text))
    before, script, after = text.rpartition("<script>")
    if not script:  # a template of the user's wrote all of it
        return text
    return f"{before}{told}{after.partition('</script>')[2]}"
