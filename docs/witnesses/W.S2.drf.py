"""W.S2.drf is refuted. It says (W 2):

    DRF gives the two users of the pool of 9 CPUs and 18 GB 3 and 2 tasks, shares of 2/3, and leaves 2 GB.

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 4], [3, 1]])
capacities = exact([[9, 18]])
eligible = [[1], [1]]
weights = exact([1, 1])
tasks = exact([[3], [2]])
rounds = exact([[["2/27", 0]]])


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


def lexicographic(demands, capacities, eligible, unit, tasks, rounds):
    """Nobody can have a larger share, its tasks / unit, while nobody with an equal or smaller share has less.

    At the prices of a round let cost_m be what a share of 1 costs m at least. All capacities together cost no more than
    sum_m cost_m min(share_m, share_n), and cost_n > 0: so no feasible tasks give n more and all others as much as that.
    """
    users = range(len(demands))
    share = [sum(row) / one for row, one in zip(tasks, unit)]
    kept = set()
    for prices in rounds:
        paid = [[sum(p * q for p, q in zip(row, d)) for row in prices] for d in demands]
        may = [[e and alone(d, c) > 0 for e, c in zip(row, capacities)] for d, row in zip(demands, eligible)]
        cost = [unit[m] * min(v for v, here in zip(paid[m], may[m]) if here) for m in users]
        value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
        positive = all(p >= 0 for row in prices for p in row)
        kept |= {n for n in users if positive and cost[n] > 0 and value <= sum(cost[m] * min(share[m], share[n]) for m in users)}
    return len(kept) == len(demands) and fits(demands, capacities, eligible, tasks)


def left_in_the_pool(demands, capacities, eligible, weights, tasks, rounds):
    """DRF in one pool: max-min fair dominant shares. All answers have these totals."""
    unit = [w * alone(d, capacities[0]) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    left = capacities[0][1] - sum(x[0] * d[1] for x, d in zip(tasks, demands))
    assert left != 2
    return {"tasks": " and ".join(str(x[0]) for x in tasks), "left": left}


found = left_in_the_pool(demands, capacities, eligible, weights, tasks, rounds)
print("W.S2.drf: the users run {tasks} tasks, and {left} GB of memory are left; 2 GB is printed".format(**found))
