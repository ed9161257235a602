"""Links that are right in the repository, as links between pages of the site."""

import re
from collections.abc import Collection

PAGES = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/contributing.md",
    "CHANGELOG.md": "/changelog.md",
    "CITATION.cff": "/index.md",
    "docs/CONTRIBUTING.md": "/contributing.md",
}
"""Files of the repository and the pages that stand for them; other files in docs/ are pages by their own names."""


def led_to_pages(text: str) -> str:
    """The Markdown text of a file of the repository with its links as links to pages; text in fences of code stays as it is."""

    def led(match: re.Match[str]) -> str:
        file, anchor = match["file"], match["anchor"] or ""
        name = file.removeprefix("../")
        page = PAGES.get(name) or PAGES.get(f"docs/{name}") or f"/{name.removeprefix('docs/').removeprefix('notebooks/')}"
        page = f"/tutorials/{page[1:].removesuffix('.ipynb')}.md" if name.startswith("notebooks/") else page
        page = f"{page.removesuffix('.py')}.md" if page.startswith("/witnesses/") else page
        return f"]({page}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    local = r"\]\((?![a-z]+:|#|/)(?P<file>[^)#\s]+)(?P<anchor>#[^)\s]+)?\)"
    parts[::2] = (re.sub(local, led, part) for part in parts[::2])
    return "".join(parts)


def led_to_statements(text: str, ids: Collection[str]) -> str:
    """The Markdown text with ids of statements, in backticks or brackets, as links to their pages; code stays as it is."""

    def led(match: re.Match[str]) -> str:
        name = match["quoted"] or match["bracketed"]
        return f"[{name}](/statements/{name}.md)" if name in ids else match[0]

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    named = r"`(?P<quoted>[A-Z]\.[\w.-]+)`|\[(?P<bracketed>[A-Z]\.[\w.-]+)\](?!\()"
    parts[::2] = (re.sub(named, led, part) for part in parts[::2])
    return "".join(parts)


def plain(text: str) -> str:
    """Plain text as Markdown that shows every letter of it."""
    return re.sub(r"([\\*_<>\[\]$|#~])", r"\\\1", text)
