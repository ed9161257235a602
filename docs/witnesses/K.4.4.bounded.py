"""K.4.4.bounded is refuted. It says (K 4.4):

    The multipliers of solutions are bounded.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], [1, 0]])
capacities = exact([[1, 0]])
eligible = [[1], [1]]
weights = exact([1, 1])
tasks = exact([["1/2"], ["1/2"]])
prices = exact([[4, 0]])


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


def unbounded_multiplier(demands, capacities, eligible, weights, tasks, prices):
    """A resource that a server does not have: nobody who may run there demands it, and its multiplier occurs in no condition."""
    i, r = next((i, r) for i, row in enumerate(capacities) for r, c in enumerate(row) if c == 0)
    assert all(not d[r] or not places[i] for d, places in zip(demands, eligible))
    for multiplier in (F(0), F(1), F(10**100)):
        others = [[multiplier if (j, q) == (i, r) else p for q, p in enumerate(row)] for j, row in enumerate(prices)]
        assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-2, tasks, others)
    return {"server": i + 1, "resource": r + 1}


found = unbounded_multiplier(demands, capacities, eligible, weights, tasks, prices)
print(
    "K.4.4.bounded: the multiplier of resource {resource} on server {server} may be 0, 1 or "
    "10^100 at one equilibrium for alpha = 2".format(**found)
)
