"""K.3.3.below.envy is confirmed. It says (K 3.3):

    Equilibria may lack envy-freeness for alpha < 1.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 0.5, 0.25, 0.75, 0.1. Shown
for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 0], [1, 0]])
capacities = exact([[2, 1]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)
alpha = exact("1/4")
x = exact([1, "1/2", "1/2"])
bounds = exact([[1, 1], ["1414213/1000000", "707107/500000"], ["1414213/1000000", "707107/500000"]])


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


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


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


def equilibrium_below_1_with_envy(problem, alpha, x, bounds):
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(problem, alpha, x, bounds)
    return of_totals(problem, x)


found = equilibrium_below_1_with_envy(problem, alpha, x, bounds)
print(
    "K.3.3.below.envy: user {user} runs {have} tasks, and {more} with the resources of user "
    "{envied}".format(**found)
)
