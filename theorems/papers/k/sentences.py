"""Sentences of K between its theorems: multipliers, the complementary function (36), (45), Assumption 2, and (55)."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import holdings_of, optimum, others_changed, verdict_of
from fairalloc.theorems.checkers.convergence import arcs_of_servers, vertices
from fairalloc.theorems.checkers.trials import Answer, yes_or_no
from fairalloc.theorems.papers.k.marginals import alphas, worths
from fairalloc.theorems.papers.k.problem_3 import METHOD, ExactMeritPoint, psi_slope
from fairalloc.theorems.papers.k.surds import Surd
from fairalloc.theorems.standalone.merit import dot

F = Fraction
Row = Sequence[Fraction]


def all_used(case: Case, answer: Answer) -> Verdict:
    """Every capacity of a server that somebody may use is used up."""
    h = holdings_of(answer(case.instance))
    arcs, R = case.instance.arcs, case.instance.R
    loads = exact_arcs(case.instance).loads(tuple(h.x)) if h.exact else arcs.load @ h.x
    rows = [i * R + r for i in sorted(set(arcs.server.tolist())) for r in range(R) if case.instance.capacities[i][r] > 0]
    least = min(loads[row] for row in rows)
    return verdict_of(h, "all capacities used", 1 - least, f"{float(least):.6g} of a capacity is used")


# ---- 4.1 --------------------------------------------------------------------------------------------------------------------


def multipliers(case: Case) -> Verdict:
    """K (23) to (25) at a server have multipliers iff no vertex gains by (16)."""
    return _at_servers(case, _is_best)


def solved_for_nu(case: Case) -> Verdict:
    """K (23) to (25) at a server have multipliers iff (28) and (29) have prices."""
    return _at_servers(case, lambda case, here, worth: _solved(case, here, worth, nu=False))


def _at_servers(case: Case, other: Callable[[Case, Sequence[int], Row], bool]) -> Verdict:
    need = [first for first, _ in worths(case.instance, case.points[0], alphas(case))]
    each = [(here, [need[a] / max(need[b] for b in here) for a in here]) for here in arcs_of_servers(case.instance)]
    fault = any(_solved(case, here, worth, nu=True) != other(case, here, worth) for here, worth in each)
    method = "LP, basis computed in rationals"
    return yes_or_no("equivalence", not fault, f"{len(each)} servers were compared", method)


def _solved(case: Case, here: Sequence[int], worth: Row, nu: bool) -> bool:
    """Whether some prices of full resources, with nu of who is not served where `nu`, solve (25), or (29), of this server."""
    arcs, x = exact_arcs(case.instance), case.points[0]
    loads, part = arcs.loads(x), [dict(arcs.load[a]) for a in here]
    full = sorted({row for load in part for row in load if loads[row] == 1})
    idle = [k for k, a in enumerate(here) if x[a] == 0]
    matrix, sides = [], []  # the last column is the largest error, which is to be 0
    for k, load in enumerate(part):
        row = [load.get(r, F(0)) for r in full] + [-F(int(k == other)) for other in idle] * nu
        matrix.append([*(-v for v in row), F(-1)])
        sides.append(-worth[k])
        if nu or k not in idle:
            matrix.append([*row, F(-1)])
            sides.append(worth[k])
    cost = [F(0)] * (len(matrix[0]) - 1) + [F(-1)]
    return bool(optimum(cost, matrix, sides) == 0)


def _is_best(case: Case, here: Sequence[int], worth: Row) -> bool:
    """Whether no vertex of the server gains by (16)."""
    best = max(dot(worth, aim) for aim in vertices(case.instance, here))
    return bool(best <= dot(worth, [case.points[0][a] for a in here]))


# ---- 4.2 and (98) -----------------------------------------------------------------------------------------------------------


def pairs(case: Case) -> list[tuple[Fraction, Fraction]]:
    """(x_ni, f_ni) and all pairs of the signs of their parts, also with nothing of one or of both."""
    point = ExactMeritPoint.of(case)
    found = [(a * s, b * t) for a, b in zip(point.x, point.f, strict=True) for s in (-1, 0, 1) for t in (-1, 0, 1)]
    return list(dict.fromkeys(found))


def _is_solved(a: Fraction, b: Fraction) -> bool:
    return a >= 0 and b >= 0 and a * b == 0


def complementary_function(case: Case) -> Verdict:
    """Psi of (36) is 0 iff a, b >= 0 and a b = 0; in square roots of rationals."""
    wrong = [(a, b) for a, b in pairs(case) if ((Surd.of(1, a * a + b * b) - Surd.of(a + b)).sign() == 0) != _is_solved(a, b)]
    return yes_or_no("complementary", not wrong, f"psi is wrong at {wrong[:1]}", METHOD)


def signs(case: Case) -> Verdict:
    """(98) and (99): no opposite signs, and both are 0 iff psi is; in square roots of rationals."""
    wrong = []
    for a, b in pairs(case):
        first, second = psi_slope(a, b).sign(), psi_slope(b, a).sign()
        wrong += [(a, b)] if first * second < 0 or (first == second == 0) != _is_solved(a, b) else []
    return yes_or_no("signs", not wrong, f"the derivatives are wrong at {wrong[:1]}", METHOD)


# ---- 5.1 and 5.2 ------------------------------------------------------------------------------------------------------------


def violates(case: Case) -> Verdict:
    """(45) > 0 iff any step along -grad uses more of the full resource than there is; in square roots of rationals."""
    point = ExactMeritPoint.of(case)
    by_x, faults = point.by_x(), 0
    after = [Surd.of(x) + slope * F(-1, 1000) for slope, x in zip(by_x, point.x, strict=True)]
    for row in point.full:
        load = sum((value * part[row] for value, part in zip(after, point.part, strict=True) if row in part), Surd())
        faults += (point.beta(row, by_x).sign() > 0) != ((load - Surd.of(1)).sign() > 0)
    words = f"of {len(point.full)} full resources {faults} differ"
    return yes_or_no("violation", not faults, words, METHOD)


def assumption_2(case: Case) -> Verdict:
    """Somebody who may not use server i demands r, for each i and r; user i mod N is kept from server i, so that there is one."""
    instance, exact = case.instance, case.instance.exact
    out = [[n for n in range(instance.N) if n == i % instance.N or not instance.placement[n, i]] for i in range(instance.K)]
    holds = all(any(exact.demands[n][0][r] > 0 for n in users) for users in out for r in range(instance.R))
    return yes_or_no("outsiders", holds, "nobody else demands some resource")


def local(case: Case) -> Verdict:
    """(55) at each server with prices (57), epsilon = 1/10, is the same where others are changed, with all x_n as before."""
    worst, instance, x = F(0), case.instance, case.points[0]
    here = _directions(instance, x, alphas(case))
    for i in set(instance.arcs.server.tolist()):
        there = _directions(*others_changed(instance, x, i), alphas(case))
        worst = max([worst, *(abs(here[a] - there[a]) for a in np.flatnonzero(instance.arcs.server == i))])
    return Verdict("locality", worst == 0, float(worst), f"a direction differs by {worst} with other servers changed", METHOD)


def _directions(instance: Instance, x: Rationals, alpha: Sequence[int]) -> list[Fraction]:
    """(A,) v of (55), in K's own units; parts of capacity for loads."""
    arcs, epsilon = exact_arcs(instance), F(1, 10)
    prices = [max(F(0), load - 1 + epsilon) / epsilon**2 for load in arcs.loads(x)]
    cost = [sum((prices[row] * part for row, part in load), F(0)) for load in arcs.load]
    v = [first - paid for (first, _), paid in zip(worths(instance, x, alpha), cost, strict=True)]
    return [slope if x[a] > 0 else max(slope, F(0)) for a, slope in enumerate(v)]
