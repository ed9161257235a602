"""K Problem 3 and the direction of PS-MFA at points made of a case, in floating point: what tries the claims of problem_3.py.

The tasks are those of the case's point; prices are set on full resources by the parameter `price` (`price_factor`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.ps_mfa import Merit, projected
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k.problem_3 import alphas, price_factor


class MeritPoint:
    """Tasks of the case's point and prices on its full resources: `price` price_factor what the first user served there needs.

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
                self.mu[i, r] = float(price_factor(case, i)) * g[users[0]] / self.game.w[users[0], r]
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
                price[row] = float(price_factor(case, int(row) // R)) * self.need[served[0]] / part[served[0], row]
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
