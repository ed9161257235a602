r"""Fairness of one allocation: envy, sharing incentives, and max-min fairness where one resource decides.

Margins are signed (positive = violation) and dimensionless: tasks in units of those that the user's best arc could run alone, or
of a hundred times what it is compared with where that is less. Verdicts get the name of their property from it (property.py).

**Envy**: U_n(a_n) >= U_n((phi_n / phi_m) a_m) for all n, m. The bundle of m on a server is worth to n what n can run there.

**Envy up to one task**, of whole tasks (Lipton et al. 2004; Parkes, Procaccia, Shah 2015). Of m's bundles one task is taken away.
What is left, scaled by the weights, is worth to n the whole tasks that it can run there,

    min(floor(max_tasks_n), sum over the servers n may use of  floor(min_r a_ir / d_nr))

and that is no more than n runs, for some task of m (EF1) or for every one (EFX).

**Bottlenecks.** r is a bottleneck of n at server i if n demands it, it is full, and s_n >= s_m for all m who use it there; a user
at its limit needs none. If everybody has one among the resources that count, no s_n can be raised without lowering a smaller or
equal s_m. With one server, or one resource that counts and what users get of it as s, that is max-min fairness. The margin is

    max over n  min over r that count  max(slack_r,  max over m of min(part of r that m uses, 1 - s_n / s_m))

where slack_r is the part of r that is free.

**Weak sharing incentive** asks for the best of all divisions of the servers into N equal totals, by branch and bound over the
choices of the resource that user n runs out of at server i:

1. Take the node (a set of choices) with the smallest bound; the root has no choices.
2. Solve the linear program in which every arc with a choice runs what its chosen resource allows, and every other arc runs
   nothing. Its value is a lower bound on the largest gain over a strong sharing incentive in the whole subtree.
3. Evaluate the division found with the true minima: an upper bound. Stop when it is at most the tolerance.
4. Branch: of the user with the largest gain take the arc without a choice that runs most, one child for each resource it demands.
5. Stop when no node has a smaller bound than the best division, or, undecided, after NODES nodes.
"""

import heapq
from dataclasses import replace
from itertools import count, product
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.analysis.holdings import FEW, Holdings, Unsolved, ratio
from fairalloc.analysis.linear import DECIDED_BY, maximum
from fairalloc.analysis.verdict import Verdict, by_margin, undecided
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import told_apart
from fairalloc.solvers import solve

SOLVED, NODES, ROUNDING = 1e-6, 400, 1e-9
"""The largest residual of an answer of drfh; nodes after which weak sharing incentive is not decided; a number in floating point
is whole within the last."""


def _compared(h: Holdings, tolerance: float, worth: Any, better: Any, others: list[int | None], what: str) -> Verdict:
    """The verdict on worth >= better, both (N,) tasks; `better` comes from the bundle of others[n], described by `what`."""
    gap = h.gains(worth, better)
    n = int(np.argmax(gap))
    m, users = others[n], h.instance.users
    method = "rational arithmetic" if h.exact else "floating point"
    method += "" if h.instance.single_variant else "; packings by LP"
    scaled = ", scaled by their weights"
    source = what if m is None else f"{what} of user {users[m]!r}{scaled * bool(h.weights[n] != h.weights[m])}"
    witness = {"user": users[n], "tasks": worth[n], "better": better[n], **({} if m is None else {"other": users[m]})}
    held = f"no user would run more tasks {what}{'' if m is None else f' of another user{scaled}'}"
    own, more = told_apart(worth[n], better[n])
    now = f"runs {own} tasks"  # its own may be worth more than it runs: bundles, variants that are not its best ones
    now = now if abs(worth[n] - h.tasks[n]) <= tolerance * h.alone[n] else f"could run {own} tasks with its own"
    broken = f"user {users[n]!r} {now}, and {more} {source}"
    return by_margin(gap[n], tolerance, held, broken, method, witness)


def envy_freeness(h: Holdings, tolerance: float) -> Verdict:
    """Nobody could run more with another's bundles, scaled by the weights, on the servers it may use (K 2.1, W 3.3, Z II-B)."""
    return _envy(h, tolerance, h.bundles, h.utilities, h.worth, "with the resources")


def total_envy_freeness(h: Holdings, tolerance: float) -> Verdict:
    """The same with each user's bundles added up as if they lay on one server, placement ignored (K (1) to the letter)."""
    if not h.instance.same_everywhere:
        return undecided("totals are not comparable where demands depend on the server")
    totals = h.bundles.sum(axis=1)
    worth = np.array([h.pooled_utilities(n, totals[n : n + 1])[0] for n in range(h.instance.N)], dtype=h.x.dtype)
    return _envy(h, tolerance, totals, h.pooled_utilities, worth, "with the total resources")


def _envy(h: Holdings, tolerance: float, bundles: Any, utilities: Any, own: Any, what: str) -> Verdict:
    better = h.zeros(h.instance.N)
    others: list[int | None] = [None] * h.instance.N
    for n in range(h.instance.N):
        worth = utilities(n, h.scaled(n, bundles))
        worth[n] = 0
        others[n] = m = int(np.argmax(worth))
        better[n] = worth[m]
    return _compared(h, tolerance, own, better, others, what)


def envy_up_to_one_task(h: Holdings, tolerance: float) -> Verdict:
    """Nobody could run more whole tasks with another's bundles, scaled by the weights, less some one task of it (EF1)."""
    return _envy_up_to(h, tolerance, np.min)


def envy_up_to_any_task(h: Holdings, tolerance: float) -> Verdict:
    """Nobody could run more whole tasks with another's bundles, scaled by the weights, less any one task of it (EFX)."""
    return _envy_up_to(h, tolerance, np.max)


def _envy_up_to(h: Holdings, tolerance: float, extreme: Any) -> Verdict:
    """`extreme`: np.min over the tasks that may be taken away, or np.max."""
    instance, arcs, x, method = h.instance, h.instance.arcs, np.array(h.x, dtype=float), "by direct computation"
    if not instance.single_variant or np.abs(x - np.round(x)).max(initial=0.0) > ROUNDING:
        why = "the tasks are not whole" if instance.single_variant else "users have several variants"
        return undecided(f"it is about whole tasks in one way, and {why}", method)
    tasks, unit = arcs.owner @ np.round(x), np.array(h.alone, float)
    margin, n, m, better = 0.0, 0, 0, 0.0
    for holder in np.flatnonzero(tasks).tolist():
        more = extreme(_runs_less_a_task(h, np.round(x), holder), axis=0) - tasks
        more[holder] = -np.inf
        k = int(np.argmax(more / unit))
        if more[k] / unit[k] > margin:
            margin, n, m, better = float(more[k] / unit[k]), k, holder, float(more[k] + tasks[k])
    one, other = instance.users[n], instance.users[m]
    held = "nobody would run more whole tasks with another's resources less a task, scaled by their weights"
    broken = f"user {one!r} runs {tasks[n]:.6g} tasks, and {better:.6g} with the resources of user {other!r} less a task"
    broken += ", scaled by their weights" * bool(h.weights[n] != h.weights[m])
    witness = {"user": one, "other": other, "tasks": tasks[n], "better": better}
    return by_margin(margin, tolerance, held, broken, method, witness)


def _runs_less_a_task(h: Holdings, x: Any, holder: int) -> list[Any]:
    """For each arc where the holder runs whole tasks x (A,): (N,) what users run with its bundles, scaled, less a task there."""
    weights, most = np.array(h.weights, float), np.floor(h.instance.max_tasks + ROUNDING)
    factor, bundles = np.nan_to_num(weights / weights[holder])[:, None, None], np.array(h.bundles[holder], float)
    result = []
    for a in (a for a in h.own(holder) if x[a]):
        less = bundles.copy()
        less[h.instance.arcs.server[a]] -= np.array(h.demand[a], float)
        result.append(np.minimum(_whole_tasks(h, factor * less).sum(axis=1), most))
    return result


def _whole_tasks(h: Holdings, bundles: Any) -> Any:
    """(N, K) the whole tasks that each user runs with its own of the bundles (N, K, R) on each server."""
    arcs, result = h.instance.arcs, np.zeros((h.instance.N, h.instance.K))
    timed = np.flatnonzero(h.own_time >= 0)
    bundles[timed, 0, h.own_time[timed]] = h.pools[0, h.own_time[timed]]  # all of their own time, in any bundle
    demand = np.array(h.demand, float)
    part = np.divide(bundles[arcs.user, arcs.server], demand, out=np.full(demand.shape, np.inf), where=demand > 0)
    result[arcs.user, arcs.server] = np.floor(part.min(axis=1) + ROUNDING)
    return result


def sharing_incentive(h: Holdings, tolerance: float) -> Verdict:
    """Everybody runs at least the tasks of its part phi_n / sum phi of every server (K 2.1 and 3.3, P III-B, Z II-B, D 4)."""
    return _sharing(h, tolerance, h.weights / h.weights.sum(), "its part")


def strong_sharing_incentive(h: Holdings, tolerance: float) -> Verdict:
    """Everybody runs at least as many tasks as with 1 / N of every server (W Def 2)."""
    return _sharing(h, tolerance, h.array([1] * h.instance.N) / h.instance.N, "an equal part")


def _sharing(h: Holdings, tolerance: float, parts: Any, which: str) -> Verdict:
    better = np.array([h.utilities(n, (h.pools * part)[None])[0] for n, part in enumerate(parts)], dtype=h.x.dtype)
    return _compared(h, tolerance, h.worth, better, [None] * len(parts), f"with {which} of every server")


def weak_sharing_incentive(h: Holdings, tolerance: float) -> Verdict:
    """Some division of every resource into equal totals gives nobody more tasks than it has (W Defs 3 and 4).

    The margin is the smallest, over all such divisions, of the largest gain of a user, or a lower bound of it where the search
    ends early; where one division shows that the property holds, it is the largest gain in that division.
    """
    strong = strong_sharing_incentive(h, tolerance)
    if strong.holds:
        return replace(strong, sentence="equal parts of every server give nobody more tasks")
    if h.instance.K == 1:
        return strong  # one pool can be divided in one way only
    if not h.instance.single_variant:
        return undecided("divisions are searched for one demand vector a user only")
    return _Divisions(h, tolerance).verdict()


class _Divisions:
    """The branch and bound in the text of this module.

    Variables of the linear programs: b_nir >= 0, the part of resource r of server i that n gets, and s = t + L >= 0, where t is
    the largest gain and L = `low` a constant that makes s nonnegative.
    """

    def __init__(self, h: Holdings, tolerance: float) -> None:
        self.h, self.tolerance = h, tolerance
        self.shape = (h.instance.N, *h.pools.shape)
        self.unit = np.minimum(h.alone, FEW * h.limits)
        self.left = (h.limits - h.worth) / self.unit
        self.free = np.flatnonzero(self.left > tolerance).tolist()  # the others run all their tasks, up to rounding
        self.low = max(h.worth / self.unit)
        self.index = np.arange(np.prod(self.shape)).reshape(self.shape)
        one = h.array([1])[0]
        self.rows = [self._row(self.index[:, i, r], one) for i, r in np.argwhere(h.pools > 0)]
        self.sides = [one] * len(self.rows)
        for n, r in product(range(self.shape[0]), np.flatnonzero(h.instance.totals > 0)):
            self.rows.append(self._row(self.index[n, :, r], -h.pools[:, r] / h.pools[:, r].sum()))
            self.sides.append(-one / self.shape[0])

    def _row(self, at: Any, values: Any) -> Any:
        """Dense in rationals, else sparse."""
        if not self.h.exact:
            return sp.coo_array((np.broadcast_to(values, len(at)), (np.zeros(len(at), int), at)), (1, self.index.size + 1))
        row = self.h.zeros(self.index.size + 1)
        row[at] = values
        return row

    def verdict(self) -> Verdict:
        method, order = f"branch and bound, {DECIDED_BY[self.h.exact]}", count()
        heap: list[Any] = [(-self.low, next(order), {})]
        best, point = None, None
        for _ in range(NODES):
            if not heap or (best is not None and (best <= self.tolerance or heap[0][0] >= best)):
                break
            _, _, chosen = heapq.heappop(heap)
            bound, shares = self._least(chosen)
            gains, runs = self._gains(shares)
            worst = max(gains.values(), default=-self.low)
            if best is None or worst < best:
                best, point = worst, shares
            for child in self._branches(chosen, gains, runs):
                heapq.heappush(heap, (bound, next(order), child))
        assert best is not None, "the first division was tried"
        if best <= self.tolerance:
            sentence = "an equal partition gives nobody more tasks"
            return Verdict("", True, float(best), sentence, method, {"partition": point * self.h.pools})
        least = min([best, *(node[0] for node in heap), *self.left[self.free]])  # nobody gains more than its limit leaves
        if least > self.tolerance:
            sentence = "every equal partition gives somebody more tasks"
            return Verdict("", False, float(least), sentence, method, {"least": least})
        return undecided(f"{NODES} choices were not enough", method)

    def _least(self, chosen: dict[int, int]) -> tuple[Any, Any]:
        """Step 2: the smallest largest gain, and the parts (N, K, R); `chosen` maps arcs to the resource they run out of."""
        h, rows, sides = self.h, list(self.rows), list(self.sides)
        for n in self.free:
            own = [(a, h.instance.arcs.server[a], chosen[a]) for a in h.own(n).tolist() if a in chosen]
            runs = [h.pools[i, r] / h.demand[a, r] / self.unit[n] for a, i, r in own]
            rows.append(self._row([*(self.index[n, i, r] for _, i, r in own), self.index.size], h.array([*runs, -1])))
            sides.append(h.worth[n] / self.unit[n] - self.low)
        cost = h.array([0] * self.index.size + [-1])
        found = maximum(cost, np.array(rows) if h.exact else sp.vstack(rows), np.array(sides), h.exact)
        if found is None:
            raise Unsolved("a linear program over equal partitions was not solved")
        return -found.value - self.low, found.z[:-1].reshape(self.shape)

    def _gains(self, shares: Any) -> tuple[dict[int, Any], dict[int, Any]]:
        """Step 3: the gain of each user below its limit with these parts (N, K, R) of the pools, and the tasks of each arc."""
        h, gains, runs = self.h, {}, {}
        for n in self.free:
            for a in h.own(n).tolist():
                i, taken = int(h.instance.arcs.server[a]), h.demand[a] > 0
                runs[a] = (shares[n, i, taken] * h.pools[i, taken] / h.demand[a, taken]).min()
            gains[n] = (sum(runs[a] for a in h.own(n).tolist()) - h.worth[n]) / self.unit[n]
        return gains, runs

    def _branches(self, chosen: dict[int, int], gains: dict[int, Any], runs: dict[int, Any]) -> list[dict[int, int]]:
        """Step 4."""
        for n in sorted(gains, key=lambda k: -gains[k]):
            open_ = [a for a in self.h.own(n).tolist() if a not in chosen]
            if open_:
                a = max(open_, key=lambda k: runs[k])
                return [{**chosen, a: int(r)} for r in np.flatnonzero(self.h.demand[a] > 0)]
        return []


# ---- which resources are bottlenecks of an instance, in rationals -------------------------------------------------------


def whole_bottlenecks(instance: Instance) -> set[int]:
    """The resources that all eligible users dominantly request at every server (K Def 2)."""
    return set.intersection(*_dominant(instance).values())


def server_bottlenecks(instance: Instance) -> dict[int, int]:
    """A resource that all eligible users dominantly request, at the servers that have one (K 3.3)."""
    return {i: min(common) for i, common in _dominant(instance).items() if common}


def global_bottlenecks(instance: Instance) -> set[int]:
    """The resources that are globally dominant for all users (W 3.3); none where the global dominant share is not defined."""
    if not (instance.single_variant and instance.same_everywhere):
        return set()
    demands = np.array([vectors[0] for vectors in instance.exact.demands], dtype=object)
    pools = _nobody(instance).pools.sum(axis=0)
    return set(np.flatnonzero(_largest(ratio(demands, pools)).all(axis=0)).tolist())


def _dominant(instance: Instance) -> dict[int, set[int]]:
    """The resources of which every arc of a server takes the largest part (K 6), for each server that somebody may use."""
    h, server = _nobody(instance), instance.arcs.server
    result: dict[int, set[int]] = {}
    for i, row in zip(server.tolist(), _largest(ratio(h.demand, h.pools[server])), strict=True):
        result[i] = result.get(i, set(range(instance.R))) & set(np.flatnonzero(row).tolist())
    return result


def _largest(parts: Any) -> Any:
    return parts == parts.max(axis=1)[:, None]


def _nobody(instance: Instance) -> Holdings:
    """The exact numbers of an instance with an empty allocation."""
    return Holdings(Allocation(instance, np.zeros(instance.A)), exact=True)


def single_resource_fairness(h: Holdings, tolerance: float) -> Verdict:
    """With one resource, what users get of it by weight is max-min fair under the placement constraints (W 3.3, P II-A)."""
    if h.instance.R > 1:
        return undecided(f"there are {h.instance.R} resources")
    return _bottlenecks(h, tolerance, {i: [0] for i in range(h.instance.K)}, _amounts(h, 0))


def single_server_reduction(h: Holdings, tolerance: float) -> Verdict:
    """With one server, the allocation is that of DRF: a bottleneck for everybody, by dominant shares (W 3.3, K 2.2)."""
    if h.instance.K > 1 or not h.instance.single_variant:
        return undecided("there are several servers" if h.instance.K > 1 else "a user has several demand vectors")
    return _bottlenecks(h, tolerance, {0: list(range(h.instance.R))}, h.tasks / h.weights / h.gamma)


def bottleneck_fairness(h: Holdings, tolerance: float) -> Verdict:
    """Where all eligible users dominantly request one resource at every server, it is max-min fair (K Def 2, P III-B)."""
    common = whole_bottlenecks(h.instance)
    if not common:
        return undecided("no resource is dominantly requested by all users at all their servers")
    rho = min(common)
    return _bottlenecks(h, tolerance, {i: [rho] for i in range(h.instance.K)}, _amounts(h, rho))


def server_bottleneck_fairness(h: Holdings, tolerance: float) -> Verdict:
    """At servers where all eligible users dominantly request one resource, it is max-min fair by virtual shares (K Cor 1)."""
    if not h.instance.single_variant:
        return undecided("a user has several demand vectors")
    local = server_bottlenecks(h.instance)
    if not local:
        return undecided("no server has a resource that all its users dominantly request")
    shares = (h.tasks / h.weights)[h.instance.arcs.user] / h.gamma
    return _bottlenecks(h, tolerance, {i: [r] for i, r in local.items()}, shares)


def global_bottleneck_fairness(h: Holdings, tolerance: float) -> Verdict:
    """Where all users have the same global dominant resource, it is max-min fair among all allocations (W 3.3, Prop 8).

    That is the definition of drfh for such users, with which the tasks are compared: they are unique.
    """
    instance = h.instance
    if not global_bottlenecks(instance):
        return undecided("users have no demand vectors with the same global dominant resource")
    alone = instance if instance.groups is None else instance.replace(groups=None, weights=h.weights)
    best = solve(alone, "drfh", "exact" if h.exact else None, accuracy="high")
    if not best.residual <= SOLVED:
        raise Unsolved("the answer of drfh was not found")
    gaps = abs(h.gains(h.tasks, Holdings(best, h.exact).tasks))
    n = int(np.argmax(gaps))
    method = f"comparison with the {'exact ' if h.exact else ''}answer of drfh"
    user, tasks, fair = instance.users[n], h.tasks[n], Holdings(best, h.exact).tasks[n]
    told = told_apart(tasks, fair)
    held = "max-min fair on the global dominant resource"
    broken = f"not max-min fair: user {user!r} runs {told[0]} tasks, and {told[1]} by drfh"
    return by_margin(gaps[n], tolerance, held, broken, method, {"user": user, "tasks": tasks, "fair": fair})


def _amounts(h: Holdings, r: int) -> Any:
    """(A,) what the owner of each arc gets of a resource, by weight."""
    return (h.bundles[:, :, r].sum(axis=1) / h.weights)[h.instance.arcs.user]


def _bottlenecks(h: Holdings, tolerance: float, resources: dict[int, list[int]], shares: Any) -> Verdict:
    """Check that all users below their limits have a bottleneck among resources[i] at each server i; shares are (A,)."""
    for n in np.flatnonzero(h.instance.min_tasks)[:1]:
        return undecided(f"bottlenecks say nothing of who is at its floor, and user {h.instance.users[n]!r} has min_tasks")
    method = "a bottleneck for every user, in rationals" if h.exact else "a bottleneck for every user, in floating point"
    margin, witness = max((_worst_at(h, i, allowed, shares) for i, allowed in resources.items()), key=lambda pair: pair[0])
    if not margin > tolerance:
        return Verdict("", True, float(margin), "max-min fair: everybody has a bottleneck", method)
    sentence = f"not max-min fair: user {witness['user']!r} could have more on server {witness['server']!r}"
    sentence += f", where user {witness['other']!r} has more already" if "other" in witness else ", which has slack"
    return Verdict("", False, float(margin), sentence, method, witness)


def _worst_at(h: Holdings, i: int, allowed: list[int], shares: Any) -> tuple[Any, dict[str, Any]]:
    """The largest margin of a user at server i, and its witness; shares (A,) are compared."""
    arcs = h.instance.arcs
    here = np.flatnonzero(arcs.server == i)
    worst: tuple[Any, dict[str, Any]] = (h.zeros(1)[0], {})
    use = np.maximum(ratio(h.demand[here], h.pools[i]) * h.x[here, None], 0)
    slack = np.maximum(1 - use.sum(axis=0), 0)
    z = shares[here]
    above = np.maximum(1 - ratio(np.repeat(z[:, None], len(z), axis=1), z), 0)
    users = h.instance.users
    for k, a in enumerate(here.tolist()):
        n = int(arcs.user[a])
        left = 1 if h.limits[n] == np.inf else max(1 - h.tasks[n] / h.limits[n], 0)  # the part of its max_tasks
        options: list[tuple[Any, dict[str, Any]]] = []
        for r in [r for r in allowed if h.demand[a, r] > 0]:
            envied = np.minimum(use[:, r], above[k])
            m = int(np.argmax(envied))
            other = {"other": users[arcs.user[here[m]]]} if envied[m] >= slack[r] else {}
            options.append((max(slack[r], envied[m]), {"resource": h.instance.resources[r], **other}))
        gap, why = min([*options, (left, {})], key=lambda pair: pair[0])  # of equals one that names what is full
        if gap > worst[0]:
            worst = gap, {"user": users[n], "server": h.instance.servers[i], **why}
    return worst
