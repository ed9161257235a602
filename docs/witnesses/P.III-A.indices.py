"""P.III-A.indices is refuted. It says (P III-A, to the letter):

    The shares of users 3 and 4 with respect to the second server in Fig. 2 are s_31 = s_41 = 8/12.

Assumed: what is printed. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, "1/2", 0]])
capacities = exact([[9, 12, 100], [12, 12, 0]])
eligible = [[1, 1], [1, 1], [1, 1], [1, 1]]
weights = exact([1, 1, 1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["18/5", 0], ["18/5", 0], [0, 8], [0, 8]])
printed = exact("2/3")


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


def shares_of_fig_2(problem, tasks, printed):
    """The tasks are PS-DSF, and 8 for user 4, as printed."""
    assert per_server(problem, tasks)
    gamma = alone(problem[0][3], problem[1][0])
    assert sum(tasks[3]) == 8
    assert sum(tasks[3]) / gamma != printed
    return {"share": sum(tasks[3]) / gamma, "gamma": gamma}


found = shares_of_fig_2(problem, tasks, printed)
print(
    "P.III-A.indices: user 4 has the share {share} on server 1; 8/12, its share on server 2, "
    "is printed".format(**found)
)
