r"""The rounds of lexicographic max-min fairness (Z III-A): the iteration of LMMF, DRFH, DRF and TSF.

1. Everybody is active.
2. Solve the round (formulations/lexicographic/round.py): the largest g that every active user can have while the others keep
   their levels; it gives tasks x and dual prices p.
3. Bound by how much each active share can still rise above g: the bound (*) of bound.py at p.
4. Fix the users for whom the bound is 0 up to the tolerance, and always the one for whom it is least: at least one user pays
   (y_n > 0), so every round fixes somebody. Degenerate prices cost another round, and never fix anybody wrongly.
5. Keep prices that prove the round (faces.py), and go on with 2 on the face of this round until nobody is active.

A user that happens to be at its own limit above g is not fixed: others may still need what it has. Z's printed test of saturation
protects only users fixed in earlier rounds and then never ends (tests/solvers/test_leximin.py); this one protects everybody.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from fairalloc.formulations.lexicographic.bound import excess, feasible
from fairalloc.formulations.lexicographic.round import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.lexicographic.faces import RoundProof, lifted, next_face

__all__ = ["RoundSolver", "solve_rounds"]


class RoundSolver(Protocol):
    """Whatever solves one round."""

    def solve_round(self, round: Round) -> tuple[Floats, Floats]:  # noqa: A002
        """Tasks (A,) and prices (K, R) of the round."""


def solve_rounds(
    rule: Leximin, instance: Instance, solver: RoundSolver, tolerance: float, faces: bool = True
) -> tuple[Floats, Floats]:
    """Run all rounds of a rule; of a max-min rule the first one only.

    Parameters
    ----------
    rule : the mechanism, which gives the share of a task
    instance : its domain, in canonical units
    solver : solves one round
    tolerance : users whose bound is at most this part of the level are fixed
    faces : whether later rounds are written on their face; otherwise levels are inequalities, as Z III-A prints them

    Returns
    -------
    (A,) tasks of the last round, and (rounds, K, R) prices that prove every round
    """
    now = Round.first(instance)  # 1.
    if not rule.several_rounds:
        x, prices = solver.solve_round(now)
        return x, prices[None]
    rate = rule.rate(instance)
    proofs: list[RoundProof] = []
    while True:
        x, prices = solver.solve_round(now)  # 2.
        x = feasible(instance, x)
        v = rate * (instance.arcs.owner @ x)
        g = max(v[now.active].min(), 1e-300)
        slack = (v + excess(instance, rate, v, prices[None], now)) / g - 1.0  # 3.
        slack[~now.active] = np.inf
        fixed = slack <= max(tolerance, 2.0 * slack.min())  # 4.
        proof = lifted(instance, prices.ravel(), now, proofs)  # 5.
        # Levels follow this x, so that the next round has a feasible point for certain: it drifts by the solver's rounding.
        level = np.where(now.active | now.on_face, v, np.minimum(v, now.level))
        now = replace(now, active=now.active & ~fixed, level=level)
        later = next_face(instance, now, x, prices) if faces and now.active.any() else now
        proofs.append(RoundProof(proof, later.full_since(now), later.closed & ~now.closed))
        if not now.active.any():
            return x, np.array([p.prices.reshape(prices.shape) for p in proofs])
        now = later
