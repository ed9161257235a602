"""Z.MMF.pareto is confirmed. It says (Z III-A, Example 2):

    MMF can be suboptimal: a max-min fair allocation need not be Pareto optimal.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1, 0]], [[0, "1/2"]]])
capacity = exact([1, 1])
points = exact([[[1], [1]]])
prices = exact([1, 0])
better = exact([[1], [2]])


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def mmf_without_pareto_optimality(variants, capacity, points, prices, better):
    """The point is max-min fair: at these prices the pool costs the least utility, and a task for everybody 1 or more."""
    (Y,) = points
    least = min(sum(row) for row in Y)
    assert packed(variants, capacity, Y)
    assert packed(variants, capacity, better)
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, capacity)) <= least
    assert sum(min(sum(p * q for p, q in zip(prices, d)) for d in rows) for rows in variants) >= 1
    gains = [sum(b) - sum(a) for a, b in zip(Y, better)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"least": least, "user": n + 1, "have": sum(Y[n]), "more": sum(better[n])}


found = mmf_without_pareto_optimality(variants, capacity, points, prices, better)
print(
    "Z.MMF.pareto: the least utility {least} is the largest possible one, and user {user} "
    "could have {more} instead of {have}".format(**found)
)
