"""A leaf: facts >= 0, > 0 or = 0 of which some combination is a contradiction, found by a linear program and made exact.

The multipliers of products of facts are >= 0, those of monomials times equations are free, and all add up to the polynomial 0,
where the multipliers of products of facts > 0 add up to 1. HiGHS finds a vertex in floating point. The columns that are not 0
there are solved in rational numbers, so that a wrong answer of HiGHS is no leaf.

Lemmas are what a search tries before it looks at cases: p >= 0, with the facts that are to show it.

1. Where a sum of parts would refute a claim, and no fact joins the unknowns of two parts, each part has its sign: of each server.
2. Where t a <= b for demands a and b, t v <= u for other unknowns u and v of the owners of a and b: of tasks that run alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, lcm
from typing import Any

import flint
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from fairalloc.models.exact.rationals import as_flint, as_fraction
from fairalloc.theorems.certificates.check_certificate import inserted, plus, times
from fairalloc.theorems.certificates.written import names_in

Polynomial = dict[tuple[str, ...], Any]
Fact = tuple[str, Any]
Leaf = tuple[list[tuple[Any, str]], list[tuple[Any, tuple[Any, ...]]]]
"""Equations with the unknown for which they are solved, and terms: a number or a polynomial, and facts by key."""

COLUMNS = 6000
"""Larger linear programs are not asked."""


def leaf(facts: Mapping[Any, Fact], degree: int) -> Leaf | None:
    """A leaf of facts by key, with products of so many."""
    lets, swaps = _solved(facts)
    short = _distinct({k: (sign, inserted(p, swaps)) for k, (sign, p) in facts.items()})
    signed = sum(sign != "=" for sign, _ in short.values())
    if comb(signed + degree, degree) > COLUMNS:
        return None
    found = _combination(_columns(short, degree))
    return None if found is None else _used(facts, lets, found)


def _solved(facts: Mapping[Any, Fact]) -> tuple[list[tuple[Any, str]], list[tuple[str, Polynomial]]]:
    """Equations that are solved for an unknown with a number as its coefficient, the shortest first."""
    lets: list[tuple[Any, str]] = []
    swaps: list[tuple[str, Polynomial]] = []
    left = {k: p for k, (sign, p) in facts.items() if sign == "="}
    while left:
        left = {k: inserted(p, swaps[-1:]) for k, p in left.items()}
        choices = [(len(p), -len(v), k, v) for k, p in left.items() for (v,) in (m for m in p if len(m) == 1) if _alone(p, v)]
        if not choices:
            break
        _, _, k, v = min(choices, key=lambda one: (one[0], one[3]))
        p = left.pop(k)
        lets.append((k, v))
        swaps.append(swap(p, v))
    return lets, swaps


def swap(p: Polynomial, v: str) -> tuple[str, Polynomial]:
    """What v is where p = 0."""
    scale = -p[(v,)] if p[(v,)] in (1, -1) else -1 / Fraction(p[(v,)])
    return v, plus({(v,): 1}, p, scale)


def _distinct(facts: Mapping[Any, Fact]) -> dict[Any, Fact]:
    """Each fact once, > 0 rather than >= 0, without those that say nothing."""
    best: dict[Any, tuple[Any, Fact]] = {}
    for k, (sign, p) in facts.items():
        if (set(p) <= {()} and (p.get((), 0) > 0 if sign != "=" else not p)) or (sign == ">=" and not p):
            continue
        name = (sign == "=", frozenset(p.items()))
        if name not in best or sign == ">":
            best[name] = (k, (sign, p))
    return dict(best.values())


def _alone(p: Polynomial, v: str) -> bool:
    return [m for m in p if v in m] == [(v,)] and max(map(len, p)) <= 2


def _columns(facts: Mapping[Any, Fact], degree: int) -> list[tuple[Any, tuple[Any, ...], Polynomial, bool | None]]:
    """(multiplier, facts, polynomial, whether all facts are > 0; None for an equation)."""
    signed = {k: p for k, (sign, p) in facts.items() if sign != "="}
    equations = {k: p for k, (sign, p) in facts.items() if sign == "=" and p}
    strict = {k for k, (sign, _) in facts.items() if sign == ">"}
    products: dict[tuple[Any, ...], Polynomial] = {(): {(): 1}}
    found: list[Any] = [(1, (), products[()], True)]
    for many in range(1, degree + 1):
        for keys in combinations_with_replacement(signed, many):
            products[keys] = times(signed[keys[-1]], products[keys[:-1]]) if products[keys[:-1]] else {}
            found.append((1, keys, products[keys], set(keys) <= strict))
    seen = {m for p in products.values() for m in p}
    top = max(map(len, seen))
    for k, p in equations.items():
        lead = max(p, key=len)
        for m in {q for whole in seen if (q := _quotient(whole, lead)) is not None and len(q) + len(lead) <= top}:
            found.append(({m: 1}, (k,), times({m: 1}, p), None))
    return found


def _quotient(whole: tuple[str, ...], part: tuple[str, ...]) -> tuple[str, ...] | None:
    left = list(whole)
    for v in part:
        if v not in left:
            return None
        left.remove(v)
    return tuple(left)


def _combination(columns: Sequence[Any]) -> list[Any] | None:
    """The terms of a contradiction, with exact multipliers; None where the vertex of HiGHS is none in rational numbers."""
    columns = _cancelling(columns)
    if not any(strict for *_, strict in columns):
        return None
    rows: dict[Any, int] = {}
    entries = [(rows.setdefault(m, len(rows)), j, c) for j, (*_, p, _) in enumerate(columns) for m, c in p.items()]
    last = len(rows)
    entries += [(last, j, 1) for j, (*_, strict) in enumerate(columns) if strict]
    i, j, v = zip(*entries, strict=True)
    matrix = csc_matrix((np.array(v, dtype=float), (i, j)), shape=(last + 1, len(columns)))
    bounds = [(None if strict is None else 0, None) for *_, strict in columns]
    cost = [0.0 if strict is None else 1.0 + len(keys) for _, keys, _, strict in columns]
    answer = linprog(cost, A_eq=matrix, b_eq=np.eye(last + 1)[last], bounds=bounds, method="highs-ds")
    if answer.status != 0:
        return None
    place = {j: k for k, j in enumerate(np.flatnonzero(np.abs(answer.x) > 1e-9).tolist())}
    table = flint.fmpq_mat(last + 1, len(place) + 1)
    table[last, len(place)] = 1
    for row, column, c in entries:
        if column in place:
            table[row, place[column]] = as_flint(c)
    reduced, rank = table.rref()
    pivots = [next(k for k in range(len(place) + 1) if reduced[i, k] != 0) for i in range(rank)]
    if len(place) in pivots:
        return None
    used = list(place)
    found = [(as_fraction(reduced[i, len(place)]), *columns[used[k]]) for i, k in enumerate(pivots)]
    return None if any(v < 0 and strict is not None for v, *_, strict in found) else [term for term in found if term[0]]


def _cancelling(columns: Sequence[Any]) -> list[Any]:
    """Without columns that have a monomial which nothing can cancel."""
    left = dict(enumerate(column for column in columns if column[2] or column[3]))
    having: dict[Any, tuple[set[int], set[int]]] = {}
    for j, (*_, p, strict) in left.items():
        for m, c in p.items():
            for side in (0, 1) if strict is None else (int(c < 0),):
                having.setdefault(m, (set(), set()))[side].add(j)
    alone = [m for m, sides in having.items() if not all(sides)]
    while alone:
        sides = having.pop(alone.pop(), (set(), set()))
        for j in sides[0] | sides[1]:
            for m in left.pop(j)[2]:
                for same in having.get(m, ()):
                    same.discard(j)
                    if not same:
                        alone.append(m)
    return list(left.values())


def _used(facts: Mapping[Any, Fact], lets: list[tuple[Any, str]], found: Sequence[Any]) -> Leaf:
    """The terms in integers, equations together, and the lets that are needed."""
    scale = lcm(*(v.denominator for v, *_ in found))
    terms = [(int(v * scale), keys) for v, _, keys, _, strict in found if strict is not None]
    multiples: dict[Any, Polynomial] = {}
    for v, m, keys, _, strict in found:
        if strict is None:
            multiples[keys] = plus(multiples.get(keys, {}), m, v * scale)
    whole = [*terms, *((p, keys) for keys, p in multiples.items())]
    names = {v for _, keys in whole for k in keys for v in _unknowns(facts[k])}
    while needed := [one for one in lets if one[1] in names and not _unknowns(facts[one[0]]) <= names]:
        names |= {v for k, _ in needed for v in _unknowns(facts[k])}
    return [one for one in lets if one[1] in names], whole


# ---- lemmas ----------------------------------------------------------------------------------------------------------


NAME = re.compile(r"([a-z]+)(~?)([0-9]+)(.*)")
"""Of an unknown: the kind, whether it is reported, the user or server, what else."""

Lemma = tuple[Polynomial, dict[Any, Fact]]


def lemmas(facts: Mapping[Any, Fact], refuting: Mapping[Any, Fact]) -> Iterator[Lemma]:
    """The lemmas of a question; `refuting`: those of its facts that would refute the claim."""
    goals = {k: p for k, (sign, p) in refuting.items() if sign == ">" and len(p) > 1}
    base = {k: f for k, f in facts.items() if k not in goals}
    for p in goals.values():
        yield from _parts(p, base)
    for sign, p in refuting.values():
        if sign == ">=":
            yield from _multiples(p, base)


def _unknowns(f: Fact) -> set[str]:
    return {v for part in f[1] for v in names_in(part)} if f[0] == "or" else {v for m in f[1] for v in m}


def _parts(goal: Polynomial, base: Mapping[Any, Fact]) -> Iterator[Lemma]:
    """Of a sum > 0: each part <= 0, over unknowns that are > 0."""
    totals = dict(_totals(base, 2))
    whole = inserted(goal, [(v, p) for v, p in totals.items() if any(v in m for m in goal)])
    if () in whole:
        return
    names = {k: _unknowns(f) for k, f in base.items()}
    local = {k: own for k, own in names.items() if not own & totals.keys()}
    groups = _components([*local.values(), *map(set, whole)])
    of = {v: n for n, group in enumerate(groups) for v in group}
    parts: dict[Any, Polynomial] = {}
    for m, c in whole.items():
        parts.setdefault(of[m[0]], {})[m] = -c
    if len(parts) > 1:
        for n, p in sorted(parts.items()):
            yield _primitive(p, base), {k: base[k] for k, own in local.items() if own <= groups[n]}


def _totals(base: Mapping[Any, Fact], fewest: int) -> Iterator[tuple[str, Polynomial]]:
    """Unknowns that an equation makes a sum of so many products of others."""
    for sign, p in base.values():
        for (v,) in (m for m in p if sign == "=" and len(m) == 1):
            rest = p.keys() - {(v,)}
            if len(rest) >= fewest and all(len(m) > 1 and v not in m for m in rest):
                yield swap(p, v)


def _components(sets: Any) -> list[set[str]]:
    """Unknowns that facts join."""
    groups: list[set[str]] = []
    for own in sets:
        joined = [group for group in groups if group & own]
        groups = [group for group in groups if not group & own] + [set(own).union(*joined)]
    return groups


def _primitive(p: Polynomial, base: Mapping[Any, Fact]) -> Polynomial:
    """A polynomial, after unknowns that are products were inserted, without the factors that are > 0."""
    p = inserted(p, [(v, q) for v, q in _totals(base, 1) if len(q) == 1])
    positive = {v for sign, q in base.values() if sign == ">" and len(q) == 1 for m in q if len(m) == 1 for v in m if q[m] > 0}
    for v in sorted(positive):
        if p and all(v in m for m in p):
            p = {m[: m.index(v)] + m[m.index(v) + 1 :]: c for m, c in p.items()}
    return p


def _multiples(p: Polynomial, base: Mapping[Any, Fact]) -> Iterator[Lemma]:
    """Of t a <= b."""
    high, low = [m for m in p if len(m) == 2 and p[m] < 0], [m for m in p if len(m) == 1 and p[m] > 0]
    if (len(high), len(low), len(p)) != (1, 1, 2):
        return
    names = {v for f in base.values() for v in _unknowns(f)}
    for t, own in (high[0], high[0][::-1]):
        for u, v in _owned(own, low[0][0], names):
            yield {(u,): 1, tuple(sorted((t, v))): -1}, dict(base)


def _owned(own: str, other: str, names: set[str]) -> Iterator[tuple[str, str]]:
    """Other unknowns that are named as these two are: (m0_1, m1_1) for a0_2 and a1_2."""
    a, b = NAME.fullmatch(own), NAME.fullmatch(other)
    if a is None or b is None or (a[1], a[4]) != (b[1], b[4]):
        return
    for u in (found for name in sorted(names) if (found := NAME.fullmatch(name))):
        v = f"{u[1]}{b[2]}{b[3]}{u[4]}"
        if u[1] != a[1] and (u[2], u[3]) == (a[2], a[3]) and v in names:
            yield u[0], v
