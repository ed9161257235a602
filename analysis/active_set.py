r"""What stays true near an allocation of nb, alpha-fair or the game, and the derivatives that follow from it.

1. Find the resources that stay full, the arcs that may be used, and what the users keep in common: for alpha-fair by the prices,
   for the game by its levels.
2. Where this active set is *regular*, its equations give the derivatives: for all capacities at once, one linear system.

**The equations.** With the loads l_ra = d_ra / c_r, changes dx_a on the arcs in use and a change dc_s of one capacity,

    sum_a l_ra dx_a = dc_s / c_s if r = s, else 0                     for every full resource r with a price
    sum_{a of n} dx_a = 0                                             for users whose tasks all run

    alpha-fair:      alpha_n du_n / u_n + sum_r l_ra dp_r / m_n = (1 - alpha_n) d sigma_n / sigma_n  for every arc a in use

    the game:        pull_ni du_n / u_n + sum_r share_nir d log kappa_ir = (pull_ni - 1 / beta_i) theta_ni

m_n is the marginal utility, p_r the prices in parts of capacity; nb has alpha = 1. In the game E_ni = 0 stays, with levels kappa
of priced resources and theta_ni = d log gamma_ni. docs/reference/derivations.md derives them, also for servers that share time.

**Regular** means: the equations have a solution for the change, du is unique in it, and some allocation of the active set has
tasks on all of its arcs, room on all other resources and tasks left for all other users (a linear program).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.analysis.differences import slopes
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.duality_gap import reference_prices
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import monopolies
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf_tdm import TimeShared, time_shared
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, linear_program
from fairalloc.solvers.game.equations import LevelEquations, levels_at

UNUSED, FULL = 1e-7, 1e-5
"""Tasks, as a part of an arc's unit, that are taken for rounding, and the slack up to which a resource with a price is full."""

STRICT = 1e-4
"""What is above 0 by less is not taken for positive: tasks are known to 1e-6 where a capacity is full at price 0."""

LARGEST = 2000
"""Arcs of the largest active set whose dense system costs less than solves at nearby capacities."""

SOLVED = 1e-8
"""The relative residual up to which a linear system counts as solved, and a change of tasks in its null space as none."""


class NotUnique(Exception):  # noqa: N818 (a finding, not an error)
    """There are other answers next to the allocation, with other tasks, so that there is no derivative."""


class ActiveSet(NamedTuple):
    """What stays true near an allocation, as bools: priced rows (K R,), arcs (A,) in use, users (N,) whose tasks all run.

    `equations`, in (dx on `arcs`, others), have the right-hand sides `changes` (2, equations, K R), to the right and the left.
    """

    rows: NDArray[np.bool_]
    arcs: NDArray[np.bool_]
    held: NDArray[np.bool_]
    equations: Floats
    changes: Floats


class Moves(NamedTuple):
    """Derivatives by each capacity, to the right and to the left, nan where the active set has none.

    tasks : (2, A, K R) on arcs, which need not be unique
    rows, prices : (K R,) which are priced, and (2, priced, K R) of the price of a unit, times the capacity; of the game, of the
        logarithms of levels
    """

    tasks: Floats
    rows: NDArray[np.bool_]
    prices: Floats


def derivatives_by_active_set(allocation: Allocation, item: Mechanism) -> Floats | None:
    """(2, N, K R) derivatives of each user's tasks, which are unique; None and NotUnique as for `moves`."""
    found = moves(allocation, item)
    return None if found is None else np.array([allocation.instance.arcs.owner @ side for side in found.tasks])


def moves(allocation: Allocation, item: Mechanism) -> Moves | None:
    """The derivatives of what the active set has.

    None where the active set is not regular or not known; NotUnique where other equilibria of the game are next to this one.
    """
    where = time_shared(allocation.instance) if isinstance(item, TimeShared) else allocation.instance
    arcs = where.arcs
    units = np.minimum(arcs.gamma, np.maximum(allocation.tasks, 0.0)[arcs.user])  # of the user, or alone there, if that is less
    if isinstance(item, Equilibrium):
        active = _of_game(replace(allocation, instance=where, prices=None), allocation.instance, item, units)
    else:
        active = _of_prices(allocation, item)
    if active is None or not _is_regular(active, allocation, where, units):
        return None
    return _solved(active, allocation, where, units, item)


def _solved(active: ActiveSet, allocation: Allocation, where: Instance, units: Floats, item: Mechanism) -> Moves | None:
    """The linear system; where tasks are not unique in it NotUnique for a game, and None for alpha-fair."""
    from scipy.linalg import lstsq, null_space

    arcs, rows = where.arcs, np.flatnonzero(active.rows)
    count = int(active.arcs.sum())
    size = np.concatenate([units[active.arcs], 1.0 / _largest(active.equations[:, count:], 0)])
    owner = arcs.owner[:, active.arcs].toarray() * size[:count]
    loads = arcs.load[rows][:, active.arcs].toarray() * size[:count]
    upper = np.vstack([loads, owner[active.held]])
    matrix = np.vstack([np.pad(upper, ((0, 0), (0, len(size) - count))), active.equations * size])
    across = _largest(matrix, 1)[:, None]
    free = null_space(matrix / across, rcond=1e-11)[:count]
    if np.abs(owner @ free / allocation.tasks[:, None]).max(initial=0.0) > SOLVED:
        if isinstance(item, Equilibrium):
            raise NotUnique(f"there are other answers of {item.id!r} next to this one, so its tasks have no derivatives")
        return None
    capacities = allocation.instance.capacities.ravel()
    own = np.divide(1.0, capacities, out=np.zeros_like(capacities), where=capacities > 0)
    tasks, prices = np.zeros((2, where.A, len(own))), np.zeros((2, len(size) - count, len(own)))
    held = np.zeros((int(active.held.sum()), len(own)))
    for side, change in enumerate(active.changes):
        right = np.vstack([_supply(allocation, where, own, side)[rows], held, change]) / across
        step = lstsq(matrix / across, right, cond=1e-12, lapack_driver="gelsy")[0]
        lack = np.abs(matrix / across @ step - right).max(axis=0, initial=0.0)
        good = (lack <= SOLVED * np.maximum(np.abs(right).max(axis=0, initial=0.0), own)) & (capacities > 0)
        moved = np.where(good, size[:, None] * step, np.nan)
        tasks[side, :, ~good] = np.nan
        tasks[side, active.arcs], prices[side] = moved[:count], moved[count:]
    return Moves(tasks, active.rows, prices)


def _largest(matrix: Floats, axis: int) -> Floats:
    """The largest absolute value along an axis, 1 where all are 0."""
    most: Floats = np.abs(matrix).max(axis=axis, initial=0.0)
    return np.where(most > 0, most, 1.0)


def _supply(allocation: Allocation, where: Instance, own: Floats, side: int) -> Floats:
    """(rows of `where`, K R) what each capacity adds to a row, `own` (K R,) in parts; of time that is shared what tasks save."""
    if where is allocation.instance:
        return np.diag(own)
    arcs = where.arcs
    faster = slopes(allocation.instance, monopolies)[side] / arcs.gamma[:, None]
    return np.asarray(arcs.load @ (np.maximum(allocation.x, 0.0)[:, None] * faster))


def _is_regular(active: ActiveSet, allocation: Allocation, where: Instance, units: Floats) -> bool:
    """Whether some allocation of the active set with these tasks has everything strict."""
    arcs, here, tasks = where.arcs, np.flatnonzero(active.arcs), allocation.tasks
    if np.any(~active.held & (tasks >= allocation.instance.max_tasks * (1.0 - STRICT))):
        return False
    load = arcs.load[:, here] @ sp.diags_array(units[here])
    owner = sp.diags_array(1.0 / tasks) @ arcs.owner[:, here] @ sp.diags_array(units[here])
    spare, full = np.flatnonzero(~active.rows & (np.diff(arcs.load.tocsr().indptr) > 0)), np.flatnonzero(active.rows)
    above = [load[spare], -sp.eye_array(len(here)), load[full], -load[full]]
    count = [len(spare), len(here), len(full), len(full)]
    loosened = np.repeat([1.0, 1.0, 0.0, 0.0], count)  # by the largest slack that everything strict has
    loose = linear_program(
        np.append(np.zeros(len(here)), -1.0),
        sp.hstack([sp.vstack(above), sp.csr_array(loosened[:, None])], format="csr"),
        np.repeat([1.0, 0.0, 1.0 + STRICT / 10.0, FULL - 1.0], count),
        A_eq=sp.hstack([owner, sp.csr_array((where.N, 1))], format="csr"),
        b_eq=np.ones(where.N),
        bounds=[(0, None)] * len(here) + [(None, 1.0)],
    )
    return bool(loose.success and loose.x[-1] > STRICT)


def _of_prices(allocation: Allocation, item: Mechanism) -> ActiveSet | None:
    """Of alpha-fair, by the prices that prove most; None where a user has no tasks, or is at a limit that costs nothing.

    None, too, for an active set of more than `LARGEST` arcs.
    """
    instance, arcs, tasks = allocation.instance, allocation.instance.arcs, allocation.tasks
    marginal = item.marginal(allocation)
    if marginal is None or np.any(marginal <= 0):
        return None
    prices = reference_prices(allocation, marginal).ravel()
    reduced = (arcs.load.T @ prices) / marginal[arcs.user] - 1.0
    held = np.isclose(tasks, instance.max_tasks, rtol=STRICT, atol=0.0)
    least = np.minimum.reduceat(reduced, arcs.first)
    if np.any(held & (least >= -STRICT)):
        return None
    open_ = reduced - np.where(held, least, 0.0)[arcs.user] <= STRICT
    if np.count_nonzero(open_) > LARGEST:
        return None
    part = (sp.diags_array(prices) @ arcs.load @ sp.diags_array(1.0 / marginal[arcs.user]))[:, open_]  # of what a task costs
    rows = part.max(axis=1).toarray().ravel() > STRICT
    used = np.flatnonzero(open_ & ~held[arcs.user])
    n, priced = arcs.user[used], np.flatnonzero(rows)
    assert isinstance(item, AlphaFair)
    alpha = item.alphas(instance) * np.ones(instance.N)
    own = (alpha / tasks)[n][:, None] * arcs.owner[:, open_].toarray()[n]
    equations = np.hstack([own, arcs.load[priced][:, used].toarray().T / marginal[n][:, None]])
    changes = np.zeros((2, len(used), len(rows)))
    if item.alpha != 1.0:
        sigma = item.share(instance)
        changes = ((1.0 - alpha) / sigma)[n, None] * slopes(instance, item.share)[:, n]
    return ActiveSet(rows, open_, held, equations, changes)


def _of_game(allocation: Allocation, home: Instance, item: Equilibrium, units: Floats) -> ActiveSet | None:
    """Of an equilibrium on the mechanism's domain; None where a limit costs nothing, no levels prove it, or it is too large."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    levels = LevelEquations(item.game(instance))
    y = np.where(allocation.x > UNUSED * units, allocation.x, 0.0) / levels.game.gamma
    if np.any(levels.tasks(y) <= levels.least):
        return None
    levels.scale(y)
    here = levels.derivatives(y, levels_at(levels, y))
    excess, pull, share = here.excess, here.pull, here.share
    held = np.isclose(allocation.tasks, instance.max_tasks, rtol=STRICT, atol=0.0)
    least = np.minimum.reduceat(excess, arcs.first)
    if np.any(held[arcs.user] & (np.abs(excess) <= STRICT)) or np.any(held & (least >= 0)) or np.any(~held & (least < -STRICT)):
        return None
    _refuse_free_splits(allocation, held, excess)
    floor = np.where(held, least, 0.0)[arcs.user]
    open_ = (excess <= STRICT) & ((excess <= floor + STRICT) | np.isneginf(floor))
    if np.count_nonzero(open_) > LARGEST:
        return None
    priced = np.flatnonzero(open_ & np.isfinite(excess))
    rows = np.zeros((instance.K, instance.R), bool)
    np.logical_or.at(rows, arcs.server[priced], share[priced] > STRICT)

    # the excess of each priced arc stays 0: in the tasks of its user, the prices of its server, and the price of a limit
    n, i, of_rows, of_users = arcs.user[priced], arcs.server[priced], np.flatnonzero(rows), np.flatnonzero(held)
    tasks = np.where(arcs.user[open_] == n[:, None], (pull[priced] / allocation.tasks[n])[:, None], 0.0)
    prices = np.where(of_rows // instance.R == i[:, None], share[priced][:, of_rows % instance.R], 0.0)
    limits = np.where(of_users == n[:, None], 1.0, 0.0)
    timed = isinstance(item, TimeShared)
    inverse = np.where(levels.sharp | timed, 0.0, 1.0 / levels.beta)[i]
    theta = slopes(home, monopolies)[:, priced] / levels.game.gamma[priced][:, None]
    changes = (pull[priced] - inverse)[:, None] * theta
    return ActiveSet(rows.ravel(), open_, held, np.hstack([tasks, prices, limits]), changes)


def _refuse_free_splits(allocation: Allocation, held: NDArray[np.bool_], excess: Floats) -> None:
    """NotUnique where a user at its limit could run its tasks on several servers, one of which has a price."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    for n in np.flatnonzero(held):
        mine = np.flatnonzero((arcs.user == n) & (excess < -STRICT))
        if len(set(arcs.server[mine].tolist())) > 1 and np.isfinite(excess[mine]).any():
            user = instance.users[n]
            raise NotUnique(f"user {user!r} is at its limit and could run its tasks on several servers, so tasks are not unique")
