r"""K 3.1, 3.2, 4.4 and 5.1 at given tasks: existence, Theorem 1, bounds on multipliers, uniqueness by a market.

    Problem 1      server i maximises  U_i = sum_n phi_n g_i(x_n / (phi_n gamma_ni)),  x_n = sum_j x_nj,  within its capacities
    (16)           sum_n (y_ni - x_ni) / gamma_ni g_i'(z_ni) <= 0  for all y_i that fit,         z_ni = x_n / (phi_n gamma_ni)
    (22)           g_i'(z) = (A_i / z)^alpha_i + B_i / z

What fits server i is a polytope, so (16) holds iff it holds at each of its vertices (judges/convergence.py). Nothing here uses
prices but `bounded_multipliers`, whose prices are those of a linear program.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import exact_levels, unit
from fairalloc.solvers.game.ps_mfa import projected
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certified, is_nash_bargain
from fairalloc.theorems.judges.convergence import arcs_of_servers, gain_left, rational, vertices
from fairalloc.theorems.judges.game import fitted, solved
from fairalloc.theorems.judges.trials import Undecided
from fairalloc.theorems.papers.k.surds import Surd, total

ZERO = Fraction(0)


# ---- existence, and algorithms that end at an equilibrium ------------------------------------------------------------------


def equilibrium_exists(case: Case) -> Verdict:
    """K 3.1: best responses in turn; where they end, or at the default method's answer, no server gains 1e-6 by (16).

    For alpha = infinity an exact equilibrium next to it is found. No point refutes existence: where none is found, nothing is
    decided.
    """
    best = min((gain_left(case.instance, x, case.parameters)[1] for x in _ends(case)), default=Fraction(1))
    margin = float(best) - 1e-6
    words = f"a server gains {float(best):.1e} at most"
    return Verdict("existence", True if margin <= 0 else None, margin, words, "vertices in rationals")


def _ends(case: Case) -> list[Rationals]:
    """Rational tasks at which two methods ended, exact ones where alpha = infinity."""
    exact: Callable[..., Rationals | None] = exact_levels if case.parameters["alpha"] == "inf" else rational
    found = []
    for method in ("best-response", None):
        made = solve(case.instance, "alpha-pf-vds", method, "high", time_limit=2.0, **fitted(case.parameters, case.instance))
        x = exact(case.instance, made.x) if made.has_point else None
        found += [x] if x is not None and all(exact_arcs(case.instance).tasks(x)) else []
    return found


# ---- Theorem 1 --------------------------------------------------------------------------------------------------------------


PARTS = 0.5 ** np.arange(60)
"""Of the way to the best y_i: some of them are small enough for (16) to decide the sign."""


def theorem_1_by_program(case: Case) -> Verdict:
    """K Theorem 1: on the way to the best y_i of (16), found by a linear program, U_i rises iff (16) says so, and by no more.

    In floating point, at the case's first point. U_i is read at PARTS of the way.
    """
    instance = case.instance
    user, gamma = instance.arcs.user, instance.arcs.gamma
    x = np.array([float(v) for v in case.points[0]])
    tasks = np.bincount(user, x, instance.N)
    if not tasks.min() > 1e-6 * tasks.max():
        raise NotApplicable("a user has no task, or next to none: (16) is not defined, or not in floating point")
    phi = instance.weights[user]
    z = tasks[user] / (phi * gamma)
    worst = -1.0
    for here in arcs_of_servers(instance):
        alpha = float(_alpha(case, here))
        worth = z[here] ** -alpha / gamma[here]
        rows = instance.arcs.load.tocsr()[:, here]
        best = maximum(worth, rows, np.ones(rows.shape[0]), False)
        if best is None or not 1e-9 < z[here].min() <= z[here].max() < 1e9:
            raise NotApplicable("shares are too large or too small for floating point")
        value = max(best.value, 1e-300)
        slope = (best.value - worth @ x[here]) / value
        change = (best.z - x[here]) / (phi[here] * gamma[here] * z[here])
        gains = [_risen(phi[here], z[here], part * change, alpha) / value for part in PARTS]
        worst = max(worst, *(g - part * slope for g, part in zip(gains, PARTS, strict=True)))
        worst = max(worst, slope - 1e-3 if slope > 1e-3 and max(gains) <= 0 else -1.0)
    margin = worst - 1e-9
    return Verdict("equivalence", not margin > 0, margin, f"a move gains {worst:.3g} more than (16) says", "LP, and U in floats")


def _alpha(case: Case, here: Sequence[int]) -> Fraction:
    """Alpha of the server of these arcs."""
    value = case.parameters["alpha"]
    return Fraction(value[int(case.instance.arcs.server[here[0]])] if isinstance(value, tuple) else value)


def _risen(phi: Any, z: Any, change: Any, alpha: float) -> float:
    """U_i after shares z change by these parts minus U_i before; -inf where a user is left with nothing and alpha >= 1."""
    if change.min() <= -1 and alpha >= 1:
        return -np.inf
    with np.errstate(divide="ignore"):  # log 0 where alpha < 1
        logarithm = np.log1p(np.maximum(change, -1.0))
    if alpha == 1:
        return float(phi @ logarithm)
    return float(phi * z ** (1 - alpha) @ np.expm1((1 - alpha) * logarithm) / (1 - alpha))


def theorem_1_by_vertices(case: Case) -> Verdict:
    """K Theorem 1 in rationals: towards every vertex of every server, and towards the case's second point.

    U_i is concave in x_i, so moving all the way gains at most (16), and a small step gains iff (16) is positive. alpha is 1 or
    half of a whole number: all numbers are sums of square roots of rationals, or, for alpha = 1, U_i is one of logarithms.
    """
    instance = case.instance
    arcs, (x, y) = exact_arcs(instance), case.points
    tasks, units = arcs.tasks(x), unit(instance, arcs)
    if not all(tasks):
        raise NotApplicable("a user has no task: (16) is not defined")
    faults = list[float]()
    for here in arcs_of_servers(instance):
        own, phi = [units[a] for a in here], [instance.exact.weights[arcs.user[a]] for a in here]
        z = [tasks[arcs.user[a]] / units[a] for a in here]
        for aim in [*vertices(instance, here), [y[a] for a in here]]:
            step = [v - x[a] for v, a in zip(aim, here, strict=True)]
            faults.append(Reallocation(z, step, own, phi, _alpha(case, here)).fault())
    worst = max(faults)
    sentence = f"of {len(faults)} moves one gains {worst:.3g} more than (16) says"
    return Verdict("equivalence", worst <= 0, worst, sentence, "vertices in square roots of rationals")


@dataclass(frozen=True)
class Rise:
    """A change of U_i: a sum of square roots, and parts of logarithms of rationals, {argument: factor}."""

    roots: Surd
    logarithms: Mapping[Fraction, Fraction] = field(default_factory=dict)

    def sign(self, less: Surd) -> int:
        """The sign of the change minus `less`; 0 where logarithms of MOST_BITS do not show another one."""
        from flint import arb, ctx

        roots, bits = self.roots - less, 128
        if not self.logarithms:
            return roots.sign()
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                parts = [as_ball(factor) * as_ball(one).log() for one, factor in self.logarithms.items()]
                total = sum([*parts, *(as_ball(q) * as_ball(s).sqrt() for s, q in roots.terms.items())], arb(0))
                if total > 0 or total < 0:
                    return 1 if total > 0 else -1
            bits *= 2
        return 0

    def __float__(self) -> float:
        return float(self.roots) + sum(float(factor) * math.log(one) for one, factor in self.logarithms.items())


MOST_BITS = 1024
"""Of logarithms."""


@dataclass(frozen=True)
class Reallocation:
    """A change of one server's tasks: shares z before, the step, phi gamma, phi and alpha, 1 or half of a whole number."""

    z: Sequence[Fraction]
    step: Sequence[Fraction]
    unit: Sequence[Fraction]
    phi: Sequence[Fraction]
    alpha: Fraction

    def slope(self) -> Surd:
        """The left side of (16)."""
        parts = zip(self.step, self.unit, self.phi, self.z, strict=True)
        return total([_power(s, -self.alpha) * (v * p / one) for v, one, p, s in parts])

    def gained(self, part: Fraction) -> Rise | None:
        """U_i after this part of the step minus U_i; None = minus infinity."""
        after = [s + part * v / one for s, v, one in zip(self.z, self.step, self.unit, strict=True)]
        if min(after) <= 0 and self.alpha >= 1:
            return None
        moved = [(p, a, b) for p, a, b in zip(self.phi, self.z, after, strict=True) if a != b]
        if self.alpha == 1:
            factors: dict[Fraction, Fraction] = {}
            for p, a, b in moved:
                factors[b / a] = factors.get(b / a, ZERO) + p
            return Rise(Surd(), factors)
        power = 1 - self.alpha
        return Rise(total([(_power(b, power) - _power(a, power)) * (p / power) for p, a, b in moved]))

    def fault(self) -> float:
        """How far U_i rises by more than (16), or (16) itself where no small step gains; negative = as claimed."""
        slope, whole = self.slope(), self.gained(Fraction(1))
        if whole is not None and whole.sign(slope) > 0:
            return float(whole) - float(slope)
        if slope.sign() > 0:
            gains = (self.gained(Fraction(1, 2**k)) for k in range(200))
            return -1.0 if any(g is not None and g.sign(Surd()) > 0 for g in gains) else float(slope)
        return -1.0


def _power(base: Fraction, exponent: Fraction) -> Surd:
    """The base to half of a whole number."""
    return Surd.of(base ** math.floor(exponent), Fraction(1) if exponent.denominator == 1 else base)


# ---- 4.4 and 5.1 --------------------------------------------------------------------------------------------------------------


def bounded_multipliers(case: Case) -> Verdict:
    """K 4.4: at an equilibrium for alpha = 2 a linear program finds the largest lambda_ir that (28)-(29) allow, against (43)."""
    instance = case.instance
    try:
        found = solved(instance, {"alpha": 2})
    except Undecided as reason:
        return Verdict("boundedness", None, np.nan, f"not decided: {reason}", "LP")
    margins = [_largest(instance, found, here) for here in arcs_of_servers(instance)]
    margin = max(margins)
    words = f"a multiplier is {margin + 1:.3g} times what (43) allows, or more"
    return Verdict("boundedness", not margin > 0, margin, words, "LP")


MANY = 10.0
"""How many times its bound a multiplier may be in the program, which is unbounded without."""


def _largest(instance: Instance, found: Allocation, here: Sequence[int]) -> float:
    """Max over r of lambda_ir by its bound (43), less 1 and a thousandth."""
    arcs, phi = instance.arcs, instance.weights
    i, near = int(arcs.server[here[0]]), 1e-6
    users, gamma, d = arcs.user[here], arcs.gamma[here], arcs.demand[here]
    served = found.x[here] > near * gamma
    need = (found.tasks[users] / (phi[users] * gamma)) ** -2.0 / gamma
    least = phi / phi.sum() * np.bincount(arcs.user, arcs.gamma, instance.N)
    most = (least[users] / (phi[users] * gamma)) ** -2.0 / gamma
    bounds = np.divide(most[:, None], d, out=np.full(d.shape, np.inf), where=served[:, None] & (d > 0)).min(axis=0)
    bound = np.where(np.isfinite(bounds), bounds, 1.0)
    pool = instance.pools[i]
    full = pool - found.x[here] @ d <= near * pool
    matrix = np.concatenate([d[served] * bound, -d * bound, np.eye(len(bound))])
    sides = np.concatenate([need[served] * (1 + near), -need * (1 - 10 * near), np.where(full, MANY, 0.0)])
    largest = [maximum(row, matrix, sides, False) for row in np.eye(len(bound))]
    return max((best.value for best in largest if best is not None), default=0.0) - 1.001


def projection_in_floats(case: Case) -> Verdict:
    """K 5.1: (46) in R^N for the gradient (-1 for who is eligible, 0 for others), by nonnegative least squares.

    Each resource of each server in turn is the full one, with lambda = 0.
    """
    instance, worst = case.instance, -1.0
    d = np.array([rows[0] for rows in instance.demands])
    for here in arcs_of_servers(instance):
        users = np.isin(np.arange(instance.N), instance.arcs.user[here])
        for r in range(instance.R):
            v = projected(users.astype(float), d[:, [r]] / max(d[:, r].max(), 1e-300), np.array([False]))
            worst = max(worst, float(np.abs(v[~users]).max(initial=0.0)))
    margin = worst - 1e-9
    return Verdict("feasibility", not margin > 0, margin, f"v has {worst:.3g} for a user who is not eligible", "least squares")


def bounded_multipliers_exactly(case: Case) -> Verdict:
    """The multipliers of solutions are bounded: those of a resource that a server does not have are free (K 28)."""
    exact = case.instance.exact.capacities
    free = [(i, r) for i, row in enumerate(exact) for r, c in enumerate(row) if c == 0 and i in case.instance.arcs.server]
    if not free:
        return Verdict("boundedness", True, -1.0, "every resource that has a price is used by somebody", "rational arithmetic")
    i, r = free[0]
    what = f"{case.instance.resources[r]!r} on server {case.instance.servers[i]!r}"
    sentence = f"any lambda >= 0 solves (28)-(29) for {what}: its capacity is 0 and no eligible user demands it"
    return Verdict("boundedness", False, 1.0, sentence, "rational arithmetic")


# ---- 4.4: one solution where every server has a bottleneck resource --------------------------------------------------------


def unique_by_market(case: Case) -> Verdict:
    """K Theorem 7 where every server has a bottleneck resource: one x_n, by the market of which solutions are the optimum.

    With one price a server, g' falling, any solution serves n at i only where z_ni is the level l_i, and z_ni >= l_i elsewhere.
    These are the optimality conditions of max sum phi_n log x_n with the prices 1 / l_i, whose x_n is unique. Checked in
    rationals: the exact PS-DSF allocation has these levels, and the gap of that program with these prices is 0.
    """
    h, arcs = certified(case.instance, "ps-dsf"), exact_arcs(case.instance)
    instance, user, server = case.instance, case.instance.arcs.user, case.instance.arcs.server
    z = h.tasks[user] / (h.weights[user] * h.gamma)
    prices = [Fraction(0)] * (instance.K * instance.R)
    for i in sorted(set(server.tolist())):
        here = np.flatnonzero(server == i)
        common = set.intersection(*({row for row, part in arcs.load[a] if part == 1 / h.gamma[a]} for a in here))
        if not common:
            raise NotApplicable("a server has no bottleneck resource")
        prices[min(common)] = 1 / min(z[here])
    unique = is_nash_bargain(instance, h.x, prices)
    return Verdict(
        "uniqueness", unique, -1.0 if unique else 1.0, f"the market's gap is {'' if unique else 'not '}0", "rational arithmetic"
    )
