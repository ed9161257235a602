"""Links work on a forge: they are relative, what they lead to is in the repository, and no page has roles of Sphinx."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/*.ipynb")])
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page):
    """The Markdown of a page or a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def anchors(text):
    """The anchors that a forge gives to headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def faults(text, folder):
    """What does not work of the links and roles of a text whose file is in the folder."""
    found = [f"the role {role}" for role in re.findall(r"\{[a-z:]+\}`[^`\n]*`", text)]
    local = [link for link in LINK.findall(CODE.sub("", text)) if not re.match(r"[a-z]+:", link)]
    return found + [link for link in local if link.startswith("/") or not leads(link, text, folder)]


def leads(link, text, folder):
    """Whether a file and a heading of it are there."""
    file, _, anchor = link.partition("#")
    there = folder / file
    return there.exists() and (not anchor or anchor in anchors(text_of(there) if file else text))


@pytest.mark.parametrize(
    "text",
    ["[a](/theory/drf.md)", "[a](nowhere.md)", "[a](../README.md#nowhere)", "{py:mod}`fairalloc.models`", "[a](#nowhere)\n"],
)
def test_a_broken_link_is_seen(text):
    assert len(faults(text, ROOT / "docs")) == 1


def test_all_links_lead_somewhere():
    assert len(PAGES) > 60
    found = {str(page.relative_to(ROOT)): faults(text_of(page), page.parent) for page in PAGES}
    assert {page: links for page, links in found.items() if links} == {}
