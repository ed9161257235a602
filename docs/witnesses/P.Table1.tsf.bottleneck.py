"""P.Table1.tsf.bottleneck is confirmed. It says (P Table I):

    tsf is not max-min fair on a resource that everybody dominantly requests at every server it may use.

Assumed: one variant, same demands, unlimited, bottleneck, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


rule = "tsf"
demands = exact([[1, 1], [1, 0]])
capacities = exact([[1, 1], [1, 0]])
eligible = [[1, 0], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["2/3", 0], ["1/3", 1]])
rounds = exact([[[0, 1], [[1, 0], [1, 0]]]])
resource = 0
user = 0
better = exact([[1, 0], [0, 0]])


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


def is_dominant(problem, r):
    """Whether a resource is dominant for all at every server they may use."""
    demands, capacities, _, _ = problem
    return all(capacities[i][r] == alone(demands[n], capacities[i]) * demands[n][r] for n, _, i in arcs(problem))


def amounts(problem, tasks, r):
    """What each user has of resource r, by weight."""
    return [sum(row) * d[r] / w for row, d, w in zip(tasks, problem[0], problem[3])]


def unfair_on_a_bottleneck(rule, problem, tasks, rounds, resource, user, better):
    """All answers of the rule have these totals; one resource is dominant for all at every server they may use (K Def. 2).

    In `better`, which fits, the user has more of it, and nobody who has as little of it as the user, by weight, has less.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    assert is_dominant(problem, resource)
    assert fits(problem, better)
    have, more = amounts(problem, tasks, resource), amounts(problem, better, resource)
    assert more[user] > have[user]
    assert all(b >= a for a, b in zip(have, more) if a <= have[user])
    return {"user": user + 1, "resource": resource + 1, "have": have[user], "more": more[user]}


found = unfair_on_a_bottleneck(rule, problem, tasks, rounds, resource, user, better)
print(
    "P.Table1.tsf.bottleneck: user {user} could have {more} of resource {resource} instead of"
    " {have} while nobody with as little has less".format(**found)
)
