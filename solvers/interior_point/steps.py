r"""How a step of program.py is put together from its predictor and its correctors, and how far it can go.

A corrector is what the Newton system answers where a part of the products is to change; both are added to the step in parts.

1. `combined`: the part of a corrector with which the step to the boundary is longest, primal and dual each (Colombo and Gondzio
   2008).
2. `lengthened`, as long as the step is short (Gondzio 1996): look at the products after a step that is longer than the boundary
   allows. Those below mu / 10 are to become mu / 10, those above 10 mu are to become 10 mu, but by 10 mu less at most; the others
   are to stay. Add the corrector for that as in 1, and repeat while the step becomes longer.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import PrimalDual

PARTS = np.array([1.0, 0.75, 0.5, 0.25, 0.0])
"""The parts of a correction that are tried, the preferred ones first (Colombo and Gondzio 2008)."""

LONG, REACH, BEYOND = 0.9, 1.5, 0.2
"""Shorter steps get correctors, which look at the products after a step so many times as long, and by BEYOND of a whole one."""

GAIN, FEW = 0.02, 500
"""How much longer a corrector makes the two steps together, at least, else it is the last; numbers of which none is left out."""

Pairs: TypeAlias = slice | NDArray[np.intp]
"""The primal and dual numbers that are both to stay positive."""


def compact(mask: NDArray[np.bool_]) -> Pairs:
    """The indices of a mask; a slice, whose use copies nothing, where they follow each other."""
    where = np.flatnonzero(mask)
    together = len(where) > 0 and where[-1] - where[0] + 1 == len(where)
    return slice(where[0], where[-1] + 1) if together else where


def lengths(pairs: Pairs, now: PrimalDual, step: PrimalDual, part: float = 1.0) -> tuple[float, float]:
    """How far to go, primal and dual: at most the whole step, and `part` of the way to the boundary."""

    def length(values: Floats, change: Floats) -> float:
        fastest = -float((change[pairs] / values[pairs]).min())
        return min(1.0, part / fastest) if fastest > 0 else 1.0

    return length(now.primal, step.primal), length(now.dual, step.dual)


def combined(pairs: Pairs, now: PrimalDual, step: PrimalDual, correction: PrimalDual) -> tuple[PrimalDual, float]:
    """The step and a part of the correction (1.), and the sum of its lengths, primal and dual."""

    def longest(values: Floats, first: Floats, second: Floats) -> tuple[float, float]:
        values, first, second = values[pairs], first[pairs], second[pairs]
        without, more = first / values, second / values
        if len(more) > FEW:
            near = np.minimum(without, without + more) < -0.1  # the others bound no step much shorter than the whole one
            without, more = without[near], more[near]
        fastest = -(without + PARTS[:, None] * more).min(axis=1, initial=-1.0)
        best = int(fastest.argmin())
        return float(PARTS[best]), 1.0 / float(fastest[best])

    primal, ahead = longest(now.primal, step.primal, correction.primal)
    dual, dual_ahead = longest(now.dual, step.dual, correction.dual)
    return step.after(correction, primal, dual), ahead + dual_ahead


def lengthened(
    pairs: Pairs,
    now: PrimalDual,
    step: PrimalDual,
    outlying: Callable[[PrimalDual], PrimalDual],
    most: int,
) -> PrimalDual:
    """The step with at most so many correctors added (2.), each `outlying` of a point that need not be positive."""
    for _ in range(most):
        ahead = lengths(pairs, now, step)
        if min(ahead) > LONG:
            break
        farther = now.after(step, *(min(1.0, REACH * length + BEYOND) for length in ahead))
        longer, length = combined(pairs, now, step, outlying(farther))
        if not length >= sum(ahead) + GAIN:
            break
        step = longer
    return step
