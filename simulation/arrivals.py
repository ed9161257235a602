r"""Users arrive one after another and nothing is taken back: dynamic DRF (Kash, Procaccia, Shah, JAIR 2014).

One server has capacities 1, and D_nr is what user n takes of resource r for a dominant share of 1. When users with a part F of
all weights are there, user n has the dominant share s_n, and had b_n before (0 for who has just come):

    max M    s.t.   s_n >= M phi_n,   s_n >= b_n                                                  for all n that are there
                    sum_n D_nr s_n <= F                                                           for all r     (dynamic)
                    sum_n D_nr s_n + rest max_n D_nr s_n / phi_n <= 1                             for all r     (cautious)

with rest = the sum of the weights that have not come. The answer is s_n = max(M phi_n, b_n).

- Dynamic: no user that came later is envied; everybody has its part of the weights at least; where all demands are
  positive, who has come cannot be given more within F of every resource.
- Cautious: nobody is envied at any time. Whoever comes may have the demands of an envied user, so that much is kept for each.

1. Sort the users there by b_n / phi_n.
2. Both left sides are convex and piecewise linear in M. So M is the least M at which one of their lines meets the right side: for
   each number of users that are raised, and for the reserve at M and at b.
3. s_n = max(M phi_n, b_n). Go on with the next user.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.modelling import cp
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen, row
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.transformations.aggregation import pooled


class Arrival(NamedTuple):
    """What an arrival changes.

    Attributes
    ----------
    user : the number of the user that comes
    level : M, the least dominant share by weight of those that are there
    tasks : (N,) tasks of all users; 0 of those that have not come
    """

    user: int
    level: float
    tasks: Floats


@checked
def arrivals(instance: Instance, order: Sequence[int] | None = None, *, cautious: bool = False) -> Iterator[Arrival]:
    """Allocations as users come.

    Parameters
    ----------
    instance : users without limits; several servers count as one, as for `drf`
    order : numbers of all users as they come; default 0, 1, 2, ...
    cautious : whether nobody may be envied at any time; else who came earlier may be

    Raises
    ------
    NotApplicable : limits, floors, groups, placement, demands by server, or an order that does not name each user once

    Examples
    --------
    Of two users with demands (1, 1/2) and (1/2, 1) the first gets half of a server, then both two thirds of a resource:

    >>> pool = Instance([[1.0, 0.5], [0.5, 1.0]], [[1.0, 1.0]])
    >>> [step.tasks.round(4).tolist() for step in arrivals(pool)]
    [[0.5, 0.0], [0.6667, 0.6667]]
    """
    came = np.arange(instance.N) if order is None else np.asarray(order, dtype=np.intp)
    if sorted(came.tolist()) != list(range(instance.N)):
        raise NotApplicable(f"order is {shown(order)}, but it must name each of the {instance.N} users once")
    return _steps(came, instance.weights, *_demands(instance), cautious)


def _demands(instance: Instance) -> tuple[Floats, Floats]:
    """(N, R) D: parts of the server that a dominant share of 1 takes; (N,) the dominant share of a task."""
    kept = {"max_tasks": np.isfinite(instance.max_tasks).any(), "min_tasks": instance.has_floors, "groups": instance.groups}
    for what in (what for what, there in kept.items() if there):
        raise NotApplicable(f"dynamic DRF is for users without {what}")
    pool = pooled(instance)
    share = global_dominant_share(pool)
    return pool.arcs.load.toarray().T / share[:, None], share


def _steps(came: NDArray[np.intp], phi: Floats, D: Floats, share: Floats, cautious: bool) -> Iterator[Arrival]:
    s, total = np.zeros(len(phi)), float(phi.sum())
    for k in range(len(came)):
        there = came[: k + 1]
        right, reserve = (1.0, phi[came[k + 1 :]].sum()) if cautious else (phi[there].sum() / total, 0.0)
        d, w, b = D[there], phi[there, None], s[there, None]
        order = np.argsort((b / w).ravel(), kind="stable")  # 1.
        slope = np.cumsum((d * w)[order], axis=0)  # 2.
        kept = np.cumsum((d * b)[order][::-1], axis=0)[::-1]
        kept = np.vstack([kept[1:], np.zeros((1, d.shape[1]))])
        at_b, at_M = reserve * (d * (b / w)).max(axis=0), reserve * d.max(axis=0)
        lines = ((right - kept - at_b, slope), (right - kept, slope + at_M))  # of the reserve at b, and at M
        levels = (np.divide(room, rise, out=np.full_like(rise, np.inf), where=rise > 0).min() for room, rise in lines)
        M = float(min(levels))
        s[there] = np.maximum(M * phi[there], s[there])  # 3.
        yield Arrival(int(came[k]), M, frozen(s / share))


@checked
def arrival_model(instance: Instance, there: Sequence[int], before: Floats, *, cautious: bool = False) -> "cp.Problem":
    """The program at the top of this file, to be edited; its value is M.

    Parameters
    ----------
    instance : of one server
    there : the numbers of the users that are there
    before : (N,) the tasks that each had
    cautious : with the last rows, so that nobody is envied at any time

    Raises
    ------
    NotApplicable : as of `arrivals`; or `there` does not name users of the instance once
    InstanceError : `before` is not one number for each user
    """
    n, b = list(there), row(before, instance.users, "before")
    if not n or len({*n} & {*range(instance.N)}) < len(n):
        raise NotApplicable(f"there is {shown(there)}, but it must name some of the {instance.N} users once")
    (D, share), phi = _demands(instance), instance.weights
    s, M = cp.Variable(len(n), name="s"), cp.Variable(name="M")
    taken = D[n].T @ s
    rows = [s >= M * phi[n], s >= (b * share)[n]]
    if cautious:
        rest = np.delete(phi, n).sum()
        rows += [taken + rest * D[m] * s[k] / phi[m] <= 1 for k, m in enumerate(n)]
    else:
        rows += [taken <= phi[n].sum() / phi.sum()]
    return cp.Problem(cp.Maximize(M), rows)
