"""Small linear programs in floating point or in rationals: max cost z  s.t.  A z <= sides, z >= 0, with an optimum.

HiGHS solves it; in rationals the solution of its last basis, or else of the slacks, is computed and corrected by pivoting.
"""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotInstalled, fault
from fairalloc.models.exact.rationals import as_fraction, exact_arcs
from fairalloc.solvers.exact.simplex import RationalProgram, optimal_basic_solution
from fairalloc.solvers.method import Limits, Stopped

DECIDED_BY = {False: "LP, HiGHS", True: "LP, basis computed in rationals"}
"""The `method` of a verdict that rests on an optimum in floating point (False) or in rationals (True)."""

LARGE = 1000
"""From so many columns on HiGHS's interior-point method, with crossover, is two to five times as fast as its simplex method."""


class Optimum(NamedTuple):
    """The largest value, and a point z (columns,) at which it is attained."""

    value: Any
    z: Any


def maximum(cost: Any, matrix: Any, sides: Any, exact: bool) -> Optimum | None:
    """The maximum of cost z  s.t.  matrix z <= sides, z >= 0; None where HiGHS or the correction of its basis found none.

    Arrays of (columns,), (rows, columns) and (rows,) hold Fractions where `exact`, else floats; a matrix of floats may be sparse.
    """
    try:  # now, and not with this module: a broken one must not take the rest with it
        import highspy  # noqa: F401
    except Exception as error:  # whatever its import raises
        raise NotInstalled(f"a linear program needs highspy, which cannot be imported: {fault(error)}") from None
    from fairalloc.solvers.backends.highs_session import basic_columns, solved_lp

    floats = sp.csc_array(matrix, dtype=float)
    most, least = np.full(floats.shape[1], np.inf), np.full(floats.shape[0], -np.inf)
    highs = None
    with suppress(Stopped):  # HiGHS refuses large coefficients
        large = {"solver": "ipm"} if floats.shape[1] > LARGE else {}
        highs = solved_lp(LP(np.asarray(cost, dtype=float), floats, least, np.asarray(sides, dtype=float), most), **large)
    if exact:
        return _exactly(cost, matrix, sides, [] if highs is None else basic_columns(highs))
    if highs is None or highs.getModelStatus().name != "kOptimal":
        return None
    z = np.array(highs.getSolution().col_value)
    return Optimum(float(np.dot(cost, z)), z)


def maximum_over_optima(cost: Sequence[Fraction], item: Mechanism, answer: Allocation) -> Optimum | None:
    """The maximum of cost x, x (A,), over all optima of the linear program of `item`, a MaxMin or Utilitarian, in rationals.

    The answer is one of these optima, with exact tasks.
    """
    instance, arcs, tasks = answer.instance, exact_arcs(answer.instance), answer.tasks_exact
    assert tasks is not None
    owner = [[Fraction(n == m) for m in arcs.user] for n in range(instance.N)]
    rows = [(load, Fraction(1)) for load in arcs.matrix()]
    rows += [(owner[n], limit) for n, limit in enumerate(arcs.limits) if limit is not None]
    rows += [([-v for v in owner[n]], -floor) for n, floor in enumerate(instance.exact.min_tasks) if floor]
    assert isinstance(item, Leximin | Utilitarian)
    rate = item.exact_rate(instance) if isinstance(item, Leximin) else item.exact_worth(instance)
    worth = [r * u for r, u in zip(rate, tasks, strict=True)]
    if isinstance(item, Leximin):
        rows += [([-rate[n] * v for v in own], -min(worth)) for n, own in enumerate(owner)]
    else:
        rows.append(([-rate[n] for n in arcs.user], -sum(worth, Fraction(0))))
    matrix, sides = (np.array(part, dtype=object) for part in zip(*rows, strict=True))
    return maximum(np.array(cost, dtype=object), matrix, sides, True)


def _exactly(cost: Any, matrix: Any, sides: Any, basic: Sequence[int]) -> Optimum | None:
    columns = [{i: v for i, v in enumerate(column) if v} for column in matrix.T.tolist()]
    program = RationalProgram.of_rows(cost, columns, sides)
    for start in ([basic] if len(basic) == len(sides) else []) + [program.slacks]:  # HiGHS's may be singular in rationals
        with suppress(Stopped):
            solution, _ = optimal_basic_solution(program, start, Limits())
            z = np.array([as_fraction(solution.values.get(k, 0)) for k in range(len(columns))], dtype=object)
            return Optimum(np.dot(cost, z), z)
    return None
