"""Claims of K in floating point: second implementations of what theorems/papers/k decides exactly, by unrelated routes.

U_i is read along moves, derivatives are difference quotients, the direction of PS-MFA is the solver's own, with its merit in y
for x and nonnegative least squares for the projection. The tests see that both agree, and that each is seen to fail.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import hypot
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.solvers.game.ps_mfa import Merit, projected
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import arcs_of_servers, solved
from fairalloc.theorems.checkers.trials import others_changed
from fairalloc.theorems.papers.k.directions import numbers
from fairalloc.theorems.papers.k.formulas import EPSILON, pairs
from fairalloc.theorems.papers.k.problem_3 import alphas

NEAR = 1e-7
STEPS = 24
"""Of a run."""

ALIKE = 1e-4
"""Relative error of a difference quotient."""


def point_of(case: Case, k: int = 0) -> Floats:
    """(A,) the case's k-th point."""
    return np.array([float(v) for v in case.points[k]])


def served(case: Case, x: Floats) -> Floats:
    """(A,) the tasks of each arc's user."""
    user = case.instance.arcs.user
    tasks = np.bincount(user, x, case.instance.N)
    if not tasks.min() > 0:
        raise NotApplicable("a user has no task")
    return tasks[user]


# ---- Problem 1: existence, Theorem 1, concavity, multipliers, uniqueness ----------------------------------------------------


def equilibrium_found(case: Case) -> Verdict:
    """An equilibrium is found."""
    found = solve(case.instance, "alpha-pf-vds", alpha=case.parameters["alpha"])
    margin = found.residual - 1e-6
    holds = True if margin <= 0 else None
    return Verdict("existence", holds, margin, f"an equilibrium with the residual {found.residual:.1e}", found.method)


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
        alpha = float(alphas(case)[instance.arcs.server[here[0]]])
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


def _risen(phi: Any, z: Any, change: Any, alpha: float) -> float:
    """U_i after shares z change by these parts minus U_i before; -inf where a user is left with nothing and alpha >= 1."""
    if change.min() <= -1 and alpha >= 1:
        return -np.inf
    with np.errstate(divide="ignore"):  # log 0 where alpha < 1
        logarithm = np.log1p(np.maximum(change, -1.0))
    if alpha == 1:
        return float(phi @ logarithm)
    return float(phi * z ** (1 - alpha) @ np.expm1((1 - alpha) * logarithm) / (1 - alpha))


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


def unique_by_two_methods(case: Case) -> Verdict:
    """Two methods find the same x_n; a difference refutes uniqueness, agreement does not prove it."""
    own = {name: case.parameters[name] for name in ("alpha", "A", "B") if name in case.parameters}
    first = solve(case.instance, "alpha-pf-vds", "continuation", "high", **own)
    second = solve(case.instance, "alpha-pf-vds", "semismooth-newton", "high", time_limit=1.0, **own)
    if not max(first.residual, second.residual) <= 1e-8:
        return Verdict("uniqueness", None, np.nan, "not decided: a method did not end", "two solves")
    off = float((np.abs(first.tasks - second.tasks) / np.maximum(first.tasks, second.tasks)).max())
    return Verdict(
        "uniqueness", off <= 1e-3, off - 1e-3, f"the tasks of two equilibria differ by {off:.1e}, relative", "two solves"
    )


# ---- 4.1 -------------------------------------------------------------------------------------------------------------------


def multipliers_in_floats(case: Case) -> Verdict:
    """K (23) to (25) at a server have multipliers, by least squares, iff no x_i is better, by a linear program."""
    return _servers_alike(case, _best)


def solved_for_nu_in_floats(case: Case) -> Verdict:
    """K (23) to (25) at a server have multipliers iff (28) and (29) have prices, which are slacks without a name."""
    return _servers_alike(case, _priced)


def _servers_alike(case: Case, other: Callable[[Case, Any, Floats, Floats], bool]) -> Verdict:
    instance, x = case.instance, point_of(case)
    gamma = instance.arcs.gamma
    worth = (served(case, x) / (instance.weights[instance.arcs.user] * gamma)) ** -float(case.parameters["alpha"]) / gamma
    full = np.abs(instance.arcs.load @ x - 1) <= 1e-12
    unlike = 0
    for here in arcs_of_servers(instance):
        part, own = instance.arcs.load.toarray()[full][:, here].T, worth[here] / worth[here].max()
        rays = np.hstack([part, -np.eye(len(here))[:, x[here] == 0]])
        left = nnls(rays, own)[1] if rays.size else np.linalg.norm(own)
        unlike += (left <= NEAR) != other(case, here, own, part)
    return Verdict("equivalence", not unlike, 1.0 if unlike else -1.0, f"{unlike} servers are not alike", "least squares")


def _best(case: Case, here: Any, worth: Floats, _: Floats) -> bool:
    found = linprog(-worth, case.instance.arcs.load.tocsr()[:, here], np.ones(case.instance.K * case.instance.R))
    return bool(-found.fun - worth @ point_of(case)[here] < NEAR * max(1.0, -found.fun))


def _priced(case: Case, here: Any, worth: Floats, part: Floats) -> bool:
    runs = point_of(case)[here] > 0
    if not part.shape[1]:
        return not worth.size
    found = linprog(np.zeros(part.shape[1]), -part[~runs], -worth[~runs] + NEAR, part[runs], worth[runs])
    return bool(found.status == 0)


# ---- 4.4 and 5.1 -------------------------------------------------------------------------------------------------------------


def bounded_by_program(case: Case) -> Verdict:
    """K 4.4: at an equilibrium for alpha = 2 a linear program finds the largest lambda_ir that (28)-(29) allow, against (43)."""
    instance = case.instance
    found = solved(instance, {"alpha": 2})
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
    for users in instance.placement.T:
        for r in range(instance.R):
            v = projected(users.astype(float), d[:, [r]] / max(d[:, r].max(), 1e-300), np.array([False]))
            worst = max(worst, float(np.abs(v[~users]).max(initial=0.0)))
    margin = worst - 1e-9
    return Verdict("feasibility", not margin > 0, margin, f"v has {worst:.3g} for a user who is not eligible", "least squares")


# ---- 4.2 and (98), 5.1, 5.2 -----------------------------------------------------------------------------------------------


def complementary_function_in_floats(case: Case) -> Verdict:
    """The same in floating point, and differences of psi are what the gradient says, near 0 as elsewhere."""
    worst = -1.0
    for a, b in ((float(a), float(b)) for a, b in pairs(case)):
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


def signs_in_floats(case: Case) -> Verdict:
    """(98) by differences of psi, in floating point."""
    worst = -1.0
    for a, b in ((float(a), float(b)) for a, b in pairs(case)):
        scale = max(abs(a), abs(b)) or 1.0
        a, b, step = a / scale, b / scale, 1e-6
        first = (_psi(a + step, b) - _psi(a - step, b)) / (2 * step)
        second = (_psi(a, b + step) - _psi(a, b - step)) / (2 * step)
        worst = max(worst, -first * second - 1e-5)
        still = max(abs(first), abs(second)) < 1e-5
        worst = max(worst, 1.0 if still and _psi(a, b) > 1e-4 else -1.0)
    return Verdict("signs", not worst > 0, worst, f"the derivatives have opposite signs, by {worst:.3g}", "floating point")


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


def assumption_2_in_arrays(case: Case) -> Verdict:
    """The same by the product of two matrices."""
    outside = 1 - case.instance.placement.astype(float).T
    outside[np.arange(case.instance.K), np.arange(case.instance.K) % case.instance.N] = 1
    least = float((outside @ np.array([rows[0] for rows in case.instance.demands])).min())
    return Verdict("outsiders", least > 0, -least, "nobody else demands some resource", "floating point")


def local_in_floats(case: Case) -> Verdict:
    """(55) at each server, epsilon = 1/10, is the same where others are changed, with all x_n as before; on arrays."""
    worst = 0.0
    for i in range(case.instance.K):
        ends = []
        for instance, point in ((case.instance, case.points[0]), others_changed(case.instance, case.points[0], i)):
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


# ---- printed formulas, (105) ------------------------------------------------------------------------------------------------


def price_by_104_in_floats(case: Case) -> Verdict:
    """The same, with g' / gamma as the difference quotient of U_i."""
    instance = case.instance
    alpha, A, B = (float(case.parameters[name]) for name in ("alpha", "A", "B"))
    user, gamma = instance.arcs.user, instance.arcs.gamma
    x = np.bincount(user, [float(v) for v in case.points[0]], instance.N)[user]
    if not x.min() > 0:
        raise NotApplicable("a user has no task")
    phi = instance.weights[user]

    def utility(tasks: Any) -> Any:
        z = tasks / (phi * gamma)
        first = A * np.log(z) if alpha == 1 else A**alpha * z ** (1 - alpha) / (1 - alpha)
        return phi * (first + B * np.log(z))

    needed = (utility(x * (1 + 1e-5)) - utility(x * (1 - 1e-5))) / (2e-5 * x)
    printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
    margin = float(np.abs(printed / needed - 1).max()) - ALIKE
    return Verdict("formula", not margin > 0, margin, f"(104) is off by {margin + ALIKE:.3g}, relative", "difference quotients")


def penalty_in_floats(printed: bool) -> Callable[[Case], Verdict]:
    """The same with quotients in floating point, of all servers at once."""

    def check(case: Case) -> Verdict:
        matrix, epsilon = case.instance.arcs.load.tocsc(), float(EPSILON)
        x = np.array([float(v) for v in case.points[0]])
        excess = matrix @ x - 1 + epsilon
        direction = -(matrix.T @ np.maximum(excess, 0)) / epsilon**2
        sizes, step = matrix.max(axis=0).toarray().ravel(), 1e-6

        def added(values: Any) -> float:
            return float((values**2 if printed else -(np.maximum(values, 0) ** 2)).sum()) / (2 * epsilon**2)

        worst = 0.0
        for a, size in enumerate(sizes):
            moved = matrix[:, [a]].toarray().ravel() * step / size
            quotient = (added(excess + moved) - added(excess - moved)) / (2 * step)
            worst = max(worst, abs(quotient - direction[a] / size))
        margin = worst - ALIKE
        return Verdict("formula", not margin > 0, margin, f"the derivatives differ by {worst:.3g}", "difference quotients")

    return check


def approximate_prices_in_floats(case: Case) -> Verdict:
    """Where these weights make a server's tasks rest, nobody has less than 1 - epsilon times (41); on arrays."""
    instance, epsilon, x = case.instance, float(case.parameters["epsilon"]), point_of(case)
    cost = instance.arcs.load.T @ np.maximum(instance.arcs.load @ x - 1 + epsilon, 0) / epsilon**2
    margins = []
    for i in range(instance.K):
        here = np.flatnonzero((instance.arcs.server == i) & (x > 0))
        phi = x[here] * cost[here]
        if len(here) and phi.min() > 0:
            margins.append(float((kept(epsilon) * phi / phi.sum() - x[here] / instance.arcs.gamma[here]).max()))
    if not margins:
        raise NotApplicable("no server rests")
    return Verdict("sharing", max(margins) <= 1e-12, max(margins), f"{max(margins):.3g} less than its part", "floating point")


def kept(epsilon: float) -> float:
    """The part of (41) that is left."""
    return 1 - epsilon


def omega_in_floats(case: Case) -> Verdict:
    """(106) is the derivative of -h, by difference quotients."""
    arcs, have = case.instance.arcs, served(case, point_of(case))
    alpha, A, B = (float(case.parameters[name]) for name in ("alpha", "A", "B"))
    phi = case.instance.weights[arcs.user]

    def h(x: Floats) -> Floats:
        return (A * phi * arcs.gamma / x) ** alpha / arcs.gamma + B * phi / x

    true = (h(have * (1 - 1e-6)) - h(have * (1 + 1e-6))) / (2e-6 * have)
    off = float(np.abs((alpha * h(have) / have + B * (1 - alpha) / have**2) / true - 1).max())
    return Verdict("formula", off <= 1e-6, off - 1e-6, f"(106) is off by {off:.3g}, relative", "difference quotients")


def rank(case: Case) -> Verdict:
    """(107) has column rank N + S, by singular values; NotApplicable where users and servers are not alike as in (104)."""
    instance, x = case.instance, point_of(case)
    arcs, have, (alpha, A, B) = instance.arcs, served(case, x), (float(case.parameters[name]) for name in ("alpha", "A", "B"))
    phi, d = instance.weights[arcs.user], arcs.demand[:, 0]
    h = (A * phi * arcs.gamma / have) ** alpha / arcs.gamma + B * phi / have
    runs = np.flatnonzero(x > 0)
    served_by = [np.flatnonzero((x > 0) & (arcs.server == i)) for i in range(instance.K)]
    if not all(map(len, served_by)) or not (d > 0).all():
        raise NotApplicable("a server runs nothing, or a user takes nothing")
    price = np.array([(h / d)[here[0]] for here in served_by])
    if instance.R > 1 or np.abs(h / d - price[arcs.server])[runs].max() > NEAR or np.abs(arcs.load @ x - 1).max() > NEAR:
        raise NotApplicable("this is not a solution with one resource, of which the users of a server pay alike")
    matrix = np.zeros((len(runs), instance.K + instance.N))
    rows = np.arange(len(runs))
    matrix[rows, arcs.server[runs]] = d[runs]
    matrix[rows, instance.K + arcs.user[runs]] = (alpha * h / have + B * (1 - alpha) / have**2)[runs]
    missing = matrix.shape[1] - int(np.linalg.matrix_rank(matrix))
    if len(matrix) < matrix.shape[1]:
        raise NotApplicable("fewer than N + S users and servers are in the equations")
    return Verdict("rank", not missing, float(missing or -1), f"{missing} columns are dependent", "singular values")


def one_equilibrium_in_floats(case: Case) -> Verdict:
    """The same by the residual of the game."""
    instance = case.instance
    points = [np.array([float(v) for v in x]) for x in case.points]
    tasks = [np.bincount(instance.arcs.user, x, instance.N) for x in points]
    if not min(t.min() for t in tasks) > 0:
        raise NotApplicable("a user has no task")
    game = Game(instance, [float(v) for v in alphas(case)[: instance.K]], 1.0, float(case.parameters.get("B", 0)))
    left = max(game.residual(x) for x in points)
    far = float((np.abs(tasks[0] - tasks[1]) / np.maximum(*tasks)).max())
    both = far > 1e-6 and left <= 1e-9
    words = f"the residuals are {left:.1e}, and the tasks differ by {far:.3g}"
    return Verdict("uniqueness", not both, far if both else -max(left, 1e-9), words, "residuals in floating point")


# ---- Problem 3 and the direction of PS-MFA -----------------------------------------------------------------------------------


class MeritPoint:
    """Tasks of the case's point and prices on its full resources: `price` times what the first user served there needs.

    With price 1 a user who alone is served by a server with one full resource has f = 0 there.
    """

    def __init__(self, case: Case) -> None:
        instance, alpha = case.instance, case.parameters["alpha"]
        self.case, self.game = case, Game(instance, alpha)
        self.merit = Merit(self.game)
        self.y = np.array([float(v) for v in case.points[0]]) / self.game.gamma
        if not self.merit.feasible(self.y):
            raise NotApplicable("a user has no task")
        loads = exact_arcs(instance).loads(case.points[0])
        self.full = np.array([load == 1 for load in loads]).reshape(instance.K, instance.R)
        g = self.merit.marginal(self.y)[0]
        self.mu = np.zeros(self.full.shape)
        for i, r in zip(*np.nonzero(self.full), strict=True):
            users = np.flatnonzero((self.game.server == i) & (self.y > 0) & (self.game.w[:, r] > 0))
            if len(users) and not self.mu[i].any():
                self.mu[i, r] = float(case.parameters.get("price", 1)) * g[users[0]] / self.game.w[users[0], r]
        self.by_y, self.by_mu = self.merit.gradient(self.y, self.mu)

    @property
    def value(self) -> float:
        """Psi."""
        return self.merit.value(self.y, self.mu)


def stationary(case: Case) -> Verdict:
    """K Theorem 6: a point is stationary iff Psi = 0; tried as |grad Psi|^2 against Psi, which both have to vanish together."""
    point = MeritPoint(case)
    size = float(np.linalg.norm(point.by_y) + np.linalg.norm(point.by_mu))
    solved_ = point.value <= 1e-15
    margin = size - 1e-6 if solved_ else 1e-9 - size
    sentence = f"the gradient is {size:.2g} where the merit is {point.value:.2g}"
    return Verdict("stationarity", not margin > 0, margin, sentence, "floating point")


def complementary(case: Case) -> Verdict:
    """K Lemma 1: Psi = 0 iff (28)-(29) hold, at points that satisfy (38)-(40)."""
    point = MeritPoint(case)
    f = point.merit.cost(point.mu) - point.merit.marginal(point.y)[0]
    solved_ = bool(np.all(f >= -1e-9) and np.all(np.minimum(point.y, np.abs(f)) <= 1e-9))
    same = solved_ == (point.value <= 1e-15)
    margin = -point.value if same else max(point.value, 1e-15)
    return Verdict("merit", same, margin, f"the merit is {point.value:.2g}", "floating point")


def rests(case: Case) -> Verdict:
    """K 5.2: an iteration (55)-(56), with a step of a thousandth, changes nothing iff (28)-(29) hold, of which (28) does."""
    point = MeritPoint(case)
    f = (point.merit.cost(point.mu) - point.merit.marginal(point.y)[0]) / (1 + point.merit.marginal(point.y)[0])
    v = np.where(point.y > 0, -f, np.maximum(-f, 0))
    moved = float(np.abs(np.maximum(point.y + v / 1000, 0) - point.y).max())
    same = (moved <= 1e-12) == (point.value <= 1e-15)
    margin = -moved if same else max(moved, 1e-15)
    return Verdict("rest", same, margin, f"tasks move by {moved:.2g} where the merit is {point.value:.2g}", "floating point")


class PsMfaDirection:
    """The same point in K's own units and the direction of PS-MFA there, in floating point; the unit of the tasks matters to psi.

    Attributes
    ----------
    full, price : rows that are used up, (K R,) prices
    by_x, by_price : (A,), (K R,) the gradient of Psi (93-94), resources in parts of capacity
    v_x, v_price : (A,), (K R,) K (46-48), for the users who are eligible; `letter` = prices of all resources move, as is printed,
        and not those of full ones alone
    """

    def __init__(self, case: Case, letter: bool = False) -> None:
        instance = case.instance
        user, server, gamma = instance.arcs.user, instance.arcs.server, instance.arcs.gamma
        alpha = np.array([float(v) for v in alphas(case)])[server]
        part, x = instance.arcs.load.toarray().T, np.array([float(v) for v in case.points[0]])
        tasks = np.bincount(user, x, instance.N)
        if not tasks.min() > 0:
            raise NotApplicable("a user has no task")
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
        self.v_price = v if letter else np.where(np.isin(np.arange(len(v)), full), v, 0.0)

    def _prices(self, case: Case, part: Floats, x: Floats, full: Any) -> Floats:
        """(K R,) the case's prices, or one on the first full resource of each server that somebody uses."""
        price, R = np.zeros(part.shape[1]), case.instance.R
        if "prices" in case.parameters:
            return np.array([float(v) for v in case.parameters["prices"]]) * case.instance.capacities.ravel()
        for row in full:
            served = np.flatnonzero((x > 0) & (part[:, row] > 0))
            if len(served) and not price[row // R * R : (row // R + 1) * R].any():
                price[row] = float(case.parameters.get("price", 1)) * self.need[served[0]] / part[served[0], row]
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
    at = PsMfaDirection(case)
    moves = np.abs(at.v_price) > 1e-6
    slopes = (at.by_price * at.v_price)[moves]
    worst = float((slopes / at.v_price[moves] ** 2).max(initial=-1.0))
    margin = worst + 1e-12 if len(slopes) else -1.0
    sentence = "a price moves although Psi does not depend on it: dPsi/dlambda = 0 and beta > 0"
    return Verdict("descent", not margin > 0, margin, sentence, "floating point")


def zero_direction(case: Case) -> Verdict:
    """K Lemma 4 under Assumption 1: the gradient by x is 0 where v is; the margin is -|v| / |gradient|."""
    at = PsMfaDirection(case)
    if not at.price[at.full].all():
        raise NotApplicable("a full resource has no price: Assumption 1 does not hold")
    return _still(at)


def stops(letter: bool) -> Callable[[Case], Verdict]:
    """K Lemma 4: the gradient by x is 0 where v is."""
    return lambda case: _still(PsMfaDirection(case, letter))


def _still(at: PsMfaDirection) -> Verdict:
    size, length = float(np.linalg.norm(at.by_x)), float(np.hypot(np.linalg.norm(at.v_x), np.linalg.norm(at.v_price)))
    if size <= NOTHING:
        return Verdict("direction", True, -1.0, "the gradient by x is 0", "floating point")
    margin = 1e-8 - length / size
    sentence = f"|v| is {length:.2g} where the gradient by x is {size:.2g}"
    return Verdict("direction", not margin > 0, margin, sentence, "floating point")


def descends(letter: bool) -> Callable[[Case], Verdict]:
    """K Lemma 3: the slope of Psi along v, in parts of |v|^2, is negative unless v = 0."""

    def check(case: Case) -> Verdict:
        at = PsMfaDirection(case, letter)
        length = float(np.linalg.norm(at.v_x) ** 2 + np.linalg.norm(at.v_price) ** 2)
        if length <= NOTHING:
            return Verdict("descent", True, -1.0, "v is 0", "floating point")
        slope = float(at.by_x @ at.v_x + at.by_price @ at.v_price) / length
        return Verdict("descent", slope < -1e-9, slope + 1e-9, f"the slope along v is {slope:.2g} |v|^2", "floating point")

    return check


def projection_descends(case: Case) -> Verdict:
    """(K 110): the slope along v_x is at most -|v_x|^2."""
    at = PsMfaDirection(case)
    over = float(at.by_x @ at.v_x + at.v_x @ at.v_x) / max(float(at.by_x @ at.by_x), NOTHING) - 1e-9
    return Verdict("descent", over <= 0, over, f"the slope along v_x is {over:.2g} |grad|^2 above -|v_x|^2", "floating point")


def stay_complementary(case: Case) -> Verdict:
    """(40) after a small step (47)-(50): a resource with room has no price."""
    at = PsMfaDirection(case, letter=True)
    with_room = np.delete(at.v_price, at.full)
    rise = float(with_room.max(initial=-1.0))
    return Verdict("feasibility", rise <= 0, rise, f"the price of a resource with room rises by {rise:.2g}", "floating point")


def factors_in_floats(case: Case) -> Verdict:
    """(116): where v_x = 0, a full resource with beta = 0 has varsigma = 0 in (115); by least squares."""
    at, instance = PsMfaDirection(case), case.instance
    for i in range(instance.K):
        here = instance.arcs.server == i
        rows = [row for row in at.full if row // instance.R == i]
        if not rows or np.abs(at.v_x[here]).max() > 1e-6:
            continue
        columns = np.array([[float(d[0][row % instance.R]) for row in rows] for d in instance.exact.demands])
        gradient = np.zeros(instance.N)
        gradient[instance.arcs.user[here]] = at.by_x[here]
        found = np.linalg.lstsq(columns, -gradient, rcond=None)[0]
        if np.any((np.abs(columns.T @ gradient) <= 1e-6) & (np.abs(found) > 1e-3)):
            return Verdict("factor", False, 1.0, "beta is 0 and varsigma is not", "floating point")
    return Verdict("factor", True, -1.0, "varsigma is 0 where beta is", "floating point")


def small_steps(case: Case) -> Verdict:
    """Some of the steps, with the direction of PS-MFA on the system itself, and the sum of all steps to come."""
    alpha, start, *rule = numbers(case)
    (first, q), x, end = map(float, rule), float(start), float(1 + start) / 2
    step = first * (end - x) / (2 * x**-alpha * (1 + 2 * alpha * x ** (-alpha - 1)))
    for _ in range(STEPS):
        at = PsMfaDirection(replace(case, points=((Fraction(x),) * case.instance.N,), parameters={"alpha": alpha, "price": 0}))
        x, step = x + step * float(at.v_x[0]), step * q
    far = x + step * q / (1 - q) * float(at.v_x[0])
    moves = first / (1 - q) <= 1 and far < end
    size = float(np.abs(at.v_x).max())
    return Verdict("termination", not moves, size if moves else -1.0, f"|v| is {size:.3g} at x = {x:.4g}", f"{STEPS} steps")


SECOND = {
    "K.L3": descends(letter=False),
    "K.L3.letter": descends(letter=True),
    "K.L4": stops(letter=False),
    "K.L4.letter": stops(letter=True),
    "K.T8": stops(letter=False),
    "K.T8.letter": stops(letter=True),
    "K.T8.steps": small_steps,
    "K.E107": rank,
    "K.E116": factors_in_floats,
    **dict.fromkeys(("K.3.4.ties", "K.3.4.ties.below", "K.3.4.ties.mixed"), one_equilibrium_in_floats),
    **dict.fromkeys(("K.L2", "K.C4", "K.4.4.totals", "K.3.4.unique"), one_equilibrium_in_floats),
    "K.3.1.existence": equilibrium_found,
    "K.3.1.concave": concave_in_floats,
    "K.E23": multipliers_in_floats,
    "K.E28": solved_for_nu_in_floats,
    "K.E36": complementary_function_in_floats,
    "K.E98": signs_in_floats,
    "K.E45": violates_in_floats,
    "K.5.2.local": local_in_floats,
    "K.5.1.assumption-2": assumption_2_in_arrays,
    "K.T1": theorem_1_by_program,
    "K.3.4.mixed.definition": theorem_1_by_program,
    "K.4.4.bounded": bounded_by_program,
    "K.L1": complementary,
    "K.T6": stationary,
    "K.E105": omega_in_floats,
    "K.5.1.eligible": projection_in_floats,
    "K.T7.bottleneck": unique_by_two_methods,
    "K.E104.equal": price_by_104_in_floats,
    "K.E110": projection_descends,
    "K.L4.priced": zero_direction,
    "K.5.2.rest": rests,
    "K.E57": approximate_prices_in_floats,
    "K.Fn8.true": penalty_in_floats(printed=False),
    "K.E111": descent_by_price,
    "K.E104": price_by_104_in_floats,
    "K.E48": stay_complementary,
    "K.Fn8": penalty_in_floats(printed=True),
}
"""Of what one exact route, or the check of a script, tries and confirms, by statement."""
