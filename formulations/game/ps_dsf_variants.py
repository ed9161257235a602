r"""PS-DSF with several variants: prices for each user in place of bottlenecks (P Definition 2, not in K and P).

One server. y_nv are user n's tasks by variant v as parts of its monopoly, w_nvr y_nv the part of resource r that they take, t_n =
sum_v y_nv, z_n = b_n + t_n / phi_n with b_n from the other servers, and c_m(p) = min_v sum_r w_mvr p_r. Definition 2 (nobody gets
more without less for an m with z_m <= z_n) holds iff every n with x_n < M_n has prices p >= 0 with c_n(p) > 0 and

    (i)   p_r > 0 only where r is full
    (ii)  y_mv > 0 and z_m > z_n only where p . w_mv = 0: who has a larger share uses nothing that has a price
    (iii) y_mv > 0 and z_m <= z_n only where p . w_mv = c_m(p): the others, n among them, use their cheapest variants

docs/reference/derivations.md proves that, that answers exist, and that one *layer* of prices for each share of a server is
enough. **Residual**, `max_min_gap`: the least tau in [0, 1] such that every user with 1 - x_n / M_n > tau has a p >= 0 with

    (i)   sum_r p_r slack_r <= tau c_n(p) x_n / gamma_n: what is free is worth the part tau of n's tasks at most
    (ii)  p . w_mv = 0 where o_mv > tau and 1 - z_n / z_m > tau
    (iii) p . w_mv - c_m(p) <= tau c_n(p) where o_mv > tau and 1 - z_n / z_m <= tau

with the part o_mv of all its tasks that m runs by v here. For fixed tau these are linear programs with c_n(p) = 1. With one
variant it is `bottleneck_gap` of residual.py.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.feasibility import slack_of
from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program

FLOOR, ACCURACY = 1e-13, 0.02
"""The least tau that is tried, the rounding error of a sum of tasks; how much larger, relative, the residual may be than it
is."""

SURE, PAID = 1e-6, 1.0 - 1e-6
"""The c_n(p) from which on prices of others are surely positive for n, and from which on a program has found n's own, of cost
1."""

OPEN = 1e4
"""A resource has no price where a price of 1 would make what is free of it worth this many times what (i) allows."""


def relative_gains(slack: Floats, w: Floats, total: Floats) -> Floats:
    """(m, R) s = slack / (w total), at most 1, and 1 where w is 0; slack is (R,), or (m, R) of arcs of several servers."""
    room = w * total[:, None]
    return np.where(w > 0, slack / np.maximum(room, slack + np.finfo(float).tiny), 1.0)


class ShareLayer(NamedTuple):
    """For the users `needy` (G,) of one share: the resources (R,) that are allowed, the arcs (m,) that must be cheapest."""

    needy: NDArray[np.intp]
    allowed: NDArray[np.bool_]
    cheapest: NDArray[np.bool_]


@dataclass(frozen=True)
class OneServer:
    """The m arcs of one server.

    w : (m, R) the part of each resource that a monopoly uses
    y : (m,) tasks as parts of a monopoly
    z : (m,) the weighted virtual dominant share of the arc's user
    wanted : (m,) 1 - x_n / M_n of the arc's user
    user : (m,) int
    total : (m,) all tasks of the arc's user, on other servers too, as parts of its monopoly here
    """

    w: Floats
    y: Floats
    z: Floats
    wanted: Floats
    user: NDArray[np.intp]
    total: Floats

    @cached_property
    def own(self) -> Floats:
        """(m,) o: the part of all its tasks that the user runs on the arc."""
        return np.divide(self.y, self.total, out=np.zeros(len(self.y)), where=self.total > 0)

    @cached_property
    def slack(self) -> Floats:
        """(R,) the free part of each resource."""
        return slack_of(self.y @ self.w, len(self.y))

    @cached_property
    def others(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The pairs (a, b) of different arcs of one user."""
        owner = sp.csr_array((np.ones(len(self.user)), (np.arange(len(self.user)), self.user)))
        b, a = (owner @ owner.T).tocsc().nonzero()
        return a[a != b], b[a != b]

    def layers(self, tau: float) -> list[ShareLayer]:
        """One for each set of arcs that (ii) bars, the smallest shares first."""
        served = self.own > tau
        larger = np.sort(self.z[served] * (1.0 - tau))
        barring = len(larger) - np.searchsorted(larger, self.z, side="right")  # who is served and has a larger share
        wanting = self.wanted > tau
        result = []
        for count in -np.unique(-barring[wanting]):
            needy = np.flatnonzero(wanting & (barring == count))
            above = served & (self.z * (1.0 - tau) > self.z[needy].max())
            allowed = ~(self.w[above] > 0).any(axis=0)
            result.append(ShareLayer(np.unique(self.user[needy]), allowed, served & ~above))
        return result

    def prices(self, layer: ShareLayer, tau: float) -> Floats:
        """(R,) one p for all users of the layer who can have it together: c_n(p) = 1 for these, less for the others."""
        result, own = np.zeros(self.w.shape[1]), np.isin(self.user, layer.needy)
        scale = self.w[own].max(axis=0)  # a price that these users do not pay may make a variant of others the cheapest
        scale = np.where(scale > 0, scale, self.w.max(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            free = self.slack / (tau * self.total[own].min() * scale)
        some = np.flatnonzero(layer.allowed & (scale > 0) & (free < OPEN))
        if not len(some):
            return result
        scale, w = scale[some], self.w[:, some] / scale[some]
        a, b = self.others
        must = layer.cheapest[a]
        excess = sp.csr_array(w[a[must]] - w[b[must]])
        columns = np.searchsorted(layer.needy, self.user[own])
        pays = sp.csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), len(layer.needy)))
        worth = sp.csr_array(free[None, some])
        rows = sp.block_array([[-sp.csr_array(w[own]), pays], [excess, None], [worth, None]], format="csr")
        sides = np.concatenate([np.zeros(len(columns)), np.full(excess.shape[0], tau), [1.0]])
        cost = np.concatenate([np.zeros(len(some)), -np.ones(len(layer.needy))])
        bounds = [(0.0, None)] * len(some) + [(0.0, 1.0)] * len(layer.needy)
        answer = linear_program(cost, rows, sides, TEN_DIGITS, bounds=bounds)
        if answer.x is not None:
            result[some] = np.maximum(answer.x[: len(some)], 0.0) / scale
        return result

    def proves(self, tau: float) -> bool:
        """Whether every user that wants more than tau has its prices."""
        known: list[tuple[Floats, float, float]] = []
        for layer in self.layers(tau):
            open_ = self._open(layer.needy, known, tau)
            groups = [open_, *(open_[k : k + 1] for k in range(len(open_)) if len(open_) > 1)]  # together, then one by one
            for group in groups:
                needy = self._open(group, known, tau)
                if len(needy):
                    p = self.prices(layer._replace(needy=needy), tau)
                    known.append((p, self.excess(p, layer.cheapest), float(self.slack @ p)))
                    if len(group) == 1 and self._least(self.w @ p, needy)[0] < PAID:
                        return False
        return True

    def _open(self, users: NDArray[np.intp], known: list[tuple[Floats, float, float]], tau: float) -> NDArray[np.intp]:
        """The users for whom prices of smaller shares are not enough."""
        for p, excess, worth in known:
            cost = self._least(self.w @ p, users)
            free = worth > (1.0 + SURE) * tau * cost * self._least(self.total, users)
            users = users[(cost < SURE) | free | ((excess > tau * cost) & (cost < PAID))]
        return users

    def excess(self, p: Floats, arcs: NDArray[np.bool_]) -> float:
        """The largest p . w_mv - c_m(p) on these arcs (m,)."""
        a, b = self.others
        must = arcs[a]
        return float(((self.w[a[must]] - self.w[b[must]]) @ p).max(initial=0.0))

    def _least(self, values: Floats, users: NDArray[np.intp]) -> Floats:
        """(G,) the least of values (m,) over the arcs of each of these users (G,), in rising order."""
        own = np.isin(self.user, users)
        result = np.full(len(users), np.inf)
        np.minimum.at(result, np.searchsorted(users, self.user[own]), values[own])
        return result


def max_min_gap(server: OneServer) -> float:
    """How far a server is from (D): the least tau, in [0, 1], up to ACCURACY; 0 stands for at most FLOOR.

    Examples
    --------
    One user that runs its first variant only, where half of each would be 4/3 times as much:

    >>> w, y = np.array([[4 / 3, 2 / 3], [2 / 3, 4 / 3]]), np.array([0.75, 0])
    >>> one = OneServer(w, y, np.ones(2), np.ones(2), np.zeros(2, int), np.full(2, 0.75))
    >>> round(max_min_gap(one), 2)
    0.25
    """
    if server.proves(FLOOR):
        return 0.0
    low, high = np.log(FLOOR), 0.0
    while high - low > ACCURACY:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if server.proves(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))
