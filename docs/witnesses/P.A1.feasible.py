"""P.A1.feasible is refuted. It says (P III-C, Algorithm I):

    Update-Allocation keeps the allocation feasible.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 1]])
capacities = exact([[1, 1], [1, 1]])
eligible = [[1, 0], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["1/2", 0], ["1/2", 1]])
server = 1


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


def drf_per_server(problem, tasks):
    """These tasks are DRF on each server by itself, where PS-DSF is DRF."""
    demands, capacities, eligible, weights = problem
    ones = [(demands, [c], [[places[i]] for places in eligible], weights) for i, c in enumerate(capacities)]
    return all(per_server(one, [[row[i]] for row in tasks]) for i, one in enumerate(ones))


def updated_loads(problem, tasks, i):
    """What Update-Allocation at server i takes of its resources; nothing where it does not update.

    N* has the least share; for every full resource that N* demands, the user of it with the largest share is chosen. f_r is
    what is left of r plus what those users hold of it, once for every resource they are chosen for; z* = min f_r / D_r with D_r
    what N* needs for a share of 1; beta is the largest part that keeps the order of shares (P III-C, Algorithm I).
    """
    demands, capacity, here = problem[0], problem[1][i], [a for a in arcs(problem) if a[-1] == i]
    z = {a[0]: virtual_shares(problem, tasks)[a] for a in here}
    x, unit = {n: tasks[n][i] for n in z}, {n: sum(tasks[n]) / share for n, share in z.items()}
    lowest, resources = [n for n in z if z[n] == min(z.values())], range(len(capacity))
    used = [sum(x[n] * demands[n][r] for n in x) for r in resources]
    full = [r for r in resources if used[r] == capacity[r] and any(demands[n][r] for n in lowest)]
    chosen = [max((n for n in x if x[n] and demands[n][r]), key=lambda n: z[n]) for r in full]
    if not chosen or any(n in lowest for n in chosen):
        return []
    f = [capacity[r] - used[r] + sum(x[n] * demands[n][r] for n in chosen) for r in resources]
    D = [sum(unit[n] * demands[n][r] for n in lowest) for r in resources]
    rise = min(f[r] / D[r] for r in resources if D[r])
    beta = min([F(1)] + [(z[n] - min(z.values())) / (rise + x[n] / unit[n]) for n in chosen])
    after = {n: v * (1 - beta) if n in chosen else v + beta * unit[n] * rise * (n in lowest) for n, v in x.items()}
    return [sum(v * demands[n][r] for n, v in after.items()) / capacity[r] for r in resources]


def update_allocation(problem, tasks, server):
    """The start of Algorithm I, DRF on each server, and the first update at a server."""
    assert drf_per_server(problem, tasks)
    loads = updated_loads(problem, tasks, server - 1)
    assert max(loads) > 1
    return {"server": server, "resource": loads.index(max(loads)) + 1, "load": max(loads)}


found = update_allocation(problem, tasks, server)
print(
    "P.A1.feasible: after the first Update-Allocation resource {resource} of server {server} "
    "is used {load} times".format(**found)
)
