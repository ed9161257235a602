"""W.S2.infeasible is confirmed. It says (W 2):

    The DRF allocation may not be possible to implement on heterogeneous servers.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


rule = "drfh"
demands = exact([[1, 1], [1, 1]])
capacities = exact([[1, "1/2"], ["1/2", 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["3/4"], ["3/4"]])
rounds = exact([[[0, 1], [["1/2", "1/2"]]]])
prices = exact([[0, "1/3"], ["1/3", 0]])


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


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def drf_not_realised(rule, problem, tasks, rounds, prices):
    """DRF of the pool, the only one; whatever fits into the servers costs no more than they do."""
    demands, capacities, _, weights = problem
    pool = (demands, [[sum(column) for column in zip(*capacities)]], [[1] for _ in demands], weights)
    assert lexicographic(rule, pool, tasks, rounds)
    assert all(p >= 0 for row in prices for p in row)
    paid = sum(x[0] * min(sum(p * q for p, q in zip(row, d)) for row in prices) for x, d in zip(tasks, demands))
    value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
    assert paid > value
    return {"x": listed(x[0] for x in tasks), "paid": paid, "value": value}


found = drf_not_realised(rule, problem, tasks, rounds, prices)
print(
    "W.S2.infeasible: the tasks {x} of DRF in the pool cost {paid} at prices at which all "
    "servers cost {value}: they do not fit".format(**found)
)
