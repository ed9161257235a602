"""How Sphinx builds the site from build/docs-source, which tools/assemble.py makes: `make docs`.

Formulas are MathML, nothing is loaded from elsewhere, warnings are errors, and so are links to what is not there.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "tools"), str(DOCS.parent)]

from source_links import source_of  # noqa: E402
from sphinx.search.en import SearchEnglish  # noqa: E402

import fairalloc  # noqa: E402

project, author = "fairalloc", "The fairalloc developers"
copyright = author  # noqa: A001 (Sphinx' name)
version = release = fairalloc.__version__

extensions = ["myst_parser", "sphinx.ext.linkcode", "docstrings", "mathml", "offline"]
exclude_patterns = ["parts/**"]
templates_path = [str(DOCS / "templates")]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
smartquotes = False  # "--" and quotes are what a command wants
nitpicky = True  # a module that is not there is an error; types in signatures need no page
nitpick_ignore_regex = [(r"py:(?!mod).*", r".*")]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "fairalloc"
html_static_path = [str(DOCS / "static"), str(DOCS.parent / "build" / "docs-source" / "static")]
html_extra_path = [str(DOCS.parent / "build" / "extra")]  # the reports of the benchmarks
html_css_files = ["site.css"]
html_js_files = ["filter.js"]
html_context = {"default_mode": "light"}  # figures, reports and outputs are on white
html_copy_source = html_show_sourcelink = False
html_search_scorer = str(DOCS / "static" / "scorer.js")
html_show_search_summary = False  # its texts are fetched, which pages from file:// may not
html_sidebars = {page: [] for page in ("index", "gallery", "faq", "guides/install", "statements/[a-z]*")}
html_sidebars["statements/[A-Z]*"] = ["statements.html"]
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 8,
    "navbar_end": [],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Where the code of a name is read: the [source] beside it."""
    return source_of(info["module"], info["fullname"]) if domain == "py" and info["module"] else None


class EachWordOnce(SearchEnglish):
    """The index of words: the stem of each is looked for once, which halves the time that the index takes."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(super().stem)


def setup(app: Any) -> None:
    """Join Sphinx."""
    app.add_search_language(EachWordOnce)
