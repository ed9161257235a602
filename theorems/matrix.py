"""The matrix mechanism x property as text, Markdown, LaTeX and HTML, and the papers' printed tables compared with it.

What stands in a cell is in cells.py: one symbol, then as small marks of which answers it speaks and the number of a note with the
conditions. The record has three tables: the first has the rows of SCOPE for every mechanism, the second what
else papers claim, the third which kinds of misreports pay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import groupby
from shutil import get_terminal_size
from textwrap import wrap

from fairalloc.formulations import MECHANISMS
from fairalloc.models.arguments import checked
from fairalloc.models.tables import Grid, tex
from fairalloc.runs.pages import Section, page
from fairalloc.theorems.cells import (
    ANSWERS,
    LEGEND,
    MISREPORTED,
    OF_A_METHOD,
    SCOPE,
    Cell,
    Column,
    Evidence,
    cells_of,
    columns_of,
    evidence,
)
from fairalloc.theorems.printed import PRINTED, PrintedTable
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import Finding, Statement, Status, described

WIDTH = 120
"""The most columns of the text form."""

LABEL = 24
"""Columns for the name of a property, which is folded at its hyphens."""

HEAD = 7
"""Columns for the name of a mechanism, which is folded at its hyphens."""

QUANTIFIED = {mark: known for known, mark in ANSWERS.items()} | {OF_A_METHOD: "for the answer of a method"}

ASSUMED = (
    "Instances have at least two users without limits, and no idle server. Each user has one demand vector, the same on all "
    "servers. Weak sharing incentive assumes equal weights, bottleneck fairness one bottleneck resource, and the last two rows "
    "one resource and one server. drf, fds, h-drf and njc have one pool; alpha-fair and fds have alpha = 2. Gavel's policies "
    "have jobs that report their rates and run on one server at a time. If a mechanism allows several answers, a misreport pays "
    "only if the worst answer to it is better than the best one to the truth."
)
"""What stands above the first table."""

OTHERS = "Other claims of the papers about a mechanism. Instances are those of the first table, unless a note says more."

TOGETHER = ("strategyproofness", "group-strategyproofness")
"""The rows of the first table about misreports, of demands, eligible servers or both."""

REPORTS = (
    "Does a user, or every member of a group, gain by a misreport? It is about demands, eligible servers, both (the first two "
    "rows), or the finite number of tasks. Instances are those of the first table, with limits in the rows about tasks."
)

TEX = {
    "✓": r"\checkmark",
    "✗": r"\times",
    "±": r"\pm",
    "○": r"\circ",
    "~": r"\sim",
    "⊗": r"\otimes",
    "·": r"\cdot",
    "∀": r"\forall",
    "∃": r"\exists",
    "°": r"\ast",
}

STYLE = (
    ".property-matrix table { border-collapse: collapse; width: auto } "
    ".property-matrix :is(th, td) { padding: .15em .35em; border: 1px solid #8884; text-align: center } "
    ".property-matrix tbody th { text-align: left; font-weight: normal; white-space: nowrap } "
    ".property-matrix thead .down { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left } "
    ".property-matrix a { text-decoration: none } .property-matrix .wide { overflow-x: auto }"
)

Link = Callable[[str, str], str]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Mechanisms x properties, with a finding for each cell; it prints as a table, and notebooks show it as one.

    Attributes
    ----------
    statements : what was looked at, by id
    findings : the finding of each, by id; `findings[id].case.code()` rebuilds a violation
    columns : mechanisms, or families of their parameters
    properties : the rows
    cells : `cells[property, column]`
    title, about : the text above it
    """

    statements: Mapping[str, Statement]
    findings: Mapping[str, Finding]
    columns: Sequence[Column]
    properties: Sequence[str]
    cells: Mapping[tuple[str, Column], Cell]
    title: str = "Mechanisms and properties"
    about: str = ""

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<matrix of {len(self.columns)} mechanisms and {len(self.properties)} properties>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.html()

    @cached_property
    def grid(self) -> Grid:
        """The symbols alone, as a table with `markdown` and `csv`."""
        return self._grid(lambda cell: cell.symbol, self.legend)

    def _grid(self, text: Callable[[Cell], str], notes: Sequence[str]) -> Grid:
        rows = [[name, *(text(self.cells[name, column]) for column in self.columns)] for name in self.properties]
        return Grid(self.title, ["property", *map(str, self.columns)], rows, notes)

    @cached_property
    def notes(self) -> dict[str, list[str]]:
        """The notes in the order of their numbers, with the statements that say so."""
        found: dict[str, list[str]] = {}
        for cell in (self.cells[name, column] for name in self.properties for column in self.columns):
            names = found.setdefault(cell.note, []) if cell.note else []
            names += [name for name in cell.others if name not in names]
        return found

    @cached_property
    def legend(self) -> list[str]:
        """What the marks mean, one a line."""
        used = {cell.symbol for cell in self.cells.values()}
        lines = [f"{symbol} {text}" for symbol, text in LEGEND.items() if symbol in used]
        marks = "".join([*(cell.quantifier for cell in self.cells.values()), *self.notes])
        quantified = [f"{mark} {known}" for mark, known in QUANTIFIED.items() if mark in marks]
        lines += [f"where a mechanism allows several answers: {', '.join(quantified)}"] * bool(quantified)
        return lines + ["a number is that of a note"] * bool(self.notes)

    @property
    def _said(self) -> list[str]:
        """What stands above it, and the legend."""
        return [*[self.about] * bool(self.about), *self.legend]

    def _marks(self, cell: Cell) -> tuple[str, str]:
        """The quantifier over several answers, and the number of the note."""
        return cell.quantifier, str([*self.notes].index(cell.note) + 1) if cell.note else ""

    def _marked(self, cell: Cell) -> str:
        """The symbol with its marks."""
        return "".join((cell.symbol, *self._marks(cell)))

    def _numbered(self) -> list[tuple[str, str, list[str]]]:
        return [(str(k), note, names) for k, (note, names) in enumerate(self.notes.items(), start=1)]

    def _groups(self) -> Iterator[tuple[str, list[Column]]]:
        for mechanism, columns in groupby(self.columns, key=lambda column: column.mechanism):
            yield mechanism, list(columns)

    # ---- text -------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """For a terminal, at most WIDTH columns wide: the table, its notes, and the statements behind the cells."""
        width = min(WIDTH, get_terminal_size((WIDTH, 24)).columns)
        blocks, used = [list[tuple[str, list[Column]]]()], LABEL
        for mechanism, columns in self._groups():
            wide = sum(self._widths(mechanism, columns)) + len(columns)
            if blocks[-1] and used + wide > width:
                blocks.append([])
                used = LABEL
            blocks[-1].append((mechanism, columns))
            used += wide
        lines = [self.title, "", *wrap(self.about, width), *[""] * bool(self.about)]
        for block in blocks:
            lines += [*self._block(block), ""]
        lines += [*self.legend, *(f"{k}  {note}" for k, note, _ in self._numbered())]
        own = "`print(fa.claim(words, mechanism, property).search())` finds a witness against your own"
        about = f"The statements behind the cells. `fairalloc theorems show ID` prints those of the papers, {own}:"
        lines += ["", *wrap(about, width), ""]
        for name in self.properties:
            entry = f"{name}: {'; '.join(self._behind(name))}"
            lines += wrap(entry, width, subsequent_indent="   ", break_on_hyphens=False) if self._behind(name) else []
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _behind(self, name: str) -> list[str]:
        """The statements of a row, such as "alpha-pf-vds =1 >1 K.T3.envy"."""
        found: dict[tuple[str, str], list[str]] = {}
        for column in self.columns:
            cell = self.cells[name, column]
            for statement in dict.fromkeys(filter(None, (cell.statement, *cell.others))):
                found.setdefault((column.mechanism, statement), []).extend([_short(column.family)] * bool(column.family))
        return [" ".join([mechanism, *families, statement]) for (mechanism, statement), families in found.items()]

    def _widths(self, mechanism: str, columns: Sequence[Column]) -> list[int]:
        heads = [_short(column.family) if column.family else max(_folded(mechanism, HEAD), key=len) for column in columns]
        cells = [[len(self._marked(self.cells[name, column])) for name in self.properties] for column in columns]
        return [max(len(head), *sizes, 2) for head, sizes in zip(heads, cells, strict=True)]

    def _block(self, block: Sequence[tuple[str, list[Column]]]) -> Iterator[str]:
        """The lines of a part of the table: heads, folded and set to the bottom, then a line for each property."""
        heads, columns, widths = [], list[Column](), list[int]()
        for mechanism, own in block:
            wide = self._widths(mechanism, own)
            total = sum(wide) + len(own) - 1
            families = " ".join(_short(column.family).ljust(k) for column, k in zip(own, wide, strict=True))
            heads.append([text.ljust(total) for text in ([mechanism, families] if own[0].family else _folded(mechanism, HEAD))])
            columns += own
            widths += wide
        deep = max(map(len, heads))
        for k in range(deep):
            parts = [" " * len(head[0]) if k < deep - len(head) else head[k - deep + len(head)] for head in heads]
            yield " ".join(["property".ljust(LABEL) if k == deep - 1 else " " * LABEL, *parts])
        for name in self.properties:
            *above, last = _folded(name, LABEL)
            yield from above
            texts = [self._marked(self.cells[name, column]) for column in columns]
            yield " ".join([last.ljust(LABEL), *(text.ljust(k) for text, k in zip(texts, widths, strict=True))])

    # ---- to print, and with links -----------------------------------------------------------------------------------

    def markdown(self) -> str:
        """The table of the symbols with their marks, and the notes."""
        notes = [*self.legend, *(f"{k} {note} [{', '.join(names)}]" for k, note, names in self._numbered())]
        return self._grid(self._marked, [*[self.about] * bool(self.about), *(f"- {note}" for note in notes)]).markdown()

    def latex(self) -> str:
        r"""A tabular for a paper, with booktabs, amssymb and graphicx; `\statement{ID}{...}` around a cell can be made a link."""
        heads, rules, at = [], [], 2
        for mechanism, columns in self._groups():
            if columns[0].family:
                heads.append(rf"\multicolumn{{{len(columns)}}}{{c}}{{{_tex(mechanism)}}}")
                rules.append(rf"\cmidrule(lr){{{at}-{at + len(columns) - 1}}}")
            else:
                heads.append(rf"\rotatebox{{90}}{{{_tex(mechanism)}}}")
            at += len(columns)
        special = {"": "", "alpha by server": r"$\alpha_i$", "alpha = inf": r"$\infty$"}
        families = [special.get(column.family, f"${_short(column.family)}$") for column in self.columns]
        rows = [[_tex(name), *(self._tex_cell(self.cells[name, column]) for column in self.columns)] for name in self.properties]
        notes = [*map(_tex, self._said), *(rf"$^{{{k}}}$ {_tex(note)}" for k, note, _ in self._numbered())]
        lines = [
            "% needs booktabs, amssymb and graphicx",
            r"\providecommand{\statement}[2]{#2} % such as \renewcommand{\statement}[2]{\hyperref[#1]{#2}}",
            rf"\begin{{tabular}}{{l*{{{len(self.columns)}}}{{c}}}}",
            r"\toprule",
            " & ".join(["", *heads]) + r" \\",
            *rules,
            " & ".join(["property", *families]) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            "",
            r"{\footnotesize",
            *(note + r"\par" for note in notes),
            "}",
            "",
        ]
        return "\n".join(lines)

    def _tex_cell(self, cell: Cell) -> str:
        marks = "".join(TEX.get(mark, mark) + " " * (mark in TEX) for mark in self._marks(cell)).strip()
        symbol = TEX.get(cell.symbol, rf"\mathrm{{{cell.symbol}}}")
        text = f"${symbol}^{{{marks}}}$" if marks else f"${symbol}$" * bool(cell.symbol)
        return rf"\statement{{{tex(cell.statement)}}}{{{text}}}" if cell.statement else text

    @checked
    def html(self, link: Link = lambda *_: "") -> str:
        """One element with its own style, in which every cell leads to its statement.

        `link` gives the address of a ("statement", "mechanism" or "implications", name); "" for none.
        """
        first, second = ["<th rowspan=2>property</th>"], []
        for mechanism, columns in self._groups():
            name = _led(escape(mechanism), link("mechanism", mechanism))
            if columns[0].family:
                first.append(f"<th colspan={len(columns)}>{name}</th>")
                second += [f"<th>{escape(_short(column.family))}</th>" for column in columns]
            else:
                first.append(f"<th rowspan=2 class=down>{name}</th>")
        cells = {name: "".join(self._html_cell(name, column, link) for column in self.columns) for name in self.properties}
        rows = "".join(f"<tr><th>{escape(name)}</th>{row}</tr>" for name, row in cells.items())
        notes = "".join(
            f"<li>{escape(note)} ({', '.join(_led(escape(one), link('statement', one)) for one in names)})</li>"
            for _, note, names in self._numbered()
        )
        legend = "".join(f"<p>{escape(line)}</p>" for line in self._said)
        head = f"<thead><tr>{''.join(first)}</tr><tr>{''.join(second)}</tr></thead>"
        table = f"<div class=wide><table>{head}<tbody>{rows}</tbody></table></div>"
        return f"<div class=property-matrix><style>{STYLE}</style>{table}{legend}<ol>{notes}</ol></div>"

    def _html_cell(self, name: str, column: Column, link: Link) -> str:
        cell = self.cells[name, column]
        quantifier, number = self._marks(cell)
        where = link("statement", cell.statement) if cell.statement else link("implications", name) * bool(cell.why)
        said = [f"{column}, {name}: {LEGEND[cell.symbol]}"] if cell.symbol else []
        said += [part for part in (cell.note, cell.statement, cell.answers, cell.why) if part]
        marks = f"<sup>{quantifier}{number}</sup>" if quantifier or number else ""
        return f'<td title="{escape("; ".join(said))}">{_led(escape(cell.symbol), where)}{marks}</td>'


def _short(family: str) -> str:
    """The family as the head of a column."""
    return {"alpha by server": "mix"}.get(family, family.removeprefix("alpha ").replace(" ", "").replace("=inf", "inf"))


def _folded(name: str, width: int) -> list[str]:
    """The name in lines that end at hyphens, or in the middle of a word that is longer."""
    lines = [""]
    for part in name.replace("-", "-\n").replace("_", "_\n").split("\n"):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return [line[k : k + width] for line in lines for k in range(0, len(line), width)] or [""]


def _tex(text: str) -> str:
    return "".join(f"${TEX[letter]}$" if letter in TEX else tex(letter) for letter in text)


def _led(text: str, address: str) -> str:
    return f'<a href="{escape(address)}">{text}</a>' if address else text


def matrix(
    statements: Mapping[str, Statement],
    findings: Mapping[str, Finding],
    mechanisms: Iterable[str] = (),
    properties: Iterable[str] = (),
    leaving_out: Iterable[str] = (),
    **words: str,
) -> Matrix:
    """The matrix of all mechanisms and properties that a statement is about.

    `mechanisms` and `properties` are shown in any case; with any mechanism, cells that no statement is about say "not examined".
    """
    found, asked = evidence(statements, findings), list(mechanisms)
    shown = [key for key in found if key[1] not in {*leaving_out}]
    columns = columns_of([one.statement for key in shown for one in found[key]], asked)
    rows = list(dict.fromkeys([*properties, *(name for _, name in shown)]))
    return Matrix(statements, findings, columns, rows, cells_of(found, columns, rows, bool(asked)), **words)


def recorded_matrices(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> tuple[Matrix, Matrix, Matrix]:
    """The first table of what is on record, that of other properties, and that of misreports.

    Parameters
    ----------
    statements, findings : as of `known_cells` (ours.py)
    """
    others = {item.property for item in statements.values()} - {*SCOPE}
    first = matrix(statements, findings, MECHANISMS, SCOPE, {*others, *MISREPORTED}, about=ASSUMED)
    second = matrix(statements, findings, (), (), {*SCOPE, *MISREPORTED}, title="Other properties", about=OTHERS)
    cells = cells_of(evidence(statements, findings), first.columns, rows := (*TOGETHER, *MISREPORTED), True)
    return first, second, Matrix(statements, findings, first.columns, rows, cells, "Misreports", REPORTS)


def comparison(table: PrintedTable, statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> Grid:
    """The printed table with what was found beside each mark: agrees, DISAGREES, not confirmed, or not examined."""
    cells = evidence({name: item for name, item in statements.items() if item.table == table.id}, findings)
    about = (item for item in all_statements().values() if item.table == table.id)
    printed = {(item.mechanism, item.property): not item.wants_violation for item in about}
    rows, links = [], {}
    for i, name in enumerate(table.properties):
        row = [name]
        for k, mechanism in enumerate(table.mechanisms, start=1):
            found = cells.get((mechanism, name), [])
            row.append(_compared(printed[mechanism, name], found))
            if found:
                links[i, k] = next((e for e in found if e.violated), found[0]).statement.id
        rows.append(row)
    return Grid(f"{table.place}: {table.setting}", ["property", *table.mechanisms], rows, (), links)


def _compared(printed: bool, found: Sequence[Evidence]) -> str:
    said = f"{'✓' if printed else '✗'} printed, "
    decided = [e for e in found if e.violated is not None]
    if not decided:
        return said + f"not {'decided' if found else 'examined'}"
    if any(e.violated for e in decided):
        return said + f"{'DISAGREES' if printed else 'agrees'}: violated"
    proved = any(e.finding.status in (Status.PROVED, Status.BY_MACHINE) for e in decided)
    why = "proved" if proved else f"not refuted in {max(e.finding.trials for e in decided):,} cases"
    return said + f"{'agrees' if printed else 'not confirmed'}: {why}"


def write_matrix(made: Sequence[Matrix], form: str, printed: Sequence[Grid] = ()) -> str:
    """Matrices, and printed tables below them, in one of the forms of tables.FORMATS.

    The form "html" is a page with all statements, to which the cells lead.
    """
    if form == "html":
        sections = [
            *(Section(one.title, figure=one.html(lambda kind, name: f"#{name}" * (kind == "statement"))) for one in made),
            *(Section(grid.title, table=grid) for grid in printed),
        ]
        parts = [part for name, finding in made[0].findings.items() for part in _sections(made[0].statements[name], finding)]
        return page("fairalloc: mechanisms and properties", [*sections, Section("Statements"), *parts])
    name = "text" if form == "table" else form
    return "\n".join(getattr(part, name)() for part in (*made, *printed))


def printed_tables(made: Matrix) -> list[Grid]:
    """The papers' tables about which the matrix has a statement, compared with what was found."""
    told = {item.table for item in made.statements.values() if item.id in made.findings}
    return [comparison(table, made.statements, made.findings) for name, table in PRINTED.items() if name in told]


def _sections(statement: Statement, finding: Finding) -> list[Section]:
    """A statement with its finding, and the cases that violate it without one of its hypotheses."""
    about = f"{statement.text} ({statement.place}; {statement.hypotheses})"
    code = "" if finding.case is None else finding.case.code()
    title = f"{statement.id}: {described(statement, finding.status, finding.trials)}"
    needed = [Section("", [f"without {name.replace('_', ' ')}:"], code=case.code()) for name, case in finding.needed.items()]
    return [Section(title, [about, finding.sentence], code=code, anchor=statement.id), *needed]
