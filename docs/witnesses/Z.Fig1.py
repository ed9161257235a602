"""Z.Fig1 is refuted. It says (Z II-A, Fig. 1):

    The optimal packing of user 1's demands in (11, 11, 13) is 5, 1 and 2.5, a utility of 8.5.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[[1, 2, 1], [0, 1, 3], [2, 0, 2]]])
capacities = exact([[11, 11, 13]])
eligible = [[1]]
weights = exact([1])
problem = (demands, capacities, eligible, weights)
tasks = exact([["31/6", "2/3", "35/12"]])


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


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packing_of_fig_1(problem, tasks):
    """Both packings fit; a task is one of the user's demand vectors, so the utility is the number of tasks."""
    printed = [[F(5), F(1), F("5/2")]]
    assert fits(problem, printed)
    assert fits(problem, tasks)
    assert sum(tasks[0]) > sum(printed[0])
    return {"printed": sum(printed[0]), "better": listed(tasks[0]), "value": sum(tasks[0])}


found = packing_of_fig_1(problem, tasks)
print("Z.Fig1: the printed packing holds {printed} tasks, and {better} hold {value}".format(**found))
