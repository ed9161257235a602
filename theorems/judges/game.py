"""Judges for the claims of K and P about the game: equilibria for some alpha, PS-DSF, the merit of Problem 3, and algorithms.

PS-DSF allocations and equilibria for alpha != 1 need not be unique. A mechanism has a property if every one of them does; what is
tried is the one its method gives, and one that violates the property refutes it. For lies see `hard_lying`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.certify import Failure, certify
from fairalloc.analysis.certificates.game import ResidualCertificate, Server
from fairalloc.analysis.certificates.proofs import BoundsCertificate, Certificate
from fairalloc.analysis.holdings import Holdings, Unsolved
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.misreports import gains, useful
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game, bottleneck_gap
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.models.numbers import Floats
from fairalloc.models.rationals import exact_arcs
from fairalloc.solvers import solve
from fairalloc.solvers.exact.levels import exact_levels, levels, unit
from fairalloc.solvers.game.ps_mfa import Merit, projected
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certain, furthest, held, ruling
from fairalloc.theorems.judges.trials import SAFETY, Answer, Judge, Undecided, attempted
from fairalloc.theorems.papers.k.problem_3 import times

__all__ = [
    "ALGORITHM",
    "absent",
    "at_rest",
    "bottleneck_condition",
    "complementary",
    "definition",
    "descent_by_price",
    "equilibria",
    "every_alpha",
    "fair",
    "halted",
    "hard_misreporting",
    "least_served",
    "limit_rate",
    "missing",
    "ordered",
    "proportional",
    "same_as_fds",
    "stationary",
    "utilisation",
]

F = Fraction

ALGORITHM = "psdsf-algorithm-1"


# ---- equilibria for given parameters ----------------------------------------------------------------------------------


def equilibria(judge: Judge) -> dict[str, Any]:
    """How a statement about alpha-pf-vds is tried and confirmed; a parameter that is a tuple has one entry for each server."""
    return {"trial": partial(_tried, judge), "confirm": partial(_sure, judge), "mechanism": "alpha-pf-vds"}


def fitted(parameters: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    """The parameters of alpha-pf-vds; of a tuple the first K entries."""
    own = {name: value for name, value in parameters.items() if name in ("alpha", "A", "B")}
    return {name: list(value[: instance.K]) if isinstance(value, tuple) else value for name, value in own.items()}


def solved(instance: Instance, parameters: Mapping[str, Any], accuracy: str = "mid") -> Allocation:
    """The equilibrium that the fastest method finds; Undecided where its residual is too large."""
    allocation = solve(instance, "alpha-pf-vds", accuracy=accuracy, **fitted(parameters, instance))
    if not allocation.residual <= TOLERANCE:
        raise Undecided(f"the residual of the equilibrium is {allocation.residual:.1e}")
    return allocation


def proved_equilibrium(instance: Instance, parameters: Mapping[str, Any], widths: list[float]) -> Allocation:
    """Rational tasks with a certificate; how far those of an equilibrium may be is added to `widths`."""
    near = solved(instance, parameters, "high")
    certificate = certify(instance, "alpha-pf-vds", near)
    if isinstance(certificate, Failure):
        raise Undecided(certificate.reason)
    widths.append(_width(certificate, instance))
    x = np.array([float(v) for v in certificate.x])
    return replace(near, x=x, x_exact=certificate.x, prices=None)


def _width(certificate: Certificate, instance: Instance) -> float:
    """How far tasks can be off, relative: the objective of a server is strongly concave in logarithms of shares, with the least
    weight and min(1, alpha) as its modulus, so a gain of at most b leaves at most sqrt(2 b / modulus).
    """
    if not isinstance(certificate, ResidualCertificate | BoundsCertificate):
        return 0.0
    part = float(instance.weights.min() / instance.weights.sum())
    if isinstance(certificate, BoundsCertificate):
        return float(np.sqrt(2 * float(certificate.gap) / instance.weights.min()))
    least = min([1.0, *(float(a) for a in certificate.alpha if a)])
    return float(np.sqrt(2 * float(certificate.bound) / (least * part)))


def _tried(judge: Judge, case: Case) -> Verdict:
    try:
        return judge(case, lambda instance: solved(instance, case.parameters))
    except (Undecided, Unsolved) as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "floating point")


def _sure(judge: Judge, case: Case) -> Verdict:
    widths: list[float] = [0.0]
    try:
        verdict = judge(case, lambda instance: proved_equilibrium(instance, case.parameters, widths))
    except (Undecided, Unsolved) as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "certificate")
    if max(widths) and abs(verdict.margin) <= SAFETY * max(widths):
        return replace(verdict, holds=None, sentence=f"not decided: {verdict.sentence}")
    return verdict


def proportional(case: Case, answer: Answer) -> Verdict:
    """No feasible y has sum_n phi_n (y_n - x_n) / x_n > 0 (K 62): one linear program."""
    h = held(answer(case.reported))
    total = h.weights.sum()
    best = furthest(h, h.weights / h.tasks, h.zeros(h.instance.N))
    gain = (best - total) / total
    return ruling(h, "proportional fairness", gain, f"relative changes of another allocation add up to {float(gain):.3g} sum phi")


def same_as_fds(case: Case, answer: Answer) -> Verdict:
    """With one server, the equilibrium is alpha-fair by dominant shares: fds, another program and other solvers."""
    h = held(answer(case.reported))
    other = solve(h.instance, "fds", alpha=case.parameters["alpha"])
    if not other.residual <= TOLERANCE:
        raise Undecided(f"the residual of the fds allocation is {other.residual:.1e}")
    off = max(abs(float(a) - b) / b for a, b in zip(h.tasks, other.tasks, strict=True))
    return ruling(h, "reduction", max(0.0, off - 1e-3), f"tasks differ by {off:.1e}, relative")


def limit_rate(case: Case, answer: Answer) -> Verdict:
    """The gap of PS-DSF (P Theorem 1) is at most log(R (1 + B / A) / least w_nir > 0) / alpha: see K.T2.limit."""
    h = held(answer(case.reported))
    if any(float(a) < float(z) for a, z in zip(_per_arc(case, h.instance, "A", 1.0), _shares(h), strict=True)):
        raise InstanceError("a share is larger than A (K Corollary 3)")
    game = Game(h.instance, np.inf)
    least = float(game.w[game.w > 0].min())
    ratio = max(float(b) / float(a) for a, b in zip(_values(case, "A", 1.0), _values(case, "B", 0.0), strict=False))
    alpha = float(case.parameters["alpha"])
    bound = np.log(h.instance.R * (1 + ratio) / least) / alpha
    gap = max(_gap(h, i) for i in range(h.instance.K))
    return ruling(
        h, "limit", gap - bound, f"the gap of PS-DSF is {gap:.3g} at alpha = {alpha:g}, and at most {bound:.3g} by the rate"
    )


def _values(case: Case, name: str, usual: float) -> Sequence[Any]:
    value = case.parameters.get(name, usual)
    return value if isinstance(value, tuple) else (value,)


def _per_arc(case: Case, instance: Instance, name: str, usual: float) -> Sequence[Any]:
    """The parameter at each arc; infinite where the case has none, for then nothing is asked."""
    if name not in case.parameters:
        return [np.inf] * len(instance.arcs)
    values = tuple(_values(case, name, usual)) * instance.K
    return [values[i] for i in instance.arcs.server]


def _shares(h: Holdings) -> Any:
    """(A,) weighted virtual dominant shares."""
    user = h.instance.arcs.user
    return h.tasks[user] / (h.weights[user] * h.gamma)


def _gap(h: Holdings, i: int) -> float:
    instance = h.instance
    if not h.exact:
        return bottleneck_gap(Game(instance, np.inf), h.allocation.x, i)
    arcs = exact_arcs(instance)
    here = np.flatnonzero(instance.arcs.server == i).tolist()
    x, units = list(h.x), unit(instance, arcs)
    return (
        float(Server.of(arcs, instance, i, here, x, [h.tasks[arcs.user[a]] / units[a] for a in here]).bottleneck_gap())
        if here
        else 0.0
    )


def every_alpha(domain: Callable[[Instance], Instance] = lambda instance: instance) -> dict[str, Any]:
    """Problem 1 and PS-DSF have the same solutions: both ways, on the instance or on another one made of it (K Theorems 4, 5).

    Tried: the residual of each one's answer in the other's definition. Confirmed: the optimality conditions of Problem 1 at the
    exact PS-DSF allocation with the price g'(largest share that is served), in rationals for whole alpha.
    """

    def trial(case: Case) -> Verdict:
        instance, alpha = domain(case.instance), case.parameters["alpha"]
        try:
            ours = solved(instance, {"alpha": alpha})
        except Undecided as reason:
            return Verdict("", None, np.nan, str(reason), "floating point")
        fair = solve(instance, "ps-dsf")
        if not fair.residual <= TOLERANCE:
            return Verdict("", None, np.nan, f"the residual of ps-dsf is {fair.residual:.1e}", "floating point")
        there = max(bottleneck_gap(Game(instance, np.inf), ours.x, i) for i in range(instance.K))
        back = Game(instance, alpha).residual(replace(fair, prices=None))
        margin = max(there, back) - 10 * TOLERANCE
        sentence = f"the gap of PS-DSF at the equilibrium is {there:.1e}, the residual of the game at PS-DSF {back:.1e}"
        return Verdict("coincidence", margin <= 0, margin, sentence, "residuals in floating point")

    def confirm(case: Case) -> Verdict:
        instance, alpha = domain(case.instance), case.parameters["alpha"]
        h = certain(instance, "ps-dsf")
        worst = max(_kkt(h, i, int(alpha)) for i in set(instance.arcs.server.tolist()))
        sentence = f"with the price of the largest served share somebody is off by {float(worst):.3g}, relative"
        return Verdict("coincidence", worst <= 0, float(worst), sentence, "optimality conditions in rationals")

    return {"trial": trial, "confirm": confirm, "mechanism": "alpha-pf-vds"}


def _kkt(h: Holdings, i: int, alpha: int) -> Any:
    """How far server i is from g'(z_n) <= mu for all and = mu for those served, and from being full, with one price mu."""
    here = np.flatnonzero(h.instance.arcs.server == i)
    z, x = _shares(h)[here], h.x[here]
    mu = max(1 / z[k] ** alpha for k in range(len(here)) if x[k])
    unserved = [1 - mu * z[k] ** alpha for k in range(len(here))]
    served = [mu * z[k] ** alpha - 1 for k in range(len(here)) if x[k]]
    return max([*unserved, *served, 1 - sum(x / h.gamma[here])])


def fair(judge: Judge) -> dict[str, Any]:
    """How a statement about ps-dsf is tried and confirmed: at the allocation that P's own Algorithm I reaches, made exact.

    A property of the mechanism is one of every PS-DSF allocation. Algorithm I starts from DRF on each server and so ends at other
    ones than methods that come from finite alpha do, and it is fast.
    """

    def exactly(case: Case) -> Verdict:
        def answer(instance: Instance) -> Allocation:
            certificate = certify(instance, "ps-dsf", solve(instance, "ps-dsf", ALGORITHM))
            if isinstance(certificate, Failure):
                raise Undecided(certificate.reason)
            x = np.array([float(v) for v in certificate.x])
            return Allocation(instance, x, "ps-dsf", "certificate", x_exact=certificate.x)

        try:
            return judge(case, answer)
        except (Undecided, Unsolved) as reason:
            return Verdict("", None, np.nan, f"not decided: {reason}", "certificate")

    return {"trial": attempted("ps-dsf", judge, ALGORITHM), "confirm": exactly, "mechanism": "ps-dsf"}


# ---- PS-DSF ---------------------------------------------------------------------------------------------------------


def definition(case: Case) -> Verdict:
    """P Definition 2 by a linear program for each user, against Theorem 1, at several allocations, all in rationals."""
    return _definition(case, _by_program)


def bottleneck_condition(case: Case) -> Verdict:
    """P Definition 2 by taking from everybody with a larger share at one server, against Theorem 1, in rationals."""
    return _definition(case, _by_releasing)


def _definition(case: Case, raised: Callable[[Holdings, int], bool]) -> Verdict:
    instance = case.instance
    named = {name: certain(instance, name) for name in ("ps-dsf", "drfh")}
    points = list(named.items())
    points += [(f"point {k}", _at(instance, x)) for k, x in enumerate(case.points)]
    if named["ps-dsf"].instance.K > 1:
        points.append(("ps-dsf, halved", _at(instance, [v / 2 for v in named["ps-dsf"].x])))
    for name, h in points:
        if not all(h.tasks):
            continue
        fair = levels(instance, tuple(h.x)) is not None
        defined = not any(raised(h, n) for n in range(instance.N))
        if fair != defined:
            sentence = f"at {name} the condition is {fair} and Definition 2 {defined}"
            return Verdict("equivalence", False, 1.0, sentence, "rational arithmetic")
    return Verdict("equivalence", True, 0.0, f"both agree at {len(points)} allocations", "rational arithmetic")


def _at(instance: Instance, x: Sequence[Fraction]) -> Holdings:
    return Holdings(Allocation(instance, np.array([float(v) for v in x]), x_exact=tuple(x)), True)


def _by_program(h: Holdings, n: int) -> bool:
    """Whether x_n can rise while no x_mi falls with z_mi <= z_ni."""
    instance, user, server = h.instance, h.instance.arcs.user, h.instance.arcs.server
    z = _shares(h)
    own = {int(server[a]): z[a] for a in np.flatnonzero(user == n)}
    floors = [h.x[a] if user[a] != n and int(server[a]) in own and z[a] <= own[int(server[a])] else F(0) for a in range(len(h.x))]
    floors = [v if user[a] == n or int(server[a]) in own else h.x[a] for a, v in enumerate(floors)]
    arcs = exact_arcs(instance)
    matrix = np.full((arcs.rows, len(floors)), F(0), dtype=object)
    for a, load in enumerate(arcs.load):
        for row, part in load:
            matrix[row, a] = part
    sides = np.array([F(1)] * arcs.rows, dtype=object) - matrix @ np.array(floors, dtype=object)
    cost = np.array([F(int(m == n)) for m in user], dtype=object)
    best = maximum(cost, matrix, sides, True)
    if best is None:
        raise InstanceError("a linear program was not solved")
    return bool(best.value > h.tasks[n])


def _by_releasing(h: Holdings, n: int) -> bool:
    """Whether at some server of n everything n demands is free once all with a larger share there are gone."""
    user, server, z = h.instance.arcs.user, h.instance.arcs.server, _shares(h)
    arcs = exact_arcs(h.instance)
    for a in np.flatnonzero(user == n):
        kept = [v if server[b] != server[a] or z[b] <= z[a] else F(0) for b, v in enumerate(h.x)]
        loads = arcs.loads(kept)
        if all(loads[row] < 1 for row, _ in arcs.load[a]):
            return True
    return False


def least_served(case: Case, answer: Answer) -> Verdict:
    """Who has tasks on a server has the least share of all who are eligible there (K 6.2, before (58))."""
    h = held(answer(case.reported))
    z, server = _shares(h), h.instance.arcs.server
    gaps = [min(h.x[a] / h.gamma[a], 1 - min(z[server == server[a]]) / z[a]) for a in range(len(z))]
    worst = max(gaps)
    return ruling(h, "least share", worst, f"somebody has {float(worst):.3g} of a server on which another has a smaller share")


def hard_misreporting(case: Case, answer: Answer) -> Verdict:
    """A lie counts only if the liar's worst PS-DSF allocation after it is better than its best one before it.

    Both are optima of the mixed-integer program of ps_dsf.py; in rationals their patterns are made exact, and the gain is the
    smaller one of these and of what the method's own answers say.
    """
    if case.misreport is None:
        raise InstanceError("nobody lies")
    honest, reported = answer(case.instance), answer(case.reported)
    (n,) = case.misreport.users
    gain = gains(case.instance, case.misreport, honest, reported)[0][n]
    h = held(honest)
    if not gain > (0 if h.exact else TOLERANCE):
        return ruling(h, "strategyproofness", gain, f"user {h.instance.users[n]!r} gains nothing")
    before, after = _extreme(case.instance, n, None, True), _extreme(reported.instance, n, case.instance, False)
    hard = gains(case.instance, case.misreport, _like(before, h), _like(after, h))[0][n]
    sentence = f"user {h.instance.users[n]!r} gains {float(hard):.3g} of a server in its worst allocation against its best before"
    return ruling(h, "strategyproofness", min(gain, hard), sentence)


def _like(allocation: Allocation, h: Holdings) -> Allocation:
    return allocation if h.exact else replace(allocation, x_exact=None)


def _extreme(instance: Instance, n: int, truth: Instance | None, most: bool) -> Allocation:
    """The PS-DSF allocation in which user n runs most, or what is worth least to it in truth."""
    import cvxpy as cp

    problem = PsDsf().write_cvxpy(instance)
    (x,) = (v for v in problem.variables() if v.name() == "x")
    worth = useful(instance, instance if truth is None else truth, n, n)
    goal = cp.Maximize(worth @ x) if most else cp.Minimize(worth @ x)
    program = cp.Problem(goal, problem.constraints)
    program.solve(solver=cp.HIGHS, mip_feasibility_tolerance=1e-9)
    if x.value is None:
        raise Undecided(f"the mixed-integer program ended {program.status}")
    point = np.maximum(x.value, 0.0)
    exact = exact_levels(instance, point)
    if exact is None:
        raise Undecided("the pattern of the mixed-integer program is none in rationals")
    return Allocation(instance, np.array([float(v) for v in exact]), "ps-dsf", x_exact=exact)


# ---- trade-offs -----------------------------------------------------------------------------------------------------


def utilisation(h: Holdings) -> Any:
    """Mean used part of the capacities of all servers."""
    loads = np.array(
        exact_arcs(h.instance).loads(h.x) if h.exact else (h.instance.arcs.load @ h.allocation.x).tolist(), dtype=object
    )
    some = (h.instance.capacities > 0).ravel()
    return sum(loads[some]) / int(some.sum())


def ordered(measure: Callable[[Holdings], Any], alphas: Sequence[Any] = (1, 3, "inf")) -> dict[str, Any]:
    """`measure` does not rise with alpha."""

    def verdict(answer: Callable[[Any], Allocation]) -> Verdict:
        found = [held(answer(alpha)) for alpha in alphas]
        values = [measure(h) for h in found]
        rise = max(later - earlier for earlier, later in pairwise(values))
        sentence = ", ".join(f"{float(v):.6g} at alpha = {alpha}" for v, alpha in zip(values, alphas, strict=True))
        return Verdict(
            "order", not rise > TOLERANCE, float(rise), sentence, "certificates" if found[0].exact else "floating point"
        )

    def trial(case: Case) -> Verdict:
        try:
            return verdict(lambda alpha: solved(case.instance, {"alpha": alpha}))
        except Undecided as reason:
            return Verdict("", None, np.nan, str(reason), "floating point")

    def confirm(case: Case) -> Verdict:
        widths: list[float] = [0.0]
        try:
            found = verdict(lambda alpha: proved_equilibrium(case.instance, {"alpha": alpha}, widths))
        except Undecided as reason:
            return Verdict("", None, np.nan, str(reason), "certificate")
        return found if abs(found.margin) > SAFETY * max(widths) else replace(found, holds=None)

    return {"trial": trial, "confirm": confirm}


# ---- Problem 3: points (y, mu) made of a case ---------------------------------------------------------------------------


class Point:
    """Tasks of the case's point and prices on its full resources: `price` times what the first user served there needs.

    With price 1 a user who alone is served by a server with one full resource has f = 0 there.
    """

    def __init__(self, case: Case) -> None:
        instance, alpha = case.instance, case.parameters["alpha"]
        self.case, self.game = case, Game(instance, alpha)
        self.merit = Merit(self.game)
        self.y = np.array([float(v) for v in case.points[0]]) / self.game.gamma
        if not self.merit.feasible(self.y):
            raise InstanceError("a user has no task")
        loads = exact_arcs(instance).loads(case.points[0])
        self.full = np.array([load == 1 for load in loads]).reshape(instance.K, instance.R)
        g = self.merit.marginal(self.y)[0]
        self.mu = np.zeros(self.full.shape)
        for i, r in zip(*np.nonzero(self.full), strict=True):
            users = np.flatnonzero((self.game.server == i) & (self.y > 0) & (self.game.w[:, r] > 0))
            if len(users) and not self.mu[i].any():
                self.mu[i, r] = float(times(case, i)) * g[users[0]] / self.game.w[users[0], r]
        self.by_y, self.by_mu = self.merit.gradient(self.y, self.mu)

    @property
    def value(self) -> float:
        """Psi."""
        return self.merit.value(self.y, self.mu)


def stationary(case: Case) -> Verdict:
    """K Theorem 6: a point is stationary iff Psi = 0; tried as |grad Psi|^2 against Psi, which both have to vanish together."""
    point = Point(case)
    size = float(np.linalg.norm(point.by_y) + np.linalg.norm(point.by_mu))
    solved_ = point.value <= 1e-15
    margin = size - 1e-6 if solved_ else 1e-9 - size
    sentence = f"the gradient is {size:.2g} where the merit is {point.value:.2g}"
    return Verdict("stationarity", not margin > 0, margin, sentence, "floating point")


def complementary(case: Case) -> Verdict:
    """K Lemma 1: Psi = 0 iff (28)-(29) hold, at points that satisfy (38)-(40)."""
    point = Point(case)
    f = point.merit.cost(point.mu) - point.merit.marginal(point.y)[0]
    solved_ = bool(np.all(f >= -1e-9) and np.all(np.minimum(point.y, np.abs(f)) <= 1e-9))
    same = solved_ == (point.value <= 1e-15)
    margin = -point.value if same else max(point.value, 1e-15)
    return Verdict("merit", same, margin, f"the merit is {point.value:.2g}", "floating point")


class Direction:
    """The same point in K's own units and the direction of PS-MFA there, in floating point; the unit of the tasks matters to psi.

    Attributes
    ----------
    full, price : rows that are used up, (K R,) prices
    by_x, by_price : (A,), (K R,) the gradient of Psi (93-94), resources in parts of capacity
    v_x, v_price : (A,), (K R,) K (46-48), to the letter but for users who are not eligible
    """

    def __init__(self, case: Case) -> None:
        instance, alpha = case.instance, float(case.parameters["alpha"])
        user, server, gamma = instance.arcs.user, instance.arcs.server, instance.arcs.gamma
        part, x = instance.arcs.load.toarray().T, np.array([float(v) for v in case.points[0]])
        tasks = np.bincount(user, x, instance.N)
        if not tasks.min() > 0:
            raise InstanceError("a user has no task")
        self.need = (tasks[user] / (instance.weights[user] * gamma)) ** -alpha / gamma
        self.full = full = np.flatnonzero(np.abs(x @ part - 1) <= 1e-12)
        self.price = price = self._prices(case, part, x, full)
        self.by_x, self.by_price = self._gradient(x, part @ price - self.need, part, alpha * self.need / tasks[user], user)
        self.v_x = -self.by_x
        for i in range(instance.K):
            here, rows = np.flatnonzero(server == i), full[full // instance.R == i]
            if len(here) and len(rows):
                self.v_x[here] = projected(-self.by_x[here], part[np.ix_(here, rows)], price[rows] > 0)
        beta = -self.by_x @ part
        v = -self.by_price + np.where(-beta * self.by_price >= -NOTHING, beta, 0.0)
        v = np.where(price > 0, v, np.maximum(v, 0.0))
        self.v_price = np.where(np.isin(np.arange(len(v)), full), v, 0.0)

    def _prices(self, case: Case, part: Floats, x: Floats, full: Any) -> Floats:
        """(K R,) prices on the first full resource of each server that somebody uses."""
        price, R = np.zeros(part.shape[1]), case.instance.R
        for row in full:
            served = np.flatnonzero((x > 0) & (part[:, row] > 0))
            if len(served) and not price[row // R * R : (row // R + 1) * R].any():
                price[row] = float(times(case, int(row) // R)) * self.need[served[0]] / part[served[0], row]
        return price

    def _gradient(self, x: Floats, f: Floats, part: Floats, rise: Floats, user: Any) -> tuple[Floats, Floats]:
        f = np.where(np.abs(f) <= NOTHING * self.need, 0.0, f)
        r = np.hypot(x, f)
        phi, safe = r - x - f, np.where(r > 0, r, 1.0)
        own, by_f = (np.where(r > 0, phi * (v / safe - 1.0), 0.0) for v in (x, f))
        return own + np.bincount(user, by_f * rise)[user], by_f @ part


NOTHING = 1e-13
"""What is rounding, in parts of g' / gamma, and in a product of derivatives whose sign is asked for."""


def descent_by_price(case: Case) -> Verdict:
    """(K 111): dPsi/dlambda v_lambda < 0 for every price that moves."""
    at = Direction(case)
    moves = np.abs(at.v_price) > 1e-6
    slopes = (at.by_price * at.v_price)[moves]
    worst = float((slopes / at.v_price[moves] ** 2).max(initial=-1.0))
    margin = worst + 1e-12 if len(slopes) else -1.0
    sentence = "a price moves although Psi does not depend on it: dPsi/dlambda = 0 and beta > 0"
    return Verdict("descent", not margin > 0, margin, sentence, "floating point")


def halted(case: Case) -> Verdict:
    """K Lemma 4 under Assumption 1: the gradient by x is 0 where v is; the margin is -|v| / |gradient|."""
    at = Direction(case)
    if not at.price[at.full].all():
        raise InstanceError("a full resource has no price: Assumption 1 does not hold")
    size, length = float(np.linalg.norm(at.by_x)), float(np.hypot(np.linalg.norm(at.v_x), np.linalg.norm(at.v_price)))
    if size <= NOTHING:
        return Verdict("direction", True, -1.0, "the gradient by x is 0", "floating point")
    margin = 1e-9 - length / size
    sentence = f"|v| is {length:.2g} where the gradient by x is {size:.2g}"
    return Verdict("direction", not margin > 0, margin, sentence, "floating point")


def absent(case: Case) -> Verdict:
    """The multipliers of solutions are bounded: those of a resource that a server does not have are free (K 28)."""
    exact = case.instance.exact.capacities
    free = [(i, r) for i, row in enumerate(exact) for r, c in enumerate(row) if c == 0 and i in case.instance.arcs.server]
    if not free:
        return Verdict("boundedness", True, -1.0, "every resource that has a price is used by somebody", "rational arithmetic")
    i, r = free[0]
    what = f"{case.instance.resources[r]!r} on server {case.instance.servers[i]!r}"
    sentence = f"any lambda >= 0 solves (28)-(29) for {what}: its capacity is 0 and no eligible user demands it"
    return Verdict("boundedness", False, 1.0, sentence, "rational arithmetic")


# ---- algorithms -----------------------------------------------------------------------------------------------------


def at_rest(name: str, method: str, accuracy: str = "low") -> Callable[[Case], Verdict]:
    """The method ends at an answer: its residual keeps the promise; a run that is cut off decides nothing."""
    allowed = {"low": 1e-3, "mid": 1e-6, "high": 1e-9}[accuracy]

    def check(case: Case) -> Verdict:
        own = fitted(case.parameters, case.instance)
        found = solve(case.instance, name, method, accuracy, time_limit=2.0, **own)
        margin = found.residual - allowed
        sentence = f"{method} ended {found.termination} with the residual {found.residual:.1e}"
        cut = found.termination in ("iteration_limit", "time_limit")
        return Verdict("convergence", None if cut and margin > 0 else margin <= 0, margin, sentence, "a run")

    return check


def missing(what: str) -> Callable[[Case], Verdict]:
    """The check of a claim that rests on data that are not published: it decides nothing."""
    return lambda _: Verdict("experiment", None, np.nan, f"not decided: {what}", "not examined")
