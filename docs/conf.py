"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pybtex.plugin import register_plugin
from pybtex.style.formatting.alpha import Style as Alpha
from pybtex.style.template import first_of, optional, sentence

import pytest_maxrandom

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tools"))

import site_reference  # noqa: E402 - it is found there

if TYPE_CHECKING:
    from typing import Any

    from pybtex.database import Entry
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

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
bibtex_default_style = "linked-once"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
smartquotes = False  # dashes and quotes of commands are to be copied as they are
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "pytest-maxrandom"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
html_show_sourcelink = html_copy_source = False  # generated parts are not in the sources
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


class LinkedOnce(Alpha):  # type: ignore[misc]  # pybtex has no types
    """One link for each publication: its DOI, its arXiv page, or else its address."""

    def format_web_refs(self, entry: Entry) -> Any:
        """Return the first that there is."""
        links = [self.format_doi(entry), self.format_eprint(entry), self.format_url(entry)]
        return sentence[optional[first_of[[optional[each] for each in links]]]]


def formula(self: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers show without a script or a network."""
    block = isinstance(node, nodes.math_block)
    made = tex2mathml(node.astext(), as_block=block)
    self.body.append(f'<div class="math">{made}</div>' if block else made)
    raise nodes.SkipNode


def drop_empty_heads(_: Sphinx, page: nodes.document) -> None:
    """Remove the head of a table whose columns have no names."""
    for head in [*page.findall(nodes.thead)]:
        if not head.astext().strip():
            head.parent.remove(head)


def setup(app: Sphinx) -> None:
    """Fill in what is made from the code, and register what writes formulas and sources."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    register_plugin("pybtex.style.formatting", "linked-once", LinkedOnce)

    def fill(_: Sphinx, __: str, source: list[str]) -> None:
        source[0] = site_reference.filled(source[0])

    app.connect("source-read", fill)
    app.connect("doctree-read", drop_empty_heads)
    app.connect("build-finished", publish_schemas)
