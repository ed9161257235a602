"""`psdsf-enumeration`: of all PS-DSF allocations of a small instance the best one by an objective, in rationals.

1. List all PS-DSF allocations as a union of polytopes (ps_dsf_pieces.py).
2. The objective is linear, so the best of their vertices is the best of all; of equal ones the lexicographically largest counts.

Larger instances are for the mixed-integer program of formulations/ps_dsf.py, by `cvxpy:highs` or `pyomo:highs`.
"""

from typing import ClassVar

import numpy as np

from fairalloc.formulations.common.objectives import linear_objective
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.exact.polytopes import best_vertex
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.solvers.exact.ps_dsf_pieces import ps_dsf_pieces, too_large
from fairalloc.solvers.method import Method, Session

__all__: list[str] = []


class PsDsfEnumeration(Method):
    """All answers, then the best one; `iterations` counts the vertices that were compared."""

    id = "psdsf-enumeration"
    kind = "exact"
    packages: ClassVar[tuple[str, ...]] = ("flint",)
    canonical = False

    def computes(self, mechanism: Mechanism) -> bool:
        """PS-DSF with an objective: without one, every other method is faster."""
        return isinstance(mechanism, PsDsf) and mechanism.chooses

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return too_large(mechanism.domain(instance))

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats]:
        assert isinstance(mechanism, PsDsf)
        assert mechanism.objective is not None
        instance, cost = session.instance, linear_objective(session.instance, mechanism.objective)
        with session.phase("solve"):
            vertices = [x for piece in ps_dsf_pieces(instance) for x in piece.vertices]  # 1
            _, x = best_vertex(cost, vertices)  # 2
        session.count(len(vertices))
        kappa = levels(instance, x)
        assert kappa is not None, "every vertex is PS-DSF"
        session.x_exact = x
        return np.array(x, float), np.array(kappa, float).reshape(1, instance.K, instance.R)


methods = (PsDsfEnumeration(),)
