"""The commands `theorems` and `matrix`: look at the statements of the papers, and show what was found."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from types import FunctionType
from typing import Any, TypeVar

from fairalloc.analysis.properties import Property
from fairalloc.cli.arguments import a_path, add_mechanism, add_search, add_time_limit, completed, limit_of, mechanism_named
from fairalloc.cli.output import complain, emit
from fairalloc.formulations import MECHANISMS, as_mechanism
from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.files.jsonio import read_json
from fairalloc.models.files.writing import check_writable, write_file
from fairalloc.models.tables import FORMATS, Grid, printable
from fairalloc.runs.objects import ObjectKind, is_in_file, load_object
from fairalloc.theorems.cases import Case
from fairalloc.theorems.certificates.store import checked, hash_of, index
from fairalloc.theorems.certificates.written import PROOF_FORMS, proof_texts
from fairalloc.theorems.checkers.own import claim_properties, claims_in, statements_in
from fairalloc.theorems.claims import Claim, property_matrix
from fairalloc.theorems.code import witness_code
from fairalloc.theorems.coverage import CLASSES, Row, by_sentence, counts, read_paper, read_table, sentence_hash, sentences, spans
from fairalloc.theorems.matrix import printed_tables, recorded_matrices, write_matrix
from fairalloc.theorems.numbers import known_numbers, numbers_table
from fairalloc.theorems.registry import MISPRINT, PAPERS, Misprint, all_statements, misprints
from fairalloc.theorems.search.laboratory import verify
from fairalloc.theorems.search.our_cells import cell_statements, known_cells
from fairalloc.theorems.search.witnesses import changes, everything, kept_witnesses, on_record, write_witnesses
from fairalloc.theorems.smt.record import document, keep, kept_proofs, machine_line
from fairalloc.theorems.statement import READINGS, UNFINISHED, Finding, Statement, Status, with_reading
from fairalloc.theorems.titles import shortened

T = TypeVar("T")

STORE = Path("results/theorems.sqlite")


def add_commands(commands: Any) -> None:
    text = "check the statements of the papers, or claims of your own (exit code 1 where one is violated)"
    actions = commands.add_parser("theorems", help=text).add_subparsers(required=True, metavar="ACTION", dest="action")
    command = _action(actions, "verify", "search for counterexamples", _verify, "your own claims in FILE.py, or FILE.py:NAME")
    action = command.add_argument("--id", action="append", default=[], metavar="ID", help="only this one (repeatable)")
    completed(action, all_statements)
    command.add_argument("--keep", type=a_path, metavar="FILE", help="write the findings into this JSON file")
    command.add_argument("--format", default="table", choices=["table", "json"])
    add_search(command, "the whole call; default: 60s", 60.0)
    command.add_argument("--jobs", type=int, metavar="N", help="processes; default: one for each core")
    command.add_argument("--store", type=a_path, default=STORE, metavar="FILE", help=f"default: {STORE}")
    command.add_argument("--fresh", action="store_true", help="leave stored witnesses aside: find them anew")

    command = _action(actions, "prove", "prove for all instances of a size, by z3", _prove)
    command.add_argument("--keep", type=a_path, metavar="FILE", help="write the proofs into this JSON file")
    command.add_argument("--format", default="table", choices=["table", "json"])
    add_time_limit(command, "each statement; default: 60s", 60.0)
    command.add_argument("--size", metavar="NxKxR", help="users x servers x resources; default: 2x2x2, or 3x1x2 for one server")
    command.add_argument("--core", action="store_true", help="show the assumptions that the proof needs")
    command.add_argument("--judge", choices=["cvc5"], help="ask this second solver every question, too")
    text = "check the certificate in this file; where there is no such file, find the certificate and write it"
    command.add_argument("--certificate", type=a_path, metavar="FILE", help=text)

    _action(actions, "show", "the status of a statement, with its proofs in words and by machine", _show)
    text = "a witness as LaTeX or a script, which needs no package, of a claim FILE.py:NAME this one; BibTeX; machine proofs"
    command = _action(actions, "export", text, _export)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--format", default="python", choices=["python", "latex", "bibtex", *PROOF_FORMS])
    form.add_argument("--coq", dest="format", action="store_const", const="coq", help="the same as --format coq")
    add_search(command, "the search of a witness of each claim of your own; default: 10s")
    _action(actions, "list", "ids of statements and misprints with status and words, one a line", _list)
    text = "the worst known ratio of each mechanism: fairness, misreports, envy"
    command = actions.add_parser("numbers", help=text, run=_numbers)
    command.add_argument("--format", default="table", choices=[*FORMATS, "python"], help="python = the instances")
    text = "what each sentence of the papers is: a statement, a definition, about the literature, or no claim"
    command = actions.add_parser("coverage", help=text, run=_coverage)
    completed(command.add_argument("papers", nargs="*", metavar="PAPER", help=f"default: {', '.join(PAPERS)}"), lambda: PAPERS)
    command.add_argument("--paper", type=a_path, metavar="FILE", help="your own copy of the one paper: show its sentences")

    text = "which mechanisms have several axioms, and where no allocation can"
    command = actions.add_parser("conflict", help=text, run=_conflict)
    text = "properties of allocations or of mechanisms, such as envy-freeness, pareto or strategyproofness"
    completed(command.add_argument("axioms", nargs="+", metavar="AXIOM", help=text), _axiom_names)
    text = "the most users x servers x resources of an instance; default: 2x2x2"
    command.add_argument("--size", default="2x2x2", metavar="NxKxR", help=text)
    command.add_argument("--format", default="table", choices=["table", "json"])
    add_search(command, "the whole call; default: 60s")

    text = "mechanism x property, and the printed tables of the papers beside it"
    command = commands.add_parser("matrix", help=text, run=_matrix)
    add_mechanism(command, otherwise="all, from the record", several=True)
    text = "a row (repeatable); see: fairalloc list properties; or FILE.py:NAME; default: those of the papers"
    completed(command.add_argument("--property", action="append", metavar="NAME", help=text), claim_properties, files="py")
    command.add_argument("--format", default="table", choices=FORMATS)
    add_search(command, "the cells that are searched together; default: 60s")


def _action(
    actions: Any, name: str, told: str, run: Callable[[argparse.Namespace], int | None], files: str = ""
) -> argparse.ArgumentParser:
    """The parser of an action, with the words and options that choose statements; `files` = its words are files of claims."""
    command: argparse.ArgumentParser = actions.add_parser(name, help=told, run=run)
    text, word = (files, "FILE.py") if files else ("a statement, or the beginning of ids such as K.T3", "ID")
    named = command.add_argument("named", nargs="*", metavar=word, help=text)
    completed(named, lambda: () if files else _known(), files="py")
    command.add_argument("--paper", action="append", choices=PAPERS, help="(repeatable) only statements of these papers")
    text = f"(repeatable) only statements with this reading of the print: {', '.join(READINGS)}"
    command.add_argument("--reading", action="append", choices=READINGS, metavar="READING", help=text)
    words = [*(word.value for word in Status), MISPRINT]
    text = f"(repeatable) only statements with this status: {', '.join(words)}"
    command.add_argument("--status", action="append", choices=words, metavar="STATUS", help=text)
    text = "(repeatable) only statements about these mechanisms; see: fairalloc list mechanisms"
    completed(command.add_argument("--mechanism", "-m", action="append", metavar="ID", help=text), MECHANISMS.all_names)
    text = "(repeatable) only statements about these properties; see: fairalloc matrix"
    completed(command.add_argument("--property", action="append", metavar="NAME", help=text), claim_properties)
    return command


def _known() -> dict[str, Statement | Misprint]:
    return {**all_statements(), **misprints()}


def _named(given: str, statements: Mapping[str, Any]) -> list[str]:
    """The statement of this id, or all whose ids begin with it: K.T3 stands for K.T3.envy, K.T3.sharing, ..."""
    found = [name for name in statements if name == given or name.startswith(f"{given}.")]
    if not found and given in misprints():
        raise InstanceError(f"{given!r} is a misprint, which leaves nothing to compute: see fairalloc theorems show {given}")
    if not found:
        raise UnknownName(no_such("statement", given, statements, "see fairalloc theorems list"))
    return [given] if given in found else found


FILTERS = ("paper", "status", "mechanism", "property", "reading")
"""The options that choose statements."""


def _value(item: Any, name: str) -> str:
    """What a filter looks at; the status is the word of the record, of a refutation without its reading."""
    if name == "status":
        return MISPRINT if isinstance(item, Misprint) else on_record(item, everything(), again=False).status.value
    return str(getattr(item, name, ""))


def _asked(options: argparse.Namespace, known: Mapping[str, T]) -> dict[str, T]:
    if not options.named and not any(getattr(options, name) for name in FILTERS):
        raise InstanceError(f"theorems {options.action} needs the id of a statement; see fairalloc theorems list")
    return _fitting(known, options.named, options)


def _able(options: argparse.Namespace, is_able: Callable[[str], bool]) -> dict[str, Statement]:
    """Those asked for that are named in full or can be written or proved; all where none can, so that it is said why."""
    asked = _asked(options, all_statements())
    able = {name: item for name, item in asked.items() if name in options.named or is_able(name)}
    if able and (left := len(asked) - len(able)):
        complain(f"{left} of {len(asked)} statements are left out: there is nothing of them to {options.action}")
    return able or asked


def _fitting(statements: Mapping[str, T], given: Iterable[str], options: argparse.Namespace) -> dict[str, T]:
    """Those that are named, or all, as far as they fit every filter."""
    names = dict.fromkeys(name for part in given for name in _named(part, statements)) or statements
    chosen = {name: statements[name] for name in names}
    for name in FILTERS:
        wanted = known = getattr(options, name) or ()
        if name in ("mechanism", "property"):
            known = sorted({_value(item, name) for item in statements.values()} - {""})
        for value in [value for value in wanted if value not in known][:1]:
            raise InstanceError(f"no statement is about the {name} {value!r}: it must be one of {', '.join(known)}")
        chosen = {key: item for key, item in chosen.items() if not wanted or _value(item, name) in wanted}
    if not chosen:
        words = " ".join(f"--{name} {value!r}" for name in FILTERS for value in getattr(options, name) or ())
        raise InstanceError(f"none of these statements fits {words}")
    return chosen


def _prove(options: argparse.Namespace) -> int:
    """Each statement that has formulas with a limit of its own; exit code 1 where one is not proved."""
    _check_kept(options.keep, kept_proofs)
    from fairalloc.theorems.conflict import size_of
    from fairalloc.theorems.smt.claims import smallest_size, without_formulas
    from fairalloc.theorems.smt.prove import prove

    statements = all_statements()
    size = None if options.size is None else size_of(options.size)
    limit, judge = limit_of(options.time_limit), options.judge is not None
    if options.certificate is not None:
        others = options.keep is not None or options.core or judge or options.format != "table"
        if others or len(found := _asked(options, statements)) != 1:
            raise InstanceError("--certificate is of one statement, and goes without --keep, --core, --judge and --format")
        (item,) = found.values()
        _certificate(options, item, size or smallest_size(item))
        return 0
    verdicts = []
    asked = _able(options, lambda name: not without_formulas(statements[name], size or smallest_size(statements[name])))
    try:
        for item in asked.values():
            verdicts.append(verdict := prove(item, size, limit, core=options.core, judge=judge))
            if options.format != "json":
                emit(f"{item.id}: {item.text}\n  {machine_line(document(verdict))}\n")
                emit("" if verdict.case is None else f"{verdict.case.code()}\n")
    finally:  # also where it is interrupted
        if options.keep is not None:
            keep(verdicts, options.keep)
    if options.format == "json":
        emit(json.dumps([document(verdict) for verdict in verdicts], indent=1) + "\n")
    return int(any(verdict.verdict != "proved" for verdict in verdicts))


def _certificate(options: argparse.Namespace, item: Statement, size: Any) -> None:
    """Check the certificate of a statement at a size, after it was found and written where there was none."""
    from fairalloc.theorems.certificates.find import certificate_of
    from fairalloc.theorems.certificates.text import text_of

    file, name = options.certificate, f"{item.id} at {'x'.join(map(str, size))}"
    if file.exists() and "time_limit" in getattr(options, "_given", {}):
        raise InstanceError(f"--time-limit is about a search, but the certificate in {file} is checked")
    if not file.exists():
        check_writable(file)
        write_file(file, json.dumps(certificate_of(item, size, limit_of(options.time_limit))) + "\n")
    emit(f"{name}: {checked(read_json(file), hash_of(text_of(item, size)), name)}\n")


def _check_kept(file: Path | None, read: Callable[[Path], Any]) -> None:
    """Whether the file of --keep can be written and what is in it can be added to: now, and not after the search."""
    if file is not None:
        check_writable(file)
        read(file)


def _show(options: argparse.Namespace) -> None:
    from fairalloc.theorems.pages import statement_page  # it loads files of the papers, which help does not need

    asks = any(word.partition(".")[0] == "ours" for word in options.named)  # our own claims about cells of the matrix
    for item in _asked(options, _known() | (cell_statements() if asks else {})).values():
        emit(printable((item.page() if isinstance(item, Misprint) else statement_page(item, everything())) + "\n"))


def _export(options: argparse.Namespace) -> int:
    """Exit code 1 where some of several claims have no witness; the others are written."""
    from fairalloc.theorems.exported import claim_text, statement_text  # they load files of the papers

    found = _in_files(filter(is_in_file, options.named), claims_in)
    claims = [claim for claim in found.values() if isinstance(claim, Claim)]
    options.named = [word for word in options.named if not is_in_file(word)]
    if claims and options.format in PROOF_FORMS:
        raise InstanceError(f"a claim of one's own has no certificate, which --format {options.format} writes")
    if claims and not options.named and (filters := [name for name in FILTERS if getattr(options, name)]):
        raise InstanceError(f"--{filters[0]} chooses statements of the papers, but only claims of your own are named")
    limit = 10.0 if options.time_limit is None else limit_of(options.time_limit)
    lacking = 0
    for claim in claims:
        try:
            emit(claim_text(claim, options.format, limit, options.trials, options.seed or 0))
        except InstanceError as error:
            if len(claims) == 1:
                raise
            complain(str(error))
            lacking = 1
    if not claims:
        _check_not_searched(options, "claims of your own: name one as FILE.py:NAME")
    elif not options.named:
        return lacking
    if options.format in PROOF_FORMS:
        for item in _able(options, index().__contains__).values():
            emit("".join(proof_texts(item.id, options.format)))
        return lacking
    from fairalloc.theorems.standalone.arguments import ARGUMENTS

    chosen = _asked(options, all_statements()) if options.format == "bibtex" else _able(options, ARGUMENTS.__contains__)
    for item in chosen.values():
        emit(statement_text(item, on_record(item, everything(), again=False).status, options.format))
    return lacking


def _list(options: argparse.Namespace) -> None:
    """A line for each: id, status, and as much of the words as the terminal has room for; all of them where it is none."""
    known = [(item, _status_word(item)) for item in _fitting(_known(), options.named, options).values()]
    wide, middle = max(len(item.id) for item, _ in known), max(len(status) for _, status in known)
    room = get_terminal_size((10**6, 24)).columns - wide - middle - 4
    for item, status in known:
        emit(printable(f"{item.id:<{wide}}  {status:<{middle}}  {shortened(item.text, max(20, room))}\n"))


def _status_word(item: Statement | Misprint) -> str:
    if isinstance(item, Misprint):
        return MISPRINT
    return with_reading(item, on_record(item, everything(), again=False).status).replace("not decided: ", "")


def _numbers(options: argparse.Namespace) -> None:
    known = known_numbers()
    if options.format == "python":
        emit("".join(f"# {one.mechanism}, {one.quantity}: {one.ratio}\n{one.case.code()}\n\n" for one in known if one.case))
        return
    table = numbers_table(known, recorded_matrices(*known_cells())[0].cells)
    emit(getattr(table, "text" if options.format == "table" else options.format)())


def _coverage(options: argparse.Namespace) -> None:
    papers = options.papers or PAPERS
    if unknown := next((name for name in papers if name not in PAPERS), None):
        raise UnknownName(no_such("paper", unknown, PAPERS))
    if options.paper is not None:
        if len(papers) != 1:
            raise InstanceError(f"--paper {options.paper} is a copy of one paper, but {len(papers)} are asked for: name one")
        emit(printable(_own_copy(papers[0], options.paper)))
        return
    tables = {paper: read_table(paper) for paper in papers}
    found = {paper: (len(by_sentence(table)), counts(table)) for paper, table in tables.items()}
    rows = [[paper, str(size), *(str(of[kind]) for kind in (*CLASSES, ""))] for paper, (size, of) in found.items()]
    heads = ["paper", "sentences", *CLASSES, "without a class"]
    emit(Grid("Sentences by class", heads, rows, right=range(1, len(heads))).text())
    for title, kind in (("Statements that are missing", "missing"), ("Without a class", "")):
        emit("".join(f"{line}\n" for line in ["", f"{title}:", *(_places(tables, kind) or ["nothing"])]))


def _places(tables: Mapping[str, Sequence[Row]], kind: str) -> list[str]:
    """Where the sentences of a class are, a line for each detail."""
    found: dict[str, dict[str, list[int]]] = {}
    for paper, row in ((paper, row) for paper, rows in tables.items() for row in rows if row.kind == kind):
        found.setdefault(row.detail, {}).setdefault(f"{paper} {row.section}", []).append(row.sentence)
    said = {name: "; ".join(f"{at}, {spans(numbers)}" for at, numbers in places.items()) for name, places in found.items()}
    return [f"{name}: {places}" if name else places for name, places in said.items()]


def _own_copy(paper: str, file: Path) -> str:
    """The sentences of a reader's copy with their classes, and how many of the hashes it does not have."""
    texts = {sentence_hash(text): text for text in sentences(read_paper(file))}
    table, lines = by_sentence(read_table(paper)), []
    for number, rows in table.items():
        classes = "; ".join(" ".join(filter(None, (row.kind, row.detail))) or "without a class" for row in rows)
        lines.append(f"{rows[0].section}, {number}: {classes}\n  {texts.get(rows[0].hash, 'not in this copy')}\n")
    known = [rows[0].hash for rows in table.values()]
    lost, new = sum(one not in texts for one in known), len(set(texts).difference(known))
    if lost == len(known):
        raise InstanceError(f"--paper {file} has no sentence of {paper}: is it another paper?")
    lines.append(f"{lost} of {len(table)} hashes are not in {file}; {new} sentences of it are not in the table\n")
    return "\n".join(lines)


def _verify(options: argparse.Namespace) -> int:
    """Each result as it comes; then how many there are of each status, and what changed against the record."""
    _check_kept(options.keep, kept_witnesses)
    limit_of(options.time_limit)
    if known := next((word for word in options.named if any(f"{name}.".startswith(f"{word}.") for name in _known())), ""):
        raise InstanceError(f"theorems verify takes files of your own claims, and a statement as --id {known}")
    statements = _in_files(options.named, statements_in) if options.named else all_statements()
    chosen = _fitting(statements, options.id, options)
    claims = {name: claim for file in options.named for name, claim in claims_in(file).items()}
    told: dict[str, Finding] = {}

    def tell(finding: Finding) -> None:
        told[finding.statement] = finding
        count = f"{len(told):>{len(str(len(chosen)))}}/{len(chosen)}"
        if options.format != "table":  # beside the answer
            complain(f"{count} {_words(finding)}")
        elif (case := _violation(finding)) is not None:
            text, claim = chosen[finding.statement].text, claims.get(finding.statement)
            code = case.code() if claim is None else witness_code(claim, case)
            emit(printable(f"{count} {finding.statement}: {text}\n  {finding.status}: {finding.sentence}\n{code}\n\n"))
        else:
            emit(printable(f"{count} {_words(finding)}\n"))

    store = None if options.named and options.store == STORE else options.store  # functions in files change
    limits = {"trials": options.trials, "fresh": options.fresh, "start": options.start, "files": options.named}
    try:
        findings = verify(chosen.values(), options.time_limit, options.seed or 0, options.jobs, store, tell=tell, **limits)
    except KeyboardInterrupt:
        if options.keep is not None:
            write_witnesses(statements, told.values(), options.keep)
        if options.format == "table":
            emit(_ending(chosen, told))
        raise
    if options.keep is not None:
        write_witnesses(statements, findings.values(), options.keep)
    if options.format == "json":
        emit(json.dumps([finding.document() for finding in findings.values()], indent=1) + "\n")
    else:
        emit(_ending(chosen, findings))
    bad = (Status.REFUTED, Status.IN_FLOATS) if options.named else ()
    return int(any("check failed" in one.sentence or one.status in bad for one in findings.values()))


def _matrix(options: argparse.Namespace) -> None:
    """From the record of the package; cells that are named are searched where nothing is on record."""
    if options.mechanism or options.property:
        mechanisms = list(map(mechanism_named, options.mechanism)) or None
        kind = ObjectKind("property", lambda item: item if isinstance(item, Property | FunctionType) else as_mechanism(item))
        asked = options.property and [load_object(name, kind) if is_in_file(name) else name for name in options.property]
        limit = 60.0 if options.time_limit is None else limit_of(options.time_limit)
        made = property_matrix(mechanisms, asked, time_limit=limit, trials=options.trials, seed=options.seed or 0)
        emit(write_matrix([made], options.format))
        return
    _check_not_searched(options, "cells that are searched: name them by --mechanism or --property")
    recorded = recorded_matrices(*known_cells())
    emit(write_matrix(recorded, options.format, printed_tables(recorded[0])))


def _check_not_searched(options: argparse.Namespace, what: str) -> None:
    """InstanceError where an option of a search is given, and there is none."""
    for name in ("time-limit", "seed", "trials"):
        if getattr(options, name.replace("-", "_")) is not None:
            raise InstanceError(f"--{name} is about {what}")


def _in_files(files: Iterable[str], read: Callable[[str], Mapping[str, T]]) -> dict[str, T]:
    kept: dict[str, T] = {}
    for file in files:
        found = read(file)
        if not found:
            raise InstanceError(f"{file} defines no claim: a claim is what fa.claim returns")
        if twice := next((name for name in found if name in kept), None):
            raise InstanceError(f"two claims are named {twice!r}, but names must be distinct: give one an id")
        kept |= found
    return kept


def _words(finding: Finding) -> str:
    """The finding with the assumptions that are needed."""
    status = "" if finding.sentence.startswith(finding.status) else f"{finding.status}: "
    needed = ", ".join(key.replace("_", " ") for key in finding.needed)
    return f"{finding.statement}: {status}{finding.sentence}" + (f"; needs: {needed}" if needed else "")


def _violation(finding: Finding) -> Case | None:
    return finding.case if finding.verdict is not None and finding.verdict.holds is False else None


def _ending(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> str:
    """How many of each paper have which status, what was left out, and what changed against the record."""
    lines = ["A longer --time-limit tries more cases."] * any(not one.finished for one in findings.values())
    for why in ("stopped", "not begun"):
        left = {name: one for name, one in findings.items() if one.searched.get(UNFINISHED) == why}
        open_ = [name for name, one in left.items() if one.status not in (Status.PROVED, Status.BY_MACHINE)]
        names = f"; without a proof: {', '.join(open_)}" if open_ else ", all of them proved"
        line = f"{why} when the budget ended: {len(left)}{names}"
        lines += wrap(line, 130, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) if left else []
    registered = {name: one for name, one in findings.items() if statements[name].paper in PAPERS}
    if registered:
        ended = sum(one.finished for one in registered.values())
        none = "nothing" if ended == len(registered) else f"nothing in the {ended} of {len(registered)} whose search ended"
        lines += ["", "Changed against the record:", *(list(changes(statements, registered, everything())) or [none])]
    return "\n" + _summary(statements, findings).text() + "".join(f"{printable(line)}\n" for line in lines)


def _summary(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> Grid:
    told = [(statements[k].paper, one.status) for k, one in findings.items() if one.finished or one.status != Status.NOT_DECIDED]
    rows = [[paper, *(str(told.count((paper, word))) for word in Status)] for paper in (*PAPERS, "own") if paper in dict(told)]
    heads = [word.removeprefix("not decided: ") for word in Status]
    return Grid("Statements by paper", ["paper", *heads], rows, right=range(1, 1 + len(heads)))


def _axiom_names() -> tuple[str, ...]:
    """What the shell completes an axiom to; nothing else here needs the module, which imports z3."""
    from fairalloc.theorems.conflict import NAMES

    return NAMES


def _conflict(options: argparse.Namespace) -> None:
    from fairalloc.theorems.conflict import conflict

    limit = None if options.time_limit is None else limit_of(options.time_limit)
    found = conflict(options.axioms, options.size, time_limit=limit, trials=options.trials, seed=options.seed or 0)
    emit(json.dumps(found.document(), indent=1) + "\n" if options.format == "json" else f"{printable(str(found))}\n")
