"""Lemmas 2 and 4 of K: the judges find what refutes them, a second route agrees, and a perturbed case is refused."""

from dataclasses import replace
from fractions import Fraction

import k_in_floats
import numpy as np
import pytest
from scipy.optimize import nnls
from tolerances import DIFFERENCES, RECOVERED, RESIDUAL

from fairalloc.formulations.game.game import Game
from fairalloc.models import Instance
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.solvers import solve
from fairalloc.theorems.papers.k.directions import LEMMA_4
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.standalone.arguments import ARGUMENTS

F = Fraction

STATEMENTS = all_statements()
TWO = STATEMENTS["K.L2"].printed
B = TWO.parameters["B"]


def full_resources(x):
    """The server and the resource of each row that is used up at tasks x of TWO."""
    loads = exact_arcs(TWO.instance).loads(x)
    return [divmod(row, TWO.instance.R) for row, load in enumerate(loads) if load == 1]


# ---- Lemma 2 --------------------------------------------------------------------------------------------------------


def test_both_points_are_equilibria_for_the_residual_too():
    """Rational optimality conditions against weak duality in floating point, which is another code."""
    game = Game(TWO.instance, 20, 1, float(B))
    arcs = exact_arcs(TWO.instance)
    assert {arcs.tasks(x) for x in TWO.points} == {(Fraction(2, 3),) * 2, (Fraction(3, 4),) * 2}
    for x in TWO.points:
        near = np.array([float(v) for v in x])
        assert game.residual(near) <= RESIDUAL
        assert game.residual(0.99 * near) > RECOVERED
    other = Game(TWO.instance, 20, 1, 4 * float(B))
    assert max(other.residual(np.array([float(v) for v in x])) for x in TWO.points) > RECOVERED


def test_a_point_that_is_no_equilibrium_is_refused():
    data = ARGUMENTS["K.L2"].made(TWO)
    assert ARGUMENTS["K.L2"].found(data)["first"] != ARGUMENTS["K.L2"].found(data)["second"]
    for changed in ({"B": 4 * data["B"]}, {"alpha": [2, 2]}, {"other_tasks": data["tasks"], "other_prices": data["prices"]}):
        with pytest.raises(AssertionError):
            ARGUMENTS["K.L2"].found(data | changed)


def test_methods_find_one_of_the_equilibria():
    found = solve(TWO.instance, "alpha-pf-vds", accuracy="high", alpha=20, A=1, B=float(B))
    assert found.residual <= RESIDUAL
    assert min(abs(found.tasks - v).max() for v in (2 / 3, 3 / 4)) <= RECOVERED


# ---- Lemma 4 --------------------------------------------------------------------------------------------------------


def merit(x, prices):
    """Psi (K 37) of the constructed point in floating point, from (31) and (35) alone, without (38)."""
    system, alpha = LEMMA_4.instance, LEMMA_4.parameters["alpha"]
    total, user, server = 0.0, system.arcs.user, system.arcs.server
    tasks = np.zeros(system.N, dtype=np.longdouble)
    np.add.at(tasks, user, x)
    demands = np.array([rows[0] for rows in system.demands], dtype=np.longdouble)
    for a, (n, i) in enumerate(zip(user, server, strict=True)):
        gamma = min(c / d for c, d in zip(system.capacities[i], demands[n], strict=True) if d)
        z = tasks[n] / (system.weights[n] * gamma)
        f = prices[i] @ demands[n] - z ** -alpha[i] / gamma
        total += (np.hypot(x[a], f) - x[a] - f) ** 2 / 2
    return total


def slope(function, at, step=1e-8):
    """Central differences, in extended precision."""
    result = np.zeros(at.shape)
    for k in np.ndindex(at.shape):
        e = np.zeros(at.shape, dtype=np.longdouble)
        e[k] = step
        result[k] = (function(at + e) - function(at - e)) / (2 * step)
    return result


def test_lemma_4_differences_of_psi_and_least_squares_agree_that_nothing_moves():
    system = LEMMA_4.instance
    x = np.array([float(v) for v in LEMMA_4.points[0]])
    prices = np.array([float(v) for v in LEMMA_4.parameters["prices"]]).reshape(system.K, system.R)
    by_x = slope(lambda at: merit(at, prices), x)
    by_price = slope(lambda at: merit(x, at), prices)
    demands = np.array([rows[0] for rows in system.demands], dtype=float)
    full = (system.arcs.load @ x).reshape(system.K, system.R) > 1 - 1e-12
    assert full.sum(axis=1).tolist() == [2, 2, 1]
    assert np.abs(by_x).max() > 1  # far from a solution
    for i in range(system.K):
        gradient = np.zeros(system.N)
        here = system.arcs.server == i
        gradient[system.arcs.user[here]] = by_x[here]
        rays = [sign * demands[:, r] for r in np.flatnonzero(full[i]) for sign in ((1, -1) if prices[i, r] else (1,))]
        assert nnls(np.array(rays).T, -gradient)[1] <= DIFFERENCES  # -grad is in the polar cone of (46): v_x = 0
        beta = -demands.T @ gradient
        size = np.abs(demands).max(axis=0) * max(np.abs(gradient).max(), 1)
        for r in range(system.R):
            if prices[i, r]:
                assert abs(by_price[i, r]) + abs(beta[r]) <= DIFFERENCES * size[r]
            elif i < 2:
                assert by_price[i, r] > 0  # whether it is full or has room: where beta > 0, U = 0, and v_lambda = 0
                assert beta[r] > 0 or not full[i, r]


@pytest.mark.parametrize("name", ["K.L4", "K.L4.letter", "K.T8", "K.T8.letter"])
def test_lemma_4_is_refuted_in_rationals_under_assumption_2(name):
    item = STATEMENTS[name]
    assert item.hypotheses.outsiders
    assert min(min(row) for row in LEMMA_4.instance.exact.capacities) > 0
    assert item.violated(LEMMA_4).holds is False
    assert ARGUMENTS[name].found(ARGUMENTS[name].made(LEMMA_4))["slope"] > 1
    assert k_in_floats.SECOND[name](LEMMA_4).holds is False
    inside = LEMMA_4.instance.replace(eligible=np.ones((4, 3), dtype=bool))
    assert not item.applies_to(replace(LEMMA_4, instance=inside, points=((F(0),) * len(inside.arcs),)))


def test_lemma_4_a_perturbed_point_moves_or_is_refused():
    prices = list(LEMMA_4.parameters["prices"])
    right, last = prices[20], LEMMA_4.parameters
    for wrong in (
        right + Fraction(5, 12),
        right + Fraction(1, 2),
    ):  # user 4, with x = 1, now pays f > 0: its root is 13/12, or none
        prices[20] = wrong
        changed = replace(LEMMA_4, parameters=last | {"prices": tuple(prices)})
        assert k_in_floats.stops(True)(changed).holds is True
        assert STATEMENTS["K.L4.letter"].confirm(changed).holds is True
    prices[20], prices[2] = right, Fraction(1)  # a price of a resource that is not full
    assert STATEMENTS["K.L4.letter"].confirm(replace(LEMMA_4, parameters=last | {"prices": tuple(prices)})).holds is True


# ---- Lemma 2 for g' = z^-alpha, whose equilibria are irrational: interval arithmetic -----------------------------------

POWER = Instance([[9, 12, 4], [4, 1, 12], [1, 20, 1]], [[3, 15, 3], [20, 2, 5]])
"""Three equilibria for alpha = 3, A = 1, B = 0."""

# tasks on the arcs (user by user, servers 1 and 2), and the full resources of each server
LOW = [0.2679, 0.0463, 0, 0.4012, 0.5893, 0], [(0, 0), (0, 1), (1, 2)]
MIDDLE = [0.2529, 0.0778, 0.0317, 0.3907, 0.5967, 0], [(0, 0), (0, 1), (1, 2)]
HIGH = [0.2202, 0.1357, 0.1013, 0.3714, 0.6128, 0], [(0, 0), (0, 1), (1, 1), (1, 2)]


class Equations:
    """(28)-(29) with given served arcs and full resources, in exact data: unknown tasks there, then prices, in parts of c_ir."""

    def __init__(self, instance, served, full, alpha, B):
        exact = instance.exact
        self.served, self.full, self.alpha, self.B = served, full, alpha, B
        self.user, self.server, self.arcs = instance.arcs.user.tolist(), instance.arcs.server.tolist(), range(len(instance.arcs))
        self.rows = [(i, r) for i in range(instance.K) for r in range(instance.R)]
        pairs = list(zip(self.user, self.server, strict=True))
        self.part = [{(i, r): d / exact.capacities[i][r] for r, d in enumerate(exact.demands[n][0]) if d} for n, i in pairs]
        self.unit = [exact.weights[n] / max(part.values()) for (n, _), part in zip(pairs, self.part, strict=True)]
        self.weight = [exact.weights[n] for n, _ in pairs]

    def parts(self, a, tasks, number):
        """The two terms of h at an arc."""
        one = number(self.unit[a]) / tasks[self.user[a]]
        scale = number(self.weight[a] / self.unit[a])
        return one**self.alpha * scale, one * number(self.B) * scale

    def all(self, v, number):
        """Values f of all arcs, slacks of all resources, and the tasks."""
        x, mu = dict(zip(self.served, v, strict=False)), dict(zip(self.full, v[len(self.served) :], strict=True))
        tasks = {n: sum((x[a] for a in self.served if self.user[a] == n), number(0)) for n in set(self.user)}
        f = [
            sum((number(part) * mu[row] for row, part in self.part[a].items() if row in mu), number(0))
            - sum(self.parts(a, tasks, number), number(0))
            for a in self.arcs
        ]
        used = {row: sum((number(self.part[a].get(row, 0)) * x[a] for a in x), number(0)) for row in self.rows}
        room = {row: 1 - value for row, value in used.items()}
        return f, room, tasks

    def residual(self, v, number):
        f, room, _ = self.all(v, number)
        return [f[a] for a in self.served] + [room[row] for row in self.full]

    def jacobian(self, v, number):
        _, _, tasks = self.all(v, number)
        matrix = []
        for a in self.served:
            first, second = self.parts(a, tasks, number)
            falls = (self.alpha * first + second) / tasks[self.user[a]]
            matrix.append([falls if self.user[b] == self.user[a] else number(0) for b in self.served])
            matrix[-1] += [number(self.part[a].get(row, 0)) for row in self.full]
        for row in self.full:
            matrix.append([-number(self.part[a].get(row, 0)) for a in self.served] + [number(0)] * len(self.full))
        return matrix


def floats(value):
    return float(value)


def ball(value):
    from flint import arb, fmpq

    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def isolated(instance, x, full, alpha, B=Fraction(0), radius="1e-10"):
    """The tasks of users as balls, where Krawczyk's operator proves one solution in a box, and (28)-(29) hold strictly there."""
    from flint import arb, ctx

    equations = Equations(instance, [a for a, value in enumerate(x) if value > 0], full, alpha, B)
    v = np.array([value for value in x if value > 0] + [0.0] * len(full))
    size = len(equations.served)
    prices = np.array(equations.jacobian(v, floats))[:size, size:]
    f = np.array(equations.all(v, floats)[0])[equations.served]
    v[size:] = np.linalg.lstsq(prices, -f, rcond=None)[0]
    for _ in range(30):
        v = v - np.linalg.solve(np.array(equations.jacobian(v, floats)), equations.residual(v, floats))
    inverse = np.linalg.inv(np.array(equations.jacobian(v, floats)))
    with ctx.workprec(160):
        middle, C = [arb(float(value)) for value in v], [[arb(float(value)) for value in row] for row in inverse]
        box = [value + arb(0, radius) for value in middle]
        at, J, n = equations.residual(middle, ball), equations.jacobian(box, ball), range(len(v))
        for k in n:
            image = middle[k] - sum((C[k][j] * at[j] for j in n), arb(0))
            for j in n:
                entry = arb(int(j == k)) - sum((C[k][m] * J[m][j] for m in n), arb(0))
                image += entry * (box[j] - middle[j])
            if not box[k].contains_interior(image):
                return None
        f, room, tasks = equations.all(box, ball)
        least = [*box, *(f[a] for a in equations.arcs if a not in equations.served)]
        least += [value for row, value in room.items() if row not in full]
        return tasks if all(value > 0 for value in least) else None


def test_lemma_2_fails_for_powers_too():
    """Three boxes without common tasks, in each of which there is one solution: proved in interval arithmetic."""
    found = [isolated(POWER, x, full, 3) for x, full in (LOW, MIDDLE, HIGH)]
    assert None not in found
    assert all(low[n] < middle[n] < high[n] for low, middle, high in [found] for n in range(3))


def test_intervals_agree_with_rationals_at_both_points():
    for x in TWO.points:
        tasks = isolated(TWO.instance, [float(v) for v in x], full_resources(x), 20, B)
        assert all(tasks[n].contains(ball(value)) for n, value in enumerate(exact_arcs(TWO.instance).tasks(x)))


def test_intervals_refuse_what_is_no_equilibrium():
    assert isolated(POWER, *LOW, 2) is None
    assert None in [isolated(TWO.instance, [float(v) for v in x], full_resources(x), 20, 4 * B) for x in TWO.points]
