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
alpha = 1
tasks = exact([[0, 1], [1, 0]])
prices = exact([[1], [2]])


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


def equilibrium_with_envy(demands, capacities, eligible, weights, alpha, tasks, prices):
    """What another has in all, wherever it lies, would be worth more tasks. For alpha = 1 the totals of equilibria are unique.

    A task of n costs phi_n / x_n or more at these prices, and all servers cost sum phi. So sum phi_n y_n / x_n <= sum phi for all
    feasible y: x is the only maximum of sum phi_n log x_n, by the weighted means; and so is every equilibrium for alpha = 1.
    """
    assert alpha == 1
    assert sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity)) == sum(weights)
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, tasks, prices)
    have, users = [sum(x) for x in tasks], range(len(tasks))
    worth = [[alone(demands[n], [have[m] * q * weights[n] / weights[m] for q in demands[m]]) for m in users] for n in users]
    n, m = max(((n, m) for n in users for m in users), key=lambda pair: worth[pair[0]][pair[1]] / have[pair[0]])
    assert worth[n][m] > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "other": worth[n][m]}


found = equilibrium_with_envy(demands, capacities, eligible, weights, alpha, tasks, prices)
print(
    "K.T3.envy.letter: user {user} runs {have} tasks, and {other} with the resources of user "
    "{envied}, scaled by the weights".format(**found)
)
