"""Collect what Sphinx reads: python docs/tools/assemble.py build/docs-source.

Pages of docs/ and of the root of the repository with their links led to pages, and what is made from the package: statements,
tutorials, reference. A file that stays the same is not written again, so that a second build reads only what changed.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmark_reports import report_links
from gallery import gallery_pages
from links import led_to_pages, led_to_statements
from proof_pages import proof_pages
from reference_pages import reference_pages
from statement_pages import of_a_mechanism, of_a_paper, statement_list, statement_pages, witness_pages
from tutorials import tutorial_pages

from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.registry import PAPERS, all_statements

ROOT = Path(__file__).resolve().parents[2]


def pages() -> Iterator[tuple[str, str | bytes]]:
    """(path, content) of everything."""
    for file in sorted((ROOT / "docs").rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        text = led_to_pages(text, str(file.parent.relative_to(ROOT)))
        text = led_to_statements(text + _ending(file, text), all_statements())
        yield str(file.relative_to(ROOT / "docs")), text
    for file in (ROOT / "docs" / "TEMPLATE.py", *sorted((ROOT / "docs" / "figures").iterdir())):
        yield str(file.relative_to(ROOT / "docs")), file.read_bytes()
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        yield name.lower(), led_to_pages((ROOT / name).read_text(encoding="utf-8"))
    yield "parts/readme.md", led_to_pages(_beginning((ROOT / "README.md").read_text(encoding="utf-8")))
    yield from tutorial_pages(ROOT / "build" / "notebooks", ROOT / "notebooks")
    yield from gallery_pages()
    yield from reference_pages()
    yield from statement_pages()
    yield "static/statements.js", statement_list()
    yield from witness_pages()
    yield from proof_pages()


def contents(text: str, folder: str) -> str:
    """Sphinx's table of contents of the pages of the folder that the text leads to, in this order."""
    found = re.findall(rf"\]\(/{folder}/([^)#]+)\.md\)", text)
    return "\n".join(["\n```{toctree}", ":hidden:\n", *dict.fromkeys(found), "```\n"]) if found else ""


def _ending(file: Path, text: str) -> str:
    """What a page ends with: the contents of its folder, or what is known of its mechanism, paper or benchmarks."""
    if file.name == "index.md" and "{toctree}" not in text:
        return contents(text, file.parent.name)
    if file.name == "BENCHMARKS.md":
        return report_links()
    if file.parent.name == "theory" and file.stem in MECHANISMS:
        return of_a_mechanism(file.stem)
    return of_a_paper(file.stem) if file.parent.name == "papers" and file.stem in PAPERS else ""


def _beginning(readme: str) -> str:
    """The README below its title up to the end of its first example."""
    body = readme.partition("\n")[2]
    return body[: body.index("```\n", body.index("```text\n") + 1) + 4]


def write(folder: Path) -> None:
    """Make the folder hold these pages and nothing else."""
    kept = set()
    for path, content in pages():
        file = folder / path
        kept.add(file)
        data = content.encode() if isinstance(content, str) else content
        if not file.exists() or file.read_bytes() != data:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    for file in folder.rglob("*"):
        if file.is_file() and file not in kept:
            file.unlink()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
