"""D.S4.utilisation-lower is confirmed. It says (D 4, by the limits 1/2 and 2/3):

    NJC's utilisation can be lower than DRF's.

Assumed: one server, one variant, same demands, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


rule = "drfh"
requests = exact([["1/2", 0, 0, 0, 1], [1, 1, 1, 1, 0]])
entitlements = exact(["1/2", "1/2"])
sign = 1
tasks = exact([["2/3"], ["2/3"]])
rounds = exact([[[0, 1], [[2, 0, 0, 0, 0]]]])
proofs = exact([[2, 0, 0, 0, 0, 0, 0, 1, 2], ["4/5", 0, 0, 0, 0, 0, 0, "1/10", 0, 0], [2, 0, 0, 0, 0, 0, 0, 1, 2, 0],
                [2, 0, 0, 0, 0, 0, 0, 1, 2, 0], [2, 0, 0, 0, 0, 0, 0, 1, 2, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
                [2, 0, 0, 0, 0, 0, 0, 0, 2, 2], ["4/5", 0, 0, 0, 0, 0, 0, 0, "1/5", 0, 0],
                [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0], [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0],
                [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0], [2, 0, 0, 0, 0, 0, 0, 1, 0, 2],
                ["4/5", 0, 0, 0, 0, 0, 0, "1/10", 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0],
                [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0], [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0],
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]])


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


def reasons(count, resources):
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def complaint_rows(requests, entitlements, way):
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def bound(requests, entitlements, objective, proofs):
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)


def used_by_all(rule, requests, entitlements, sign, tasks, rounds, proofs):
    """The mean of the used parts of all resources, in all NJC allocations and in the only DRF allocation, of requests."""
    count = len(requests[0])
    pool = (requests, [[F(1)] * count], [[1] for _ in requests], entitlements)
    assert lexicographic(rule, pool, tasks, rounds)
    assert max(x[0] for x in tasks) <= 1
    drf = sum(x[0] * sum(row) for x, row in zip(tasks, requests)) / count
    njc = sign * bound(requests, entitlements, [sign * sum(row, F(0)) / count for row in requests], proofs)
    assert sign * (drf - njc) > 0
    return {"njc": njc, "drf": drf}


found = used_by_all(rule, requests, entitlements, sign, tasks, rounds, proofs)
print("D.S4.utilisation-lower: NJC uses at most {njc} of the resources, and DRF {drf}".format(**found))
