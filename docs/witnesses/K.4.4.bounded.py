"""K.4.4.bounded is refuted. It says (K 4.4):

    The multipliers of solutions are bounded.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], [1, 0]])
capacities = exact([[1, 0]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["1/2"], ["1/2"]])
prices = exact([[4, 0]])


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


def unbounded_multiplier(problem, tasks, prices):
    """A resource that a server does not have: nobody who may run there demands it, and its multiplier occurs in no condition."""
    demands, capacities, eligible, _ = problem
    i, r = next((i, r) for i, row in enumerate(capacities) for r, c in enumerate(row) if c == 0)
    assert all(not d[r] or not places[i] for d, places in zip(demands, eligible))
    for multiplier in (F(0), F(1), F(10**100)):
        others = [[multiplier if (j, q) == (i, r) else p for q, p in enumerate(row)] for j, row in enumerate(prices)]
        assert game(problem, lambda z: z**-2, tasks, others)
    return {"server": i + 1, "resource": r + 1}


found = unbounded_multiplier(problem, tasks, prices)
print(
    "K.4.4.bounded: the multiplier of resource {resource} on server {server} may be 0, 1 or "
    "10^100 at one equilibrium for alpha = 2".format(**found)
)
