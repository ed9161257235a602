"""Lexicographic max-min fairness of shares (drf, drfh, tsf, lmmf), and Pareto optimality."""

from typing import Any

from fairalloc.theorems.definitions.allocation import used


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
