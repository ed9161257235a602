"""K.L2 is refuted. It says (K Lemma 2):

    The solution set of the NCP is connected, for (22) and alpha_i >= 1.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users, alpha in 20, 10,
B in 1/4, 1/2. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[3, 1], [1, 3]])
capacities = exact([[1, 2], [2, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
alpha = exact([20, 20])
B = exact("1/4")
tasks = exact([[0, "2/3"], ["2/3", 0]])
prices = exact([[0, "5/8"], ["5/8", 0]])
other_tasks = exact([["1/8", "5/8"], ["5/8", "1/8"]])
other_prices = exact([["1062622990788722009/16210220612075905068", "2215542296372313433/16210220612075905068"],
                      ["2215542296372313433/16210220612075905068", "1062622990788722009/16210220612075905068"]])


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


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def two_isolated_equilibria(problem, alpha, B, tasks, prices, other_tasks, other_prices):
    """Two strict solutions for one alpha: at each server as many users are served as resources have a price, and these have a
    regular matrix.

    Near such a solution the users who are served, the resources with a price, the slacks and the excess prices are the same, so
    its equations hold, whose only solution it is: it is isolated, and a connected set of several points has no isolated one.
    """
    demands, (power,) = problem[0], {int(v) for v in alpha}
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        assert game(problem, lambda z: z**-power + B / z, x, p)
        for i, capacity in enumerate(problem[1]):
            served, paid = [n for n, row in enumerate(x) if row[i]], [r for r, v in enumerate(p[i]) if v]
            assert full_resources(problem, x, i) == paid
            assert len(served) == len(paid) <= 2
            block = [[demands[n][r] for r in paid] for n in served]
            assert len(block) == 1 or block[0][0] * block[1][1] != block[0][1] * block[1][0]
            for n, d in enumerate(demands):
                gamma = alone(d, capacity)
                z = sum(x[n]) / (problem[3][n] * gamma)
                assert n in served or sum(v * q for v, q in zip(p[i], d)) > (z**-power + B / z) / gamma
    first, second = (listed(map(sum, x)) for x in (tasks, other_tasks))
    assert first != second
    return {"first": first, "second": second}


found = two_isolated_equilibria(problem, alpha, B, tasks, prices, other_tasks, other_prices)
print(
    "K.L2: with g'(z) = z^-alpha + B / z the totals {first} and {second} are two equilibria, "
    "and both are isolated".format(**found)
)
