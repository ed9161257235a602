"""The commands `theorems` and `matrix`: look at the statements of the papers, and show what was found."""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from fairalloc.cli_output import emit
from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.tables import FORMATS, Grid, printable
from fairalloc.runs.pages import Section, page, table_section
from fairalloc.theorems.engine.findings import FindingStore
from fairalloc.theorems.engine.laboratory import verify
from fairalloc.theorems.engine.witnesses import write_witnesses
from fairalloc.theorems.matrix import write_matrix
from fairalloc.theorems.registry import PAPERS, all_statements
from fairalloc.theorems.statement import Finding, Statement

__all__ = ["add_commands", "statement_rows"]

STORE = Path("results/theorems.sqlite")


def add_commands(commands: Any) -> None:
    """Add both commands to the parser of `fairalloc`."""
    command = commands.add_parser("theorems", help="check the statements of the papers; a killed run resumes where it was")
    command.add_argument("action", nargs="?", default="verify", choices=["verify"])
    command.add_argument("--id", action="append", metavar="ID", help="only these; see: fairalloc list statements")
    command.add_argument("--paper", action="append", choices=PAPERS, help="only those of these papers")
    command.add_argument("--keep", type=Path, metavar="FILE", help="put witnesses and counts into this JSON file")
    command.add_argument("--format", default="table", choices=["table", "json", "html"])
    _add_search(command)
    command.set_defaults(run=_theorems)

    command = commands.add_parser("matrix", help="mechanism x property, and the printed tables of the papers beside it")
    command.add_argument("--format", default="table", choices=FORMATS)
    _add_search(command)
    command.set_defaults(run=_matrix)


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("--budget", default="60s", metavar="TIME", help="for all together, such as 90s, 10m or 1h")
    command.add_argument("--seed", type=int, default=0, metavar="N")
    command.add_argument("--jobs", type=int, metavar="N", help="processes; default: one for each core")
    command.add_argument("--trials", type=int, metavar="N", help="the most cases of one search")
    command.add_argument("--store", type=Path, default=STORE, metavar="FILE", help=f"default: {STORE}")
    command.add_argument("--fresh", action="store_true", help="leave stored witnesses aside: find them anew")


def statement_rows() -> list[list[str]]:
    """Id, quantifier, place and text of every statement."""
    return [[item.id, item.quantifier, item.place, item.text] for item in all_statements().values()]


def _named(given: str, statements: Mapping[str, Statement]) -> list[str]:
    """The statement of this id, or all whose ids begin with it: K.T3 stands for K.T3.envy, K.T3.sharing, ..."""
    found = [name for name in statements if name == given or name.startswith(f"{given}.")]
    if not found:
        raise UnknownName(no_such("statement", given, statements, "see fairalloc list statements"))
    return [given] if given in found else found


def _theorems(options: argparse.Namespace) -> int:
    statements = all_statements()
    wanted = [name for given in options.id or () for name in _named(given, statements)]
    chosen = {
        name: item
        for name, item in statements.items()
        if (not options.id or name in wanted) and (not options.paper or item.paper in options.paper)
    }
    if not chosen:
        raise InstanceError(f"none of these statements is of the papers {', '.join(options.paper)}")
    findings = _verified(chosen, options)
    if options.keep is not None:
        write_witnesses(statements, findings.values(), options.keep)
    if options.format == "json":
        emit(json.dumps([finding.document() for finding in findings.values()], indent=1) + "\n")
    elif options.format == "html":
        emit(_page(chosen, findings) + "\n")
    else:
        _show(chosen, findings)
    return int(any("check failed" in finding.sentence for finding in findings.values()))


def _matrix(options: argparse.Namespace) -> int:
    """From the latest findings on record; statements without any are looked at first, and with --fresh all of them."""
    statements = {name: item for name, item in all_statements().items() if item.mechanism and item.property}
    findings: dict[str, Finding] = {}
    if options.store.exists() and not options.fresh:
        with FindingStore(options.store) as store:
            findings = {name: finding for name, finding in store.findings().items() if name in statements}
    missing = {name: item for name, item in statements.items() if name not in findings}
    findings |= _verified(missing, options) if missing else {}
    emit(write_matrix(statements, {name: findings[name] for name in statements}, options.format))
    return 0


def _verified(chosen: Mapping[str, Statement], options: argparse.Namespace) -> dict[str, Finding]:
    return verify(
        chosen.values(),
        _seconds(options.budget),
        options.seed,
        options.jobs,
        options.store,
        trials=options.trials,
        fresh=options.fresh,
        progress=sys.stderr.isatty(),
    )


def _seconds(text: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)\s*([smh]?)", text)
    if match is None or not 0 < float(match[1]) < inf:
        raise InstanceError(f"the budget is {text!r}, but it must be a positive time such as 90s, 10m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


# ---- what is shown ---------------------------------------------------------------------------------------------------


def _show(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> None:
    """For each paper what was held, refuted and not decided; then the smallest witness of each violation."""
    emit(_summary(statements, findings).text() + "\n")
    emit(_overview(statements, findings).text() + "\n")
    for name, finding in findings.items():
        if finding.case is not None and finding.verdict is not None and finding.verdict.holds is False:
            text = f"{name}: {statements[name].text}\n  {finding.status}: {finding.sentence}\n{finding.case.code()}\n\n"
            emit(printable(text))


def _summary(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> Grid:
    rows = []
    for paper in [paper for paper in PAPERS if any(statements[name].paper == paper for name in findings)]:
        status = {name: finding.status for name, finding in findings.items() if statements[name].paper == paper}
        proved = sum(word == "held" and bool(statements[name].proof) for name, word in status.items())
        counts = [list(status.values()).count(word) for word in ("held", "refuted", "not decided")]
        rows.append([paper, *map(str, (counts[0], proved, *counts[1:]))])
    return Grid(
        "Statements by paper", ["paper", "held", "of these with a proof", "refuted", "not decided"], rows, right=range(1, 5)
    )


def _overview(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> Grid:
    rows = []
    for name, finding in findings.items():
        needs = f"; needs: {', '.join(key.replace('_', ' ') for key in finding.needed)}" if finding.needed else ""
        proved = "; proved" if finding.status == "held" and statements[name].proof else ""
        rows.append([name, finding.status, f"{finding.trials:,}", finding.sentence + proved + needs])
    return Grid("Findings", ["statement", "status", "cases", "finding"], rows, right=[2])


def _page(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> str:
    sections = [table_section(grid(statements, findings)) for grid in (_summary, _overview)]
    for name, finding in findings.items():
        if finding.case is not None:
            text = f"{statements[name].text} {finding.status}: {finding.sentence}"
            sections.append(Section(name, [text], code=finding.case.code(), anchor=name))
    return page("fairalloc: statements of the papers", sections)
