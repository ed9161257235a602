"""A text for other solvers, in SMT-LIB, and the leaves of a certificate as lemmas for Coq."""

from collections.abc import Iterator, Mapping
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates.check_certificate import facts_of
from fairalloc.theorems.certificates.store import Text, hash_of, index, stored

PROOF_FORMS = ("smt-lib", "coq")


def proof_texts(name: str, form: str) -> Iterator[str]:
    """The texts of a statement in one of PROOF_FORMS, for each size of which a certificate is on record."""
    found = [stored(entry["sha256"]) for entry in index().get(name, ()) if "sha256" in entry]
    if not found:
        raise InstanceError(f"statement {name!r} has no certificate on record, which --format {form} writes")
    for certificate in found:
        assert certificate is not None, "the index names files that are there"
        yield smt_lib(certificate["text"]) if form == "smt-lib" else coq(certificate)


def smt_lib(text: Text) -> str:
    """The questions for any solver: the first answer to each is sat where its assumptions hold somewhere, the second unsat."""
    names = sorted({v for f in text["formulas"] for v in names_in(f)})
    lines = [f"; sha256 of the text of the certificate: {hash_of(text)}", "(set-logic QF_NRA)"]
    lines += [f"(declare-const {name} Real)" for name in names]
    lines += [f"(define-fun formula{k} () Bool {_written(f)})" for k, f in enumerate(text["formulas"])]
    for name, *parts in text["questions"]:
        lines.append(f"; {name}")
        lines += [f"(push 1) (assert (and true {' '.join(f'formula{k}' for k in part)})) (check-sat)" for part in parts]
        lines.append("(pop 2)")
    return "\n".join([*lines, ""])


def names_in(formula: Any) -> set[str]:
    """The names of the unknowns in a formula of a text."""
    if formula[0] in ("and", "or"):
        return {v for part in formula[1] for v in names_in(part)}
    return {v for m in formula[1] for v in m.split()}


def _written(formula: Any) -> str:
    if formula[0] in ("and", "or"):
        return f"({formula[0]} {' '.join(map(_written, formula[1]))})" if formula[1] else str(formula[0] == "and").lower()
    return f"({formula[0]} {_sum(formula[1])} 0)"


def _sum(p: Mapping[str, Any]) -> str:
    return _applied("+", [_applied("*", [_number(c)] * (c != 1 or not m) + m.split()) for m, c in p.items()])


def _applied(sign: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({sign} {' '.join(parts)})"


def _number(c: Any) -> str:
    whole, _, below = str(c).lstrip("-").partition("/")
    size = f"(/ {whole} {below})" if below else whole
    return f"(- {size})" if str(c).startswith("-") else size


def symbols(text: Text) -> tuple[str, str, str]:
    """The first question: its name, what is assumed and what would refute the claim, a fact a line."""
    name, *parts = text["questions"][0]
    assumed, refuting = ("\n".join(f"    {_in_symbols(text['formulas'][k])}" for k in part) for part in parts)
    return name, assumed, refuting


def _in_symbols(formula: Any) -> str:
    if formula[0] in ("and", "or"):
        parts = [_in_symbols(part) for part in formula[1]]
        return f" {formula[0]} ".join(f"({part})" if " and " in part or " or " in part else part for part in parts)
    left = {m: c for m, c in formula[1].items() if not str(c).startswith("-")}
    right = {m: str(c)[1:] for m, c in formula[1].items() if str(c).startswith("-")}
    return f"{_plain_sum(left)} {formula[0]} {_plain_sum(right)}"


def _plain_sum(p: Mapping[str, Any]) -> str:
    return " + ".join(" ".join([str(c)] * (str(c) != "1" or not m) + m.split()) for m, c in p.items()) or "0"


def coq(certificate: Mapping[str, Any]) -> str:
    """The leaves as lemmas for nra: the facts that each uses are impossible."""
    lines = ["Require Import Reals Psatz.", "Open Scope R_scope.", f"(* sha256 of the text: {certificate['sha256']} *)", ""]
    text = certificate["text"]
    for number, ((name, *parts), (point, tree)) in enumerate(zip(text["questions"], certificate["certificates"], strict=True)):
        facts = [f for part in parts[: 1 if point is None else 2] for k in part for f in facts_of(text["formulas"][k])]
        lines.append(f"(* {name} *)")
        lines += [_lemma(f"question{number}_leaf{k}", used) for k, used in enumerate(_leaves(tree, facts))]
    return "\n".join([*lines, ""])


def _leaves(tree: Any, facts: list[Any]) -> Any:
    kind, k, parts = tree
    if kind == "leaf":
        yield [facts[n] for n in sorted({n for n, _ in k} | {n for _, keys in parts for n in keys})]
        return
    p = {tuple(m.split()): c for m, c in k.items()} if kind == "cut" else {}
    cases = [[(">=", p)], [("<", p)]] if kind == "cut" else map(facts_of, facts[k][1])
    for part, new in zip(parts, cases, strict=True):
        yield from _leaves(part, facts + new)


def _lemma(name: str, facts: Any) -> str:
    names = sorted({v.replace("~", "'") for _, p in facts for m in p for v in m})
    sums = [[" * ".join([f"({c})", *(v.replace("~", "'") for v in m)]) for m, c in p.items()] for _, p in facts]
    claims = [f"{' + '.join(parts) or '0'} {sign} 0 -> " for parts, (sign, _) in zip(sums, facts, strict=True)]
    unknowns = f"forall {' '.join(names)} : R, " * bool(names)
    return f"Lemma {name} : {unknowns}{''.join(claims)}False.\nProof. intros; nra. Qed.\n"
