"""K.L3 is refuted. It says (K Lemma 3):

    The direction v of PS-MFA is a strict descent direction unless it is 0.

Assumed: alpha = 2, A = 1 and B = 0 in (22); only prices of full resources move, as (40) asks. Shown about the numbers
below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, "58/45", 1, 0], ["58/45", 1, 0, 1]])
capacities = exact([
    ["103/45", "1517087/24975", "552123/547600", "192609131/131424000"],
    ["1517087/24975", "103/45", "192609131/131424000", "552123/547600"],
    ["13699/6660", "1517087/24975", "133/148", "3857/3330"],
])
eligible = [[1, 1, 1], [1, 1, 1]]
weights = exact([5, 5])
tasks = exact([[1, 1, "133/148"], [1, 1, "133/148"]])
prices = exact([["79/24", 0, 0, 0], [0, "79/24", 0, 0], ["492100/184041", 0, 0, 0]])
factors = exact([["567/15080"], ["567/15080"], ["32301/874640", "3589/336400"]])


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


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


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


def direction_without_descent(demands, capacities, eligible, weights, tasks, prices, factors):
    """alpha = 2. -grad_x is normal to what (46) allows at every server, so v_x = 0; prices of full resources move by (47-48)."""
    assert fits(demands, capacities, eligible, tasks)
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, F(1), F(0), tasks, prices)
    moves = []
    for i, capacity in enumerate(capacities):
        full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
        columns = [[d[r] for d in demands] for r in full]
        assert no_descent(by_x[i], columns, [prices[i][r] > 0 for r in full], factors[i])
        for r, column in zip(full, columns):
            beta, slope = -sum(a * b for a, b in zip(by_x[i], column)), by_price[i][r]
            v = -slope + (beta if slope * beta <= 0 else 0)  # (47), U(0) = 1
            v = v if prices[i][r] > 0 else max(v, F(0))  # (48)
            assert prices[i][r] >= 0
            assert v == 0 or slope == 0
            moves.append(v)
    assert any(moves)
    return {"moves": listed(moves)}


found = direction_without_descent(demands, capacities, eligible, weights, tasks, prices, factors)
print(
    "K.L3: nothing but prices with dPsi/dlambda = 0 moves, by {moves}: v is not 0, and Psi "
    "has the slope 0 along it".format(**found)
)
