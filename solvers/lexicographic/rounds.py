r"""The rounds of lexicographic max-min fairness (Z III-A): the iteration of LMMF, DRFH, DRF and TSF.

1. Everybody is active.
2. Solve the round (formulations/lexicographic/linear_program.py): the largest g such that every active user has a weighted share
   of at least g and the others keep their levels. It gives tasks x and dual prices p of the capacities. Active users may exceed
   their limits; those whose limits are below g are fixed there without a round each, and the round is solved again.
3. From p and weak duality, bound how far each active share can rise above g, relative to g: the bound (*) of
   formulations/lexicographic/weak_duality.py.
4. Fix the users for whom the bound is at most the tolerance, at their present share. Some user with a positive dual of its
   fairness constraint has the bound 0 in exact arithmetic; where rounding leaves every bound above the tolerance, those within
   twice the least are fixed, so that every round fixes somebody. With degenerate duals a user that can rise no further may have
   a positive bound; it is then fixed in a later round of the same level.
5. Keep prices that prove the level of this round (faces.py), and end where nobody is active. Otherwise restrict the next linear
   program to the optimal face of this one, and go on with 2. Where its answer takes from the others, arcs that are a little dear
   were left open, and a face on which small prices count too is tried. Where rounding makes it take more than step 3 left to the
   active users, the round before was the last.

The rise is measured from g: a user that holds more than g, even one at its own max_tasks, is not fixed, because others may
still need what it has. docs/theory/lmmf.md says why Z's printed test of saturation is not used.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from fairalloc.formulations.edited import Edited
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.formulations.lexicographic.nested_proof import proved_rounds
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.lexicographic.weak_duality import excess, feasible
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.whole_rounds import WholeRounds
from fairalloc.formulations.whole_tasks import WholeTasks
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree
from fairalloc.solvers.lexicographic.faces import Proofs, next_face
from fairalloc.solvers.running.listeners import tell

NOISE = 1e-7, 1e-9
"""Prices and reduced costs below this part of the level are taken for 0: at first, and where that was too much."""

DRIFT = 1e-11
"""The part of their levels that fixed users lose by rounding: usually below 1e-13."""

APART = 1e-9
"""How much lower than g, relative, a limit must be to come before it."""

POSITIVE = 1e-4
"""The part of the largest dual price from which one counts as positive: less is what solvers leave of zeros, or told later."""

EditedSolver: TypeAlias = Callable[[Round], tuple[Floats, Floats, Floats | None]]
"""Gives tasks (A,), dual prices (N,) of "fairness", 0 for fixed users, and prices (K, R) of the capacities or None."""

Solver: TypeAlias = Callable[[Round], tuple[Floats, Floats]]
"""Gives tasks (A,) and prices (K, R) of a round."""


def solve_rounds(
    rule: Leximin, instance: Instance, solver: Solver, tolerance: float, faces: bool = True
) -> tuple[Floats, Floats]:
    """All rounds of a rule, of a max-min rule the first: (A,) tasks of the last, (rounds, K, R) prices that prove every round.

    Without `faces` levels are inequalities, as Z III-A prints them; users whose bound is at most `tolerance` are fixed.
    """
    first, rate = Round.first(instance), rule.rate(instance)  # 1.
    if not rule.several_rounds:
        x, prices = solver(first)
        return x, prices[None]
    if np.isfinite(instance.max_tasks).any():
        first = replace(first, unlimited=True)
    now, x, prices, _ = _solved(instance, rate, solver, [first], tolerance)  # 2.
    proofs = Proofs.none(now)
    while True:
        tell(iteration=len(proofs.prices) + 1)
        if not now.active.any():
            return x, _layers([*proofs.prices, proofs.lifted(instance, prices.ravel(), now)], prices)
        v = rate * instance.arcs.totals(x)
        rise = _rise(instance, rate, v, prices, now)  # 3.
        fixed = rise <= max(tolerance, 2.0 * rise.min())  # 4.
        proof = proofs.lifted(instance, prices.ravel(), now)  # 5.
        active = now.active & ~fixed
        if not active.any():
            return x, _layers([*proofs.prices, proof], prices)
        rest = replace(now, active=active, level=np.where(now.active, v, now.level))  # after x they would drift, round by round
        candidates = (next_face(instance, rest, x, prices, noise) for noise in NOISE) if faces else iter([rest])
        later, x_later, prices, taken = _solved(instance, rate, solver, candidates, tolerance)
        proofs.add(proof, now, later)
        if taken > rise[active].max():
            return x, _layers(proofs.prices, prices)
        now, x = later, x_later


def _solved(
    instance: Instance, rate: Floats, solver: Solver, candidates: Iterable[Round], tolerance: float
) -> tuple[Round, Floats, Floats, float]:
    """The first round whose answer takes nothing from fixed users, or takes least; its x, prices, and the part it takes."""
    answers: list[tuple[Round, Floats, Floats, float]] = []
    asked: Round | None = None
    for candidate in candidates:
        if candidate.is_like(asked):
            break
        asked = candidate
        now, x, prices = _below_limits(instance, rate, solver, candidate, tolerance)
        taken = 0.0 if now.active.all() else _taken(now, rate * instance.arcs.totals(x))
        answers.append((now, x, prices, taken))
        if taken <= DRIFT:
            break
    return min(answers, key=lambda answer: answer[3])


def _below_limits(instance: Instance, rate: Floats, solver: Solver, now: Round, tolerance: float) -> tuple[Round, Floats, Floats]:
    """Step 2 where users have limits: the round in which a row is full, all with lower limits at these; its x and prices.

    Nobody who is below its limit has less than g. So whoever has a limit below g runs all tasks, as in progressive_filling.py,
    and without these the round is solved again, unless its prices prove already that somebody cannot rise above g.
    """
    arcs, limit = instance.arcs, rate * instance.max_tasks
    while True:
        x, prices = solver(now)
        if limit.min() == np.inf:
            return now, feasible(instance, x), prices
        tasks = arcs.totals(np.maximum(x, 0.0))
        most = np.divide(instance.max_tasks, tasks, out=np.ones(len(tasks)), where=tasks > instance.max_tasks)
        x = feasible(instance, x * most[arcs.user])
        v = rate * arcs.totals(x)
        below = now.active & (v < (1.0 - APART) * limit)
        g = v[below].min(initial=np.inf)
        done = now.active & ~below & (limit < (1.0 - APART) * g)
        if not (now.unlimited and done.any()):
            return now, x, prices
        now = replace(now, active=now.active & ~done, level=np.where(done, limit, now.level))
        if not now.active.any() or _rise(instance, rate, v, prices, now).min() <= tolerance:
            return now, x, prices


def _rise(instance: Instance, rate: Floats, v: Floats, prices: Floats, now: Round) -> Floats:
    """(N,) step 3: how far each active share can rise above the least of them, relative; inf for others."""
    g = max(v[now.active].min(), 1e-300)
    with np.errstate(over="ignore"):  # inf: nothing is known of a user whose price is nearly 0
        rise = (v + excess(instance, rate, v, prices[None], now)) / g - 1.0
    return np.where(now.active, rise, np.inf)


def _taken(now: Round, v: Floats) -> float:
    """The largest part of their level that users fixed before have lost."""
    fixed = ~now.active & (now.level > 0)
    return float((1.0 - v[fixed] / now.level[fixed]).max(initial=0.0))


def _layers(proofs: Sequence[Floats], like: Floats) -> Floats:
    """(T, K, R) prices (K R,) of proofs."""
    return np.array([prices.reshape(like.shape) for prices in proofs])


def solve_nested_rounds(
    mechanism: NestedMaxMin, instance: Instance, solver: Callable[[NestedRound], tuple[Floats, Floats]], tolerance: float
) -> tuple[Floats, Floats]:
    """All rounds of nested max-min fairness, of groups and users: (A,) tasks of the last, (rounds, K, R) prices."""
    answers = list(proved_rounds(Tree.of(instance), mechanism.first(instance), solver, tolerance))
    return answers[-1][0], np.array([prices for _, prices in answers])


def solve_edited_rounds(mechanism: Edited, instance: Instance, solver: EditedSolver) -> tuple[Floats, Floats | None]:
    """All rounds of an edited rule: (A,) tasks of the last, (rounds, K, R) prices of the capacities, None where a round has none.

    1. Everybody is active.
    2. Solve the edited round; it gives tasks x, the level g and the dual prices y of "fairness", whose sum is 1 for active users.
    3. Fix the active users with y_n > 0 at their level: in every optimal answer of the round they have exactly that, by
       complementary slackness, for the added constraints are convex. At least one y_n is positive, so every round fixes somebody.
       Of y_n and the part by which v_n is above g one is 0: the smaller one is what an interior-point method leaves of that.
    4. Go on with 2 until nobody is active. Who can rise no further but has y_n = 0 is fixed in a later round of the same level.
    """
    assert isinstance(mechanism.base, Leximin)
    rate = mechanism.base.rate(instance)
    now = Round.first(instance)  # 1.
    layers: list[Floats | None] = []
    while True:
        x, y, prices = solver(now)  # 2.
        layers.append(prices)
        v = rate * instance.arcs.totals(np.maximum(x, 0.0))
        y, g = np.where(now.active, y, 0.0), v[now.active].min()
        above = np.clip((v - g) / max(g, 1e-9 * v.max(), 1e-300), POSITIVE, 1.0)
        fixed = now.active & (y >= above * y.max())  # 3.
        now = replace(now, active=now.active & ~fixed, level=np.where(fixed, g, np.minimum(v, now.level)))
        if not now.active.any():  # 4.
            found = [layer for layer in layers if layer is not None]
            return x, np.array(found) if len(found) == len(layers) else None


def solve_whole_rounds(
    mechanism: WholeTasks, instance: Instance, solver: Callable[[Floats | None], Floats]
) -> tuple[Floats, None]:
    """Whole tasks (A,), which the solver gives: of the one program, or of one for each sum of smallest shares."""
    if not isinstance(mechanism, WholeRounds):
        return solver(None), None
    rate, owner = mechanism.rate(instance), instance.arcs.owner
    sums: Floats = np.zeros(0)
    for k in range(instance.N if mechanism.base.several_rounds else 1):
        x = solver(sums)
        sums = np.append(sums, np.sort(1.0 + rate * (owner @ x))[: k + 1].sum())
    return x, None
