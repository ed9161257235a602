"""After the build: no page loads anything from elsewhere, links within the site lead somewhere, and it is small enough to keep.

A script, a style sheet, a picture or a frame with an address of its own makes the build fail; links that a reader follows do not,
unless they lead to a page or a heading of this site that is not there. Sphinx looks at links in Markdown alone.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from os.path import normpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

MOST = 42e6
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


TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
ATTRIBUTE = re.compile(r"""(?<![\w-])(id|name|href|src|data|rel)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
HIDDEN = re.compile(r"<svg\b.*?</svg>|<!--.*?-->|(<(script|style)\b[^>]*>).*?</\2>", flags=re.DOTALL)
"""Figures load nothing and nothing leads to their parts; of a script and a style sheet the first tag counts."""


class _Page:
    """The addresses elsewhere that a page loads, those of the site to which it leads, and its own anchors."""

    def __init__(self, text: str) -> None:
        self.found: list[str] = []
        self.led: set[str] = set()
        self.anchors: set[str] = {""}
        for tag, given in TAG.findall(HIDDEN.sub(r"\1", text)):
            if "=" in given:
                self._read(tag.lower(), {key.lower(): unescape("".join(value)) for key, *value in ATTRIBUTE.findall(given)})

    def _read(self, tag: str, given: Mapping[str, str]) -> None:
        """Keep the addresses and the anchors of an element."""
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and not re.match(r"[a-z]+:|//", given.get("href") or "#"):
            self.led.add(given["href"] or "#")
        address = given.get(LOADED.get(tag, ""), "")
        if re.match(r"(https?:)?//", address) and not (tag == "link" and given.get("rel") in NOT_LOADED):
            self.found.append(address)


def loaded_from_elsewhere(page: str) -> list[str]:
    """The addresses elsewhere that a page of HTML loads by itself."""
    return _Page(page).found


def style_loads(style: str) -> list[str]:
    """The addresses elsewhere that a style sheet loads."""
    return re.findall(r"(?:@import\s+|url\(\s*)[\"']?((?:https?:)?//[^\"')\s]+)", style)


def faults(site: Path) -> Iterator[str]:
    """What is wrong with a built site, in sentences."""
    files = (file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts)
    pages = {file: _Page(file.read_text(encoding="utf-8")) for file in files}
    for file, page in pages.items():
        for address in page.found:
            yield f"{file.relative_to(site)} loads {address}"
        for link in sorted(page.led):
            if not _leads(file, link, pages):
                yield f"{file.relative_to(site)} leads to {link}, which is not there"
    for style in site.rglob("*.css"):
        for address in style_loads(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site)} loads {address}"
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    if size > MOST:
        yield f"the site has {size / 1e6:.1f} MB, but it may have {MOST / 1e6:g}"


def without_indentation(page: str) -> str:
    """A page of HTML without the blanks at both ends of its lines, which browsers do not show; code keeps them."""
    parts = re.split(r"(<(?:pre|script|style|textarea)\b.*?</(?:pre|script|style|textarea)>)", page, flags=re.DOTALL)
    parts[::2] = (re.sub(r"\s*\n\s*", "\n", part) for part in parts[::2])
    return "".join(parts)


def _leads(file: Path, link: str, pages: Mapping[Path, _Page]) -> bool:
    """Whether a link within the site leads to a page and an anchor, or to another file, that is there."""
    parts = urlsplit(link)
    there = Path(normpath(file.parent / unquote(parts.path))) if parts.path else file
    return unquote(parts.fragment) in pages[there].anchors if there in pages else there.is_file()


def _check(app: Any, failed: Exception | None) -> None:
    from sphinx.errors import ExtensionError

    if failed is None and app.builder.name == "html":
        for source_map in Path(app.outdir).rglob("*.map"):  # for those who debug the theme: 2 MB
            source_map.unlink()
        for page in Path(app.outdir).rglob("*.html"):  # the theme indents its lines: 1.6 MB
            page.write_text(without_indentation(page.read_text(encoding="utf-8")), encoding="utf-8")
        found = list(faults(Path(app.outdir)))
        if found:
            raise ExtensionError("; ".join(found))


def setup(app: Any) -> dict[str, bool]:
    """Check when the pages are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
