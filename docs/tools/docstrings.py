"""The docstrings of the package as reStructuredText for autodoc.

They are plain text with formulas: indented blocks and tables of bars become literal blocks, sections of numpydoc become lists of
terms, names in backticks become code, and every other letter stands for itself. Readers of numpydoc (napoleon, numpydoc) take the
text of a parameter for its type and the rest for reStructuredText, in which "x_n" is a link and an indented formula an error.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

ITEM = re.compile(r"(\d+\.|-|\([a-z]\)) ")
SECTION = re.compile(r"-{3,}$")
INLINE = re.compile(r"(`[^`\n]+`)|(\*\*[^\s*](?:[^*\n]*[^\s*])?\*\*)|(?<![\w*])(\*[^\W\d_](?:[^*\n]*[^\s*])?\*)(?![\w*])")


def restructured(lines: Sequence[str]) -> list[str]:
    """The lines of a docstring without its margin, as lines of reStructuredText."""
    out: list[str] = []
    titles = [k for k, line in enumerate(lines[:-1]) if line.strip() and SECTION.match(lines[k + 1].strip())]
    bounds = [*titles, len(lines)]
    out += _blocks(lines[: bounds[0]])
    for start, end in zip(titles, bounds[1:], strict=True):
        title, body = lines[start].strip(), lines[start + 2 : end]
        out += ["", f"**{title}**", ""]
        out += _blocks(body) if title in ("Examples", "Notes", "See Also") else _terms(body)
    return [*out, ""]


def text(words: str) -> str:
    """Plain words with names in backticks, as reStructuredText."""
    parts, last = [], 0
    for match in INLINE.finditer(words):
        parts.append(_escaped(words[last : match.start()]))
        code, bold, italic = match.groups()
        parts.append(f"``{code[1:-1]}``" if code else _emphasis(bold, "**") if bold else _emphasis(italic, "*"))
        after = words[match.end() : match.end() + 1]
        parts.append("\\ " if after.isalnum() else "")
        last = match.end()
    return "".join(parts) + _escaped(words[last:])


def _emphasis(marked: str, mark: str) -> str:
    inner = marked[len(mark) : -len(mark)]
    return f"{mark}{_escaped(inner.replace('`', ''))}{mark}"


def _escaped(words: str) -> str:
    return re.sub(r"([\\*_|`])", r"\\\1", words)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    """The runs of lines between blank ones."""
    group: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            group.append(line.rstrip())
        elif group:
            yield group
            group = []


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs, lists, and literal blocks."""
    for group in _groups(lines):
        for kind, part in _parts(group):
            if kind == "literal":
                margin = min(map(_margin, part))
                yield from [".. code-block:: " + ("pycon" if part[0].strip().startswith(">>>") else "none"), ""]
                yield from ["    " + line[margin:] for line in part]
            else:
                yield text(" ".join(line.strip() for line in part)) if kind == "text" else _item(part)
            yield ""


def _item(part: Sequence[str]) -> str:
    words = " ".join(line.strip() for line in part)
    mark, _, rest = words.partition(" ")
    return f"- {text(rest)}" if mark == "-" else f"| {text(mark)} {text(rest)}"


def _parts(group: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """A run of lines as (kind, lines): indented lines and tables are literal, what begins like an item of a list is one."""
    kind, part = "", list[str]()
    for line in group:
        new = _kind(line, kind)
        if part and (new != kind or (new == "item" and ITEM.match(line.strip()) and _margin(line) == 0)):
            yield kind, part
            part = []
        kind = new
        part.append(line)
    yield kind, part


def _kind(line: str, before: str) -> str:
    if line.lstrip().startswith((">>>", "|", "...")) or (before == "literal" and _margin(line) >= 0 and not line[:1].isalpha()):
        return "literal"
    if ITEM.match(line) or (before == "item" and _margin(line)):
        return "item"
    return "literal" if _margin(line) >= 2 else "text"


def _terms(lines: Sequence[str]) -> Iterator[str]:
    """`name : text`, or a name with its text below it, as a term and what it is; other lines as text."""
    for group in _groups(lines):
        found: list[list[str]] = []
        for line in group:
            if _margin(line) and found:
                found[-1].append(line.strip())
            else:
                found.append([line.strip()])
        for head, *rest in found:
            name, _, what = head.partition(" : ")
            said = " ".join([what, *rest]).strip()
            yield from ([f"``{name}``", f"    {text(said)}"] if said else [text(head)])
            yield ""


def _process(_: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001 (what Sphinx calls)
    lines[:] = restructured(lines)


ARRAY = re.compile(r"numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^]]*)\]\]")
NO_CODE = re.compile(r"<(?:[^<>]|<[^<>]*>)*>")


def readable(signature: str) -> str:
    """A signature in which arrays have their short names, and defaults that no code writes are dots."""
    return NO_CODE.sub("...", ARRAY.sub(r"numpy.typing.NDArray[\1]", signature))


def _sign(_: Any, what: str, name: str, obj: Any, options: Any, args: str | None, answer: str | None) -> Any:  # noqa: ARG001
    return args and readable(args), answer and readable(answer)


def setup(app: Any) -> dict[str, bool]:
    """Join autodoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
