"""K.T3.envy.letter is refuted. It says (K Theorem 3 with (1) to the letter):

    Nobody prefers the totals x_m d_m of another, scaled by the weights, wherever they lie, for alpha >= 1.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 1, 2, 3, 1.5, 10, inf. Shown
for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1], [1]])
eligible = [[0, 1], [1, 1]]
weights = exact([2, 1])
problem = (demands, capacities, eligible, weights)
alpha = 1
tasks = exact([[0, 1], [1, 0]])
prices = exact([[1], [2]])


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


def envious(needs, bundles, have):
    """Who could run the most, in parts of what it has, with the bundle of another, bundles[n][m]; and who that is."""
    pairs = [(n, m) for n in range(len(have)) for m in range(len(have)) if n != m]
    n, m = max(pairs, key=lambda pair: alone(needs[pair[0]], bundles[pair[0]][pair[1]]) / have[pair[0]])
    need = {(n, 0): {r: q for r, q in enumerate(needs[n]) if q}}
    more = better_off(need, tables([bundles[n][m]]), n, have[n])
    return {"user": n + 1, "envied": m + 1, "have": have[n], "more": more}


def of_totals(problem, have):
    """Envy where everything that another has, by weight, lay on one server."""
    demands, weights = problem[0], problem[3]
    bundles = [[[v * q * w / u for q in d] for v, d, u in zip(have, demands, weights)] for w in weights]
    return envious(demands, bundles, have)


def equilibrium_with_envy(problem, alpha, tasks, prices):
    """What another has in all, wherever it lies, would be worth more tasks. For alpha = 1 every equilibrium is a Nash bargain."""
    assert alpha == 1
    assert bargain(problem, tasks, prices)
    return of_totals(problem, [sum(x) for x in tasks])


found = equilibrium_with_envy(problem, alpha, tasks, prices)
print(
    "K.T3.envy.letter: user {user} runs {have} tasks, and {more} with the resources of user "
    "{envied}, scaled by the weights".format(**found)
)
