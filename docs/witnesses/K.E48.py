"""K.E48 is refuted. It says (K 5.1: (48) is 'to maintain feasibility', (40) is part of that):

    From a point that satisfies (38)-(40), a small step in the direction (46)-(48) leads to one that does.

Assumed: one variant, same demands, no idle server, unlimited, alpha in 2, 1, 3, price in 1, 0. Shown about the
numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/2"]])
capacities = exact([[1]])
eligible = [[1]]
weights = exact([1])
problem = (demands, capacities, eligible, weights)
alpha = 2
tasks = exact([[1]])
prices = exact([[0]])


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


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


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fits(problem, tasks):
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def price_where_there_is_room(problem, alpha, tasks, prices):
    """All prices are 0. psi_FB = rho - x - f is enclosed by a bound of rho; psi_b < 0 for f < 0, so -dPsi/dlambda > 0 (47)."""
    demands, capacities, eligible, weights = problem
    assert fits(problem, tasks)
    assert not any(map(any, prices))
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            users = [n for n, d in enumerate(demands) if d[r] and eligible[n][i]]
            if users and sum(tasks[n][i] * demands[n][r] for n in users) < c:
                gamma = [alone(demands[n], capacity) for n in users]
                f = [-((weights[n] * g / sum(tasks[n])) ** alpha) / g for n, g in zip(users, gamma)]
                least = [max(tasks[n][i], -v) for n, v in zip(users, f)]  # rho is at least that, and b / rho - 1 is below -1
                v = sum((rho - tasks[n][i] - b) * demands[n][r] for n, b, rho in zip(users, f, least))
                assert v > 0  # at most -dPsi/dlambda; with beta of the same sign (47) adds it, else U = 0
                return {"server": i + 1, "resource": r + 1, "v": v}
    raise AssertionError("all resources are full")


found = price_where_there_is_room(problem, alpha, tasks, prices)
print(
    "K.E48: resource {resource} of server {server} has room and the price 0, which rises by "
    "{v} or more".format(**found)
)
