"""The merit function of K's Problem 3 and what PS-MFA does with it, for standalone scripts, which copy these functions."""

from fractions import Fraction as F
from typing import Any

from fairalloc.theorems.standalone.definitions import alone


def whole_root(square: int) -> int:
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def root(square: F) -> F:
    """The square root of the square of a rational."""
    found = F(whole_root(square.numerator), whole_root(square.denominator))
    assert found * found == square
    return found


def dot(one: Any, other: Any) -> Any:
    """The sum of the products."""
    return sum(v * w for v, w in zip(one, other))


def full_resources(problem: Any, tasks: Any, i: int) -> list[int]:
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def slopes(x: F, f: F) -> tuple[F, F]:
    """psi_a and psi_b at (x, f), for psi = (rho - x - f)^2 / 2 with rho = sqrt(x^2 + f^2) (K 35-37)."""
    rho = root(x**2 + f**2)
    return (rho - x - f) * (x / rho - 1), (rho - x - f) * (f / rho - 1)


def merit_gradient(problem: Any, alphas: list[int], tasks: Any, prices: Any) -> Any:
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for g' = z^-alpha of each server.

    Psi = sum psi(x_ni, f_ni) (`slopes`); for users who are not eligible there is no term.
    """
    demands, capacities, eligible, weights = problem
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
            by_x[i][n], by_f = slopes(x, f)
            pull[n] += by_f * alphas[i] * need / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def no_descent(gradient: Any, columns: Any, priced: Any, factors: Any) -> bool:
    """-gradient is in the normal cone of what (46) allows, a sum of the columns d_r of full resources, so v_x = 0.

    The factor of a resource without a price must not be negative, for there v.d_r <= 0; where it has one, v.d_r = 0.
    """
    parts = [sum(s * column[n] for s, column in zip(factors, columns)) for n in range(len(gradient))]
    return parts == [-g for g in gradient] and all(s >= 0 or p for s, p in zip(factors, priced))


def price_moves(problem: Any, tasks: Any, prices: Any, factors: Any, by_x: Any, by_price: Any) -> Any:
    """v_lambda (47-48) of every resource, full or not, by server, at a point (38-40) where v_x = 0 by these factors."""
    demands, moves = problem[0], []
    for i, of_prices in enumerate(by_price):
        full = full_resources(problem, tasks, i)
        assert all(price >= 0 and (r in full or price == 0) for r, price in enumerate(prices[i]))
        assert no_descent(by_x[i], [[d[r] for d in demands] for r in full], [prices[i][r] > 0 for r in full], factors[i])
        betas = [-sum(a * d[r] for a, d in zip(by_x[i], demands)) for r in range(len(of_prices))]
        v = [-slope + (beta if slope * beta <= 0 else 0) for slope, beta in zip(of_prices, betas)]  # (47), U(0) = 1
        moves.append([part if price > 0 else max(part, F(0)) for part, price in zip(v, prices[i])])  # (48)
    return moves
