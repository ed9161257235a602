r"""How each user's tasks move with each capacity: du_n / dc_ir to the right and to the left.

1. Find what stays true near the allocation: the resources that stay full, the arcs that may be used, and what the users keep in
   common. For a lexicographic rule and a linear program the exact dual solutions tell (solvers/exact), for nb and fds the prices,
   for the game its levels (active_set.py). njc at the answer of its market is nb.
2. Where this active set is *regular*, its equations give the derivatives: for all capacities at once, one linear system.
3. Elsewhere a lexicographic rule is solved again in rationals at c_ir + h and c_ir - h, h = STEP c_ir; for nb, fds and the game
   the derivatives at c_ir (1 + h) are extrapolated to h = 0, from each side. What neither gives is nan, with a sentence. A
   capacity of 0 can only grow: h is a part of the largest capacity of its resource then, and the left derivative is nan.

Where a mechanism has many answers, derivatives are those of the answers through the given one. Where others with other tasks lie
next to it (PS-DSF, a user at its limit with several servers, njc apart from its market), a sentence says so and all is nan.

**The equations.** With the loads l_ra = d_ra / c_r, changes dx_a on the arcs in use and a change dc_s of one capacity,

    sum_a l_ra dx_a = dc_s / c_s if r = s, else 0                     for every full resource r with a price
    sum_{a of n} dx_a = 0                                             for users whose tasks all run

    lexicographic:   rate_n du_n + u_n d rate_n = dg_k                for the users fixed in round k at the level g_k
    linear:          rate_n du_n + u_n d rate_n = dg                  max-min: for the users who bound the level g
    the game:        see active_set.py
    nb, fds:         alpha du_n / u_n + sum_r l_ra dp_r / m_n = (1 - alpha) d sigma_n / sigma_n      for every arc a in use

On servers that share time (ps-dsf-tdm) a task takes the part 1 / gamma_na of a server's time, which is the one resource: the
right side of its row is the time saved, sum_a (x_a / gamma_a) d log gamma_a. Variants are mixed as in the allocation's instance.

m_n is the marginal utility, p_r the prices in parts of capacity; nb has alpha = 1. Shares are parts of the totals, so the rates
change with capacities too, with a kink where two resources are equally dominant: then the two sides differ, and so do their
right-hand sides here.

**Regular** means: the equations have a solution for the change, du is unique in it, and some allocation of the active set has
tasks on all of its arcs, room on all other resources and tasks left for all other users (a linear program). For a lexicographic
rule the levels of two rounds differ besides. Then x + dc dx fulfils the conditions of optimality for small dc > 0 with the same
signs: raw prices p_r / c_r stay what they are, or change by a little, and everything strict stays strict.
"""

import math
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.analysis.active_set import ActiveSet, NotUnique, active_set_of_game
from fairalloc.formulations import Mechanism, mechanism_of
from fairalloc.formulations.common.first_order import reference_prices
from fairalloc.formulations.fds import FairDominantShares
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import monopolies
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.ps_dsf_tdm import TimeShared, time_shared
from fairalloc.formulations.uniform import Uniform
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, InstanceError, NotInstalled
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen
from fairalloc.models.proofs import ExactProgram, ExactRound
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.tables import Grid
from fairalloc.solvers import solve
from fairalloc.solvers.exact.exact import solve_exactly
from fairalloc.solvers.judge import proved
from fairalloc.solvers.method import Limits, Stopped
from fairalloc.solvers.options import ACCURACY

__all__ = ["Sensitivity", "sensitivity"]

STEP = Fraction(1, 10**9)
"""The relative step of a re-solve in rationals, where nothing is rounded: what it misses is of this order."""

FROM_0 = Fraction(1, 10**4)
"""The same where a capacity is 0, with half of it beside it: nothing in floating point finds the answer much nearer to 0."""

NEARBY = (1e-2, 1e-3)
"""How far from the allocation derivatives of nb and fds are taken where they are not regular at it, in parts of the capacity."""

STRICT = 1e-7
"""What is above 0 by less, in parts of a server or of a price, is not taken for positive; where rationals tell the active set."""

STRICT_IN_FLOATS = 1e-4
"""The same for nb and fds, whose tasks are known to 1e-6 where a capacity is full at price 0."""

ROUNDED = 1e-12
"""Levels that differ relatively by less could be the same: shares without rationals are rounded."""

FOLLOWED = 1e-3
"""How far tasks next to the allocation may be from what the derivatives say, relative to the largest: more is another answer."""

FULL = 1e-5
"""The slack up to which a resource with a price is full: tasks are answers in floating point."""

SOLVED = 1e-8
"""The relative residual up to which a linear system counts as solved, and a change of tasks in its null space as none."""


DIGITS = 4
"""So many digits of the largest derivative by a capacity are shown of all of them."""

FIXED = 4
"""Columns of the table before those of the users."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """One-sided derivatives of each user's tasks by each capacity.

    Attributes
    ----------
    allocation : whose tasks move
    up, down : (N, K, R) tasks a unit of `capacities[i, r]`, where it grows and where it shrinks; nan where it cannot be told, and
        to the left of a capacity of 0
    how : (K, R) "active set", "rationals" (solved again next to c), "nearby" (extrapolated from each side), or ""
    reason : why something could not be told, or ""
    """

    allocation: Allocation
    up: Floats
    down: Floats
    how: NDArray[np.str_]
    reason: str = ""

    @property
    def two_sided(self) -> Floats:
        """(N, K, R) the derivatives where both sides agree, nan elsewhere."""
        same = np.isclose(self.up, self.down, rtol=1e-5, atol=1e-9 * np.nanmax(np.abs(self.up), initial=0.0))
        return np.where(same, self.up, np.nan)

    def to_frame(self) -> Any:
        """A DataFrame of pandas: (server, resource, user) x (up, down, how).

        Raises
        ------
        NotInstalled : pandas is missing
        """
        try:
            import pandas as pd
        except ImportError:
            raise NotInstalled("data frames need pandas: pip install pandas") from None
        instance = self.allocation.instance
        names = ["server", "resource", "user"]
        index = pd.MultiIndex.from_product([instance.servers, instance.resources, instance.users], names=names)
        columns = {"up": self.up, "down": self.down, "how": np.broadcast_to(self.how, self.up.shape)}
        return pd.DataFrame({key: np.moveaxis(value, 0, -1).ravel() for key, value in columns.items()}, index)

    def grid(self) -> Grid:
        """The table: a column for each user and a row for each capacity, or two where a side differs from the other.

        Numbers have four digits of the largest one of their capacity.
        """
        instance, same = self.allocation.instance, np.isfinite(self.two_sided)
        rows = []
        for i, r in np.ndindex(instance.K, instance.R):
            start = [instance.servers[i], instance.resources[r], str(self.how[i, r])]
            more, less = _written(self.up[:, i, r], self.down[:, i, r])
            if more == less or np.all(same[:, i, r]):
                rows.append([*start, "more or less", *more])
            else:
                rows += [[*start, "more", *more], [*start, "less", *less]]
        columns = ["server", "resource", "how", "capacity", *instance.users]
        title = f"tasks of {self.allocation.mechanism} a unit of capacity"
        return Grid(title, columns, rows, [self.reason] if self.reason else [], right=range(FIXED, FIXED + instance.N))

    def __str__(self) -> str:
        return "\n".join(block.text() for block in self.grid().blocks(FIXED))

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.up.shape))
        return f"<Sensitivity of {self.allocation.mechanism}: {size}, {np.isfinite(self.two_sided).mean():.0%} two-sided>"


def _written(*sides: Floats) -> list[list[str]]:
    """Derivatives by one capacity as text, rounded to DIGITS digits of the largest of them."""
    largest = max((float(np.abs(v)) for side in sides for v in side if np.isfinite(v)), default=0.0)
    places = DIGITS - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    return [[f"{round(v, places) + 0.0:.{DIGITS}g}" for v in side.tolist()] for side in sides]


def sensitivity(
    allocation: Allocation, mechanism: str | Mechanism | type[Mechanism] | None = None, time_limit: float | None = None
) -> Sensitivity:
    """How each user's tasks move with each capacity of the allocation's instance.

    Parameters
    ----------
    allocation : an answer of a mechanism; its tasks are taken to be right
    mechanism : whose answer it is; None = that of the allocation, with its parameters
    time_limit : seconds, after which what is not known yet is left out; None = no limit

    Returns
    -------
    Derivatives to the right and to the left in tasks a unit of `capacities[i, r]`, nan with a sentence where they cannot be told

    Raises
    ------
    InstanceError : the allocation has no point, or names no mechanism

    Examples
    --------
    >>> pool = Instance([[1, 0], [0, 1]], [[6, 4]])
    >>> sensitivity(solve(pool, "lmmf")).up[:, 0, :]
    array([[1., 0.],
           [0., 1.]])
    """
    if not isinstance(allocation, Allocation) or not allocation.has_point:
        raise InstanceError("sensitivity needs an allocation with a point")
    if mechanism is None and not allocation.mechanism:
        raise InstanceError("the allocation names no mechanism, so sensitivity needs one: sensitivity(allocation, mechanism)")
    item = mechanism_of(allocation, mechanism)
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    return _Work(allocation, item, deadline).result()


def _written_for(item: Mechanism, allocation: Allocation) -> Mechanism:
    """The mechanism itself; for njc at the answer of its market (formulations/njc.py (c)) that market, nb.

    The shares of a rule of one's own without `exact_share` are taken to be the rationals that the floats are.
    """
    if isinstance(item, Leximin) and item.exact_share is None:
        item = copy(item)
        share = item.share
        item.exact_share = lambda instance: tuple(Fraction(float(s)) for s in share(instance))
        return item
    if not isinstance(item, NoJustifiedComplaints) or item.home(allocation.instance) != allocation.instance:
        return item
    market = NashBargaining()
    return market if proved(market, replace(allocation, prices=None)).residual <= ACCURACY["mid"] else item


class _Work:
    """The derivatives as far as they are known."""

    def __init__(self, allocation: Allocation, item: Mechanism, deadline: float) -> None:
        self.allocation, self.item, self.deadline = allocation, _written_for(item, allocation), deadline
        self.instance = allocation.instance
        shape = (self.instance.N, self.instance.K, self.instance.R)
        self.sides = np.full((2, *shape), np.nan)
        self.where = time_shared(self.instance) if isinstance(item, TimeShared) else self.instance
        self.strict = STRICT if isinstance(item, Leximin | Utilitarian) else STRICT_IN_FLOATS
        self.how = np.full(shape[1:], "", dtype="<U12")
        self.reason = ""

    @property
    def limits(self) -> Limits:
        return Limits(deadline=self.deadline)

    def result(self) -> Sensitivity:
        """What is known, with both sides."""
        if reason := self._unable():
            self.reason = reason
        else:
            try:
                self._derive()
            except NotUnique as found:
                self.sides[:], self.how[:], self.reason = np.nan, "", str(found)
        up, down = self.sides
        zero = self.instance.capacities == 0
        down[:, zero] = np.nan
        return Sensitivity(self.allocation, frozen(up), frozen(down), self.how, self.reason)

    def _derive(self) -> None:
        """Steps 1 to 3."""
        try:
            self._by_active_set()
        except (Stopped, FairallocError) as error:
            self.reason = str(error) or "there was no time to find the active set"
        self._again()

    def _unable(self) -> str:
        item = self.item
        if isinstance(item, NoJustifiedComplaints):
            return "njc allows many allocations, and this one is not that of its market (nb), so its tasks have no derivatives"
        if not isinstance(item, Leximin | Utilitarian | NashBargaining | FairDominantShares | Equilibrium):
            return f"the tasks of {item.id!r} are not unique in general, so they have no derivatives"
        if item.home(self.instance) != self.instance and not self._one_answer:
            return f"{item.id!r} is written on another instance than that of the allocation"
        return ""

    @property
    def _one_answer(self) -> bool:
        """Whether the tasks are unique wherever the mechanism is defined: not those of one linear program over all users."""
        return isinstance(self.item, Uniform) or (isinstance(self.item, Leximin) and not isinstance(self.item, MaxMin))

    # ---- step 2 -----------------------------------------------------------------------------------------------------

    def _by_active_set(self) -> ActiveSet | None:
        """Fill in what the active set tells; returns it where it is regular."""
        from scipy.linalg import lstsq, null_space

        active = self._active_set()
        if active is None or not self._interior(active):
            self.reason = "the active set is not regular"
            return None
        arcs, rows = self.where.arcs, np.flatnonzero(active.rows)
        count, extra = int(active.arcs.sum()), active.equations.shape[1] - int(active.arcs.sum())
        gamma = arcs.gamma[active.arcs]
        owner = arcs.owner[:, active.arcs].toarray() * gamma
        loads = arcs.load[rows][:, active.arcs].toarray() * gamma
        pad = [np.zeros((size, extra)) for size in (len(rows), int(active.held.sum()))]
        equations = active.equations * np.concatenate([gamma, np.ones(extra)])
        matrix = np.vstack([np.hstack([loads, pad[0]]), np.hstack([owner[active.held], pad[1]]), equations])
        across = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), 1e-300)[:, None]
        free = null_space(matrix / across, rcond=1e-11)
        tasks = np.maximum(self.allocation.tasks, 1e-6 * self.allocation.tasks.max())[:, None]
        if np.abs(owner @ free[:count] / tasks).max(initial=0.0) > SOLVED:
            if isinstance(self.item, Equilibrium):
                raise NotUnique(f"there are other answers of {self.item.id!r} next to this one, so its tasks have no derivatives")
            self.reason = "the tasks are not unique"
            return None
        capacities = self.instance.capacities.ravel()
        own = np.divide(1.0, capacities, out=np.zeros_like(capacities), where=capacities > 0)
        for side, change in enumerate(active.changes):
            supply = self._supply(side)[rows]
            right = np.vstack([supply, np.zeros((int(active.held.sum()), len(own))), change]) / across
            step = lstsq(matrix / across, right, cond=1e-12, lapack_driver="gelsy")[0]
            lack = np.abs(matrix / across @ step - right).max(axis=0, initial=0.0)
            good = (lack <= SOLVED * np.maximum(np.abs(right).max(axis=0, initial=0.0), own)) & (capacities > 0)
            found = np.where(good, owner @ step[:count], np.nan).reshape(self.sides[side].shape)
            self.sides[side] = found
        self.how[np.isfinite(self.sides).all(axis=(0, 1))] = "active set"
        return active

    def _supply(self, side: int) -> Floats:
        """(rows of `where`, K R) what each capacity adds to a row, in parts; where time is shared, what tasks save of it."""
        capacities = self.instance.capacities.ravel()
        if self.where is self.instance:
            return np.diag(np.divide(1.0, capacities, out=np.zeros_like(capacities), where=capacities > 0))
        arcs = self.where.arcs
        faster = self._slopes(monopolies)[side] / arcs.gamma[:, None]
        return np.asarray(arcs.load @ (np.maximum(self.allocation.x, 0.0)[:, None] * faster))

    def _active_set(self) -> ActiveSet | None:
        if isinstance(self.item, NashBargaining | FairDominantShares):
            return self._of_prices()
        if isinstance(self.item, Equilibrium):
            in_units = replace(self.allocation, instance=self.where, prices=None)
            return active_set_of_game(in_units, self.item, self._slopes, self.strict)
        proof = solve_exactly(self.item, self.item.domain(self.instance), self.limits).proof
        if self.item.domain(self.instance) != self.instance:
            return None
        return self._of_program(proof) if isinstance(proof, ExactProgram) else self._of_rounds(proof)

    def _of_rounds(self, rounds: tuple[ExactRound, ...]) -> ActiveSet | None:
        """Of a lexicographic rule; None where two rounds have the same level or a user is fixed for two reasons."""
        assert isinstance(self.item, Leximin)
        arcs, N = self.instance.arcs, self.instance.N
        levels = [part.level for part in rounds]
        if any(b <= a or float(b - a) <= ROUNDED * float(b) for a, b in pairwise(levels)):
            return None
        rows, open_ = np.zeros(arcs.load.shape[0], bool), np.ones(len(arcs), bool)
        held, group = np.zeros(N, bool), np.zeros(N, int)
        full = np.isclose(self.allocation.tasks, self.instance.max_tasks, rtol=self.strict, atol=0.0)
        for k, part in enumerate(rounds):
            users, worth = list(part.users), np.array([float(y) for y in part.worth])
            if any(full[n] and worth[n] > 0 for n in users):
                return None
            group[users], held[users] = k, full[users]
            self._add_prices(np.array([float(p) for p in part.prices]), rows, open_)
        return self._common(rows, open_, held, ~held, group, len(rounds))

    def _of_program(self, proof: ExactProgram) -> ActiveSet | None:
        """Of one linear program, max-min or utilitarian."""
        arcs = self.instance.arcs
        rows, open_ = np.zeros(arcs.load.shape[0], bool), np.ones(len(arcs), bool)
        prices, limits = (np.array([float(v) for v in values]) for values in (proof.prices, proof.limits))
        worth = np.array([float(v) for v in proof.worth])
        cost = arcs.load.T @ prices + (limits - worth)[arcs.user]
        rows |= prices > 0
        open_ &= cost <= STRICT * max(float(worth.max()), 1e-300)
        bound = worth > 0 if isinstance(self.item, MaxMin) else np.zeros(self.instance.N, bool)
        return self._common(rows, open_, limits > 0, bound, np.zeros(self.instance.N, int), 1)

    def _add_prices(self, prices: Floats, rows: NDArray[np.bool_], open_: NDArray[np.bool_]) -> None:
        """A priced resource stays full, and what costs more than the cheapest arc of its user stays empty."""
        arcs = self.instance.arcs
        rows |= prices > 0
        cost = arcs.load.T @ prices
        least = np.full(self.instance.N, np.inf)
        np.minimum.at(least, arcs.user, cost)
        open_ &= cost * arcs.gamma <= least[arcs.user] * arcs.gamma + STRICT * prices.sum() / max(len(prices), 1)

    def _common(
        self,
        rows: NDArray[np.bool_],
        open_: NDArray[np.bool_],
        held: NDArray[np.bool_],
        bound: NDArray[np.bool_],
        group: NDArray[np.intp],
        groups: int,
    ) -> ActiveSet:
        """The active set in which the `bound` users of a group keep the same weighted share."""
        arcs = self.instance.arcs
        users = np.flatnonzero(bound)
        equations = np.zeros((len(users), int(open_.sum()) + groups))
        changes = np.zeros((2, len(users), len(rows)))
        if len(users):
            assert isinstance(self.item, Leximin)
            rate = self.item.rate(self.instance)
            equations[:, : int(open_.sum())] = (sp.diags_array(rate) @ arcs.owner)[users][:, open_].toarray()
            equations[np.arange(len(users)), int(open_.sum()) + group[users]] = -1.0
            changes = -self._slopes(self.item.rate)[:, users] * self.allocation.tasks[users][:, None]
        return ActiveSet(rows, open_, held, equations, changes)

    def _of_prices(self) -> ActiveSet | None:
        """Of nb or fds, whose prices are those that prove most; None where a user has no tasks."""
        arcs, item, tasks = self.instance.arcs, self.item, self.allocation.tasks
        marginal = item.marginal(self.allocation)
        if marginal is None or np.any(marginal <= 0):
            return None
        prices = reference_prices(self.allocation, marginal).ravel()
        reduced = (arcs.load.T @ prices) / marginal[arcs.user] - 1.0
        held = np.isclose(tasks, self.instance.max_tasks, rtol=self.strict, atol=0.0)
        least = np.full(self.instance.N, np.inf)
        np.minimum.at(least, arcs.user, reduced)
        if np.any(held & (least >= -self.strict)):
            return None  # at a limit that costs nothing
        open_ = reduced - np.where(held, least, 0.0)[arcs.user] <= self.strict
        rows = prices > self.strict * prices.max()
        used = np.flatnonzero(open_ & ~held[arcs.user])
        n = arcs.user[used]
        count, priced = int(open_.sum()), np.flatnonzero(rows)
        alpha = item.alpha if isinstance(item, FairDominantShares) else 1.0
        equations = np.zeros((len(used), count + len(priced)))
        own = arcs.owner[:, open_].toarray()
        equations[:, :count] = (alpha / tasks[n])[:, None] * own[n]
        equations[:, count:] = arcs.load[priced][:, used].toarray().T / marginal[n][:, None]
        changes = np.zeros((2, len(used), len(rows)))
        if alpha != 1.0:
            sigma = global_dominant_share(self.instance)
            changes = (1.0 - alpha) * (self._slopes(global_dominant_share) / sigma[:, None])[:, n]
        return ActiveSet(rows, open_, held, equations, changes)

    def _slopes(self, function: Callable[[Instance], Floats]) -> Floats:
        """(2, N, K R) derivatives of numbers of users by each capacity, to the right and to the left, by differences."""
        instance = self.instance
        here, size = function(instance), instance.K * instance.R
        result = np.zeros((2, len(here), size))
        for j, capacity in enumerate(instance.capacities.ravel()):
            for side, sign in enumerate((1.0, -1.0) if capacity > 0 else ()):
                first, second = (function(self._moved(j, sign * h)) for h in (1e-6, 5e-7))
                slope = 2.0 * (second - here) / (sign * 5e-7) - (first - here) / (sign * 1e-6)
                result[side, :, j] = slope / capacity
        return result

    def _moved(self, j: int, part: Any) -> Instance:
        """The instance with the j-th capacity changed by a part of `_scale`; with a Fraction everything stays rational."""
        instance, exact = self.instance, isinstance(part, Fraction)
        rows: list[list[Any]] = [list(row) for row in (instance.exact if exact else instance).capacities]
        scale = self._scale(j)
        rows[j // instance.R][j % instance.R] += part * (scale if exact else float(scale))
        return instance.replace(capacities=rows)

    def _scale(self, j: int) -> Fraction:
        """The j-th capacity; where it is 0 the largest one of its resource, or 1."""
        i, r = divmod(j, self.instance.R)
        exact = self.instance.exact.capacities
        return exact[i][r] or max(row[r] for row in exact) or Fraction(1)

    def _interior(self, active: ActiveSet) -> bool:
        """Whether some allocation of the active set with these tasks has everything strict."""
        from scipy.optimize import linprog

        instance, arcs = self.instance, self.where.arcs
        here = np.flatnonzero(active.arcs)
        load = arcs.load[:, here] @ sp.diags_array(arcs.gamma[here])
        owner = arcs.owner[:, here] @ sp.diags_array(arcs.gamma[here])
        spare = np.flatnonzero(~active.rows & (np.diff(arcs.load.tocsr().indptr) > 0))
        wanted = self.allocation.tasks
        unit = np.where(wanted > 0, wanted, 1.0)
        tasks = sp.hstack([sp.diags_array(1.0 / unit) @ owner, sp.csr_array((instance.N, 1))])
        room = sp.hstack([load[spare], sp.csr_array(np.ones((len(spare), 1)))])
        positive = sp.hstack([-sp.eye_array(len(here)), sp.csr_array(np.ones((len(here), 1)))])
        cost = np.append(np.zeros(len(here)), -1.0)
        sides = np.append(np.ones(len(spare)), np.zeros(len(here)))
        below = ~active.held & (self.allocation.tasks >= instance.max_tasks * (1.0 - self.strict))
        full = load[np.flatnonzero(active.rows)]
        full = sp.hstack([full, sp.csr_array((full.shape[0], 1))])
        bounds = [(0, None)] * len(here) + [(None, 1.0)]
        loose = linprog(
            cost,
            A_ub=sp.vstack([room, positive, full, -full], format="csr"),
            b_ub=np.concatenate([sides, np.full(full.shape[0], 1.0 + self.strict / 10.0), np.full(full.shape[0], FULL - 1.0)]),
            A_eq=sp.csr_array(tasks),
            b_eq=np.maximum(wanted, 0.0) / unit,
            bounds=bounds,
            options={"primal_feasibility_tolerance": 1e-9},
        )
        if not loose.success or below.any():
            return False
        return bool(loose.x[-1] > self.strict)

    # ---- step 3 -----------------------------------------------------------------------------------------------------

    def _again(self) -> None:
        """Solve again for the capacities that are not known yet."""
        exact = self._one_answer
        if not exact and not isinstance(self.item, NashBargaining | FairDominantShares | Equilibrium):
            return
        for j in np.flatnonzero(~np.isfinite(self.sides).all(axis=(0, 1)).ravel()):
            if time.perf_counter() > self.deadline:
                self.reason = "there was no time left"
                return
            i, r = divmod(int(j), self.instance.R)
            try:
                self.sides[:, :, i, r] = self._in_rationals(int(j)) if exact else self._nearby(int(j))
                self.how[i, r] = "rationals" if exact else "nearby"
            except (ArithmeticError, NotUnique, FairallocError) as error:
                self.reason = ("a capacity of 0: " if self.instance.capacities[i, r] == 0 else "") + str(error)
        up, down = np.isfinite(self.sides).all(axis=1)
        if up.all() and down[self.instance.capacities > 0].all():
            self.reason = ""

    def _directions(self, j: int) -> tuple[int, ...]:
        """To the right and to the left; a capacity of 0 has no left."""
        return (1, -1) if self.instance.capacities.flat[j] > 0 else (1,)

    def _in_rationals(self, j: int) -> Floats:
        """(2, N) difference quotients at c (1 +- STEP); ArithmeticError where the tasks jump at a capacity of 0."""
        here = self._exact_tasks(self.instance)
        result = np.full((2, self.instance.N), np.nan)
        if self.instance.capacities.flat[j] == 0:
            far, near = (self._quotient(j, here, part) for part in (FROM_0, FROM_0 / 2))
            if not np.allclose(near, far, rtol=FOLLOWED, atol=FOLLOWED * self.allocation.tasks.max() / float(self._scale(j))):
                raise ArithmeticError("the tasks jump, or have no finite derivative, where a capacity of 0 grows")
            result[0] = 2.0 * near - far
            return result
        for side, sign in enumerate((1, -1)):
            result[side] = self._quotient(j, here, sign * STEP)
        return result

    def _quotient(self, j: int, here: tuple[Fraction, ...], part: Fraction) -> Floats:
        """(N,) changes of tasks over the change of the j-th capacity by a part."""
        by, there = part * self._scale(j), self._exact_tasks(self._moved(j, part))
        return np.array([float((b - a) / by) for a, b in zip(here, there, strict=True)])

    def _exact_tasks(self, instance: Instance) -> tuple[Fraction, ...]:
        left = None if np.isinf(self.deadline) else max(self.deadline - time.perf_counter(), 1e-3)
        tasks = solve(instance, self.item, "exact", time_limit=left).tasks_exact
        if tasks is None:
            raise ArithmeticError("the rule could not be solved in rationals next to the allocation")
        return tasks

    def _nearby(self, j: int) -> Floats:
        """(2, N) limits of the derivatives at c (1 +- h), c (1 +- h / 2), c (1 +- h / 4), by a parabola in h."""
        result = np.full((2, self.instance.N), np.nan)
        for side, sign in enumerate(self._directions(j)):
            result[side] = self._limit(j, sign)
        return result

    def _limit(self, j: int, sign: float) -> Floats:
        """The limit from one side; ArithmeticError where there is another kink nearby, or where the tasks do not go to ours."""
        for h in NEARBY:
            found = [self._moved_derivative(j, sign * h / part) for part in (1, 2, 4)]
            if not all(np.array_equal(each.active, found[0].active) for each in found):
                continue  # another kink between them
            one, two, four = (each.derivative for each in found)
            result: Floats = (8.0 * four - 6.0 * two + one) / 3.0
            expected = self.allocation.tasks + sign * h / 4.0 * float(self._scale(j)) * (result + four) / 2.0
            if np.abs(found[2].tasks - expected).max() > FOLLOWED * self.allocation.tasks.max():
                raise ArithmeticError("next to the allocation the tasks are those of another answer, so they have no derivative")
            return result
        raise ArithmeticError("next to the allocation the active set changes again and again")

    def _moved_derivative(self, j: int, part: float) -> "_Neighbour":
        """What is known where the j-th capacity is 1 + part times as large."""
        left = None if np.isinf(self.deadline) else max(self.deadline - time.perf_counter(), 1e-3)
        moved = self._moved(j, part)
        follow = isinstance(self.item, Equilibrium) and len(moved.arcs) == len(self.instance.arcs)
        start = self.allocation if follow else None
        solved = solve(moved, self.item, accuracy="high", time_limit=left, warm_start=start)
        there = _Work(solved, self.item, self.deadline)
        active = there._by_active_set()
        derivative = there.sides[0].reshape(self.instance.N, -1)[:, j]
        if active is None or not np.isfinite(derivative).all():
            raise ArithmeticError("the active set is regular neither at the allocation nor next to it")
        return _Neighbour(np.concatenate([active.rows, active.arcs, active.held]), derivative, solved.tasks)


class _Neighbour(NamedTuple):
    """The active set, (N,) the derivative by the capacity that was moved, and (N,) tasks."""

    active: NDArray[np.bool_]
    derivative: Floats
    tasks: Floats
