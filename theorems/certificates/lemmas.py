"""Lemmas that a search tries before it looks at cases: p >= 0, with the facts that are to show it.

1. Where a sum of parts would refute a claim, and no fact joins the unknowns of two parts, each part has its sign: of each server.
2. Where t a <= b for demands a and b, t v <= u for other unknowns u and v of the owners of a and b: of tasks that run alone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fairalloc.theorems.certificates.check_certificate import inserted
from fairalloc.theorems.certificates.leaf import Fact, Polynomial, swap
from fairalloc.theorems.certificates.written import names_in

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
    """The names in a fact."""
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
