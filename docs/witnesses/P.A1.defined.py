"""P.A1.defined is refuted. It says (P III-C, Algorithm I):

    The maximum in Algorithm I's test is over somebody.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[0, 1], [1, 1]])
capacities = exact([[1, 1], [0, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([[0, 1], [1, 0]])


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


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


def virtual_shares(problem, tasks):
    """{arc: tasks of the user / (phi_n gamma_ni)}."""
    need, (demands, capacities, _, weights) = arcs(problem), problem
    return {a: sum(tasks[a[0]]) / (weights[a[0]] * alone(demands[a[0]], capacities[a[2]])) for a in need}


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


def per_server(problem, tasks):
    """These tasks are PS-DSF."""
    return ps_dsf(arcs(problem), tables(problem[1]), virtual_shares(problem, tasks), fits(problem, tasks), *EXACT)


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def maximum_over_nobody(problem, tasks):
    """The tasks are PS-DSF, where Algorithm I has to end. Its test is made for each server, with N_i all who may use it.

    Where it passes for some r*, N_i loses all who demand the first of them.
    """
    assert per_server(problem, tasks)
    demands, shares = problem[0], virtual_shares(problem, tasks)
    for i in range(len(problem[1])):
        z = {n: share for (n, _, j), share in shares.items() if j == i}
        left, full = list(z), full_resources(problem, tasks, i)
        while left:
            lowest = [n for n in left if z[n] == min(z[m] for m in left)]
            users = {r: [n for n in left if tasks[n][i] and demands[n][r]] for r in full if any(demands[n][r] for n in lowest)}
            done = [r for r, using in users.items() if using and max(z[n] for n in using) == z[lowest[0]]]  # (17)
            if not done:
                empty = [r for r, using in users.items() if not using]
                assert empty
                return {"server": i + 1, "resource": empty[0] + 1}
            left = [n for n in left if not demands[n][done[0]]]
    raise AssertionError("every maximum is over somebody")


found = maximum_over_nobody(problem, tasks)
print(
    "P.A1.defined: at server {server} nobody who is left uses resource {resource}, which is "
    "full, and N* demands it".format(**found)
)
