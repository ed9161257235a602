r"""The rounds of an edited lexicographic mechanism (formulations/edited.py).

1. Everybody is active.
2. Solve the edited round; it gives tasks x, the level g and the dual prices y of "fairness", which add up to 1 over active users.
3. Fix the active users with y_n > 0 at their level: in every optimal answer of the round they have exactly that, by
   complementary slackness, for the added constraints are convex. At least one y_n is positive, so every round fixes somebody.
4. Go on with 2 until nobody is active.

A user that can rise no further but has y_n = 0 in degenerate duals is fixed in a later round of the same level.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from fairalloc.formulations.edited import Edited
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

__all__ = ["FairnessSolver", "solve_edited_rounds"]

POSITIVE = 1e-6
"""The part of the largest dual price from which a dual price counts as positive: below it is what solvers leave of zeros."""


class FairnessSolver(Protocol):
    """Whatever solves an edited round."""

    def solve_fairness(self, round: Round) -> tuple[Floats, Floats, Floats | None]:  # noqa: A002
        """Tasks (A,), dual prices (N,) of "fairness" (0 for fixed users), and prices (K, R) of the capacities or None."""


def solve_edited_rounds(mechanism: Edited, instance: Instance, solver: FairnessSolver) -> tuple[Floats, Floats | None]:
    """Run all rounds: (A,) tasks of the last one, and (rounds, K, R) prices of the capacities, None where a round has none."""
    assert isinstance(mechanism.base, Leximin)
    rate = mechanism.base.rate(instance)
    now = Round.first(instance)  # 1.
    layers: list[Floats | None] = []
    while True:
        x, y, prices = solver.solve_fairness(now)  # 2.
        layers.append(prices)
        v = rate * (instance.arcs.owner @ np.maximum(x, 0.0))
        y = np.where(now.active, y, 0.0)
        fixed = now.active & (y >= POSITIVE * y.max())  # 3.
        g = v[now.active].min()
        now = replace(now, active=now.active & ~fixed, level=np.where(fixed, g, np.minimum(v, now.level)))
        if not now.active.any():  # 4.
            found = [layer for layer in layers if layer is not None]
            return x, np.array(found) if len(found) == len(layers) else None
