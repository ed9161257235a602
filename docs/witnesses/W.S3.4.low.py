"""W.S3.4.low is confirmed. It says (W 3.4 (the example is not printed)):

    Per-server DRF may lead to arbitrarily low resource utilisation; here: to less than two fifths of what DRFH uses.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/11", 1, 1], [1, "1/11", 1], [1, 1, "1/11"]])
capacities = exact([[1, 11, 11], [11, 1, 11], [11, 11, 1]])
eligible = [[1, 1, 1], [1, 1, 1], [1, 1, 1]]
weights = exact([1, 1, 1])
tasks = exact([[11, 0, 0], [0, 11, 0], [0, 0, 11]])
rounds = exact([[[0, "11/529", 0], [0, "11/529", 0], [0, "11/529", 0]]])
other_tasks = exact([["11/3", "1/3", "1/3"], ["1/3", "11/3", "1/3"], ["1/3", "1/3", "11/3"]])


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


def ps_dsf(demands, capacities, eligible, weights, tasks):
    """At every server each user has a full resource that it demands, and that serves nobody with a larger share (P Theorem 1)."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        here = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        share = {n: have[n] / (weights[n] * alone(demands[n], capacity)) for n in here}
        for n in here:
            full = [r for r, c in enumerate(capacity) if demands[n][r] and sum(tasks[m][i] * demands[m][r] for m in here) == c]
            if not any(all(share[m] <= share[n] for m in here if tasks[m][i] and demands[m][r]) for r in full):
                return False
    return fits(demands, capacities, eligible, tasks)


def low_utilisation(demands, capacities, eligible, weights, tasks, rounds, other_tasks):
    """DRFH, and DRF on each server, where PS-DSF is DRF: the totals are these in all answers."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    everywhere = [[1] for _ in demands]
    for i, capacity in enumerate(capacities):
        assert ps_dsf(demands, [capacity], everywhere, weights, [[x[i]] for x in other_tasks])
    used = [[sum(sum(x) * d[r] for x, d in zip(part, demands)) for r in range(len(total))] for part in (tasks, other_tasks)]
    ratio = max(b / a for a, b in zip(*used))
    assert ratio < F(2, 5)
    return {"ratio": ratio}


found = low_utilisation(demands, capacities, eligible, weights, tasks, rounds, other_tasks)
print(
    "W.S3.4.low: DRF on each server by itself uses at most {ratio} times as much of any "
    "resource as DRFH".format(**found)
)
