r"""Fairness of groups (`Instance(groups=...)`), in shares V_k, the sum of sigma_n x_n over users n of node k (models/tree.py).

**Group sharing incentive**: no group would have a larger share alone on its part phi_k of every server. **Sibling
envy-freeness**: no user of a group could run more with what another user of the same group has, scaled by their weights.
**Hierarchical share guarantee** (Bhattacharya et al. 2013, there for dominant shares): every node that asks for more has at least
its part by weights of its parent's share, V_k >= (phi_k / phi_parent) V_parent.

Margins are in parts of phi_k, and of tasks that a user could run alone. Without groups they are not defined.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings, Unsolved
from fairalloc.analysis.linear import DECIDED_BY, maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.input.groups import ROOT, Groups

NO_GROUPS = Verdict("", None, np.nan, "not defined: the instance has no groups", "direct computation")


def _nodes(h: Holdings) -> tuple[Groups, Any, Any]:
    """The groups, what a task adds to V_k / phi_k (nodes, N), and V / phi (nodes,)."""
    groups = h.instance.groups
    assert groups is not None
    shares = h.zeros(len(groups.above), h.instance.N)
    for n, own in enumerate(ExactTree.of(h.instance).above):
        for k, share in own.items():
            shares[k, n] = share if h.exact else float(share)
    return groups, shares, shares @ h.tasks


def _verdict(h: Holdings, tolerance: float, margin: Any, k: int, held: str, broken: str) -> Verdict:
    groups = h.instance.groups
    assert groups is not None
    name = (*groups.names, *h.instance.users)[k]
    if not margin > (0 if h.exact else tolerance):
        return Verdict("", True, float(margin), held, DECIDED_BY[h.exact])
    return Verdict("", False, float(margin), broken.format(name=repr(name)), DECIDED_BY[h.exact], {"node": name})


def group_sharing_incentive(h: Holdings, tolerance: float) -> Verdict:
    """No group would have a larger sum of shares alone on its part of every server."""
    if h.instance.groups is None:
        return NO_GROUPS
    groups, shares, levels = _nodes(h)
    gaps = [_alone(h, groups, shares, k) - levels[k] for k in range(len(groups))]
    k = max(range(len(gaps)), key=lambda j: gaps[j])
    broken = "group {name} would have a larger share alone on its part of every server"
    return _verdict(h, tolerance, gaps[k], k, "no group would have a larger share alone on its part of every server", broken)


def _alone(h: Holdings, groups: Groups, shares: Any, k: int) -> Any:
    """The largest V_k / phi_k on the part phi_k of every server."""
    arcs, own = h.instance.arcs, np.flatnonzero(groups.members[[k]].toarray().ravel())
    a = np.flatnonzero(np.isin(arcs.user, own))
    phi = groups.parts(h.instance.exact.weights)[k]
    part = phi if h.exact else float(phi)
    rows, sides = [], []
    for i in range(h.instance.K):
        for r in np.flatnonzero(h.instance.capacities[i] > 0).tolist():
            rows.append(np.where(arcs.server[a] == i, h.demand[a, r], h.zeros(len(a))))
            sides.append(h.pools[i, r] * (1 if r in h.own_time else part))
    for n in own.tolist():
        if h.limits[n] < np.inf:
            rows.append(h.array([Fraction(int(m == n)) for m in arcs.user[a].tolist()]))
            sides.append(h.limits[n])
    found = maximum(shares[k][arcs.user[a]], np.array(rows), np.array(sides), h.exact)
    if found is None:
        raise Unsolved(f"the best that group {groups.names[k]!r} can do alone was not found")
    return found.value


def sibling_envy_freeness(h: Holdings, tolerance: float) -> Verdict:
    """No user could run more with the bundles of a user of the same group, scaled by their weights."""
    groups = h.instance.groups
    if groups is None:
        return NO_GROUPS
    worst, k = -np.inf, len(groups)
    for n in range(h.instance.N):
        beside = [m for m, group in enumerate(groups.of_user) if m != n and group == groups.of_user[n]]
        factor = (h.weights[n] / h.weights).reshape(-1, 1, 1)
        worth = h.utilities(n, h.bundles * factor)
        gap = max(((worth[m] - h.worth[n]) / h.alone[n] for m in beside), default=-np.inf)
        worst, k = (gap, len(groups) + n) if gap > worst else (worst, k)
    margin = worst if worst > -np.inf else 0
    broken = "user {name} could run more with what a user of its group has"
    return _verdict(h, tolerance, margin, k, "no user could run more with what a user of its group has", broken)


def hierarchical_share_guarantee(h: Holdings, tolerance: float) -> Verdict:
    """Every node that asks for more has at least its part by weights of the share of its parent."""
    if h.instance.groups is None:
        return NO_GROUPS
    groups, _, levels = _nodes(h)
    parts = groups.parts(h.instance.exact.weights)
    total = sum(float(levels[k] * (parts[k] if h.exact else float(parts[k]))) for k in groups.children[ROOT])
    root = sum((levels[k] * parts[k] for k in groups.children[ROOT]), Fraction(0)) if h.exact else total
    limited = [h.tasks[n] >= h.limits[n] * (1 if h.exact else 1.0 - tolerance) for n in range(h.instance.N)]
    asks = groups.members @ ~np.array(limited, dtype=bool) > 0
    gaps = [(root if group == ROOT else levels[group]) - levels[k] for k, group in enumerate(groups.above)]
    k = max(np.flatnonzero(asks).tolist() or [0], key=lambda j: gaps[j])
    margin = gaps[k] if asks.any() else 0
    broken = "{name} has less than its part by weights of the share of its parent"
    return _verdict(h, tolerance, margin, k, "every node that asks for more has its part of its parent's share", broken)
