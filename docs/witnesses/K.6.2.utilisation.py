"""K.6.2.utilisation is refuted. It says (K 6.2, read for each system instead of averages over runs):

    In every system of one server the mean utilisation is larger for smaller alpha.

Assumed: one server, one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[0, 1, 0], [1, 0, 0], [1, 1, 1]])
capacities = exact([[1, 1, 1]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 1])
tasks = exact([["2/3"], ["2/3"], ["1/3"]])
prices = exact([["3/2", "3/2", 0]])
tasks_at_infinity = exact([["1/2"], ["1/2"], ["1/2"]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def equilibrium(demands, capacities, eligible, weights, marginal, tasks, prices):
    """Only full resources have a price; where n may run, a task costs marginal(z_n) / gamma_n or more, and that where n runs."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if prices[i][r] < 0 or (prices[i][r] > 0 and sum(x[i] * d[r] for x, d in zip(tasks, demands)) != c):
                return False
        for n, d in enumerate(demands):
            gamma = alone(d, capacity)
            if eligible[n][i] and gamma > 0:
                f = sum(p * q for p, q in zip(prices[i], d)) - marginal(have[n] / (weights[n] * gamma)) / gamma
                if f < 0 or (tasks[n][i] and f):
                    return False
    return fits(demands, capacities, eligible, tasks)


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def ps_dsf(demands, capacities, eligible, weights, tasks):
    """At every server each user has a full resource that it demands, and that serves nobody with a larger share (P Theorem 1)."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        here = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        share = {n: have[n] / (weights[n] * alone(demands[n], capacity)) for n in here}
        for n in here:
            full = [r for r, c in enumerate(capacity) if demands[n][r] and sum(tasks[m][i] * demands[m][r] for m in here) == c]
            if not any(all(share[m] <= share[n] for m in here if tasks[m][i] and demands[m][r]) for r in full):
                return False
    return fits(demands, capacities, eligible, tasks)


def less_utilisation(demands, capacities, eligible, weights, tasks, prices, tasks_at_infinity):
    """One server, where the tasks of the equilibrium are unique: a strictly concave program, and max-min fair shares."""
    assert len(capacities) == 1
    assert equilibrium(demands, capacities, eligible, weights, lambda z: 1 / z, tasks, prices)
    assert ps_dsf(demands, capacities, eligible, weights, tasks_at_infinity)
    used = []
    for x in (tasks, tasks_at_infinity):
        parts = [sum(row[0] * d[r] for row, d in zip(x, demands)) / c for r, c in enumerate(capacities[0])]
        used.append(sum(parts) / len(parts))
    assert used[0] < used[1]
    return {"one": used[0], "infinite": used[1]}


found = less_utilisation(demands, capacities, eligible, weights, tasks, prices, tasks_at_infinity)
print(
    "K.6.2.utilisation: the mean utilisation is {one} at alpha = 1 and {infinite} at alpha = "
    "infinity".format(**found)
)
