"""Section 5.4 at points of a trajectory: (5) to (13), remarks, the matrix of (13); as printed, whether correct or not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import as_flint
from fairalloc.models.numbers import Floats
from fairalloc.solvers.njc.ode import TrajectoryEquations
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Routes
from fairalloc.theorems.papers.d.barrier import TrajectoryPoint, along, barrier_value, point
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    brackets,
    data,
    loads,
    point_of_case,
)


def at_points(formula: Callable[[TrajectoryPoint], tuple[Any, Any, str]]) -> Routes:
    """A formula at a point of a trajectory: (what it says, what power series say, words), in doubles and in rationals."""

    def tried(allowed: float, case: Case) -> Verdict:
        said, true, words = formula(point(case))
        far = max((abs(a - b) for a, b in zip(said, true, strict=True)), default=ZERO)
        how = "power series in rationals" if not allowed else "the same with a tolerance"
        return Verdict("njc", not far > allowed, float(far) - allowed, words, how)

    return Routes(partial(tried, TOLERANCE), partial(tried, 0.0))


def gradient(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(6) is the gradient of (5)."""
    units = [[ONE if k == i else ZERO for k in range(len(at.x))] for i in range(len(at.x))]
    return [sum(row) for row in at.b], [sum(along(at, v)[0]) for v in units], f"(6) at x = {brackets(at.x)}"


def equation_8(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(8) follows from (7)."""
    load = [1 - s for s in at.s]
    said = [
        sum((x * r - w * e) / s for r, w, s in zip(row, load, at.s, strict=True))
        for x, row, e in zip(at.x, at.r, at.e, strict=True)
    ]
    return said, [ZERO] * len(said), f"(8) at x = {brackets(at.x)}"


def printed_11(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(11) differentiated as printed: each sum_k x'_k r_kj / s_j is 1."""
    v = at.velocity()
    rates = along(at, v)[0]
    return (
        [rates[0]],
        [ONE],
        f"at x = {brackets(at.x)} on the trajectory of e = {brackets(at.e)} the left side for resource 1 is {rates[0]}",
    )


def summed_11(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(11) differentiated: the sum over j of all these is 1."""
    return [sum(along(at, at.velocity())[0])], [ONE], f"(11) at x = {brackets(at.x)}"


def equation_13(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(13) with both sums over j: the derivative of x_i nu_i along dx/dt is dc/dt e_i."""
    v = at.velocity()
    b = at.b
    said = [
        sum(q for q in row) * w + x * sum(q * sum(b[k][j] * v[k] for k in range(len(v))) for j, q in enumerate(row))
        for x, row, w in zip(at.x, b, v, strict=True)
    ]
    true = along(at, v)[1]
    rate = sum(true)
    both = [*said, *true]
    return both, [*true, *(rate * e for e in at.e)], f"(13) at x = {brackets(at.x)}"


def symmetric(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """The matrix in the compact form of (13) is symmetric."""
    units = [[ONE if k == i else ZERO for k in range(len(at.x))] for i in range(len(at.x))]
    columns = [along(at, v)[1] for v in units]
    pairs = [(columns[i][k], columns[k][i]) for i in range(len(units)) for k in range(i)]
    entries = ", ".join(f"{a} and {b}" for a, b in pairs if a != b)
    return [a for a, _ in pairs], [b for _, b in pairs], f"at x = {brackets(at.x)} opposite entries are {entries}"


def unique_velocity(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(13) has one solution, and scaling by a positive number makes f grow at the rate 1."""
    from flint import fmpq_mat

    size = len(at.x)
    matrix = fmpq_mat(size, size, [as_flint(v) for row in at.matrix for v in row])
    regular = matrix.det() != 0
    rising = regular and sum(v * sum(row) for v, row in zip(at.velocity(), at.b, strict=True)) == 1
    forward = rising and sum(along(at, at.velocity())[1]) > 0
    return [ONE if forward else ZERO], [ONE], f"at x = {brackets(at.x)} the matrix of (13) has the determinant {matrix.det()}"


def gradient_not_zero(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """The gradient is not 0, so that level sets are hypersurfaces with one normal each (D Remark 3, Definition 2)."""
    return [ONE if all(sum(row) > 0 for row in at.b) else ZERO], [ONE], f"the gradient of f at x = {brackets(at.x)}"


def barrier_signs(case: Case) -> Verdict:
    """F is positive inside of D and infinite on its boundary (D Remark 1): where no term is infinite, f is finite."""
    d, x = data(case), point_of_case(case)
    edge = min(x) == 0 or max(x) == 1 or max(loads(d, x)) == 1
    wrong = edge and max(x) < 1 and max(loads(d, x)) < 1
    words = f"x = {brackets(x)} is on the boundary of D, and f(x) is finite"
    return Verdict("njc", not wrong, 1.0 if wrong else -1.0, words, "rational arithmetic")


def barrier_grows(case: Case) -> Verdict:
    """The same by values of f: positive at an inner point; it diverges on the way to a point of the boundary.

    From 2^-20 to 2^-40 of the way, a term that diverges grows by 20 log 2, others hardly.
    """
    d, x = data(case), np.array([float(v) for v in point_of_case(case)])
    inner = np.full(len(x), 0.5 / max(1.0, float((np.ones(len(x)) @ d.matrix()).max())))
    edge = min(x.min(), 1 - x.max(), 1 - (x @ d.matrix()).max()) <= TOLERANCE
    early, late = (barrier_value(d, x + 0.5**k * (inner - x)) for k in (20, 40))
    margin = 10.0 - (late - early) if edge else -barrier_value(d, x)
    return Verdict("njc", not margin > 0, margin, f"at the boundary f grows by {late - early:.3g}", "floating point")


def starts_at_zero(case: Case, exact: bool) -> Verdict:
    """f(x) = 0 only at x = 0 (D Remark 4)."""
    d, x = data(case), point_of_case(case)
    if max(x) == 1 or max(loads(d, x)) == 1:
        raise NotApplicable("f is infinite there")
    zero = max(loads(d, x)) == 0 and max(x) == 0 if exact else barrier_value(d, np.array([float(v) for v in x])) == 0
    same = zero == (max(x) == 0)
    return Verdict(
        "njc", same, -1.0 if same else 1.0, f"f is 0 at x = {brackets(x)}", "rational arithmetic" if exact else "floating point"
    )


def both_kinds(check: Callable[[Case, bool], Verdict]) -> Routes:
    """A check in floating point and in rationals."""
    return Routes(lambda case: check(case, False), lambda case: check(case, True))


def fulfils_12(d: Requests, path: TrajectoryEquations, x: Floats) -> float:
    """The largest relative error of (12) at x."""
    s = path.slack(x)
    left = x * ((path.r * (path.w / s)[: d.R]).sum(axis=1) + (path.w / s)[d.R :])
    return float(np.abs(left / path.scale(x) / path.e - 1).max())
