r"""The linear equations of a PS-DSF allocation whose pattern is known (formulations/game/ps_dsf_variants.py).

1. With a tolerance, read the pattern of tasks in floating point: which arcs have tasks, which resources of which servers are
   full, which users are at their limits, and on every server which users below their limits have tasks there and *one share*: a
   layer. With `ties` also users without tasks there whose share is that of a layer belong to it: it must not be less.
2. Solve for the tasks on the arcs in use and the level g of each layer

    sum over the arcs of i of w_ar y_a = 1       for full (i, r)
    sum_j x_nj = phi_n gamma_ni g                for n in the layer with level g of server i
    sum_j x_nj = M_n                             for users at their limits

   by the step of least norm from the given tasks: the split between servers and variants is not unique in general.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


def patterns(game: Game, x: Floats, tolerances: Sequence[float]) -> Iterator[Pattern]:
    """Step 1 for one tolerance after the other, without and with ties, for every user served somewhere.

    What is served counts relative to what could run alone, and to the user's own tasks where that is another pattern: a user
    with little weight has little of both.
    """
    own = np.minimum(game.gamma, game.tasks(x)[game.user])
    for tolerance in tolerances:
        first, second = (x > tolerance * unit for unit in (game.gamma, own))
        for served in (first,) if np.array_equal(first, second) else (first, second):
            if np.all(game.tasks(served.astype(float)) > 0):
                yield from (pattern(game, x, served, tolerance, ties) for ties in (False, True))


def pattern(game: Game, x: Floats, served: NDArray[np.bool_], tolerance: float, ties: bool) -> Pattern:
    """Step 1 at tasks x (A,), of which those on the arcs `served` (A,) are more than rounding, some for every user."""
    tasks = game.tasks(x)
    load = game.load(np.where(served, x, 0.0) / game.gamma)
    rows = load.ravel() >= 1.0 - max(10.0, float(len(x))) * tolerance
    held = tasks >= game.limits * (1.0 - tolerance)
    z = game.shares(tasks)
    free = np.flatnonzero((served | ties) & ~held[game.user])
    order = free[np.lexsort((z[free], game.server[free]))]
    same = (np.diff(game.server[order]) == 0) & (z[order][1:] <= z[order][:-1] * (1.0 + 10.0 * tolerance))
    group = np.cumsum(np.concatenate([[False], ~same])) if len(order) else np.empty(0, int)
    used = np.unique(group[served[order]])
    pairs: dict[tuple[int, int], int] = {}
    for a, k in zip(order.tolist(), group.tolist(), strict=True):
        pairs.setdefault((int(game.user[a]), k), a)
    place = {k: j for j, k in enumerate(used.tolist())}
    at = tuple((a, place[k]) for (_, k), a in pairs.items() if k in place)
    arcs, full, users = (tuple(np.flatnonzero(part).tolist()) for part in (served, rows, held))
    return Pattern(arcs, full, at, len(used), users)


def corrected(game: Game, x: Floats, found: Pattern) -> Floats | None:
    """(A,) step 2, feasible tasks; None where the equations are too many or have no numbers."""
    from scipy.linalg import lstsq

    served, size = np.array(found.served, dtype=np.intp), len(found.served)
    if not size or size + found.layers > LARGEST:
        return None
    J, right = _equations(game, x, found, served)
    own = np.concatenate([np.maximum(x[served] / game.gamma[served], 1e-9), np.ones(found.layers)])
    step = lstsq(J * own, right, cond=1e-12, lapack_driver="gelsy")[0] * own
    result = np.zeros(len(x))
    result[served] = x[served] + step[:size] * game.gamma[served]
    if not np.all(np.isfinite(result)):
        return None
    return scaled_down(game.instance, result)


def _equations(game: Game, x: Floats, found: Pattern, served: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The equations for changes of y on the served arcs, and of the logarithms of the levels."""
    size, tasks = len(served), game.tasks(x)
    full, held = np.array(found.full, dtype=np.intp), np.array(found.held, dtype=np.intp)
    J = np.zeros((len(full) + len(found.at) + len(held), size + found.layers))
    server, resource = np.divmod(full, game.instance.R)
    J[: len(full), :size] = np.where(game.server[served] == server[:, None], game.w[served][:, resource].T, 0.0)
    arc, layer = np.array(found.at, dtype=np.intp).reshape(-1, 2).T
    z = game.shares(tasks)[arc]
    level = np.zeros(found.layers)
    np.maximum.at(level, layer, z)
    middle = slice(len(full), len(full) + len(arc))
    J[middle, :size] = np.where(
        game.user[served] == game.user[arc][:, None], game.gamma[served] / tasks[game.user[arc]][:, None], 0
    )
    J[middle, size:][np.arange(len(arc)), layer] = -level[layer] / z
    J[middle.stop :, :size] = np.where(game.user[served] == held[:, None], game.gamma[served] / game.limits[held][:, None], 0.0)
    inside = np.where(np.isin(np.arange(len(x)), served), x, 0.0)
    load, kept = game.load(game.fractions(inside))[server, resource], game.tasks(inside)
    missing = [1.0 - load, level[layer] / z - kept[game.user[arc]] / tasks[game.user[arc]], 1.0 - kept[held] / game.limits[held]]
    return J, np.concatenate(missing)
