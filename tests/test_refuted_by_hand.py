"""Claims that searches had not refuted, and the instances that do: made by hand, where an attempt to prove them broke down."""

from fractions import Fraction

import numpy as np
import pytest
from tolerances import ROUNDING

from fairalloc.formulations.game import Game
from fairalloc.models import Allocation, Instance
from fairalloc.models.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.claims import all_statements
from fairalloc.theorems.game_judges import Point

F, STATEMENTS = Fraction, all_statements()

CLOSED = Instance([[1, 0], [1, 1]], [[1, 0], [1, 1]], eligible=[[0, 1], [1, 1]])
"""gamma_1 counts server 1, which user 1 may not use: TSF gives user 2 half of what it gives user 1, a third of server 2."""

SWAPPED = Instance([["1/2", 1], [1, "1/3"]], [["1/2", "1/2"], [1, "1/2"]])
"""Both users gain by changing places."""

SERVED_ELSEWHERE = Instance([[1, 1], [0, 1], [1, 0]], [[1, 1], [0, 2], [2, 0]])
"""User 1 fills server 1; whichever of its resources Algorithm I takes first, nobody is left there who uses the other one, which
user 2 or 3 demands."""


@pytest.mark.parametrize(
    ("name", "instance"),
    [("P.II-B.tsf.sharing", CLOSED), ("P.Table1.ps-dsf.pareto", SWAPPED), ("P.A1.defined", SERVED_ELSEWHERE)],
)
def test_the_instance_violates_the_claim(name, instance):
    assert STATEMENTS[name].violated(Case(instance)) is not None
    first = Instance(instance.exact.demands[:2], [[1, 1]])
    assert STATEMENTS[name].violated(Case(first)) is None


# ---- K 3.4: x_n is not unique for B > 0, and so the solutions are not connected (K Lemma 2, Corollary 4) ------------------

ALPHA, A, B = 3, 1, F(1, 10)

SEVERAL = Instance(
    [
        ["49/648", "49/1080", "1465/5832", 1, 0, 0],
        ["5909/40960", "91/5120", "13/5120", 0, 1, 0],
        ["3759/40960", "1253/40960", "3759/40960", 0, 0, 1],
    ],
    [
        ["220865/165888", "367787/1105920", "36625/1458", 3, "35/4", "15/2"],
        ["29545/2048", "77903/221184", "43780571/29859840", 5, 2, "15/2"],
    ],
    weights=["4/3", "3/4", "5/4"],
)
"""Made from the equilibrium (6, 6, 10): demands are such that prices of 1, for resources 1 and 2 of server 1 and for 2 and 3 of
server 2, are g' / gamma there. Resources 4 to 6 only say what a user can run alone. In the two directions that keep
full what is full, g' changes with a negative determinant, so there must be others."""

EQUILIBRIA = {
    (6.0, 6.0, 10.0): [2, 4, 5, 1, 5, 5],
    (5.66749204, 6.21112064, 9.8535562): [
        0.8140514087071995,
        4.853440627686286,
        4.211120636119543,
        2.0,
        7.217267278328807,
        2.6362889248157266,
    ],
    (6.28968987, 5.53515192, 9.79192259): [
        2.7309238582264808,
        3.5587660160905843,
        5.535151923836472,
        0.0,
        3.5565066631663056,
        6.2354159314427235,
    ],
}


@pytest.mark.parametrize("tasks", EQUILIBRIA)
def test_several_allocations_are_equilibria_for_positive_b(tasks):
    x = np.array(EQUILIBRIA[tasks], dtype=float)
    allocation = Allocation(SEVERAL, x)
    assert allocation.tasks == pytest.approx(tasks, rel=1e-8)
    assert Game(SEVERAL, ALPHA, A, float(B)).residual(allocation) <= ROUNDING
    assert Game(SEVERAL, ALPHA, A, float(B)).residual(Allocation(SEVERAL, x * [0.99, 1, 1, 1, 1, 1])) > 1e-4


def test_one_of_them_is_one_in_rationals():
    arcs, x = exact_arcs(SEVERAL), [F(v) for v in EQUILIBRIA[6.0, 6.0, 10.0]]
    tasks, loads = arcs.tasks(x), arcs.loads(x)
    priced = {0: (0, 1), 1: (1, 2)}
    assert all(loads[6 * i + r] == 1 for i, rows in priced.items() for r in rows)
    assert max(loads) == 1
    for n, i, load in zip(arcs.user, SEVERAL.arcs.server.tolist(), arcs.load, strict=True):
        gamma = 1 / max(part for _, part in load)
        z = tasks[n] / (SEVERAL.exact.weights[n] * gamma)
        assert sum(SEVERAL.exact.demands[n][0][r] for r in priced[i]) == ((A / z) ** ALPHA + B / z) / gamma


def test_two_methods_find_different_ones():
    case = Case(SEVERAL, parameters={"alpha": ALPHA, "A": A, "B": float(B)})
    assert STATEMENTS["K.3.4.unique"].violated(case) is not None


# ---- K Lemma 3: v is not 0, and Psi does not fall along it ------------------------------------------------------------------

X = [F(623671163769, 800000000000)] * 2 + [F(99381, 200000), *[F(51817, 100000)] * 2, F(99381, 200000)]
STUCK = Instance(
    [["8331/250000", "8331/250000", 0, 0, 1], [1, "472031/500000", 1, 0, 0], ["472031/500000", 1, 0, 1, 0]],
    [
        ["202413725773359539/200000000000000000", 2, 2, "2/3", 1],
        [2, "202413725773359539/200000000000000000", "2/3", 2, 1],
    ],
    weights=["150969/250000", 1, 1],
)
"""Two servers, mirror images of each other. At each, of users 2 and 3 one has less and one more than the price of the full
resource asks for, so that dPsi/dlambda = 0; the gradient by x is a multiple of that resource's demands, so v_x = 0; and by
(47) the price moves with beta > 0. To rounding: the equations have solutions nearby that are not rational."""


def test_v_is_no_descent_direction():
    case = Case(STUCK, points=(tuple(X),), parameters={"alpha": 3, "price": F(1, 2)})
    assert STATEMENTS["K.L3"].violated(case) is not None
    point = Point(case)
    vy, vmu = point.directions()
    assert np.abs(vy).max() <= 1e-6 * np.abs(vmu).max()
    assert vmu.max() > 0.05
    assert np.abs(point.by_mu[point.full]).max() <= ROUNDING
    assert np.abs(point.by_y).max() > 0.04


def test_elsewhere_it_is_one():
    x = tuple(v * F(99, 100) if a == 0 else v for a, v in enumerate(X))
    case = Case(STUCK, points=(x,), parameters={"alpha": 3, "price": F(1, 2)})
    assert STATEMENTS["K.L3"].admits(case)
    assert STATEMENTS["K.L3"].violated(case) is None
