r"""What stays true near an allocation, as linear equations for the derivatives (sensitivity.py), and that of the game.

**The game** (formulations/game/game.py), with tasks x_n = u_n, levels kappa_ir of priced resources, theta_ni = d log gamma_ni:

    E_ni = 0 stays:      pull_ni du_n / u_n + sum_r share_nir d log kappa_ir = (pull_ni - 1 / beta_i) theta_ni    for arcs in use

which is the differential of (*) there, because w_nir = gamma_ni d_nr / c_ir has gamma_ni in it and z_ni = x_n / (phi_n gamma_ni).
Where servers share time (ps-dsf-tdm), w_ni = 1 does not change, and the 1 / beta_i is left out.
For alpha = infinity (PS-DSF) pull = 1, 1 / beta = 0, and share is 1 at the resource with the highest level and 0 elsewhere: the
share z_ni of whoever uses a server stays the level of its bottleneck. A user at its limit keeps its tasks; its arcs keep one
multiplier h_n in common, E_ni + h_n = 0, as long as they are on one server. On several servers the split of its tasks is free
(game.py, "Whose multiplier"), so the tasks of others are not unique: there is no derivative.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import monopolies
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import LevelEquations, levels_at

__all__ = ["ActiveSet", "NotUnique", "active_set_of_game"]

UNUSED = 1e-7
"""Tasks on an arc, as a part of what its user could run there alone, up to which they are taken for rounding."""


class NotUnique(Exception):  # noqa: N818 (a finding, not an error)
    """There are other answers next to the allocation, with other tasks, so that there is no derivative."""


@dataclass(frozen=True)
class ActiveSet:
    """What stays true near an allocation.

    Attributes
    ----------
    rows : (K R,) bool, resources with a price, which stay full
    arcs : (A,) bool, those that may be used
    held : (N,) bool, users whose tasks all run
    equations, changes : the equations of what users have in common, in (dx on `arcs`, others), and their right-hand sides for
        changes of every capacity to the right and to the left (2, equations, K R)
    """

    rows: NDArray[np.bool_]
    arcs: NDArray[np.bool_]
    held: NDArray[np.bool_]
    equations: Floats
    changes: Floats


def active_set_of_game(
    allocation: Allocation,
    item: Equilibrium,
    slopes: Callable[[Callable[[Instance], Floats]], Floats],
    strict: float,
) -> ActiveSet | None:
    """The active set of an equilibrium.

    Parameters
    ----------
    allocation : the equilibrium, on the mechanism's domain
    item : the game's mechanism, with its parameters
    slopes : gives (2, A, K R) one-sided derivatives of a function of the instance by every capacity
    strict : what counts as 0, dimensionless

    Returns
    -------
    The active set; None where a user is at a limit that costs nothing, or the levels do not prove an equilibrium

    Raises
    ------
    NotUnique : a user at its limit could run its tasks on several servers
    """
    instance, arcs = allocation.instance, allocation.instance.arcs
    levels = LevelEquations(item.game(instance))
    fractions = allocation.x / levels.game.gamma
    y = np.where(fractions > UNUSED, fractions, 0.0)
    if np.any(levels.tasks(y) <= 0):
        return None
    levels.scale(y)
    here = levels.derivatives(y, levels_at(levels, y))
    excess, pull, share = here.excess, here.pull, here.share
    held = np.isclose(allocation.tasks, instance.max_tasks, rtol=strict, atol=0.0)
    least = np.full(instance.N, np.inf)
    np.minimum.at(least, arcs.user, excess)
    if np.any(held[arcs.user] & (np.abs(excess) <= strict)) or np.any(held & (least >= 0)) or np.any(~held & (least < -strict)):
        return None
    _refuse_free_splits(allocation, held, excess, strict)
    floor = np.where(held, least, 0.0)[arcs.user]
    open_ = (excess <= strict) & ((excess <= floor + strict) | np.isneginf(floor))
    priced = np.flatnonzero(open_ & np.isfinite(excess))
    rows = np.zeros((instance.K, instance.R), bool)
    np.logical_or.at(rows, arcs.server[priced], share[priced] > strict)

    own, full = np.cumsum(open_) - 1, np.cumsum(rows.ravel()) - 1
    count, bound = int(open_.sum()), np.flatnonzero(held)
    n, i = arcs.user[priced], arcs.server[priced]
    equations = np.zeros((len(priced), count + int(rows.sum()) + len(bound)))
    for k, user in enumerate(n):
        same = np.flatnonzero(open_ & (arcs.user == user))
        equations[k, own[same]] = pull[priced[k]] / allocation.tasks[user]
        (r,) = np.nonzero(rows[i[k]])
        equations[k, count + full[i[k] * instance.R + r]] = share[priced[k], r]
        if held[user]:
            equations[k, count + int(rows.sum()) + np.searchsorted(bound, user)] = 1.0
    timed = isinstance(item, TimeShared)
    inverse = np.where(levels.sharp | timed, 0.0, 1.0 / levels.beta)[i]
    theta = slopes(monopolies)[:, priced] / levels.game.gamma[priced][:, None]
    return ActiveSet(rows.ravel(), open_, held, equations, (pull[priced] - inverse)[:, None] * theta)


def _refuse_free_splits(allocation: Allocation, held: NDArray[np.bool_], excess: Floats, strict: float) -> None:
    """NotUnique where a user at its limit could run its tasks on several servers, one of which has a price."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    for n in np.flatnonzero(held):
        mine = np.flatnonzero((arcs.user == n) & (excess < -strict))
        if len(set(arcs.server[mine].tolist())) > 1 and np.isfinite(excess[mine]).any():
            user = instance.users[n]
            raise NotUnique(f"user {user!r} is at its limit and could run its tasks on several servers, so tasks are not unique")
