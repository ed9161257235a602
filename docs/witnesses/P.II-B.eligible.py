"""P.II-B.eligible is confirmed. It says (P II-B, of [15]):

    With the dominant resource over the set of eligible servers, users may have an incentive to misreport that set.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [0, 1]])
capacities = exact([[2, 1], [0, 1]])
eligible = [[1, 0], [1, 1]]
eligible_after = [[1, 1], [1, 1]]
misreporting = [0]
weights = exact([1, 1])
tasks = exact([["2/3", 0], ["1/3", 1]])
rounds = exact([[[0, "1/3"], [0, "1/3"]]])
tasks_after = exact([[1, 0], [0, 1]])
rounds_after = exact([[[0, "1/2"], [0, 0]], [[0, "1/2"], [0, "1/2"]]])


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


def servers_that_are_misreported(
    demands, capacities, eligible, eligible_after, misreporting, weights, tasks, rounds, tasks_after, rounds_after
):
    """Shares of the dominant resource over the servers that a user says it may use; the totals are unique before and after.

    What the user gets on a server that it may not use is of no use to it; here nothing fits there, so all it gets is.
    """
    units = []
    for places in (eligible, eligible_after):
        own = [[sum(c for c, may in zip(column, row) if may) for column in zip(*capacities)] for row in places]
        units.append([w * alone(d, total) for d, w, total in zip(demands, weights, own)])
    assert lexicographic(demands, capacities, eligible, units[0], tasks, rounds)
    assert lexicographic(demands, capacities, eligible_after, units[1], tasks_after, rounds_after)
    (n,) = misreporting
    new = [i for i, (a, b) in enumerate(zip(eligible[n], eligible_after[n])) if b and not a]
    assert all(alone(demands[n], capacities[i]) == 0 for i in new)
    assert sum(tasks_after[n]) > sum(tasks[n])
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n])}


found = servers_that_are_misreported(
    demands, capacities, eligible, eligible_after, misreporting, weights, tasks, rounds, tasks_after, rounds_after
)
print(
    "P.II-B.eligible: user {user} runs {have} tasks by the truth, and at least {more} where "
    "it may by misreporting its servers".format(**found)
)
