"""Mechanism x property from findings, and the papers' printed tables compared with them cell by cell.

    ✗         a violation is confirmed in rationals; the cell leads to the code that rebuilds its case
    ✗ floats  a violation is confirmed in floating point alone, by two methods or by the only one, and not in rationals
    ✓         it holds: the statement has a proof that was read, and no violation was found
    ✓? 1,234  not refuted in so many cases
    ?         not decided
    ⇒         no statement is about it, but it follows from the mechanism's definition (implications.py)
    ·         not examined: no statement is about it
    (blank)   the same, in the table of given statements alone

Where a property is violated under some hypotheses and not under stronger ones, both are shown: "✗; ✓? 120 if simplex". Where
it is not violated, but is without a hypothesis, that is named: "✓; needs simplex". Where only parameters other than the
mechanism's default were examined, these are named: "✓ if alpha in 1".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairalloc.formulations import MECHANISMS
from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section, page, table_section
from fairalloc.theorems.implications import follows
from fairalloc.theorems.printed import PRINTED, PrintedTable
from fairalloc.theorems.statement import Finding, Statement, Status

__all__ = ["comparison", "evidence", "matrix", "matrix_page", "write_matrix"]


IN_FLOATS, NOT_EXAMINED = "✗ floats", "·"
"""Marks of a cell."""


@dataclass(frozen=True)
class Evidence:
    """One statement about a cell and what was found."""

    statement: Statement
    finding: Finding

    @property
    def violated(self) -> bool | None:
        """Whether the property is violated; None = not decided."""
        if self.finding.status == Status.NOT_DECIDED:
            return None
        if self.in_floats:
            return True
        return (self.finding.status == Status.REFUTED) != self.statement.wants_violation

    @property
    def in_floats(self) -> bool:
        """Whether a violation is known in floating point alone."""
        return self.finding.status == Status.IN_FLOATS

    @property
    def mark(self) -> str:
        """The cell in short."""
        if self.violated is None:
            return "?"
        if self.violated:
            return IN_FLOATS if self.in_floats else "✗"
        if self.finding.status in (Status.PROVED, Status.BY_MACHINE):
            return "✓"
        return f"✓? {self.finding.trials:,}"


def evidence(
    statements: Mapping[str, Statement], findings: Mapping[str, Finding], keep: Callable[[Statement], bool] = lambda _: True
) -> dict[tuple[str, str], list[Evidence]]:
    """What was found about each (mechanism, property).

    Parameters
    ----------
    statements : by id
    findings : by id of the statement
    keep : which statements count

    Returns
    -------
    {(mechanism, property): statements with their findings}
    """
    cells: dict[tuple[str, str], list[Evidence]] = {}
    for item in statements.values():
        if item.mechanism and item.property and item.id in findings and keep(item):
            cells.setdefault((item.mechanism, item.property), []).append(Evidence(item, findings[item.id]))
    return cells


def matrix(
    statements: Mapping[str, Statement],
    findings: Mapping[str, Finding],
    mechanisms: Iterable[str] = (),
    properties: Iterable[str] = (),
) -> Grid:
    """The table of all mechanisms and properties that a statement is about.

    Parameters
    ----------
    statements : by id
    findings : by id of the statement
    mechanisms, properties : what is shown in any case; with any, cells that no statement is about say "not examined"

    Returns
    -------
    the table, properties as rows and mechanisms as columns
    """
    cells = evidence(statements, findings)
    unknown = NOT_EXAMINED if (asked := {*mechanisms}) else ""
    mechanisms = sorted({mechanism for mechanism, _ in cells} | asked)
    properties = list(dict.fromkeys([*(name for _, name in cells), *properties]))
    rows, links = [], {}
    for i, name in enumerate(properties):
        row = [name]
        for k, mechanism in enumerate(mechanisms, start=1):
            found = cells.get((mechanism, name), [])
            row.append(_cell(found) or ("⇒" if follows(mechanism, name) else unknown))
            if (shown := next((e for e in found if e.violated), None)) is not None:
                links[i, k] = shown.statement.id
        rows.append(row)
    notes = [
        "✗ violated, confirmed in rationals; ✓ holds, proved; ✓? n: not refuted in n cases; ? not decided; "
        "needs: violated without these hypotheses; ⇒ follows from the definition"
    ]
    marks = [cell for row in rows for cell in row[1:]]
    notes += [f"{IN_FLOATS}: violated in floating point, not confirmed in rationals"] * any(IN_FLOATS in c for c in marks)
    notes += [f"{NOT_EXAMINED} not examined"] * (NOT_EXAMINED in marks)
    return Grid("Mechanisms and properties", ["property", *mechanisms], rows, notes, links)


def _cell(found: Sequence[Evidence]) -> str:
    """The marks of a cell, the violation first, and under which hypotheses the others hold."""
    violated = [e for e in found if e.violated]
    others = [e for e in found if not e.violated]
    if not violated:
        return _best(others) if others else ""
    common = set.intersection(*(_assumed(e) for e in violated))
    more = {f"{e.mark} if {', '.join(sorted(_assumed(e) - common))}" for e in others if _assumed(e) - common}
    return "; ".join([min(e.mark for e in violated), *sorted(more)])


def _best(found: Sequence[Evidence]) -> str:
    """The strongest mark where nothing is violated, and the hypotheses without which a violation is confirmed."""
    strength = {"✓": 2, "?": 0}
    best = max(found, key=lambda e: (strength.get(e.mark, 1), -len(e.finding.needed), e.finding.trials))
    needs = ", ".join(name.replace("_", " ") for name in best.finding.needed)
    other = ", ".join(_other_parameters(best))
    return best.mark + f" if {other}" * bool(other) + f"; needs {needs}" * bool(needs)


def _other_parameters(item: Evidence) -> list[str]:
    """The parameters of its hypotheses whose values do not include the mechanism's default, in words."""
    mechanism = MECHANISMS.get(item.statement.mechanism)
    default = mechanism.parameters if mechanism else {}
    given = item.statement.hypotheses.parameters
    return [f"{name} in {', '.join(map(str, values))}" for name, values in given.items() if default.get(name) not in values]


def _assumed(item: Evidence) -> set[str]:
    return set(item.statement.hypotheses.words)


# ---- the printed tables ----------------------------------------------------------------------------------------------


def comparison(table: PrintedTable, statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> Grid:
    """The printed table with what was found beside each mark: agrees, DISAGREES, not confirmed, or not examined.

    Parameters
    ----------
    table : a printed table
    statements : by id
    findings : by id of the statement

    Returns
    -------
    the table
    """
    cells = evidence(statements, findings, lambda item: item.table == table.id)
    rows, links = [], {}
    for i, name in enumerate(table.properties):
        row = [name]
        for k, mechanism in enumerate(table.mechanisms, start=1):
            found = cells.get((mechanism, name), [])
            row.append(_compared(table.marks.get((mechanism, name)), found))
            if (shown := next((e for e in found if e.violated), None)) is not None:
                links[i, k] = shown.statement.id
        rows.append(row)
    return Grid(f"{table.place}: {table.setting}", ["property", *table.mechanisms], rows, (), links)


def _compared(printed: bool | None, found: Sequence[Evidence]) -> str:
    if printed is None:
        return ""
    mark = "✓" if printed else "✗"
    decided = [e for e in found if e.violated is not None]
    if not decided:
        return f"{mark} printed, not {'decided' if found else 'examined'}"
    violated = any(e.violated for e in decided)
    if violated:
        return f"{mark} printed, {'DISAGREES' if printed else 'agrees'}: violated"
    trials = max(e.finding.trials for e in decided)
    proof = "proved" if any(e.mark == "✓" for e in decided) else f"not refuted in {trials:,} cases"
    return f"{mark} printed, {'agrees' if printed else 'not confirmed'}: {proof}"


# ---- writing --------------------------------------------------------------------------------------------------------


def write_matrix(
    statements: Mapping[str, Statement], findings: Mapping[str, Finding], form: str, mechanisms: Iterable[str] = ()
) -> str:
    """The matrix and the printed tables in one of the forms of tables.FORMATS.

    Parameters
    ----------
    statements : by id
    findings : by id of the statement
    form : "table", "markdown", "latex" or "html"
    mechanisms : what has a column in any case

    Returns
    -------
    the text
    """
    if form == "html":
        return matrix_page(statements, findings, mechanisms)
    grids = _grids(statements, findings, mechanisms)
    return "\n".join(getattr(grid, "text" if form == "table" else form)() for grid in grids)


def _grids(statements: Mapping[str, Statement], findings: Mapping[str, Finding], mechanisms: Iterable[str]) -> list[Grid]:
    """The matrix and the printed tables."""
    printed = [comparison(table, statements, findings) for table in PRINTED.values()]
    return [matrix(statements, findings, mechanisms), *printed]


def matrix_page(statements: Mapping[str, Statement], findings: Mapping[str, Finding], mechanisms: Iterable[str] = ()) -> str:
    """One HTML page: the matrix, the printed tables, and every witness as code.

    Parameters
    ----------
    statements : by id
    findings : by id of the statement
    mechanisms : what has a column in any case

    Returns
    -------
    the page
    """
    grids = _grids(statements, findings, mechanisms)
    sections = [*map(table_section, grids), Section("Statements")]
    for name, finding in findings.items():
        sections += _sections(statements[name], finding)
    return page("fairalloc: theorems, checked numerically", sections)


def _sections(statement: Statement, finding: Finding) -> list[Section]:
    """A statement with its finding, and the cases that violate it without one of its hypotheses."""
    about = f"{statement.text} ({statement.place}; {statement.hypotheses})"
    code = "" if finding.case is None else finding.case.code()
    title = f"{statement.id}: {finding.status}"
    needed = [Section("", [f"without {name.replace('_', ' ')}:"], code=case.code()) for name, case in finding.needed.items()]
    return [Section(title, [about, finding.sentence], code=code, anchor=statement.id), *needed]
