r"""LMMF: the lexicographically max-min fair mechanism for users with several ways to run a task (Z Def 1, III-A).

    u_n = sum over variants and servers of x                                                                 (Z 1)
    the vector u sorted upwards is lexicographically largest                                                  (Z Def 1)

In iteration t (Z III-A) a linear program gives the largest a_t such that

    u_n = a_s for n in p_s, s < t,     u_n = a_t for all others,     sum_nv x_nv d_nvr <= c_r                   (Z 4)

and p_t are the users among "all others" who can have no more. The models, those of lexicographic/rule.py, write >= for =. With
weights phi_n, which Z does not have, u_n / phi_n stands for u_n, and every server has its own capacities.

**Z's test for p_t as printed does not end.** For t >= 2 it asks whether u_n can be increased "without decreasing the utility of
users in p_i for i < t", which forbids a decrease of users of earlier rounds only. If two users share what is left, each can be
increased by decreasing the other, and p_t is empty for ever. `iterations` fixes a user, as Z's round 1 does, if it
cannot rise unless somebody with no more than it loses. A row with a positive dual price shows this: its user has exactly a_t in
every optimal answer (complementary slackness), and one price is positive. solvers/lexicographic/rounds.py has the loop that
`solve` runs, which proves the same by the bound (*) of lexicographic/weak_duality.py.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import ParametricRound, Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import count

PRICED = 1e-6
"""A dual price counts as positive above this part of the largest one."""


def iterations(instance: Instance, solver: str = "HIGHS") -> Iterator[tuple[float, NDArray[np.intp], Floats]]:
    """Z III-A as one would write it in CVXPY: of each iteration a_t, the users p_t, and the tasks x (A,), at last the answer.

    `solver` is CVXPY's name of one that gives dual prices.
    """
    program, now = ParametricRound.of(instance, mechanism.write_cvxpy(instance)), Round.first(instance)
    fairness, x = program.problem.constraints[1], program.problem.var_dict["x"]
    while now.active.any():
        program.set(now)  # u_n >= a_s for n in p_s, u_n >= a_t for the active ones
        a = program.problem.solve(solver=solver)
        price = np.where(now.active, fairness.dual_value, 0.0)
        p = price > PRICED * price.max()
        yield float(a), np.flatnonzero(p), x.value
        now = replace(now, active=now.active & ~p, level=np.where(p, a, now.level))


mechanism = Leximin(
    "lmmf",
    share=count,
    exact_share=rationals.count,
    title="lexicographic max-min fair numbers of tasks, several ways to run one",
    source="Z Def 1, III-A",
)
