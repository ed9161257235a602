"""K.T8 is refuted. It says (K Theorem 8):

    PS-MFA ends at a stationary point of Psi under Assumption 2, from any feasible point.

Assumed: Assumption 2, alpha = 2 in (22); only prices of full resources move, as (40) asks. Shown about the numbers
below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([
    ["83/4", "8399/400", "749/25", "3023/100", 1, 0, 0],
    ["749/25", "3023/100", "83/4", "8399/400", 0, 1, 0],
    ["545451/8750", "1581356094597/25454380000", "545451/8750", "1581356094597/25454380000", 0, 0, 1],
    [1, 1, 1, 1, 1, 1, 1],
])
capacities = exact([
    [
        "690701/7000", "2008938769837/20363504000", "545451/1400", "1581356094597/4072700800", "25/18", "25/8",
        "21391204390901625000/15132821144571621481",
    ],
    [
        "545451/1400", "1581356094597/4072700800", "690701/7000", "2008938769837/20363504000", "25/8", "25/18",
        "21391204390901625000/15132821144571621481",
    ],
    [1, 2, 2, 2, 2, 2, 2],
])
eligible = [[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]]
weights = exact([12, 12, "3890092691/67578000", 1])
A = exact("1/5")
B = exact(1)
tasks = exact([[1, 0, 0], [0, 1, 0], ["5/4", "5/4", 0], [0, 0, 1]])
prices = exact([[1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], ["26/25", 0, 0, 0, 0, 0, 0]])
factors = exact([[-8, 8], [-8, 8], [0]])


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


def merit_gradient(demands, capacities, eligible, weights, A, B, tasks, prices):
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for alpha = 2.

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
            z = have[n] / (weights[n] * gamma)
            first, second = (A / z) ** 2 / gamma, B / z / gamma
            f = sum(p * q for p, q in zip(prices[i], d)) - first - second
            rho = root(x**2 + f**2)
            by_f = (rho - x - f) * (f / rho - 1)
            by_x[i][n] = (rho - x - f) * (x / rho - 1)
            pull[n] += by_f * (2 * first + second) / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def no_descent(gradient, columns, priced, factors):
    """-gradient is in the normal cone of what (46) allows, a sum of the columns d_r of full resources, so v_x = 0.

    The factor of a resource without a price must not be negative, for there v.d_r <= 0; where it has one, v.d_r = 0.
    """
    parts = [sum(s * column[n] for s, column in zip(factors, columns)) for n in range(len(gradient))]
    return parts == [-g for g in gradient] and all(s >= 0 or p for s, p in zip(factors, priced))


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


def stop_without_solution(demands, capacities, eligible, weights, A, B, tasks, prices, factors):
    """alpha = 2 and g' = (A / z)^2 + B / z. Assumption 2 holds, nothing moves by (46)-(48), and grad_x Psi is not 0."""
    assert fits(demands, capacities, eligible, tasks)
    for i, capacity in enumerate(capacities):
        assert all(any(d[r] and not places[i] for d, places in zip(demands, eligible)) for r in range(len(capacity)))
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, A, B, tasks, prices)
    for i, capacity in enumerate(capacities):
        full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
        assert all(price >= 0 and (r in full or price == 0) for r, price in enumerate(prices[i]))
        columns = [[d[r] for d in demands] for r in full]
        assert no_descent(by_x[i], columns, [prices[i][r] > 0 for r in full], factors[i])
        for r, column in zip(full, columns):
            beta, slope = -sum(a * b for a, b in zip(by_x[i], column)), by_price[i][r]
            v = -slope + (beta if slope * beta <= 0 else 0)  # (47), U(0) = 1
            assert v == 0 if prices[i][r] > 0 else v <= 0  # (48)
    i, n = max(((i, n) for i in range(len(by_x)) for n in range(len(demands))), key=lambda place: abs(by_x[place[0]][place[1]]))
    assert by_x[i][n] != 0
    return {"server": i + 1, "user": n + 1, "slope": by_x[i][n]}


found = stop_without_solution(demands, capacities, eligible, weights, A, B, tasks, prices, factors)
print(
    "K.T8: v = 0, and the gradient by the tasks of user {user} on server {server} is {slope}:"
    " PS-MFA ends where it starts".format(**found)
)
