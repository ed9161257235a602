"""K.Table1.drfh.sharing is confirmed. It says (K Table 1):

    drfh does not satisfy: provides sharing incentive.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, "1/2"]])
capacities = exact([["1/2", 1], [1, "1/2"]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([["1/2", "1/6"], [0, "2/3"]])
rounds = exact([[["4/9", 0], [0, "4/9"]]])


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


def short_of_its_part(demands, capacities, eligible, weights, tasks):
    """The user with the least of what it could run on its part, by weight, of every server that it may use; it has less."""
    own = [sum(alone(d, c) for c, may in zip(capacities, places) if may) for d, places in zip(demands, eligible)]
    part = [v * w / sum(weights) for v, w in zip(own, weights)]
    short = [sum(x) / v for x, v in zip(tasks, part)]
    n = short.index(min(short))
    assert short[n] < 1
    return {"user": n + 1, "have": sum(tasks[n]), "part": part[n]}


def drfh_without_sharing_incentive(demands, capacities, eligible, weights, tasks, rounds):
    """DRFH: shares of the global dominant resource. All answers have these totals."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    return short_of_its_part(demands, capacities, eligible, weights, tasks)


found = drfh_without_sharing_incentive(demands, capacities, eligible, weights, tasks, rounds)
print(
    "K.Table1.drfh.sharing: user {user} runs {have} tasks, and {part} with its part of every "
    "server".format(**found)
)
