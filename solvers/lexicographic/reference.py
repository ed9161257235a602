r"""An independent reference for lexicographic rules: the same rounds by SciPy's dual simplex, which no method here uses.

It is slow, so the judge (solvers/judge.py) asks for it only where an allocation's own prices prove too little.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.lexicographic.rounds import solve_rounds
from fairalloc.solvers.method import Limits, Stopped

__all__ = ["reference_allocation"]


class ScipyRounds:
    """Solves a round by SciPy's `linprog`; ArithmeticError where it fails, Stopped where there is no time."""

    def __init__(self, rule: Leximin, instance: Instance, limits: Limits) -> None:
        self.rule, self.instance, self.limits = rule, instance, limits

    def solve_round(self, round: Round) -> tuple[Floats, Floats]:  # noqa: A002
        """Tasks and prices of the round."""
        from scipy.optimize import linprog

        lp = self.rule.lp(self.instance, round)
        rows = sp.vstack([lp.matrix, -lp.matrix], format="csr")
        sides = np.concatenate([lp.upper, -lp.lower])
        given = np.isfinite(sides)
        bounds = np.column_stack([np.zeros(len(lp.most)), lp.most])
        tolerance = self.limits.judging.reference_tolerance
        options = {
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "presolve": not lp.far_apart,
        }
        options |= {"time_limit": self.limits.left} if self.limits.limited else {}
        answer = linprog(-lp.cost, rows[given], sides[given], bounds=bounds, method="highs-ds", options=options)
        if not answer.success:
            raise ArithmeticError(answer.message)
        dual = np.zeros(len(sides))
        dual[given] = -answer.ineqlin.marginals
        above, below = np.split(dual, 2)
        capacity = (above - below)[: self.instance.K * self.instance.R]
        return answer.x[:-1], capacity.reshape(self.instance.K, self.instance.R)


def reference_allocation(rule: Leximin, instance: Instance, limits: Limits) -> Allocation | None:
    """The rule's allocation on its domain with prices that prove it; None where SciPy fails or the time is not enough."""
    scaled, unit = rule.canonical(instance)
    try:
        x, prices = solve_rounds(rule, scaled, ScipyRounds(rule, scaled, limits), limits.judging.reference_tolerance)
    except (ArithmeticError, Stopped):
        return None
    return Allocation(instance, x * unit[instance.arcs.user], round_prices=prices)
