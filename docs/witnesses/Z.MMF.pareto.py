"""Z.MMF.pareto is confirmed. It says (Z III-A, Example 2):

    MMF can be suboptimal: a max-min fair allocation need not be Pareto optimal.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], [0, "1/2"]])
capacities = exact([[1, 1]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
points = exact([[[1], [1]]])
prices = exact([1, 0])
better = exact([[1], [2]])


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


def undominated(need, room, y, tasks, have, *logic):
    """Where y, {user: tasks} in all, is feasible and gives nobody less than it has, it gives nobody more: Pareto (W 3.3)."""
    all_, _, implies, ge, _ = logic
    no_less, no_more = all_([ge(tasks[n], u) for n, u in have.items()]), all_([ge(u, tasks[n]) for n, u in have.items()])
    return implies(all_([feasible(need, room, y, *logic), no_less]), no_more)


def dominating(problem, have, better):
    """Who gains most by the tasks `better`, which are feasible and give nobody less than it has."""
    y, tasks = fits(problem, better), [sum(row) for row in better]
    assert not undominated(arcs(problem), tables(problem[1]), y, tasks, dict(enumerate(have)), *EXACT)
    gains = [sum(row) - u for row, u in zip(better, have)]
    n = gains.index(max(gains))
    return {"user": n + 1, "have": have[n], "more": sum(better[n])}


def mmf_without_pareto_optimality(problem, points, prices, better):
    """The point is max-min fair: at these prices the pool costs the least utility, and a task for everybody 1 or more."""
    (Y,), need = points, arcs(problem)
    least = min(sum(row) for row in Y)
    cost = {a: sum(prices[r] * q for r, q in d.items()) for a, d in need.items()}
    assert fits(problem, Y)
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, problem[1][0])) <= least
    assert sum(min(cost[a] for a in need if a[0] == n) for n in range(len(Y))) >= 1
    return {"least": least, **dominating(problem, [sum(row) for row in Y], better)}


found = mmf_without_pareto_optimality(problem, points, prices, better)
print(
    "Z.MMF.pareto: the least utility {least} is the largest possible one, and user {user} "
    "could have {more} instead of {have}".format(**found)
)
