"""Each mechanism and property once, as a predicate of an instance, an answer and a witness such as prices.

The same text is evaluated on fractions, stands in the standalone scripts, builds the formulas of the solver z3 (`FORMULAS` of
smt/reals.py), and is shown on the page of a statement. Its `logic` is handed in, `all_, any_, implies, ge, eq`: the first two
of lists of formulas, `ge` and `eq` of numbers. `EXACT` is that of fractions. The data are

    need       {arc: {resource: amount > 0}}: who may run where, and what a task takes there; arc = (user, ..., server)
    room       {(server, resource): capacity}
    x, share   {arc: tasks}, {user or arc: share}
    prices     {(server, resource): price}
"""

from collections.abc import Callable
from typing import Any

EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


# ---- what an allocation takes, and what somebody could have instead ------------------------------------------------


def used(need: Any, x: Any, i: Any, r: Any) -> Any:
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need: Any, room: Any, x: Any, *logic: Any) -> Any:
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def content(need: Any, bundle: Any, y: Any, tasks: Any, have: Any, *logic: Any) -> Any:
    """Where y, so many tasks in all, fits into a bundle, capacities by server and resource, it is no more than a user has.

    With its part of every server as the bundle that is the sharing incentive (K 2.1, P III-B), with what another user holds, by
    weight, envy-freeness (K (1), W 3.3, Z II-B), with what it is given for a misreport strategyproofness.
    """
    _, _, implies, ge, _ = logic
    return implies(feasible(need, bundle, y, *logic), ge(have, tasks))


def undominated(need: Any, room: Any, y: Any, tasks: Any, have: Any, *logic: Any) -> Any:
    """Where y, {user: tasks} in all, is feasible and gives nobody less than it has, it gives nobody more: Pareto (W 3.3)."""
    all_, _, implies, ge, _ = logic
    no_less, no_more = all_([ge(tasks[n], u) for n, u in have.items()]), all_([ge(u, tasks[n]) for n, u in have.items()])
    return implies(all_([feasible(need, room, y, *logic), no_less]), no_more)


# ---- lexicographic max-min fairness of shares (drf, drfh, tsf, lmmf), and Pareto optimality ------------------------


def keeps(need: Any, room: Any, share: Any, x: Any, users: Any, prices: Any, *logic: Any) -> Any:
    """Prices of full resources that keep these users, whose shares are equal, from more while nobody with as little has less.

    A task of theirs costs 1 or more, who has at most their share runs where its tasks cost least, and who has more runs where
    they are free. What fits costs no more than the capacities, so no more than what users with at most that share run now.
    With such prices for all users x is lexicographic (K Def 1); with prices that keep all at once it is Pareto optimal.
    """
    all_, any_, _, ge, eq = logic
    level = share[users[0]]
    cost = {a: sum(prices[a[-1], r] * q for r, q in d.items()) for a, d in need.items()}
    full = [any_([eq(p, 0), eq(used(need, x, i, r), room[i, r])]) for (i, r), p in prices.items()]
    cheap = {a: [ge(cost[b], cost[a]) for b in need if b[0] == a[0]] for a in need if share[a[0]] <= level}
    free = {a: [eq(prices[a[-1], r], 0) for r in need[a]] for a in need}
    least = [any_([eq(x[a], 0), all_(cheap.get(a, free[a]))]) for a in need]
    paid = [ge(cost[a], 1) for a in need if a[0] in users]
    return all_([*(eq(share[n], level) for n in users), *(ge(p, 0) for p in prices.values()), *full, *paid, *least])


def not_raised(share: Any, other: Any, *logic: Any) -> Any:
    """Feasible shares `other` raise nobody's share without lowering one that is at most as large (K Def 1, Z Def 1)."""
    all_, any_, implies, ge, _ = logic
    lower = {m: implies(ge(other[m], share[m]), False) for m in share}
    some = {n: any_([all_([lower[m], ge(share[n], share[m])]) for m in share if m != n]) for n in share}
    return all_([any_([ge(share[n], other[n]), some[n]]) for n in share])


# ---- PS-DSF and the game: shares compared at each server, and prices that each server charges for itself -----------


def bottleneck(need: Any, room: Any, share: Any, x: Any, a: Any, r: Any, *logic: Any) -> Any:
    """Resource r is full at the server of arc a, and serves nobody there with a larger share (P (13), K Def 2)."""
    all_, any_, _, ge, eq = logic
    there = [b for b in need if b[-1] == a[-1] and r in need[b]]
    below = [any_([eq(x[b], 0), ge(share[a], share[b])]) for b in there]
    return all_([eq(used(need, x, a[-1], r), room[a[-1], r]), *below])


def ps_dsf(need: Any, room: Any, share: Any, x: Any, *logic: Any) -> Any:
    """Every user has at each of its servers a bottleneck that it demands (P Theorem 1).

    share[a] = x_n / (phi_n gamma_ni), the virtual dominant share of the user at the server of the arc.
    """
    all_, any_, _, _, _ = logic
    return all_([any_([bottleneck(need, room, share, x, a, r, *logic) for r in need[a]]) for a in need])


def equilibrium(need: Any, room: Any, worth: Any, x: Any, prices: Any, *logic: Any) -> Any:
    """Only full resources have a price; a task costs what it is worth or more, and just that where it runs (K (28)-(29)).

    worth[a] = g'(x_n / (phi_n gamma_ni)) / gamma_ni in the game; with worth[a] = w_n / u_n it is Nash bargaining (Z (3)).
    """
    all_, any_, _, ge, eq = logic
    cost = {a: sum(prices[a[-1], r] * q for r, q in d.items()) for a, d in need.items()}
    full = [any_([eq(p, 0), eq(used(need, x, i, r), room[i, r])]) for (i, r), p in prices.items()]
    paid = [all_([ge(cost[a], worth[a]), any_([eq(x[a], 0), eq(cost[a], worth[a])])]) for a in need]
    return all_([*(ge(p, 0) for p in prices.values()), *full, *paid])


# ---- NJC: allocations without justified complaints (D 3) -----------------------------------------------------------


def justified(need: Any, room: Any, entitlement: Any, x: Any, a: Any, *logic: Any) -> Any:
    """The user of arc a has all of its request, or its entitlement of a full resource (D (2))."""
    all_, any_, _, ge, eq = logic
    full = {j: eq(used(need, x, i, j), c) for (i, j), c in room.items()}
    return any_([eq(x[a], 1), *(all_([full[j], ge(x[a] * need[a].get(j, 0), entitlement[a[0]])]) for j in full)])


def no_complaint(need: Any, room: Any, entitlement: Any, x: Any, *logic: Any) -> Any:
    """The fractions x fit, nobody has more than its request, and nobody has a complaint (D (1)-(2))."""
    all_, _, _, ge, _ = logic
    most = [ge(1, v) for v in x.values()]
    return all_([feasible(need, room, x, *logic), *most, *(justified(need, room, entitlement, x, a, *logic) for a in need)])


# ---- which belong to which mechanism and property, for the pages of statements -------------------------------------

OFFERED = "envy-freeness total-envy-freeness sharing-incentive strong-sharing-incentive strategyproofness group-strategyproofness"
"""Of what a user could run with something else than it has."""

OF_MECHANISMS: dict[str, tuple[Callable[..., Any], ...]] = {
    **dict.fromkeys(("drf", "drfh", "tsf", "lmmf"), (keeps,)),
    "ps-dsf": (bottleneck, ps_dsf),
    "alpha-pf-vds": (equilibrium,),
    "nb": (equilibrium,),
    "njc": (justified, no_complaint),
}

OF_PROPERTIES: dict[str, tuple[Callable[..., Any], ...]] = {
    **dict.fromkeys(OFFERED.split(), (content,)),
    "pareto": (undominated,),
    "bottleneck-fairness": (bottleneck,),
    "single-resource-fairness": (bottleneck,),
}


def definitions_of(mechanism: str, name: str) -> list[Callable[..., Any]]:
    """The functions that define a mechanism and a property, after those that they use; none where there are none."""
    own = (*OF_MECHANISMS.get(mechanism, ()), *OF_PROPERTIES.get(name, ()))
    return list(dict.fromkeys((used, feasible, *own))) if own else []
