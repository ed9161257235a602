"""K.C4 is refuted. It says (K Corollary 4):

    Problem 3 has a unique solution iff it has a locally unique one, for (22) and alpha_i >= 1.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users, alpha in 5, 10,
20. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, "1/3"], ["1/3", 1]])
capacities = exact([[1, 2], [2, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
alpha = 20
B = exact("1/4")
tasks = exact([[0, 2], [2, 0]])
prices = exact([[0, "5/8"], ["5/8", 0]])
other_tasks = exact([["3/8", "15/8"], ["15/8", "3/8"]])
other_prices = exact([
    ["1062622990788722009/16210220612075905068", "2215542296372313433/16210220612075905068"],
    ["2215542296372313433/16210220612075905068", "1062622990788722009/16210220612075905068"],
])


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


def two_isolated_equilibria(
    demands, capacities, eligible, weights, alpha, B, tasks, prices, other_tasks, other_prices
):
    """Two strict solutions: at each server as many users are served as resources have a price, and these have a regular matrix.

    Near such a solution the users who are served, the resources with a price, the slacks and the excess prices are the same, so
    its equations hold, whose only solution it is: it is isolated, and a connected set of several points has no isolated one.
    """
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha + B / z, x, p)
        for i, capacity in enumerate(capacities):
            served, priced = [n for n, row in enumerate(x) if row[i]], [r for r, v in enumerate(p[i]) if v]
            full = [r for r, c in enumerate(capacity) if sum(row[i] * d[r] for row, d in zip(x, demands)) == c]
            assert full == priced
            assert len(served) == len(priced) <= 2
            block = [[demands[n][r] for r in priced] for n in served]
            assert len(block) == 1 or block[0][0] * block[1][1] != block[0][1] * block[1][0]
            for n, d in enumerate(demands):
                gamma = alone(d, capacity)
                z = sum(x[n]) / (weights[n] * gamma)
                assert n in served or sum(v * q for v, q in zip(p[i], d)) > (z**-alpha + B / z) / gamma
    first, second = ([str(sum(row)) for row in x] for x in (tasks, other_tasks))
    assert first != second
    return {"first": f"({', '.join(first)})", "second": f"({', '.join(second)})"}


found = two_isolated_equilibria(
    demands, capacities, eligible, weights, alpha, B, tasks, prices, other_tasks, other_prices
)
print(
    "K.C4: with g'(z) = z^-alpha + B / z the totals {first} and {second} are two equilibria, "
    "and both are isolated".format(**found)
)
