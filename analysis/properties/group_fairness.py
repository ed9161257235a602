r"""Fairness of groups (`Instance(groups=...)`), in shares V_k, the sum of sigma_n x_n over users n of node k (models/tree.py).

**Group sharing incentive**: no group would have a larger share alone on its part phi_k of every server. **Sibling
envy-freeness**: no user of a group could run more with what another user of the same group has, scaled by their weights.
**Hierarchical share guarantee** (Bhattacharya et al. 2013, there for dominant shares): every node that asks for more has at least
its part by weights of its parent's share, V_k >= (phi_k / phi_parent) V_parent.

Margins are in parts of phi_k, and of tasks that a user could run alone. Without groups they are not defined.
"""

from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings, Unsolved
from fairalloc.analysis.linear import DECIDED_BY, maximum
from fairalloc.analysis.verdict import Verdict, by_margin
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.input.groups import ROOT, Groups

NO_GROUPS = Verdict("", None, np.nan, "not defined: the instance has no groups", "direct computation")


def _nodes(h: Holdings) -> tuple[Groups, Any, Any]:
    """The groups, what a task adds to V_k / phi_k (nodes, N), and V / phi (nodes,)."""
    groups = h.instance.groups
    assert groups is not None
    shares = h.zeros(len(groups.above), h.instance.N)
    for n, own in enumerate(ExactTree.of(h.instance).above):
        shares[list(own), n] = list(own.values())
    return groups, shares, shares @ h.tasks


def group_sharing_incentive(h: Holdings, tolerance: float) -> Verdict:
    """No group would have a larger sum of shares alone on its part of every server."""
    if h.instance.groups is None:
        return NO_GROUPS
    groups, shares, levels = _nodes(h)
    gap, k = max(((_alone(h, groups, shares, k) - levels[k], k) for k in range(len(groups))), key=lambda pair: pair[0])
    name, what = groups.names[k], "would have a larger share alone on its part of every server"
    return by_margin(gap, tolerance, f"no group {what}", f"group {name!r} {what}", DECIDED_BY[h.exact], {"node": name})


def _alone(h: Holdings, groups: Groups, shares: Any, k: int) -> Any:
    """The largest V_k / phi_k on the part phi_k of every server."""
    arcs, own = h.instance.arcs, groups.members[[k]].toarray().ravel() > 0
    a = np.flatnonzero(own[arcs.user])
    user, part = arcs.user[a], h.array(groups.parts(h.instance.exact.weights))[k]
    unit = np.minimum(h.gamma[a] * part, h.limits[user])  # of tasks: with those of the user HiGHS failed at demands of 1e-9
    rows = []
    for i, r in np.argwhere(h.pools > 0):
        rows.append((arcs.server[a] == i) * h.demand[a, r] * unit / (h.pools[i, r] * (1 if r in h.own_time else part)))
    rows += [(user == n) * unit / h.limits[n] for n in np.flatnonzero(own & (h.limits < np.inf))]
    found = maximum(shares[k][user] * unit, np.array(rows), h.array([1] * len(rows)), h.exact)
    if found is None:
        raise Unsolved(f"the best that group {groups.names[k]!r} can do alone was not found")
    return found.value


def sibling_envy_freeness(h: Holdings, tolerance: float) -> Verdict:
    """No user could run more with the bundles of a user of the same group, scaled by their weights."""
    groups = h.instance.groups
    if groups is None:
        return NO_GROUPS
    better = h.zeros(h.instance.N)
    for n, own in enumerate(groups.of_user):
        beside = [m for m, group in enumerate(groups.of_user) if m != n and group == own]
        better[n] = max(h.utilities(n, h.scaled(n, h.bundles))[beside], default=better[n])
    gaps = h.gains(h.worth, better)
    n = int(np.argmax(gaps))
    gap, name = gaps[n], h.instance.users[n]
    what = "could run more with what a user of its group has, scaled by their weights"
    return by_margin(gap, tolerance, f"no user {what}", f"user {name!r} {what}", DECIDED_BY[h.exact], {"node": name})


def hierarchical_share_guarantee(h: Holdings, tolerance: float) -> Verdict:
    """Every node that asks for more has at least its part by weights of the share of its parent."""
    if h.instance.groups is None:
        return NO_GROUPS
    groups, _, levels = _nodes(h)
    top = list(groups.children[ROOT])
    root = (levels * h.array(groups.parts(h.instance.exact.weights)))[top].sum()
    asks = groups.members @ (h.tasks < h.limits * (1 - tolerance)) > 0
    gaps = [(root if group == ROOT else levels[group]) - levels[k] for k, group in enumerate(groups.above)]
    gap, k = max(((gaps[k], k) for k in np.flatnonzero(asks)), default=(0, 0), key=lambda pair: pair[0])
    name, held = (*groups.names, *h.instance.users)[k], "every node that asks for more has its part of its parent's share"
    broken = f"{name!r} has less than its part by weights of the share of its parent"
    return by_margin(gap, tolerance, held, broken, DECIDED_BY[h.exact], {"node": name})
