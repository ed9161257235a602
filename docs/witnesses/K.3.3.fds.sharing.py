"""K.3.3.fds.sharing is confirmed. It says (K 3.3, of [2]):

    alpha-proportional FDS need not have sharing-incentive for alpha < 1.

Assumed: one server, one variant, same demands, everywhere, unlimited, at least 2 users, alpha in 0.5, 0.25, 0.75,
0.1. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], [1, 1]])
capacities = exact([[2, 1]])
eligible = [[1], [1]]
weights = exact([2, 1])
problem = (demands, capacities, eligible, weights)
alpha = exact("1/10")
x = exact([1, 1])
bounds = exact([["574349/500000", "1148699/1000000"], [1, 1]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def vertex_equilibrium(problem, alpha, x, bounds):
    """One server with two full resources: x > 0 is the equilibrium for g' = z^-alpha. All users but one need resource 1 alone.

    These are alike. With h = z^-alpha / gamma the price of resource 1 is their h_n / d_n1, and that of resource 2 is to pay the
    rest of the other user's h: it exists iff that rest is not negative. Bounds enclose z^-alpha, of which a power is rational.
    """
    demands, (capacity,), _, weights = problem
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in (0, 1)]
    if len(capacity) != 2 or used != capacity or min(x) <= 0:
        return False
    ends = []
    for d, w, v, (low, high) in zip(demands, weights, x, bounds):
        power = (v / (w * alone(d, capacity))) ** -alpha.numerator
        assert low**alpha.denominator <= power <= high**alpha.denominator
        ends.append([low / alone(d, capacity), high / alone(d, capacity)])
    first = next(n for n, d in enumerate(demands) if d[1] == 0)
    others = [n for n, d in enumerate(demands) if d[1] > 0]
    same = [n for n, d in enumerate(demands) if d[1] == 0]
    alike = all(demands[n] == demands[first] and x[n] / weights[n] == x[first] / weights[first] for n in same)
    at_least = [ends[n][0] - ends[first][1] * demands[n][0] / demands[first][0] for n in others]
    return alike and len(others) == 1 and min(at_least) >= 0


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def content(need, bundle, y, tasks, have, *logic):
    """Where y, so many tasks in all, fits into a bundle, capacities by server and resource, it is no more than a user has.

    With its part of every server as the bundle that is the sharing incentive (K 2.1, P III-B), with what another user holds, by
    weight, envy-freeness (K (1), W 3.3, Z II-B), with what it is given for a misreport strategyproofness.
    """
    _, _, implies, ge, _ = logic
    return implies(feasible(need, bundle, y, *logic), ge(have, tasks))


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def better_off(need, bundle, n, have):
    """The tasks that user n could run with a bundle on its arcs; they are more than it has."""
    y = {a: min(bundle[a[-1], r] / q for r, q in d.items()) for a, d in need.items() if a[0] == n}
    assert not content(need, bundle, y, sum(y.values()), have, *EXACT)
    return sum(y.values())


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


def short_of_its_part(problem, parts, tasks):
    """The user with the least of what it could run with its part of every server that it may use; it has less."""
    need, room = arcs(problem), tables(problem[1])
    own = [sum(alone(problem[0][n], problem[1][a[-1]]) for a in need if a[0] == n) * w / sum(parts) for n, w in enumerate(parts)]
    n = min(range(len(own)), key=lambda n: sum(tasks[n]) / own[n])
    part = better_off(need, {key: c * parts[n] / sum(parts) for key, c in room.items()}, n, sum(tasks[n]))
    return {"user": n + 1, "have": sum(tasks[n]), "part": part}


def equilibrium_without_sharing_incentive(problem, alpha, x, bounds):
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(problem, alpha, x, bounds)
    return short_of_its_part(problem, problem[3], [[v] for v in x])


found = equilibrium_without_sharing_incentive(problem, alpha, x, bounds)
print("K.3.3.fds.sharing: user {user} runs {have} tasks, and {part} with its part of the server".format(**found))
