"""D.S5.5.weights is refuted. It says (D 5.5):

    Weighting factors in f could lead to other solutions in this example.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 1], [0, 1], [1, 0]])
entitlements = exact(["1/2", "3/10", "1/5"])
x = exact(["1/2", "1/2", "1/2"])
prices = exact(["2/5", "3/5"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def one_end_for_all_weights(requests, entitlements, x, prices):
    """On the trajectory of weights w (12) is x_i(t) sum_j w_j r_ij / s_j = c e_i, dummies included, with slacks s.

    For y that fits, sum_i e_i y_i / x_i(t) = (1/c) sum_j w_j sum_i y_i r_ij / s_j <= (1/c) sum_j w_j / s_j, and as 1 = s_j +
    sum_i x_i(t) r_ij this is (1/c) (sum_j w_j + c). So with y = x* it is at most 1 + delta, delta = sum w / c. By the prices
    sum_i e_i y_i / x*_i <= 1 for all y that fit, x(t) too. Adding both, with u = x_i(t) / x*_i: e_i (1/u + u - 2) <= delta.
    """
    assert no_complaint(requests, entitlements, x)
    assert sum(entitlements) == 1
    assert min(prices) >= 0
    assert sum(prices) <= 1
    assert all(sum(p * r for p, r in zip(prices, row)) >= e / v for row, e, v in zip(requests, entitlements, x))
    delta = F(1, 10**12)
    for e in entitlements:
        for u in (1 - F(1, 10**5), 1 + F(1, 10**5)):  # u + 1/u - 2 grows as u leaves 1
            assert e * (1 / u + u - 2) > delta
    return {"end": listed(x)}


found = one_end_for_all_weights(requests, entitlements, x, prices)
print(
    "D.S5.5.weights: with any weights w every x(t) with sum w_j <= c / 10^12 is within 10^-5 "
    "of {end}".format(**found)
)
