"""K.6.2.utilisation.positive is refuted. It says (K 6.2, read for each system, with positive demands):

    With one server and positive demands the mean utilisation is larger for alpha = 1 than for alpha = 3.

Assumed: one server, one variant, same demands, positive, unlimited, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1, 1], [3, 1, 5]])
capacities = exact([[2, 2, 3]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([[1], ["1/3"]])
prices = exact([[1, 0, 0]])
beyond = exact([["26/25"], ["8/25"]])


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def equilibrium(need, room, worth, x, prices, *logic):
    """Only full resources have a price; a task costs what it is worth or more, and just that where it runs (K (28)-(29)).

    worth[a] = g'(x_n / (phi_n gamma_ni)) / gamma_ni in the game; with worth[a] = w_n / u_n it is Nash bargaining (Z (3)).
    """
    all_, any_, _, ge, eq = logic
    cost = {a: sum(prices[a[-1], r] * q for r, q in d.items()) for a, d in need.items()}
    full = [any_([eq(p, 0), eq(used(need, x, i, r), room[i, r])]) for (i, r), p in prices.items()]
    paid = [all_([ge(cost[a], worth[a]), any_([eq(x[a], 0), eq(cost[a], worth[a])])]) for a in need]
    return all_([*(ge(p, 0) for p in prices.values()), *full, *paid])


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


def virtual_shares(problem, tasks):
    """{arc: tasks of the user / (phi_n gamma_ni)}."""
    need, (demands, capacities, _, weights) = arcs(problem), problem
    return {a: sum(tasks[a[0]]) / (weights[a[0]] * alone(demands[a[0]], capacities[a[2]])) for a in need}


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


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


def game(problem, marginal, tasks, prices):
    """These tasks are an equilibrium for g' at these prices."""
    need, z = arcs(problem), virtual_shares(problem, tasks)
    worth = {a: marginal(z[a]) / alone(problem[0][a[0]], problem[1][a[2]]) for a in need}
    return equilibrium(need, tables(problem[1]), worth, fits(problem, tasks), tables(prices), *EXACT)


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def less_utilisation_than_at_3(problem, tasks, prices, beyond):
    """Two users of one server, where the tasks of the equilibrium are unique. At alpha = 3 they lie between tasks and beyond.

    One resource r is full at both points and between them, and no other one between them. With a price p of r alone, p d_nr =
    h_n = g'(z_n) / gamma_n is possible iff h_1 / d_1r = h_2 / d_2r. h_n falls with x_n, so this is so at one point of the line.
    """
    demands, (capacity,), _, _ = problem
    assert game(problem, lambda z: 1 / z, tasks, prices)
    (r,) = full_resources(problem, tasks, 0)
    assert full_resources(problem, beyond, 0) == [r]
    gaps, used = [], []
    for x in (tasks, beyond):
        assert fits(problem, x)
        z = [*virtual_shares(problem, x).values()]
        first, second = (share**-3 / alone(d, capacity) / d[r] for share, d in zip(z, demands))
        gaps.append(first - second)
        used.append(sum(sum(row[0] * d[k] for row, d in zip(x, demands)) / c for k, c in enumerate(capacity)) / len(capacity))
    assert gaps[0] * gaps[1] < 0
    assert used[0] < used[1]
    return {"one": used[0], "three": used[1]}


found = less_utilisation_than_at_3(problem, tasks, prices, beyond)
print(
    "K.6.2.utilisation.positive: the mean utilisation is {one} at alpha = 1 and between {one}"
    " and {three} at alpha = 3, larger than the first".format(**found)
)
