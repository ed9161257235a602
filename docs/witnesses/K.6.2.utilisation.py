"""K.6.2.utilisation is refuted. It says (K 6.2, read for each system instead of averages over runs):

    In every system of one server the mean utilisation is larger for smaller alpha.

Assumed: one server, one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[0, 1, 0], [1, 0, 0], [1, 1, 1]])
capacities = exact([[1, 1, 1]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["2/3"], ["2/3"], ["1/3"]])
prices = exact([["3/2", "3/2", 0]])
tasks_at_infinity = exact([["1/2"], ["1/2"], ["1/2"]])


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


def per_server(problem, tasks):
    """These tasks are PS-DSF."""
    return ps_dsf(arcs(problem), tables(problem[1]), virtual_shares(problem, tasks), fits(problem, tasks), *EXACT)


def less_utilisation(problem, tasks, prices, tasks_at_infinity):
    """One server, where the tasks of the equilibrium are unique: a strictly concave program, and max-min fair shares."""
    (capacity,), used = problem[1], []
    assert game(problem, lambda z: 1 / z, tasks, prices)
    assert per_server(problem, tasks_at_infinity)
    for x in (tasks, tasks_at_infinity):
        parts = [sum(row[0] * d[r] for row, d in zip(x, problem[0])) / c for r, c in enumerate(capacity)]
        used.append(sum(parts) / len(parts))
    assert used[0] < used[1]
    return {"one": used[0], "infinite": used[1]}


found = less_utilisation(problem, tasks, prices, tasks_at_infinity)
print(
    "K.6.2.utilisation: the mean utilisation is {one} at alpha = 1 and {infinite} at alpha = "
    "infinity".format(**found)
)
