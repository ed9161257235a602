r"""The rational answer of ps-dsf and ps-dsf-tdm next to one in floating point (P Theorem 1).

1. With a tolerance, read the pattern of the floating-point answer: which arcs have tasks, which resources of which servers are
   full, and for every full resource which users are at its level, the largest z_mi of those it serves.
2. Solve the linear equations of the pattern in rationals. Unknowns that they leave free keep the value of the floating-point
   answer, as the simplest fraction near by.
3. Check Theorem 1 of P exactly (`levels`). Where it fails, repeat from 1 with the next tolerance.

The unknowns are x on the arcs with tasks and the levels l_ir of full resources:

    sum_m x_mi d_mr = c_ir          for full (i, r),          sum_j x_nj = phi_n gamma_ni l_ir      for n at the level of (i, r)
    sum_j x_nj = M_n                for users at their limits, who need no level

They may have many solutions: x on arcs is not unique in general, and x_n for ps-dsf not always.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.rationals import ExactArcs, Rationals, as_fraction, exact_arcs
from fairalloc.solvers.exact.simplex import SimplexOptions

__all__ = ["ExactOptions", "exact_levels", "levels", "unit"]


@dataclass(frozen=True)
class ExactOptions(SimplexOptions):
    """Of the pattern and its equations.

    Attributes
    ----------
    tolerances : relative tolerances for full, served and equal; the smallest one whose pattern passes step 3 is taken
    largest_denominator : of what the equations leave free
    """

    tolerances: tuple[float, ...] = (1e-9, 1e-7, 1e-5, 1e-4)
    largest_denominator: int = 10**6


def unit(instance: Instance, arcs: ExactArcs) -> Rationals:
    """(A,) phi_n gamma_ni in rationals, the tasks at which user n has the share 1 at server i."""
    weights = instance.exact.weights
    return tuple(weights[n] / max(part for _, part in load) for n, load in zip(arcs.user, arcs.load, strict=True))


def levels(instance: Instance, x: Sequence[Fraction]) -> Rationals | None:
    """(K R,) kappa = 1 / level for the tasks x (A,), 0 where a resource is not full; None where x is not PS-DSF.

    A full resource has the largest share of those it serves as its level, and every arc of a user below its limit must reach one
    level of what it demands.
    """
    arcs = exact_arcs(instance)
    tasks, loads, units = arcs.tasks(x), arcs.loads(x), unit(instance, arcs)
    if any(value < 0 for value in x) or any(load > 1 for load in loads) or any(u == 0 for u in tasks):
        return None
    if any(limit is not None and u > limit for u, limit in zip(tasks, arcs.limits, strict=True)):
        return None
    shares = [tasks[n] / one for n, one in zip(arcs.user, units, strict=True)]
    largest = [Fraction(0)] * arcs.rows
    for value, share, load in zip(x, shares, arcs.load, strict=True):
        for row, _ in load if value else ():
            largest[row] = max(largest[row], share)
    full = [load == 1 for load in loads]
    wanting = [u != limit for u, limit in zip(tasks, arcs.limits, strict=True)]
    reached = (
        any(full[row] and share >= largest[row] for row, _ in load)
        for n, share, load in zip(arcs.user, shares, arcs.load, strict=True)
        if wanting[n]
    )
    return tuple(1 / z if here else Fraction(0) for z, here in zip(largest, full, strict=True)) if all(reached) else None


def exact_levels(
    instance: Instance,
    x: Floats,
    options: ExactOptions = ExactOptions(),
) -> Rationals | None:
    """Exact PS-DSF tasks with the pattern of tasks in floating point.

    Parameters
    ----------
    instance : the domain
    x : (A,) tasks in floating point
    options : tolerances with which the pattern is read, and the largest denominator of what stays free

    Returns
    -------
    (A,) tasks as rationals, or None where no pattern read from x is one
    """
    arcs = exact_arcs(instance)
    units = unit(instance, arcs)
    for tolerance in options.tolerances:
        found = _solved(arcs, units, _read(instance, x, tolerance), x, options.largest_denominator)  # 1, 2
        if found is not None and levels(instance, found) is not None:  # 3
            return found
    return None


@dataclass(frozen=True)
class Pattern:
    """Arcs that are served, rows (i, r) that are full, pairs (arc, row) of arcs at the level of a row, users at their limits."""

    served: tuple[int, ...]
    full: tuple[int, ...]
    at: tuple[tuple[int, int], ...]
    held: tuple[int, ...]


def _read(instance: Instance, x: Floats, tolerance: float) -> Pattern:
    arcs = instance.arcs
    tasks = np.bincount(arcs.user, x, instance.N)
    z = tasks[arcs.user] / (instance.weights[arcs.user] * arcs.gamma)
    served = x > tolerance * arcs.gamma
    full = arcs.load @ np.where(served, x, 0.0) >= 1 - max(10.0, float(len(x))) * tolerance
    load = arcs.load.tocoo()
    ours = served[load.col] & full[load.row]
    row, col = load.row[ours], load.col[ours]
    level = np.zeros(len(full))
    np.maximum.at(level, row, z[col])
    held = tasks >= instance.max_tasks * (1 - tolerance)
    near = (z[col] >= level[row] * (1 - tolerance)) & ~held[arcs.user[col]]
    rows = np.flatnonzero(full & (level > 0))
    pairs = sorted(zip(col[near].tolist(), row[near].tolist(), strict=True))
    return Pattern(
        tuple(np.flatnonzero(served).tolist()), tuple(rows.tolist()), tuple(pairs), tuple(np.flatnonzero(held).tolist())
    )


def _solved(arcs: ExactArcs, units: Rationals, pattern: Pattern, x: Floats, largest: int) -> Rationals | None:
    """(A,) the tasks that solve the equations of a pattern and are next to x where they are free; None where there are none."""
    from flint import fmpq, fmpq_mat

    column = {row: k for k, row in enumerate(pattern.full)}  # levels first: what is free should be tasks
    first = len(column)
    place = {a: first + k for k, a in enumerate(pattern.served)}
    width = first + len(place)
    of: dict[int, list[int]] = {}
    for a in pattern.served:
        of.setdefault(arcs.user[a], []).append(a)
    equations: list[dict[int, Any]] = [{width: fmpq(1)} for _ in pattern.full]
    for a in pattern.served:
        for row, part in arcs.load[a]:
            if row in column:
                equations[column[row]][place[a]] = fmpq(part.numerator, part.denominator)
    for a, row in pattern.at:
        size = units[a]
        mine = {place[b]: fmpq(1) for b in of[arcs.user[a]]}
        equations.append({**mine, column[row]: fmpq(-size.numerator, size.denominator)})
    for n in pattern.held:
        limit = arcs.limits[n]
        assert limit is not None
        equations.append({place[b]: fmpq(1) for b in of.get(n, [])} | {width: fmpq(limit.numerator, limit.denominator)})
    entries = [equation.get(k, 0) for equation in equations for k in range(width + 1)]
    reduced, rank = fmpq_mat(len(equations), width + 1, entries).rref()
    value = [Fraction(0)] * first + [_simple(float(x[a]), largest) for a in pattern.served]
    pivots = [next(k for k in range(width + 1) if reduced[i, k]) for i in range(rank)]
    if width in pivots:  # 0 = 1
        return None
    free = [k for k in range(width) if k not in set(pivots)]
    for i, k in enumerate(pivots):
        value[k] = as_fraction(reduced[i, width]) - sum(
            (as_fraction(reduced[i, j]) * value[j] for j in free if reduced[i, j]), Fraction(0)
        )
    tasks = [Fraction(0)] * len(arcs.user)
    for a, k in place.items():
        tasks[a] = value[k]
    return tuple(tasks)


def _simple(value: float, largest: int) -> Fraction:
    """A fraction with few digits within a millionth of a value, relative."""
    scale = Fraction(10) ** int(np.floor(np.log10(value)))
    return Fraction(value / float(scale)).limit_denominator(largest) * scale
