"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import site_reference  # noqa: E402

import pytest_maxrandom  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pytest-maxrandom"
author = "The pytest-maxrandom authors"
project_copyright = author
version = release = pytest_maxrandom.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["examples"]
nitpicky = True
default_role = "code"

# Inventories are read where there is a network: MAXRANDOM_DOCS_INVENTORIES=yes.
INVENTORIES = os.environ.get("MAXRANDOM_DOCS_INVENTORIES") == "yes"
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pytest": ("https://docs.pytest.org/en/stable", None),
    }
    if INVENTORIES
    else {}
)
# Names of other projects are no mistake where their inventories are not at hand.
nitpick_ignore_regex = [] if INVENTORIES else [("py:.*", r"(numpy|pytest|collections|typing)\..*")]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

bibtex_bibfiles = ["../pytest_maxrandom/reports/references.bib"]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = "pytest-maxrandom"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

SCHEMAS = {
    "suite.json": "suite/schema.json",
    "report.json": "reports/results.schema.json",
    "tasks.json": "reports/tasks.schema.json",
}
"""Where the site keeps each JSON Schema, below `schema/`: these addresses do not change."""


def publish_schemas(app: Sphinx, failure: Exception | None) -> None:
    """Copy the JSON Schemas to their addresses."""
    if failure is None and app.builder.format == "html":
        folder = Path(app.outdir) / "schema"
        folder.mkdir(exist_ok=True)
        for name, source in SCHEMAS.items():
            shutil.copyfile(ROOT / "pytest_maxrandom" / source, folder / name)


def setup(app: Sphinx) -> None:
    """Fill in what is made from the code."""

    def fill(_: Sphinx, __: str, source: list[str]) -> None:
        source[0] = site_reference.filled(source[0])

    app.connect("source-read", fill)
    app.connect("build-finished", publish_schemas)
