"""Z.P8 is confirmed. It says (Z Proposition 8):

    LMMF violates the sharing incentive.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1]], [["1/2"]]])
capacity = exact([1])
weights = exact([1, 1])
tasks = exact([["2/3"], ["2/3"]])
rounds = exact([["2/3"]])


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


def lmmf_without_sharing_incentive(variants, capacity, weights, tasks, rounds):
    """LMMF, of users with one demand vector each, whose totals are these in all answers."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert all(len(rows) == 1 for rows in variants)
    part = [alone(rows[0], capacity) / len(variants) for rows in variants]
    n = min(range(len(part)), key=lambda n: tasks[n][0] / part[n])
    assert tasks[n][0] < part[n]
    return {"user": n + 1, "have": tasks[n][0], "part": part[n]}


found = lmmf_without_sharing_incentive(variants, capacity, weights, tasks, rounds)
print("Z.P8: user {user} runs {have} tasks, and {part} with an equal part of everything".format(**found))
