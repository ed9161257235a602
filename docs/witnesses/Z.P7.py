"""Z.P7 is confirmed. It says (Z Proposition 7):

    NB is not strategyproof.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[2, 1], [0, 1]])
reported = exact([[2, 1], ["1/2", 1]])
misreporting = [1]
capacity = exact([1, 1])
weights = exact([1, 1])
x = exact(["1/2", "1/2"])
prices = exact([0, 2])
after = exact(["1/3", "2/3"])
other_prices = exact([1, 1])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def nash_bargain(demands, capacity, weights, x, prices):
    """What x_n > 0 tasks cost is w_n or more at prices at which the pool costs sum w: x is the only maximum of sum w_n log x_n.

    For feasible y sum w_n y_n / x_n <= sum y_n (p . d_n) <= sum w, and by the weighted means the product of (y_n / x_n)^w_n is at
    most 1, and 1 for y = x alone.
    """
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in range(len(capacity))]
    paid = [v * sum(p * q for p, q in zip(prices, d)) for v, d in zip(x, demands)]
    fit = min(x) > 0 and min(prices) >= 0 and all(u <= c for u, c in zip(used, capacity))
    return fit and all(a >= w for a, w in zip(paid, weights)) and sum(p * c for p, c in zip(prices, capacity)) <= sum(weights)


def nash_misreport(demands, reported, misreporting, capacity, weights, x, prices, after, other_prices):
    """NB before and after, each the only one; the user is given what its reported tasks take."""
    assert nash_bargain(demands, capacity, weights, x, prices)
    assert nash_bargain(reported, capacity, weights, after, other_prices)
    (n,) = misreporting
    more = alone(demands[n], [after[n] * q for q in reported[n]])
    assert more > x[n]
    return {"user": n + 1, "have": x[n], "more": more}


found = nash_misreport(demands, reported, misreporting, capacity, weights, x, prices, after, other_prices)
print("Z.P7: user {user} runs {have} tasks by the truth, and {more} of its own by misreporting".format(**found))
