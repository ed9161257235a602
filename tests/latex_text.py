"""Whether a text in LaTeX is well-formed, for there is no LaTeX where the tests run."""

import re


def well_formed(tex):
    """Whether braces, formulas and environments are closed, and each line of a table has as many cells as it has columns."""
    bare_text = re.sub(r"\\[{}$%&#_]", "", tex)
    environments = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", bare_text):
        if what == "begin":
            environments.append(name)
        elif not environments or environments.pop() != name:
            return False
    tables = re.findall(r"\\begin\{tabular\}\{l\*\{(\d+)\}\{r\}\}\n(.*?)\\end\{tabular\}", bare_text, re.DOTALL)
    cells = {int(count) == line.count("&") for count, body in tables for line in body.split("\n") if line.endswith(r"\\")}
    plain = bare_text.split("\n", 1)[1]
    counts = plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0 and plain.count(r"\[") == plain.count(r"\]")
    return counts and not environments and cells <= {True} and "%" not in plain and "&" not in re.sub(r"(?m)^.*\\\\$", "", plain)
