r"""How each user's tasks move with each capacity: du_n / dc_ir to the right and to the left.

1. For nb, alpha-fair and the game the active set gives derivatives for all capacities at once (active_set.py). njc without an
   objective is nb at the answer of its market.
2. Each derivative is confirmed, or else found, by solving the mechanism again at capacities next to c_ir (differences.py): in
   rationals for lexicographic rules and linear programs, in floating point for all others whose tasks are unique, mechanisms of
   one's own that say so included.
3. What is neither is not known: nan, with a sentence.

Where a mechanism has many answers, derivatives are those of the answers through the given one. Where others with other tasks lie
next to it, a sentence says so and all is nan.
"""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.active_set import NotUnique, derivatives_by_active_set
from fairalloc.analysis.differences import ROUNDED, STEPS, Neighbours
from fairalloc.formulations import Mechanism, mechanism_of
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Seconds, checked
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable
from fairalloc.models.numbers import Floats, as_json, frozen, rounded
from fairalloc.models.tables import Grid, pandas
from fairalloc.solvers.judge import proved
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.options import ACCURACY
from fairalloc.solvers.running.time_limits import within

DIGITS, FIXED, USERS = 4, 4, 20
"""Digits of a derivative that are shown; columns of the table before those of the users; users that the text shows."""

LATE = "the work was ended before"
"""Why a derivative is not known at the time limit, or where the process that computed it ended."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """One-sided derivatives of each user's tasks by each capacity.

    Attributes
    ----------
    allocation : whose tasks move
    up, down : (N, K, R) tasks a unit of `capacities[i, r]`, where it grows and where it shrinks; nan where it is not known, and
        to the left of a capacity of 0
    tolerance : (N, K, R) the bound on the error of both; with a larger error they are nan (differences.py). In floating point a
        kink nearer to the capacity than a millionth of it is not seen
    how : (K, R) "active set" (confirmed by solving again next to c), "rationals" or "differences" (solved again), or ""
    reason : why a derivative is not known, or ""
    """

    allocation: Allocation
    up: Floats
    down: Floats
    tolerance: Floats
    how: NDArray[np.str_]
    reason: str = ""

    @property
    def two_sided(self) -> Floats:
        """(N, K, R) the derivatives where both sides agree up to their tolerances, nan elsewhere."""
        return np.where(np.abs(self.up - self.down) <= 2.0 * self.tolerance, self.up, np.nan)

    @property
    def shown(self) -> Floats:
        """(2, N, K, R) `up` and `down` without the digits that answers next to the allocation leave open."""
        error = np.nan_to_num(self.tolerance) * (self.how == "differences")
        return np.asarray(np.vectorize(rounded)((self.up, self.down), error))

    def to_frame(self) -> Any:
        """A DataFrame of pandas: (server, resource, user) x (up, down, how); NotInstalled where pandas is missing."""
        pd, instance, names = pandas(), self.allocation.instance, ["server", "resource", "user"]
        index = pd.MultiIndex.from_product([instance.servers, instance.resources, instance.users], names=names)
        columns = {"up": self.up, "down": self.down, "how": np.broadcast_to(self.how, self.up.shape)}
        return pd.DataFrame({key: np.moveaxis(value, 0, -1).ravel() for key, value in columns.items()}, index)

    def grid(self) -> Grid:
        """The table: a column for each user and a row for each capacity, or two where a side differs from the other."""
        instance, same = self.allocation.instance, np.isfinite(self.two_sided)
        rows, shown = [], self.shown
        for i, r in np.ndindex(instance.K, instance.R):
            start = [instance.servers[i], instance.resources[r], str(self.how[i, r])]
            more, less = ([f"{v:.{DIGITS}g}".replace("nan", "not known") for v in side[:, i, r].tolist()] for side in shown)
            if instance.capacities[i, r] == 0:
                rows.append([*start, "more", *more])
            elif more == less or np.all(same[:, i, r]):
                rows.append([*start, "more or less", *more])
            else:
                rows += [[*start, "more", *more], [*start, "less", *less]]
        columns = ["server", "resource", "how", "capacity", *instance.users]
        title = f"tasks of {self.allocation.mechanism} a unit of capacity"
        notes = [f"Not all derivatives are known: {self.reason}."] if self.reason else []
        return Grid(title, columns, rows, notes, right=range(FIXED, FIXED + instance.N))

    def to_dict(self) -> dict[str, Any]:
        """The derivatives as a JSON document; null where one is not known."""
        instance, sides = self.allocation.instance, {"more": self.up, "less": self.down}
        return {
            "schema": "fairalloc-sensitivity/1",
            "instance": instance.name,
            "mechanism": self.allocation.mechanism,
            "reason": self.reason or None,
            "capacities": [
                {"server": instance.servers[i], "resource": instance.resources[r], "how": str(self.how[i, r]) or None}
                | {key: dict(zip(instance.users, as_json(side[:, i, r]), strict=True)) for key, side in sides.items()}
                for i, r in np.ndindex(instance.K, instance.R)
            ],
        }

    def __str__(self) -> str:
        whole, kept, more = self.grid(), FIXED + USERS, self.allocation.instance.N - USERS
        left = [f"... and {more} more users: to_dict and --format json have all"] if more > 0 else []
        rows = [row[:kept] for row in whole.rows]
        few = replace(whole, columns=whole.columns[:kept], rows=rows, notes=[*whole.notes, *left]).head()
        return "\n".join(block.text() for block in few.blocks(FIXED))

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.up.shape))
        return f"<Sensitivity of {self.allocation.mechanism}: {size}, {np.isfinite(self.two_sided).mean():.0%} two-sided>"


@checked
def sensitivity(
    allocation: Allocation, mechanism: str | Mechanism | type[Mechanism] | None = None, time_limit: Seconds | None = None
) -> Sensitivity:
    """How each user's tasks move with each capacity of the allocation's instance.

    Each derivative is confirmed by solving the mechanism again next to that capacity; nan with a sentence where it is not known.

    Parameters
    ----------
    allocation : an answer of a mechanism; its tasks are taken to be right
    mechanism : whose answer it is; None or its id = that of the allocation, with its parameters
    time_limit : seconds for the whole call, which takes at most 1.2 times as long and a second more. Derivatives that are not
        known then are left out; None = no limit

    Raises
    ------
    InstanceError : the allocation has no point, or names no mechanism

    Examples
    --------
    >>> from fairalloc import Instance, solve
    >>> pool = Instance([[1, 0], [0, 1]], [[6, 4]])
    >>> sensitivity(solve(pool, "lmmf")).up[:, 0, :]
    array([[1., 0.],
           [0., 1.]])
    """
    if not allocation.has_point:
        raise InstanceError("sensitivity needs an allocation with a point")
    item = mechanism_of(allocation, mechanism, "sensitivity")
    seconds = time_limit or np.inf
    deadline = time.perf_counter() + seconds
    named = replace(allocation, mechanism=item.id, parameters=item.parameters)  # the title and the document say whose they are
    (up, down), tolerance, how, reason = within(seconds, lambda keep: _Work(named, item, deadline).known(keep), _nothing(named))
    return Sensitivity(named, frozen(up), frozen(down), frozen(np.fmax(*tolerance)), how, reason)


Known: TypeAlias = tuple[Floats, Floats, NDArray[np.str_], str]
"""The derivatives to both sides and their tolerances, each (2, N, K, R), how they were found (K, R), why not all are known."""


def _nothing(allocation: Allocation) -> Known:
    """No derivative is known."""
    shape = (2, allocation.instance.N, *allocation.instance.capacities.shape)
    return np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape[2:], "", dtype="<U12"), LATE


def _written_for(item: Mechanism, allocation: Allocation) -> Mechanism:
    """The mechanism itself; for njc without an objective at the answer of its market (formulations/njc.py (c)) that market, nb.

    The shares of a rule of one's own without `exact_share` are taken to be the rationals that the floats are.
    """
    if isinstance(item, Leximin) and item.exact_share is None:
        item = copy(item)
        share = item.share
        item.exact_share = lambda instance: tuple(Fraction(float(s)) for s in share(instance))
        return item
    if not isinstance(item, NoJustifiedComplaints) or item.objective or item.home(allocation.instance) != allocation.instance:
        return item
    market = NashBargaining()
    return market if proved(market, replace(allocation, prices=None)).residual <= ACCURACY["mid"] else item


class _Work:
    def __init__(self, allocation: Allocation, item: Mechanism, deadline: float) -> None:
        self.allocation, self.item, self.deadline = allocation, _written_for(item, allocation), deadline
        self.rounded = isinstance(item, Leximin) and item.exact_share is None
        self.instance = allocation.instance
        self.sides, self.tolerance, self.how, _ = _nothing(allocation)
        self.reason = self._unable()

    def known(self, keep: Callable[[Known], None]) -> Known:
        if not self.reason:
            try:
                self._derive(keep)
            except NotUnique as found:
                self.sides[:], self.how[:], self.reason = np.nan, "", str(found)
            except (Stopped, FairallocError) as error:
                self.reason = str(error)
        return self.sides, self.tolerance, self.how, self.reason

    def _unable(self) -> str:
        item, programs = self.item, Leximin | Utilitarian
        if isinstance(item, NoJustifiedComplaints):
            return "njc allows many allocations, and has derivatives at that of its market (nb) alone, without an objective"
        if not (item.unique or isinstance(item, programs | Equilibrium)):
            own = "an edit or a mechanism of one's own may declare unique = True"
            return f"the tasks of {item.id!r} are not unique in general ({own})"
        if item.home(self.instance) != self.instance and not (item.unique and isinstance(item, programs)):
            return f"{item.id!r} is written on another instance than that of the allocation"
        return ""

    def _derive(self, keep: Callable[[Known], None]) -> None:
        """Steps 1 and 2."""
        exact = isinstance(self.item, Leximin | Utilitarian)
        size = self.instance.K * self.instance.R
        known, found = np.full((2, self.instance.N, size), np.nan), None
        if isinstance(self.item, AlphaFair | Equilibrium):
            found = derivatives_by_active_set(self.allocation, self.item)
            known = known if found is None else found
        near = Neighbours(self.allocation, self.item, self.deadline, exact)
        for j in range(size):
            i, r = divmod(j, self.instance.R)
            try:
                if isinstance(self.item, Equilibrium) and found is None:
                    self._require_unique(near, j)
                sides = near.exact_sides(j, self.rounded) if exact else near.checked_sides(j, known[:, :, j])
            except FairallocError as error:
                self._note(i, r, str(error))
                continue
            tolerance = near.tolerance(j, sides)
            self.sides[:, :, i, r] = np.where(np.abs(sides) <= ROUNDED * tolerance, 0.0, sides)
            self.tolerance[:, :, i, r] = tolerance * (ROUNDED if exact and not self.rounded else 1.0)
            same = np.array_equal(sides, known[:, :, j], equal_nan=True)
            if np.isfinite(sides).any():
                self.how[i, r] = "rationals" if exact else "active set" if same else "differences"
            if not np.isfinite(sides[: 2 if self.instance.capacities[i, r] else 1]).all():
                self._note(i, r, "answers next to the allocation do not confirm one")
            keep((self.sides, self.tolerance, self.how, self.reason or LATE))

    def _require_unique(self, near: Neighbours, j: int) -> None:
        """NotApplicable where nothing tells whether equilibria next to this one are alone."""
        parts = (STEPS[0], -STEPS[0])[: 2 if self.instance.capacities.flat[j] else 1]
        if any(derivatives_by_active_set(near.at(j, part), self.item) is None for part in parts):
            raise NotApplicable("the active set is not regular, or too large, at the allocation and next to it")

    def _note(self, i: int, r: int, reason: str) -> None:
        where = f"{self.instance.resources[r]} on {self.instance.servers[i]}"
        self.reason = self.reason or f"{where}: {reason}"
