"""K.3.4.ties is confirmed. It says (beside K 3.4, which has B_i > 0):

    With B = 0 the tasks of an equilibrium need not be unique, for two users and two servers.

Assumed: one variant, same demands, everywhere, positive, unlimited, at least 2 users, alpha in 3, 2. Shown for the
answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[4, 1], [1, 4]])
capacities = exact([[8, 4], [4, 8]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
alpha = 3
tasks = exact([[2, 0], [0, 2]])
prices = exact([["1/8", 0], [0, "1/8"]])
other_tasks = exact([["15/8", "1/2"], ["1/2", "15/8"]])
other_prices = exact([["512/6859", 0], [0, "512/6859"]])


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


def two_equilibria_at_ties(demands, capacities, eligible, weights, alpha, tasks, prices, other_tasks, other_prices):
    """Two equilibria of g' = z^-alpha with different totals."""
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, tasks, prices)
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, other_tasks, other_prices)
    first, second = ([str(sum(row)) for row in x] for x in (tasks, other_tasks))
    assert first != second
    return {"first": f"({', '.join(first)})", "second": f"({', '.join(second)})"}


found = two_equilibria_at_ties(
    demands, capacities, eligible, weights, alpha, tasks, prices, other_tasks, other_prices
)
print("K.3.4.ties: the totals {first} and {second} are two equilibria".format(**found))
