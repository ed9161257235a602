"""Z.Cor1 is refuted. It says (Z Corollary 1):

    If a pivot user i of Y with respect to Y' has u_i(Y'_i) > u_i(Y_i), then Y is not LMMF.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1]], [[1]]])
capacity = exact([1])
weights = exact([1, 1])
tasks = exact([["1/2"], ["1/2"]])
rounds = exact([["1/2"]])
points = exact([[[1], [0]]])


def lexicographic_in_a_pool(demands, capacity, unit, tasks, rounds):
    """Nobody can have a larger share, its tasks / unit, while nobody with an equal or smaller share has less.

    At the prices of a round let cost_m be what a share of 1 costs m at least, by its cheapest demand vector. The pool costs no
    more than sum_m cost_m min(share_m, share_n), and cost_n > 0: so no feasible tasks give n more and all others as much.
    """
    users = range(len(demands))
    share = [sum(row) / one for row, one in zip(tasks, unit)]
    kept = set()
    for prices in rounds:
        cost = [unit[m] * min(sum(p * q for p, q in zip(prices, d)) for d in demands[m]) for m in users]
        value = sum(p * c for p, c in zip(prices, capacity))
        positive = min(prices) >= 0
        kept |= {n for n in users if positive and cost[n] > 0 and value <= sum(cost[m] * min(share[m], share[n]) for m in users)}
    return len(kept) == len(demands) and packed(demands, capacity, tasks)


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def pivot_with_more(variants, capacity, weights, tasks, rounds, points):
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2)."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    assert packed(variants, capacity, points[0])
    u, v = [sum(row) for row in tasks], [sum(row) for row in points[0]]
    changed = [n for n, (a, b) in enumerate(zip(u, v)) if a != b]
    pivots = [n for n in changed if u[n] == min(u[m] for m in changed)]
    n = max(pivots, key=lambda m: v[m])
    assert v[n] > u[n]
    first, second = (listed(part) for part in (u, v))
    return {"first": first, "second": second, "user": n + 1, "have": u[n], "more": v[n]}


found = pivot_with_more(variants, capacity, weights, tasks, rounds, points)
print("Z.Cor1: Y gives {first} and is LMMF; pivot {user} has more in Y', which gives {second}".format(**found))
