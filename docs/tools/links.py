"""Links that are right in the repository, as links between pages of the site."""

import posixpath
import re
from collections.abc import Callable, Collection

PAGES = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CHANGELOG.md": "/changelog.md",
    "CITATION.cff": "/index.md",
    "analysis/plots": "/gallery.md",
    "fairalloc/cli": "/reference/command-line.md",
    "models/files": "/reference/schemas.md",
    "theorems/matrix.py": "/statements/matrix.md",
    "theorems/numbers.py": "/statements/numbers.md",
    "theorems/papers": "/statements/index.md",
    "theorems/smt": "/statements/proofs.md",
}
"""Files and folders of the repository and the pages that stand for them; files in docs/ are pages by their own names."""

FENCE, SPAN = r"^```.*?^```$", r"`[^`\n]*`"
"""Code in lines of its own and within a line, where nothing is a link."""

LOCAL = r"\[(?P<words>[^\]]*)\]\((?![a-z]+:|#|/)(?P<file>[^)#\s]+)(?P<anchor>#[^)\s]+)?\)"
"""A link to a file of the repository."""


def led_to_pages(text: str, folder: str = "") -> str:
    """The Markdown text of a file in a folder of the repository, with links to pages and modules. Code stays as it is."""

    def led(match: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(folder, match["file"]))
        if re.fullmatch(r"docs/\w+\.py", name):
            return f"{{download}}`{match['words']} <{name.removeprefix('docs')}>`"
        if name not in PAGES and not name.startswith(("docs/", "notebooks/")):
            return f"{{py:mod}}`{match['words']} <fairalloc.{name.removesuffix('.py').replace('/', '.')}>`"
        return f"[{match['words']}]({_page(name)}{match['anchor'] or ''})"

    return _outside_code(LOCAL, led, text)


def _outside_code(pattern: str, led: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with what has the pattern replaced, from left to right: so code begins and ends where it does for a reader."""
    found = re.compile(f"{FENCE}|{pattern}|{SPAN}", re.DOTALL | re.MULTILINE)
    return found.sub(lambda match: led(match) if match.lastgroup else match[0], text)


def _page(name: str) -> str:
    """The page of the site for a file of the repository."""
    if name.startswith("notebooks/"):
        return f"/tutorials/{name.removeprefix('notebooks/').removesuffix('.ipynb')}.md"
    page = PAGES.get(name) or f"/{name.removeprefix('docs/')}"
    return f"{page.removesuffix('.py')}.md" if page.startswith("/witnesses/") else page


def led_to_statements(text: str, ids: Collection[str]) -> str:
    """The Markdown text with ids of statements, in backticks or brackets, as links to their pages; code stays as it is."""

    def led(match: re.Match[str]) -> str:
        name = match["quoted"] or match["bracketed"]
        return f"[{name}](/statements/{name}.md)" if name in ids else match[0]

    return _outside_code(r"`(?P<quoted>[A-Z]\.[\w.-]+)`|\[(?P<bracketed>[A-Z]\.[\w.-]+)\](?!\()", led, text)


def plain(text: str) -> str:
    """Plain text as Markdown that shows every letter of it."""
    return re.sub(r"([\\*_<>\[\]$|#~])", r"\\\1", text)
