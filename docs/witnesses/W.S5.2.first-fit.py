"""W.S5.2.first-fit is refuted. It says (W 5.2 and footnote 5):

    Progressive filling on heterogeneous servers leads to a DRFH allocation, by First-Fit; here: on Fig. 2.

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/5", 1], [1, "1/5"]])
capacities = exact([[2, 12], [12, 2]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([[10, 0], [0, 10]])
rounds = exact([[["5/84", 0], [0, "25/84"]]])


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


def whole_tasks(demands, capacities, best_fit):
    """Progressive filling (W 5.2): who has the least share runs a task on the first server that fits, or on the best by (9)."""
    total = [sum(column) for column in zip(*capacities)]
    rest, tasks = [list(c) for c in capacities], [0 for _ in demands]
    active = set(range(len(demands)))
    while active:
        n = min(active, key=lambda m: (tasks[m] / alone(demands[m], total), m))
        d = demands[n]
        fitting = [c for c in rest if all(a >= q for a, q in zip(c, d))]
        if not fitting:
            active.remove(n)
            continue
        chosen = min(fitting, key=lambda c: sum(abs(q / d[0] - a / c[0]) for q, a in zip(d, c))) if best_fit else fitting[0]
        chosen[:] = [a - q for a, q in zip(chosen, d)]
        tasks[n] += 1
    return tasks


def first_fit(demands, capacities, eligible, weights, tasks, rounds):
    """Progressive filling with whole tasks, on the first server that fits, against DRFH, with these totals in all answers."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    filled, fair = whole_tasks(demands, capacities, False), [sum(x) for x in tasks]
    assert filled != fair
    return {"filled": " and ".join(map(str, filled)), "fair": " and ".join(map(str, fair))}


found = first_fit(demands, capacities, eligible, weights, tasks, rounds)
print("W.S5.2.first-fit: First-Fit ends with {filled} tasks, and DRFH gives {fair}".format(**found))
