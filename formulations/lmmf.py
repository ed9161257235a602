r"""LMMF: the lexicographically max-min fair mechanism for users with several ways to run a task (Z Def 1, III-A).

    u_n = sum over variants and servers of x                                                                 (Z 1)
    the vector u sorted upwards is lexicographically largest                                                  (Z Def 1)

In iteration t (Z III-A) a linear program gives the largest a_t such that

    u_n = a_s for n in p_s, s < t,     u_n = a_t for all others,     sum_nv x_nv d_nvr <= c_r                   (Z 4)

and p_t are the users among "all others" who can have no more. The models write >= in the place of =. With weights phi_n, which
Z does not have, u_n / phi_n stands for u_n, and every server has its own capacities.

**Z's test for p_t as printed does not end** (docs/theory/lmmf.md). `iterations` fixes a user, as Z's round 1 does, if it cannot
rise unless somebody with no more than it loses. A positive dual price shows this (complementary slackness), and one is positive.
`solve` runs the loop of solvers/lexicographic/rounds.py.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_limit, pyomo_arcs, pyomo_limit
from fairalloc.formulations.lexicographic.linear_program import ParametricRound, Round, cvxpy_round, pyomo_round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import count

PRICED = 1e-6
"""A dual price counts as positive above this part of the largest one."""


class LexicographicMaxMin(Leximin):
    """The linear program of an iteration of Z III-A."""

    def write_cvxpy(self, instance: Instance, round: Round | None = None) -> "cp.Problem":  # noqa: A002
        """Variables "x" (A,) and "g", which is a_t, constraints "capacity", "fairness" and, where users have limits, "limit"."""
        arcs, phi = instance.arcs, instance.weights

        x = cp.Variable(len(arcs), nonneg=True, name="x")
        u = arcs.owner @ x
        a = cp.Variable(nonneg=True, name="g")
        capacity = (arcs.load @ x <= 1).set_label("capacity")
        fairness = (cp.multiply(1 / phi, u) >= a).set_label("fairness")

        problem = cp.Problem(cp.Maximize(a), [capacity, fairness, *cvxpy_limit(instance, x)])
        return cvxpy_round(problem, instance, round)

    def write_pyomo(self, instance: Instance, round: Round | None = None) -> "pyo.ConcreteModel":  # noqa: A002
        """Variables `x[user, variant, server]` and `g`, expressions `share[user]`, constraints as in CVXPY, by names."""
        model, load, u = pyomo_arcs(instance)  # the used parts of capacities, and u_n
        phi = by_user(instance, instance.weights)

        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        model.share = pyo.Expression(instance.users, rule=lambda _, n: 1 / phi[n] * u[n])
        model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
        model.fairness = pyo.Constraint(instance.users, rule=lambda m, n: m.share[n] >= m.g)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)

        return pyomo_round(pyomo_limit(model, instance, u), instance, round)


def iterations(instance: Instance) -> Iterator[tuple[float, NDArray[np.intp], Floats]]:
    """Z III-A as one would write it in CVXPY: of each iteration a_t, the users p_t, and the tasks x (A,), at last the answer."""
    program, now = ParametricRound.of(instance, mechanism.write_cvxpy(instance)), Round.first(instance)
    fairness, x = program.problem.constraints[1], program.problem.var_dict["x"]
    while now.active.any():
        program.set(now)  # u_n >= a_s for n in p_s, u_n >= a_t for the active ones
        a = program.problem.solve(solver="HIGHS")
        price = np.where(now.active, fairness.dual_value, 0.0)
        p = price > PRICED * price.max()
        yield float(a), np.flatnonzero(p), x.value
        now = replace(now, active=now.active & ~p, level=np.where(p, a, now.level))


mechanism = LexicographicMaxMin(
    "lmmf",
    share=count,
    exact_share=rationals.count,
    title="lexicographic max-min fair numbers of tasks, several ways to run one",
    source="Z Def 1, III-A",
)
