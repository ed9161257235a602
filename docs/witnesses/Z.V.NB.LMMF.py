"""Z.V.NB.LMMF is confirmed. It says (Z V, the table for simplex demands):

    NB over simplex demands is not lexicographically max-min fair.

Assumed: one server, same demands, unlimited, equal weights, simplex, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], ["1/2", "1/2"]])
capacity = exact([1, 1])
weights = exact([1, 1])
x = exact(["1/2", 1])
prices = exact([2, 0])
better = exact(["2/3", "2/3"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def nash_bargain(demands, capacity, weights, x, prices):
    """What x_n > 0 tasks cost is w_n or more at prices at which the pool costs sum w: x is the only maximum of sum w_n log x_n.

    For feasible y sum w_n y_n / x_n <= sum y_n (p . d_n) <= sum w, and by the weighted means the product of (y_n / x_n)^w_n is at
    most 1, and 1 for y = x alone.
    """
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in range(len(capacity))]
    paid = [v * sum(p * q for p, q in zip(prices, d)) for v, d in zip(x, demands)]
    fit = min(x) > 0 and min(prices) >= 0 and all(u <= c for u, c in zip(used, capacity))
    return fit and all(a >= w for a, w in zip(paid, weights)) and sum(p * c for p, c in zip(prices, capacity)) <= sum(weights)


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def nash_bargain_that_is_not_lmmf(demands, capacity, weights, x, prices, better):
    """The only Nash bargain, and tasks that fit whose sorted utilities are lexicographically larger."""
    assert nash_bargain(demands, capacity, weights, x, prices)
    assert packed([[d] for d in demands], capacity, [[v] for v in better])
    assert sorted(better) > sorted(x)
    return {"have": listed(sorted(x)), "better": listed(sorted(better))}


found = nash_bargain_that_is_not_lmmf(demands, capacity, weights, x, prices, better)
print("Z.V.NB.LMMF: NB gives {have} tasks, and {better} fit and are lexicographically larger".format(**found))
