"""W.S2.infeasible is confirmed. It says (W 2):

    The DRF allocation may not be possible to implement on heterogeneous servers.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 1]])
capacities = exact([[1, "1/2"], ["1/2", 1]])
weights = exact([1, 1])
x = exact(["3/4", "3/4"])
rounds = exact([["1/3", 0]])
prices = exact([[0, "1/3"], ["1/3", 0]])


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


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def drf_not_realised(demands, capacities, weights, x, rounds, prices):
    """DRF of the pool, the only one; whatever fits into the servers costs no more than they do."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic_in_a_pool([[d] for d in demands], total, unit, [[v] for v in x], rounds)
    assert all(p >= 0 for row in prices for p in row)
    paid = sum(v * min(sum(p * q for p, q in zip(row, d)) for row in prices) for v, d in zip(x, demands))
    value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
    assert paid > value
    return {"x": listed(x), "paid": paid, "value": value}


found = drf_not_realised(demands, capacities, weights, x, rounds, prices)
print(
    "W.S2.infeasible: the tasks {x} of DRF in the pool cost {paid} at prices at which all "
    "servers cost {value}: they do not fit".format(**found)
)
