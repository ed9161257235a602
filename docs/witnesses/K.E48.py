"""K.E48 is refuted. It says (K 5.1: (48) is 'to maintain feasibility', (40) is part of that):

    From a point that satisfies (38)-(40), a small step in the direction (46)-(48) leads to one that does.

Assumed: one variant, same demands, no idle server, unlimited, alpha in 2, 1, 3, price in 1, 0. Shown about the
numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/2"]])
capacities = exact([[1]])
eligible = [[1]]
weights = exact([1])
alpha = 2
tasks = exact([[1]])
prices = exact([[0]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def price_where_there_is_room(demands, capacities, eligible, weights, alpha, tasks, prices):
    """All prices are 0. psi_FB = rho - x - f is enclosed by a bound of rho; psi_b < 0 for f < 0, so -dPsi/dlambda > 0 (47)."""
    assert fits(demands, capacities, eligible, tasks)
    assert not any(map(any, prices))
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            users = [n for n, d in enumerate(demands) if d[r] and eligible[n][i]]
            if users and sum(tasks[n][i] * demands[n][r] for n in users) < c:
                gamma = [alone(demands[n], capacity) for n in users]
                f = [-((weights[n] * g / sum(tasks[n])) ** alpha) / g for n, g in zip(users, gamma)]
                least = [max(tasks[n][i], -v) for n, v in zip(users, f)]  # rho is at least that, and b / rho - 1 is below -1
                v = sum((rho - tasks[n][i] - b) * demands[n][r] for n, b, rho in zip(users, f, least))
                assert v > 0  # at most -dPsi/dlambda; with beta of the same sign (47) adds it, else U = 0
                return {"server": i + 1, "resource": r + 1, "v": v}
    raise AssertionError("all resources are full")


found = price_where_there_is_room(demands, capacities, eligible, weights, alpha, tasks, prices)
print(
    "K.E48: resource {resource} of server {server} has room and the price 0, which rises by "
    "{v} or more".format(**found)
)
