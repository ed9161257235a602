"""K.6.2.deviation is refuted. It says (K 6.2, read for each system instead of averages over an hour):

    In every system of one server the mean deviation (58) is larger for smaller alpha.

Assumed: one server, one variant, same demands, everywhere, positive, unlimited, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 3], [3, 1]])
capacities = exact([[3, 2]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 3])
problem = (demands, capacities, eligible, weights)
tasks = exact([["1/2"], ["1/4"], ["3/4"]])
prices = exact([[1, 1]])
low = exact([["6799/12500"], ["11951/50000"], ["36951/50000"]])
high = exact([["33993/62500"], ["59757/250000"], ["184757/250000"]])


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


def deviation_of(problem, tasks):
    """The mean by weight of sum_i (x_ni / x_n) (z_ni / min_m z_mi - 1) (K 58), where everybody may run everywhere."""
    z, servers, weights = virtual_shares(problem, tasks), range(len(problem[1])), problem[3]
    least = [min(share for (_, _, j), share in z.items() if j == i) for i in servers]
    own = [sum((row[i] / sum(row) * (z[n, i, i] / least[i] - 1) for i in servers), F(0)) for n, row in enumerate(tasks)]
    return sum(w * v for w, v in zip(weights, own)) / sum(weights)


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def more_deviation(problem, tasks, prices, low, high):
    """One server, where the tasks of the equilibrium are unique. At alpha = 3 these are between low and high.

    Three users fill both resources at low, high and all points between. Prices with p d_n = h_n = g'(z_n) / gamma_n exist iff
    high - low, which fills nothing, times h is 0. That product falls from low to high, as h_n falls with x_n: it changes its sign
    once. Prices are linear in h, so they are positive if they are for all h between those of the ends.
    """
    demands, (capacity,), _, weights = problem
    assert game(problem, lambda z: 1 / z, tasks, prices)
    for x in (low, high):
        assert fits(problem, x)
        assert full_resources(problem, x, 0) == list(range(len(capacity)))
    z = [list(virtual_shares(problem, x).values()) for x in (low, high)]
    h = [[s**-3 / alone(d, capacity) for s, d in zip(row, demands)] for row in z]
    step = [b[0] - a[0] for a, b in zip(low, high)]
    assert sum(s * v for s, v in zip(step, h[0])) > 0 > sum(s * v for s, v in zip(step, h[1]))
    (a, b), (e, f) = demands[1], demands[2]
    for u, v in ((u, v) for u in (h[0][1], h[1][1]) for v in (h[0][2], h[1][2])):
        assert (u * f - v * b) / (a * f - b * e) > 0
        assert (v * a - u * e) / (a * f - b * e) > 0
    one, least = deviation_of(problem, tasks), min(max(s, t) for s, t in zip(*z))
    three = sum(w * max(min(s, t) / least - 1, F(0)) for w, s, t in zip(weights, *z)) / sum(weights)
    assert one < three
    return {"one": one, "three": F(int(three * 10**4), 10**4)}


found = more_deviation(problem, tasks, prices, low, high)
print("K.6.2.deviation: the mean deviation is {one} at alpha = 1 and more than {three} at alpha = 3".format(**found))
