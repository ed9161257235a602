"""Z.III.procedure.inside is refuted. It says (Z III-A, read for the Y that was computed):

    Users who cannot have more inside the one Y of iteration 1, where others keep their bundles, have a_1 for good.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0]], [[0, 0, 1]]])
capacity = exact([2, 1, 1])
weights = exact([1, 1, 1])
tasks = exact([["1/2", 1], ["3/2"], [1]])
rounds = exact([[0, 0, 1], ["1/2", "1/2", 0]])
points = exact([[[1, 0], [1], [1]]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


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


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def placed_inside_one_allocation(variants, capacity, weights, tasks, rounds, points):
    """Y gives everybody a_1, the largest least utility. A user with one demand vector gains nothing from what Y leaves."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    (Y,), least = points, min(sum(row) for row in tasks)
    assert packed(variants, capacity, Y)
    assert all(sum(row) == least for row in Y)
    held = [[sum(x * d[r] for x, d in zip(row, vectors)) for r in range(len(capacity))] for row, vectors in zip(Y, variants)]
    left = [c - sum(part) for c, part in zip(capacity, zip(*held))]
    for n, (vectors, own) in enumerate(zip(variants, held)):
        stuck = len(vectors) == 1 and alone(vectors[0], [a + b for a, b in zip(own, left)]) == least
        if stuck and sum(tasks[n]) > least:
            return {"user": n + 1, "level": least, "fair": sum(tasks[n])}
    raise AssertionError("nobody is placed too low")


found = placed_inside_one_allocation(variants, capacity, weights, tasks, rounds, points)
print(
    "Z.III.procedure.inside: in Y user {user} cannot have more than {level} where the others "
    "keep their bundles, and LMMF gives it {fair}".format(**found)
)
