"""W.E6.printed is refuted. It says (W (6), and alike (8)):

    (6) with the sum of g_il over l in U, as it is printed, has the value of (5).

Assumed: one variant, same demands, everywhere, positive, unlimited, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1], [1], [1]])
eligible = [[1, 1, 1], [1, 1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)


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


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def program_6_as_printed(problem):
    """One resource. Equal parts of all servers have the least share `five`; of servers 1, ..., |U| alone nobody has all `six`."""
    demands, capacities, _, weights = problem
    users, servers = range(len(demands)), range(len(capacities))
    assert len(capacities[0]) == 1
    assert len(users) < len(servers)
    assert all(w == 1 for w in weights)
    total = sum(c[0] for c in capacities)
    tasks = [[c[0] / len(users) / d[0] for c in capacities] for d in demands]
    assert fits(problem, tasks)
    five = min(sum(x) * d[0] / total for x, d in zip(tasks, demands))
    rows = [[F(int(j == i)) for _ in users for j in users] + [F(0)] for i in users]  # what server i has, in shares of the total
    rows += [[F(-int(n == m)) for m in users for _ in users] + [F(1)] for n in users]  # g - sum of g_nl over l in U <= 0
    sides = [capacities[i][0] / total for i in users] + [F(0)] * len(users)
    factors = [F(1, len(users))] * (2 * len(users))
    six = at_most(rows, sides, factors, [F(0)] * len(users) ** 2 + [F(1)])
    assert six < five
    return {"five": five, "six": six}


found = program_6_as_printed(problem)
print(
    "W.E6.printed: (5) has the value {five} or more, and (6) with the sum over l in U at most"
    " {six}".format(**found)
)
