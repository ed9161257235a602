"""Sentences of K between its theorems: the game, its multipliers, the complementary function (36), and (45)."""

from collections.abc import Sequence
from fractions import Fraction
from math import hypot
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import holdings_of, others_changed, verdict_of
from fairalloc.theorems.judges.convergence import arcs_of_servers, vertices
from fairalloc.theorems.judges.trials import Answer, Undecided
from fairalloc.theorems.papers.k.problem_1 import Reallocation
from fairalloc.theorems.papers.k.problem_3 import METHOD, ExactMeritPoint
from fairalloc.theorems.papers.k.problem_3_in_floats import MeritPoint
from fairalloc.theorems.papers.k.surds import Surd

F = Fraction
NEAR = 1e-7


# ---- 3 ----------------------------------------------------------------------------------------------------------------------


def concave(case: Case) -> Verdict:
    """U_i is below its tangents: from the first point all the way to the second, at each server; in square roots of rationals."""
    arcs, (x, y) = exact_arcs(case.instance), case.points
    tasks, units = arcs.tasks(x), unit(case.instance, arcs)
    if not all(tasks):
        raise NotApplicable("a user has no task: U_i has no tangent")
    worst = -1.0
    for here in arcs_of_servers(case.instance):
        phi = [case.instance.exact.weights[arcs.user[a]] for a in here]
        z = [tasks[arcs.user[a]] / units[a] for a in here]
        step = [y[a] - x[a] for a in here]
        move = Reallocation(z, step, [units[a] for a in here], phi, F(case.parameters["alpha"]))
        risen = move.gained(F(1))
        if risen is not None and risen.sign(move.slope()) > 0:
            worst = max(worst, float(risen) - float(move.slope()))
    return Verdict("concavity", worst <= 0, worst, f"U_i is {worst:.3g} above a tangent", METHOD)


def concave_in_floats(case: Case) -> Verdict:
    """U_i at the mean of both points of one server is at least the mean of its values; in floating point."""
    instance, alpha = case.instance, float(case.parameters["alpha"])
    user, worst = instance.arcs.user, -1.0
    x, y = (np.array([float(v) for v in point]) for point in case.points)
    phi = instance.weights[user]
    if not np.bincount(user, x, instance.N).all():
        raise NotApplicable("a user has no task: U_i has no tangent")

    def utility(here: Any, values: Any) -> float:
        z = np.bincount(user, values, instance.N)[user][here] / (phi * instance.arcs.gamma)[here]
        with np.errstate(divide="ignore"):
            return float(phi[here] @ (np.log(z) if alpha == 1 else z ** (1 - alpha) / (1 - alpha)))

    for here in arcs_of_servers(instance):
        other = x.copy()
        other[here] = y[here]
        first, middle, last = (utility(here, v) for v in (x, (x + other) / 2, other))
        if np.isfinite(first) and np.isfinite(last):
            worst = max(worst, (first + last) / 2 - middle - NEAR * max(1.0, abs(first), abs(last)))
    return Verdict("concavity", not worst > 0, worst, f"U_i is {worst:.3g} below a chord", "floating point")


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
    """K (23) to (25) at a server have multipliers iff no vertex gains by (16); in rationals."""
    return _at_servers(case, True, lambda here, worth, x: _is_best(case, here, worth, x))


def multipliers_in_floats(case: Case) -> Verdict:
    """The same with a linear program for the best x_i; in floating point."""
    return _at_servers(case, False, lambda here, worth, x: _is_best_by_program(case, here, worth, x))


def solved_for_nu(case: Case) -> Verdict:
    """K (23) to (25) at a server have multipliers iff (28) and (29) have prices; in rationals."""
    return _at_servers(case, True, lambda here, worth, x: _solved(case, here, worth, x, True, nu=False))


def solved_for_nu_in_floats(case: Case) -> Verdict:
    """The same in floating point."""
    return _at_servers(case, False, lambda here, worth, x: _solved(case, here, worth, x, False, nu=False))


def _at_servers(case: Case, exact: bool, other: Any) -> Verdict:
    arcs, x = exact_arcs(case.instance), case.points[0]
    tasks, units, alpha = arcs.tasks(x), unit(case.instance, arcs), int(case.parameters["alpha"])
    if not all(tasks):
        raise NotApplicable("a user has no task: g' is not defined there")
    faults = []
    for here in arcs_of_servers(case.instance):
        gamma = [1 / max(part for _, part in arcs.load[a]) for a in here]
        worth = [(tasks[arcs.user[a]] / units[a]) ** -alpha / g for a, g in zip(here, gamma, strict=True)]
        own = [x[a] for a in here]
        largest = max(w * g for w, g in zip(worth, gamma, strict=True))
        worth = [w / largest for w in worth]
        faults += [_solved(case, here, worth, own, exact, nu=True) != other(here, worth, own)]
    fault = any(faults)
    method = "LP, basis computed in rationals" if exact else "LP"
    return Verdict("equivalence", not fault, 1.0 if fault else -1.0, f"{len(faults)} servers were compared", method)


def _solved(case: Case, here: Sequence[int], worth: Sequence[Fraction], x: Sequence[Fraction], exact: bool, nu: bool) -> bool:
    """Whether some prices of full resources, with nu of who is not served where `nu`, solve (25), or (29), of this server."""
    arcs = exact_arcs(case.instance)
    loads, part = arcs.loads(case.points[0]), [dict(arcs.load[a]) for a in here]
    full = sorted({row for load in part for row in load if loads[row] == 1})
    idle = [k for k, v in enumerate(x) if v == 0]
    columns = len(full) + len(idle) * nu + 1  # the last is the largest error, which is to be 0
    matrix, sides = [], []
    for k, load in enumerate(part):
        row = [load.get(r, F(0)) for r in full] + [-F(int(k == other)) for other in idle] * nu
        matrix.append([*(-v for v in row), F(-1)])
        sides.append(-worth[k])
        if nu or k not in idle:
            matrix.append([*row, F(-1)])
            sides.append(worth[k])
    kind: Any = object if exact else float
    cost = np.array([F(0)] * (columns - 1) + [F(-1)], dtype=kind)
    best = maximum(cost, np.array(matrix, dtype=kind), np.array(sides, dtype=kind), exact)
    if best is None:
        raise Undecided("a linear program was not solved")
    return bool(best.value == 0 if exact else best.value > -NEAR)


def _is_best(case: Case, here: Sequence[int], worth: Sequence[Fraction], x: Sequence[Fraction]) -> bool:
    aims = vertices(case.instance, here)
    return max(sum((w * v for w, v in zip(worth, aim, strict=True)), F(0)) for aim in aims) <= sum(
        (w * v for w, v in zip(worth, x, strict=True)), F(0)
    )


def _is_best_by_program(case: Case, here: Sequence[int], worth: Sequence[Fraction], x: Sequence[Fraction]) -> bool:
    rows, w = case.instance.arcs.load.tocsr()[:, here], np.array([float(v) for v in worth])
    best = maximum(w, rows, np.ones(rows.shape[0]), False)
    if best is None:
        raise Undecided("a linear program was not solved")
    return bool(best.value - w @ np.array([float(v) for v in x]) < NEAR)


# ---- 4.2 and (98) -----------------------------------------------------------------------------------------------------------


def _pairs(case: Case) -> list[tuple[Fraction, Fraction]]:
    """(x_ni, f_ni) and all pairs of the signs of their parts, also with nothing of one or of both."""
    point = ExactMeritPoint.of(case)
    found = [(a * s, b * t) for a, b in zip(point.x, point.f, strict=True) for s in (-1, 0, 1) for t in (-1, 0, 1)]
    return list(dict.fromkeys(found))


def _slopes(a: Fraction, b: Fraction) -> Surd:
    """D psi / d a of (36), from (35), times sqrt(a^2 + b^2), which has the same sign; of 0 and 0 it is 0."""
    h = Surd.of(1, a * a + b * b)
    return (h - Surd.of(a + b)).times(Surd.of(a) - h)


def complementary_function(case: Case) -> Verdict:
    """Psi of (36) is 0 iff a, b >= 0 and a b = 0, and its gradient times h as long as (35) says; in square roots of rationals."""
    wrong = [(a, b) for a, b in _pairs(case) if ((Surd.of(1, a * a + b * b) - Surd.of(a + b)).sign() == 0) != _is_solved(a, b)]
    return Verdict("complementary", not wrong, 1.0 if wrong else -1.0, f"psi is wrong at {wrong[:1]}", METHOD)


def _is_solved(a: Fraction, b: Fraction) -> bool:
    return a >= 0 and b >= 0 and a * b == 0


def complementary_function_in_floats(case: Case) -> Verdict:
    """The same in floating point, and differences of psi are what the gradient says, near 0 as elsewhere."""
    worst = -1.0
    for a, b in ((float(a), float(b)) for a, b in _pairs(case)):
        scale = max(abs(a), abs(b)) or 1.0
        a, b = a / scale, b / scale
        solved = min(a, b) >= 0 and a * b == 0
        worst = max(worst, 1.0 if (_psi(a, b) <= 1e-24) != solved and min(abs(a), abs(b)) > 1e-4 else -1.0)
        h, step = hypot(a, b), 1e-6
        gradient = (h - a - b) * (a / h - 1) if h else 0.0
        slope = (_psi(a + step, b) - _psi(a - step, b)) / (2 * step)
        worst = max(worst, abs(slope - gradient) - 1e-4)
    return Verdict("complementary", not worst > 0, worst, f"psi is off by {worst:.3g}", "floating point")


def _psi(a: float, b: float) -> float:
    return 0.5 * (hypot(a, b) - a - b) ** 2


def signs(case: Case) -> Verdict:
    """(98) and (99): no opposite signs, and both are 0 iff psi is; in square roots of rationals."""
    wrong = []
    for a, b in _pairs(case):
        first, second = _slopes(a, b).sign(), _slopes(b, a).sign()
        wrong += [(a, b)] if first * second < 0 or (first == second == 0) != _is_solved(a, b) else []
    return Verdict("signs", not wrong, 1.0 if wrong else -1.0, f"the derivatives are wrong at {wrong[:1]}", METHOD)


def signs_in_floats(case: Case) -> Verdict:
    """(98) by differences of psi, in floating point."""
    worst = -1.0
    for a, b in ((float(a), float(b)) for a, b in _pairs(case)):
        scale = max(abs(a), abs(b)) or 1.0
        a, b, step = a / scale, b / scale, 1e-6
        first = (_psi(a + step, b) - _psi(a - step, b)) / (2 * step)
        second = (_psi(a, b + step) - _psi(a, b - step)) / (2 * step)
        worst = max(worst, -first * second - 1e-5)
        still = max(abs(first), abs(second)) < 1e-5
        worst = max(worst, 1.0 if still and _psi(a, b) > 1e-4 else -1.0)
    return Verdict("signs", not worst > 0, worst, f"the derivatives have opposite signs, by {worst:.3g}", "floating point")


# ---- 5.1 --------------------------------------------------------------------------------------------------------------------


def violates(case: Case) -> Verdict:
    """(45) > 0 iff any step along -grad uses more of the full resource than there is; in square roots of rationals."""
    point = ExactMeritPoint.of(case)
    by_x, faults, count = point.by_x(), 0, 0
    for row in point.full:
        after = Surd()
        for slope, part, x in zip(by_x, point.part, point.x, strict=True):
            if row in part:
                after = after + (Surd.of(x) + slope * F(-1, 1000)) * part[row]
        faults += (point.beta(row, by_x).sign() > 0) != ((after - Surd.of(1)).sign() > 0)
        count += 1
    return Verdict("violation", not faults, 1.0 if faults else -1.0, f"of {count} full resources {faults} differ", METHOD)


def violates_in_floats(case: Case) -> Verdict:
    """The same by the solver's gradient, in floating point; slopes near 0 decide nothing."""
    at = MeritPoint(case)
    grad = at.merit.gradient(at.y, at.mu)[0] / at.game.gamma
    load, worst = case.instance.arcs.load.toarray(), -1.0
    x, scale = np.array([float(v) for v in case.points[0]]), max(1e-12, float(np.abs(grad).max()))
    for row in np.flatnonzero(at.full.ravel()):
        beta = -float(load[row] @ grad)
        over = float(load[row] @ (x - grad / scale)) - 1
        near = abs(beta) <= NEAR * scale * load[row].max()
        worst = max(worst, -1.0 if near or (beta > 0) == (over > 0) else abs(over))
    return Verdict("violation", not worst > 0, worst, f"a full resource is used {worst:.3g} more", "floating point")


def assumption_2(case: Case) -> Verdict:
    """Somebody who may not use server i demands r, for each i and r; user i mod N is kept from server i, so that there is one."""
    instance, exact = case.instance, case.instance.exact
    out = [[n for n in range(instance.N) if n == i % instance.N or not instance.placement[n, i]] for i in range(instance.K)]
    holds = all(any(exact.demands[n][0][r] > 0 for n in users) for users in out for r in range(instance.R))
    return Verdict("outsiders", holds, -1.0 if holds else 1.0, "nobody else demands some resource", "rational arithmetic")


def assumption_2_in_arrays(case: Case) -> Verdict:
    """The same by the product of two matrices."""
    outside = 1 - case.instance.placement.astype(float).T
    outside[np.arange(case.instance.K), np.arange(case.instance.K) % case.instance.N] = 1
    least = float((outside @ np.array([rows[0] for rows in case.instance.demands])).min())
    return Verdict("outsiders", least > 0, -least, "nobody else demands some resource", "floating point")


# ---- 5.2 --------------------------------------------------------------------------------------------------------------------


def local(case: Case) -> Verdict:
    """(55) at each server with prices (57), epsilon = 1/10, is the same where others are changed, with all x_n as before."""
    worst = F(0)
    for i in range(case.instance.K):
        here = np.flatnonzero(case.instance.arcs.server == i).tolist()
        ends = [_directions(instance, x, int(case.parameters["alpha"])) for instance, x in _both(case, i)]
        worst = max([worst, *(abs(ends[0][a] - ends[1][a]) for a in here)])
    return Verdict("locality", worst == 0, float(worst), f"a direction differs by {worst} with other servers changed", METHOD)


def _both(case: Case, i: int) -> list[tuple[Instance, Rationals]]:
    """The case, and what it is with the servers beside i changed."""
    return [(case.instance, case.points[0]), others_changed(case.instance, case.points[0], i)]


def _directions(instance: Instance, x: Rationals, alpha: int) -> list[Fraction]:
    """(A,) v of (55), in K's own units; parts of capacity for loads."""
    arcs, epsilon = exact_arcs(instance), F(1, 10)
    tasks, prices = arcs.tasks(x), [max(F(0), load - 1 + epsilon) / epsilon**2 for load in arcs.loads(x)]
    if not all(tasks):
        raise NotApplicable("a user has no task: g' is not finite")
    result = []
    for a, one in enumerate(unit(instance, arcs)):
        n = arcs.user[a]
        cost = sum((prices[row] * part for row, part in arcs.load[a]), F(0))
        f = cost - instance.exact.weights[n] / one * (one / tasks[n]) ** alpha
        result.append(-f if x[a] > 0 else max(-f, F(0)))
    return result


def local_in_floats(case: Case) -> Verdict:
    """The same on arrays of all servers at once, in floating point."""
    worst = 0.0
    for i in range(case.instance.K):
        ends = []
        for instance, point in _both(case, i):
            arcs, x = instance.arcs, np.array([float(v) for v in point])
            tasks = np.bincount(arcs.user, x, instance.N)[arcs.user]
            if not tasks.all():
                raise NotApplicable("a user has no task: g' is not finite")
            z = tasks / (instance.weights[arcs.user] * arcs.gamma)
            prices = np.maximum(arcs.load @ x - 0.9, 0.0) / 0.01
            v = z ** -float(case.parameters["alpha"]) / arcs.gamma - arcs.load.T @ prices
            ends.append(np.where(x > 0, v, np.maximum(v, 0.0))[arcs.server == i])
        scale = max(1.0, float(np.abs(ends[0]).max(initial=0.0)))
        worst = max(worst, float(np.abs(ends[0] - ends[1]).max(initial=0.0)) / scale)
    return Verdict("locality", worst <= NEAR, worst - NEAR, f"a direction differs by {worst:.3g}, relative", "floating point")
