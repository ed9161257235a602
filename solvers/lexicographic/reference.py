r"""An independent reference for lexicographic rules: the same rounds by SciPy's dual simplex, which no method here uses.

It is slow, so the judge (solvers/judge.py) asks for it only where an allocation's own prices prove too little.
"""

from typing import Any

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


def reference_allocation(rule: Leximin, instance: Instance, limits: Limits) -> Allocation | None:
    """The rule's allocation on its domain with prices that prove it; None where SciPy fails or the time is not enough."""
    from scipy.optimize import linprog

    (scaled, unit), tolerance = rule.canonical(instance), limits.judging.reference_tolerance

    def solve(now: Round) -> tuple[Floats, Floats]:
        lp = rule.lp(scaled, now)
        rows, sides = sp.vstack([lp.matrix, -lp.matrix], format="csr"), np.concatenate([lp.upper, -lp.lower])
        given, bounds = np.isfinite(sides), np.column_stack([np.zeros(len(lp.most)), lp.most])
        options: dict[str, Any] = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), tolerance)
        options |= {"presolve": not lp.far_apart} | ({"time_limit": limits.left} if limits.limited else {})
        answer = linprog(-lp.cost, rows[given], sides[given], bounds=bounds, method="highs-ds", options=options)
        if not answer.success:
            raise ArithmeticError(answer.message)
        dual = np.zeros(len(sides))
        dual[given] = -answer.ineqlin.marginals
        above, below = np.split(dual, 2)
        return answer.x[:-1], (above - below)[: scaled.K * scaled.R].reshape(scaled.K, scaled.R)

    try:
        x, prices = solve_rounds(rule, scaled, solve, tolerance)
    except (ArithmeticError, Stopped):
        return None
    return Allocation(instance, x * unit[instance.arcs.user], round_prices=prices)
