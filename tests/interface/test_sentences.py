"""Every sentence has at most 30 words (docs/STYLE.md): pages, notebooks, docstrings of public names, errors and `--help`."""

import argparse
import inspect
import re
from pathlib import Path

import nbformat
import pytest
from sentences import MOST, long_sentences, of_docstring, of_markdown, of_messages, sentences, words

import fairalloc as fa
from fairalloc.cli import _parser
from fairalloc.theorems.matrix import ASSUMED, OTHERS, REPORTS
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import MEANINGS, READINGS

ROOT = Path(__file__).parents[2]
ROOMS = ("models", "formulations", "solvers", "analysis", "runs", "simulation", "theorems", "benchmarks", "fairalloc")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINES = 3
"""Of an entry of docs/DESIGN-NOTES.md."""


def long_words(texts):
    """{name: long sentences} of (name, paragraphs), for those that have some."""
    found = {name: long_sentences(paragraphs) for name, paragraphs in texts}
    return {name: sentences for name, sentences in found.items() if sentences}


def docstrings():
    """(name, docstring) of the public names, and of what classes and modules among them show."""
    for name in fa.__all__:
        value = getattr(fa, name)
        inner = vars(value) if isinstance(value, type) else {}
        if inspect.ismodule(value):
            own = [key for key, part in vars(value).items() if getattr(part, "__module__", "") == value.__name__]
            inner = {key: getattr(value, key) for key in getattr(value, "__all__", own)}
        if callable(value) or inspect.ismodule(value):
            yield name, inspect.getdoc(value) or ""
        yield from ((f"{name}.{key}", inspect.getdoc(part) or "") for key, part in inner.items() if not key.startswith("_"))


def helps(parser, name="fairalloc"):
    """(command, text) of everything that `--help` says."""
    yield name, parser.description or ""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((f"{name} {choice.dest}", choice.help or "") for choice in action._choices_actions)
            for key, inner in action.choices.items():
                yield from helps(inner, f"{name} {key}")
        elif action.help and action.help != argparse.SUPPRESS:
            yield name, action.help


def markdown_of(notebook):
    return "\n\n".join(cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "markdown")


def test_pages_have_short_sentences():
    assert long_words((str(page.relative_to(ROOT)), of_markdown(page.read_text(encoding="utf-8"))) for page in PAGES) == {}


VAGUE = re.compile(r"\b(what (is|are|else)|which of them|all else)\b", re.IGNORECASE)


def vague(texts):
    """{name: paragraphs with words that STYLE.md avoids} of (name, Markdown); headings may ask."""
    found = {
        name: [part for part in of_markdown(re.sub("^#.*", "", text, flags=re.M)) if VAGUE.search(part)] for name, text in texts
    }
    return {name: parts for name, parts in found.items() if parts}


def test_pages_and_notebooks_name_the_thing():
    pages = {page.stem: page.read_text(encoding="utf-8") for page in PAGES if page.stem != "STYLE"}
    notebooks = {notebook.stem: markdown_of(notebook) for notebook in (ROOT / "notebooks").glob("*.ipynb")}
    assert vague((pages | notebooks).items()) == {}
    assert vague([("page", "# What is it?\n\n- All else is refused.\n")]) == {"page": ["All else is refused.\n"]}


def test_tables_and_claims_of_statements_name_the_thing():
    told = {**MEANINGS, **READINGS, "assumed": ASSUMED, "others": OTHERS, "reports": REPORTS}
    assert vague(told.items()) == long_words((name, of_markdown(text)) for name, text in told.items()) == {}
    assert [item.id for item in all_statements().values() if "does not satisfy:" in item.text] == []


def test_notebooks_have_short_sentences():
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert len(notebooks) >= 12
    assert long_words((notebook.stem, of_markdown(markdown_of(notebook))) for notebook in notebooks) == {}


def broken_formulas(text):
    """The lines that Markdown takes for a quotation, a heading or an item, and which begin within a formula."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    starts = [match.start() for match in re.finditer(r"^ *([>+*#-]|\d+\.) ", text, re.MULTILINE)]
    within = [at for at in starts if text[max(text.rfind("\n\n", 0, at), 0) : at].count("$") % 2]
    return [text[at:].partition("\n")[0] for at in within]


def test_no_line_within_a_formula_begins_like_a_quotation_or_an_item():
    assert broken_formulas("# A\n\nFor $a\n> 2$ it is `$`, and $b = 1$.\n- $c$") == ["> 2$ it is , and $b = 1$."]
    texts = [page.read_text() for page in PAGES] + [markdown_of(notebook) for notebook in (ROOT / "notebooks").glob("*.ipynb")]
    assert [line for text in texts for line in broken_formulas(text)] == []


def test_public_docstrings_have_short_sentences():
    found = dict(docstrings())
    assert len(found) > 200
    assert long_words((name, of_docstring(text)) for name, text in found.items()) == {}


def test_errors_are_short():
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    said = {file: list(of_messages(file.read_text(encoding="utf-8"))) for file in files}
    assert sum(map(len, said.values())) > 300
    assert long_words((str(file.relative_to(ROOT)), texts) for file, texts in said.items()) == {}


def test_help_is_short():
    assert long_words((name, [text]) for name, text in helps(_parser())) == {}


def repeating(parser):
    """The options that may be given several times."""
    for action in parser._actions:
        for inner in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
            yield from repeating(inner)
        if isinstance(action, argparse._AppendAction):
            yield action


def test_help_says_of_every_option_that_may_repeat():
    options = list(repeating(_parser()))
    assert len(options) > 15
    assert [option.option_strings for option in options if "repeat" not in option.help] == []


def test_entries_of_the_design_notes_have_three_lines():
    text = (ROOT / "docs" / "DESIGN-NOTES.md").read_text(encoding="utf-8")
    entries = [block for block in re.split(r"\n(?=- |\n|#)", text) if block.startswith("- ")]
    assert len(entries) > 200
    assert [entry for entry in entries if entry.count("\n") >= LINES] == []


def test_words_are_counted():
    assert words("a b, c: `d e` x_n 3 -- ... $") == 7
    assert sentences("One. Two; three (see Fig. 3 of K et al. 2015)? Four!") == [
        "One",
        "Two",
        "three (see Fig. 3 of K et al. 2015)",
        "Four",
    ]


LONG = " ".join(["word"] * (MOST + 1))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"# Title\n\n{LONG}.\n", of_markdown),
        (f"- a\n- {LONG}\n", of_markdown),
        (f"| a | {LONG} |\n", of_markdown),
        (f"Short.\n\nParameters\n----------\nx : {LONG}\n", of_docstring),
        (f"def f():\n    raise ValueError(f'{LONG} {{x}}')\n", of_messages),
        (f"def f():\n    require(x, '{LONG}', x, 'y')\n", of_messages),
    ],
)
def test_a_long_sentence_is_seen(text, parts):
    assert len(long_sentences(parts(text))) == 1


def test_code_and_formulas_are_single_words():
    text = f"A `{LONG}` and ${LONG}$.\n\n```text\n{LONG}\n```\n\n$$ {LONG} $$\n\n    {LONG}\n\nEnd."
    assert long_sentences(of_markdown(text)) == []
