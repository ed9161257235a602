"""The code on the pages of docs/ runs, page by page, and prints exactly the text shown below it.

A block of commands runs in the folder of its page, without a shell; one that installs or needs other machines has "unexecuted"
behind its fence, one that another test runs has "elsewhere". Commands that take minutes have "long": the command line must know
their words. A fence with the name of a file writes that file. Code within a sentence runs after the blocks of its page. Blocks of
docs/papers/errata.md are left to the tests of the papers.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc.cli import _parser, main
from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.registry import PAPERS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name != "errata.md" and "```" in page.read_text(encoding="utf-8"))
FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHOWN = ("json", "math", "text")
"""What is not code; neither are directives, whose names stand in braces."""


def blocks(text):
    """(language, what stands behind it, content) of the fences of a page."""
    return [match.groups() for match in FENCE.finditer(text)]


def run_inline(text, scope):
    """Calls and names of `fa` within sentences are evaluated in what the blocks left; the command line must know its commands."""
    for code in re.findall(r"(?<!`)`(@?fa\.[^`]+|fairalloc [^`]+)`", FENCE.sub("", text)):
        if code.startswith("fairalloc "):
            words = shlex.split(code)[1:]
            _parser(words).parse_args(words)
        else:
            eval(code.removeprefix("@"), {"fa": fa, **scope})


def printed(run):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue()


def run_page(text, endings):
    """(shown, printed) for every block that shows what the one before it prints; the codes of commands are put into `endings`."""
    scope, found, last = {"__name__": "__main__"}, [], None
    for language, mark, content in blocks(text):
        if language.startswith("{"):
            continue
        if mark in ("unexecuted", "elsewhere"):
            last = None
        elif mark == "long":
            for line in commands(content):
                words = shlex.split(line, comments=True)
                assert words[0] == "fairalloc", line
                _parser(words[1:]).parse_args(words[1:])
        elif mark:
            assert Path(mark).suffix, f"{mark} is no mark, and no name of a file"
            Path(mark).write_text(content)
        elif language == "python":
            last = printed(lambda code=content: exec(compile(code, "page", "exec"), scope))
        elif language == "sh":
            last = printed(lambda lines=content: [command(line, endings) for line in commands(lines)])
        elif language == "text":
            found.append((content, last))
        else:
            assert language in SHOWN, f"blocks of {language} are not run"
    run_inline(text, scope)
    return found


def commands(content):
    """The lines of a block of commands that are no comments."""
    return [line for line in content.splitlines() if not line.startswith("#")]


def command(line, endings):
    """Print what a command prints, or write it into the file behind ">", and keep the code that it ends with."""
    words = shlex.split(line, comments=True)
    words, file = (words[:-2], words[-1]) if ">" in words else (words, "")
    assert words[0] == "fairalloc", line
    said = printed(lambda: endings.append(main(words[1:])))
    if file:
        Path(file).write_text(said)
    else:
        print(said, end="")


@pytest.mark.few(5)
@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_the_code_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    endings = []
    for shown, said in run_page(page.read_text(), endings):
        assert said == shown
    assert not any(endings)


def test_code_has_at_most_100_columns():
    pages = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    found = [
        (page.name, code) for page in pages for language, _, code in blocks(page.read_text()) if language not in ("math", "text")
    ]
    assert len(found) > 100
    assert [(name, line) for name, code in found for line in code.splitlines() if len(line) > 100] == []


def test_another_output_is_seen():
    assert run_page("```python\nprint(1)\n```\n\n```text\n2\n```\n", []) == [("2\n", "1\n")]


@pytest.mark.parametrize(
    "block",
    [
        "```python\nraise ValueError(1)\n```",
        "```python\nnowhere\n```",
        "```sh\npip install .\n```",
        "```sh long\nfairalloc bench ran scaling\n```",
        "```python unexecutd\nprint(1)\n```",
        "```bash\nfairalloc list\n```",
        "Call `fa.check_mechanism(fa.Mechanism())`.",
        "The command `fairalloc shwo wang-fig2` shows it.",
    ],
)
def test_a_broken_block_is_seen(block):
    with pytest.raises((ValueError, NameError, TypeError, AssertionError, SystemExit)):
        run_page(f"{block}\n", [])


def test_a_command_that_fails_is_seen(capsys):
    endings = []
    run_page("```sh\nfairalloc solve wang-fig2 -m dhrf\n```\n", endings)
    assert endings == [2]
    assert "there is no mechanism 'dhrf'" in capsys.readouterr().err


def test_the_pages_with_code_are_those_of_users():
    assert {page.parent.name for page in PAGES} >= {"guides", "reference", "theory"}
    assert (DOCS / "reference" / "messages.md") in PAGES


def test_every_mechanism_and_paper_has_a_page():
    """Each mechanism's page has an example that runs."""
    pages = {file.stem for file in (DOCS / "theory").glob("*.md")}
    assert pages - {"index", "residuals", "floors", "whole-tasks"} == set(MECHANISMS)
    rows = re.findall(r"^\| (`.*?) \|", (DOCS / "theory" / "residuals.md").read_text(), re.MULTILINE)
    assert sorted(re.findall("`(.*?)`", "".join(rows))) == sorted(MECHANISMS), "each has a residual in the table"
    assert all(run_page((DOCS / "theory" / f"{name}.md").read_text(), []) for name in ("drf", "njc"))
    assert {file.stem for file in (DOCS / "papers").glob("*.md")} == {"errata", "index", "printed-numbers", *PAPERS}
