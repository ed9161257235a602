r"""The linear equations of a PS-DSF allocation whose pattern is known (formulations/game/ps_dsf_variants.py).

1. With a tolerance, read the pattern of tasks in floating point: which arcs have tasks, which resources of which servers are
   full, which users are at their limits, and on every server which users below their limits have tasks there and *one share*: a
   layer.
2. Solve for the tasks on the arcs in use and the level g of each layer

    sum over the arcs of i of w_ar y_a = 1       for full (i, r)
    sum_j x_nj = phi_n gamma_ni g                for n in the layer with level g of server i
    sum_j x_nj = M_n                             for users at their limits

   by the step of least norm from the given tasks: the split between servers and variants is not unique in general.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairalloc.formulations.game.game import Game
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.numbers import Floats

LARGEST = 4_000
"""Arcs in use and layers together up to which the dense equations are solved."""


@dataclass(frozen=True)
class Pattern:
    """Arcs that are served, rows i R + r that are full, pairs (arc, layer), the number of layers, users at their limits."""

    served: tuple[int, ...]
    full: tuple[int, ...]
    at: tuple[tuple[int, int], ...]
    layers: int
    held: tuple[int, ...]


def pattern(game: Game, x: Floats, tolerance: float) -> Pattern:
    """Step 1 at tasks x (A,), some for every user.

    What is served counts relative to what could run alone, or to the user's own tasks where these are less (little weight).
    """
    tasks = game.tasks(x)
    served = x > tolerance * np.minimum(game.gamma, tasks[game.user])
    load = game.load(np.where(served, x, 0.0) / game.gamma)
    rows = load.ravel() >= 1.0 - max(10.0, float(len(x))) * tolerance
    held = tasks >= game.limits * (1.0 - tolerance)
    z, free = game.shares(tasks), np.flatnonzero(served & ~held[game.user])
    order = free[np.lexsort((z[free], game.server[free]))]
    share = z[order]
    new = (np.diff(game.server[order], prepend=-1) > 0) | (share > np.roll(share, 1) * (1.0 + 10.0 * tolerance))
    at = list(zip(order.tolist(), (np.cumsum(new) - 1).tolist(), strict=True))
    one = {(game.user[a], layer): (a, layer) for a, layer in at}  # a user's arcs on a server have one share
    arcs, full, users = (tuple(np.flatnonzero(part).tolist()) for part in (served, rows, held))
    return Pattern(arcs, full, tuple(one.values()), int(new.sum()), users)


def equations(found: Pattern, user: Any, loads: Any, units: Any, limits: Any) -> list[dict[int, Any]]:
    """The equations of step 2 as {column: entry}: the levels, the tasks on the arcs that are served, and the right-hand side.

    `loads` has for each of these arcs the (row, part) of a task; user and units, phi_n gamma_ni, are (A,), limits (N,).
    """
    rows, place = {row: {-1: 1} for row in found.full}, {a: found.layers + k for k, a in enumerate(found.served)}
    tasks: dict[int, dict[int, Any]] = {}
    for a, column in place.items():
        tasks.setdefault(user[a], {})[column] = 1
        for row, part in loads[a]:
            if row in rows:
                rows[row][column] = part
    layers = [tasks[user[a]] | {layer: -units[a]} for a, layer in found.at]
    return [*rows.values(), *layers, *(tasks.get(n, {}) | {-1: limits[n]} for n in found.held)]


def corrected(game: Game, x: Floats, found: Pattern) -> Floats | None:
    """(A,) step 2, feasible tasks; None where the equations are too many or have no numbers."""
    from scipy.linalg import lstsq

    served, R = np.array(found.served, dtype=np.intp), game.instance.R
    if not len(served) or len(served) + found.layers > LARGEST:
        return None
    z, level = game.shares(game.tasks(x)), np.zeros(found.layers)
    for a, layer in found.at:
        level[layer] = max(level[layer], z[a])
    part = game.w[served] / game.gamma[served, None]
    loads = {
        a: [(game.server[a] * R + r, one[r]) for r in np.flatnonzero(one)] for a, one in zip(found.served, part, strict=True)
    }
    rows = equations(found, game.user.tolist(), loads, game.unit, game.limits)
    J = np.zeros((len(rows), found.layers + len(served) + 1))
    for place, row in zip(J, rows, strict=True):
        place[list(row)] = list(row.values())
    lack = J[:, -1] - J[:, :-1] @ np.concatenate([level, x[served]])
    own = np.concatenate([level, np.maximum(x[served], 1e-9 * game.gamma[served])])
    J = J[:, :-1] * own
    across = np.abs(J).max(axis=1)
    across[across == 0.0] = 1.0  # nobody is served by what is called full
    result = np.zeros(len(x))
    step = lstsq(J / across[:, None], lack / across, cond=1e-12, lapack_driver="gelsy")[0] * own
    result[served] = x[served] + step[found.layers :]
    return scaled_down(game.instance, result) if np.all(np.isfinite(result)) else None
