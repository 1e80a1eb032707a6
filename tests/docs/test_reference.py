"""The reference of the site has every name that a reader may look up."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import pytest
import site_reference

from pytest_maxrandom.cli import _parser
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.suite.schema import schema

DOCS = Path(__file__).parents[2] / "docs"


def keys(node: Any) -> set[str]:
    """Every name of a property, wherever it stands below a node of a schema."""
    if isinstance(node, list):
        return {key for each in node for key in keys(each)}
    if not isinstance(node, dict):
        return set()
    own = set(node.get("properties", {}))
    return own.union(*(keys(each) for key, each in node.items() if key not in ("not", "if")))


def test_every_key_of_a_suite_is_explained() -> None:
    text = site_reference.suite_keys()
    told = {*re.findall(r"^`([a-z_0-9]+)`$", text, re.MULTILINE)}
    assert keys(schema()) - told <= {*KINDS}


def test_links_within_the_reference_lead_to_its_sections() -> None:
    for text in (site_reference.suite_keys(), site_reference.report_keys()):
        targets = {*re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)}
        assert {*re.findall(r"\]\(#([\w-]+)\)", text)} <= targets
        assert len(targets) > 20


def test_every_option_of_pytest_is_explained(pytester: pytest.Pytester) -> None:
    helped = pytester.runpytest_subprocess("--help").stdout.str()
    options = {*re.findall(r"--maxrandom-[a-z-]+", helped)}
    assert len(options) > 10
    assert {*re.findall(r"--maxrandom-[a-z-]+", site_reference.options())} >= options


def test_every_command_with_its_options_is_explained() -> None:
    text = site_reference.commands()
    (commands,) = (
        action for action in _parser("")._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, parser in commands.choices.items():
        assert f"`maxrandom {name}`" in text
        for option in parser._option_string_actions:
            assert option in ("-h", "--help") or f"`{option}" in text, (name, option)


def test_every_red_flag_has_a_page_that_shows_its_sentence_and_what_to_do() -> None:
    folder = DOCS / "how-to" / "red-flags"
    pages = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert pages.keys() - {"index"} == {*KINDS}
    for kind in KINDS:
        shown = site_reference.filled(pages[kind])
        assert f"<!-- flag: {kind} " in pages[kind]
        assert "<!--" not in shown
        assert len(re.findall(r"^> .{40}", shown, re.MULTILINE)) >= 1
        assert re.search(r"## What to do\n\n1\. .*\n", shown)
        assert f"]({kind}.md)" in site_reference.filled(pages["index"])


def test_a_text_that_is_not_made_is_no_page() -> None:
    with pytest.raises(KeyError, match="nothing"):
        site_reference.filled("<!-- generated: nothing -->")
