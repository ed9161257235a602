"""The questions of a statement at a size as a text that needs no solver to be read: JSON, as check_certificate.py takes it.

Formulas are in negation normal form, with expanded polynomials: [">=" or ">" or "=", {"x y": 2}], ["and" or "or", formulas].
Equal formulas of several questions are written once. A number "if c then a else b" is an unknown v with: c and v = a, or not c
and v = b.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import z3

from fairalloc.theorems.certificates.check_certificate import plus, times
from fairalloc.theorems.certificates.store import Text
from fairalloc.theorems.smt.claims import questions
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.smt.reals import Question, Term
from fairalloc.theorems.statement import Statement

Formula = list[Any]
SIGNS = {z3.Z3_OP_GE: (">=", 1), z3.Z3_OP_GT: (">", 1), z3.Z3_OP_LE: (">=", -1), z3.Z3_OP_LT: (">", -1), z3.Z3_OP_EQ: ("=", 1)}
TRUE: Formula = ["and", []]
FALSE: Formula = ["or", []]


def text_of(item: Statement, size: Size) -> Text:
    return text(questions(item, size)[0])


def text(asked: Iterable[Question]) -> Text:
    """Questions with their formulas by number: [name, what is assumed, what would refute the claim], then one for each lemma.

    A question assumes its lemmas and steps. That of a lemma assumes those before it, and the contrary of the lemma would refute
    it; that of a step has the violation, too.
    """
    known: dict[str, int] = {}
    listed: list[Any] = []
    shown: list[Any] = []
    for question in asked:
        given = [*chain.from_iterable(question.assumptions.values())]
        lemmas, kept = [*question.lemmas, *question.steps], dict[Any, list[str]]()
        contraries = [z3.Not(lemma) for lemma in lemmas]  # all at once: z3 gives the id of a term that is gone to another
        listed.append([question.pattern, *_numbers(known, kept, [*given, *lemmas], question.violation)])
        for n, contrary in enumerate(contraries):
            violation = question.violation if n >= len(question.lemmas) else ()
            parts = _numbers(known, kept, [*given, *lemmas[:n]], [*violation, contrary])
            shown.append([f"{question.pattern}, lemma {n + 1}", *parts])
    return {"formulas": [json.loads(f) for f in known], "questions": [*listed, *shown]}


def _numbers(known: dict[str, int], kept: dict[Any, list[str]], *parts: Sequence[Term]) -> list[list[int]]:
    """The numbers of the formulas of parts, each once; new ones are added to those that are known.

    Terms without a number "if c then a else b" are `kept` as they are written.
    """
    writer = _Writer()

    def written(term: Term) -> list[str]:
        name = str(term) if isinstance(term, bool) else term.get_id()
        if name in kept:
            return kept[name]
        found = [json.dumps(f, sort_keys=True) for f in writer.all([term])]
        if not writer.cases:
            kept[name] = found
        return found

    each = [dict.fromkeys(f for term in part for f in written(term)) for part in parts]
    return [[known.setdefault(f, len(known)) for f in part] for part in each]


class _Writer:
    """Of the formulas of one question."""

    def __init__(self) -> None:
        self.cases: dict[int, tuple[str, Term]] = {}

    def all(self, given: Iterable[Term]) -> Iterator[Formula]:
        """Formulas, in parts, and what is said of the unknowns that they need."""
        for term in given:
            before = len(self.cases)
            found = self.formula(z3.BoolVal(term) if isinstance(term, bool) else term)
            yield from found[1] if found[0] == "and" else [found]
            for name, e in list(self.cases.values())[before:]:
                condition, first, second = e.children()
                parts = [(condition, True, first), (condition, False, second)]
                yield _any([_all([self.formula(c, s), _fact("=", plus(self.number(v), {(name,): 1}, -1))]) for c, s, v in parts])

    def formula(self, e: Term, holds: bool = True) -> Formula:
        kind, parts = e.decl().kind(), e.children()
        if z3.is_true(e) or z3.is_false(e):
            return TRUE if z3.is_true(e) == holds else FALSE
        if kind == z3.Z3_OP_NOT:
            return self.formula(parts[0], not holds)
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            join = _all if (kind == z3.Z3_OP_AND) == holds else _any
            return join([self.formula(part, holds) for part in parts])
        if kind == z3.Z3_OP_IMPLIES:
            return (_any if holds else _all)([self.formula(parts[0], not holds), self.formula(parts[1], holds)])
        if kind == z3.Z3_OP_ITE:
            cases = [(True, parts[1]), (False, parts[2])]
            return _any([_all([self.formula(parts[0], sign), self.formula(part, holds)]) for sign, part in cases])
        if kind == z3.Z3_OP_DISTINCT:
            return self.formula(parts[0] == parts[1], not holds)
        if z3.is_bool(parts[0]):
            return _any([_all([self.formula(parts[0], s), self.formula(parts[1], s == holds)]) for s in (True, False)])
        (sign, factor), p = SIGNS[kind], plus(self.number(parts[0]), self.number(parts[1]), -1)
        up, down = plus({}, p, factor), plus({}, p, -factor)
        if holds:
            return _fact(sign, up)
        return _any([_fact(">", up), _fact(">", down)]) if sign == "=" else _fact({">=": ">", ">": ">="}[sign], down)

    def number(self, e: Term) -> dict[Any, Any]:
        if z3.is_rational_value(e):
            return plus({}, {(): e.as_fraction()})
        kind, parts = e.decl().kind(), e.children()
        if kind == z3.Z3_OP_ITE:
            return {(self.cases.setdefault(e.get_id(), (f"case{len(self.cases)}", e))[0],): 1}
        if not parts:
            return {(_name(e.decl().name()),): 1}
        first, *rest = map(self.number, parts)
        if kind == z3.Z3_OP_UMINUS:
            return plus({}, first, -1)
        for p in rest:
            first = times(first, p) if kind == z3.Z3_OP_MUL else plus(first, p, 1 if kind == z3.Z3_OP_ADD else -1)
        return first


def _name(name: str) -> str:
    """Such as y0_1 for y(0, 1)."""
    return name.replace("(", "").replace(")", "").replace(", ", "_").replace("'", "~")


def _fact(sign: str, p: Mapping[Any, Any]) -> Formula:
    if set(p) <= {()}:
        v = p.get((), 0)
        return TRUE if (v == 0 and sign != ">") or (v > 0 and sign != "=") else FALSE
    return [sign, {" ".join(m): int(c) if c == int(c) else str(c) for m, c in sorted(p.items())}]


def _joined(kind: str, parts: Iterable[Formula]) -> Formula:
    """Parts of parts of the same kind stand beside them; one that decides stands for all."""
    flat = [f for part in parts for f in (part[1] if part[0] == kind else [part])]
    if any(f[0] in ("and", "or") and not f[1] for f in flat):
        return FALSE if kind == "and" else TRUE
    return flat[0] if len(flat) == 1 else [kind, flat]


_all, _any = partial(_joined, "and"), partial(_joined, "or")
