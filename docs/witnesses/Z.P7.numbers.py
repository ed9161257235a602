"""Z.P7.numbers is refuted. It says (Z Proposition 7):

    The allocations of Proposition 7, and utilities of 1 and 0.83 after the misreport.

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["2/3", "1/3"], ["1/4", "3/4"]])
capacities = exact([[1, 1]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
reported = exact([["2/3", "1/3"], ["1/3", "2/3"]])
tasks = exact([[1], [1]])
prices = exact([[1, 1]])


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


def bargain(problem, tasks, prices):
    """These tasks are the only Nash bargain: sum_n w_n y_n / u_n <= sum w for all feasible y, and weighted means do the rest."""
    need = arcs(problem)
    worth = {a: problem[3][a[0]] / sum(tasks[a[0]]) for a in need}
    return equilibrium(need, tables(problem[1]), worth, fits(problem, tasks), tables(prices), *EXACT)


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def held(problem, tasks, n, times=1):
    """{(server, resource): amount} that the tasks of user n take, so many times."""
    need = arcs(problem)
    x = {a: tasks[a[0]][a[1]] * times for a in need if a[0] == n}
    return {(i, r): used(need, x, i, r) for i, r in tables(problem[1])}


def utility_of_proposition_7(problem, reported, tasks, prices):
    """NB after the misreport, the only one: each user spends 1 at prices at which everything costs 2."""
    report = (reported, *problem[1:])
    assert bargain(report, tasks, prices)
    assert reported[0] == problem[0][0]
    bundle = list(held(report, tasks, 1).values())
    assert alone(problem[0][1], bundle) > F("0.835")
    return {"bundle": listed(bundle), "worth": alone(problem[0][1], bundle)}


found = utility_of_proposition_7(problem, reported, tasks, prices)
print(
    "Z.P7.numbers: after the misreport user 2 holds {bundle}, worth {worth} of its tasks; "
    "0.83 is printed".format(**found)
)
