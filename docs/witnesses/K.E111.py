"""K.E111 is refuted. It says (K (111), the proof of Lemma 3):

    dPsi/dlambda v_lambda < 0 for each price that moves.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 2, price in 1. Shown about
the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[2], [1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([[1, 0], [1, 0]])
prices = exact([[2], [0]])


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


def merit_gradient(demands, capacities, eligible, weights, alphas, tasks, prices):
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for g' = z^-alpha of each server.

    Psi = sum psi(x_ni, f_ni) with psi(a, b) = (sqrt(a^2 + b^2) - a - b)^2 / 2; for users who are not eligible there is no term.
    """
    have = [sum(row) for row in tasks]
    by_x = [[F(0) for _ in demands] for _ in capacities]
    by_price = [[F(0) for _ in capacity] for capacity in capacities]
    pull = [F(0) for _ in demands]
    for i, capacity in enumerate(capacities):
        for n, d in enumerate(demands):
            if not eligible[n][i]:
                continue
            gamma, x = alone(d, capacity), tasks[n][i]
            need = (weights[n] * gamma / have[n]) ** alphas[i] / gamma
            f = sum(p * q for p, q in zip(prices[i], d)) - need
            rho = root(x**2 + f**2)
            by_f = (rho - x - f) * (f / rho - 1)
            by_x[i][n] = (rho - x - f) * (x / rho - 1)
            pull[n] += by_f * alphas[i] * need / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def root(square):
    """The square root of the square of a rational."""
    found = F(whole_root(square.numerator), whole_root(square.denominator))
    assert found * found == square
    return found


def whole_root(square):
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def price_that_moves_along_nothing(demands, capacities, eligible, weights, tasks, prices):
    """alpha = 2. With dPsi/dlambda = 0 and beta > 0, (47) has U(0) = 1, so the direction of a price > 0 is beta (48)."""
    assert fits(demands, capacities, eligible, tasks)
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, [2 for _ in capacities], tasks, prices)
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            full = sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c
            beta = -sum(slope * d[r] for slope, d in zip(by_x[i], demands))  # (45)
            if full and prices[i][r] > 0 and by_price[i][r] == 0 and beta > 0:
                return {"server": i + 1, "resource": r + 1, "beta": beta}
    raise AssertionError("no such price")


found = price_that_moves_along_nothing(demands, capacities, eligible, weights, tasks, prices)
print(
    "K.E111: dPsi/dlambda = 0 for resource {resource} of server {server}, and its price moves"
    " by beta = {beta}".format(**found)
)
