"""Checks a certificate of a machine proof with nothing but Python: `env -i python3 -I check_certificate.py FILE`.

FILE is JSON. `text` has formulas, which are [">=" or ">" or "=", polynomial] or ["and" or "or", formulas], and questions, [name,
numbers of formulas that are assumed, numbers of those that would refute the claim]. {"x y": "2/3", "": 1} is 2/3 x y + 1. Its
hash is `sha256`. For each question there is [point, tree]: the point gives unknowns values at which what is assumed holds (null:
the tree uses nothing else). The tree shows that the formulas, facts in which an "and" stands for its parts, are impossible:

    ["or", k, trees]        by the cases of fact k, an "or": a tree for each of its formulas, which becomes a fact
    ["cut", p, trees]       by two cases, with the fact p >= 0 or -p > 0
    ["leaf", lets, terms]   the sum of all terms [p, facts], p times the facts, is 0, though all are >= 0 and one is > 0: p is a
                            number > 0, or any polynomial where a fact is = 0. lets [k, v]: fact k is solved for v and inserted
"""

import hashlib
import json
import sys
from fractions import Fraction


def require(holds, reason):
    if not holds:
        raise ValueError(reason)


def plus(p, q, scale=1) -> dict:  # of polynomials {names: coefficient}
    out = dict(p)
    for m, c in q.items():
        out[m] = out.get(m, 0) + scale * c
    return {m: c for m, c in out.items() if c}


def times(p, q) -> dict:
    out = {}
    for a, c in p.items():
        out = plus(out, {tuple(sorted(a + b)): d for b, d in q.items()}, c)
    return out


def inserted(p, lets) -> dict:
    for name, instead in lets:
        while m := next((m for m in p if name in m), None):
            k = m.index(name)
            p = plus(plus(p, {m: -p[m]}), times({m[:k] + m[k + 1 :]: p[m]}, instead))
    return p


def polynomial(given) -> dict:
    return plus({}, {tuple(sorted(m.split())): c if type(c) is int else Fraction(c) for m, c in given.items()})


def facts_of(formula) -> list:
    require(formula[0] in (">=", ">", "=", "and", "or"), "a formula of no known kind")
    if formula[0] == "and":
        return [f for part in formula[1] for f in facts_of(part)]
    return [(formula[0], formula[1] if formula[0] == "or" else polynomial(formula[1]))]


def true_at(f, point):
    if f[0] == "or":
        return any(all(true_at(new, point) for new in facts_of(part)) for part in f[1])
    v = inserted(f[1], [(name, {(): Fraction(point[name])}) for name in {name for m in f[1] for name in m}]).get((), 0)
    return v == 0 if f[0] == "=" else v > 0 or (v == 0 and f[0] == ">=")


def leaves(tree, facts) -> int:  # their number, where the tree is as it must be
    kind, k, parts = tree
    if kind in ("or", "cut"):
        p = polynomial(k) if kind == "cut" else {}
        require(kind == "cut" or facts[k][0] == "or", "cases of no alternative")
        cases = [[(">=", p)], [(">", plus({}, p, -1))]] if kind == "cut" else map(facts_of, facts[k][1])
        return sum(leaves(part, facts + new) for part, new in zip(parts, cases, strict=True))
    lets, total, strict = [], {}, False
    for index, name in k:
        p = inserted(facts[index][1], lets)
        require(facts[index][0] == "=" and [m for m in p if name in m] == [(name,)], "an equation is not solved for an unknown")
        lets.append((name, plus({(name,): 1}, p, -p[name,] if p[name,] in (1, -1) else -1 / Fraction(p[name,]))))
    for p, factors in parts:
        signs, p = {facts[index][0] for index in factors}, polynomial(p if isinstance(p, dict) else {"": p})
        require("or" not in signs and ("=" in signs or p[()] > 0 == len(p) - 1), "a term may be negative")
        for index in factors:
            p = times(inserted(facts[index][1], lets), p)
        total, strict = plus(total, inserted(p, lets)), strict or signs <= {">"}
    require(kind == "leaf" and strict and not total, "the identity of a leaf does not hold")
    return 1


def check(data) -> str:
    text, count = data["text"], 0
    found = hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()
    require(found == data["sha256"], "the text has another hash")
    require(any(point for point, _ in data["certificates"]), "no question has a point at which what it assumes holds")
    for (_, assumed, refuting), (point, tree) in zip(text["questions"], data["certificates"], strict=True):
        facts = [f for k in assumed for f in facts_of(text["formulas"][k])]
        require(point is None or all(true_at(f, point) for f in facts), "what is assumed does not hold at the point")
        more = [] if point is None else [f for k in refuting for f in facts_of(text["formulas"][k])]
        count += leaves(tree, facts + more)
    return f"accepted: {len(text['questions'])} questions, {count} leaves, sha256 {data['sha256']}"


if __name__ == "__main__":
    try:
        print(check(json.loads(open(sys.argv[1], encoding="utf-8").read())))
    except Exception as fault:  # whatever is wrong with the file
        sys.exit(f"refused: {type(fault).__name__}: {fault}")
