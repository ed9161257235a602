"""The code on the pages of docs/theory and docs/guides runs, page by page, and prints exactly the text shown below it.

A block of commands runs in the folder of its page, without a shell; one that installs or needs other machines has "unexecuted"
behind its fence, one that another test runs has "elsewhere". A fence with the name of a file writes that file.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.registry import PAPERS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*(DOCS / "theory").glob("*.md"), *(DOCS / "guides").glob("*.md")])
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text):
    """(language, what stands behind it, content) of the fences of a page."""
    return [match.groups() for match in FENCE.finditer(text)]


def printed(run):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue()


def run_page(text, endings):
    """(shown, printed) for every block that shows what the one before it prints; the codes of commands are put into `endings`."""
    scope, found, last = {"__name__": "__main__"}, [], None
    for language, mark, content in blocks(text):
        if mark in ("unexecuted", "elsewhere"):
            last = None
        elif mark:
            Path(mark).write_text(content)
        elif language == "python":
            last = printed(lambda code=content: exec(compile(code, "page", "exec"), scope))
        elif language == "sh":
            last = printed(lambda lines=content: [command(line, endings) for line in lines.splitlines()])
        elif language == "text":
            found.append((content, last))
    return found


def command(line, endings):
    """Print what a command prints, or write it into the file behind ">", and keep the code that it ends with."""
    line, _, file = line.partition(" > ")
    words = shlex.split(line, comments=True)
    assert words[0] == "fairalloc", line
    said = printed(lambda: endings.append(main(words[1:])))
    if file:
        Path(file).write_text(said)
    else:
        print(said, end="")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_the_code_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    endings = []
    for shown, said in run_page(page.read_text(), endings):
        assert said == shown
    assert not any(endings)


def test_another_output_is_seen():
    assert run_page("```python\nprint(1)\n```\n\n```text\n2\n```\n", []) == [("2\n", "1\n")]


def test_every_mechanism_and_paper_has_a_page():
    """Each mechanism's page has an example that runs."""
    pages = {file.stem for file in (DOCS / "theory").glob("*.md")}
    assert pages - {"index", "residuals"} == set(MECHANISMS)
    assert all(run_page((DOCS / "theory" / f"{name}.md").read_text(), []) for name in ("drf", "njc"))
    assert {file.stem for file in (DOCS / "papers").glob("*.md")} == {"index", "printed-numbers", *PAPERS}
