"""The executed notebooks as pages: text, code, and what the code shows."""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def tutorial_pages(executed: Path, stored: Path) -> Iterator[tuple[str, str | bytes]]:
    """(path, content) of the pages and pictures below tutorials/, and of the list of tutorials.

    Parameters
    ----------
    executed : the folder of the notebooks with their outputs; one that is not there is shown without them
    stored : the folder of the notebooks without outputs

    Returns
    -------
    pages as Markdown, pictures as bytes
    """
    for source in sorted(stored.glob("*.ipynb")):
        found = executed / source.name
        notebook = json.loads((found if found.exists() else source).read_text(encoding="utf-8"))
        yield from _page(source.stem, notebook)


def _page(name: str, notebook: Mapping[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    parts: list[str] = []
    for k, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(re.sub(r"\]\((?:\./)?(\d\d_\w+)\.ipynb\)", r"](\1.md)", source))
        elif cell["cell_type"] == "code" and source.strip():
            parts.append(f"```python\n{source}\n```")
            for j, output in enumerate(_joined(cell.get("outputs", ()))):
                content, picture = _output(output, f"{name}-{k}-{j}.png")
                parts.append(content)
                if picture:
                    yield f"tutorials/{name}-{k}-{j}.png", picture
    parts.append(f"This page is the notebook `notebooks/{name}.ipynb`, executed.")
    yield f"tutorials/{name}.md", "\n\n".join(parts) + "\n"


def _joined(outputs: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The outputs of a cell, all that it prints in one piece before the others."""
    printed = ["".join(output["text"]) for output in outputs if "text" in output]
    if printed:
        yield {"text": "".join(printed)}
    yield from (output for output in outputs if "text" not in output)


def _output(output: Mapping[str, Any], file: str) -> tuple[str, bytes]:
    """What a cell shows, as Markdown, and its picture where it is one."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![figure]({file})", base64.b64decode("".join(data["image/png"]))
    if "text/html" in data:
        table = re.sub(r'href="?#([A-Z]\.[\w.-]+)"?', r'href="../statements/\1.html"', "".join(data["text/html"]))
        return f'```{{raw}} html\n<div class="output">{table}</div>\n```', b""
    if "text/markdown" in data:
        return "".join(data["text/markdown"]), b""
    said = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{said.rstrip()}\n```" if said.strip() else "", b""
