"""What the iteration of program.py is about: its options, its points, and what its equations lack there."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fairalloc.models.arguments import Tolerance, Whole
from fairalloc.models.numbers import Floats
from fairalloc.solvers.options import AlgorithmOptions

ENOUGH = 1e-9
"""The error up to which the answer of a round is used."""


@dataclass(frozen=True)
class InteriorPointOptions(AlgorithmOptions):
    """Of the iteration.

    Attributes
    ----------
    target : the least relative error at which it stops; a program of one round stops where the accuracy is met. What floating
        point can reach, because a user whose price is a ten-thousandth of the largest is known to be stuck only to ten thousand
        times the gap
    max_iterations : Newton systems for one round
    max_rows : rows up to which a dense system is formed, of servers times resources or of users; where users have few arcs it may
        have twice as many of the former
    max_resources : up to which blocks of resources times resources are, where arcs use many of them
    """

    target: Tolerance = 1e-13
    max_iterations: Whole = 200
    max_rows: Whole = 6000
    max_resources: Whole = 64


class Residuals(NamedTuple):
    """What the equations of rows, users, limits, arcs and g lack."""

    rows: Floats
    users: Floats
    limits: Floats
    arcs: Floats
    g: Any


class PrimalDual(NamedTuple):
    """(x, s, t, r), (d, p, y, z) and g, which is 0 where no user is raised; or a step between such points.

    Of a stack (batch.py) all have one more axis, and g is (B, 1).
    """

    primal: Floats
    dual: Floats
    g: Any

    def after(self, step: "PrimalDual", primal: Any, dual: Any) -> "PrimalDual":
        """The point that far along a step, primal and dual."""
        return PrimalDual(self.primal + primal * step.primal, self.dual + dual * step.dual, self.g + primal * step.g)


NOTHING = Residuals(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), 0.0)
