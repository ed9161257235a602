"""After the build: no page loads anything from elsewhere, and the site is small enough to keep.

A script, a style sheet, a picture or a frame with an address of its own makes the build fail; links that a reader follows do not.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

MOST = 30e6
"""Bytes of the whole site."""

LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "video": "src",
}
"""What a browser loads by itself, by the name of the element."""

NOT_LOADED = {"author", "canonical", "help", "license", "next", "prev", "search"}
"""Kinds of `link` that only say something."""


class _Loads(HTMLParser):
    """The addresses elsewhere that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of an element that is loaded."""
        given = dict(attrs)
        address = given.get(LOADED.get(tag, "")) or ""
        if re.match(r"(https?:)?//", address) and not (tag == "link" and given.get("rel") in NOT_LOADED):
            self.found.append(address)


def loaded_from_elsewhere(page: str) -> list[str]:
    """The addresses elsewhere that a page of HTML loads by itself."""
    reader = _Loads()
    reader.feed(page)
    return reader.found


def style_loads(style: str) -> list[str]:
    """The addresses elsewhere that a style sheet loads."""
    return re.findall(r"(?:@import\s+|url\(\s*)[\"']?((?:https?:)?//[^\"')\s]+)", style)


def faults(site: Path) -> Iterator[str]:
    """What is wrong with a built site, in sentences."""
    for page in site.rglob("*.html"):
        for address in loaded_from_elsewhere(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(site)} loads {address}"
    for style in site.rglob("*.css"):
        for address in style_loads(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)} loads {address}"
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    if size > MOST:
        yield f"the site has {size / 1e6:.1f} MB, but it may have {MOST / 1e6:g}"


def _check(app: Any, failed: Exception | None) -> None:
    from sphinx.errors import ExtensionError

    if failed is None and app.builder.name == "html":
        found = list(faults(Path(app.outdir)))
        if found:
            raise ExtensionError("; ".join(found))


def setup(app: Any) -> dict[str, bool]:
    """Check when the pages are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
