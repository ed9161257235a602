r"""Equilibria of the game (K 22) proved in boxes: Newton's method in ball arithmetic.

Given which arcs S are served and which resources F have a price, an equilibrium solves as many equations as there are unknowns,

    sum_r w_nir mu_ir - g_i'(z_ni) = 0   for (n, i) in S,          sum_n w_nir y_ni - 1 = 0   for (i, r) in F

in y on S and mu on F. If m - J(X)^-1 F(m) lies inside of a box X with the middle m, X has one solution, and no other (Moore). It
is an equilibrium if on all of X parts and prices are positive, others are not served, and other resources have room. Two
such boxes that have not the same x_n prove that x_n is not unique, without any tolerance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.formulations.game import Game
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.models.rationals import as_flint, exact_arcs
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.game_judges import fitted
from fairalloc.theorems.judges import bargained, certain
from fairalloc.theorems.verdict import Verdict

__all__ = ["Box", "apart", "proved_box", "spending"]

RADIUS = 1e-9
"""Of a box, in parts of each unknown: what the best methods' answers are off, and more."""

PART = 1e-6
"""A user with less of a server is not served there, a price with less than this of what its users pay is none."""

BITS = 256


@dataclass(frozen=True)
class Box:
    """Balls around the tasks x_n (N,) of exactly one equilibrium."""

    tasks: tuple[Any, ...]

    def apart(self, other: "Box") -> bool:
        """Whether some x_n is certainly not the same."""
        return any(not a.overlaps(b) for a, b in zip(self.tasks, other.tasks, strict=True))


class System:
    """The equations of one pattern, in balls."""

    def __init__(self, instance: Instance, parameters: Mapping[str, Any], y: Any, mu: Any) -> None:
        from flint import arb

        self.instance, arcs = instance, exact_arcs(instance)
        self.user, self.server = arcs.user, instance.arcs.server.tolist()
        gamma = [1 / max(part for _, part in load) for load in arcs.load]
        self.gamma = [arb(as_flint(g)) for g in gamma]
        self.unit = [arb(as_flint(g * instance.exact.weights[n])) for g, n in zip(gamma, arcs.user, strict=True)]
        self.w = [{row: arb(as_flint(part * g)) for row, part in load} for load, g in zip(arcs.load, gamma, strict=True)]
        self.alpha, self.A, self.B = (_number(parameters.get(name, usual)) for name, usual in (("alpha", 2), ("A", 1), ("B", 0)))
        self.served = [a for a, v in enumerate(y) if v > PART]
        self.priced = [row for row in range(arcs.rows) if mu[row] > 0]

    def tasks(self, v: Sequence[Any]) -> list[Any]:
        """(N,) x_n of the unknowns v."""
        from flint import arb

        result = [arb(0)] * self.instance.N
        for a, part in zip(self.served, v, strict=False):
            result[self.user[a]] += part * self.gamma[a]
        return result

    def short(self, a: int, v: Sequence[Any], tasks: Sequence[Any]) -> Any:
        """Sum_r w mu - g'(z) on an arc."""
        from flint import arb

        mu = dict(zip(self.priced, v[len(self.served) :], strict=True))
        cost = sum((w * mu[row] for row, w in self.w[a].items() if row in mu), arb(0))
        z = tasks[self.user[a]] / self.unit[a]
        return cost - self._first(z) - self.B / z

    def _first(self, z: Any) -> Any:
        return ((self.A / z).log() * self.alpha).exp()

    def room(self, row: int, v: Sequence[Any]) -> Any:
        """1 - the load of a resource."""
        from flint import arb

        return arb(1) - sum((part * self.w[a][row] for a, part in zip(self.served, v, strict=False) if row in self.w[a]), arb(0))

    def values(self, v: Sequence[Any]) -> Any:
        """The left sides."""
        from flint import arb_mat

        tasks = self.tasks(v)
        return arb_mat(
            [[e] for e in (*(self.short(a, v, tasks) for a in self.served), *(-self.room(row, v) for row in self.priced))]
        )

    def jacobian(self, v: Sequence[Any]) -> Any:
        """Of the left sides by the unknowns."""
        from flint import arb, arb_mat

        tasks, rows = self.tasks(v), []
        for a in self.served:
            z = tasks[self.user[a]] / self.unit[a]
            falls = (self.alpha * self._first(z) + self.B / z) / z / self.unit[a]  # -dg'/dx_n
            own = [falls * self.gamma[b] if self.user[b] == self.user[a] else arb(0) for b in self.served]
            rows.append([*own, *(self.w[a].get(row, arb(0)) for row in self.priced)])
        rows += [[*(self.w[a].get(row, arb(0)) for a in self.served), *[arb(0)] * len(self.priced)] for row in self.priced]
        return arb_mat(rows)

    def strict(self, v: Sequence[Any]) -> bool:
        """Whether everything that is not an equation is an inequality on all of the box."""
        tasks = self.tasks(v)
        away = [a for a in range(len(self.user)) if a not in self.served]
        free = sorted({row for w in self.w for row in w} - set(self.priced))
        return all(e > 0 for e in (*v, *(self.short(a, v, tasks) for a in away), *(self.room(row, v) for row in free)))


def _number(value: Any) -> Any:
    from flint import arb

    return arb(as_flint(Fraction(str(value))))


def proved_box(instance: Instance, parameters: Mapping[str, Any], x: Any) -> Box | None:
    """A box around tasks x (A,) with exactly one equilibrium, None where none is proved; one alpha for all servers, finite."""
    from flint import arb, ctx

    game = Game(instance, *(parameters.get(name, usual) for name, usual in (("alpha", 2), ("A", 1), ("B", 0))))
    y = game.fractions(game.shrunk(np.maximum(x, 0.0)))
    if np.any(game.tasks(y * game.gamma) <= 0):
        return None
    for kappa in game.prices(y * game.gamma):
        mu = np.where(game.parts(kappa) > PART, kappa ** game.beta[:, None], 0.0).ravel()
        with ctx.workprec(BITS):
            system = System(instance, parameters, y, mu)
            middle = _polished(system, [arb(float(v)) for v in (*y[system.served], *mu[system.priced])])
            box = [arb(v.mid(), RADIUS * float(abs(v))) for v in middle]
            if middle and _inside(system, middle, box) and system.strict(box):
                return Box(tuple(system.tasks(box)))
    return None


def _polished(system: System, v: list[Any]) -> list[Any]:
    """Newton's method at points; nothing where it fails."""
    for _ in range(8):
        try:
            step = system.jacobian(v).solve(system.values(v))
        except (ZeroDivisionError, ValueError):
            return []
        v = [(a - step[k, 0]).mid() for k, a in enumerate(v)]
        if not all(a.is_finite() and a > 0 for a in v):
            return []
    return v


def _inside(system: System, middle: Sequence[Any], box: Sequence[Any]) -> bool:
    try:
        step = system.jacobian(box).solve(system.values(middle))
    except (ZeroDivisionError, ValueError):
        return False
    return all(x.contains_interior(m - step[k, 0]) for k, (m, x) in enumerate(zip(middle, box, strict=True)))


# ---- claims -----------------------------------------------------------------------------------------------------------------

METHODS = ("continuation", "semismooth-newton", "best-response")


def apart(case: Case) -> Verdict:
    """K 3.4: no two equilibria that are proved in boxes have tasks apart; also with the servers in the opposite order.

    Where a box is not proved, nothing is decided: an equilibrium that is not isolated has none.
    """
    own = fitted(case.parameters, case.instance)
    points = [solve(case.instance, "alpha-pf-vds", method, "high", time_limit=1.0, **own).x for method in METHODS]
    boxes = [box for x in points if (box := proved_box(case.instance, own, x)) is not None]
    if not boxes:
        return Verdict("uniqueness", None, np.nan, "not decided: no equilibrium is proved in a box", "balls")
    far = max(_distance(boxes[0], box) for box in boxes)
    if any(boxes[0].apart(box) for box in boxes):
        return Verdict(
            "uniqueness", False, far, f"the tasks of two equilibria differ by {far:.3g}, relative", "Newton's method in balls"
        )
    holds = True if len(boxes) == len(points) else None
    return Verdict(
        "uniqueness",
        holds,
        far - RADIUS * 10,
        f"{len(boxes)} methods end in one box with one equilibrium",
        "Newton's method in balls",
    )


def _distance(one: Box, other: Box) -> float:
    return max(abs(float(a.mid()) / float(b.mid()) - 1) for a, b in zip(one.tasks, other.tasks, strict=True))


def spending(case: Case) -> Verdict:
    """K Theorem 7 where every server has a bottleneck resource: one x_n, by the market of which solutions are the optimum.

    With one price a server, g' falling, any solution serves n at i only where z_ni is the level l_i, and z_ni >= l_i elsewhere.
    These are the optimality conditions of max sum phi_n log x_n with the prices 1 / l_i, whose x_n is unique. Checked in
    rationals: the exact PS-DSF allocation has these levels, and the gap of that program with these prices is 0.
    """
    h, arcs = certain(case.instance, "ps-dsf"), exact_arcs(case.instance)
    instance, user, server = case.instance, case.instance.arcs.user, case.instance.arcs.server
    z = h.tasks[user] / (h.weights[user] * h.gamma)
    prices = [Fraction(0)] * (instance.K * instance.R)
    for i in sorted(set(server.tolist())):
        here = np.flatnonzero(server == i)
        common = set.intersection(*({row for row, part in arcs.load[a] if part == 1 / h.gamma[a]} for a in here))
        if not common:
            raise InstanceError("a server has no bottleneck resource")
        prices[min(common)] = 1 / min(z[here])
    unique = bargained(instance, h.x, prices)
    return Verdict(
        "uniqueness", unique, -1.0 if unique else 1.0, f"the market's gap is {'' if unique else 'not '}0", "rational arithmetic"
    )
