"""Z.P7 is confirmed. It says (Z Proposition 7):

    NB is not strategyproof.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[2, 1], [0, 1]])
capacities = exact([[1, 1]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
reported = exact([[2, 1], ["1/2", 1]])
eligible_told = [[1], [1]]
report = (reported, capacities, eligible_told, weights)
misreporting = [1]
tasks = exact([["1/2"], ["1/2"]])
prices = exact([[0, 2]])
tasks_after = exact([["1/3"], ["2/3"]])
prices_after = exact([[1, 1]])


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


def content(need, bundle, y, tasks, have, *logic):
    """Where y, so many tasks in all, fits into a bundle, capacities by server and resource, it is no more than a user has.

    With its part of every server as the bundle that is the sharing incentive (K 2.1, P III-B), with what another user holds, by
    weight, envy-freeness (K (1), W 3.3, Z II-B), with what it is given for a misreport strategyproofness.
    """
    _, _, implies, ge, _ = logic
    return implies(feasible(need, bundle, y, *logic), ge(have, tasks))


def better_off(need, bundle, n, have):
    """The tasks that user n could run with a bundle on its arcs; they are more than it has."""
    y = {a: min(bundle[a[-1], r] / q for r, q in d.items()) for a, d in need.items() if a[0] == n}
    assert not content(need, bundle, y, sum(y.values()), have, *EXACT)
    return sum(y.values())


def held(problem, tasks, n, times=1):
    """{(server, resource): amount} that the tasks of user n take, so many times."""
    need = arcs(problem)
    x = {a: tasks[a[0]][a[1]] * times for a in need if a[0] == n}
    return {(i, r): used(need, x, i, r) for i, r in tables(problem[1])}


def nash_misreport(problem, report, misreporting, tasks, prices, tasks_after, prices_after):
    """NB before and after, each the only one; the user is given what its reported tasks take."""
    assert bargain(problem, tasks, prices)
    assert bargain(report, tasks_after, prices_after)
    (n,) = misreporting
    more = better_off(arcs(problem), held(report, tasks_after, n), n, sum(tasks[n]))
    return {"user": n + 1, "have": sum(tasks[n]), "more": more}


found = nash_misreport(problem, report, misreporting, tasks, prices, tasks_after, prices_after)
print("Z.P7: user {user} runs {have} tasks by the truth, and {more} of its own by misreporting".format(**found))
