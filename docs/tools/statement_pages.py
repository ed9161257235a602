"""A page for every statement of the papers, their index, the matrix, and what is known of each mechanism."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import indent

from links import plain

from fairalloc.formulations import MECHANISMS
from fairalloc.models.tables import Grid
from fairalloc.solvers import METHODS
from fairalloc.solvers.model_page import ModelPage
from fairalloc.theorems.implications import IMPLICATIONS, follows
from fairalloc.theorems.matrix import comparison, recorded_matrices
from fairalloc.theorems.numbers import known_numbers, numbers_table
from fairalloc.theorems.ours import ours
from fairalloc.theorems.pages import Writing, case_code, statement_page
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import PAPERS, all_statements, misprints
from fairalloc.theorems.search.our_cells import known_cells
from fairalloc.theorems.search.witnesses import WitnessRecord, everything, on_record, packaged
from fairalloc.theorems.standalone.script import StandaloneScript
from fairalloc.theorems.statement import MEANINGS, READINGS, Finding, Statement, Status, with_reading
from fairalloc.theorems.titles import title_of

DOCS = Path(__file__).resolve().parents[1]


@cache
def status_of(name: str) -> Status:
    """What is on record of a statement of the papers."""
    return on_record(all_statements()[name], packaged(), again=False).status


def statement_pages() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the pages below statements/, and of the parts that pages of mechanisms and papers take in."""
    statements, known = all_statements(), packaged()
    cells, findings = known_cells()
    for item in statements.values():
        yield f"statements/{item.id}.md", "---\norphan: true\n---\n\n" + _page(item, known)
    for name in sorted({item.mechanism for item in cells.values() if item.paper == "ours"}):
        yield f"statements/ours.{name}.md", _own_page(name, cells)
    yield "statements/index.md", _index(statements)
    yield "statements/matrix.md", _matrix(cells, findings)
    yield "statements/implications.md", _implications()
    yield "statements/numbers.md", _numbers(cells, findings)


def statement_list() -> str:
    """The ids and titles of each paper's statements, for docs/static/sidebar.js."""
    found: dict[str, list[tuple[str, str]]] = {paper: [] for paper in PAPERS}
    for item in all_statements().values():
        found[item.paper].append((item.id, title_of(item, status_of(item.id))))
    return f"const STATEMENTS = {json.dumps(found, ensure_ascii=False)};\n"


def witness_pages() -> Iterator[tuple[str, str]]:
    """A page for each standalone script, with both of its forms."""
    for file in sorted((DOCS / "witnesses").glob("*.py")):
        forms = [("python", file.read_text(encoding="utf-8")), ("text", StandaloneScript.of(file.stem).latex())]
        blocks = [f"```{language}\n{text}```\n" for language, text in forms]
        item = all_statements()[file.stem]
        words = plain(title_of(item, status_of(item.id)))
        title = f"# {words}: standalone script\n\nOf the statement [{file.stem}](/statements/{file.stem}.md).\n"
        yield f"witnesses/{file.stem}.md", "\n".join(["---\norphan: true\nnosearch: true\n---\n", title, *blocks])


def of_a_mechanism(name: str) -> str:
    """What the page of a mechanism ends with: what computes it, and what is known of its properties."""
    module = type(MECHANISMS[name]).__module__
    own_module = f"fairalloc.formulations.{name.replace('-', '_')}"
    parts = ["\n## Computed by\n", "| method | module |", "| --- | --- |"]
    for key, method in METHODS.items():
        if method.computes(MECHANISMS[name]):
            parts.append(f"| `{key}` | {{py:mod}}`{type(method).__module__}` |")
    parts.append(f"\nThe definition, the models and the residual are in {{py:mod}}`{own_module}`")
    parts.append("." if module == own_module else f"and {{py:mod}}`{module}`.")
    own = {key: item for key, item in all_statements().items() if item.mechanism == name}
    return _side_by_side(name) + "\n".join([*parts, "\n## Properties\n", _properties(name, own)])


def _side_by_side(name: str) -> str:
    """The opening text of the mechanism's file and the models in it, in one row."""
    page = ModelPage(MECHANISMS[name])
    paragraphs = re.sub(r"(?<=\S)\n(?=[^\W\d_])", " ", page.formula)  # the browser folds them
    blocks = [("text", paragraphs), ("python", page.code("cvxpy")), ("python", page.code("pyomo"))]
    cells = [f"````{language}\n{text.rstrip()}\n````" for language, text in blocks]
    row = "\n".join(f"{'*' if k == 0 else ' '} - {indent(cell, '    ').lstrip()}" for k, cell in enumerate(cells))
    head = "\n## Paper, CVXPY, Pyomo\n\n`fairalloc model ID` prints this. Methods of CVXPY and Pyomo solve this text.\n\n"
    return f"{head}:::::{{list-table}}\n:header-rows: 1\n\n* - paper\n  - CVXPY\n  - Pyomo\n{row}\n:::::\n"


def of_a_paper(paper: str) -> str:
    """What the page of a paper ends with: its statements, and where they stand in the errata."""
    own = {key: item for key, item in all_statements().items() if item.paper == paper}
    count = Counter(map(status_of, own))
    said = ", ".join(f"{number} {name}" for name, number in count.most_common())
    head = f"\n## Statements\n\n{len(own)} in all: {said}. What is false as printed is in the [errata](/papers/errata.md).\n"
    return f"{head}\n{_table(own, ('status', 'claim'))}{_misprints(paper)}"


def _misprints(paper: str) -> str:
    """Slips of the print that leave nothing to compute."""
    own = [item for item in misprints().values() if item.paper == paper]
    rows = [
        f"| {item.id} | {plain(item.place)} | {plain(item.printed)} | {plain(item.meant)} | {plain(item.note)} |" for item in own
    ]
    head = ["\n## Misprints\n", "| misprint | place | printed | meant | note |", "| --- " * 5 + "|"]
    return "\n".join([*head, *rows, ""]) if own else ""


# ---- one statement ---------------------------------------------------------------------------------------------------


def _page(item: Statement, known: WitnessRecord) -> str:
    """The page as `fairalloc theorems show` prints it, with links."""
    return statement_page(item, known, Writing(_linking, _linked_name))


def _own_page(name: str, cells: Mapping[str, Statement]) -> str:
    """Our own claims about a mechanism, one after the other, each with an anchor."""
    own = [item for item in cells.values() if item.paper == "ours" and item.mechanism == name]
    parts = [f"({_anchor(item.id)})=\n{_a_level_down(_page(item, everything()))}" for item in own]
    return "\n".join(["---\norphan: true\n---\n", f"# Our own claims about {name}\n", *parts])


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _a_level_down(page: str) -> str:
    """A page whose headings are those of sections; code is left as it is."""
    parts = re.split(r"(^```.*?^```$)", page, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = (re.sub(r"^#", "##", part, flags=re.MULTILINE) for part in parts[::2])
    return "".join(parts)


def _linked_name(kind: str, name: str) -> str:
    """The name of a paper, a mechanism, a property, a table or a statement, or what the errata say of a statement, as links."""
    if kind == "errata":
        return _errata(name)
    if kind == "statement":
        return f"[{name}](/statements/{name}.md)"
    if kind == "script":
        return f"[docs/witnesses/{name}.py](/witnesses/{name}.md)\n"
    if kind == "property":
        return f'<a href="index.html?property={name}">{name}</a>'
    folder = {"paper": f"papers/{name}", "mechanism": f"theory/{name}", "table": "statements/matrix"}[kind]
    return f"[{name}](/{folder}.md)"


@cache
def _headings() -> dict[str, str]:
    """The headings of the errata and the anchors that they have there."""
    lines = (DOCS / "papers" / "errata.md").read_text(encoding="utf-8").splitlines()
    titles = [line[4:] for line in lines if line.startswith("### ")]
    return {title: re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _errata(name: str) -> str:
    """Links to the errata whose heading names the statement, or to all errata."""
    named = re.compile(rf"[`\[]{re.escape(name)}[`\],]")
    links = [f"[{plain(title)}](/papers/errata.md#{anchor})" for title, anchor in _headings().items() if named.search(title)]
    return ", ".join(links) or "[errata](/papers/errata.md)"


def _linking(text: str) -> str:
    """Plain text in which the ids of statements lead to their pages."""
    known = all_statements()
    parts = re.split(r"(?<![\w.])([A-Z](?:\.[\w-]+)+)", text)
    parts[1::2] = (f"[{name}](/statements/{name}.md)" if name in known else plain(name) for name in parts[1::2])
    parts[::2] = map(plain, parts[::2])
    return "".join(parts)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _index(statements: Mapping[str, Statement]) -> str:
    head = (
        f"# Statements\n\nThe five papers make {len(statements)} claims. Each has a page with its hypotheses, its proof or the "
        "case that refutes it, and the command that checks it again. "
        "[The matrix](/statements/matrix.md) has mechanisms and properties; "
        "[the implications](/statements/implications.md) say which property follows from which.\n"
    )
    table = _table(statements, ("paper", "status", "mechanism", "property", "claim"))
    listed = f":::::{{container}} statement-index\n\n{table}\n:::::\n"
    meanings = "\n".join(
        [
            *_two_columns("status", {str(word): said for word, said in MEANINGS.items()}),
            *_two_columns("the words are read", READINGS),
        ]
    )
    return f"{head}\n{meanings}\n{listed}\n```{{toctree}}\n:hidden:\n\nmatrix\nnumbers\nimplications\n```\n"


def _two_columns(head: str, rows: Mapping[str, str]) -> list[str]:
    """A table of words and what they say."""
    return [f"| {head} | what it says |", "| --- | --- |", *(f"| {word} | {said} |" for word, said in rows.items()), ""]


def _table(statements: Mapping[str, Statement], columns: tuple[str, ...]) -> str:
    lines = [f"| statement | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    for item in statements.values():
        cells = {
            "paper": item.paper,
            "status": with_reading(item, status_of(item.id)),
            "mechanism": item.mechanism,
            "property": item.property,
            "claim": plain(item.text),
        }
        lines.append(f"| [{item.id}](/statements/{item.id}.md) | {' | '.join(cells[name] for name in columns)} |")
    return "\n".join(lines) + "\n"


def _properties(name: str, own: Mapping[str, Statement]) -> str:
    """The statements about a mechanism, and the properties that follow from its definition."""
    reached = [(arrow.conclusion, follows(name, arrow.conclusion)) for arrow in IMPLICATIONS]
    lines = [f"- {conclusion}: {plain(why)}" for conclusion, why in dict(reached).items() if why]
    follow = ["These properties follow from the definition on all instances:\n", *lines, ""] * bool(lines)
    if not own:
        return "\n".join([*follow, "" if lines else "No statement of the papers is about a property of this mechanism.", ""])
    return "\n".join([*follow, _table(own, ("property", "status", "claim"))])


def _implications() -> str:
    lines = ["# Implications\n", "What follows from what for one allocation, with the proof or source.\n"]
    lines += ["| premise | conclusion | where | why |", "| --- | --- | --- | --- |"]
    lines += [f"| {a.premise} | {a.conclusion} | {a.where} | {plain(a.why)} |" for a in IMPLICATIONS]
    return "\n".join(lines) + "\n"


# ---- the matrix ------------------------------------------------------------------------------------------------------


def _matrix(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> str:
    """The matrices as `fairalloc matrix --format html` has them, and the printed tables, with links to the pages."""
    first, *others = recorded_matrices(statements, findings)
    how = (
        "Each symbol links to the statement behind it. `fairalloc matrix` prints this in a terminal, and "
        "`--format latex` for a paper; with `-m` and `--property` it takes mechanisms and properties of your own."
    )
    parts = [f"# {first.title}\n\n{how}\n", first.html(_address), ""]
    for made in others:
        parts += [f"## {made.title}\n", made.html(_address), ""]
    for table in PRINTED.values():
        parts += [f"## {plain(table.place)}\n", f"{plain(table.setting)}\n", _linked(comparison(table, statements, findings))]
    return "\n".join(parts)


def _numbers(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> str:
    """The worst known ratios, and the instances that attain them."""
    known = known_numbers()
    table = numbers_table(known, recorded_matrices(statements, findings)[0].cells)
    parts = [f"# {table.title}\n", "`fairalloc theorems numbers` prints this; `theorems/numbers.py` says what is measured.\n"]
    parts += [table.markdown()]
    for one in known:
        if one.case is not None:
            about = f"{one.searched['cases']} cases were tried, with the seed {one.searched['seed']}."
            code = case_code(one.case.document())
            parts += [f"## {one.mechanism}: {one.quantity} {one.ratio}\n\n{about}\n\n```python\n{code}\n```\n"]
    return "\n".join(parts)


def _address(kind: str, name: str) -> str:
    """The address of a page, from one beside those of the statements."""
    item = ours().get(name)
    page = f"{name}.html" if item is None else f"ours.{item.mechanism}.html#{_anchor(name)}"
    pages = {"statement": page, "mechanism": f"../theory/{name}.html", "implications": "implications.html"}
    return pages[kind]


def _linked(grid: Grid) -> str:
    """A printed table whose cells lead to the statements that disagree, and to the pages of the mechanisms."""
    heads = [f"[{name}](/theory/{name}.md)" for name in grid.columns[1:]]
    lines = [f"| property | {' | '.join(heads)} |", "| --- " * len(grid.columns) + "|"]
    for i, row in enumerate(grid.rows):
        cells = [_led(text, (grid.links or {}).get((i, k), "")) for k, text in enumerate(row[1:], start=1)]
        lines.append(f"| {row[0]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _led(text: str, name: str) -> str:
    return f'<a href="{_address("statement", name)}">{plain(text)}</a>' if name else plain(text)
