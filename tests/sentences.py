"""Sentences of prose and their words, for tests/interface/test_sentences.py.

A sentence ends with a full stop, a question mark, an exclamation mark or a semicolon. It also ends with its paragraph, item,
heading or table cell. Code and formulas count as one word each, fences and displayed formulas as none.
"""

import ast
import re
from collections.abc import Iterator

MOST = 30
"""Words of the longest sentence (docs/STYLE.md)."""

SHORT = r"(?<!\bFig)(?<!\bFigs)(?<!\bal)(?<!\be\.g)(?<!\bi\.e)(?<!\bDef)(?<!\bcf)(?<!\bvs)(?<!\bDefs)(?<!\bEq)(?<!\bSec)(?<!\bNo)"
END = re.compile(rf"{SHORT}(?<=[^.\s])[.!?]+[\")'*_\]]*(?=\s|$)|;")
WORD = re.compile(r"[^\W_]")


def words(sentence: str) -> int:
    """Words with a letter or a digit; what blanks do not separate is one."""
    return sum(bool(WORD.search(part)) for part in sentence.split())


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph whose code and formulas are single words."""
    return [" ".join(part.split()) for part in END.split(paragraph) if part.strip()]


def long_sentences(paragraphs: Iterator[str]) -> list[str]:
    """The sentences with more than MOST words."""
    return [f"{words(one)} words: {one}" for text in paragraphs for one in sentences(text) if words(one) > MOST]


def of_markdown(text: str) -> Iterator[str]:
    """The paragraphs, items, headings and cells of a text of Markdown, without fences and displayed formulas."""
    text = re.sub(r"^ *(```+|:::+).*?^ *\1 *$|\$\$.*?\$\$|<!--.*?-->", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?<=\n\n)(?: {4}.*\n+)+", "", text)
    text = re.sub(r"`[^`]+`|\$[^$\n]+(?:\n[^$\n]+)?\$", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)|\n(?=\|)|(?<=\|)\n", text):
        yield from (
            re.split(r"(?<!\\)\|", block) if block.lstrip().startswith("|") else [re.sub(r"^\s*(?:[-*#]+|\d+\.) ", "", block)]
        )


def of_docstring(text: str) -> Iterator[str]:
    """The paragraphs of a docstring, and the descriptions of its arguments; no formulas, no examples."""
    text = re.sub(r"^(Examples|Parameters|Returns|Raises|Attributes|Yields)\n-+$", "\n\n", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|\(\w+\)) )", text):
        lines = block.strip("\n").splitlines()
        if not lines or lines[0].startswith((">>>", "    ", "|")):
            continue
        for part in re.split(r"\n(?=\S[^\n]{0,60} : )", "\n".join(lines)):
            yield re.sub(r"`[^`]+`", "code", re.sub(r"^\S[^\n]{0,60} : |^\s*(?:[-*]|\d+\.|\(\w+\)) ", "", part))


def of_messages(code: str) -> Iterator[str]:
    """The texts of the errors that a module raises, whose values are single words."""
    for node in ast.walk(ast.parse(code)):
        call = node.exc if isinstance(node, ast.Raise) else node
        name = call.func if isinstance(call, ast.Call) else None
        known = isinstance(node, ast.Raise) or (isinstance(name, ast.Name) and name.id == "require")
        if isinstance(call, ast.Call) and known:
            parts = [_text(part) for part in call.args]
            yield " ".join(part for part in parts if part)


def _text(node: ast.expr) -> str:
    """A string, or one with values, as text; "" for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "value" for part in node.values)
    return ""
