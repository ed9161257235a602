"""All statements: every paper of papers/ with its file, and those of installed packages; nothing is listed by hand.

papers/LETTER/statements.toml has the words of a paper, `[statement."ID"]`, trials.py beside it tries and confirms them.

1. `[proofs]` of papers/proofs.toml and of the paper's own file are proofs by name; a statement's `proof` may hold [[NAME]].
2. `hypotheses` are words (Hypotheses.of), by default those of the file for a claim that is not about one case; `parameters` and
   `points` say what a case holds beside its instance.
3. `printed` names the paper's case: a published example, or one of `cases` in trials.py. The claim is then about one case, as is
   that of an experiment, unless its `quantifier` says otherwise; else it is about all. `[tables]` names the statements of printed
   tables.
4. The routes are `trials[id]`; else those of an `experiment` of ours; else, where `missing` says what would decide the
   statement, none; else those of the property `judge`, or `property`, of `mechanism`; else the check of its standalone script.
   As many users misreport together as the property says, where `misreports` does not.
5. A `[misprint."ID"]` is a slip of the print that leaves nothing to compute: printed (at most 12 words), and meant.

A package joins by the entry points `fairalloc.statements` (models/registry.py), which lead to claims or statements.
"""

import re
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.errors import FairallocError, InstanceError, UnknownName, fault, no_such
from fairalloc.models.examples.published import example
from fairalloc.models.registry import Registry, naming_the_file
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import checked, rests_on
from fairalloc.theorems.checkers.game import missing
from fairalloc.theorems.checkers.own import MISREPORTS, judge_of, routes
from fairalloc.theorems.checkers.trials import Routes, once
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.packaged_files import joined, packaged_toml
from fairalloc.theorems.standalone.arguments import ARGUMENTS
from fairalloc.theorems.statement import Proof, Statement

T = TypeVar("T")

PACKAGE = "fairalloc.theorems.papers"

PAPERS = ("K", "P", "W", "Z", "D")
"""The papers in the order of the design."""

MISPRINT = "misprint"

PARTS = ("hypotheses", "proofs", "tables", "statement", MISPRINT)
"""Keys of a file."""

FIELDS = ("id", "quantifier", "misreports", "mechanism", "property", "experiment", "answers", "reading")
"""Keys that a Statement has as they are."""

PROSE = ("text", "place", "note")
"""Keys whose lines are joined."""

MADE = ("hypotheses", "parameters", "points", "printed", "proof", "judge", "missing")
"""Keys from which fields are made."""

MOST_WORDS = 12
"""Of what is printed."""


@dataclass(frozen=True)
class Misprint:
    """A slip of the print that leaves nothing to compute: its id, its place, the printed words, what they mean, and why."""

    id: str
    place: str
    printed: str
    meant: str
    note: str

    paper = property(lambda self: self.id.split(".")[0])
    mechanism, reading = "", ""
    """As a Statement's: it is about none, and the words are the print's."""

    @property
    def text(self) -> str:
        """What is printed, and what is meant."""
        return f"Printed: {self.printed}. Meant: {self.meant}."

    def page(self) -> str:
        return f"# {self.id}\n\n> {self.text}\n\n{self.place}. Status: **{MISPRINT}**: nothing to compute.\n\n{self.note}\n"


def statements_of_paper(letter: str) -> list[Statement]:
    """The statements of a paper, in the order of its file.

    InstanceError where the file is not as it must be; the sentence names it, and the statement.
    """
    with naming_the_file(f"{PACKAGE}.{letter}.trials"):
        code = import_module(f"{PACKAGE}.{letter}.trials")
        cases, trials = code.cases, code.trials
    file, document = _document(letter)
    with _naming(file, "it"):
        proofs = packaged_toml("papers/proofs.toml")["proofs"] | document.get("proofs", {})
        tables = {key: name for name, keys in document.get("tables", {}).items() for key in keys.split()}
    usual = document.get("hypotheses", "")
    made = _each(document, "statement", file, lambda given: _statement(given, usual, proofs, cases, trials))
    result = [replace(item, table=tables.pop(item.id, "")) for item in made]
    with _naming(file, "it"):
        for name in tables:
            raise ValueError(f"{name!r} is in a table, but is no statement")
    for name in {*trials} - {item.id for item in result}:
        raise InstanceError(f"{code.__file__} tries {name!r}, but {file.name} has no such statement")
    return result


def misprints_of_paper(letter: str) -> list[Misprint]:
    """The misprints of a paper, in the order of its file; InstanceError as for `statements_of_paper`."""
    file, document = _document(letter)
    return _each(document, MISPRINT, file, _misprint)


def _each(document: Mapping[str, Any], table: str, file: Path, make: Callable[[Mapping[str, Any]], T]) -> list[T]:
    result = []
    with _naming(file, "it"):
        named = dict(document.get(table, {}))
    for name, given in named.items():
        with _naming(file, f"{table} {name!r}"):
            result.append(make(dict(id=name, **given)))
    return result


def _document(letter: str) -> tuple[Path, Mapping[str, Any]]:
    file = Path(import_module(f"{PACKAGE}.{letter}").__path__[0]) / "statements.toml"
    with _naming(file, "it"):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        if unknown := {*document} - {*PARTS}:
            raise ValueError(f"{min(unknown)!r} is no key, but the keys are {', '.join(PARTS)}")
        return file, document


def _misprint(given: Mapping[str, Any]) -> Misprint:
    names = tuple(Misprint.__dataclass_fields__)
    if unlike := {*given} ^ {*names}:
        raise ValueError(f"{min(unlike)!r} is no key, or lacking: the keys are {', '.join(names)}")
    made = Misprint(**{name: joined(given[name]) for name in names})
    if len(made.printed.split()) > MOST_WORDS:
        raise ValueError(f"printed has {len(made.printed.split())} words, but at most {MOST_WORDS} are quoted")
    return made


@contextmanager
def _naming(file: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (FairallocError, OSError, ValueError, KeyError, TypeError) as error:
        raise InstanceError(f"{file} cannot be read: {what}: {fault(error)}") from error


def _statement(
    given: Mapping[str, Any], usual: str, proofs: Mapping[str, str], cases: Mapping[str, Case], trials: Mapping[str, Routes]
) -> Statement:
    if unknown := {*given} - {*FIELDS, *PROSE, *MADE}:
        raise ValueError(f"{min(unknown)!r} is no key, but the keys are {', '.join(FIELDS + PROSE + MADE)}")
    if lacking := {"text", "place"} - {*given}:
        raise ValueError(f"it has no {min(lacking)}, but each needs one")
    tried, printed = trials.get(given["id"]) or _routes(given), _printed(given, cases)
    fields: dict[str, Any] = {"quantifier": "one" if printed else "all"}
    fields |= {"misreports": MISREPORTS.get(given.get("property", ""), 0)} | {key: given[key] for key in FIELDS if key in given}
    assumed = Hypotheses.of(given.get("hypotheses", usual * (fields["quantifier"] != "one")))
    parameters = {name: tuple(map(_number, values)) for name, values in given.get("parameters", {}).items()}
    prose = {"note": given.get("missing", "")} | {key: given[key] for key in PROSE if key in given}
    return Statement(
        trial=tried.trial,
        confirm=tried.confirm,
        hypotheses=replace(assumed, parameters=parameters, points=given.get("points", 0)),
        printed=printed,
        proof=_proof(joined(given.get("proof", "")), proofs),
        **fields | {key: joined(text) for key, text in prose.items()},
    )


def _printed(given: Mapping[str, Any], cases: Mapping[str, Case]) -> Case | None:
    """The printed case; that of an experiment, which is about a sample, counts nowhere."""
    name = given.get("printed", "wang-fig1" * ("experiment" in given))
    return (cases[name] if name in cases else Case(example(name).instance)) if name else None


def _number(value: Any) -> Any:
    """A value of a parameter: "1/2" is a rational number, a list has an entry for each server."""
    if isinstance(value, list):
        return tuple(map(_number, value))
    return Fraction(value) if isinstance(value, str) and value != "inf" else value


def _proof(text: str, proofs: Mapping[str, str]) -> Proof | str:
    found = re.fullmatch(r"(.*?)\[\[(.*)\]\](.*)", text)
    if found is None:
        return text
    before, name, after = found.groups()
    if name not in proofs:
        raise UnknownName(no_such("proof", name, proofs))
    return Proof(name, joined(proofs[name]), before, after)


def _routes(given: Mapping[str, Any]) -> Routes:
    if "missing" in given or "experiment" in given:
        decide = missing(joined(given["missing"])) if "missing" in given else partial(rests_on, given["experiment"])
        return Routes(decide, decide)
    name, mechanism = given.get("judge") or given.get("property"), given.get("mechanism")
    if not (name and mechanism) and given["id"] in ARGUMENTS:
        return once(checked(given["id"]))
    if not (name and mechanism):
        raise ValueError("it has no trial in trials.py, and no mechanism with a property or a judge")
    return routes(find_mechanism(mechanism), judge_of(name))


# ---- of all papers and of installed packages ----------------------------------------------------------------------------

Item = TypeVar("Item", Statement, Misprint)


def all_statements() -> Mapping[str, Statement]:
    """All statements by id, in the order of the papers and of the files; those of installed packages come last."""
    return _STATEMENTS


def misprints() -> dict[str, Misprint]:
    """The misprints of the papers by id, in the order of the papers and of the files."""
    return _of_the_papers(misprints_of_paper, "misprint", "claims or misprints", _STATEMENTS)


def _of_the_papers(read: Callable[[str], list[Item]], kind: str, several: str, taken: Container[str] = ()) -> dict[str, Item]:
    """What all papers have, by id, in the order of PAPERS."""
    with naming_the_file(PACKAGE):
        folders = [paper.name for paper in iter_modules(import_module(PACKAGE).__path__) if paper.ispkg]
    found: dict[str, Item] = {}
    for item in (item for folder in folders for item in read(folder)):
        if item.id in found or item.id in taken:
            raise InstanceError(f"two {several} are named {item.id!r}, but names must be distinct")
        if item.paper not in PAPERS:
            raise InstanceError(f"{kind} {item.id!r} is of no paper: an id starts with one of {', '.join(PAPERS)}")
        found[item.id] = item
    return dict(sorted(found.items(), key=lambda pair: PAPERS.index(pair[1].paper)))


def _read(item: Any) -> Statement | None:
    """A statement, or that of a claim; None for anything else, and for what takes the name of a paper."""
    made = getattr(item, "statement", item)
    return made if isinstance(made, Statement) and not made.id.startswith(tuple(f"{paper}." for paper in PAPERS)) else None


_OURS = partial(_of_the_papers, statements_of_paper, "statement", "statements")
_STATEMENTS: Registry[Statement] = Registry(
    "statement", "fairalloc.statements", lambda: _OURS().values(), _read, lambda item: (item.id,)
)


def statement(name: str) -> Statement:
    found = all_statements()
    if name not in found:
        raise UnknownName(no_such("statement", name, found, "see fairalloc theorems list"))
    return found[name]
