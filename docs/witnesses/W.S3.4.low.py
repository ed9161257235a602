"""W.S3.4.low is confirmed. It says (W 3.4 (the example is not printed)):

    Per-server DRF may lead to arbitrarily low resource utilisation; here: to less than two fifths of what DRFH uses.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


rule = "drfh"
demands = exact([["1/11", 1, 1], [1, "1/11", 1], [1, 1, "1/11"]])
capacities = exact([[1, 11, 11], [11, 1, 11], [11, 11, 1]])
eligible = [[1, 1, 1], [1, 1, 1], [1, 1, 1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([[11, 0, 0], [0, 11, 0], [0, 0, 11]])
rounds = exact([[[0, 1, 2], [[0, 11, 0], [0, 11, 0], [0, 11, 0]]]])
other_tasks = exact([["11/3", "1/3", "1/3"], ["1/3", "11/3", "1/3"], ["1/3", "1/3", "11/3"]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def arcs(problem):
    """{(user, place, server): {resource: demand}} of those who may run there; places are servers for each of a user's vectors."""
    demands, capacities, eligible, _ = problem
    need = {}
    for n, rows in enumerate(demands):
        vectors = rows if isinstance(rows[0], list) else [rows]
        for k, (d, i) in enumerate((d, i) for d in vectors for i in range(len(capacities))):
            if eligible[n][i] and alone(d, capacities[i]) > 0:
                need[n, k, i] = {r: q for r, q in enumerate(d) if q}
    return need


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fits(problem, tasks):
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def keeps(need, room, share, x, users, prices, *logic):
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


def unit(rule, problem):
    """The tasks of a share of 1: all servers as one pool (drfh), one by one (tsf), the eligible ones as a pool, or one task."""
    demands, capacities, eligible, weights = problem
    if rule == "lmmf":
        return list(weights)
    if rule == "tsf":
        return [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    open_to = eligible if rule == "eligible" else [[1 for _ in capacities] for _ in demands]
    pools = [[sum(c for c, may in zip(column, row) if may) for column in zip(*capacities)] for row in open_to]
    return [w * alone(d, pool) for d, w, pool in zip(demands, weights, pools)]


def lexicographic(rule, problem, tasks, rounds):
    """All answers of the rule have the totals of these tasks: prices of each round keep its users from more (`keeps`)."""
    need, room, x = arcs(problem), tables(problem[1]), fits(problem, tasks)
    share = {n: sum(row) / one for n, (row, one) in enumerate(zip(tasks, unit(rule, problem)))}
    kept = [keeps(need, room, share, x, users, tables(prices), *EXACT) for users, prices in rounds]
    return all(kept) and {n for users, _ in rounds for n in users} == set(share)


def bottleneck(need, room, share, x, a, r, *logic):
    """Resource r is full at the server of arc a, and serves nobody there with a larger share (P (13), K Def 2)."""
    all_, any_, _, ge, eq = logic
    there = [b for b in need if b[-1] == a[-1] and r in need[b]]
    below = [any_([eq(x[b], 0), ge(share[a], share[b])]) for b in there]
    return all_([eq(used(need, x, a[-1], r), room[a[-1], r]), *below])


def ps_dsf(need, room, share, x, *logic):
    """Every user has at each of its servers a bottleneck that it demands (P Theorem 1).

    share[a] = x_n / (phi_n gamma_ni), the virtual dominant share of the user at the server of the arc.
    """
    all_, any_, _, _, _ = logic
    return all_([any_([bottleneck(need, room, share, x, a, r, *logic) for r in need[a]]) for a in need])


def virtual_shares(problem, tasks):
    """{arc: tasks of the user / (phi_n gamma_ni)}."""
    need, (demands, capacities, _, weights) = arcs(problem), problem
    return {a: sum(tasks[a[0]]) / (weights[a[0]] * alone(demands[a[0]], capacities[a[2]])) for a in need}


def per_server(problem, tasks):
    """These tasks are PS-DSF."""
    return ps_dsf(arcs(problem), tables(problem[1]), virtual_shares(problem, tasks), fits(problem, tasks), *EXACT)


def drf_per_server(problem, tasks):
    """These tasks are DRF on each server by itself, where PS-DSF is DRF."""
    demands, capacities, eligible, weights = problem
    ones = [(demands, [c], [[places[i]] for places in eligible], weights) for i, c in enumerate(capacities)]
    return all(per_server(one, [[row[i]] for row in tasks]) for i, one in enumerate(ones))


def low_utilisation(rule, problem, tasks, rounds, other_tasks):
    """The totals are these in all answers of both."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert drf_per_server(problem, other_tasks)
    columns = list(zip(*problem[0]))
    used = [[sum(sum(x) * q for x, q in zip(part, column)) for column in columns] for part in (tasks, other_tasks)]
    ratio = max(b / a for a, b in zip(*used))
    assert ratio < F(2, 5)
    return {"ratio": ratio}


found = low_utilisation(rule, problem, tasks, rounds, other_tasks)
print(
    "W.S3.4.low: DRF on each server by itself uses at most {ratio} times as much of any "
    "resource as DRFH".format(**found)
)
