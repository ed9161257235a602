"""Formulas as MathML, which browsers draw themselves: no script, no font and no network.

A formula that latex2mathml does not understand is an error of the build.
"""

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert_to_element
from sphinx.util import logging

LOG = logging.getLogger(__name__)
LIMITS = ("max", "min", "sup", "inf", "argmax", "argmin")
"""Operators with their index below them where the formula has a line of its own."""

WORDS = {r"\arg\max": r"\operatorname{argmax}", r"\arg\min": r"\operatorname{argmin}"}
"""What latex2mathml does not know, in words that it does."""


def mathml(latex: str, display: str, where: Any = None) -> str:
    """The formula as an element `math`; a warning that names the place where it cannot be read."""
    for words, known in WORDS.items():
        latex = latex.replace(words, known)
    latex = re.sub(r"\\tag\{([^}]*)\}", r"\\qquad \\text{(\1)}", latex)
    try:
        root = convert_to_element(latex.strip(), display=display)
    except Exception as fault:  # latex2mathml has no common class of its errors
        LOG.warning("formula %r is not read: %s", latex, fault, location=where)
        return ""
    for part in root.iter():
        part.text = unescape(part.text or "")  # it has "&#x02265;" for a letter
        if display == "block" and part.tag == "msub" and part[0].text in LIMITS:
            part.tag = "munder"
    result = ElementTree.tostring(root, encoding="unicode")
    if "\\" in result or "&amp;" in result:
        LOG.warning("formula %r has a command that is not known", latex, location=where)
    return result


def inline(writer: Any, node: nodes.math) -> None:
    """A formula within a line."""
    writer.body.append(mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def displayed(writer: Any, node: nodes.math_block) -> None:
    """A formula of its own, which scrolls by itself where the page is narrow."""
    latex = node.astext()
    writer.body.append(f'<div class="formula">{mathml(latex, "block", node)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer "mathml"."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
