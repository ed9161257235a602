"""Z.C2 is refuted. It says (Z Claim 2):

    For pivots i of Y and j of Y', <Y'> is larger than <Y> if and only if u_j(Y'_j) > u_i(Y_i).

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
points = exact([[[0], ["1/2"]], [[1], [0]]])


def changed_users(u, v):
    """Whose utility differs."""
    return [n for n, (a, b) in enumerate(zip(u, v)) if a != b]


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


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


def pivots_of_two_allocations(problem, points):
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2).

    Everybody has one demand vector, so its utility is the number of its tasks.
    """
    assert not any(isinstance(d[0], list) for d in problem[0])
    assert all(fits(problem, point) for point in points)
    u, v = ([sum(row) for row in point] for point in points)
    changed = changed_users(u, v)
    assert changed
    i, j = min(u[n] for n in changed), min(v[n] for n in changed)
    assert (sorted(v) > sorted(u)) != (j > i)
    first, second, before, after = map(listed, (u, v, sorted(u), sorted(v)))
    return {"first": first, "second": second, "i": i, "j": j, "larger": sorted(v) > sorted(u), "before": before, "after": after}


found = pivots_of_two_allocations(problem, points)
print(
    "Z.C2: the utilities are {first} in Y and {second} in Y': the pivots have {i} and {j}, "
    "and <Y'> is larger is {larger}".format(**found)
)
